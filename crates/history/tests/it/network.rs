//! The rate of links that nobody states, as the shuffle shows it.

use history::import::{Imported, Sources, import};
use history::{JobHistory, read, unpack};
use std::fs;
use std::path::Path;
use units::BitRate;

fn bare(folder: &str) -> (JobHistory, Imported) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces").join(folder);
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let file = files.filter(|path| path.to_string_lossy().contains(".jhist")).min().unwrap();
    let job = read(&unpack(&fs::read(file).unwrap()).unwrap()).unwrap().1.remove(0);
    let imported = import(&job, &Sources::default()).unwrap();
    (job, imported)
}

fn why(imported: &Imported) -> &str {
    imported.assumed.iter().find(|of| of.key == "network.rate").map_or("", |of| of.why.as_str())
}

/// Each worker's link was shaped to 10 Mbit/s, and hosts with one reducer and with two, of 55 to 170 MB, waited for it.
#[test]
fn a_shuffle_that_waits_for_the_links_shows_their_rate() {
    for folder in ["wordcount-nocombine-10mbit", "wordcount-nocombine-10mbit-2"] {
        let imported = bare(folder).1;
        let rate = imported.scenario.network.rate.as_bps() as f64;
        assert!((8.5e6..11.5e6).contains(&rate), "{folder}: {rate} bit/s");
        assert!(why(&imported).starts_with("about: "), "{folder}: {}", why(&imported));
        assert!(imported.to_toml().contains("  # at which the shuffle's bytes came"), "{folder}");
    }
}

/// The links carried 15 Gbit/s (unshaped), or 10 Mbit/s with a shuffle of 5 MB. Neither shows a rate.
#[test]
fn any_other_shuffle_shows_what_it_is_at_least() {
    for folder in [
        "terasort-unshaped",
        "terasort-unshaped-2",
        "wordcount-combine-10mbit",
        "wordcount-combine-unshaped",
        "wordcount-nocombine-unshaped",
        "wordcount-nocombine-unshaped-2",
        "with-conf",
    ] {
        let imported = bare(folder).1;
        assert_eq!(imported.scenario.network.rate, BitRate::from_gbps(1), "{folder}");
        let why = why(&imported);
        let least = why.strip_prefix("no history states it; a host fetched at ").expect(folder);
        let least: BitRate = least.strip_suffix(", so it is at least that").expect(folder).parse().expect(folder);
        let link = BitRate::from_mbps(if folder.contains("10mbit") { 10 } else { 15_000 });
        assert!(least <= link, "{folder}: {least} is more than the link had");
    }
    for folder in ["teragen-unshaped", "dfsio-write-unshaped"] {
        assert_eq!(why(&bare(folder).1), "no history states it, and no shuffle shows it", "{folder}");
    }
}

/// A host that gets 10 GB in some seconds has no link of a gigabit.
#[test]
fn what_is_seen_is_no_more_than_the_assumed_link_has() {
    let (mut job, _) = bare("terasort-unshaped");
    for attempt in job.reduces.iter_mut().flat_map(|task| &mut task.attempts) {
        let bytes = attempt.counters.count("REDUCE_SHUFFLE_BYTES");
        attempt.counters.set("REDUCE_SHUFFLE_BYTES", 40 * bytes);
    }
    let imported = import(&job, &Sources::default()).unwrap();
    assert_eq!(imported.scenario.network.rate, BitRate::from_gbps(10), "{}", why(&imported));
}
