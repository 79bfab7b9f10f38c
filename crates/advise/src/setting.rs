//! What a remedy sets in a scenario: the values of x, and the assignments that they make.

use crate::file::Remedy;
use crate::keys::Keys;
use units::{BitRate, Bytes, Power, Quantity, Time, whole};

/// One way to apply a remedy.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// The value of x as a scenario writes it; empty for a remedy without.
    pub x: String,
    /// Assignments `section.key=value`.
    pub assignments: Vec<String>,
}

/// Keys that must stay as they are.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// The keys; one stands for those inside it, too.
    pub keep: Vec<String>,
}

impl Limits {
    /// The first key that would be changed although it must stay.
    fn broken<'a>(&'a self, assignments: &[String]) -> Option<&'a str> {
        let broken = |keep: &&String| {
            assignments.iter().any(|assignment| {
                let key = assignment.split('=').next().unwrap_or_default();
                key == keep.as_str() || key.strip_prefix(keep.as_str()).is_some_and(|rest| rest.starts_with('.'))
            })
        };
        self.keep.iter().find(broken).map(String::as_str)
    }
}

/// The ways to apply a remedy to a scenario, or why there is none.
pub fn settings(remedy: &Remedy, keys: &Keys, limits: &Limits) -> Result<Vec<Setting>, String> {
    if let Some(kept) = remedy.touches.iter().find(|key| limits.keep.contains(key)) {
        return Err(format!("{kept} is to stay as it is"));
    }
    let mut ways: Vec<Way<'_>> = remedy.values.iter().map(|value| Way::Value(&value.0)).collect();
    ways.extend(remedy.times.iter().filter_map(study::Scalar::number).map(Way::Times));
    if ways.is_empty() {
        ways.push(Way::Value(""));
    }
    let of = remedy.of.as_deref().unwrap_or_default();
    let sources = keys.expand(of);
    let mut settings = Vec::new();
    for way in ways {
        let x = |place: usize| way.x(keys, of, sources.get(place).or(sources.first()));
        let mut assignments = Vec::new();
        for set in &remedy.set {
            let (key, value) = set.split_once('=').unwrap_or((set, ""));
            let paths = keys.expand(key.trim());
            if paths.is_empty() {
                return Err(format!("the scenario has no {}", key.split(".*").next().unwrap_or(key)));
            }
            for (place, path) in paths.iter().enumerate() {
                assignments.push(format!("{path}={}", value.trim().replace("{x}", &x(place)?)));
            }
        }
        if let Some(kept) = limits.broken(&assignments) {
            return Err(format!("{kept} is to stay as it is"));
        }
        let setting = Setting { x: x(0)?, assignments };
        if !settings.contains(&setting) {
            settings.push(setting);
        }
    }
    Ok(settings)
}

/// How x is found.
#[derive(Clone, Copy)]
enum Way<'a> {
    /// It is given.
    Value(&'a str),
    /// It is a present value times a factor: of a list each entry's own.
    Times(f64),
}

impl Way<'_> {
    fn x(self, keys: &Keys, of: &str, source: Option<&String>) -> Result<String, String> {
        let factor = match self {
            Self::Value(value) => return Ok(value.to_owned()),
            Self::Times(factor) => factor,
        };
        let present = source.and_then(|path| keys.get(path)).ok_or_else(|| format!("{of} is left out"))?;
        if present == "0" {
            // None stays none: a job without reducers gets no reducer.
            return Ok(present);
        }
        multiplied(&present, factor).ok_or_else(|| format!("{of} = {present} is not a number"))
    }
}

/// A number or a quantity times a factor, as a scenario writes it. Counts stay whole and at least one.
pub fn multiplied(text: &str, factor: f64) -> Option<String> {
    if let Ok(count) = text.parse::<u64>() {
        return Some(whole((count as f64 * factor).round()).max(1).to_string());
    }
    if let Ok(number) = text.parse::<f64>() {
        return Some(format!("{:?}", number * factor));
    }
    quantity::<Time>(text, factor)
        .or_else(|| quantity::<Bytes>(text, factor))
        .or_else(|| quantity::<BitRate>(text, factor))
        .or_else(|| quantity::<Power>(text, factor))
        .or_else(|| {
            let packets = text.strip_suffix("packets")?.trim().parse::<u64>().ok()?;
            Some(format!("{} packets", whole((packets as f64 * factor).round()).max(1)))
        })
}

fn quantity<Q: Quantity>(text: &str, factor: f64) -> Option<String> {
    let value = text.parse::<Q>().ok()?.base() as f64 * factor;
    let unit = Q::SCALE.units.first()?.0;
    Some(format!("{} {unit}", whole(value.round()).max(1)).parse::<Q>().ok()?.exact())
}

/// A line to type, with the value of x in it.
pub fn line(template: &str, x: &str) -> String {
    let mut text = template.replace("{x}", x);
    let bytes = || x.parse::<Bytes>().ok().map(Bytes::get);
    let time = || x.parse::<Time>().ok();
    let numbers = [
        ("{mib}", bytes().map(|bytes| bytes >> 20)),
        ("{bytes}", bytes()),
        ("{ms}", time().map(|time| time.as_us() / 1_000)),
        ("{us}", time().map(Time::as_us)),
    ];
    for (name, number) in numbers {
        if let Some(number) = number {
            text = text.replace(name, &number.to_string());
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::Remedies;
    use scenario::Scenario;

    fn remedy(text: &str) -> Remedy {
        let text = format!("[[remedy]]\nid = \"a\"\nname = \"A\"\ncosts = \"c\"\nsource = \"s\"\n{text}");
        Remedies::read("r.toml", &text).unwrap_or_else(|error| panic!("{error}")).all.remove(0)
    }

    fn keys() -> Keys {
        let text =
            "[hdfs]\nblock = \"64 MB\"\n[mapreduce]\nreducers = 3\n[[job]]\nreducers = 4\n[[job]]\nreducers = 0\n";
        Keys::of(&Scenario::parse("s.toml", text, &[]).expect("valid"))
    }

    #[test]
    fn values_are_listed_or_multiples_of_a_key() {
        let of = |text: &str| settings(&remedy(text), &keys(), &Limits::default());
        let blocks = of("of = \"hdfs.block\"\ntimes = [2, 0.5, 1]\nset = [\"hdfs.block={x}\"]\n").expect("two");
        let set: Vec<_> = blocks.iter().map(|one| one.assignments[0].as_str()).collect();
        assert_eq!(set, ["hdfs.block=128 MB", "hdfs.block=32 MB", "hdfs.block=64 MB"]);
        let each = of("of = \"job.*.reducers\"\ntimes = [2]\nset = [\"job.*.reducers={x}\"]\n").expect("one");
        assert_eq!(each[0].assignments, ["job.0.reducers=8", "job.1.reducers=0"], "each its own");
        let all = of("set = [\"job.*.combiner=true\"]\n").expect("one");
        assert_eq!(all[0].assignments, ["job.0.combiner=true", "job.1.combiner=true"]);
        let none = of("values = [1]\nset = [\"network.shape.*.rate={x}\"]\n").expect_err("no shape");
        assert_eq!(none, "the scenario has no network.shape");
        let text = "set = [\"hdfs.replication=1\"]\n";
        let limits = Limits { keep: vec!["hdfs".to_owned()] };
        assert_eq!(settings(&remedy(text), &keys(), &limits), Err("hdfs is to stay as it is".to_owned()));
        let text = "set = [\"job.*.output-replication=1\"]\ntouches = [\"hdfs.replication\"]\n";
        let limits = Limits { keep: vec!["hdfs.replication".to_owned()] };
        assert!(settings(&remedy(text), &keys(), &limits).is_err(), "it is the same in other words");
    }

    #[test]
    fn quantities_keep_their_kind() {
        for (text, factor, expected) in [
            ("3", 0.5, "2"),
            ("1", 0.1, "1"),
            ("0.05", 10.0, "0.5"),
            ("64 MB", 2.0, "128 MB"),
            ("10 Mbit/s", 0.25, "2500 Kbit/s"),
            ("200 ms", 0.05, "10 ms"),
            ("128 packets", 4.0, "512 packets"),
        ] {
            assert_eq!(multiplied(text, factor).as_deref(), Some(expected), "{text} x {factor}");
        }
        assert_eq!(multiplied("cubic", 2.0), None);
    }

    #[test]
    fn lines_say_numbers_in_the_unit_that_a_program_takes() {
        assert_eq!(line("dfs.blocksize={bytes} ({x})", "1 MiB"), "dfs.blocksize=1048576 (1 MiB)");
        assert_eq!(line("io.sort.mb={mib}", "256 MiB"), "io.sort.mb=256");
        assert_eq!(line("rto_min {ms}ms", "10 ms"), "rto_min 10ms");
    }
}
