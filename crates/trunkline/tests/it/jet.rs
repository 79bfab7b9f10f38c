//! `trunkline jet` as its users meet it: keys, gateways that find each other, what is wrong and how that is said.

use crate::gateways::{Gateway, Scratch, fingerprint, own_addresses, text, trunkline};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

#[test]
fn gateways_that_pinned_each_other_find_each_other_and_say_how_they_stand() {
    let scratch = Scratch::new("pair");
    let (near, far) = (scratch.of("near"), scratch.of("far"));
    let (near_key, far_key) = (fingerprint(&near), fingerprint(&far));
    assert_eq!(fingerprint(&near), near_key, "it is made once");
    for (folder, key, name) in [(&near, &far_key, "far-office"), (&far, &near_key, "here")] {
        let pinned = trunkline(&["keys", "--keys", folder, "--pin", key, "--name", name]);
        assert!(text(&pinned.stdout).contains(&format!("{key}  {name}")), "{}", text(&pinned.stdout));
    }
    let [port, near_monitor, far_monitor] = own_addresses().map(|address| address.to_string());
    let serving = ["serve", "--keys", &far, "--listen", &port, "--allow", "127.0.0.1:*", "--monitor", &far_monitor];
    // Not the socket of a gateway that this host may have.
    let socket = scratch.of("run.sock");
    let keeping = ["gateway", "--keys", &near, "--to", &port, "--run-socket", &socket];
    let keeping = [&keeping[..], &["--monitor", &near_monitor, "--streams", "3"]].concat();
    let (far_gateway, near_gateway) = (Gateway::start(&serving), Gateway::start(&keeping));
    let mut shown = String::new();
    for _ in 0..100 {
        shown = text(&trunkline(&["status", "--monitor", &near_monitor, "--once"]).stdout);
        if shown.contains("3 streams") {
            break;
        }
        sleep(Duration::from_millis(100));
    }
    assert!(shown.starts_with("near gateway") && shown.contains("3 streams, 3 wanted"), "{shown}");
    let json = trunkline(&["status", "--monitor", &far_monitor, "--json"]);
    let status: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!((&status["role"], &status["sessions"][0]["peer"]), (&"far".into(), &"here".into()), "{status}");
    assert_eq!((near_gateway.stop(), far_gateway.stop()), (Some(0), Some(0)));
}

#[test]
fn what_is_wrong_is_said_and_leaves_nothing() {
    let scratch = Scratch::new("wrong");
    let folder = scratch.of("keys");
    let own = fingerprint(&folder);
    let unknown = "0".repeat(64);
    for (arguments, says) in [
        (vec!["keys", "--keys", &folder, "--pin", "abc"], "64 hexadecimal digits"),
        (vec!["keys", "--keys", &folder, "--pin", &own], "own key"),
        (vec!["keys", "--keys", &folder, "--pin", &unknown, "--name", "a b"], "cannot be a peer's name"),
        (vec!["keys", "--keys", &folder, "--unpin", &unknown], "is not pinned"),
        (vec!["serve", "--keys", &folder], "--allow"),
        (vec!["serve", "--keys", &folder, "--allow", "everything"], "a rule is HOST:PORTS"),
        (vec!["serve", "--keys", &folder, "--allow", "127.0.0.1:*"], "no peer is known"),
        (vec!["gateway", "--keys", &folder, "--to", "far.example"], "no peer is known"),
        (vec!["gateway", "--keys", &folder, "--to", "far:0"], "1 to 65535"),
        (vec!["gateway", "--keys", &folder, "--to", "far", "--paper"], "--streams N"),
        (vec!["gateway", "--keys", &folder, "--to", "far", "--streams", "129"], "1 to 128"),
        (vec!["gateway", "--keys", &folder, "--to", "far", "--forward-udp", "53=dns:53"], "--udp"),
        (vec!["gateway", "--keys", &folder, "--to", "far", "--udp", "--forward-udp", "53=dns"], "HOST:PORT"),
        (vec!["gateway", "--keys", &folder, "--to", "far", "--udp", "--udp-deadline", "1 h"], "from 1 ms to 10 s"),
        (vec!["serve", "--keys", &folder, "--allow", "127.0.0.1:*", "--udp-deadline", "20 ms"], "--udp"),
        (vec!["gateway", "--keys", &folder, "--to", "far", "--monitor", "0.0.0.0:1"], "not a loopback address"),
        (vec!["status", "--monitor", "127.0.0.1:1"], "is a gateway running"),
    ] {
        let output = trunkline(&arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(says), "{arguments:?}: {said}");
    }
    assert!(!Path::new(&folder).join("peers").exists());
}
