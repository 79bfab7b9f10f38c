//! A job's output against what it must be.

use super::text::Counts;
use serde::Serialize;
use std::f64::consts::PI;

/// What comparing came to.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case", tag = "verdict", content = "what")]
pub enum Check {
    /// The output is as it must be: what was compared.
    Right(String),
    /// The output is not as it must be: the first difference.
    Wrong(String),
    /// There is no reference to compare with: why.
    Unknown(String),
}

/// Compares lines of a key and a number, in either order and parted by a tab, with counts.
pub fn counted(output: &[u8], counts: &Counts, key_first: bool) -> Check {
    let text = String::from_utf8_lossy(output);
    let mut found = Counts::new();
    for line in text.lines() {
        let fields = line.split_once('\t').map(|(a, b)| if key_first { (a, b) } else { (b, a) });
        let Some((key, Ok(count))) = fields.map(|(key, count)| (key, count.parse::<u64>())) else {
            return Check::Wrong(format!("`{line}` is not a key and its count"));
        };
        if found.insert(key.to_owned(), count).is_some() {
            return Check::Wrong(format!("`{key}` is counted twice"));
        }
    }
    let wrong = counts.iter().find(|(key, count)| found.get(*key) != Some(count));
    if let Some((key, count)) = wrong {
        let said = found.get(key).map_or_else(|| "not at all".to_owned(), u64::to_string);
        return Check::Wrong(format!("`{key}` comes {count} times, and is counted {said}"));
    }
    match found.keys().find(|key| !counts.contains_key(*key)) {
        Some(key) => Check::Wrong(format!("`{key}` does not come, and is counted")),
        None => Check::Right(format!("{} counts, all as in the text", found.len())),
    }
}

/// What TeraValidate says: a checksum of records that are in order, and else a line for each fault.
pub fn validated(said: &str, sum: &str) -> Check {
    let mut lines = said.lines().filter(|line| !line.trim().is_empty());
    match (lines.next().and_then(|line| line.split_once('\t')), lines.next()) {
        (Some(("checksum", found)), None) => {
            // The counter of TeraGen holds the low 64 of 128 bits.
            let low = &found[found.len().saturating_sub(16)..];
            let (low, sum) = (low.trim_start_matches('0'), sum.trim_start_matches('0'));
            let what = format!("in order; checksum {found}");
            if low == sum { Check::Right(what) } else { Check::Wrong(format!("{what}, of the input ...{sum}")) }
        }
        _ => Check::Wrong(format!("TeraValidate says: {}", said.lines().take(3).collect::<Vec<_>>().join("; "))),
    }
}

/// What `validate` of `SparkJobs` says of sorted lines, beside what it must say.
pub fn sorted(said: Option<&str>, lines: &str) -> Check {
    match said.and_then(|said| said.rsplit_once(", ")) {
        Some((found, "in order")) if found == lines => Check::Right(format!("{lines}, in order")),
        Some((found, order)) => Check::Wrong(format!("{found}, {order}; of the input {lines}")),
        None => Check::Wrong("the application that looks at the output said nothing".to_owned()),
    }
}

/// The estimate in what the client of pi says. The points are a Halton sequence's, of discrepancy about (log n)^2 / n.
/// A convex area is missed by no more than about the root of that (Kuipers and Niederreiter 1974, theorem 2.1.6).
pub fn pi(said: &str, maps: u32, points: u64) -> Check {
    let estimate = said.lines().find_map(|line| line.trim().strip_prefix("Estimated value of Pi is "));
    let Some(estimate) = estimate.and_then(|value| value.trim().parse::<f64>().ok()) else {
        return Check::Wrong("it told no estimate".to_owned());
    };
    let n = f64::from(maps) * points as f64;
    let error = (estimate - PI).abs();
    let most = 4.0 * libm::log2(n) / libm::sqrt(n);
    let what = format!("pi is estimated as {estimate}");
    if error <= most { Check::Right(what) } else { Check::Wrong(format!("{what}, off by {error:.6}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_must_be_all_and_only_those() {
        let counts = Counts::from([("be".to_owned(), 2), ("to".to_owned(), 1)]);
        assert!(matches!(counted(b"to\t1\nbe\t2\n", &counts, true), Check::Right(_)));
        assert!(matches!(counted(b"1\tto\n2\tbe\n", &counts, false), Check::Right(_)));
        for wrong in
            [&b"be\t2\n"[..], b"be\t2\nto\t2\n", b"be\t2\nto\t1\nor\t1\n", b"be\t2\nto\t1\nto\t1\n", b"be", b""]
        {
            assert!(matches!(counted(wrong, &counts, true), Check::Wrong(_)), "{}", String::from_utf8_lossy(wrong));
        }
    }

    #[test]
    fn records_must_be_in_order_and_all_there() {
        // TeraValidate of Hadoop 3.4.2 over what TeraGen counted as 7a27e2d0d55de.
        assert!(matches!(validated("checksum\t7a27e2d0d55de\n", "7a27e2d0d55de"), Check::Right(_)));
        assert!(matches!(validated("checksum\t107a27e2d0d55de00\n", "7a27e2d0d55de00"), Check::Right(_)));
        assert!(matches!(validated("checksum\t7a27e2d0d55df\n", "7a27e2d0d55de"), Check::Wrong(_)));
        assert!(matches!(validated("error\tmisorder in part-r-00000\nchecksum\t1\n", "1"), Check::Wrong(_)));
        assert!(matches!(validated("", "1"), Check::Wrong(_)));
    }

    #[test]
    fn lines_must_be_in_order_and_all_there() {
        let lines = "2 lines, sum af";
        assert!(matches!(sorted(Some("2 lines, sum af, in order"), lines), Check::Right(_)));
        for wrong in [Some("2 lines, sum af, not in order"), Some("2 lines, sum ae, in order"), Some("?"), None] {
            assert!(matches!(sorted(wrong, lines), Check::Wrong(_)), "{wrong:?}");
        }
    }

    #[test]
    fn an_estimate_far_from_pi_is_wrong() {
        assert!(matches!(pi("x\nEstimated value of Pi is 3.14155\n", 4, 1_000_000), Check::Right(_)));
        assert!(matches!(pi("Estimated value of Pi is 3.2\n", 4, 1_000_000), Check::Wrong(_)));
        assert!(matches!(pi("", 4, 1_000_000), Check::Wrong(_)));
    }
}
