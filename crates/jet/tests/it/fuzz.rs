//! What users write and programs say, made of bytes that a fuzzer chooses: it is refused with a reason, or means what
//! it says. `scripts/fuzz jet rules 300` looks for more.

use jet::allow::{Allowed, Rule};
use jet::door::redirect::{Redirection, Source};
use jet::door::socks5::Users;
use jet::door::socks5::datagram;
use jet::door::socks5::handshake::{ClientMessage, Handshake, NotSocks5};
use jet::door::{Forward, Socks5};
use jet::keys::{Fingerprint, Identity, Peers};
use jet::limits::Limit;
use jet::{Destination, Via, parse_destination};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

fn text(input: &[u8]) -> Option<&str> {
    std::str::from_utf8(input).ok()
}

#[test]
fn rules() {
    bolero::check!().for_each(|input: &[u8]| {
        let Some(text) = text(input) else { return };
        match text.parse::<Rule>() {
            Ok(rule) => {
                assert_eq!(rule.to_string().parse().as_ref(), Ok(&rule), "{rule}");
                let allowed = Allowed::new(vec![rule]);
                assert!(!allowed.has("near", "192.0.2.1:0".parse().expect("an address")), "nobody listens at port 0");
                assert!(!allowed.names("near", &Destination::Name(String::new(), 80)), "{text:?} allows no name");
            }
            Err(error) => assert!(error.to_string().contains("a rule is HOST:PORTS")),
        }
    });
}

#[test]
fn options() {
    bolero::check!().for_each(|input: &[u8]| {
        let Some(text) = text(input) else { return };
        if let Ok(forward) = text.parse::<Forward>() {
            assert_eq!(parse_destination(&forward.to.to_string()), Ok(forward.to));
        }
        if let Ok(redirection) = text.parse::<Redirection>() {
            assert!(!redirection.take.is_empty());
            // These stand in what nft reads.
            if let Source::ControlGroup(name) | Source::Interface(name) | Source::Transparent(name) = redirection.from {
                assert!(!name.contains(['"', '\n', '\0']), "{name:?}");
            }
        }
        if let Ok(fingerprint) = text.parse::<Fingerprint>() {
            assert!(fingerprint.to_string().eq_ignore_ascii_case(text));
        }
        if let Ok(Via::Interface(name)) = text.parse::<Via>() {
            assert!(!name.is_empty() && name.len() < 16);
        }
        if let Ok(socks5) = text.parse::<Socks5>() {
            assert!(socks5.users.is_none());
        }
        if let Ok(limit) = text.parse::<Limit>() {
            assert_eq!(limit.to_string().parse().as_ref(), Ok(&limit), "{limit}");
        }
    });
}

#[test]
fn users_and_keys() {
    let folder = Scratch::new();
    bolero::check!().for_each(|input: &[u8]| {
        if let Some(text) = text(input)
            && let Err(error) = text.parse::<Users>()
        {
            assert!(!error.is_empty());
        }
        folder.write("peers", input);
        match Peers::load(&folder.0) {
            // What was read can be written, and read again.
            Ok(peers) => {
                peers.save(&folder.0).expect("a folder");
                assert_eq!(Peers::load(&folder.0).ok().as_ref(), Some(&peers));
            }
            Err(error) => assert!(error.to_string().contains("peers"), "{error}"),
        }
        folder.write("key", input);
        let error = Identity::load(&folder.0).err().map(|error| error.to_string());
        assert!(error.is_none_or(|error| error.contains("key")));
    });
}

struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        let folder = std::env::temp_dir().join(format!("trunkline-fuzz-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        Self(folder)
    }
    fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.0.join(name);
        fs::write(&path, bytes).expect("a folder");
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).expect("own file");
    }
}
impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Plays a client that says all of it, in portions; the messages read, and how many bytes are left.
fn converse(mut input: &[u8], authenticate: bool, portion: usize) -> (Vec<Result<ClientMessage, NotSocks5>>, usize) {
    let mut handshake = Handshake::new(authenticate);
    let mut all = Vec::new();
    while !input.is_empty() && handshake.wants() > 0 {
        // A message is no longer than its lengths of one byte allow.
        assert!(handshake.wants() <= 3 + 255 + 255);
        let (mut part, rest) = input.split_at(portion.min(input.len()));
        let message = handshake.read(&mut part).transpose();
        input = &input[input.len() - rest.len() - part.len()..];
        if let Some(Ok(ClientMessage::Password { password, .. })) = &message {
            handshake.judge(password.len().is_multiple_of(2));
        }
        let over = matches!(message, Some(Err(_)));
        all.extend(message);
        // How much of what is not SOCKS5 was read does not matter.
        if over {
            return (all, 0);
        }
    }
    (all, input.len())
}

#[test]
fn socks5() {
    bolero::check!().for_each(|input: &[u8]| {
        for authenticate in [false, true] {
            let whole = converse(input, authenticate, usize::MAX);
            assert_eq!(whole, converse(input, authenticate, 1));
            // What follows the request is the program's own.
            let asks = |message: &&Result<ClientMessage, NotSocks5>| {
                matches!(message, Ok(ClientMessage::Connect(_) | ClientMessage::Associate(_)))
            };
            assert!(whole.0.iter().filter(asks).count() <= 1);
        }
        // As a client's datagram: what is understood of it is all of its head, and nothing of its payload.
        if let Some((to, start)) = datagram::read(input) {
            assert_eq!(datagram::read(&input[..start]), Some((to, start)));
            assert_eq!(datagram::read(&input[..start - 1]), None);
        }
    });
}
