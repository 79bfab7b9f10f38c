//! CPython's hash, as `PySpark`'s `portable_hash` takes it with `PYTHONHASHSEED=0`.
//!
//! `SipHash` with a key of zeros (Aumasson and Bernstein 2012), over the string as CPython keeps it: one, two or four
//! bytes for each character, by the widest of them (PEP 393). Since Python 3.11 it is SipHash-1-3, before SipHash-2-4.

/// CPython's `hash(str)` with `PYTHONHASHSEED=0`; `None` where the bytes are not UTF-8. `compressions` is 1 from
/// Python 3.11 on and 2 before.
pub fn text(bytes: &[u8], compressions: u32) -> Option<i64> {
    if bytes.is_ascii() {
        return Some(of_bytes(bytes, compressions));
    }
    let text = std::str::from_utf8(bytes).ok()?;
    let widest = text.chars().max().map_or(0, u32::from);
    let kept: Vec<u8> = match widest {
        0..=0xff => text.chars().map(|character| u32::from(character) as u8).collect(),
        0x100..=0xffff => text.chars().flat_map(|character| (u32::from(character) as u16).to_le_bytes()).collect(),
        _ => text.chars().flat_map(|character| u32::from(character).to_le_bytes()).collect(),
    };
    Some(of_bytes(&kept, compressions))
}

/// `hash(bytes)`.
pub fn of_bytes(bytes: &[u8], compressions: u32) -> i64 {
    if bytes.is_empty() {
        return 0;
    }
    not_an_error(sip(bytes, compressions) as i64)
}

/// The Mersenne prime by which CPython reduces numbers (`_PyHASH_MODULUS`): equal numbers have equal hashes, whether
/// they are integers or fractions.
const PRIME: u64 = (1 << 61) - 1;

/// `hash(int)`: the remainder by the prime, with the number's sign.
pub fn int(value: i64) -> i64 {
    signed(value.unsigned_abs() % PRIME, value < 0)
}

/// `hash(float)`: mantissa times two to the exponent, reduced by the prime. `None` of NaN, whose hash is its place in
/// memory since Python 3.10.
pub fn float(value: f64) -> Option<i64> {
    /// `_PyHASH_INF`.
    const INFINITY: u64 = 314_159;
    if value.is_nan() {
        return None;
    }
    if value.is_infinite() {
        return Some(signed(INFINITY, value < 0.0));
    }
    let bits = value.to_bits();
    let (exponent, fraction) = ((bits >> 52 & 0x7ff) as i64, bits & ((1 << 52) - 1));
    let mantissa = if exponent == 0 { fraction } else { fraction | 1 << 52 };
    // 2^61 is 1 by this prime, so a power of two turns the mantissa's 61 bits round.
    let turn = (exponent.max(1) - 1075).rem_euclid(61);
    let turned = (mantissa << turn | mantissa >> (61 - turn)) & PRIME;
    Some(signed(turned % PRIME, value < 0.0))
}

fn signed(rest: u64, negative: bool) -> i64 {
    not_an_error(if negative { -(rest as i64) } else { rest as i64 })
}

/// -1 means an error in CPython, and no value has it as its hash.
const fn not_an_error(hash: i64) -> i64 {
    if hash == -1 { -2 } else { hash }
}

fn sip(bytes: &[u8], compressions: u32) -> u64 {
    let mut state: [u64; 4] =
        [0x736f_6d65_7073_6575, 0x646f_7261_6e64_6f6d, 0x6c79_6765_6e65_7261, 0x7465_6462_7974_6573];
    let mut take = |word: u64| {
        state[3] ^= word;
        (0..compressions).for_each(|_| round(&mut state));
        state[0] ^= word;
    };
    let words = bytes.chunks_exact(8);
    let rest = words.remainder();
    for word in words {
        take(word.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)));
    }
    let tail = rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    take((bytes.len() as u64) << 56 | tail);
    state[2] ^= 0xff;
    // SipHash-c-d has d = c + 2 rounds at its end, in both of CPython's.
    (0..compressions + 2).for_each(|_| round(&mut state));
    state[0] ^ state[1] ^ state[2] ^ state[3]
}

fn round(state: &mut [u64; 4]) {
    let [mut a, mut b, mut c, mut d] = *state;
    a = a.wrapping_add(b);
    b = b.rotate_left(13) ^ a;
    a = a.rotate_left(32);
    c = c.wrapping_add(d);
    d = d.rotate_left(16) ^ c;
    a = a.wrapping_add(d);
    d = d.rotate_left(21) ^ a;
    c = c.wrapping_add(b);
    b = b.rotate_left(17) ^ c;
    c = c.rotate_left(32);
    *state = [a, b, c, d];
}
