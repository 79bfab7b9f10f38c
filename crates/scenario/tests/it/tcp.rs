//! Controls that need marks are refused where nothing marks.

use crate::support::{parse, refused};

const THRESHOLD: &str = "{ kind = \"threshold\", limit = \"300 packets\", mark-above = \"20 packets\" }";

#[test]
fn dctcp_where_nothing_marks_is_refused() {
    let long = "[[traffic]]\nkind = \"long\"\nbytes = \"1 MB\"\n";
    let words = ["cluster.toml:2", "no queue marks", "threshold", "sack-reno"];
    refused(&format!("[tcp]\ncontrol = \"dctcp\"\n{long}"), &[], &words);
    // One marking queue is enough, wherever it is.
    for key in ["queue", "host-queue", "core.queue"] {
        parse(&format!("[tcp]\ncontrol = \"dctcp\"\n[network]\n{key} = {THRESHOLD}\n{long}"), &[]).expect(key);
    }
}

#[test]
fn dctcp_where_nothing_on_the_air_marks_is_refused() {
    let long = "[[traffic]]\nkind = \"long\"\nbytes = \"1 MB\"\n";
    let with =
        |wifi: &str| format!("[tcp]\ncontrol = \"dctcp\"\n[network]\ntopology = \"wifi\"\nwifi = {wifi}\n{long}");
    refused(&with("{}"), &[], &["cluster.toml:2", "no queue marks", "network.wifi.queue = { mark-above", "sack-reno"]);
    for wifi in ["{ queue = { mark-above = 20 } }", "{ queue = { kind = \"fq-codel\" } }"] {
        parse(&with(wifi), &[]).expect(wifi);
    }
    let both = "{ queue = { kind = \"fq-codel\", mark-above = 20 } }";
    refused(&with(both), &[], &["fq-codel marks by waiting time"]);
}
