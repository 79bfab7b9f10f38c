//! Hashes of Java's and Hadoop's classes.

/// Java's sums of bytes: `31 h + b` with the byte's sign, from a first value on. `WritableComparator.hashBytes` begins
/// with 1, Hive's old hash of a string with 0.
#[inline]
pub fn of_bytes(bytes: &[u8], first: i32) -> i32 {
    // Four bytes at a time break the chain of multiplications.
    const P: [i32; 4] = [31, 31 * 31, 31 * 31 * 31, 31 * 31 * 31 * 31];
    let of = |byte: u8| i32::from(byte as i8);
    let words = bytes.chunks_exact(4);
    let rest = words.remainder();
    let hash = words.fold(first, |hash, word| {
        let four = of(word[0])
            .wrapping_mul(P[2])
            .wrapping_add(of(word[1]).wrapping_mul(P[1]))
            .wrapping_add(of(word[2]).wrapping_mul(P[0]))
            .wrapping_add(of(word[3]));
        hash.wrapping_mul(P[3]).wrapping_add(four)
    });
    rest.iter().fold(hash, |hash, byte| hash.wrapping_mul(31).wrapping_add(of(*byte)))
}

/// [`of_bytes`] of `text[begin..end]`. A short key is read as the 16 bytes of the text that end with it, of which those
/// that are not the key's are taken away again: a loop's end would often be guessed wrong.
#[inline]
pub fn of_part(text: &[u8], begin: usize, end: usize, first: i32) -> i32 {
    let length = end.wrapping_sub(begin);
    let sixteen = text.get(..end).and_then(<[u8]>::last_chunk::<16>);
    let (Some(sixteen), 1..=16) = (sixteen, length) else {
        return of_bytes(text.get(begin..end).unwrap_or_default(), first);
    };
    let bytes = u128::from_le_bytes(*sixteen);
    // A byte with its sign is 128 less than the same byte with its highest bit turned.
    let key = (bytes ^ u128::from_ne_bytes([0x80; 16])) & u128::MAX << (128 - 8 * length);
    let sum = sum_of_eight(key as u64).wrapping_mul(POWERS[8]).wrapping_add(sum_of_eight((key >> 64) as u64));
    let signs = SUMS[length].wrapping_mul(128);
    (first as u32).wrapping_mul(POWERS[length]).wrapping_add(sum).wrapping_sub(signs) as i32
}

/// The sum of eight bytes, the first the lowest, each times the power of 31 of how many stand behind it: neighbours are
/// added up side by side, first to pairs, then to fours.
#[inline]
const fn sum_of_eight(bytes: u64) -> u32 {
    const BYTES: u64 = 0x00ff_00ff_00ff_00ff;
    const PAIRS: u64 = 0x0000_ffff_0000_ffff;
    let pairs = (bytes & BYTES) * POWERS[1] as u64 + (bytes >> 8 & BYTES);
    let fours = (pairs & PAIRS) * POWERS[2] as u64 + (pairs >> 16 & PAIRS);
    (fours as u32).wrapping_mul(POWERS[4]).wrapping_add((fours >> 32) as u32)
}

/// Powers of 31, and the sums of those before each.
const POWERS: [u32; 17] = powers().0;
const SUMS: [u32; 17] = powers().1;

const fn powers() -> ([u32; 17], [u32; 17]) {
    let (mut powers, mut sums) = ([1; 17], [0; 17]);
    let mut at = 1;
    while at < 17 {
        powers[at] = 31_u32.wrapping_mul(powers[at - 1]);
        sums[at] = powers[at - 1].wrapping_add(sums[at - 1]);
        at += 1;
    }
    (powers, sums)
}

/// `String.hashCode`, over the UTF-16 units; `None` where the bytes are not UTF-8.
pub fn of_string(bytes: &[u8]) -> Option<i32> {
    if bytes.is_ascii() {
        return Some(of_bytes(bytes, 0));
    }
    let text = std::str::from_utf8(bytes).ok()?;
    Some(text.encode_utf16().fold(0_i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit))))
}

/// `Long.hashCode`: the two halves, one over the other.
pub const fn of_long(value: i64) -> i32 {
    (value ^ (value as u64 >> 32) as i64) as i32
}

/// `Float.floatToIntBits`: all NaNs are one.
pub const fn float_bits(value: f32) -> i32 {
    if value.is_nan() { 0x7fc0_0000 } else { value.to_bits() as i32 }
}

/// `Double.doubleToLongBits`: all NaNs are one.
pub const fn double_bits(value: f64) -> i64 {
    if value.is_nan() { 0x7ff8_0000_0000_0000 } else { value.to_bits() as i64 }
}
