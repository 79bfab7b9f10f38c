//! Nodes whose TCP, transmit queue, aggregation or driver differs from that of the others.

use results::{Link, RunResult};
use std::ops::ControlFlow;
use units::Time;

fn run(text: &str) -> RunResult {
    let scenario = sim::parse("test.toml", text, &[]).unwrap_or_else(|error| panic!("{error}"));
    let result = sim::run(&scenario, &mut |_| ControlFlow::Continue(())).unwrap();
    assert!(result.violations().next().is_none());
    result
}

fn link<'a>(result: &'a RunResult, name: &str) -> &'a Link {
    result.links.iter().find(|link| link.name == name).unwrap_or_else(|| panic!("no link {name}"))
}

/// Ten segments over a round trip of 100 ms: in one flight from an initial window of ten, in flights of 1, 2, 4 and 3
/// from one of one.
#[test]
fn a_node_has_its_own_initial_window() {
    let result = run(r#"
        cluster = { workers = 2 }
        network = { rate = "1 Gbit/s", delay = "25 ms" }
        traffic = [
            { name = "ten", from = "worker-1", bytes = "14480 B" },
            { name = "one", from = "worker-2", bytes = "14480 B" },
        ]
        [[tcp.node]]
        nodes = "workers"
        initial-window = 3
        [[tcp.node]]
        nodes = "worker-1"
        initial-window = 10
        [[tcp.node]]
        nodes = "worker-2"
        initial-window = 1
        "#);
    let finish = |traffic: usize| result.traffic[traffic].finish.unwrap();
    let near = |time: Time, milliseconds: u64| {
        let over = time.saturating_sub(Time::from_ms(milliseconds));
        assert!(over > Time::ZERO && over < Time::from_ms(2), "{time} is not just over {milliseconds} ms");
    };
    near(finish(0), 150);
    near(finish(1), 450);
}

/// Two senders to receivers of their own: the one that watches its queue never fills it, the other does.
#[test]
fn one_node_watches_its_queue() {
    let result = run(r#"
        cluster = { workers = 4 }
        network = { rate = "10 Mbit/s", host-queue = { limit = "50 packets" } }
        traffic = [{ from = "worker-1", to = "worker-3" }, { from = "worker-2", to = "worker-4" }]
        run = { until = "20 s" }
        [[tcp.node]]
        nodes = "worker-1"
        queue-threshold = 30
        "#);
    let own = |name| link(&result, name);
    let (watched, other) = (own("worker-1 -> switch"), own("worker-2 -> switch"));
    assert_eq!((watched.drops, watched.queue_max), (0, 30));
    assert!(other.drops > 0 && other.queue_max == 50, "{other:?}");
    assert_eq!(own("switch -> worker-1").drops, 0, "the receiver's side watches nothing");
}

/// The same on the air, where one node's driver goes by the levels of its queues, too, and the queues differ.
#[test]
fn one_station_watches_its_queue() {
    let result = run(r#"
        cluster = { workers = 3 }
        traffic = [{ from = "worker-1", to = "worker-3" }, { from = "worker-2", to = "worker-3" }]
        run = { until = "10 s" }
        [network]
        topology = "wifi"
        wifi.driver = { max-frames = 10 }
        wifi.queue = { packets = 100 }
        [[network.wifi.node]]
        nodes = "worker-1"
        queue = { packets = 40 }
        driver = { scheduling = "queue-level" }
        [[tcp.node]]
        nodes = "worker-1"
        queue-threshold = 30
        "#);
    let (watched, other) = (link(&result, "worker-1 -> air"), link(&result, "worker-2 -> air"));
    assert!(watched.drops == 0 && (30..=40).contains(&watched.queue_max), "{watched:?}");
    assert!(other.drops > 0 && other.queue_max == 100, "{other:?}");
}

/// An access point that aggregates behind stations that do not: its queue and its frames are its own.
#[test]
fn an_access_point_differs_from_its_stations() {
    let text = |point: &str| {
        format!(
            r#"
            cluster = {{ workers = 2 }}
            traffic = [{{ from = "worker-1", to = "worker-2" }}]
            run = {{ until = "5 s" }}
            [network]
            topology = "wifi"
            [network.wifi]
            mode = "infrastructure"
            aggregation = {{ frames = 1 }}
            queue = {{ packets = 400 }}
            [[network.wifi.access-point]]
            at = ["25 m", "25 m"]
            {point}
            "#
        )
    };
    let alike = run(&text(""));
    let own = run(&text("aggregation = { frames = 32 }\nqueue = { packets = 20 }"));
    assert!(own.traffic[0].goodput.as_bps() > alike.traffic[0].goodput.as_bps() * 11 / 10);
    assert!(link(&own, "ap-1 -> air").queue_max <= 20);
    assert!(link(&alike, "ap-1 -> air").queue_max > 20);
}
