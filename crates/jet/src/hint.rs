//! A hint in TLS's first message by which a far gateway tells its peers' streams from strangers' before it spends
//! anything on them. It proves no identity. Nothing depends on it but which handshakes are given up first when there
//! are too many.
//!
//! It stands where TLS has a server's name (RFC 6066, section 3): `j`, a nonce, and an HMAC of it whose key is the near
//! gateway's fingerprint. TLS 1.3 shows the key behind a fingerprint to the other gateway alone, so who has not seen a
//! hint cannot make one, and who has can repeat it.

use crate::keys::Fingerprint;
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};

/// What an HMAC is made of besides the nonce, lest it is of use elsewhere.
const LABEL: &[u8] = b"trunkline-jet-hint";
/// Lengths in bytes; with two digits for each byte the whole is below the 63 characters of a label of DNS.
const NONCE: usize = 8;
const MAC: usize = 16;

/// A hint of the gateway with this key; never the same twice.
pub(crate) fn of(own: Fingerprint) -> String {
    let mut nonce = [0; NONCE];
    // Without randomness the TLS handshake fails anyway.
    let _ = SystemRandom::new().fill(&mut nonce);
    let mac = mac(own, &nonce);
    nonce.iter().chain(&mac[..MAC]).fold("j".to_owned(), |text, byte| text + &format!("{byte:02x}"))
}

/// Whose hint this is.
pub(crate) fn whose(hint: &str, mut peers: impl Iterator<Item = Fingerprint>) -> Option<Fingerprint> {
    let digits = hint.strip_prefix('j').filter(|digits| digits.len() == 2 * (NONCE + MAC))?;
    let digits: Option<Vec<u8>> = digits.chars().map(|c| c.to_digit(16).map(|digit| digit as u8)).collect();
    let bytes: Vec<u8> = digits?.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect();
    let (nonce, mac) = bytes.split_at(NONCE);
    peers.find(|peer| self::mac(*peer, nonce)[..MAC] == *mac)
}

fn mac(peer: Fingerprint, nonce: &[u8]) -> [u8; 32] {
    let key = hmac::Key::new(hmac::HMAC_SHA256, peer.bytes());
    let mut mac = [0; 32];
    mac.copy_from_slice(hmac::sign(&key, &[LABEL, nonce].concat()).as_ref());
    mac
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_hint_leads_to_its_peer_and_to_no_other() {
        let peers = [b"one", b"two", b"six"].map(|key| Fingerprint::of(key));
        for peer in peers {
            let hint = of(peer);
            assert_eq!(whose(&hint, peers.into_iter()), Some(peer));
            assert_eq!(whose(&hint, peers.into_iter().filter(|other| *other != peer)), None);
            assert!(hint.len() <= 63 && hint != of(peer), "a label of DNS, and new each time");
        }
    }

    proptest! {
        #[test]
        fn what_is_no_hint_is_nobodys(text in "j?[0-9a-zé]{0,60}") {
            prop_assert_eq!(whose(&text, [Fingerprint::of(b"one")].into_iter()), None);
        }
    }
}
