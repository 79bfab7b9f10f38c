//! Broadcast variables: who gives which piece to whom, by hand from `TorrentBroadcast`, and books that close.

use crate::spark::{run, spark};
use crate::spark_loss::near;
use results::{RunResult, SparkApplication};
use units::Time;

/// A piece by default.
const PIECE: u64 = 4 << 20;

/// When its executor had what a task of a stage needs, in the order of their launch.
fn starts(app: &SparkApplication, stage: usize) -> Vec<f64> {
    let of = app.tasks.iter().filter(|task| task.stage == stage);
    of.map(|task| task.start.map(Time::as_secs_f64).expect("a start")).collect()
}

/// Bytes from the driver, and from executors.
fn spread(app: &SparkApplication) -> (u64, u64) {
    (app.broadcast_from_driver.get(), app.broadcast_from_executors.get())
}

/// A part of the books of the only broadcast.
fn part(result: &RunResult, of: &str, part: &str) -> u64 {
    let books = result.ledger.iter().find(|balance| balance.what == format!("broadcast of b: {of}, bytes"));
    books.expect("books").accounted.iter().find(|(name, _)| name == part).expect("a part").1
}

/// What an interface of the master has sent and received.
fn master(result: &RunResult) -> (u64, u64) {
    let bytes = |of: &str| -> u64 {
        result.links.iter().filter(|link| link.name.contains(of)).map(|link| link.bytes.get()).sum()
    };
    (bytes("master ->"), bytes("-> master"))
}

/// A stage of so many tasks that gets so many MiB.
fn stage(tasks: usize, mib: u64) -> String {
    format!("[[spark.stage]]\nname = \"b\"\ntasks = {tasks}\nbroadcast = \"{mib} MiB\"\n")
}

/// A task on one executor gets ten pieces, one after the other, all of the driver: 40 MiB at 100 Mbit/s are 3.36 s, and
/// 5.2 % more with headers of 78 bytes to 1,448 and less. Each piece has four questions and answers: who has it, to open
/// it, for its data, that it is there.
#[test]
fn pieces_come_one_after_the_other() {
    let near_by = run(&stage(1, 40), &["network.rate=100 Mbit/s"]);
    let app = spark(&near_by);
    assert_eq!(spread(app), (10 * PIECE, 0));
    let bytes = (10 * PIECE) as f64;
    let near_by = starts(app, 0)[0];
    near(near_by, bytes * 8.0 / 100e6 * 1.052, 0.05);
    // On a path of 100 ms there and back a hundred pieces of 10 KiB, each of which TCP sends at once, wait four times for
    // it. Before, the driver has its connection after one and a half, the task comes in half of one, and the connection
    // for blocks takes one: 0.3 s. All bytes take 86 ms on the link.
    let far = |piece: &str| {
        let piece = format!("spark.broadcast-block-size={piece}");
        let sets = ["network.rate=100 Mbit/s", "network.delay=25 ms", "spark.stage.0.broadcast=1000 KiB", &piece];
        starts(spark(&run(&stage(1, 1), &sets)), 0)[0]
    };
    near(far("10 KiB"), 100.0 * 0.4 + 0.3 + 0.086, 0.06);
    // In one piece it waits for four, and for six more while TCP's window opens from 10 segments to 640.
    near(far("1 MiB"), 0.4 + 0.3 + 0.6 + 0.086, 0.1);
}

/// Two executors of one node, of which the second begins when the first has all: it gets nothing of the driver, as a
/// holder on its own node comes first. The link from the master carries one copy, but for headers and messages.
#[test]
fn a_holder_on_the_same_node_comes_first() {
    let busy = "[[spark.stage]]\nname = \"busy\"\ntasks = 2\nworks = [\"1 s\", \"20 s\"]\n";
    let text = format!("{busy}{}work = \"60 s\"\n", stage(2, 21));
    let result = run(&text, &["cluster.workers=1", "spark.executors=2", "node.cores=2", "network.rate=100 Mbit/s"]);
    let app = spark(&result);
    assert_eq!(spread(app), (21 << 20, 21 << 20));
    let sent = master(&result).0 as f64 / f64::from(21 << 20);
    assert!(sent > 1.05 && sent < 1.08, "{sent} copies");
    assert_eq!(part(&result, "wanted", "not got") + part(&result, "sent", "in flight"), 0);
}

/// Eight executors begin one after the other, 100 s apart. To the k-th one k have each piece, of which one is the driver:
/// it gives a k-th of the pieces, 1 + 1/2 + ... + 1/8 = 2.718 copies of 64 pieces to all, which are 173.9 pieces. Its part
/// of a piece has a variance of 2.718 - (1 + 1/4 + ... + 1/64) = 1.190, so that four deviations are 35 pieces.
#[test]
fn the_driver_gives_a_harmonic_number_of_copies() {
    let works: Vec<String> = (0..8).map(|task| format!("\"{} s\"", 100 * task + 1)).collect();
    let busy = format!("[[spark.stage]]\nname = \"busy\"\ntasks = 8\nworks = [{}]\n", works.join(", "));
    let text = format!("{busy}{}work = \"2000 s\"\n", stage(8, 64));
    let result = run(&text, &["cluster.workers=8", "spark.broadcast-block-size=1 MiB"]);
    let app = spark(&result);
    let (driver, executors) = spread(app);
    assert_eq!(driver + executors, 8 * (64 << 20));
    near((driver >> 20) as f64, 173.9, 35.0);
    // What the books have is what the link has carried.
    let sent = master(&result).0 as f64 / driver as f64;
    assert!(sent > 1.05 && sent < 1.08, "{sent}");
}

/// Eight executors begin at once. From the driver alone eight copies would take eight times 64 MiB / 100 Mbit/s, with
/// headers 45 s; one takes 5.6 s.
#[test]
fn executors_that_begin_at_once_share_the_work() {
    let sets = ["cluster.workers=8", "network.rate=100 Mbit/s", "spark.broadcast-block-size=1 MiB"];
    let result = run(&stage(8, 64), &sets);
    let app = spark(&result);
    let (driver, executors) = spread(app);
    assert_eq!(driver + executors, 8 * (64 << 20));
    let copies = driver as f64 / f64::from(64 << 20);
    assert!((1.0..3.0).contains(&copies), "{copies} copies");
    let last = starts(app, 0).into_iter().fold(0.0, f64::max);
    assert!(last > 5.6 && last < 45.0 / 2.0, "{last}");
    let again = run(&stage(8, 64), &sets);
    assert_eq!(results::to_json(&result), results::to_json(&again));
    let other = run(&stage(8, 64), &[&sets[..], &["run.seed=2"]].concat());
    assert_ne!(spread(spark(&other)), (driver, executors), "the order is drawn");
}

/// An executor has the only piece beside the driver, and its node dies. Another begins 3 s later, and asks it first or
/// the driver. Nobody answers for 120 s; by then the driver has lost it, and is asked next.
#[test]
fn a_holder_that_is_dead_is_passed_over() {
    let busy = "[[spark.stage]]\nname = \"busy\"\ntasks = 2\nworks = [\"1 s\", \"8 s\"]\n";
    let text = format!("{busy}{}work = \"60 s\"\n", stage(2, 1));
    // Whichever worker has the short task has the piece first, and is the one that dies.
    let waits = |seed: u32| {
        let seed = format!("run.seed={seed}");
        let sets = ["cluster.workers=2", &seed];
        let first = run(&text, &sets);
        let node = spark(&first).tasks.iter().find(|task| task.stage == 1).expect("a task").node.0;
        let fault = format!("[[faults]]\nat = \"5 s\"\nnode = \"worker-{node}\"\n");
        let result = run(&format!("{text}{fault}"), &sets);
        let app = spark(&result);
        assert_eq!(part(&result, "sent", "got"), part(&result, "wanted", "from the driver") + spread(app).1);
        (spread(app), starts(app, 1)[1])
    };
    let of: Vec<_> = (1..=12).map(waits).collect();
    let (mut passed, mut at_once) = (0, 0);
    for ((driver, executors), start) in of {
        assert_eq!((driver, executors), (2 << 20, 0));
        if start > 20.0 {
            near(start, 8.0 + 120.0, 0.1);
            passed += 1;
        } else {
            near(start, 8.0, 0.1);
            at_once += 1;
        }
    }
    assert!(passed > 0 && at_once > 0, "{passed} {at_once}");
}

/// A holder's node dies in the midst of giving a piece: what has come of it is lost, and nothing comes for 120 s. 5 s later
/// the executor connects anew, which nobody answers for 120 s; the driver has lost the holder, too, and is asked.
#[test]
fn a_piece_on_its_way_is_lost_with_its_holder() {
    let busy = "[[spark.stage]]\nname = \"busy\"\ntasks = 2\nworks = [\"1 s\", \"8 s\"]\n";
    let text = format!("{busy}{}work = \"60 s\"\n", stage(2, 40));
    let sets =
        ["cluster.workers=2", "spark.broadcast-block-size=40 MiB", "network.rate=100 Mbit/s", "hdfs.replication=1"];
    let mut lost = 0;
    for seed in 1..=8 {
        let seed = format!("run.seed={seed}");
        let sets = [&sets[..], &[seed.as_str()]].concat();
        let first = run(&text, &sets);
        let node = spark(&first).tasks.iter().find(|task| task.stage == 1).expect("a task").node.0;
        if spread(spark(&first)).1 == 0 {
            continue;
        }
        let result = run(&format!("{text}[[faults]]\nat = \"10 s\"\nnode = \"worker-{node}\"\n"), &sets);
        let app = spark(&result);
        assert_eq!(part(&result, "sent", "lost with a connection or an executor"), 40 << 20);
        assert_eq!(spread(app), (2 * (40 << 20), 0));
        // All of it from the driver, which takes 3.5 s.
        let second = app.tasks.iter().filter(|task| task.stage == 1).nth(1).expect("a task");
        near(second.start.expect("a start").as_secs_f64(), 10.0 + 120.0 + 5.0 + 120.0 + 3.53, 0.2);
        lost += 1;
    }
    assert!(lost > 0);
}
