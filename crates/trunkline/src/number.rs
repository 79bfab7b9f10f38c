//! Whole numbers, as they are read on the command line, and errors, as they are printed.

use std::fmt::Display;
use std::num::IntErrorKind;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// By how much a prediction is off, as a share, in words: `+2.4 %`. What rounds to nothing has no sign of its own.
pub fn off_by(error: f64) -> String {
    let tenths = (error * 1000.0).round() / 10.0;
    format!("{:+.1} %", if tenths == 0.0 { 0.0 } else { tenths })
}

/// A parser of whole numbers of a range, which says the range where a word is none of them: the standard library's
/// message names a digit that the user cannot find.
pub fn whole<T>(range: RangeInclusive<T>) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: FromStr<Err = std::num::ParseIntError> + Display + PartialOrd + Clone + Send + Sync + 'static,
{
    move |text| {
        let (least, most) = (range.start(), range.end());
        let wanted = format!("a whole number from {least} to {most}");
        match text.parse::<T>() {
            Ok(number) if range.contains(&number) => Ok(number),
            Ok(_) => Err(format!("out of range; it must be {wanted}")),
            Err(error) if *error.kind() == IntErrorKind::PosOverflow => {
                Err(format!("out of range; it must be {wanted}"))
            }
            Err(_) => Err(format!("it must be {wanted}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::off_by;

    #[test]
    fn an_error_of_nothing_has_no_sign_of_its_own() {
        assert_eq!([-0.0004, 0.0004, -0.0006].map(off_by), ["+0.0 %", "+0.0 %", "-0.1 %"]);
    }
}
