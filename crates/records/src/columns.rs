//! Columns that a file names, and which of them a rule means.

use crate::Error;
use placement::{KeyRule, KeyType};
use std::fmt::Write as _;

/// A column of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its path, with points between names.
    pub path: String,
    /// The type of its values; `None` if no engine makes buckets of such values.
    pub of: Option<KeyType>,
}

/// The most columns that a message lists.
const LISTED: usize = 24;

/// The columns as a message lists them.
fn listed(columns: &[Column]) -> String {
    let one = |column: &Column| match column.of {
        Some(of) => format!("{} ({of})", column.path),
        None => format!("{} (no key)", column.path),
    };
    let mut text = columns.iter().take(LISTED).map(one).collect::<Vec<_>>().join(", ");
    if columns.len() > LISTED {
        let _ = write!(text, " and {} more", columns.len() - LISTED);
    }
    text
}

/// The place of the column that a rule means.
///
/// # Errors
///
/// If there is none, or if it has no values that are keys.
pub fn chosen(columns: &[Column], rule: Option<&KeyRule>) -> Result<usize, Error> {
    let has = || format!("it has {}", listed(columns));
    let place = match rule {
        None => return Err(Error::Key(format!("--key says which column has the keys: {}", has()))),
        Some(KeyRule::Column { index, delimiter: b'\t' }) if *index < columns.len() => *index,
        Some(KeyRule::Field(name)) => {
            named(columns, name).map_err(|what| Error::Key(format!("{what} `{name}`; {}", has())))?
        }
        Some(rule) => {
            return Err(Error::Key(format!("key {rule} is none of its columns: column:NAME says which; {}", has())));
        }
    };
    if columns[place].of.is_none() {
        return Err(Error::Key(format!(
            "no engine has buckets of values as in column {}; {}",
            columns[place].path,
            has()
        )));
    }
    Ok(place)
}

/// A column by its path, or by the beginning of it where there is but one (a list's elements have names of their own).
fn named(columns: &[Column], name: &str) -> Result<usize, &'static str> {
    if let Some(place) = columns.iter().position(|column| column.path == name) {
        return Ok(place);
    }
    let below = |column: &Column| column.path.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
    let mut found = columns.iter().enumerate().filter(|(_, column)| below(column));
    match (found.next(), found.next()) {
        (Some((place, _)), None) => Ok(place),
        (Some(_), Some(_)) => Err("several columns are in"),
        (None, _) => Err("no column is"),
    }
}
