//! Applications of Spark on YARN: when executors come and are replaced, by hand from the heartbeats that they wait for.
//!
//! An executor asks for 1,024 + 384 MiB, and is granted 2 GiB; the ApplicationMaster for 512 + 384 MiB, granted 1 GiB.
//! A process is up 1.2 s after its NodeManager hears of it: 0.2 s (`launch-latency`) and 1 s of a core (`jvm-start`).

use crate::spark::{recorded, run, spark, took};
use crate::spark_loss::near;
use results::{JobState, RunResult, SparkApplication, SparkExecutor};
use units::Time;

const ON_YARN: [&str; 2] = ["mapreduce.jvm-start=1 s", "node.cores=16"];

fn on_yarn(stages: &str, sets: &[&str]) -> RunResult {
    run(stages, &[&ON_YARN[..], sets].concat())
}

fn seconds(times: impl Iterator<Item = Option<Time>>) -> Vec<f64> {
    times.map(|time| time.expect("a time").as_secs_f64()).collect()
}

fn registered(app: &SparkApplication) -> Vec<f64> {
    seconds(app.executors.iter().map(|executor| executor.registered))
}

fn granted(app: &SparkApplication) -> Vec<f64> {
    seconds(app.executors.iter().map(|executor| executor.granted))
}

const SIX_TASKS: &str = "[[spark.stage]]\nname = \"a\"\ntasks = 6\nwork = \"1 s\"\n";

/// One worker, whose NodeManager speaks once a second and is given a container each time. At h the ApplicationMaster
/// gets its own; it registers at A = h + 1.2 s and asks at once. Its executors are granted at h + 2, h + 3, ... = A +
/// 0.8, A + 1.8, ... It hears of them when it speaks: at A twice, then after 0.2, 0.4, 0.8, 1.6 and 3 s: at A + 1.4 of
/// one, at A + 3.0 of two more, at A + 6.0 of the last three. Each is up 1.2 s later. Five of six are four fifths: the
/// program goes on when the driver next looks, every 0.1 s from a whole second on.
#[test]
fn executors_start_when_heartbeats_meet() {
    for seed in 1..=5 {
        let seed = format!("run.seed={seed}");
        let one = ["cluster.workers=1", "mapreduce.node-memory=32 GiB", "mapreduce.node-vcores=32"];
        let result = on_yarn(SIX_TASKS, &[&one[..], &["spark.yarn.instances=6", &seed]].concat());
        let app = spark(&result);
        let asked = granted(app)[0] - 0.8;
        for (number, granted) in granted(app).into_iter().enumerate() {
            near(granted, asked + 0.8 + number as f64, 0.02);
        }
        for (registered, heard) in registered(app).into_iter().zip([1.4, 3.0, 3.0, 6.0, 6.0, 6.0]) {
            near(registered, asked + heard + 1.2, 0.02);
        }
        let ready = app.ready.expect("it was ready").as_secs_f64();
        let fifth = registered(app)[4];
        assert!(ready > fifth && ready < fifth + 0.11, "{ready}, {fifth}");
        assert!((ready * 10.0 - (ready * 10.0).round()).abs() < 0.01, "{ready}");
        near(app.jobs[0].submit.expect("a job").as_secs_f64(), ready, 1e-9);
    }
}

/// Nobody gets two containers for one heartbeat of a node, and no node holds more than fits: 8 GiB are four executors,
/// three beside the ApplicationMaster. Of twenty that are asked for fifteen come, fewer than four fifths: the program
/// goes on after 30 s.
#[test]
fn the_program_goes_on_without_those_for_which_there_is_no_room() {
    for seed in 1..=3 {
        let result = on_yarn(SIX_TASKS, &["spark.yarn.instances=20", &format!("run.seed={seed}")]);
        let app = spark(&result);
        assert_eq!(app.executors.len(), 15);
        near(app.ready.expect("it was ready").as_secs_f64(), 30.0, 0.11);
        for node in 1..=4 {
            let here: Vec<&SparkExecutor> = app.executors.iter().filter(|executor| executor.node.0 == node).collect();
            assert!(here.len() == 3 || here.len() == 4, "{here:?}");
            let mut granted = seconds(here.iter().map(|executor| executor.granted));
            granted.sort_by(f64::total_cmp);
            assert!(granted.windows(2).all(|two| two[1] - two[0] > 0.99), "{granted:?}");
        }
    }
}

/// A thread of the ResourceManager hands out a container a node every 5 ms, whether the nodes speak or not; the
/// ApplicationMaster hears of all four with its second heartbeat, which follows the first at once, or 0.2 s later.
#[test]
fn a_scheduling_thread_does_not_wait_for_nodes() {
    let sets = ["mapreduce.asynchronous=true", "spark.yarn.instances=4"];
    let result = on_yarn(SIX_TASKS, &sets);
    let (granted, registered) = (granted(spark(&result)), registered(spark(&result)));
    let last = granted.iter().copied().fold(0.0, f64::max);
    assert!(granted.iter().all(|granted| last - granted < 0.02), "{granted:?}");
    assert!(registered.iter().all(|at| *at > last + 1.19 && *at < last + 0.2 + 1.2 + 0.02), "{registered:?}");
}

/// Workers with 2 GiB for containers have room for one executor, or for the ApplicationMaster. There are five, and
/// three executors with a task of 200 s each.
const LONG: &str = "[[spark.stage]]\nname = \"a\"\ntasks = 3\nwork = \"200 s\"\n";
const SMALL: [&str; 3] = ["cluster.workers=5", "mapreduce.node-memory=2 GiB", "spark.yarn.instances=3"];

fn small(sets: &[&str], faults: &str) -> RunResult {
    on_yarn(&format!("{LONG}{faults}"), &[&SMALL[..], sets].concat())
}

/// The node of an executor, and that of the ApplicationMaster: the run is the same until the fault. It runs where the
/// next executor does not, if there is one on each other node.
fn nodes(sets: &[&str]) -> (u32, u32) {
    let three = small(sets, "");
    let four = small(&[sets, &["spark.yarn.instances=4"]].concat(), "");
    let has = |node: &u32| spark(&four).executors.iter().any(|executor| executor.node.0 == *node);
    (spark(&three).executors[0].node.0, (1..=5).find(|node| !has(node)).expect("a node"))
}

fn fault(node: u32, more: &str) -> String {
    format!("[[faults]]\nat = \"20 s\"\nnode = \"worker-{node}\"\n{more}")
}

/// When the driver knew of the one executor that was lost, and when that in its place was registered.
fn replaced(app: &SparkApplication) -> (f64, f64) {
    assert_eq!((app.lost, app.executors.len()), (1, 4));
    let again = app.tasks.iter().filter(|task| task.ended.name() == "ExecutorLostFailure").count();
    assert_eq!((again, app.tasks.len()), (1, 4));
    let lost = app.executors.iter().find_map(|executor| executor.lost).expect("a loss").as_secs_f64();
    let last = *registered(app).last().expect("executors");
    // The task that was lost begins anew with it.
    near(app.finish.expect("an end").as_secs_f64(), last + 200.0, 0.05);
    (lost, last)
}

/// A node dies in silence at 20 s. The driver last heard of its executor between its registration and then, and looks
/// every 60 s for those that were silent for more than 120 s: at 180 s. It has the ApplicationMaster replace it, which
/// speaks to the ResourceManager every 3 s while nothing is missing; a node speaks within a second, and the
/// ApplicationMaster again 0.2, 0.6 or 1.4 s after it asked.
#[test]
fn a_silent_executor_is_replaced() {
    for seed in 1..=3 {
        let seed = format!("run.seed={seed}");
        let (node, _) = nodes(&[&seed]);
        let (lost, registered) = replaced(spark(&small(&[&seed], &fault(node, ""))));
        near(lost, 180.0, 0.01);
        assert!(registered > 180.0 + 0.2 + 1.2 && registered < 180.0 + 3.0 + 1.4 + 1.2 + 0.1, "{registered}");
    }
}

/// The ResourceManager gives nodes up after 30 s, for which it looks every 10 s: at 50 s, as the last heartbeat was in
/// the second before 20 s. The ApplicationMaster hears it when it next speaks, within 3 s, and tells the driver; it
/// asks for another executor 3 s later, as nothing was missing when it heard (`updateResourceRequests` comes first).
#[test]
fn a_lost_node_is_known_from_the_resource_manager() {
    let sets = ["mapreduce.node-expiry=30 s"];
    let (lost, registered) = replaced(spark(&small(&sets, &fault(nodes(&sets).0, ""))));
    assert!(lost > 50.0 && lost < 53.1, "{lost}");
    assert!(registered > lost + 3.2 + 1.2 && registered < lost + 3.0 + 1.4 + 1.2 + 0.1, "{lost}, {registered}");
}

/// A node that is back after 5 s registers anew: what ran there is gone, as the ApplicationMaster hears within 3 s.
#[test]
fn a_node_that_is_back_has_lost_its_containers() {
    let (lost, registered) = replaced(spark(&small(&[], &fault(nodes(&[]).0, "down-for = \"5 s\"\n"))));
    assert!(lost > 25.0 && lost < 28.2, "{lost}");
    assert!(registered < lost + 3.0 + 1.4 + 1.2 + 0.1, "{registered}");
}

/// The ApplicationMaster's node dies; the ResourceManager knows at 50 s, and has its executors stopped at their nodes'
/// next heartbeats. Another one is up within a second and 1.2 s; the driver then gives the executors up and is given
/// three new ones, on which all begins anew. With one attempt the application fails.
#[test]
fn an_application_master_that_is_lost_starts_again() {
    let sets = ["mapreduce.node-expiry=30 s"];
    let (_, node) = nodes(&sets);
    let result = small(&sets, &fault(node, ""));
    let app = spark(&result);
    assert_eq!((app.lost, app.executors.len(), app.tasks.len()), (3, 6, 6));
    for executor in &app.executors[..3] {
        let lost = executor.lost.expect("a loss").as_secs_f64();
        assert!(lost > 50.0 + 1.2 && lost < 50.0 + 1.0 + 1.2 + 0.1, "{lost}");
    }
    let last = registered(app)[5];
    assert!(last < 53.0 + 3.0 + 1.2 + 1.0, "{last}");
    near(app.finish.expect("an end").as_secs_f64(), last + 200.0, 0.05);
    let once = small(&[sets[0], "spark.yarn.max-attempts=1"], &fault(node, "")).spark.expect("an application");
    assert_eq!(once.state, JobState::Failed);
    assert_eq!(once.reason, "its ApplicationMaster was lost; attempts: 1");
}

/// Blocks, shuffles and books are those of a standalone application; a run with packets and one by flows agree.
#[test]
fn a_shuffle_on_yarn_moves_the_same_bytes() {
    let stages = format!("{}input = \"40 MB\"\ninput-from = \"hdfs\"\n", crate::spark::SHUFFLE);
    let sets = ["spark.yarn.instances=4", "network.rate=100 Mbit/s"];
    let packets = on_yarn(&stages, &sets);
    let (flows, standalone) =
        (on_yarn(&stages, &[&sets[..], &["run.fidelity=flow"]].concat()), run(&stages, &[sets[1]]));
    let bytes = |result: &RunResult| spark(result).shuffle_local() + spark(result).shuffle_remote();
    assert_eq!(bytes(&packets), bytes(&standalone));
    assert_eq!(bytes(&flows), bytes(&standalone));
    // Tasks that do not run beside their input run in its rack, of which there is one.
    assert!(spark(&packets).tasks.iter().all(|task| task.locality != ::spark::Locality::Any));
    assert_eq!(packets.violations().count(), 0);
}

/// A recorded word count, whose log says `yarn` in place of its standalone cluster: as many executors are on each host
/// as were, and what was recorded comes out again.
#[test]
fn a_log_of_yarn_is_predicted_on_yarn() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../history/tests/spark");
    let bytes = std::fs::read(folder.join("wordcount-10mbit.zstd")).expect("a log");
    let cluster = std::fs::read_to_string(folder.join("cluster-10mbit.toml")).expect("its cluster");
    let mut reader = history::spark::LogReader::default();
    reader.feed(history::spark::open(&bytes[..]).expect("known")).expect("events");
    let mut application = reader.finish().expect("an application");
    application.properties.insert("spark.master".to_owned(), "yarn".to_owned());
    let imported = history::spark::import(&application, Some(("cluster", &cluster))).expect("imported");
    let scenario = sim::parse("log", &imported.scenario.to_short_toml(), &[]).expect("it can run");
    let result = sim::run(&scenario, &mut |_| std::ops::ControlFlow::Continue(())).expect("a result");
    let app = spark(&result);
    let mut hosts: Vec<u32> = app.executors.iter().map(|executor| executor.node.0).collect();
    hosts.sort_unstable();
    assert_eq!(hosts, [1, 2, 3, 4]);
    let took = app.took().expect("an end").as_secs_f64();
    assert!((took / imported.recorded.took - 1.0).abs() < 0.1, "{took}, recorded {}", imported.recorded.took);
}

/// An application that ran on a real YARN: its executors were there 6.6 to 9.4 s after the ApplicationMaster, two cores
/// for four of them. As a whole, and until its last executor is there, it is met within 10 %.
#[test]
fn an_application_of_a_real_yarn_is_reproduced() {
    let (imported, result) = recorded("wordcount-yarn-50mbit.zstd", "cluster-yarn-50mbit.toml");
    let last = imported.recorded.executors.expect("executors");
    near(last, 9.424, 1e-9);
    let app = spark(&result);
    let came =
        registered(app).into_iter().fold(0.0, f64::max) - app.master.expect("an ApplicationMaster").as_secs_f64();
    near(came, last, 0.1 * last);
    near(took(&result), imported.recorded.took, 0.1 * imported.recorded.took);
    let nodes: std::collections::BTreeSet<u32> = app.executors.iter().map(|executor| executor.node.0).collect();
    assert_eq!(nodes.len(), 4, "one on each node, as there is room for no more");
}

/// In cluster mode the driver is in the ApplicationMaster's container. With 2 s more of that one's work executors come
/// 2 s later; the program looks every 0.1 s from its own start on, and not from a whole second of the client's. What an
/// executor gets of the driver comes from that node, and nothing of it on its own node crosses the network.
#[test]
fn in_cluster_mode_the_driver_is_on_a_worker() {
    let two = ["cluster.workers=2", "mapreduce.node-memory=32 GiB", "mapreduce.node-vcores=32"];
    let stage = format!("{SIX_TASKS}broadcast = \"40 MB\"\n");
    let run = |sets: &[&str]| on_yarn(&stage, &[&two[..], &["spark.yarn.instances=6"], sets].concat());
    let (client, cluster) = (run(&[]), run(&["spark.yarn.deploy-mode=cluster", "spark.yarn.am-start=2 s"]));
    let received = |result: &RunResult| -> Vec<f64> {
        result.nodes.iter().map(|node| node.interface_received.get() as f64 / 1e6).collect()
    };
    for (result, mode) in [(&client, "client"), (&cluster, "cluster")] {
        let app = spark(result);
        let (ready, last) = (app.ready.expect("ready").as_secs_f64(), registered(app)[4]);
        assert!(ready >= last && ready < last + 0.11, "{mode}: {ready}, {last}");
        let master = app.master.expect("a master").as_secs_f64();
        if mode == "cluster" {
            let looks = (ready - master) * 10.0;
            assert!((looks - looks.round()).abs() < 0.05, "{looks}");
        }
    }
    let master = |result: &RunResult| spark(result).master.expect("a master").as_secs_f64();
    near(master(&cluster), master(&client) + 2.0, 0.02);
    // The client's master gives the variable away; the driver on a worker gives it to the other worker.
    assert!(received(&client)[1] > 39.0 && received(&client)[2] > 39.0, "{:?}", received(&client));
    let of_workers = received(&cluster)[1..].to_vec();
    assert!(of_workers.iter().any(|bytes| *bytes < 10.0), "{of_workers:?}");
    assert!(of_workers.iter().any(|bytes| *bytes > 39.0), "{of_workers:?}");
}

/// The node of a driver on a worker ends the application where no other node is left.
#[test]
fn in_cluster_mode_the_application_ends_with_its_driver() {
    let stage = "[[spark.stage]]\nname = \"a\"\ntasks = 4\nwork = \"60 s\"\n";
    let result = on_yarn(stage, &["spark.yarn.deploy-mode=cluster", "cluster.workers=1"]);
    near(took(&result), 120.0, 0.5);
    let result = run(
        &format!("{stage}[[faults]]\nat = \"20 s\"\nnode = \"worker-1\"\n"),
        &[&ON_YARN[..], &["spark.yarn.deploy-mode=cluster", "cluster.workers=1", "spark.yarn.instances=2"]].concat(),
    );
    let app = result.spark.as_ref().expect("an application");
    assert_eq!((app.state, app.reason.contains("driver's node")), (JobState::Failed, true), "{}", app.reason);
}

/// A driver in a container goes down with its node at 20 s. The ResourceManager finds the node silent after a minute
/// without its heartbeats, stops the other executor, and starts another ApplicationMaster on the other node, in which the
/// program begins anew: after as long as at first it has its executors there, and four tasks of 60 s take 120 s on two
/// of them. A single attempt fails. Where the driver is on the other node, an executor alone is lost.
#[test]
fn in_cluster_mode_the_program_begins_anew_elsewhere() {
    let stage = "[[spark.stage]]\nname = \"a\"\ntasks = 4\nwork = \"60 s\"\nshuffle-write = \"4 MB\"\n\
        [[spark.stage]]\nname = \"b\"\nparents = [\"a\"]\ntasks = 2\n";
    let sets = ["spark.yarn.deploy-mode=cluster", "cluster.workers=2", "mapreduce.node-expiry=60 s"];
    let sets = [&ON_YARN[..], &sets[..], &["mapreduce.node-memory=32 GiB", "mapreduce.node-vcores=32"]].concat();
    let run_with = |node: u32, more: &[&str]| {
        let fault = format!("[[faults]]\nat = \"20 s\"\nnode = \"worker-{node}\"\n");
        run(&format!("{stage}{fault}"), &[&sets[..], more].concat())
    };
    let both = [1, 2].map(|node| run_with(node, &[]));
    let submit = spark(&both[0]).jobs[0].submit.expect("a job").as_secs_f64();
    let anew: Vec<usize> = (0..2).filter(|of| spark(&both[*of]).ready.expect("ready").as_secs_f64() > 60.0).collect();
    let [anew] = anew[..] else { panic!("the driver is on one of the nodes: {anew:?}") };
    let app = spark(&both[anew]);
    let ready = app.ready.expect("ready").as_secs_f64();
    assert!(ready > 79.0 + submit - 2.0 && ready < 82.0 + submit + 3.0, "{ready}, {submit}");
    near(took(&both[anew]), ready - submit + 120.0, 0.5);
    assert_eq!((app.executors.len(), app.tasks.iter().filter(|task| task.stage == 0).count()), (4, 2 + 4));
    assert!(app.executors[2..].iter().all(|executor| executor.node.0 as usize == 2 - anew));
    let once = run_with(anew as u32 + 1, &["spark.yarn.max-attempts=1"]);
    let app = once.spark.as_ref().expect("an application");
    assert_eq!(
        (app.state, app.reason.contains("ApplicationMaster was lost")),
        (JobState::Failed, true),
        "{}",
        app.reason
    );
}

/// 12.5 MB at 100 Mbit/s take a second, and 4 % more with headers. Three workers have to copy them before their first
/// container of the application, each from another's replica: the ApplicationMaster's, and then the executors', of which a
/// second one on a node waits for nothing. HDFS has a replica on each of two nodes, which copy from their own disks.
#[test]
fn containers_wait_for_the_applications_files() {
    let sets = ["cluster.workers=4", "network.rate=100 Mbit/s", "spark.yarn.instances=4", "hdfs.replication=1"];
    let copied = on_yarn(SIX_TASKS, &[&sets[..], &["spark.yarn.archive=12.5 MB"]].concat());
    let plain = on_yarn(SIX_TASKS, &sets);
    let master = |result: &RunResult| spark(result).master.expect("a master").as_secs_f64();
    let started = |result: &RunResult| -> Vec<f64> {
        let app = spark(result);
        app.executors
            .iter()
            .map(|of| of.registered.unwrap_or_default().saturating_sub(of.granted.unwrap_or_default()).as_secs_f64())
            .collect()
    };
    let later = master(&copied) - master(&plain);
    assert!((0.0..1.3).contains(&later), "{later}");
    let received: f64 = copied.nodes[1..].iter().map(|node| node.interface_received.get() as f64).sum();
    let before: f64 = plain.nodes[1..].iter().map(|node| node.interface_received.get() as f64).sum();
    let nodes: std::collections::BTreeSet<u32> = spark(&copied).executors.iter().map(|of| of.node.0).collect();
    // One of those that copy may be the one that has it.
    let copies = (received - before) / 12.5e6 / 1.05;
    assert!(copies > nodes.len() as f64 - 1.2 && copies < nodes.len() as f64 + 1.2, "{copies}, {nodes:?}");
    assert!(
        started(&copied).iter().copied().fold(0.0, f64::max)
            > started(&plain).iter().copied().fold(0.0, f64::max) + 0.9
    );
    assert_eq!(copied.violations().count(), 0);
}
