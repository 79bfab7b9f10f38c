//! The file of remedies.

use crate::condition::Condition;
use crate::objective::Objective;
use scenario::key::{Key, section};
use scenario::problem::{Problems, Span};
use scenario::tree::Tree;
use scenario::{FileKind, ScenarioError, Source};
use study::Scalar;

section! {
    /// A change that may help, as data.
    pub struct Remedy {
        /// Its name in results and on the command line.
        id: String = String::new();
        /// What it is, in a few words.
        name: String = String::new();
        /// Conditions, all of which hold where it may help: `share.disk >= 0.05` (part of the jobs' critical path),
        /// `network.timeouts > 0` (a figure of `result.json`), `scenario.tcp.control != bbr` (a key of the scenario;
        /// `none` where it is left out).
        when: Vec<String> = Vec::new();
        /// The objectives under which it is tried: `time`, `energy`, `cost`, `ptc`. Left out: all.
        objectives: Vec<String> = Vec::new();
        /// The key whose present value is multiplied by `times` to give the values of x.
        of: Option<String> = None;
        /// Factors on the value of `of`.
        times: Vec<Scalar> = Vec::new();
        /// The values of x one by one.
        values: Vec<Scalar> = Vec::new();
        /// Keys that it sets; `{x}` stands for the value, `*` for every entry of a list.
        set: Vec<String> = Vec::new();
        /// Keys whose meaning it changes beside those that it sets: where one is to stay, so is this.
        touches: Vec<String> = Vec::new();
        /// Remedies that cannot be combined with it, beside those that set the same keys.
        excludes: Vec<String> = Vec::new();
        /// Whether it takes hardware: it is measured to compare with, and is not part of a best set.
        yardstick: bool = false;
        /// What it costs or risks.
        costs: String = String::new();
        /// What to type on a real cluster, line by line: `{x}` as the scenario writes it, `{mib}`, `{bytes}`, `{ms}`
        /// and `{us}` as a number in that unit.
        apply: Vec<String> = Vec::new();
        /// Who says that it helps.
        source: String = String::new();
    }
}

section! {
    /// A file of remedies.
    pub struct RemediesFile {
        /// The remedies.
        remedy: Vec<Remedy> = Vec::new();
    }
}

/// Remedies, read and checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Remedies {
    /// The remedies, in the order of their files.
    pub all: Vec<Remedy>,
}

/// The remedies of the program.
const EMBEDDED: &str = include_str!("../remedies.toml");

impl Remedies {
    /// Those of the program.
    pub fn embedded() -> Result<Self, ScenarioError> {
        Self::read("remedies.toml", EMBEDDED)
    }

    /// Those of a file's text.
    pub fn read(name: &str, text: &str) -> Result<Self, ScenarioError> {
        let mut problems = Problems::default();
        let tree = Tree::parse(text, 0, &mut problems);
        FileKind::Remedies.expect(&tree, &mut problems);
        let file = if problems.is_empty() { RemediesFile::read(&tree, None, &mut problems) } else { None };
        if let (Some(file), true) = (file, problems.is_empty()) {
            check(&file, &tree, &mut problems);
            if problems.is_empty() {
                return Ok(Self { all: file.remedy });
            }
        }
        problems.sort();
        Err(ScenarioError {
            sources: vec![Source { name: name.to_owned(), text: text.to_owned() }],
            problems: problems.0,
        })
    }

    /// These with others; one of the same name takes the place of the earlier one.
    #[must_use]
    pub fn with(mut self, others: Self) -> Self {
        for other in others.all {
            match self.all.iter_mut().find(|remedy| remedy.id == other.id) {
                Some(same) => *same = other,
                None => self.all.push(other),
            }
        }
        self
    }

    /// Leaves only these; an unknown name is an error that names the nearest.
    pub fn keep(&mut self, ids: &[String]) -> Result<(), String> {
        self.known(ids)?;
        self.all.retain(|remedy| ids.contains(&remedy.id));
        Ok(())
    }

    /// Leaves these out.
    pub fn leave_out(&mut self, ids: &[String]) -> Result<(), String> {
        self.known(ids)?;
        self.all.retain(|remedy| !ids.contains(&remedy.id));
        Ok(())
    }

    fn known(&self, ids: &[String]) -> Result<(), String> {
        let names = || self.all.iter().map(|remedy| remedy.id.as_str());
        let Some(id) = ids.iter().find(|id| names().all(|name| name != id.as_str())) else { return Ok(()) };
        let near = units::nearest(id, names()).map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        Err(format!("there is no remedy `{id}`; {near}there are: {}", names().collect::<Vec<_>>().join(", ")))
    }
}

fn check(file: &RemediesFile, tree: &Tree, problems: &mut Problems) {
    let mut seen: Vec<&str> = Vec::new();
    if file.remedy.is_empty() {
        problems.add(tree.span_of(""), "there is no [[remedy]]");
    }
    for (i, remedy) in file.remedy.iter().enumerate() {
        let at = |key: &str| -> Span { tree.span_of(&format!("remedy.{i}.{key}")).clone() };
        if remedy.id.is_empty() || seen.contains(&remedy.id.as_str()) {
            problems.add(&at("id"), "a remedy has an `id` of its own");
        }
        seen.push(&remedy.id);
        for (key, text) in [("name", &remedy.name), ("costs", &remedy.costs), ("source", &remedy.source)] {
            if text.is_empty() {
                problems.add(&at(key), format!("a remedy has a `{key}`"));
            }
        }
        for (k, name) in remedy.objectives.iter().enumerate() {
            if !Objective::NAMES.contains(&name.as_str()) {
                let help = format!("one of {}", Objective::NAMES.join(", "));
                problems.add_with_help(&at(&format!("objectives.{k}")), format!("`{name}` is no objective"), help);
            }
        }
        if remedy.set.is_empty() {
            problems.add(&at("set"), "a remedy sets at least one key");
        }
        for (k, assignment) in remedy.set.iter().enumerate().filter(|(_, set)| !set.contains('=')) {
            let help = "write \"section.key=value\"";
            problems.add_with_help(&at(&format!("set.{k}")), format!("`{assignment}` sets nothing"), help);
        }
        let has_values = !remedy.values.is_empty() || !remedy.times.is_empty();
        let wants_values = remedy.set.iter().any(|set| set.contains("{x}"));
        if has_values != wants_values {
            let help = "`{x}` in `set` stands for the `values`, or for the value of `of` multiplied by `times`";
            problems.add_with_help(&at("set"), "`{x}` and the values that it stands for belong together", help);
        }
        if remedy.of.is_some() == remedy.times.is_empty() {
            problems.add(&at("of"), "`of` and `times` belong together");
        }
        for (k, factor) in remedy.times.iter().enumerate() {
            if factor.number().is_none_or(|factor| factor <= 0.0) {
                problems.add(&at(&format!("times.{k}")), "a factor is a number above 0");
            }
        }
        for (k, text) in remedy.when.iter().enumerate() {
            if let Err(message) = Condition::parse(text) {
                problems.add(&at(&format!("when.{k}")), message);
            }
        }
    }
    for (i, remedy) in file.remedy.iter().enumerate() {
        for (k, other) in remedy.excludes.iter().enumerate().filter(|(_, other)| !seen.contains(&other.as_str())) {
            let span = tree.span_of(&format!("remedy.{i}.excludes.{k}")).clone();
            problems.unknown(&span, "a remedy of this file", other, seen.iter().copied());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "[[remedy]]\nid = \"a\"\nname = \"A\"\ncosts = \"nothing\"\nsource = \"us\"\n\
        when = [\"share.disk > 0.1\"]\nof = \"hdfs.block\"\ntimes = [2]\nset = [\"hdfs.block={x}\"]\n";

    fn said(text: &str) -> String {
        Remedies::read("r.toml", text).expect_err("refused").to_string()
    }

    #[test]
    fn a_remedy_is_read_and_may_replace_one_of_its_name() {
        let one = Remedies::read("r.toml", ONE).expect("valid");
        let other = Remedies::read("r.toml", &ONE.replace("\"A\"", "\"B\"")).expect("valid");
        let both = one.clone().with(other);
        assert_eq!((both.all.len(), both.all[0].name.as_str()), (1, "B"));
        let mut kept = one;
        assert!(kept.keep(&["aa".to_owned()]).expect_err("unknown").contains("did you mean `a`?"));
        kept.leave_out(&["a".to_owned()]).expect("known");
        assert!(kept.all.is_empty());
    }

    #[test]
    fn what_is_wrong_is_said_at_its_place() {
        for (from, to, says) in [
            ("share.disk > 0.1", "share.disc > 0.1", "r.toml:6:9: no share is called `disc`: did you mean `disk`?"),
            ("share.disk > 0.1", "share.disk", "a condition is written"),
            ("times = [2]", "times = [-2]", "r.toml:8:10: a factor is a number above 0"),
            ("times = [2]\n", "", "`of` and `times` belong together"),
            ("hdfs.block={x}", "hdfs.block", "`hdfs.block` sets nothing"),
            ("{x}", "64 MB", "belong together"),
            ("id = \"a\"", "id = \"\"", "r.toml:2:6: a remedy has an `id`"),
            ("costs", "cots", "did you mean `costs`"),
            ("source = \"us\"", "source = \"us\"\nexcludes = [\"b\"]", "`b` is not a remedy of this file"),
        ] {
            let text = ONE.replacen(from, to, 1);
            let said = said(&text);
            assert!(said.contains(says), "{to}: {said}");
        }
        assert!(said("").contains("there is no [[remedy]]"));
    }

    #[test]
    fn the_program_s_own_are_valid_and_say_what_to_type() {
        let own = Remedies::embedded().unwrap_or_else(|error| panic!("{error}"));
        assert!(own.all.len() >= 25, "{} remedies", own.all.len());
        for remedy in &own.all {
            assert!(!remedy.apply.is_empty(), "{} says nothing to type", remedy.id);
        }
    }
}
