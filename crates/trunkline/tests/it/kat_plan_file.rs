//! The file of `kat plan -o`, read as docs/reference/plan.md has it and not by the program's own reader: an importer in
//! another language finds the same places.

use crate::kat::{Scratch, said, visits};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;

/// `Text.hashCode` and `HashPartitioner` of Hadoop: 31 h + b from 1 over signed bytes, without the sign, remainder.
fn bucket(key: &[u8], buckets: usize) -> usize {
    let hash = key.iter().fold(1_i32, |hash, byte| hash.wrapping_mul(31).wrapping_add(i32::from(*byte as i8)));
    (hash & i32::MAX) as usize % buckets
}

/// Bytes of the records that each part of a split key has got.
type Filled = BTreeMap<String, Vec<usize>>;

/// The nodes of a record: those of its key's bucket, or of the part of a split key that has the fewest bytes.
fn nodes(layout: &Value, key: &[u8], record: &[u8], filled: &mut Filled) -> Vec<usize> {
    let hex = key.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
    let split = layout["split"].as_array().expect("split keys").iter().find(|split| split["key"] == hex.as_str());
    let place = if let Some(split) = split {
        let parts = split["parts"].as_array().expect("parts");
        let filled = filled.entry(hex).or_insert_with(|| vec![0; parts.len()]);
        let least = (0..parts.len()).min_by_key(|part| filled[*part]).expect("parts");
        filled[least] += record.len() + 1;
        &parts[least]
    } else {
        let buckets = layout["buckets"].as_array().expect("buckets");
        &buckets[bucket(key, buckets.len())]
    };
    place["nodes"].as_array().expect("nodes").iter().map(|node| node.as_u64().expect("a place") as usize).collect()
}

fn plan(scratch: &Scratch, args: &[&str], name: &str) -> Value {
    let output = scratch.plan(&[args, &["-o", name]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    serde_json::from_slice(&fs::read(scratch.0.join(name)).expect("a plan")).expect("JSON")
}

/// Both layouts are in it, and each puts its copies of all records on nodes of which none has much more than its share.
#[test]
fn another_reader_finds_each_records_nodes_in_both_layouts() {
    let scratch = Scratch::new("plan-file");
    scratch.file("visits.tsv", visits());
    let question = ["visits.tsv", "--nodes", "8", "--second", "column:3", "--combiner"];
    let found = plan(&scratch, &question, "plan.json");
    assert_eq!(
        (&found["trunkline_plan"], &found["key"], &found["replicas"]),
        (&1.into(), &"first-tab".into(), &2.into())
    );
    let second = &found["second"];
    assert_eq!((&second["key"], &second["replicas"]), (&"column:3".into(), &1.into()));
    assert_eq!(found["split"][0]["text"], "user-0");
    let size = visits().len() as u64;
    for (layout, column, copies) in [(&found, 0, 2), (second, 2, 1)] {
        let mut of_bucket = BTreeMap::<usize, u64>::new();
        let (mut load, mut filled) = ([0; 8], Filled::new());
        for record in visits().lines() {
            let key = record.split('\t').nth(column).expect("a column").as_bytes();
            let nodes = nodes(layout, key, record.as_bytes(), &mut filled);
            assert!(nodes.len() == copies && nodes.iter().all(|node| *node < 8), "{nodes:?}");
            assert!(copies == 1 || nodes[0] != nodes[1], "two copies on one node");
            load[nodes[0]] += record.len() as u64 + 1;
            *of_bucket.entry(bucket(key, 512)).or_default() += record.len() as u64 + 1;
        }
        assert!(*load.iter().max().expect("nodes") as f64 <= 1.05 * size as f64 / 8.0, "{load:?}");
        // The bytes of a bucket are those of its records, without those of split keys.
        let split = layout["split"].as_array().expect("split keys");
        for (place, bucket) in layout["buckets"].as_array().expect("buckets").iter().enumerate() {
            let apart: u64 = split
                .iter()
                .filter(|key| key["bucket"] == place)
                .map(|key| key["bytes"].as_u64().expect("bytes"))
                .sum();
            let counted = of_bucket.get(&place).copied().unwrap_or(0);
            assert_eq!(bucket["bytes"].as_u64().expect("bytes") + apart, counted, "bucket {place}");
        }
    }
}

/// Bytes of copies that stand on a node on which they did not, and of all copies. Earlier nodes have kept their places.
fn moved(before: &Value, after: &Value) -> (u64, u64) {
    let places = |layout: &Value| {
        let list = |value: &Value| value.as_array().expect("a list").clone();
        let parts = list(&layout["split"]).iter().flat_map(|key| list(&key["parts"])).collect::<Vec<_>>();
        [list(&layout["buckets"]), parts].concat()
    };
    let (mut moved, mut copies) = (0, 0);
    for (before, after) in places(before).iter().zip(places(after)) {
        let bytes = after["bytes"].as_u64().expect("bytes");
        let nodes = after["nodes"].as_array().expect("nodes");
        let held = before["nodes"].as_array().expect("nodes");
        copies += bytes * nodes.len() as u64;
        moved += bytes * nodes.iter().filter(|node| !held.contains(node)).count() as u64;
    }
    (moved, copies)
}

/// A plan that goes on from an earlier one moves little of either layout, and says so.
#[test]
fn both_layouts_stay_where_they_have_room() {
    let scratch = Scratch::new("plan-goes-on");
    scratch.file("visits.tsv", visits());
    let question = |nodes| ["visits.tsv", "--nodes", nodes, "--second", "column:3", "--combiner"];
    let before = plan(&scratch, &question("8"), "plan.json");
    let goes_on = [&question("9")[..], &["--previous", "plan.json"]].concat();
    let after = plan(&scratch, &goes_on, "next.json");
    for (before, after) in [(&before, &after), (&before["second"], &after["second"])] {
        let (moved, copies) = moved(before, after);
        assert!(moved > 0 && moved as f64 <= 1.1 / 8.0 * copies as f64, "{moved} of {copies}");
    }
    let found = scratch.json(&goes_on);
    let (moved, copies) = (found["second"]["moved_bytes"].as_u64().expect("bytes"), visits().len());
    assert!(moved > 0 && moved as f64 <= 1.1 / 8.0 * copies as f64, "{moved} of {copies}");
    // Another second key, other copies.
    let other = ["visits.tsv", "--nodes", "9", "--previous", "plan.json", "--combiner"];
    let error = scratch.refused(&[&other[..], &["--second", "column:2"]].concat());
    assert!(error.contains("a second file by column:3, not by column:2"), "{error}");
    let error = scratch.refused(&other);
    assert!(error.contains("keeps 2 copies of each record, not 3"), "{error}");
}
