//! docs/reference/protocol.md numbers its rules: each has its place in the code, and each that says MUST a test.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The rules, and which of them say MUST.
fn rules(text: &str) -> BTreeMap<u32, bool> {
    let mut rules = BTreeMap::new();
    let mut current = None;
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("- **P-") {
            current = rest.split_once("**").and_then(|(number, _)| number.parse().ok());
        } else if !line.starts_with("  ") {
            current = None;
        }
        if let Some(number) = current {
            *rules.entry(number).or_insert(false) |= line.contains("MUST");
        }
    }
    rules
}

/// The rules that a text cites.
fn cited(text: &str) -> BTreeSet<u32> {
    let number = |rest: &str| {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        rest[..digits].parse().ok()
    };
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    words.filter_map(|word| number(word.strip_prefix("P-")?)).collect()
}

/// All that a folder's sources cite: in code, and in tests.
fn scan(folder: &Path, in_tests: bool, code: &mut BTreeSet<u32>, tests: &mut BTreeSet<u32>) {
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            scan(&path, in_tests, code, tests);
        } else if path.extension().is_some_and(|extension| extension == "rs")
            && !path.ends_with("jet/tests/it/protocol.rs")
        {
            let text = fs::read_to_string(&path).expect("readable");
            let (of_code, of_tests) = text.split_once("#[cfg(test)]").unwrap_or((&text, ""));
            if in_tests { &mut *tests } else { &mut *code }.extend(cited(of_code));
            tests.extend(cited(of_tests));
        }
    }
}

#[test]
fn every_rule_has_its_code_and_every_must_its_test() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let text =
        fs::read_to_string(crates.join("../docs/reference/protocol.md")).expect("the protocol is part of the tree");
    let rules = rules(&text);
    assert!(rules.len() > 25 && rules.values().filter(|must| **must).count() > 10, "{rules:?}");
    let (mut code, mut tests) = (BTreeSet::new(), BTreeSet::new());
    for part in ["stripe", "jet"] {
        scan(&crates.join(part).join("src"), false, &mut code, &mut tests);
        scan(&crates.join(part).join("tests"), true, &mut code, &mut tests);
    }
    let lacking = |of: &BTreeSet<u32>, only_must: bool| -> Vec<String> {
        let asked = rules.iter().filter(|(number, must)| (**must || !only_must) && !of.contains(number));
        asked.map(|(number, _)| format!("P-{number}")).collect()
    };
    assert_eq!(lacking(&code, false), Vec::<String>::new(), "rules that no code cites");
    assert_eq!(lacking(&tests, true), Vec::<String>::new(), "rules with MUST that no test cites");
    let unknown: Vec<&u32> = code.union(&tests).filter(|number| !rules.contains_key(number)).collect();
    assert!(unknown.is_empty(), "P-{unknown:?} is no rule");
}

#[test]
fn rules_and_citations_are_read_as_they_are_written() {
    let text = "- **P-1** A stream\n  MUST end.\n- **P-20** It ends.\n\nMUST not be read: no rule.\n";
    assert_eq!(rules(text), BTreeMap::from([(1, true), (20, false)]));
    assert_eq!(cited("// P-1, and P-20: (P-3).\n// P-x, UDP-7"), BTreeSet::from([1, 3, 20]));
}
