//! Bonds in scenarios: what they carry, how TCP takes their reordering and failures, what results say, what is refused.

use net::bond::{BondSpec, Distribution, EndSpec, HashPolicy};
use net::{LinkSpec, Topology};
use results::{RunResult, to_json};
use scenario::Scenario;
use sim::world::{World, WorldSpec};
use std::ops::ControlFlow;
use tcp::Recovery;
use traffic::{TrafficKind, TrafficSpec};
use transport::Totals;
use units::{BitRate, Bytes, Time};

/// Two workers with a bond between them, at 100 Mbit/s a member, and a switch for the master.
const PAIR: &str = r#"
[cluster]
workers = 2
[network]
topology = "graph"
rate = "100 Mbit/s"
[[network.link]]
from = "worker-1"
to = "worker-2"
[[network.link]]
from = "master"
to = "switch"
[[network.link]]
from = "worker-1"
to = "switch"
[[network.link]]
from = "worker-2"
to = "switch"
[[network.bond]]
from = "worker-1"
to = "worker-2"
[[traffic]]
from = "worker-1"
to = "worker-2"
[run]
until = "4 s"
warm-up = "2 s"
"#;

fn parse(text: &str, sets: &[&str]) -> Result<Scenario, String> {
    let sets: Vec<_> = sets.iter().map(|set| (*set).to_owned()).collect();
    sim::parse("bond.toml", text, &sets).map_err(|error| error.to_string())
}

fn run(text: &str, sets: &[&str]) -> RunResult {
    let scenario = parse(text, sets).expect("the scenario is right");
    sim::run(&scenario, &mut |_| ControlFlow::Continue(())).expect("it runs")
}

fn goodput(result: &RunResult) -> f64 {
    result.traffic[0].goodput_warm.as_bps() as f64 / 1e6
}

/// Payload of a packet of 1,500 bytes with timestamps, of its 1,538 on the wire.
const EFFICIENCY: f64 = 1_448.0 / 1_538.0;

#[test]
fn a_flow_never_exceeds_one_member_by_hash_and_fills_all_by_turns() {
    let alone = goodput(&run(PAIR, &["network.bond.0.members=1"]));
    assert!((alone / (100.0 * EFFICIENCY) - 1.0).abs() < 0.01, "{alone}");
    for members in [2, 4] {
        let count = format!("network.bond.0.members={members}");
        for mode in ["802.3ad", "balance-xor"] {
            for hash in ["layer2", "layer2+3", "layer3+4"] {
                let sets = [&count, &format!("network.bond.0.mode={mode}"), &format!("network.bond.0.hash={hash}")];
                let result = run(PAIR, &sets.map(String::as_str));
                assert!((goodput(&result) - alone).abs() < 0.01 * alone, "{mode} {hash}: {}", goodput(&result));
                let busy = result.links.iter().filter(|link| link.bond == "bond-1" && link.packets > 0);
                assert_eq!(busy.filter(|link| link.name.starts_with("worker-1")).count(), 1);
            }
        }
        let result = run(PAIR, &[&count, "network.bond.0.mode=balance-rr"]);
        let ideal = f64::from(members) * alone;
        assert!(goodput(&result) > 0.9 * ideal && goodput(&result) <= ideal * 1.001, "{}", goodput(&result));
        // What a full member drops was its turn, too.
        let packets: Vec<_> = result
            .links
            .iter()
            .filter(|link| link.name.starts_with("worker-1 -> worker-2"))
            .map(|link| link.packets + link.drops)
            .collect();
        assert_eq!(packets.len(), members as usize);
        assert!(packets.iter().max().unwrap() - packets.iter().min().unwrap() <= 1, "{packets:?}");
    }
}

#[test]
fn eight_flows_by_ports_spread_as_their_hashes_say() {
    // Source ports 32768 to 32775 from 10.0.0.2 to 10.0.0.3, port as the traffic listens on: by the formula for
    // layer3+4, connections that differ in the lowest bit of a port only share a member, so eight neighbours split four
    // and four.
    let sets = ["traffic.0.flows=8", "network.bond.0.hash=layer3+4"];
    let result = run(PAIR, &sets);
    assert!((goodput(&result) / (200.0 * EFFICIENCY) - 1.0).abs() < 0.02, "{}", goodput(&result));
    let layer2 = run(PAIR, &["traffic.0.flows=8", "network.bond.0.hash=layer2"]);
    assert!((goodput(&layer2) / (100.0 * EFFICIENCY) - 1.0).abs() < 0.02, "{}", goodput(&layer2));
}

/// 20 MB over two members of 100 Mbit/s, the second of which is ten packets' time longer.
fn over_unequal_members(distribution: Distribution, recovery: Recovery) -> (Totals, u64) {
    let mut topology = Topology::new();
    let hosts = [topology.add_host("a"), topology.add_host("b")];
    let longer = Time::from_us(50) + BitRate::from_mbps(100).transmission_time(Bytes::new(1_538)) * 10;
    let members: Vec<_> = [Time::from_us(50), longer]
        .map(|delay| topology.connect(hosts[0], hosts[1], &LinkSpec::new(BitRate::from_mbps(100), delay)))
        .to_vec();
    let end = EndSpec { distribution, lacp: None, overhead: Time::ZERO };
    topology.add_bond(BondSpec { name: "bond".to_owned(), members, ends: [end, end], agreed: true });
    let spec = WorldSpec {
        topology,
        traffic: vec![TrafficSpec {
            name: "long".to_owned(),
            kind: TrafficKind::Long { flows: 1, bytes: Some(Bytes::from_mb(20)) },
            from: vec![0],
            to: vec![1],
            // So little that no queue overflows.
            tcp: tcp::Config { max_window: Some(60), recovery, ..tcp::Config::default() },
            ..TrafficSpec::default()
        }],
        ..WorldSpec::default()
    };
    let mut world = World::new(&spec).unwrap();
    world.run(Time::from_secs(20));
    assert_eq!(world.traffic_outcomes()[0].completed, 1);
    (world.packets().unwrap().totals(), world.packets().unwrap().ledger().unwrap().dropped)
}

#[test]
fn members_of_unequal_delay_reorder_and_tcp_answers_with_duplicate_acknowledgements() {
    let (turns, dropped) = over_unequal_members(Distribution::RoundRobin, Recovery::Rfc6675);
    assert_eq!(dropped, 0);
    // Three segments that overtake are taken for a loss, again and again; each of these recoveries began with a
    // duplicate acknowledgement at least.
    assert!(turns.fast_recoveries > 100 && turns.duplicate_acks >= turns.fast_recoveries, "{turns:?}");
    // What is taken for lost is sent again for nothing: the receiver has it all. What is on its way when the transfer
    // ends, less than a window, meets a receiver that counts no more.
    let uncounted = turns.retransmissions - turns.duplicates;
    assert!(turns.retransmissions > 1_000 && uncounted < 60, "{turns:?}");
    // RACK learns from the duplicates how far segments overtake each other (RFC 8985, section 6.2).
    let (learned, _) = over_unequal_members(Distribution::RoundRobin, Recovery::Rack);
    assert!(learned.retransmissions * 20 < turns.retransmissions, "{learned:?}");
    let (hashed, dropped) = over_unequal_members(Distribution::Hash(HashPolicy::Layer34), Recovery::Rfc6675);
    assert_eq!((hashed.duplicate_acks, hashed.retransmissions, dropped), (0, 0, 0));
}

/// A worker that crashes keeps its carrier: the other end of its bond misses its LACPDUs, and its traffic goes by way
/// of the switch meanwhile.
#[test]
fn a_crashed_node_is_missed_by_the_bonds_other_end() {
    let faults = "[[faults]]\nat = \"5 s\"\nnode = \"worker-2\"\ndown-for = \"10 s\"\n";
    let result = run(&format!("{PAIR}{faults}"), &["run.until=30 s", "network.bond.0.lacp=fast"]);
    let told = |kind: &str, of: &str| -> Vec<Time> {
        let events = result.events.iter().filter(|event| event.kind == kind && event.detail.starts_with(of));
        events.map(|event| event.at).collect()
    };
    let (left, own) = (told("member-left", "worker-1->worker-2"), told("member-left", "worker-2->worker-1"));
    assert_eq!(own, [Time::from_secs(5); 2]);
    assert_eq!(left.len(), 2);
    assert!(left.iter().all(|at| *at > Time::from_secs(7) && *at < Time::from_ms(8_100)), "{left:?}");
    let joined = told("member-joined", "worker");
    assert_eq!(joined.len(), 4);
    assert!(joined.iter().all(|at| *at > Time::from_secs(15) && *at < Time::from_ms(18_100)), "{joined:?}");
}

#[test]
fn a_lost_member_is_left_at_once_and_a_silent_one_when_lacp_notices() {
    let faults = "[[faults]]\nat = \"5 s\"\nlink = \"worker-1 -- worker-2 #2\"\n";
    let text = format!("{PAIR}{faults}");
    let common = ["run.until=20 s", "traffic.0.flows=8", "network.bond.0.hash=layer3+4", "network.bond.0.lacp=fast"];
    let left = |result: &RunResult| -> Vec<(Time, String)> {
        let left = result.events.iter().filter(|event| event.kind == "member-left");
        left.map(|event| (event.at, event.detail.clone())).collect()
    };

    let carrier = run(&text, &common);
    let told = left(&carrier);
    assert_eq!(told.len(), 2);
    assert_eq!(told[0], (Time::from_secs(5), "worker-1->worker-2 #2 leaves bond-1: 1 of 2 usable".to_owned()));
    assert_eq!(told[1], (Time::from_secs(5), "worker-2->worker-1 #2 leaves bond-1: 1 of 2 usable".to_owned()));
    // What is lost is what the member held: a queue of 1,000 packets at most each way, and the wire.
    assert!(
        carrier.network.unwrap().lost > 0 && carrier.network.unwrap().lost <= 2_000,
        "{:?}",
        carrier.network.unwrap()
    );

    let silent = [&common[..], &["faults.0.silent=true"]].concat();
    let silent = run(&text, &silent);
    let told = left(&silent);
    assert_eq!(told.len(), 2);
    assert!(told.iter().all(|(at, _)| *at > Time::from_secs(7) && *at < Time::from_ms(8_100)), "{told:?}");
    let one_way = run(
        &text.replace("worker-1 -- worker-2 #2", "worker-1 -> worker-2 #2"),
        &["faults.0.silent=true", "run.until=20 s", "network.bond.0.lacp=fast"],
    );
    assert_eq!(left(&one_way).len(), 2);
    // Without LACP nobody ever notices, and half of the flows stall.
    let xor = [
        "faults.0.silent=true",
        "run.until=20 s",
        "network.bond.0.mode=balance-xor",
        "traffic.0.flows=8",
        "network.bond.0.hash=layer3+4",
    ];
    let blind = run(&text, &xor);
    assert!(left(&blind).is_empty());
    let fairness = |result: &RunResult| result.traffic[0].jain;
    assert!(
        fairness(&blind) < 0.85 && fairness(&silent) > fairness(&blind) + 0.05,
        "{} {}",
        fairness(&blind),
        fairness(&silent)
    );

    // A member that is back is used again, and a whole bond goes down by its name.
    let back = [&common[..], &["faults.0.down-for=3 s"]].concat();
    let back = run(&text, &back);
    let joined: Vec<_> =
        back.events.iter().filter(|event| event.kind == "member-joined").map(|event| event.at).collect();
    assert_eq!(joined.len(), 2);
    assert!(joined.iter().all(|at| *at > Time::from_secs(8) && *at < Time::from_ms(9_010)), "{joined:?}");
    let whole = run(&text.replace(" #2", ""), &[&common[..], &["faults.0.down-for=3 s"]].concat());
    assert_eq!(left(&whole).len(), 4);
    // TCP finds the way over the switch meanwhile.
    assert!(goodput(&whole) > 80.0);
}

#[test]
fn results_name_members_and_repeat() {
    let sets = [
        "network.bond.0.mode=balance-rr",
        "network.bond.0.name=trunk",
        "network.bond.0.overhead=2 us",
        "network.loss=0.001",
    ];
    let result = run(PAIR, &sets);
    let members: Vec<_> =
        result.links.iter().filter(|link| link.bond == "trunk").map(|link| link.name.as_str()).collect();
    let expected =
        ["worker-1 -> worker-2 #1", "worker-2 -> worker-1 #1", "worker-1 -> worker-2 #2", "worker-2 -> worker-1 #2"];
    assert_eq!(members, expected);
    let [first, second] = result.bonds.as_slice() else { panic!("two ends") };
    assert_eq!((first.at.as_str(), second.at.as_str()), ("worker-1", "worker-2"));
    let sent: u64 = first
        .members
        .iter()
        .map(|link| result.links[*link as usize].packets + result.links[*link as usize].drops)
        .sum();
    assert_eq!(first.packets, sent);
    assert!(to_json(&result).contains("\"link\": \"worker-1 -> worker-2 #2\""));
    assert_eq!(run(PAIR, &sets), result);
    // Without bonds nothing is said of them.
    let plain = PAIR.replace("[[network.bond]]\nfrom = \"worker-1\"\nto = \"worker-2\"\n", "");
    assert!(!to_json(&run(&plain, &[])).contains("bonds"));
}

#[test]
fn every_nodes_link_of_a_star_may_be_a_bond() {
    let text = "[cluster]\nworkers = 3\n[[network.bond]]\nnodes = \"all\"\nmembers = 3\nhash = \"layer3+4\"\nlacp = \"fast\"\n\
                [[traffic]]\nkind = \"all-to-all\"\nbytes = \"5 MB\"\n";
    let result = run(text, &[]);
    assert_eq!(result.links.len(), 4 * 3 * 2);
    assert_eq!(result.bonds.len(), 8);
    assert_eq!(result.bonds[2].name, "bond-1-worker-1");
    assert_eq!(result.traffic[0].completed, 6);
    let used = result.links.iter().filter(|link| link.packets > 0 && link.name.starts_with("worker")).count();
    assert!(used > 3, "more than one member each, on the whole");
}

#[test]
fn what_cannot_be_bonded_is_said_with_its_place() {
    let star = "[cluster]\nworkers = 2\n[[traffic]]\n";
    let bond = |keys: &str| format!("{star}[[network.bond]]\n{keys}");
    let cases = [
        (bond("nodes = \"all\"\nmembers = 0"), "bond.toml:6:11: ", "0 is out of range: from 1 to 8"),
        (bond("nodes = \"all\"\nmembers = 9"), "bond.toml:6:11: ", "9 is out of range: from 1 to 8"),
        (
            bond("from = \"worker-7\"\nto = \"switch\""),
            "bond.toml:5:8: ",
            "there is no node `worker-7`; did you mean `worker-",
        ),
        (bond("from = \"worker-1\"\nto = \"swich\""), "bond.toml:6:6: ", "did you mean `switch`?"),
        (
            bond("from = \"worker-1\"\nto = \"worker-2\""),
            "bond.toml:6:6: ",
            "not neighbours; the neighbours of worker-1 are: switch",
        ),
        (bond("from = \"worker-1\""), "bond.toml:4:1: ", "has no `to`"),
        (bond("nodes = \"all\"\nfrom = \"worker-1\""), "bond.toml:5:9: ", "`nodes` and an end"),
        (bond("nodes = \"worker-9\""), "bond.toml:5:9: ", "there is no `worker-9`; the last worker is worker-2"),
        (
            bond("nodes = \"all\"\nmode = \"balance-rr\"\nlacp = \"fast\""),
            "bond.toml:7:8: ",
            "balance-rr does not speak LACP",
        ),
        (bond("nodes = \"all\"\nlacp = \"off\""), "bond.toml:6:8: ", "802.3ad without LACP; mode \"balance-xor\""),
        (bond("nodes = \"all\"\nto-mode = \"balance-xor\""), "bond.toml:6:11: ", "LACP finds no partner"),
        (
            bond("nodes = \"all\"\nto-rate = \"100 Mbit/s\""),
            "bond.toml:6:11: ",
            "members at 1 Gbit/s at one end and 100 Mbit/s at the other",
        ),
        (
            bond("nodes = \"all\"\nrate = \"1 Gbit/s\"\nto-rate = \"2 Gbit/s\""),
            "bond.toml:7:11: ",
            "the same rate at both ends",
        ),
        (bond("nodes = \"all\"\nmode = \"balance\""), "bond.toml:6:8: ", "`balance` is not a value here"),
        (
            bond("nodes = \"all\"\n[[network.bond]]\nfrom = \"switch\"\nto = \"master\""),
            "bond.toml:6:1: ",
            "is in bond-1-master already",
        ),
        (
            bond("nodes = \"all\"\n[[network.shape]]\nnodes = \"worker-1\""),
            "bond.toml:4:1: ",
            "token bucket on worker-1->switch",
        ),
        (format!("{star}[[faults]]\nlink = \"worker-1 #2\""), "bond.toml:5:8: ", "there is no link `worker-1 #2`"),
        (
            format!("{}\n[[faults]]\nlink = \"worker-1 #3\"", bond("nodes = \"all\"")),
            "bond.toml:7:8: ",
            "did you mean `worker-1",
        ),
        (
            format!("{star}[[faults]]\nnode = \"worker-1\"\nsilent = true"),
            "bond.toml:6:10: ",
            "only a link falls silent",
        ),
    ];
    for (text, place, message) in cases {
        let error = parse(&text, &[]).expect_err(&text);
        assert!(error.starts_with(place) && error.contains(message), "{text}\n{error}");
    }
    let twice =
        PAIR.replace("[[network.bond]]", "[[network.link]]\nfrom = \"worker-2\"\nto = \"worker-1\"\n[[network.bond]]");
    let error = parse(&twice, &[]).expect_err("two links");
    assert!(error.contains("2 links between worker-1 and worker-2 already"), "{error}");
    // Mode, hash and the rate of LACP may differ between the ends.
    let legal = bond("nodes = \"all\"\nlacp = \"slow\"\nto-lacp = \"fast\"\nhash = \"layer2\"\nto-hash = \"layer3+4\"");
    assert_eq!(parse(&legal, &[]).map(|scenario| scenario.network.bond.len()), Ok(1));
    let legal = bond("nodes = \"all\"\nmode = \"balance-rr\"\nto-mode = \"balance-xor\"");
    let scenario = parse(&legal, &[]).expect("legal");
    assert_eq!(parse(&scenario.to_toml(), &[]).as_ref(), Ok(&scenario));
}
