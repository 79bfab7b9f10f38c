//! What can run against expectation is said with its place.

use crate::support::{EXAMPLE, warnings};

/// A key that only the other generation of Hadoop has is warned of, at its place, and those of the cluster's own are not.
#[test]
fn a_generation_s_keys_have_no_effect_in_the_other() {
    let of_yarn = [
        "node-memory = \"4 GiB\"",
        "node-vcores = 3",
        "map-memory = \"2 GiB\"",
        "reduce-memory = \"2 GiB\"",
        "minimum-allocation = \"512 MiB\"",
        "first-start-delays = [\"1 s\"]",
        "start-delays = [\"1 s\"]",
        "asynchronous = true",
        "containers-per-heartbeat = 3",
        "off-switch-per-heartbeat = 3",
        "locality-delay = 3",
        "am-memory = \"2 GiB\"",
        "am-heap = \"1 GiB\"",
        "am-heartbeat = \"3 s\"",
        "am-start = \"3 s\"",
    ];
    let of_hadoop1 = ["map-slots = 4", "reduce-slots = 4", "locality-wait = \"1 s\"", "jvm-tasks = 5"];
    let said = |generation: &str, key: &str| {
        let scheduler = if key.starts_with("locality-wait") { "fair" } else { "fifo" };
        let text =
            format!("[cluster]\ngeneration = \"{generation}\"\n[mapreduce]\nscheduler = \"{scheduler}\"\n{key}\n");
        warnings(&(text + "[job]"), &[])
    };
    for (keys, own, other) in [(&of_yarn[..], "yarn", "hadoop1"), (&of_hadoop1[..], "hadoop1", "yarn")] {
        for key in keys {
            let (here, there) = (said(own, key), said(other, key));
            assert!(here.is_empty(), "{key}: {here}");
            let place = format!("5:{}: ", key.find("= ").expect("a value") + 3);
            assert!(there.contains(&place) && there.matches("no effect").count() == 1, "{key}: {there}");
        }
    }
}

/// Each wrong text, where that is said to be, and what the message must hold.
#[test]
fn what_goes_against_expectation_is_said_with_its_place() {
    let cases = [
        ("[tcp]\ninitial-rto = \"100 ms\"\n[job]", "2:15", "`initial-rto`, 100 ms, is below `min-rto`, 200 ms"),
        ("[tcp]\nmin-rto = \"2 s\"\n[job]", "2:11", "`initial-rto`, 1 s, is below `min-rto`, 2 s"),
        ("[tcp]\nmin-rto = \"10 ms\"\n[job]", "2:11", "below the 40 ms for which receivers delay an acknowledgement"),
        ("[[tcp.node]]\nmin-rto = \"10 ms\"\n[job]", "2:11", "below the 40 ms"),
        ("[tcp]\nsack = true\ncontrol = \"newreno\"\n[job]", "2:8", "control newreno turns SACK off"),
        ("[tcp]\nsack = false\ncontrol = \"sack-reno\"\n[job]", "2:8", "control sack-reno turns SACK on"),
        ("[tcp]\ncontrol = \"newreno\"\nrecovery = \"rack\"\n[job]", "3:12", "no effect without SACK"),
        ("[tcp]\nsack = false\nrecovery = \"rack\"\n[job]", "3:12", "no effect without SACK"),
        ("[job]\nmap-compression-ratio = 0.3", "2:25", "no effect without a codec in `map-compression`"),
        ("[job]\nworkload = \"teragen\"\ninput-format = \"text\"", "3:16", "no effect: the job makes its input"),
        (
            "[job]\nworkload = \"dfsio-read\"\ninput-format = \"text\"",
            "3:16",
            "no effect: its maps read files as a whole",
        ),
        ("[job]\nfiles = 10\npacking = { kind = \"combine\", changed = 0.5 }", "3:41", "`combine` has none"),
        ("[job]\nfiles = 10\npacking = { kind = \"archive\", split = \"1 MiB\" }", "3:39", "`archive` has none"),
        (
            "[job]\ninput-format = \"binary\"\nfiles = 10\npacking = { kind = \"combine\" }",
            "2:16",
            "no effect: packed files are read to their ends",
        ),
        (
            "[mapreduce]\nasynchronous = true\ncontainers-per-heartbeat = 100\n[job]",
            "3:28",
            "no effect: a thread hands containers out",
        ),
        (
            "[mapreduce]\nscheduler = \"fair\"\nlocality-delay = 3\n[job]",
            "3:18",
            "the fair scheduler waits for no node",
        ),
        (
            "[mapreduce]\nscheduler = \"fair\"\noff-switch-per-heartbeat = 3\n[job]",
            "3:28",
            "the fair scheduler counts all containers alike",
        ),
        ("[mapreduce]\nhalf-per-heartbeat = true\n[job]", "2:22", "only the fair scheduler looks at half of a node"),
        (
            "[mapreduce]\nscheduler = \"fair\"\ncontainers-per-heartbeat = 3\nhalf-per-heartbeat = true\n[job]",
            "3:28",
            "no effect beside `half-per-heartbeat`",
        ),
        (
            "[cluster]\ngeneration = \"hadoop1\"\n[mapreduce]\ncontainers-per-heartbeat = 3\n[job]",
            "4:28",
            "in Hadoop 1 a heartbeat is given tasks for slots",
        ),
        (
            "[cluster]\ngeneration = \"hadoop1\"\n[mapreduce]\nlocality-wait = \"1 s\"\n[job]",
            "4:17",
            "only the fair scheduler waits for local slots",
        ),
        ("[job]\noutput-compression = \"gzip\"", "2:22", "workload terasort writes its output uncompressed"),
        ("[job]\nuber = true", "2:8", "an input of 1 GB is more than 128 MiB: tasks get containers"),
        ("[job]\nuber = true\ninput = \"1 MB\"\nreducers = 2", "2:8", "2 reducers are more than 1"),
        (
            "[mapreduce]\nuber = { enable = true }\nreduce-memory = \"2 GiB\"\n[job]\ninput = \"1 MB\"",
            "2:19",
            "an AppMaster of 1536 MiB is too small for tasks of 2 GiB",
        ),
        ("[cluster]\ngeneration = \"hadoop1\"\n[job]\nuber = true", "4:8", "Hadoop 1 has no AppMaster"),
        ("[job]\nreducers = 0\nmap-compression = \"lz4\"", "3:19", "a job without reducers has no map outputs"),
        (
            "[[faults]]\nat = \"2 min\"\nnode = \"worker-1\"\n[run]\nuntil = \"1 min\"\n[job]",
            "2:6",
            "the run ends at 1 min, before this fault, 2 min",
        ),
        (
            "[run]\nfidelity = \"flow\"\n[network]\nqueue = { limit = \"64 KB\" }\n[job]",
            "4:9",
            "flows have no queues, and of TCP only windows, rates and timeouts",
        ),
        ("[run]\nfidelity = \"flow\"\n[tcp]\nnagle = false\n[job]", "4:9", "only where bursts overflow queues"),
        ("[run]\nmost-fetches = 1_000\n[job]", "2:16", "with packets each map output is fetched for itself"),
        ("[run]\ngrain = 4\n[job]", "2:9", "with packets data moves in pieces as Hadoop's are"),
        ("[tcp]\nstart-at-ssthresh = true\n[job]", "2:21", "no effect without `abc-limit`"),
        ("[network]\ntopology = \"wifi\"\nrate = \"20 Mbit/s\"\n[job]", "3:8", "no effect with topology wifi"),
        ("[network]\ntopology = \"wifi\"\nqueue = { limit = \"9 packets\" }\n[job]", "3:9", "`network.wifi.queue`"),
        ("[network]\nracks = 3\n[job]", "2:9", "no effect with topology star"),
        ("[network]\ntopology = \"tree\"\nspines = 3\n[job]", "3:10", "`topology = \"leaf-spine\"`"),
        ("[network]\ncore = { loss = 0.1 }\n[job]", "2:8", "only topologies with links between switches"),
        ("[hdfs]\nrepair = \"1 h\"\n[job]", "2:10", "no disk has a `failure-rate`"),
        (
            "[node]\npreset = \"xeon-2009\"\n[[cluster.group]]\ncount = 3\nnode = { speed = 0.1 }\n[job]",
            "5:8",
            "what it leaves out is as `epyc-vm` has it, not as `[node]`",
        ),
        ("[node]\ncores = 8\n[cluster.master]\ncores = 4\n[job]", "3:1", "what else of `[node]` is meant"),
        (
            "[node]\ndisk = { failure-rate = 0.01 }\n[power]\nfailing-rate = 0.1\n[job]",
            "4:16",
            "no disk has such a `failure-rate`",
        ),
        ("[power]\ntimeout = \"1 min\"\n[job]", "2:11", "no disk rests, as `policy` is left out"),
        ("[power]\npolicy = \"gears\"\ntimeout = \"1 min\"\n[job]", "3:11", "policy `gears` takes no idle time"),
        ("[power]\npolicy = \"timeout\"\nmargin = \"1 s\"\n[job]", "3:10", "policy `timeout` predicts nothing"),
        (
            "[power]\npolicy = \"timeout\"\nbackups = \"idle-c\"\nspin-ups = 9\n[[node.disk]]\nrole = \"backup\"\n[job]",
            "4:12",
            "no disk may stop its motor",
        ),
        ("[power]\npolicy = \"timeout\"\nguard = {}\n[job]", "3:9", "no disk holds further replicas alone"),
        ("[power]\nbackup-drive = \"diamondmax-21\"\n[job]", "2:16", "no disk holds further replicas alone"),
        (
            "[power]\npolicy = \"timeout\"\n[hdfs]\nreplication = 1\n[[node.disk]]\nrole = \"backup\"\n[job]",
            "4:15",
            "they hold nothing",
        ),
        ("[power]\nprofile = { idle-c-time = \"3 s\" }\n[job]", "2:27", "the profile has no `idle-c`"),
        ("[power]\nstart = \"worst\"\nprofile = {}\n[job]", "2:9", "the profile says what a start costs"),
        ("[[storage.background]]\nbytes = \"0 B\"\n[job]", "2:9", "reads nothing asks no disk"),
        (
            "[[node.disk]]\narray = { level = \"raid-1\", members = 2, unit = \"1 MiB\" }\n[job]",
            "2:49",
            "no effect: each disk of a RAID 1 has the whole",
        ),
        (
            "[[node.disk]]\narray = { level = \"raid-5\", replace = \"1 h\" }\n[job]",
            "2:39",
            "the array's disks have no `failure-rate`",
        ),
        (
            "[node]\ndisk = { failure-rate = 0.01 }\n[[cluster.group]]\ncount = 4\n\
             node.preset = \"epyc-vm\"\nnode.disk = { array = { level = \"raid-5\", replace = \"1 h\" } }\n[job]",
            "6:53",
            "the array's disks have no `failure-rate`",
        ),
        (
            "[node]\ndisk = { failure-rate = 1, array = { members = 4, replace = \"200 h\" } }\n[job]",
            "2:61",
            // Of a RAID 5: 1 + (2 n - 1) r MTTR.
            "under repair for 2.3 % of its life: losses are said 16 % too often",
        ),
        (
            "[node]\ndisk = { failure-rate = 0.5 }\n[hdfs]\nrepair = \"1000 h\"\n[job]",
            "4:10",
            // Of three replicas that are copied again at once: 1 + 3.5 x + 5.5 x^2, x = r MTTR.
            "under repair for 5.7 % of its life: losses are said 22 % too often",
        ),
        ("[cost]\nenergy = 0.3\n[job]", "2:10", "what nodes draw is not known, so energy costs nothing"),
        ("[cost]\nstore-writes = 0.005\n[job]", "2:16", "there is no object store"),
        ("[cost]\nincrement = \"1 h\"\n[job]", "2:13", "nodes have no price"),
        (
            "[node]\nprice = 0.2\n[[cluster.group]]\ncount = 4\nnode = \"xeon-2009\"\n[job]",
            "2:9",
            "worker-1 and 3 others have no price, and count as free",
        ),
    ];
    for (text, place, says) in cases {
        let warning = warnings(text, &[]);
        assert!(warning.starts_with(&format!("cluster.toml:{place}: ")) && warning.contains(says), "{text}\n{warning}");
        assert_eq!(warning.lines().count(), 1, "{warning}");
    }
    for text in [
        EXAMPLE,
        "[tcp]\nmin-rto = \"10 ms\"\ndelayed-ack = false\n[job]",
        "[tcp]\nsack = false\ncontrol = \"newreno\"\n[job]",
        "[tcp]\nsack = false\n[job]",
        "[tcp]\nsack = false\nrecovery = \"fall-floyd\"\n[job]",
        "[node]\ndisk = { failure-rate = 1, array = { members = 4, replace = \"100 h\" } }\n[job]",
        "[node]\ndisk = { failure-rate = 0.5 }\n[hdfs]\nrepair = \"400 h\"\n[job]",
        "[node]\ndisk = { failure-rate = 9 }\n[hdfs]\nrepair = \"4000 h\"\nreplication = 1\n[job]",
        "[node]\nprice = 0.2\n[cost]\nincrement = \"1 min\"\n[job]",
        "[run]\nfidelity = \"flow\"\n[tcp]\nreceive-buffer = \"64 KiB\"\n[job]",
        // Lossy wires and the controls' laws under losses are what flows have, too.
        "[run]\nfidelity = \"flow\"\n[network]\nloss = 0.01\n[tcp]\ncontrol = \"bbr\"\n[job]",
    ] {
        assert_eq!(warnings(text, &[]), "", "{text}");
    }
}
