//! Scenarios become networks, and what only the engine knows to be wrong is said with its place. The tests of the
//! language are `scenario`'s own.

use scenario::Scenario;

fn parse(text: &str, sets: &[&str]) -> Result<Scenario, String> {
    let sets: Vec<_> = sets.iter().map(|set| (*set).to_owned()).collect();
    sim::parse("cluster.toml", text, &sets).map_err(|error| error.to_string())
}

/// A workload that the documents describe, or that Hadoop's model has, is one that a scenario may name.
#[test]
fn every_documented_workload_is_taken() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/workloads.md");
    let page = std::fs::read_to_string(page).expect("docs/reference/workloads.md");
    let (_, volumes) = page.split_once("## Volumes").expect("a table of volumes");
    let rows = volumes.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
    let rows = rows.take_while(|line| line.starts_with("| "));
    let documented: Vec<&str> = rows.filter_map(|line| line.split('|').nth(1)).map(str::trim).collect();
    assert!(documented.contains(&"wordcount-nocombine") && documented.len() >= 9, "{documented:?}");
    for name in documented.into_iter().chain(hadoop::workload::PRESETS) {
        parse("[job]\n", &[&format!("job.workload={name}")]).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn what_only_the_engine_knows_is_said_with_its_place() {
    let cases = [
        (
            "[[faults]]\nlink = \"rack-1 -- cor\"\n[network]\ntopology = \"tree\"\n[job]",
            "2:8",
            "did you mean `rack-1 -- core`?",
        ),
        (
            "[network]\nqueue = { kind = \"red\", limit = \"60 packets\", red = { min = \"20 packets\", max = \"80 packets\" } }\n[job]",
            "2:53",
            "RED's upper threshold, 80 packets, is not below the queue's limit, 60 packets",
        ),
        (
            "[network.core.queue]\nkind = \"red\"\nred.min = \"20 packets\"\nred.max = \"10 packets\"\n[job]",
            "3:1",
            "lower threshold, 20 packets, is not below its upper one, 10 packets",
        ),
        (
            "[network]\nqueue = { kind = \"codel\", codel = { target = \"1 s\" } }\n[job]",
            "2:35",
            "target must lie above zero and not exceed its interval",
        ),
        (
            "[network]\ntopology = \"dumbbell\"\n[[network.port]]\nlink = \"left -> rihgt\"\n[job]",
            "4:8",
            "did you mean `left -- right`?",
        ),
        (
            "[network]\ntopology = \"fat-tree\"\nports = 5\n[job]",
            "3:9",
            "even number of ports, at least 2, not 5; 4 or 6",
        ),
        (
            "[cluster]\nworkers = 40\n[network]\ntopology = \"fat-tree\"\n[job]",
            "3:1",
            "room for 16 nodes, and there are 41; 6 ports",
        ),
        (
            "[network]\ntopology = \"dcell\"\ncell = 6\nlevel = 3\n[job]",
            "4:9",
            "DCell(6, 3) has none or more than 200000 servers",
        ),
        (
            "[cluster]\nworkers = 20\n[network]\ntopology = \"dcell\"\ncell = 4\n[job]",
            "5:8",
            "DCell(4, 1) has room for 20 nodes, and there are 21",
        ),
        (
            "[network]\nhost-queue = { kind = \"threshold\", mark-above = \"2 MB\" }\n[job]",
            "2:49",
            "marking threshold, 2000000 B, is not below the queue's limit, 128 packets",
        ),
    ];
    for (text, place, message) in cases {
        let error = parse(text, &[]).expect_err(text);
        let first = error.lines().next().unwrap_or_default();
        assert!(first.starts_with(&format!("cluster.toml:{place}: ")), "{text:?} said: {error}");
        assert!(first.contains(message), "{text:?} said: {error}");
    }
}

/// Every scenario's hosts, and how its links run: name, rate in Mbit/s, delay in us, loss, per mille.
fn links(text: &str) -> Vec<String> {
    let scenario = parse(text, &[]).expect("right");
    let topology = sim::topology(&scenario);
    let hosts: Vec<_> = topology.hosts().iter().map(|host| topology.name(*host)).collect();
    let nodes = scenario.nodes();
    assert_eq!(hosts, nodes.iter().map(|node| node.name.as_str()).collect::<Vec<_>>(), "hosts are the nodes in order");
    (0..topology.cables().len() as u32)
        .flat_map(|cable| [net::LinkId(2 * cable), net::LinkId(2 * cable + 1)])
        .map(|link| {
            let spec = topology.spec(link);
            format!("{} {} {} {:?}", topology.link_name(link), spec.rate, spec.delay, spec.limit)
        })
        .collect()
}

#[test]
fn a_star_with_a_bucket_on_one_worker() {
    let text = "[cluster]\nworkers = 2\n[network]\nrate = \"100 Mbit/s\"\n[[network.shape]]\nnodes = \"worker-2\"\ndirection = \"ingress\"\n[[traffic]]";
    let expected = [
        "master->switch 100 Mbit/s 25 us Packets(1000)",
        "switch->master 100 Mbit/s 25 us Packets(128)",
        "worker-1->switch 100 Mbit/s 25 us Packets(1000)",
        "switch->worker-1 100 Mbit/s 25 us Packets(128)",
        "worker-2->switch 100 Mbit/s 25 us Packets(1000)",
        "switch->worker-2 100 Mbit/s 25 us Delay(400 ms)",
    ];
    assert_eq!(links(text), expected);
}

#[test]
fn core_links_follow_the_oversubscription() {
    let text = "[cluster]\nworkers = 8\n[network]\ntopology = \"leaf-spine\"\nspines = 2\n[network.core]\noversubscription = 2\ndelay = \"5 us\"\n[[traffic]]";
    let core: Vec<_> = links(text).into_iter().filter(|link| link.contains("spine")).collect();
    // Rack 1 has the master and four workers: 5 Gbit/s over 2 spines at 2 to 1; rack 2 has four.
    assert_eq!(core[0], "rack-1->spine-1 1.25 Gbit/s 5 us Packets(128)");
    assert_eq!(core[6], "rack-2->spine-2 1 Gbit/s 5 us Packets(128)");
    assert_eq!(core.len(), 8);
}

#[test]
fn nodes_of_a_machine_share_its_card() {
    let text = "[cluster]\nworkers = 3\n[cluster.host]\nnodes = 2\nrate = \"1 Gbit/s\"\n[network]\nrate = \"10 Gbit/s\"\n[[traffic]]";
    let names: Vec<_> =
        links(text).iter().step_by(2).map(|link| link.split("it/s").next().unwrap_or_default().to_owned()).collect();
    assert_eq!(
        names,
        [
            "host-1->switch 1 Gb",
            "master->host-1 10 Gb",
            "worker-1->host-1 10 Gb",
            "host-2->switch 1 Gb",
            "worker-2->host-2 10 Gb",
            "worker-3->host-2 10 Gb",
        ]
    );
}

#[test]
fn a_dumbbell_has_its_bottleneck_in_the_core() {
    let text = "[cluster]\nworkers = 2\n[network]\ntopology = \"dumbbell\"\n[network.core]\nrate = \"10 Mbit/s\"\ndelay = \"18 ms\"\nqueue = { limit = \"33 packets\" }\n[[traffic]]\nfrom = \"worker-1\"\nto = \"worker-2\"";
    let links = links(text);
    assert_eq!(links[0], "left->right 10 Mbit/s 18 ms Packets(33)");
    assert!(
        links[4].starts_with("worker-1->left 1 Gbit/s") && links[6].starts_with("worker-2->right 1 Gbit/s"),
        "{links:?}"
    );
}

#[test]
fn a_link_may_stand_for_one_of_each_of_several_nodes() {
    let text = |links: &str| {
        format!(
            "[cluster]\nworkers = 3\n[network]\ntopology = \"graph\"\n[[network.link]]\nfrom = \"master\"\nto = \"a\"\n{links}[[traffic]]"
        )
    };
    let one = |node: u32, rate: &str| {
        format!("[[network.link]]\nfrom = \"worker-{node}\"\nto = \"a\"\nrate = \"{rate} Mbit/s\"\n")
    };
    let wires = |links: &str| {
        let topology = sim::topology(&parse(&text(links), &[]).unwrap_or_else(|error| panic!("{error}")));
        let ways = (0..2 * topology.cables().len() as u32).map(net::LinkId);
        ways.map(|way| format!("{:?} {:?}", topology.ends(way), topology.spec(way))).collect::<Vec<_>>()
    };
    let each = [one(1, "10"), one(2, "10"), one(3, "10")].concat();
    assert_eq!(wires(&one(1, "10").replace("worker-1", "workers")), wires(&each));
    let two = one(1, "10").replace("worker-1", "worker-1..worker-2") + &one(3, "20");
    assert_eq!(wires(&two), wires(&[one(1, "10"), one(2, "10"), one(3, "20")].concat()));
    for (end, problem) in [
        ("worker-1..worker-4", "there is no `worker-1..worker-4`"),
        ("worker-3..worker-1", "`worker-3..worker-1` is not a range of nodes"),
    ] {
        let error = parse(&text(&one(1, "10").replace("worker-1", end)), &[]).unwrap_err();
        assert!(error.contains(problem), "{error}");
    }
    let both = one(1, "10").replace("worker-1", "workers").replace("\"a\"", "\"worker-1..worker-2\"");
    let error = parse(&text(&both), &[]).unwrap_err();
    assert!(error.contains("says not which with which"), "{error}");
}
