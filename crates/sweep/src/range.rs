//! Ranges of values: `{ from = "10 Mbit/s", to = "1 Gbit/s", steps = 5, log = true }`.

use crate::axis::Quantity;
use crate::varied::SweptValue;
use scenario::key::Key;
use scenario::problem::Problems;
use scenario::tree::{Entry, Inline, Tree, Value};
use units::nearest;

/// The words of a range.
const WORDS: [&str; 6] = ["from", "to", "steps", "step", "factor", "log"];
/// The most values of a range.
const MOST: u32 = 10_000;
/// Values between the ends of a range of steps have so many significant digits: 31.62 Mbit/s.
const DIGITS: usize = 4;
/// Repeated steps are cleaned of what rounding adds: 0.1 three times is 0.3.
const CLEAN_DIGITS: usize = 12;
/// What rounding may leave between the last step and the end.
const ROUNDING: f64 = 1e-9;

/// Whether a table is a range, and not one of keys: keys hold lists, the ends of a range do not.
pub fn is_range(entries: &[Entry]) -> bool {
    let is_end = |entry: &Entry| {
        matches!(entry.key.as_str(), "from" | "to") && !matches!(entry.tree.value, Value::Array(_) | Value::Table(_))
    };
    entries.iter().any(|entry| is_end(entry) || matches!(entry.key.as_str(), "steps" | "step" | "factor" | "log"))
}

/// The values of a range, and whether their ratios are equal; `whole` for a key that takes whole numbers. None after a
/// problem.
pub fn values(tree: &Tree, whole: bool, problems: &mut Problems) -> Option<(Vec<SweptValue>, bool)> {
    let Value::Table(entries) = &tree.value else { return None };
    let before = problems.0.len();
    for entry in entries.iter().filter(|entry| !WORDS.contains(&entry.key.as_str())) {
        let help = match nearest(&entry.key, WORDS) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("a range has {}", WORDS.join(", ")),
        };
        problems.add_with_help(&entry.key_span, format!("`{}` is no word of a range", entry.key), help);
    }
    let (Some(from), Some(to)) = (tree.get("from"), tree.get("to")) else {
        problems.add(&tree.span, "a range has a `from` and a `to`");
        return None;
    };
    let (unit, a) = end(from, problems)?;
    let b = in_unit(to, &unit, problems)?;
    if b <= a {
        problems.add(&tree.span, "a range goes up: its `to` is greater than its `from`");
    }
    let log = tree.get("log").map_or(Some(false), |log| bool::read(log, None, problems))?;
    let chosen = [tree.get("steps"), tree.get("step"), tree.get("factor")];
    if chosen.iter().flatten().count() != 1 {
        let help = "`steps = 5` (so many values), `step = 2` (a distance), `factor = 2` (a ratio)";
        problems.add_with_help(&tree.span, "a range says in one way which values lie between", help);
        return None;
    }
    if (log || chosen[2].is_some()) && a <= 0.0 {
        problems.add(&from.span, "equal ratios begin above zero");
    }
    if log && chosen[0].is_none() {
        problems.add(&tree.span, "`log` belongs to `steps`");
    }
    if problems.0.len() > before {
        return None;
    }
    let numbers = match chosen {
        [Some(steps), ..] => {
            let steps = u32::read(steps, Some(&(2..=MOST)), problems)?;
            spaced(a, b, steps, log)
        }
        [_, Some(step), _] => {
            let distance = in_unit(step, &unit, problems).filter(|distance| *distance > 0.0);
            let Some(distance) = distance else {
                problems.add(&step.span, "a step is greater than zero");
                return None;
            };
            repeated(a, b, tree, |number| a + number * distance, problems)?
        }
        [.., factor] => {
            let factor = factor?;
            let Some(ratio) = f64::read(factor, None, problems).filter(|ratio| *ratio > 1.0) else {
                problems.add(&factor.span, "a factor is greater than one");
                return None;
            };
            repeated(a, b, tree, |number| a * libm::pow(ratio, number), problems)?
        }
    };
    let whole = whole || unit == Unit::Packets;
    let mut values: Vec<SweptValue> = Vec::new();
    for number in numbers {
        let value = SweptValue::of(&unit.value(number, whole), &tree.span);
        // Whole numbers that lie near one another are the same.
        if values.last().is_none_or(|last| last.toml != value.toml) {
            values.push(value);
        }
    }
    Some((values, log || chosen[2].is_some()))
}

/// The unit in which a range counts: that of its `from`.
#[derive(Clone, Debug, PartialEq)]
enum Unit {
    None,
    Packets,
    Of { quantity: Quantity, name: String, factor: f64 },
}

impl Unit {
    fn value(&self, number: f64, whole: bool) -> Value {
        let rounded = number.round();
        match self {
            Self::None if whole => Value::Integer(rounded as i128),
            Self::None => Value::Float(number),
            Self::Packets => Value::String(format!("{rounded} packets")),
            Self::Of { name, .. } => Value::String(format!("{number} {name}")),
        }
    }
}

fn end(tree: &Tree, problems: &mut Problems) -> Option<(Unit, f64)> {
    match &tree.value {
        Value::Integer(integer) => Some((Unit::None, *integer as f64)),
        Value::Float(float) if float.is_finite() => Some((Unit::None, *float)),
        Value::String(text) => {
            if let Some(count) = packets(text) {
                return Some((Unit::Packets, count));
            }
            let quantity = Quantity::of(text);
            let parts = quantity.and_then(|quantity| Some((quantity, quantity.unit_of(text)?, quantity.base(text)?)));
            let Some((quantity, (name, factor), base)) = parts else {
                let help = "as a scenario writes them: 16, 0.5, \"10 Mbit/s\", \"64 packets\"";
                problems.add_with_help(&tree.span, format!("\"{text}\" is no end of a range"), help);
                return None;
            };
            Some((Unit::Of { quantity, name: name.to_owned(), factor }, base / factor))
        }
        other => {
            let message = format!("an end of a range is a number or a quantity, and this is {}", other.noun());
            problems.add(&tree.span, message);
            None
        }
    }
}

fn in_unit(tree: &Tree, unit: &Unit, problems: &mut Problems) -> Option<f64> {
    let number = match (unit, &tree.value) {
        (Unit::None, Value::Integer(integer)) => Some(*integer as f64),
        (Unit::None, Value::Float(float)) => Some(*float).filter(|float| float.is_finite()),
        (Unit::Packets, Value::String(text)) => packets(text),
        (Unit::Of { quantity, factor, .. }, Value::String(text)) => quantity.base(text).map(|base| base / factor),
        _ => None,
    };
    if number.is_none() {
        let what = match unit {
            Unit::None => "a number".to_owned(),
            Unit::Packets => "a number of packets".to_owned(),
            Unit::Of { name, .. } => format!("a quantity that can be written in {name}"),
        };
        let message = format!("{} is not of the same kind as `from`: {what}", Inline(&tree.value));
        problems.add(&tree.span, message);
    }
    number
}

fn packets(text: &str) -> Option<f64> {
    text.strip_suffix("packets")?.trim().parse::<u32>().ok().map(f64::from)
}

/// So many values from a to b, of equal distances or ratios; those between are rounded.
fn spaced(a: f64, b: f64, steps: u32, log: bool) -> Vec<f64> {
    let at = |number: u32| {
        let part = f64::from(number) / f64::from(steps - 1);
        match number {
            0 => a,
            _ if number == steps - 1 => b,
            _ if log => rounded(a * libm::pow(b / a, part), DIGITS),
            _ => rounded(a + (b - a) * part, DIGITS),
        }
    };
    (0..steps).map(at).collect()
}

/// To so many significant digits.
fn rounded(value: f64, digits: usize) -> f64 {
    // Through text: a power of ten times a number would bring digits of its own back.
    format!("{:.*e}", digits - 1, value).parse().unwrap_or(value)
}

/// The values from a on that are at most b.
fn repeated(a: f64, b: f64, tree: &Tree, at: impl Fn(f64) -> f64, problems: &mut Problems) -> Option<Vec<f64>> {
    let mut values = vec![a];
    loop {
        let value = at(values.len() as f64);
        if value > b * (1.0 + ROUNDING) {
            return Some(values);
        }
        if values.len() as u32 == MOST {
            problems.add(&tree.span, format!("this range has more than {MOST} values"));
            return None;
        }
        values.push(rounded(value, CLEAN_DIGITS));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(text: &str, whole: bool) -> Result<Vec<String>, String> {
        let mut problems = Problems::default();
        let tree = Tree::parse(&format!("r = {text}"), 0, &mut problems);
        let found = values(tree.get("r").expect("r"), whole, &mut problems);
        match problems.0.first() {
            Some(problem) => Err(problem.message.clone()),
            None => Ok(found.expect("no problem").0.into_iter().map(|value| value.toml).collect()),
        }
    }

    /// Half decades: 10^(1/2) = 3.16228.
    #[test]
    fn values_lie_as_far_apart_as_it_says() {
        for (text, whole, expected) in [
            ("{ from = 1, to = 16, steps = 5, log = true }", true, "1 2 4 8 16"),
            ("{ from = 0, to = 1, steps = 5 }", false, "0.0 0.25 0.5 0.75 1.0"),
            ("{ from = 1, to = 3, steps = 5 }", true, "1 2 3"),
            ("{ from = 4, to = 20, step = 8 }", true, "4 12 20"),
            ("{ from = 0.1, to = 0.5, step = 0.1 }", false, "0.1 0.2 0.3 0.4 0.5"),
            ("{ from = 3, to = 100, factor = 3 }", true, "3 9 27 81"),
        ] {
            assert_eq!(range(text, whole).map(|all| all.join(" ")), Ok(expected.to_owned()), "{text}");
        }
        let rates = range("{ from = \"10 Mbit/s\", to = \"1 Gbit/s\", steps = 5, log = true }", false).expect("five");
        assert_eq!(rates.join(" "), "\"10 Mbit/s\" \"31.62 Mbit/s\" \"100 Mbit/s\" \"316.2 Mbit/s\" \"1000 Mbit/s\"");
        let blocks = range("{ from = \"16 MiB\", to = \"64 MiB\", factor = 2 }", false).expect("three");
        assert_eq!(blocks.join(" "), "\"16 MiB\" \"32 MiB\" \"64 MiB\"");
        let queue = range("{ from = \"10 packets\", to = \"1000 packets\", steps = 3, log = true }", false);
        assert_eq!(queue.expect("three").join(" "), "\"10 packets\" \"100 packets\" \"1000 packets\"");
        let times = range("{ from = \"500 ms\", to = \"2 s\", step = \"500 ms\" }", false).expect("four");
        assert_eq!(times.join(" "), "\"500 ms\" \"1000 ms\" \"1500 ms\" \"2000 ms\"");
    }

    #[test]
    fn what_is_no_range_is_said() {
        for (text, says) in [
            ("{ from = 1, to = 4 }", "in one way which values"),
            ("{ from = 1, to = 4, steps = 2, step = 1 }", "in one way which values"),
            ("{ from = 4, to = 1, steps = 2 }", "goes up"),
            ("{ from = 0, to = 4, steps = 3, log = true }", "begin above zero"),
            ("{ from = 1, steps = 3 }", "a `from` and a `to`"),
            ("{ from = 1, to = 4, stepps = 3 }", "`stepps` is no word"),
            ("{ from = \"1 s\", to = \"4 MB\", steps = 3 }", "not of the same kind"),
            ("{ from = \"1 s\", to = 4, steps = 3 }", "not of the same kind"),
            ("{ from = \"fast\", to = \"slow\", steps = 3 }", "no end of a range"),
            ("{ from = 1, to = 4, step = 0 }", "greater than zero"),
            ("{ from = 1, to = 4, factor = 1 }", "greater than one"),
            ("{ from = 1, to = 4, step = 1, log = true }", "`log` belongs to `steps`"),
            ("{ from = 1, to = 1e12, step = 1 }", "more than 10000 values"),
            ("{ from = 1, to = 4, steps = 1 }", "out of range"),
        ] {
            let error = range(text, true).expect_err(text);
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
