//! The page's data, from results made by hand: what each number must be is said here, not read off the code.

use history::import::{Counted, Interface};
use results::page::{Comparison, ComparisonRow, ReportData, SCHEMA, render};
use results::{
    Attempt, AttemptState, Balance, Breakdown, CriticalSegment, Disk, Event, Flow, Interval, Job, JobBytes, JobState,
    Link, LinkEnd, Locality, NetworkTotals, Node, Phase, RunResult, TaskKind, TrafficOutcome, Waiting,
};
use serde_json::Value;
use units::{BitRate, Bytes, Time};

fn s(seconds: f64) -> Time {
    Time::from_secs_f64(seconds)
}

fn attempt(kind: TaskKind, task: u32, node: u32, intervals: &[(Phase, f64, f64)]) -> Attempt {
    let intervals: Vec<_> = intervals
        .iter()
        .map(|(phase, start, finish)| Interval { phase: *phase, start: s(*start), finish: s(*finish) })
        .collect();
    Attempt {
        job: 0,
        kind,
        task,
        attempt: 0,
        node,
        speculative: false,
        locality: (kind == TaskKind::Map).then_some(Locality::Node),
        state: AttemptState::Succeeded,
        reason: String::new(),
        start: intervals[0].start,
        finish: intervals[intervals.len() - 1].finish,
        output_lost: None,
        intervals,
        input: Bytes::from_mb(30),
        output: Bytes::from_mb(50),
        remote: Bytes::ZERO,
        spilled: Bytes::from_mb(50),
    }
}

fn flow(from: u32, to: u32, service: &str, start: f64, finish: Option<f64>, bytes: u64, back: u64) -> Flow {
    Flow {
        from,
        to,
        service: service.to_owned(),
        start: s(start),
        finish: finish.map(s),
        reset: false,
        bytes: Bytes::new(bytes),
        bytes_back: Bytes::new(back),
        retransmissions: 3,
        timeouts: 1,
        zero_windows: 0,
        drops: 0,
        rtt: Some(Time::from_us(120)),
        least_rtt: Some(Time::from_us(80)),
        limits: None,
        window_max: Bytes::ZERO,
    }
}

fn segment(waiting: Waiting, start: f64, finish: f64, attempt: Option<u32>, detail: &str) -> CriticalSegment {
    let source = detail.ends_with("from worker-1").then_some(1);
    CriticalSegment { start: s(start), finish: s(finish), waiting, attempt, source, detail: detail.to_owned() }
}

/// Two maps and a reducer on two workers over 12 s, sampled every 10 ms for 40 s: a series of 4,000 steps.
fn result() -> RunResult {
    let steps = 4_000;
    let share = |from: usize, to: usize, value: f32| -> Vec<f32> {
        (0..steps).map(|i| if (from..to).contains(&i) { value } else { 0.0 }).collect()
    };
    let link = |name: &str, (from, to): (LinkEnd, LinkEnd), value: f32| Link {
        name: name.to_owned(),
        from,
        to,
        rate: BitRate::from_gbps(1),
        delay: Time::from_us(25),
        packets: 40_000,
        bytes: Bytes::from_mb(50),
        drops: 2,
        utilisation: share(400, 1_000, value),
        queue_bytes: (0..steps).map(|i| if i == 501 { 30_000 } else { 0 }).collect(),
        queue_packets: (0..steps).map(|i| u32::from(i == 501) * 20).collect(),
        drop_series: (0..steps).map(|i| u32::from(i == 501 || i == 502)).collect(),
        ..Link::default()
    };
    let node = |name: &str| Node {
        name: name.to_owned(),
        rack: 1,
        interface_received: Bytes::from_mb(50),
        interface_sent: Bytes::from_mb(49),
        cpu_work: s(3.5),
        cpu_utilisation: share(100, 400, 0.5),
        ..Node::default()
    };
    let mut killed = attempt(TaskKind::Map, 1, 1, &[(Phase::Start, 2.0, 3.0), (Phase::Read, 3.0, 3.5)]);
    killed.state = AttemptState::Killed;
    killed.speculative = true;
    killed.attempt = 1;
    "another attempt won".clone_into(&mut killed.reason);
    let mut path = Breakdown::default();
    path.add(Waiting::StartUp, s(1.0));
    RunResult {
        name: "word count </script> & <b>two</b> workers".to_owned(),
        scenario_digest: "0123456789abcdef".to_owned(),
        seed: u64::MAX,
        ended_at: s(40.0),
        jobs: vec![Job {
            name: "wordcount".to_owned(),
            workload: "wordcount".to_owned(),
            state: JobState::Succeeded,
            submit: Time::ZERO,
            launch: Some(s(0.5)),
            finish: Some(s(12.0)),
            maps: 2,
            reduces: 1,
            phases: vec![Interval { phase: Phase::Start, start: s(1.0), finish: s(2.0) }],
            bytes: JobBytes {
                map_input: Bytes::from_mb(60),
                shuffle_remote: Bytes::from_mb(50),
                ..JobBytes::default()
            },
            breakdown: path,
            critical_path: vec![
                segment(Waiting::Slot, 0.0, 1.0, None, ""),
                segment(Waiting::StartUp, 1.0, 1.0, Some(0), "start of map 0"),
                segment(Waiting::Cpu, 1.0, 4.0, Some(0), "map 0"),
                segment(Waiting::Transfer, 4.0, 10.0, Some(3), "fetch of map 0 from worker-1"),
                segment(Waiting::Disk, 10.0, 12.0, Some(3), "merge"),
            ],
            ..Job::default()
        }],
        attempts: vec![
            attempt(TaskKind::Map, 0, 1, &[(Phase::Start, 1.0, 2.0), (Phase::Compute, 2.0, 4.0)]),
            attempt(TaskKind::Map, 1, 2, &[(Phase::Start, 1.0, 2.0), (Phase::Compute, 2.0, 3.5)]),
            killed,
            attempt(
                TaskKind::Reduce,
                0,
                2,
                &[
                    (Phase::Start, 3.0, 4.0),
                    (Phase::Fetch, 4.0, 10.0),
                    (Phase::Merge, 9.0, 11.0),
                    (Phase::Write, 11.0, 12.0),
                ],
            ),
        ],
        flows: vec![
            flow(2, 1, "shuffle", 4.0, Some(10.0), 200, 50_000_000),
            flow(1, 0, "rpc", 0.0, Some(12.0), 9_000, 9_000),
            flow(1, 2, "data", 11.0, Some(12.0), 1_000_000, 90),
            flow(2, 1, "data", 11.5, None, 500_000, 90),
        ],
        flow_count: 4,
        links: vec![
            link("worker-1 -> switch", (LinkEnd::Node(1), LinkEnd::Switch), 0.01),
            link("switch -> worker-1", (LinkEnd::Switch, LinkEnd::Node(1)), 0.0),
            link("switch -> worker-2", (LinkEnd::Switch, LinkEnd::Node(2)), 0.009),
        ],
        nodes: vec![node("master"), node("worker-1"), node("worker-2")],
        disks: vec![Disk {
            name: "worker-1 disk 0".to_owned(),
            node: 1,
            utilisation: share(0, 4_000, 0.25),
            ..Disk::default()
        }],
        network: Some(NetworkTotals {
            packets: 80_000,
            hops: 160_000,
            drops: 4,
            retransmissions: 12,
            timeouts: 4,
            ..NetworkTotals::default()
        }),
        sample_interval: Time::from_ms(10),
        retransmissions: (0..4_000).map(|i| u32::from(i == 503)).collect(),
        timeouts: vec![0; 4_000],
        events: vec![
            Event {
                at: s(5.0),
                kind: "link-down".to_owned(),
                node: None,
                link: Some(2),
                detail: "link of worker-2 down".to_owned(),
            },
            Event { at: s(3.5), kind: "attempt-killed".to_owned(), node: Some(1), link: None, detail: String::new() },
        ],
        ledger: vec![Balance {
            what: "packets".to_owned(),
            offered: 10,
            accounted: vec![("delivered".to_owned(), 9), ("dropped".to_owned(), 1)],
        }],
        ..RunResult::default()
    }
}

fn json(data: &ReportData) -> Value {
    serde_json::to_value(data).unwrap()
}

fn chart<'a>(data: &'a Value, id: &str) -> &'a Value {
    data["charts"].as_array().unwrap().iter().find(|chart| chart["id"] == id).unwrap_or_else(|| panic!("no chart {id}"))
}

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|v| v.as_u64().unwrap()).collect()
}

#[test]
fn a_job_keeps_its_times_volumes_and_critical_path() {
    let data = json(&ReportData::from(&result()));
    let job = &data["jobs"][0];
    assert_eq!(
        (job["state"].as_str(), job["launch_s"].as_f64(), job["finish_s"].as_f64()),
        (Some("succeeded"), Some(0.5), Some(12.0))
    );
    assert_eq!(job["bytes"][0], serde_json::json!({ "label": "map input", "value": 60_000_000 }));
    let path = job["critical_path"].as_array().unwrap();
    let causes: Vec<_> = path.iter().map(|s| (s["cause"].as_str().unwrap(), s["where"].as_str().unwrap())).collect();
    // A stretch of no length is left out; the fetch is charged to the sender's link, which was used more than the
    // receiver's.
    let want = [
        ("slot", ""),
        ("cpu", "worker-1's processor"),
        ("transfer", "the 1 Gbit/s link out of worker-1"),
        ("disk", "worker-2's disk"),
    ];
    assert_eq!(causes, want);
}

#[test]
fn attempts_stand_in_columns_of_equal_length() {
    let data = json(&ReportData::from(&result()));
    let attempts = &data["attempts"];
    assert_eq!(attempts["name"], serde_json::json!(["m_000000_0", "m_000001_0", "m_000001_1", "r_000000_0"]));
    assert_eq!(numbers(&attempts["outcome"]), [0, 0, 2, 0]);
    assert_eq!(numbers(&attempts["speculative"]), [0, 0, 1, 0]);
    assert_eq!(numbers(&attempts["phase_at"]), [0, 2, 4, 6, 10]);
    assert_eq!(numbers(&attempts["phase_kind"]), [0, 2, 0, 2, 0, 1, 0, 4, 5, 7]);
    assert_eq!(numbers(&attempts["end_ms"]), [4_000, 3_500, 3_500, 12_000]);
    assert_eq!(attempts["note"], serde_json::json!({ "2": "another attempt won" }));
}

#[test]
fn series_get_shorter_without_losing_areas_peaks_or_counts() {
    let data = json(&ReportData::from(&result()));
    let cpu = chart(&data, "cpu");
    assert!((cpu["step_s"].as_f64().unwrap() - 0.02).abs() < 1e-12);
    let values = numbers(&cpu["series"][1]["values"]);
    // 300 steps of 10 ms at one half: 1.5 core shares times seconds, in per mille and cells of 20 ms.
    assert_eq!((values.len(), values.iter().sum::<u64>()), (2_000, 150 * 500));
    let queue = chart(&data, "queues");
    let scale = queue["scale"].as_f64().unwrap();
    let most = numbers(&queue["series"][0]["values"]).into_iter().max().unwrap();
    assert!((most as f64 * scale - 30_000.0).abs() < 1e-6, "the one step with 30,000 bytes is there");
    let losses = chart(&data, "losses");
    let sums: Vec<_> = losses["series"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| (s["name"].as_str().unwrap(), numbers(&s["values"]).iter().sum::<u64>()))
        .collect();
    // No timeout happened in any step: that series is left out.
    assert_eq!(sums, [("packets dropped", 6), ("segments sent again", 1)]);
    let links = chart(&data, "links");
    let names: Vec<_> = links["series"].as_array().unwrap().iter().map(|s| s["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["worker-1 out", "worker-2 in"], "a link that was never used is left out");
}

#[test]
fn the_scenario_says_how_the_run_was_set_up() {
    let text = r#"
        cluster.workers = 2
        hdfs.replication = 2
        job = { workload = "wordcount", input = "60 MB" }
        [network]
        rate = "1 Gbit/s"
        [[network.shape]]
        nodes = "workers"
        rate = "10 Mbit/s"
    "#;
    let scenario = sim::parse("two.toml", text, &[]).unwrap();
    let data = json(&ReportData::new(&result(), Some(&scenario)));
    let setup: Vec<_> = data["setup"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| (f["label"].as_str().unwrap(), f["value"].as_str().unwrap()))
        .collect();
    assert!(setup.contains(&("Shaper", "the workers, each way: 10 Mbit/s, burst 32 KB, queue 400 ms")), "{setup:?}");
    assert!(data["scenario"].as_str().unwrap().contains("[[network.shape]]"));
}

#[test]
fn flows_go_the_way_of_their_payload_largest_first() {
    let data = json(&ReportData::from(&result()));
    let flows = &data["flows"];
    assert_eq!(flows["from"], serde_json::json!(["worker-1", "worker-1", "worker-2", "worker-1"]));
    assert_eq!(flows["to"], serde_json::json!(["worker-2", "worker-2", "worker-1", "master"]));
    assert_eq!(numbers(&flows["bytes"]), [50_000_200, 1_000_090, 500_090, 18_000]);
    assert_eq!(numbers(&flows["end_kind"]), [0, 0, 1, 0]);
    // Of the data flows two are complete, after 1 s and 6 s; calls to the master do not count.
    assert_eq!(flows["completion"], serde_json::json!([[1.0, 0.5], [6.0, 1.0]]));
    let open = chart(&data, "connections");
    let most: Vec<_> = open["series"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| (s["name"].as_str().unwrap(), numbers(&s["values"]).into_iter().max().unwrap()))
        .collect();
    assert_eq!(most, [("data", 2), ("rpc", 1), ("shuffle", 1)]);
}

#[test]
fn machines_events_are_listed_and_a_broken_law_is_told() {
    let mut run = result();
    run.ledger[0].offered = 11;
    let data = json(&ReportData::from(&run));
    let events = serde_json::json!([{ "at_s": 5.0, "node": 2, "kind": "link-down", "text": "link of worker-2 down" }]);
    assert_eq!(data["events"], events);
    assert_eq!(data["ledger"][0]["holds"], false);
}

#[test]
fn plain_traffic_has_no_job() {
    let run = RunResult {
        name: "long flows".to_owned(),
        ended_at: s(2.0),
        traffic: vec![TrafficOutcome {
            name: "long 1".to_owned(),
            kind: "long".to_owned(),
            begun: 5,
            completed: 4,
            completion_cdf: vec![(s(0.5), 1), (s(1.5), 4)],
            jain: 1.0,
            ..TrafficOutcome::default()
        }],
        ..RunResult::default()
    };
    let data = json(&ReportData::from(&run));
    assert_eq!((data["jobs"].as_array().unwrap().len(), data["charts"].as_array().unwrap().len()), (0, 0));
    assert_eq!(data["traffic"][0]["begun"], 5);
    assert_eq!(data["traffic"][0]["completion"], serde_json::json!([[0.5, 0.25], [1.5, 1.0]]));
}

#[test]
fn the_page_holds_the_data_whatever_is_in_its_texts() {
    let run = result();
    let page = render(&ReportData::from(&run));
    assert_eq!(page, render(&ReportData::from(&run.clone())), "same results, same page");
    let start = page.find("<script id=\"data\" type=\"application/json\">").unwrap();
    let text = &page[start..];
    let text = &text[text.find('>').unwrap() + 1..text.find("</script>").unwrap()];
    assert!(!text.contains('<'));
    let back: Value = serde_json::from_str(text).unwrap();
    assert_eq!(back, json(&ReportData::from(&run)));
    assert_eq!((back["schema"].as_str(), back["title"].as_str()), (Some(SCHEMA), Some(run.name.as_str())));
    // One page: nothing is fetched.
    for part in ["src=\"http", "href=\"http", "url(http", "@import"] {
        assert!(!page.contains(part), "the page refers to {part}");
    }
}

#[test]
fn a_run_stands_beside_the_history_that_it_re_does() {
    let file = "/../history/tests/traces/wordcount-nocombine-10mbit/job_1795217314114_0009.jhist";
    let bytes = std::fs::read(env!("CARGO_MANIFEST_DIR").to_owned() + file).unwrap();
    let (_, jobs) = history::read(&bytes).unwrap();
    // A worker's interface, the master's, which is none, and one of a host that the job did not use.
    let interface = |host: &str, received, sent| Interface { host: host.to_owned(), received, sent };
    let interfaces = [interface("w1", 70_000_000, 60_000_000), interface("m", 1, 2), interface("elsewhere", 3, 4)];
    let counted = Counted { interfaces: interfaces.into(), store_requests: Vec::new() };
    let data = Comparison::with_actual(&result(), &jobs[0], &counted, "");
    let rows: Vec<_> = data.rows.iter().map(|row| (row.name.as_str(), row.predicted, row.actual)).collect();
    // The run above, launched at 0.5 s, with no map output; the history, read with an independent decoder.
    let want = [
        ("job, launch to finish", 11.5, 204.934),
        ("last map done, from launch", 3.5, 56.979),
        ("a map, mean", 2.75, 44.113),
        ("last shuffle done, from launch", 9.5, 197.711),
        ("a reducer's shuffle, mean", 7.0, 137.419),
        ("a reducer after its shuffle, mean", 2.0, 6.048),
        ("map output", 0.0, 386_196_972.0),
        ("bytes shuffled", 50_000_000.0, 386_196_972.0),
        ("workers' interfaces, received", 50_000_000.0, 70_000_000.0),
        ("workers' interfaces, sent", 49_000_000.0, 60_000_000.0),
    ];
    assert_eq!(rows.len(), want.len());
    for (row, want) in rows.iter().zip(want) {
        assert_eq!(row.0, want.0);
        assert!((row.1 - want.1).abs() < 1e-9 && (row.2 - want.2).abs() < 6e-4, "{row:?} is not {want:?}");
    }
}

/// The data of this test's run stands in the page's own tests: what Rust writes is what TypeScript reads.
/// After a change of the data, `TRUNKLINE_BLESS=1` writes the file anew.
#[test]
fn the_page_is_tested_with_what_this_crate_writes() {
    let mut run = result();
    run.traffic = vec![TrafficOutcome {
        name: "background".to_owned(),
        begun: 5,
        completed: 4,
        completion_p50: s(1.5),
        completion_max: s(1.5),
        completion_cdf: vec![(s(0.5), 1), (s(1.5), 4)],
        jain: 1.0,
        ..TrafficOutcome::default()
    }];
    let mut data = ReportData::from(&run);
    data.comparison = Some(Comparison {
        title: "Predicted beside recorded".to_owned(),
        note: "Made by hand.".to_owned(),
        rows: vec![
            ComparisonRow {
                name: "job".to_owned(),
                unit: "s",
                predicted: 11.5,
                actual: 12.0,
                interval: Some((11.0, 13.0)),
            },
            ComparisonRow { name: "bytes".to_owned(), unit: "B", predicted: 5e7, actual: 5.2e7, interval: None },
        ],
    });
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../report/test/run.json");
    let text = serde_json::to_string(&data).unwrap() + "\n";
    if std::env::var_os("TRUNKLINE_BLESS").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    assert!(std::fs::read_to_string(path).unwrap() == text, "report/test/run.json is not what this crate writes");
}

/// Flows have no queues, and of TCP no segments, so the page names none; what a node's interface and a shaper do is modelled.
#[test]
fn the_page_of_a_flow_run_says_what_was_modelled() {
    let text = "[cluster]\nworkers = 3\n[[network.shape]]\nrate = \"50 Mbit/s\"\n[job]\ninput = \"8 MB\"\n\
        [run]\nfidelity = \"flow\"\n";
    let scenario = sim::parse("flow.toml", text, &[]).unwrap();
    let run = sim::run(&scenario, &mut |_| std::ops::ControlFlow::Continue(())).unwrap();
    let data = ReportData::new(&run, Some(&scenario));
    let fact = |label: &str| data.setup.iter().find(|fact| fact.label == label).map(|fact| fact.value.as_str());
    assert_eq!(data.fidelity, "flow");
    assert_eq!(fact("TCP"), None);
    assert_eq!(fact("Network"), Some("star, 1 Gbit/s, 25 us"));
    assert_eq!(fact("Shaper"), Some("the workers, each way: 50 Mbit/s"));
    assert!(
        fact("Messages").is_some_and(|said| said.contains("queues and what they drop only where bursts overflow them"))
    );
    assert!(data.network.is_empty());
}
