//! The field of a wireless run, as tables and on the page. The field is made here by formula: a master that stands
//! still, workers on circles around it, an access point, and an exchange of frames every 40 ms.

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;
use results::field::{Fate, Field, Frame, FrameKind, Station};
use results::page::{ReportData, render};
use results::{Attempt, AttemptState, Event, Interval, Job, JobState, Node, Phase, RunResult, TaskKind, tables};
use runs::{Folder, Stop};
use serde_json::Value;
use units::{Bytes, Distance, Time};

const END: f64 = 60.0;
const WORKERS: u32 = 4;
/// In metres.
const CENTRE: f64 = 50.0;

fn s(seconds: f64) -> Time {
    Time::from_secs_f64(seconds)
}

/// Where worker `k` is: 38 m at most from the centre, at a tenth of a radian per second.
fn circle(worker: u32, at: f64) -> (f64, f64) {
    let angle = f64::from(worker) * 1.3 + at * 0.1;
    let radius = 10.0 + 7.0 * f64::from(worker);
    (CENTRE + radius * libm::cos(angle), CENTRE + radius * libm::sin(angle))
}

fn field() -> Field {
    let still = |name: &str, node, x, y| Station { name: name.to_owned(), node, way: vec![(Time::ZERO, x, y)] };
    let mut stations = vec![still("master", Some(0), CENTRE, CENTRE)];
    stations.extend((1..=WORKERS).map(|worker| {
        Station {
            name: format!("worker-{worker}"),
            node: Some(worker),
            way: (0..=600)
                .map(|step| f64::from(step) / 10.0)
                .map(|at| (s(at), circle(worker, at).0, circle(worker, at).1))
                .collect(),
        }
    }));
    stations.push(still("ap-1", None, 90.0, 10.0));
    // RTS, CTS, an aggregate and its acknowledgement; each fifth RTS meets another one, each seventh aggregate is lost.
    let mut frames = Vec::new();
    for turn in 0..250_u32 {
        let at = 20.0 + f64::from(turn) * 0.04;
        let from = 1 + turn % WORKERS;
        let mut put = |after: f64, us, from, to, kind, packets, fate| {
            frames.push(Frame { at: s(at + after), duration: Time::from_us(us), from, to, kind, packets, fate });
        };
        if turn % 50 == 0 {
            put(-0.001, 120, 5, None, FrameKind::Beacon, 0, Fate::Received);
        }
        if turn % 5 == 4 {
            put(0.0, 52, from, Some(0), FrameKind::Rts, 0, Fate::Collided);
            put(0.000_009, 52, 1 + from % WORKERS, Some(0), FrameKind::Rts, 0, Fate::Collided);
            continue;
        }
        put(0.0, 52, from, Some(0), FrameKind::Rts, 0, Fate::Received);
        put(0.000_068, 44, 0, Some(from), FrameKind::Cts, 0, Fate::Received);
        let lost = turn % 7 == 6;
        put(0.000_128, 2_400, from, Some(0), FrameKind::Data, 12, if lost { Fate::Lost } else { Fate::Received });
        if !lost {
            put(0.002_544, 32, 0, Some(from), FrameKind::BlockAck, 0, Fate::Received);
        }
    }
    Field {
        width: Distance::from_metres(100),
        height: Distance::from_metres(100),
        range: Some(Distance::from_metres(40)),
        stations,
        frames,
    }
}

fn attempt(task: u32, node: u32, start: f64, finish: f64) -> Attempt {
    Attempt {
        job: 0,
        kind: TaskKind::Map,
        task,
        attempt: 0,
        node,
        speculative: false,
        locality: None,
        state: AttemptState::Succeeded,
        reason: String::new(),
        start: s(start),
        finish: s(finish),
        output_lost: None,
        intervals: vec![Interval { phase: Phase::Compute, start: s(start), finish: s(finish) }],
        input: Bytes::from_mb(1),
        output: Bytes::from_mb(1),
        remote: Bytes::ZERO,
        spilled: Bytes::ZERO,
    }
}

/// Worker k computes from 5 k to 30 + 5 k seconds, worker 2 twice; worker 3 is down from 50 s to 55 s, worker 4 from 40
/// s on.
fn result() -> RunResult {
    let event = |at, kind: &str, node, detail: &str| Event {
        at: s(at),
        kind: kind.to_owned(),
        node,
        link: None,
        detail: detail.to_owned(),
    };
    let node = |name: String| Node { name, rack: 1, cpu_utilisation: vec![0.5; 60], ..Node::default() };
    let mut attempts: Vec<_> = (1..=WORKERS)
        .map(|worker| attempt(worker - 1, worker, 5.0 * f64::from(worker), 30.0 + 5.0 * f64::from(worker)))
        .collect();
    attempts.push(attempt(4, 2, 12.0, 35.0));
    attempts[3].finish = s(40.0);
    attempts[3].intervals[0].finish = s(40.0);
    attempts[3].state = AttemptState::Killed;
    RunResult {
        name: "four tablets around a master".to_owned(),
        seed: 1,
        ended_at: s(END),
        jobs: vec![Job {
            name: "walk".to_owned(),
            state: JobState::Succeeded,
            launch: Some(s(1.0)),
            finish: Some(s(END)),
            maps: 5,
            ..Job::default()
        }],
        attempts,
        nodes: std::iter::once("master".to_owned())
            .chain((1..=WORKERS).map(|worker| format!("worker-{worker}")))
            .map(node)
            .collect(),
        sample_interval: Time::from_secs(1),
        events: vec![
            event(40.0, "node-down", Some(4), "worker-4 crashes"),
            event(50.0, "node-down", Some(3), "worker-3 crashes"),
            event(51.0, "slow", Some(3), "worker-3 goes at 50 % of its speed"),
            event(52.0, "node-down", Some(3), "worker-3 crashes"),
            event(55.0, "node-up", Some(3), "worker-3 is back"),
        ],
        field: Some(field()),
        ..RunResult::default()
    }
}

fn json(run: &RunResult) -> Value {
    serde_json::to_value(ReportData::from(run)).unwrap()
}

fn numbers(value: &Value) -> Vec<i64> {
    value.as_array().unwrap().iter().map(|v| v.as_i64().unwrap()).collect()
}

#[test]
fn a_wired_run_has_neither_tables_nor_data_of_a_field() {
    let wired = RunResult { field: None, ..result() };
    let names = |run: &RunResult| tables(run).iter().map(|table| table.name).collect::<Vec<_>>();
    let with = names(&result());
    assert_eq!(names(&wired), with[..with.len() - 2]);
    assert_eq!(with[with.len() - 2..], ["positions", "frames"]);
    assert!(json(&wired).get("field").is_none());
    assert!(json(&result())["field"].is_object());
}

#[test]
fn the_tables_hold_every_point_and_every_frame() {
    let place = std::env::temp_dir().join(format!("trunkline-field-{}", std::process::id()));
    let folder = Folder::create(&place).unwrap();
    folder.run(&result(), &Stop::new()).unwrap();
    folder.commit().unwrap();
    let read = |name: &str| SerializedFileReader::new(std::fs::File::open(place.join(name)).unwrap()).unwrap();
    let (positions, frames) = (read("positions.parquet"), read("frames.parquet"));
    let rows: Vec<_> = positions.get_row_iter(None).unwrap().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 1 + 4 * 601 + 1);
    let of_second: Vec<_> = rows.iter().filter(|row| row.get_string(1).unwrap() == "worker-2").collect();
    let at_half = of_second[300];
    assert!((at_half.get_double(0).unwrap() - 30.0).abs() < 1e-12);
    let (x, y) = circle(2, 30.0);
    assert_eq!((at_half.get_double(2).unwrap(), at_half.get_double(3).unwrap()), (x, y));

    let rows: Vec<_> = frames.get_row_iter(None).unwrap().map(Result::unwrap).collect();
    assert_eq!(rows.len(), field().frames.len());
    // Five beacons; of 250 turns 50 collide, and of the 200 others those lose their data whose number is 6 modulo 7.
    let of = |column: usize, text: &str| rows.iter().filter(|row| row.get_string(column).unwrap() == text).count();
    let lost = (0..250).filter(|turn| turn % 5 != 4 && turn % 7 == 6).count();
    assert_eq!((of(4, "beacon"), of(4, "rts"), of(4, "data")), (5, 300, 200));
    assert_eq!((of(6, "collided"), of(6, "lost"), of(4, "block-ack")), (100, lost, 200 - lost));
    assert_eq!((rows[0].get_string(2).unwrap().as_str(), rows[0].get_string(3).unwrap().as_str()), ("ap-1", ""));
    let data = rows.iter().find(|row| row.get_string(4).unwrap() == "data").unwrap();
    assert!((data.get_double(1).unwrap() - 0.0024).abs() < 1e-15);
    assert_eq!(data.get_long(5).unwrap(), 12);
    std::fs::remove_dir_all(place).unwrap();
}

/// What the page draws, straight between the points that it was given, beside where the nodes were.
#[test]
fn courses_on_the_page_are_short_and_right_to_a_pixel() {
    let data = json(&result());
    let stations = data["field"]["stations"].as_array().unwrap();
    assert_eq!(stations.len(), 6);
    assert_eq!((stations[0]["at_ms"].as_array().unwrap().len(), stations[5]["node"].as_i64()), (1, Some(-1)));
    for worker in 1..=WORKERS {
        let station = &stations[worker as usize];
        let (times, x, y) = (numbers(&station["at_ms"]), numbers(&station["x_mm"]), numbers(&station["y_mm"]));
        assert!(times.len() < 150, "{} points of 601", times.len());
        assert_eq!((times[0], times[times.len() - 1]), (0, 60_000));
        for ms in (0..=60_000).step_by(37) {
            let next = times.partition_point(|at| *at < ms).max(1);
            let part = (ms - times[next - 1]) as f64 / (times[next] - times[next - 1]) as f64;
            let between = |v: &[i64]| (v[next - 1] as f64 + (v[next] - v[next - 1]) as f64 * part) / 1e3;
            let (true_x, true_y) = circle(worker, ms as f64 / 1e3);
            let away = libm::hypot(between(&x) - true_x, between(&y) - true_y);
            // 100 m / 4000, the sagitta of the 100 ms chords that the run itself has, and the rounding to millimetres.
            assert!(away < 0.025 + 0.0005 + 0.001, "worker {worker} at {ms} ms: {away} m");
        }
    }
}

#[test]
fn a_jump_and_a_rest_stay_what_they_are() {
    let way =
        vec![(s(0.0), 0.0, 0.0), (s(10.0), 0.0, 0.0), (s(10.0), 80.0, 0.0), (s(20.0), 80.0, 0.0), (s(30.0), 90.0, 0.0)];
    let mut run = result();
    run.field.as_mut().unwrap().stations[1].way = way;
    let data = json(&run);
    let station = &data["field"]["stations"][1];
    assert_eq!(numbers(&station["at_ms"]), [0, 10_000, 10_000, 20_000, 30_000]);
    assert_eq!(numbers(&station["x_mm"]), [0, 0, 80_000, 80_000, 90_000]);
}

#[test]
fn failures_follow_the_events_of_their_node() {
    let data = json(&result());
    let failed = |station: usize| numbers(&data["field"]["stations"][station]["failed_ms"]);
    assert_eq!((failed(1), failed(3), failed(4), failed(5)), (vec![], vec![50_000, 55_000], vec![40_000], vec![]));
}

#[test]
fn frames_stand_in_columns_by_their_start() {
    let mut run = result();
    run.field.as_mut().unwrap().frames.reverse();
    let data = json(&run);
    let frames = &data["field"]["frames"];
    let starts: Vec<_> = numbers(&frames["gap_ns"])
        .into_iter()
        .scan(0, |at, gap| {
            *at += gap;
            Some(*at)
        })
        .collect();
    assert_eq!(starts[..4], [19_999_000_000, 20_000_000_000, 20_000_068_000, 20_000_128_000]);
    assert!(starts.is_sorted());
    let first = |column: &str| numbers(&frames[column])[..4].to_vec();
    assert_eq!((first("from"), first("to")), (vec![5, 1, 0, 1], vec![-1, 0, 1, 0]));
    assert_eq!((first("kind"), first("packets")), (vec![5, 2, 3, 0], vec![0, 0, 0, 12]));
    assert_eq!(first("duration_ns"), [120_000, 52_000, 44_000, 2_400_000]);
    assert_eq!(numbers(&frames["fate"]).iter().filter(|fate| **fate == 1).count(), 100);
}

/// The data of this test's run stands in the page's own tests: what Rust writes is what TypeScript reads.
/// After a change of the data, `TRUNKLINE_BLESS=1` writes the file anew.
#[test]
fn the_page_is_tested_with_the_field_that_this_crate_writes() {
    let data = ReportData::from(&result());
    assert!(render(&data).contains("\"range_m\":40.0"));
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../report/test/field.json");
    let text = serde_json::to_string(&data).unwrap() + "\n";
    if std::env::var_os("TRUNKLINE_BLESS").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    assert!(std::fs::read_to_string(path).unwrap() == text, "report/test/field.json is not what this crate writes");
}
