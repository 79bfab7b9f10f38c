//! Whole numbers, as they are read on the command line.

use std::fmt::Display;
use std::num::IntErrorKind;
use std::ops::RangeInclusive;
use std::str::FromStr;

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
