//! How many OFDM symbols a PSDU takes in the LDPC code: code words of three lengths, shortened and punctured to fit.
//!
//! Source: IEEE Std 802.11-2012, 20.3.11.7.5 (PPDU encoding process, table 20-16).

use super::rates::Ht;

/// The symbols of `bits` bits of payload, service bits among them; there are no tail bits.
pub(super) const fn symbols(ht: Ht, bits: u64) -> u64 {
    let (information, coded) = ht.scheme().1.ratio();
    let (information, coded) = (information as u64, coded as u64);
    let per_symbol = ht.coded_bits() as u64;
    let symbols = bits.div_ceil(ht.data_bits() as u64);
    let room = symbols * per_symbol;

    // Number and length of code words. The conditions of table 20-16, times the denominator of the code rate.
    let parity = coded - information;
    let spare = coded * room.saturating_sub(bits);
    let (words, length) = if room <= 648 {
        (1, if spare >= 912 * parity { 1_296 } else { 648 })
    } else if room <= 1_296 {
        (1, if spare >= 1_464 * parity { 1_944 } else { 1_296 })
    } else if room <= 1_944 {
        (1, 1_944)
    } else if room <= 2_592 {
        (2, if spare >= 2_916 * parity { 1_944 } else { 1_296 })
    } else {
        ((bits * coded).div_ceil(1_944 * information), 1_944)
    };
    // A length is a multiple of 12 times the denominator.
    let data = words * length / coded * information;
    let shortened = data.saturating_sub(bits);
    let punctured = (words * length).saturating_sub(room + shortened);
    // Too much would be punctured: another symbol. The bounds are a tenth of the parity bits, unless enough is
    // shortened, and three tenths in any case.
    let parity_bits = words * length - data;
    let many = 10 * punctured > parity_bits && 10 * parity * shortened < 12 * punctured * information;
    let too_many = 10 * punctured > 3 * parity_bits;
    if many || too_many { symbols + 1 } else { symbols }
}
