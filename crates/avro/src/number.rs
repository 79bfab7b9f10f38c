//! Numbers of the binary encoding.

use thiserror::Error;

/// Why there is no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NumberError {
    /// The bytes end before it does.
    #[error("a number that does not end")]
    Short,
    /// It does not end within 64 bits.
    #[error("a number of more than 64 bits")]
    Long,
}

/// A long at the beginning of some bytes, and how many it takes: seven bits a byte, the lowest first, the sign in the
/// lowest bit of all. Lengths, counts, branches of unions and ints are encoded so, too.
///
/// # Errors
///
/// If the bytes end within it, or if it does not end within 64 bits.
#[inline]
pub fn long(bytes: &[u8]) -> Result<(i64, usize), NumberError> {
    let mut number = 0_u64;
    for (place, shift) in (0..64).step_by(7).enumerate() {
        let byte = *bytes.get(place).ok_or(NumberError::Short)?;
        if shift == 63 && byte > 1 {
            break;
        }
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(((number >> 1) as i64 ^ -((number & 1) as i64), place + 1));
        }
    }
    Err(NumberError::Long)
}
