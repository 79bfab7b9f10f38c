//! Where lines may end.

use units::{BitRate, Bytes, Energy, Power, Time};

/// Units beside those that scenarios are written in.
const OTHER_UNITS: [&str; 15] =
    ["%", "packets", "B/s", "KB/s", "MB/s", "GB/s", "Wh", "kWh", "m", "km", "dB", "dBm", "Hz", "MHz", "GHz"];

/// The words of a text. A number and its unit, and what stands around a plus-minus sign, are one word.
pub fn words(text: &str) -> Vec<&str> {
    let mut words: Vec<&str> = Vec::new();
    // Where the word begins, and its last part.
    let mut last: Option<(usize, &str)> = None;
    for part in text.split_whitespace() {
        let at = part.as_ptr() as usize - text.as_ptr() as usize;
        let joined = last.filter(|(_, before)| belong_together(before, part));
        let start = joined.map_or(at, |(start, _)| start);
        if joined.is_some() {
            words.pop();
        }
        words.push(&text[start..at + part.len()]);
        last = Some((start, part));
    }
    words
}

/// The parts of a word after which a line may end where the word is longer than a line.
pub fn pieces(word: &str) -> impl Iterator<Item = &str> {
    word.split_inclusive(['-', '/', '_', '.'])
}

fn belong_together(before: &str, after: &str) -> bool {
    before == "±" || after == "±" || is_number(before) && is_unit(after)
}

/// Brackets, signs and commas aside.
fn is_number(word: &str) -> bool {
    let word = word.trim_start_matches(['(', '[']).replace(',', "");
    word.parse::<f64>().is_ok_and(f64::is_finite)
}

fn is_unit(word: &str) -> bool {
    let unit = word.trim_end_matches(['(', ')', ']', ',', ';', ':', '.']);
    let figure = format!("1 {unit}");
    OTHER_UNITS.contains(&unit)
        || figure.parse::<Time>().is_ok()
        || figure.parse::<Bytes>().is_ok()
        || figure.parse::<BitRate>().is_ok()
        || figure.parse::<Power>().is_ok()
        || figure.parse::<Energy>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_keeps_its_unit() {
        for (text, expected) in [
            ("link into w2 0.00 %, 3 of 4", &["link", "into", "w2", "0.00 %,", "3", "of", "4"][..]),
            ("takes 24.7 ± 6.2 s (480,531 packets)", &["takes", "24.7 ± 6.2 s", "(480,531 packets)"]),
            ("at 10 Mbit/s: 5  min", &["at", "10 Mbit/s:", "5  min"]),
            ("1.5 kWh, 3 MB/s, -80 dBm.", &["1.5 kWh,", "3 MB/s,", "-80 dBm."]),
            ("", &[]),
        ] {
            assert_eq!(words(text), expected, "{text}");
        }
    }
}
