//! Scenarios as people write them resolve: presets, groups, racks, assignments, and what is written back.

use crate::support::{EXAMPLE, parse};
use scenario::{Control, DiskPreset, Nodes, QueueLimit};
use units::{BitRate, Bytes, Time};

#[test]
fn the_design_example_resolves() {
    let scenario = parse(EXAMPLE, &[]).expect("the example is right");
    assert_eq!(scenario.name, "cluster");
    assert_eq!((scenario.node.cores, scenario.node.memory), (4, Bytes::from_mib(2048)), "the preset, overridden");
    assert_eq!(scenario.node.disk[0].preset, DiskPreset::Sata2009);
    assert_eq!(scenario.network.queue.limit, QueueLimit::Packets(128));
    assert_eq!(scenario.network.shape[0].rate, BitRate::from_mbps(10));
    assert_eq!(scenario.network.shape[0].limit, QueueLimit::Delay(Time::from_ms(400)));
    assert_eq!(scenario.tcp.control, Control::Cubic);
    assert_eq!(scenario.tcp.delayed_ack_timeout, Time::from_ms(40), "a default");
    assert_eq!(scenario.job[0].input, Bytes::from_mb(10_000));
    assert_eq!(scenario.faults[0].down_for, Some(Time::from_secs(60)));
    let nodes = scenario.nodes();
    assert_eq!(nodes.len(), 5);
    assert_eq!((nodes[4].name.as_str(), nodes[4].rack, nodes[4].host), ("worker-4", 1, Some(0)));
    assert_eq!(scenario.node_memory(&nodes[1]), Bytes::from_mib(2048), "no more than the node has");
}

#[test]
fn what_is_resolved_reads_back_as_the_same_scenario() {
    let scenario = parse(EXAMPLE, &["cluster.workers=7", "name = \"a \\\"b\\\" \\\\ c\""]).expect("right");
    for text in [scenario.to_toml(), scenario.to_short_toml()] {
        assert_eq!(parse(&text, &[]).as_ref(), Ok(&scenario), "{text}");
    }
    assert!(scenario.to_toml().contains("\n[network.queue]\n"), "a table has a header");
    assert!(scenario.to_short_toml().lines().count() < scenario.to_toml().lines().count() / 2);
    let other_seed =
        parse(EXAMPLE, &["cluster.workers=7", "name = \"a \\\"b\\\" \\\\ c\"", "run.seed=2"]).expect("right");
    assert_eq!(scenario.digest(), other_seed.digest(), "a digest names the scenario, not the draw");
    assert_ne!(scenario.digest(), parse(EXAMPLE, &[]).expect("right").digest());
}

#[test]
fn groups_and_racks_resolve() {
    let text = r#"
        [network]
        topology = "tree"
        racks = 3
        [node]
        preset = "opteron-2425"
        [[cluster.group]]
        count = 2
        node = "nexus7"
        rack = 3
        [[cluster.group]]
        count = 1
        node = { preset = "epyc-vm", cores = 8 }
        [[cluster.group]]
        count = 3
        [cluster.host]
        nodes = 2
        master = false
        [[traffic]]
    "#;
    let nodes = parse(text, &[]).expect("right").nodes();
    let summary: Vec<_> = nodes.iter().map(|node| (node.rack, node.hardware.cores, node.host)).collect();
    let expected = [
        (1, 12, None),
        (3, 4, Some(0)),
        (3, 4, Some(0)),
        (2, 8, Some(1)),
        (2, 12, Some(1)),
        (3, 12, Some(2)),
        (3, 12, Some(2)),
    ];
    assert_eq!(summary, expected);
}

#[test]
fn assignments_override_at_any_depth() {
    let scenario = parse(
        EXAMPLE,
        &[
            "network.shape.0.rate=50 Mbit/s",
            "hdfs.block=32MiB",
            "tcp.control=bbr",
            "mapreduce.speculative=false",
            "network.queue.limit=64 KB",
            "job.reducers=9",
            "traffic.0.from=[\"worker-1\", \"worker-2..worker-3\"]",
        ],
    )
    .expect("right");
    assert_eq!(scenario.network.shape[0].rate, BitRate::from_mbps(50));
    assert_eq!(scenario.hdfs.block, Bytes::from_mib(32));
    assert_eq!(scenario.tcp.control, Control::Bbr);
    assert!(!scenario.mapreduce.speculative);
    assert_eq!(scenario.network.queue.limit, QueueLimit::Bytes(Bytes::new(64_000)));
    assert_eq!(scenario.job[0].reducers, Some(9));
    assert_eq!(scenario.traffic[0].from, Nodes::List(vec![1, 2, 3]));
}

/// Nodes in a fat tree of `ports` ports fill edge switches of half as many; in a DCell, cells of `cell` servers.
#[test]
fn a_fabric_has_racks_of_its_own() {
    let racks = |network: &str| {
        let nodes = parse(&format!("[cluster]\nworkers = 8\n[network]\n{network}\n[job]"), &[]).expect("right").nodes();
        nodes.iter().map(|node| node.rack).collect::<Vec<_>>()
    };
    assert_eq!(racks("topology = \"fat-tree\"\nports = 6"), [1, 1, 1, 2, 2, 2, 3, 3, 3]);
    assert_eq!(racks("topology = \"dcell\"\ncell = 4"), [1, 1, 1, 1, 2, 2, 2, 2, 3]);
}

/// A fat tree of k ports has k pods of k / 2 edge switches (Al-Fares et al., SIGCOMM 2008).
#[test]
fn topologies_have_their_racks() {
    for (network, racks) in [
        ("topology = \"star\"", 1),
        ("topology = \"dumbbell\"", 2),
        ("topology = \"tree\"\nracks = 5", 5),
        ("topology = \"fat-tree\"\nports = 6", 18),
        ("topology = \"dcell\"\ncell = 4", 3),
        ("topology = \"parking-lot\"\nhops = 3", 4),
    ] {
        let text = format!("[cluster]\nworkers = 8\n[network]\n{network}\n[job]");
        assert_eq!(parse(&text, &[]).unwrap_or_else(|error| panic!("{error}")).racks(), racks, "{network}");
    }
}

/// Cores, memory in GiB and disks as the documents' tables have them; cores of a document's machines differ by their
/// clocks.
#[test]
fn presets_are_the_machines_of_the_documents() {
    let node = |preset: &str| parse(&format!("[node]\npreset = \"{preset}\"\n[job]"), &[]).expect("right").node;
    let (sata, flash) = (DiskPreset::Sata2009, DiskPreset::Ssd);
    let table = [
        ("yang2012-i", 2, 2, 3.0, vec![sata]),
        ("yang2012-ii", 2, 4, 3.0, vec![sata]),
        ("yang2012-iii", 4, 2, 2.4, vec![sata]),
        ("yang2012-iv", 4, 4, 2.4, vec![sata]),
        ("yang2012-v", 2, 2, 3.0, vec![flash]),
        ("yang2012-vi", 4, 2, 2.4, vec![flash]),
        ("yang2012-vii", 2, 2, 3.0, vec![flash, sata]),
        ("xeon-2009", 4, 2, 2.4, vec![sata]),
    ];
    let slowest = node("xeon-2009").speed;
    for (name, cores, memory, clock, disks) in table {
        let node = node(name);
        assert_eq!(node.preset.word(), name);
        assert_eq!((node.cores, node.memory), (cores, Bytes::from_mib(memory << 10)), "{name}");
        assert!((node.speed / slowest - clock / 2.4).abs() < 1e-9, "{name}: {}", node.speed);
        assert_eq!(node.disk.iter().map(|disk| disk.preset).collect::<Vec<_>>(), disks, "{name}");
        assert_eq!((node.idle_power, node.battery), (None, None), "{name}: nobody measured it");
    }
    let energy = node("yang2012-energy").disk;
    assert_eq!(energy.iter().map(|disk| disk.preset).collect::<Vec<_>>(), [DiskPreset::Sata500; 2]);
    assert!(energy[0].array.is_none() && energy[1].array.is_some());
}

/// A tablet's battery of 16 Wh: three days of music with the screen off, 10 h 22 min with it at half its brightness.
#[test]
fn a_tablet_lasts_as_long_as_was_measured() {
    let node = parse("[node]\npreset = \"nexus7\"\n[[traffic]]", &[]).expect("right").node;
    assert_eq!((node.cores, node.memory), (4, Bytes::from_mib(1 << 10)));
    let battery = node.battery.expect("it has one").as_joules();
    let dark = node.idle_power.expect("it was measured").as_watts();
    assert!((battery / 3_600.0 - 16.0).abs() < 0.1, "{battery} J");
    assert!((battery / dark / 3_600.0 - 72.0).abs() < 1.0, "{dark} W");
    let lit = battery / (dark + node.screen_power.as_watts()) / 3_600.0;
    assert!((lit - (10.0 + 22.0 / 60.0)).abs() < 0.1, "{lit} h");
    // All cores at CoreMark.
    let busy = f64::from(node.cores) * node.core_power.as_watts();
    assert!((busy - 1.261).abs() < 0.002, "{busy} W");
}

/// Watts at the wall, active idle and at full load, as SPECpower_ssj2008 publishes them.
#[test]
fn measured_nodes_draw_what_was_measured() {
    for (preset, idle, full) in [("epyc-9654", 115.0, 630.0), ("xeon-8480", 147.0, 836.0)] {
        let node = parse(&format!("[node]\npreset = \"{preset}\"\n[job]"), &[]).expect("right").node;
        let at_rest = node.idle_power.expect("it was measured").as_watts();
        assert_eq!(at_rest, idle, "{preset}");
        let busy = at_rest + f64::from(node.cores) * node.core_power.as_watts();
        assert!((busy - full).abs() < 0.5, "{preset}: {busy} W");
    }
}

#[test]
fn a_disk_is_a_preset_s_name_or_a_table() {
    let disks = |disk: &str| parse(&format!("[node]\ndisk = {disk}\n[job]"), &[]).expect("right").node.disk;
    let presets = |disk: &str| disks(disk).iter().map(|disk| (disk.preset, disk.count)).collect::<Vec<_>>();
    assert_eq!(presets("\"ssd\""), [(DiskPreset::Ssd, None)]);
    assert_eq!(presets("{ preset = \"nvme\", count = 2 }"), [(DiskPreset::Nvme, Some(2))]);
    assert_eq!(
        presets("[\"sata-2009\", { preset = \"ssd\" }]"),
        [(DiskPreset::Sata2009, None), (DiskPreset::Ssd, None)]
    );
    let error = parse("[node]\ndisk = 3\n[job]", &[]).expect_err("no disk is a number");
    assert!(error.contains("2:8: this must be"), "{error}");
}

#[test]
fn one_entry_may_be_a_link_of_each_of_several_nodes() {
    let ends = |from: &str| {
        let text = format!(
            "[cluster]\nworkers = 3\n[network]\ntopology = \"graph\"\n\
             [[network.link]]\nfrom = \"{from}\"\nto = \"a\"\n[[network.link]]\nfrom = \"worker-1..worker-3\"\nto = \"b\"\n\
             [[network.link]]\nfrom = \"master\"\nto = \"a\"\n[[network.link]]\nfrom = \"a\"\nto = \"b\"\n[[traffic]]"
        );
        let scenario = parse(&text, &[]).unwrap_or_else(|error| panic!("{error}"));
        let links = scenario.network.links(3).into_iter().filter(|link| link.to == "a");
        links.map(|link| link.from).collect::<Vec<_>>()
    };
    assert_eq!(ends("workers"), ["worker-1", "worker-2", "worker-3", "master"]);
    assert_eq!(ends("worker-2..worker-3"), ["worker-2", "worker-3", "master"]);
    assert_eq!(ends("worker-2"), ["worker-2", "master"]);
    let text = "[cluster]\nworkers = 3\n[network]\ntopology = \"graph\"\n\
                [[network.link]]\nfrom = \"a\"\nto = \"workers\"\n[[network.link]]\nfrom = \"master\"\nto = \"a\"\n[[traffic]]";
    let links = parse(text, &[]).unwrap_or_else(|error| panic!("{error}")).network.links(3);
    let ends: Vec<_> = links.iter().map(|link| (&*link.from, &*link.to)).collect();
    assert_eq!(ends, [("a", "worker-1"), ("a", "worker-2"), ("a", "worker-3"), ("master", "a")]);
}

/// Senders and receivers in turn: the first pair crosses all hops of a parking lot, the others one hop each.
#[test]
fn pairs_of_a_parking_lot_stand_at_their_hops() {
    let text = "[cluster]\nworkers = 10\n[network]\ntopology = \"parking-lot\"\nhops = 3\n[[traffic]]\n\
                from = \"worker-1\"\nto = \"worker-2\"";
    let nodes = parse(text, &[]).expect("right").nodes();
    let racks: Vec<_> = nodes.iter().skip(1).map(|node| node.rack).collect();
    assert_eq!(racks, [1, 4, 1, 2, 2, 3, 3, 4, 1, 2]);
}

#[test]
fn nodes_of_a_machine_share_its_disks_or_have_their_own() {
    let first = |keys: &str| {
        let text = format!("[cluster]\nworkers = 3\n[cluster.host]\nnodes = 2\ndisks = 2\n{keys}\n[job]");
        let nodes = parse(&text, &[]).unwrap_or_else(|error| panic!("{error}")).nodes();
        nodes.iter().map(|node| (node.host, node.first_disk, node.disks.len())).collect::<Vec<_>>()
    };
    let (one, two) = (Some(0), Some(1));
    assert_eq!(first("own-disks = true"), [(one, 0, 2), (one, 2, 2), (two, 0, 2), (two, 2, 2)]);
    assert_eq!(first(""), [(one, 0, 2), (one, 0, 2), (two, 0, 2), (two, 0, 2)]);
}

#[test]
fn groups_of_nodes_have_their_members() {
    let members = |nodes: Nodes| (0..4).filter(|node| nodes.contains(*node)).collect::<Vec<_>>();
    assert_eq!(members(Nodes::All), [0, 1, 2, 3]);
    assert_eq!(members(Nodes::Master), [0]);
    assert_eq!(members(Nodes::Workers), [1, 2, 3]);
}

/// Reno's and Tahoe's papers have no SACK, whatever `sack` says; a control of its name has it.
#[test]
fn some_controls_decide_on_sack() {
    let uses = |control: &str, sack: bool| {
        let text = format!("[tcp]\ncontrol = \"{control}\"\nsack = {sack}\n[job]");
        parse(&text, &[]).expect("right").tcp.uses_sack()
    };
    let both = |control| [uses(control, false), uses(control, true)];
    assert_eq!(
        ["newreno", "tahoe", "sack-reno", "cubic"].map(both),
        [[false, false], [false, false], [true, true], [false, true]]
    );
}

/// `[job]` is a list of one job, so what names its first entry names it, and a list's only entry needs no number.
#[test]
fn an_assignment_may_count_the_entry_of_a_list_of_one() {
    for text in ["[job]\nreducers = 3\n", "[[job]]\nreducers = 3\n"] {
        for sets in [["job.0.input=3 GB", "job.name=first"], ["job.input=3 GB", "job.0.name=first"]] {
            assert_eq!(parse(text, &sets).expect("right").job[0].name, "first");
        }
        let scenario = parse(text, &["job.0.input=3 GB", "job.0.name=first"]).expect("right");
        assert_eq!(scenario.job.len(), 1);
        assert_eq!((scenario.job[0].reducers, scenario.job[0].name.as_str()), (Some(3), "first"), "both hold");
        let second = parse(text, &["job.1.name=second"]).expect_err("there is one job");
        assert!(second.contains("--set:1:5"), "{second}");
    }
    let two = parse("[[job]]\n[[job]]\n", &["job.input=3 GB"]).expect_err("which of two");
    assert!(two.contains("`job.input` needs such a number"), "{two}");
    let table = parse("[network]\nloss = 0.01\n", &["network.0.rate=1 Gbit/s"]).expect_err("no list");
    assert!(table.contains("--set:1:9"), "{table}");
}
