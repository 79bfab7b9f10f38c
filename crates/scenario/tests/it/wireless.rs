//! Topology wifi: what its nodes, its air and its access points cannot be.

use crate::support::{parse, refused};

/// Each of these is refused with a message that says where and what would be right.
#[test]
fn what_cannot_be_is_said() {
    let cases = [
        ("network = { topology = \"star\", wifi = {} }", "topology star has wires"),
        ("network = { topology = \"wifi\", wifi = { standard = \"g\", streams = 2 } }", "802.11g does not have it"),
        ("network = { topology = \"wifi\", wifi = { queue = { packets = 0 } } }", "0 is out of range"),
        ("network = { topology = \"wifi\", wifi = { propagation = { exponent = -2.0 } } }", "-2 is out of range"),
        ("network = { topology = \"wifi\", wifi = { power-save = {} } }", "it is for mode infrastructure"),
        (
            "network = { topology = \"wifi\", wifi = { propagation = { fading = \"correlated\", m = 1.5 } } }",
            "is a sum of so many independent ones",
        ),
        (
            "network = { topology = \"wifi\", wifi = { driver = { chip-bytes = \"3 KB\", chip-time = \"1 ms\" } } }",
            "limited in bytes or in time",
        ),
        (
            "network = { topology = \"wifi\", wifi = { propagation = { around = \"1 m/s\" } } }",
            "only correlated fading has it",
        ),
        (
            "network = { topology = \"wifi\" }\nmobility = { node = [{ node = \"master\", at = [\"60 m\", \"1 m\"] }] }",
            "outside the area of 50 m by 50 m",
        ),
        ("network = { topology = \"wifi\" }\nmobility = { model = \"trace\" }", "no file says how nodes move"),
        ("network = { topology = \"wifi\" }\nfaults = [{ link = \"worker-1\" }]", "no links that could fail"),
        ("network = { topology = \"wifi\" }\nfaults = [{ node = \"ap-1\" }]", "there is no node `ap-1`"),
        (
            "network = { topology = \"wifi\", wifi = { mode = \"infrastructure\" } }\nfaults = [{ node = \"ap-2\" }]",
            "there is no node `ap-2`; did you mean `ap-1`? (master, worker-1 to worker-4, ap-1 to ap-1)",
        ),
        (
            "network = { topology = \"wifi\", wifi = { mode = \"infrastructure\" } }\nfaults = [{ node = \"ap-1\", slow = 0.5 }]",
            "an access point has no cores that could be slow",
        ),
    ];
    for (text, expected) in cases {
        let text = format!("{text}\ntraffic = [{{ kind = \"long\" }}]");
        refused(&text, &[], &[expected]);
    }
}

/// What cannot be, with its place.
#[test]
fn stations_that_cannot_be_are_refused() {
    let cases = [
        ("network.wifi.node=[{ nodes = 'worker-9', driver = {} }]", "there is no `worker-9`"),
        (
            "network.wifi.node=[{ nodes = 'worker-1', driver = {}, queue = { kind = 'fq-codel' } }]",
            "the transmit queue of worker-1's driver is first in, first out",
        ),
        ("network.wifi.node=[{ driver = 'nexus8' }]", "did you mean `nexus7`?"),
        ("network.wifi.node=[{ driver = { round = '1 min' } }]", "out of range"),
        ("network.wifi.access-point=[{ at = ['1 m', '1 m'], queue = { packets = 0 } }]", "out of range"),
    ];
    for (set, expected) in cases {
        let text = "network = { topology = \"wifi\" }\ntraffic = [{}]";
        refused(text, &[set], &[expected]);
    }
}

/// What each standard of 802.11 has beyond the others.
#[test]
fn what_a_standard_lacks_is_refused() {
    let text = "network = { topology = \"wifi\", wifi = {} }\ntraffic = [{ kind = \"long\" }]";
    let keys = ["streams=2", "width=\"40 MHz\"", "short-guard=true", "ldpc=true", "short-preamble=true"];
    for standard in ["b", "g", "a", "n", "n-2.4"] {
        for key in keys {
            let set = format!("network.wifi.{key}");
            let sets = [&*format!("network.wifi.standard=\"{standard}\""), &*set];
            let has = if key.starts_with("short-preamble") { standard == "b" } else { standard.starts_with('n') };
            if has {
                parse(text, &sets).unwrap_or_else(|error| panic!("{sets:?}: {error}"));
            } else {
                let only = key.starts_with("short-preamble");
                refused(text, &sets, &[if only { "only 802.11b has two preambles" } else { "does not have it" }]);
            }
        }
    }
}
