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
