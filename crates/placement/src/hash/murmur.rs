//! `MurmurHash3_x86_32` (Appleby 2011) as the engines have it: the standard's, and Spark's own end.

const C1: u32 = 0xcc9e_2d51;
const C2: u32 = 0x1b87_3593;

#[inline]
fn mixed_word(word: u32) -> u32 {
    word.wrapping_mul(C1).rotate_left(15).wrapping_mul(C2)
}

#[inline]
fn mixed(hash: u32, word: u32) -> u32 {
    (hash ^ mixed_word(word)).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64)
}

#[inline]
fn finished(hash: u32, length: u32) -> u32 {
    let mut hash = hash ^ length;
    hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
    hash ^ hash >> 16
}

#[inline]
fn words(bytes: &[u8], seed: u32) -> (u32, &[u8]) {
    let words = bytes.chunks_exact(4);
    let rest = words.remainder();
    let hash = words.fold(seed, |hash, word| mixed(hash, u32::from_le_bytes([word[0], word[1], word[2], word[3]])));
    (hash, rest)
}

/// The standard's, as Guava's `murmur3_32_fixed` has it.
#[inline]
pub fn standard(bytes: &[u8], seed: u32) -> i32 {
    let (hash, rest) = words(bytes, seed);
    let tail = rest.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
    finished(if rest.is_empty() { hash } else { hash ^ mixed_word(tail) }, bytes.len() as u32) as i32
}

/// Hive's `Murmur3.hash32`: bytes behind the last whole word count with their sign, which the standard's do not. Texts
/// of ASCII have the standard's hash.
#[inline]
pub fn of_hive(bytes: &[u8], seed: u32) -> i32 {
    let (hash, rest) = words(bytes, seed);
    let signed = |(place, byte): (u32, &u8)| (i32::from(*byte as i8) as u32) << (8 * place);
    let tail = (0..).zip(rest).map(signed).fold(0, |tail, byte| tail ^ byte);
    finished(if rest.is_empty() { hash } else { hash ^ mixed_word(tail) }, bytes.len() as u32) as i32
}

/// Spark's `Murmur3_x86_32.hashUnsafeBytes`: each byte behind the last whole word is mixed in like a word, with its
/// sign.
#[inline]
pub fn of_spark(bytes: &[u8], seed: u32) -> i32 {
    let (hash, rest) = words(bytes, seed);
    let hash = rest.iter().fold(hash, |hash, byte| mixed(hash, i32::from(*byte as i8) as u32));
    finished(hash, bytes.len() as u32) as i32
}
