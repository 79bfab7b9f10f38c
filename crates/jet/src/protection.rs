//! Record protection of TLS 1.3 (RFC 8446, section 5.2) in place, under keys that the TLS library's handshake has
//! agreed.

use ring::aead::{AES_128_GCM, AES_256_GCM, Aad, Algorithm, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use rustls::{AlertDescription, ConnectionTrafficSecrets, ContentType, HandshakeType};
use std::io;

/// A record's header: type, version, length.
pub(crate) const HEADER: usize = 5;
/// The most content of a record.
pub(crate) const CONTENT: usize = 1 << 14;
/// Length of what follows the content: its type and the tag.
pub(crate) const TRAILER: usize = 1 + TAG;
const TAG: usize = 16;
/// By how much a record may exceed its content.
const EXPANSION: usize = 256;

/// The limit of records under one key: AES-GCM's (section 5.5), in full records, rounded down to a power of two.
const MOST: u64 = 1 << 24;
/// A stream whose key has protected half of that is to be replaced (P-2).
pub(crate) const WORN: u64 = MOST / 2;

/// Why a connection cannot continue, as an alert (section 6).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wrong {
    /// A fatal error that was found here.
    Here(AlertDescription),
    /// A fatal alert from the peer.
    There(AlertDescription),
    /// A handshake message after the handshake, such as a key update (section 4.6.3), which is not supported (P-2).
    Handshake(HandshakeType),
}

impl Wrong {
    /// The alert to send to the peer.
    pub fn alert(self) -> Option<AlertDescription> {
        match self {
            Self::Here(description) => Some(description),
            Self::There(_) => None,
            Self::Handshake(_) => Some(AlertDescription::UnexpectedMessage),
        }
    }
}

impl From<Wrong> for io::Error {
    fn from(wrong: Wrong) -> Self {
        let text = match wrong {
            Wrong::Here(description) => format!("TLS: {description:?}"),
            Wrong::There(description) => format!("TLS: the peer says {description:?}"),
            Wrong::Handshake(message) => {
                format!(
                    "TLS: the peer sends {message:?}, and after the handshake streams take none of it: their keys are not renewed"
                )
            }
        };
        Self::new(io::ErrorKind::InvalidData, text)
    }
}

/// One direction's key, and the number of records that it has protected.
pub(crate) struct Protection {
    key: LessSafeKey,
    iv: [u8; 12],
    sequence: u64,
}

impl Protection {
    /// Protection under the keys of a connection, from record number `sequence` on.
    pub fn new((sequence, secrets): (u64, ConnectionTrafficSecrets)) -> Result<Self, rustls::Error> {
        let (algorithm, key, iv) = match &secrets {
            ConnectionTrafficSecrets::Aes128Gcm { key, iv } => (&AES_128_GCM, key, iv),
            ConnectionTrafficSecrets::Aes256Gcm { key, iv } => (&AES_256_GCM, key, iv),
            ConnectionTrafficSecrets::Chacha20Poly1305 { key, iv } => (&CHACHA20_POLY1305, key, iv),
            _ => return Err(rustls::Error::General("a cipher that nobody has offered".to_owned())),
        };
        Self::of(algorithm, key.as_ref(), iv.as_ref(), sequence).ok_or(rustls::Error::EncryptError)
    }
    fn of(algorithm: &'static Algorithm, key: &[u8], iv: &[u8], sequence: u64) -> Option<Self> {
        let key = UnboundKey::new(algorithm, key).ok()?;
        Some(Self { key: LessSafeKey::new(key), iv: iv.try_into().ok()?, sequence })
    }
    /// The number of records protected or opened. Keys are not renewed: the connection is replaced before there are too
    /// many.
    pub fn records(&self) -> u64 {
        self.sequence
    }
    /// The nonce of the next record, never used again (section 5.3).
    fn nonce(&mut self) -> Option<Nonce> {
        let mut nonce = self.iv;
        nonce[4..].iter_mut().zip(self.sequence.to_be_bytes()).for_each(|(byte, of)| *byte ^= of);
        self.sequence += 1;
        (self.sequence <= MOST).then(|| Nonce::assume_unique_for_key(nonce))
    }

    /// Protects a record: room for the header, content, room for the trailer.
    pub fn seal(&mut self, kind: ContentType, record: &mut [u8]) -> Result<(), Wrong> {
        let failed = Wrong::Here(AlertDescription::InternalError);
        let nonce = self.nonce().ok_or(failed)?;
        let (header, body) = record.split_at_mut(HEADER);
        let length = (body.len() as u16).to_be_bytes();
        header.copy_from_slice(&[u8::from(ContentType::ApplicationData), 3, 3, length[0], length[1]]);
        let (inner, tag) = body.split_at_mut(body.len() - TAG);
        if let Some(last) = inner.last_mut() {
            *last = kind.into();
        }
        let sealed = self.key.seal_in_place_separate_tag(nonce, Aad::from(&*header), inner).map_err(|_| failed)?;
        tag.copy_from_slice(sealed.as_ref());
        Ok(())
    }
    /// The length of the record that begins with these bytes, as soon as they tell it.
    pub fn length(bytes: &[u8]) -> Result<Option<usize>, Wrong> {
        let Some(header) = bytes.first_chunk::<HEADER>() else { return Ok(None) };
        let length = usize::from(u16::from_be_bytes([header[3], header[4]]));
        if header[0] != u8::from(ContentType::ApplicationData) {
            return Err(Wrong::Here(AlertDescription::UnexpectedMessage));
        }
        if length > CONTENT + EXPANSION {
            return Err(Wrong::Here(AlertDescription::RecordOverflow));
        }
        Ok(Some(HEADER + length))
    }
    /// Opens the record that begins at `from` and ends `bytes`, and puts its content at the front. Returns its type and
    /// length.
    pub fn open(&mut self, bytes: &mut [u8], from: usize) -> Result<(ContentType, usize), Wrong> {
        let bad = Wrong::Here(AlertDescription::BadRecordMac);
        let nonce = self.nonce().ok_or(bad)?;
        let header: [u8; HEADER] = *bytes[from..].first_chunk().ok_or(bad)?;
        let inner = self.key.open_within(nonce, Aad::from(header), bytes, from + HEADER..).map_err(|_| bad)?;
        // Content, its type, and any number of zeros.
        let last = inner.iter().rposition(|byte| *byte != 0).ok_or(Wrong::Here(AlertDescription::UnexpectedMessage))?;
        if last > CONTENT {
            return Err(Wrong::Here(AlertDescription::RecordOverflow));
        }
        Ok((inner[last].into(), last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A client's application keys of RFC 8448, section 3, at a given record number.
    fn protection(sequence: u64) -> Protection {
        let key = 0x1742_2dda_596e_d5d9_acd8_90e3_c63f_5051_u128.to_be_bytes();
        let iv = [0x5b, 0x78, 0x92, 0x3d, 0xee, 0x08, 0x57, 0x90, 0x33, 0xe5, 0x23, 0xd9];
        Protection::of(&AES_128_GCM, &key, &iv, sequence).expect("16 bytes, and 12")
    }
    fn record(protection: &mut Protection, kind: ContentType, content: &[u8]) -> Vec<u8> {
        let mut record = vec![0; HEADER];
        record.extend_from_slice(content);
        record.extend_from_slice(&[0; TRAILER]);
        protection.seal(kind, &mut record).expect("below the limit");
        record
    }

    /// The client's record of RFC 8448, section 3, "send application_data record".
    #[test]
    fn a_record_is_as_in_rfc_8448() {
        let content: Vec<u8> = (0..50).collect();
        let expected = "17 03 03 00 43 a2 3f 70 54 b6 2c 94 d0 af fa fe 82 28 ba 55 cb ef ac ea 42 f9 14 aa 66 bc ab 3f 2b 98 19 a8 a5 b4 6b 39 5b d5 4a 9a 20 44 1e 2b 62 97 4e 1f 5a 62 92 a2 97 70 14 \
                        bd 1e 3d ea e6 3a ee bb 21 69 49 15 e4";
        let expected: Vec<u8> =
            expected.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).expect("hexadecimal")).collect();
        assert_eq!(record(&mut protection(0), ContentType::ApplicationData, &content), expected);
        let mut bytes = expected;
        assert_eq!(protection(0).open(&mut bytes, 0), Ok((ContentType::ApplicationData, 50)));
        assert_eq!(&bytes[..50], content);
    }

    proptest! {
        /// Whatever stands before a record, its content comes to the front. A record that is changed, cut or out of
        /// turn is refused.
        #[test]
        fn what_is_sealed_is_opened(
            content in prop::collection::vec(any::<u8>(), 0..3000),
            before in 0_usize..3000,
            sequence in 0_u64..MOST,
            flipped in any::<prop::sample::Index>(),
        ) {
            let whole = record(&mut protection(sequence), ContentType::ApplicationData, &content);
            prop_assert_eq!(Protection::length(&whole), Ok(Some(whole.len())));
            let mut bytes = vec![9; before];
            bytes.extend_from_slice(&whole);
            prop_assert_eq!(protection(sequence).open(&mut bytes, before), Ok((ContentType::ApplicationData, content.len())));
            prop_assert_eq!(&bytes[..content.len()], &content);
            let bad = Err(Wrong::Here(AlertDescription::BadRecordMac));
            prop_assert_eq!(protection(sequence ^ 1).open(&mut whole.clone(), 0), bad);
            prop_assert_eq!(protection(sequence).open(&mut whole[..whole.len() - 1].to_vec(), 0), bad);
            let mut changed = whole;
            let at = flipped.index(changed.len());
            changed[at] ^= 1;
            prop_assert_eq!(protection(sequence).open(&mut changed, 0), bad);
        }
    }

    #[test]
    fn a_record_of_nothing_or_too_much_is_none() {
        let unexpected = Err(Wrong::Here(AlertDescription::UnexpectedMessage));
        assert_eq!(
            protection(0).open(&mut record(&mut protection(0), ContentType::Unknown(0), &[0; 20]), 0),
            unexpected
        );
        let overflow = Wrong::Here(AlertDescription::RecordOverflow);
        let mut long = record(&mut protection(0), ContentType::ApplicationData, &vec![1; CONTENT + 1]);
        assert_eq!(protection(0).open(&mut long, 0), Err(overflow));
        assert_eq!(Protection::length(&[23, 3, 3, 0x41, 1]), Err(overflow));
        assert_eq!(Protection::length(&[23, 3, 3, 0x41, 0]), Ok(Some(HEADER + CONTENT + EXPANSION)));
        assert_eq!(Protection::length(&[22, 3, 3, 0, 1]), Err(Wrong::Here(AlertDescription::UnexpectedMessage)));
        assert_eq!(Protection::length(&[23, 3, 3, 0]), Ok(None));
    }

    /// P-2.
    #[test]
    fn a_key_wears_out() {
        let mut sealer = protection(WORN - 1);
        record(&mut sealer, ContentType::ApplicationData, b"one more");
        assert_eq!(sealer.records(), WORN);
        let mut sealer = protection(MOST - 1);
        record(&mut sealer, ContentType::ApplicationData, b"the last");
        let one_more = sealer.seal(ContentType::ApplicationData, &mut [0; HEADER + TRAILER]);
        assert_eq!(one_more, Err(Wrong::Here(AlertDescription::InternalError)));
    }
}
