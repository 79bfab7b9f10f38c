//! A gateway's identity and those it trusts: its own Ed25519 key pair, and the fingerprints of its peers' public keys,
//! as SSH has them. There is no authority, and nothing expires.

use ring::digest::{SHA256, digest};
use ring::rand::SystemRandom;
use ring::signature::Ed25519KeyPair;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::sign::{CertifiedKey, SigningKey};
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

/// The file of the private key, in a gateway's folder.
const KEY: &str = "key";
/// The file of the peers.
const PEERS: &str = "peers";
/// The first word of a key file.
const KEY_FORMAT: &str = "trunkline-jet-key-1";

/// SHA-256 of a public key (its SubjectPublicKeyInfo, RFC 5280 section 4.1.2.7); written as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// The fingerprint of a public key.
    pub fn of(public_key: &[u8]) -> Self {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(digest(&SHA256, public_key).as_ref());
        Self(bytes)
    }
    /// The digest.
    pub(crate) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl FromStr for Fingerprint {
    type Err = KeyError;
    fn from_str(text: &str) -> Result<Self, KeyError> {
        let bytes = from_hex(text).and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
        bytes.map(Self).ok_or_else(|| KeyError::Fingerprint(text.to_owned()))
    }
}

/// Errors of keys and their files.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// A file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write {}: {error}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// A key file that others can read.
    #[error("{} can be read by others (mode {mode:o}): `chmod 600` it, or make a new key", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The file's mode.
        mode: u32,
    },
    /// A key file without a key.
    #[error("{} is no key file: it should have one line, \"{KEY_FORMAT}\" and the key in hexadecimal", .0.display())]
    NoKey(PathBuf),
    /// A line of the peers' file.
    #[error("{}, line {line}: \"{text}\" is not a fingerprint of 64 hexadecimal digits and a name", path.display())]
    Peer {
        /// The file.
        path: PathBuf,
        /// The line number, from 1.
        line: usize,
        /// The text of the line.
        text: String,
    },
    /// A text that is no fingerprint.
    #[error("\"{0}\" is not a fingerprint: 64 hexadecimal digits, as `trunkline jet keys` prints them")]
    Fingerprint(String),
    /// A name that the peers' file cannot hold.
    #[error("\"{0}\" cannot be a peer's name: letters, digits, dots, dashes and underscores")]
    Name(String),
    /// The system has no randomness, or the library refuses its own key.
    #[error("cannot make a key")]
    Crypto,
}

/// A gateway's own key.
#[derive(Clone, Debug)]
pub struct Identity {
    /// The form that the TLS library takes: a raw public key (RFC 7250) and its signing key.
    pub(crate) key: Arc<CertifiedKey>,
    fingerprint: Fingerprint,
}

impl Identity {
    /// A new key that is not stored.
    pub fn generate() -> Result<Self, KeyError> {
        Self::from_pkcs8(&new_pkcs8()?)
    }
    /// The key in a folder. Where there is none, key and folder are made.
    pub fn load_or_create(folder: &Path) -> Result<Self, KeyError> {
        let path = folder.join(KEY);
        let writing = |error| KeyError::Write { path: path.clone(), error };
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(writing)?;
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
            Ok(mut file) => {
                let bytes = new_pkcs8()?;
                let written = writeln!(file, "{KEY_FORMAT} {}", to_hex(&bytes)).and_then(|()| file.sync_all());
                // A full disk must leave no half of a key for the next start to find.
                written.inspect_err(|_| drop(fs::remove_file(&path))).map_err(writing)?;
                Self::from_pkcs8(&bytes)
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Self::load(folder),
            Err(error) => Err(writing(error)),
        }
    }
    /// The key in a folder.
    pub fn load(folder: &Path) -> Result<Self, KeyError> {
        let path = folder.join(KEY);
        let reading = |error| KeyError::Read { path: path.clone(), error };
        let mode = fs::metadata(&path).map_err(reading)?.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(KeyError::Open { path, mode });
        }
        let text = fs::read_to_string(&path).map_err(reading)?;
        let bytes = text.trim_end().strip_prefix(KEY_FORMAT).and_then(|hex| from_hex(hex.trim()));
        bytes.and_then(|bytes| Self::from_pkcs8(&bytes).ok()).ok_or(KeyError::NoKey(path))
    }
    fn from_pkcs8(bytes: &[u8]) -> Result<Self, KeyError> {
        let der = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(bytes.to_vec()));
        let signer: Arc<dyn SigningKey> = rustls::crypto::ring::sign::any_eddsa_type(match &der {
            PrivateKeyDer::Pkcs8(der) => der,
            _ => return Err(KeyError::Crypto),
        })
        .map_err(|_| KeyError::Crypto)?;
        let public = signer.public_key().ok_or(KeyError::Crypto)?.to_vec();
        let fingerprint = Fingerprint::of(&public);
        Ok(Self { key: Arc::new(CertifiedKey::new(vec![CertificateDer::from(public)], signer)), fingerprint })
    }
    /// The fingerprint by which peers know the gateway.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }
}

fn new_pkcs8() -> Result<Vec<u8>, KeyError> {
    let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).map_err(|_| KeyError::Crypto)?;
    Ok(document.as_ref().to_vec())
}

/// The pinned peers: fingerprints, with the names that the owner gave them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Peers(BTreeMap<Fingerprint, String>);

impl Peers {
    /// The file of the peers in a folder.
    pub(crate) fn file(folder: &Path) -> PathBuf {
        folder.join(PEERS)
    }
    /// The peers in a folder; empty without such a file.
    pub fn load(folder: &Path) -> Result<Self, KeyError> {
        let path = Self::file(folder);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(KeyError::Read { path, error }),
        };
        Self::read(&path, &text)
    }
    fn read(path: &Path, text: &str) -> Result<Self, KeyError> {
        let mut peers = BTreeMap::new();
        for (at, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong = || KeyError::Peer { path: path.to_owned(), line: at + 1, text: line.to_owned() };
            let (fingerprint, name) = line.split_once(' ').ok_or_else(wrong)?;
            peers.insert(fingerprint.parse().map_err(|_| wrong())?, name.trim().to_owned());
        }
        Ok(Self(peers))
    }
    /// Adds a peer; returns whether it is new.
    pub fn pin(&mut self, fingerprint: Fingerprint, name: &str) -> Result<bool, KeyError> {
        if !Self::is_name(name) {
            return Err(KeyError::Name(name.to_owned()));
        }
        Ok(self.0.insert(fingerprint, name.to_owned()).is_none())
    }
    /// Whether a peer can have this name.
    pub(crate) fn is_name(name: &str) -> bool {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
    }
    /// Forgets a peer; returns whether it was known.
    pub fn unpin(&mut self, fingerprint: Fingerprint) -> bool {
        self.0.remove(&fingerprint).is_some()
    }
    /// Writes the peers to a folder, whole or not at all.
    pub fn save(&self, folder: &Path) -> Result<(), KeyError> {
        let path = Self::file(folder);
        let mut text = String::from("# Gateways that may speak to this one: fingerprint and name.\n");
        for (fingerprint, name) in &self.0 {
            // Writing to a string does not fail.
            let _ = writeln!(text, "{fingerprint} {name}");
        }
        let new = path.with_extension("new");
        let written = fs::write(&new, text).and_then(|()| fs::rename(&new, &path));
        written.inspect_err(|_| drop(fs::remove_file(&new))).map_err(|error| KeyError::Write { path, error })
    }
    /// The name of a peer, if it is known.
    pub fn name(&self, fingerprint: Fingerprint) -> Option<&str> {
        self.0.get(&fingerprint).map(String::as_str)
    }
    /// All peers.
    pub fn iter(&self) -> impl Iterator<Item = (Fingerprint, &str)> {
        self.0.iter().map(|(fingerprint, name)| (*fingerprint, name.as_str()))
    }
    /// Whether no peer is pinned.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text.chars().map(|c| c.to_digit(16).map(|digit| digit as u8)).collect();
    let digits = digits?;
    digits.len().is_multiple_of(2).then(|| digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that is removed at the end.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let folder = std::env::temp_dir().join(format!("trunkline-keys-{}-{name}", std::process::id()));
            let _ = fs::remove_dir_all(&folder);
            Self(folder)
        }
    }
    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_key_is_made_once_and_kept_for_its_owner() {
        let scratch = Scratch::new("own");
        let made = Identity::load_or_create(&scratch.0).expect("a folder");
        let found = Identity::load_or_create(&scratch.0).expect("a key");
        assert_eq!(made.fingerprint(), found.fingerprint());
        assert_ne!(made.fingerprint(), Identity::generate().expect("a key").fingerprint());
        let path = scratch.0.join(KEY);
        let mode = |path: &Path| fs::metadata(path).expect("made").permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(&scratch.0)), (0o600, 0o700));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("own file");
        let error = Identity::load(&scratch.0).expect_err("others can read it");
        assert!(error.to_string().contains("640"), "{error}");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("own file");
        for wrong in ["", "x", "trunkline-jet-key-1", "trunkline-jet-key-1 00", "trunkline-jet-key-1 0g"] {
            fs::write(&path, wrong).expect("own file");
            assert!(matches!(Identity::load(&scratch.0), Err(KeyError::NoKey(_))), "{wrong}");
        }
    }

    #[test]
    fn peers_are_kept_and_what_is_no_peer_is_named() {
        let scratch = Scratch::new("peers");
        fs::create_dir_all(&scratch.0).expect("a folder");
        assert!(Peers::load(&scratch.0).expect("none is none").is_empty());
        let fingerprint = Identity::generate().expect("a key").fingerprint();
        assert_eq!(fingerprint.to_string().parse::<Fingerprint>().expect("its own"), fingerprint);
        let mut peers = Peers::default();
        assert!(peers.pin(fingerprint, "far.office-2").expect("a name"));
        assert!(matches!(peers.pin(fingerprint, "a b"), Err(KeyError::Name(_))));
        peers.save(&scratch.0).expect("a folder");
        assert_eq!(Peers::load(&scratch.0).expect("saved"), peers);
        assert_eq!(peers.name(fingerprint), Some("far.office-2"));
        assert!(peers.unpin(fingerprint) && !peers.unpin(fingerprint));
        fs::write(scratch.0.join(PEERS), "# mine\n\nabc far\n").expect("own file");
        let error = Peers::load(&scratch.0).expect_err("no fingerprint");
        assert!(error.to_string().contains("line 3") && error.to_string().contains("abc far"), "{error}");
    }
}
