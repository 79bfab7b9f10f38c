//! `trunkline power plan`.

use crate::support::{Scratch, code, json, printed, said};

/// Two jobs a quarter of an hour apart, in the format of SWIM.
const WORKLOAD: &str = "a\t60\t60\t640000000\t0\t1000\nb\t960\t900\t64000000\t0\t0\n";
const PLAN: &str = r#"
nodes = 4
recorded-nodes = 4
block = "64 MB"
[[power]]
policy = "always-on"
drive = "constellation-es3-4tb"
[[power]]
policy = "gears"
primaries = "idle-c"
drive = "constellation-es3-4tb"
"#;

#[test]
fn a_plan_sets_policies_side_by_side() {
    let scratch = Scratch::new("power");
    scratch.file("day.tsv", WORKLOAD);
    scratch.file("plan.toml", PLAN);
    let output = scratch.trunkline(&["power", "plan", "day.tsv", "plan.toml"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let text = printed(&output);
    for part in ["12 disks of 4 nodes for 24.0 h", "always-on", "gears, backups standby", "56.6 % at most"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // The manual's 7.97 W and 1.20 W: 84.94 % of a disk, of which two, three and four parts in five, nine and fourteen
    // are parity. Both policies have the same drive.
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let codes = "at most rs-3-2 34.0 %, rs-6-3 28.3 %, rs-10-4 24.3 %, if parity has disks of its own";
    assert_eq!(words.matches(codes).count(), 1, "{text}");
    let output = scratch.trunkline(&["power", "plan", "day.tsv", "plan.toml", "--json"]);
    let figures = json(&printed(&output));
    let policies = figures["policies"].as_array().expect("a list");
    assert_eq!((policies.len(), figures["read_bytes"].as_u64()), (2, Some(704_000_000)));
    let share = policies[1]["share_of_oracle"].as_f64().expect("a share");
    assert!((0.99..=1.0).contains(&share), "{share}: eleven reads in a day");
    assert!(policies[0]["saved"].as_f64().expect("a part").abs() < 1e-9);
    let parity = policies[1]["ceiling_standby_of_parity"]["rs-6-3"].as_f64().expect("a part");
    assert!((parity - (7.97 - 1.2) / (3.0 * 7.97)).abs() < 1e-9, "{parity}");
}

#[test]
fn what_is_no_workload_or_no_plan_is_refused() {
    let scratch = Scratch::new("power-wrong");
    scratch.file("day.tsv", WORKLOAD);
    scratch.file("plan.toml", PLAN);
    scratch.file("bad.toml", &PLAN.replace("policy = \"gears\"", "policy = \"gears\"\nspin-ups = 1"));
    for (args, message) in [
        (["plan.toml", "plan.toml"], "is not a workload of SWIM"),
        (["day.tsv", "bad.toml"], "the wear budget has nothing for it"),
        (["day.tsv", "missing.toml"], "missing.toml"),
        (["day.tsv", "day.tsv"], "day.tsv:1"),
    ] {
        let output = scratch.trunkline(&["power", "plan", args[0], args[1]]);
        assert_eq!(code(&output), 2, "{args:?}: {}", said(&output));
        assert!(said(&output).contains(message), "{args:?}: {}", said(&output));
    }
}
