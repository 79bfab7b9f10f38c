//! `trunkline testbed link` as its users meet it. As root, with TUN/TAP and network namespaces: without them these
//! fail, and say what is missing.

use serde_json::Value;
use std::fs;
use std::process::{Command, Output};
use std::thread;
use std::time::Duration;

fn trunkline() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trunkline"));
    command.args(["testbed", "link"]);
    command
}

fn run(arguments: &[&str]) -> Output {
    trunkline().args(arguments).output().expect("it starts")
}

/// What it printed, and on standard error; it must have ended with this code.
fn ended(arguments: &[&str], code: i32) -> (String, String) {
    let output = run(arguments);
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {out}{err}");
    (out, err)
}

#[test]
fn a_program_runs_over_a_path_and_its_exit_code_is_kept() {
    let script = "ip -brief link show dev path >/dev/null && nsenter --net=$TRUNKLINE_FAR_NAMESPACE ip -brief address | grep -o $TRUNKLINE_FAR; exit 7";
    let (out, err) = ended(&["run", "--rate", "10Mbit/s,1Mbit/s", "--delay", "5ms", "--", "sh", "-c", script], 7);
    assert_eq!(out, "198.18.0.2\n");
    assert!(err.contains("path there: 0 frames offered") && err.contains("path back"), "{err}");
}

#[test]
fn a_report_says_what_was_carried_and_how_late() {
    let file = std::env::temp_dir().join(format!("trunkline-testbed-{}.json", std::process::id()));
    let name = file.to_str().expect("a text");
    // A handshake that is refused: two frames.
    let connect = "exec 3<>/dev/tcp/$TRUNKLINE_FAR/9";
    ended(&["run", "metro", "--quiet", "--report", name, "--", "bash", "-c", connect], 1);
    let report: Value = serde_json::from_slice(&fs::read(&file).expect("written")).expect("JSON");
    fs::remove_file(&file).expect("removed");
    let path = &report["paths"][0];
    assert_eq!((&path["name"], &path["forth"]["frames"]["arrived"]), (&"metro".into(), &1.into()), "{report:#}");
    assert_eq!((&path["back"]["frames"]["arrived"], &path["back"]["lateness"]["count"]), (&1.into(), &1.into()));
}

/// The hosts of a scenario's star, without Hadoop: a handshake from one that is refused at another crosses both links.
#[test]
fn a_program_runs_among_the_hosts_of_a_star() {
    let file = std::env::temp_dir().join(format!("trunkline-star-{}.json", std::process::id()));
    let name = file.to_str().expect("a text");
    let script = "cat /proc/sys/kernel/hostname; echo $TRUNKLINE_ADDRESS_MASTER $TRUNKLINE_ADDRESS_WORKER_2; \
                  nsenter --net=$TRUNKLINE_NAMESPACE_WORKER_2 ip -brief address | grep -o 198.18.0.3; \
                  (exec 3<>/dev/tcp/$TRUNKLINE_ADDRESS_WORKER_2/9) 2>/dev/null; exit 7";
    let star = ["star", "--workers", "2", "--delay", "2ms", "--at", "worker-1", "--report", name];
    let (out, err) = ended(&[&star[..], &["--", "bash", "-c", script]].concat(), 7);
    assert_eq!(out, "worker-1\n198.18.0.1 198.18.0.3\n198.18.0.3\n");
    assert!(err.contains("worker-2 there: 1 frames offered"), "{err}");
    let report: Value = serde_json::from_slice(&fs::read(&file).expect("written")).expect("JSON");
    fs::remove_file(&file).expect("removed");
    let arrived = |path: usize, way: &str| report["paths"][path][way]["frames"]["arrived"].clone();
    assert_eq!([arrived(0, "forth"), arrived(1, "forth"), arrived(2, "back")], [0, 1, 1].map(Value::from));
    let (_, err) = ended(&["star", "--workers", "2", "--at", "worker-3", "--", "true"], 2);
    assert!(err.contains("there is no host worker-3: did you mean"), "{err}");
}

#[test]
fn bad_input_is_refused_before_anything_is_made() {
    let cases: [(&[&str], &str); 8] = [
        (&["run", "no-such-file", "--", "true"], "cannot read no-such-file"),
        (&["run", "--rate", "155Mbps", "--", "true"], "did you mean `Mbit/s`?"),
        (&["run", "--loss", "2", "--", "true"], "not a share"),
        (&["run", "--delay", "1ms", "--jitter", "2ms", "--", "true"], "exceeds the delay"),
        (&["run", "--discipline", "reed", "--", "true"], "red"),
        (&["run", "metro"], "COMMAND"),
        (&["up", "--name", "../up"], "cannot name a link"),
        (&["down", "not-there"], "no link named not-there"),
    ];
    for (arguments, part) in cases {
        let (out, err) = ended(arguments, 2);
        assert!(out.is_empty() && err.contains(part), "{arguments:?}: {err}");
    }
    let (_, err) = ended(&["run", "metro", "--", "/no/such/program"], 2);
    assert!(err.contains("cannot run /no/such/program"), "{err}");
}

#[test]
fn a_named_link_comes_up_shows_itself_and_goes_down() {
    let name = format!("c{}", std::process::id());
    let (out, _) = ended(&["up", "three", "--name", &name], 0);
    assert!(
        out.contains(&format!("ip netns exec {name}-near")) && out.contains("path beijing: near 198.18.2.1"),
        "{out}"
    );
    assert!(ended(&["list"], 0).0.contains(&format!("{name}\tprocess ")));
    let (_, err) = ended(&["up", "--name", &name], 2);
    assert!(err.contains("is up"), "{err}");
    let status = || serde_json::from_str::<Value>(&ended(&["status", &name, "--json"], 0).0).expect("JSON");
    let published = (0..50).any(|_| {
        thread::sleep(Duration::from_millis(100));
        status()[0]["report"]["paths"][2]["name"] == "beijing"
    });
    assert!(published, "{:#}", status());
    ended(&["down", &name], 0);
    assert!(!ended(&["list"], 0).0.contains(&name));
    assert!(!fs::exists(format!("/run/netns/{name}-near")).expect("looked"));
}
