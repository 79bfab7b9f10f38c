//! Disks that rest in simulated runs: what they draw, what wakes them, who waits, against sums by hand.

use results::{Disk, DiskPower, DisksEnergy, JobState, RunResult, to_json};
use std::ops::ControlFlow;
use units::{Bytes, Time};

/// Three nodes, each with a primary and a backup disk, and a job that computes and reads. Its records end with blocks:
/// ends of lines would be read from a backup that is awake, and keep it so.
const JOB: &str = r#"
hdfs = { block = "16 MiB", replication = 2, placement = { kind = "even" } }
mapreduce = { reducers = 1, map-slots = 2, speculative = false }
job = { workload = "wordcount", input = "1536 MiB", input-format = "binary", map-cpu = 400 }
[cluster]
generation = "hadoop1"
workers = 3
[node]
preset = "yang2012-iii"
idle-power = "60 W"
core-power = "10 W"
[[node.disk]]
preset = "sata-500"
role = ["primary", "intermediate"]
[[node.disk]]
preset = "sata-500"
role = "backup"
[power]
drive = "barracuda-7200.7"
"#;

/// Where gigabytes are written, and how they came matters to no disk.
const FLOW: &str = "run.fidelity=flow";

fn run(text: &str, sets: &[&str]) -> RunResult {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    let scenario = sim::parse("test", text, &sets).unwrap_or_else(|error| panic!("{error}"));
    let result = sim::run(&scenario, &mut |_| ControlFlow::Continue(())).unwrap_or_else(|error| panic!("{error}"));
    for job in &result.jobs {
        assert_eq!(job.state, JobState::Succeeded, "{}", job.reason);
    }
    // The laws of the ledger, beside what `sim::run` has checked: both are there.
    assert_eq!(result.ledger.iter().filter(|law| law.what.starts_with("disks with a power")).count(), 2);
    result
}

fn problem(text: &str, sets: &[&str]) -> String {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    sim::parse("test.toml", text, &sets).expect_err("it is wrong").to_string()
}

fn power(disk: &Disk) -> &DiskPower {
    disk.power.as_ref().expect("its power is known")
}
/// The backup disks of the workers.
fn backups(result: &RunResult) -> impl Iterator<Item = &Disk> {
    result.disks.iter().filter(|disk| disk.node > 0 && disk.role == "backup")
}
fn seconds(power: &DiskPower, state: &str) -> f64 {
    power.times.iter().filter(|(name, _)| *name == state).map(|(_, time)| time.as_secs_f64()).sum()
}
fn wakes(result: &RunResult) -> Vec<(Time, &str)> {
    let mut all: Vec<_> = backups(result)
        .flat_map(|disk| &power(disk).changes)
        .filter(|change| !change.cause.is_empty())
        .map(|change| (change.at, change.cause))
        .collect();
    all.sort_unstable();
    all
}

/// Disks that never rest change nothing but what is known of them: the same job in the same time, and each disk draws
/// 7.5 W, and 4.5 W more while its mechanics are in use.
#[test]
fn disks_that_never_rest_draw_by_their_use() {
    let without = run_plain(JOB.split("[power]").next().unwrap());
    let with = run(JOB, &[]);
    assert_eq!(with.jobs[0].finish, without.jobs[0].finish);
    assert_eq!(with.attempts, without.attempts);
    let end = with.ended_at.as_secs_f64();
    for (disk, plain) in with.disks.iter().zip(&without.disks) {
        assert_eq!((disk.read, disk.busy), (plain.read, plain.busy), "{}", disk.name);
        let expected = 7.5 * end + 4.5 * disk.busy.as_secs_f64();
        let drawn = power(disk).energy.as_joules();
        assert!((drawn - expected).abs() < 1e-6 * expected, "{}: {drawn}, not {expected} J", disk.name);
    }
    assert!(DisksEnergy::of(&with).is_some_and(|disks| disks.saved() == 0.0 && disks.drawn != disks.always_on));
    // The node's energy is its own and that of its two disks.
    let energy = with.energy.as_ref().unwrap();
    let node = &energy.nodes[1];
    let own = 60.0 * end + 10.0 * with.nodes[1].cpu_work.as_secs_f64();
    let disks: f64 = with.disks.iter().filter(|disk| disk.node == 1).map(|disk| power(disk).energy.as_joules()).sum();
    assert!((node.total().as_joules() - own - disks).abs() < 1e-6 * own, "{} J", node.total().as_joules());
    assert_eq!(node.wall(), node.total());
    let job = energy.jobs[0].unwrap().as_joules();
    assert!((job / energy.total().as_joules() - 1.0).abs() < 0.01, "the job is all of the run: {job} J");
    assert!(!to_json(&without).contains("power"), "a run without [power] says nothing of it");
}

fn run_plain(text: &str) -> RunResult {
    let scenario = sim::parse("test", text, &[]).unwrap_or_else(|error| panic!("{error}"));
    sim::run(&scenario, &mut |_| ControlFlow::Continue(())).unwrap_or_else(|error| panic!("{error}"))
}

/// At the wall a supply of 80 % draws a quarter more.
#[test]
fn the_wall_gives_more_than_nodes_draw() {
    let result = run(JOB, &["node.supply=0.8"]);
    for node in &result.energy.as_ref().unwrap().nodes {
        assert!((node.wall().as_joules() / node.total().as_joules() - 1.25).abs() < 1e-9);
    }
}

/// As printed: backups rest from the beginning, wake when their node fetches its last primary block, and stay up.
#[test]
fn as_printed_backups_start_with_the_last_block() {
    let result = run(JOB, &["power.policy=as-printed"]);
    for disk in backups(&result) {
        let power = power(disk);
        let wakes: Vec<_> = power.changes.iter().filter(|change| !change.cause.is_empty()).collect();
        // The job's files, which have replicas on all nodes, leave memory after 30 s.
        let causes: Vec<&str> = wakes.iter().map(|wake| wake.cause).collect();
        assert_eq!(causes, ["write", "last block"]);
        assert!((wakes[0].at.as_secs_f64() - 30.0).abs() < 0.1, "{}", wakes[0].at);
        // The node's last maps have then begun, and the disk does not rest again.
        let woken = wakes[1].at;
        let maps = result.attempts.iter().filter(|attempt| attempt.kind == results::TaskKind::Map);
        let last = maps.filter(|attempt| attempt.node == disk.node).map(|attempt| attempt.start).max().unwrap();
        assert!(last + Time::from_secs(9) >= woken && woken + Time::from_secs(60) >= last, "{last}, woken at {woken}");
        assert!(power.changes.iter().all(|change| change.at <= woken + Time::from_secs(12)), "{:?}", power.changes);
        let end = result.ended_at.as_secs_f64();
        let all: f64 = power.times.iter().map(|(_, time)| time.as_secs_f64()).sum();
        assert!((all - end).abs() < 1e-9);
        // 1 W at rest, 60 % of 36.035 W for 12 s twice, 7.5 W idle, and 12 W in use.
        let rest = seconds(power, "standby");
        let (idle, used) = (seconds(power, "idle"), seconds(power, "read") + seconds(power, "write"));
        let expected = rest + 24.0 * 0.6 * 36.035 + 7.5 * idle + 12.0 * used;
        assert!((power.energy.as_joules() - expected).abs() < 0.01, "{} J", power.energy.as_joules());
        assert!(power.least <= power.energy && power.energy < power.always_on);
    }
}

/// Nodes that are alike finish their own blocks together: none is expected to help, and no disk starts for it.
#[test]
fn the_prediction_wakes_nothing_where_nobody_will_help() {
    let result = run(JOB, &["power.policy=predicted", "hdfs.placement.kind=even"]);
    assert!(wakes(&result).iter().all(|(_, cause)| *cause != "predicted"), "{:?}", wakes(&result));
}

/// One node is four times as fast. Its backups wake ahead of its last own block, and it then reads blocks of the slow
/// ones from its own disk, where HDFS's own order without them would read over the network.
#[test]
fn a_fast_node_helps_from_its_backups() {
    let disks = "[{ preset = \"sata-500\", role = [\"primary\", \"intermediate\"] }, { preset = \"sata-500\", role = \"backup\" }]";
    let node = format!("{{ preset = \"yang2012-iii\", speed = 1.68, idle-power = \"60 W\", disk = {disks} }}");
    let groups = format!("[[cluster.group]]\ncount = 1\nnode = {node}\n[[cluster.group]]\ncount = 2\n");
    let text = format!("{}{groups}", JOB.replace("workers = 3\n", ""));
    let result = run(&text, &["power.policy=predicted"]);
    let of_fast: Vec<_> = backups(&result).filter(|disk| disk.node == 1).map(power).collect();
    let causes: Vec<&str> =
        of_fast[0].changes.iter().map(|change| change.cause).filter(|cause| !cause.is_empty()).collect();
    assert!(causes.contains(&"predicted"), "{causes:?}");
    let read =
        |result: &RunResult| backups(result).filter(|disk| disk.node == 1).map(|disk| disk.read.get()).sum::<u64>();
    assert!(read(&result) > 64 << 20, "it has read {} bytes from its backup", read(&result));
    // Never woken, the backups read nothing: the same maps read over the network.
    let asleep = run(&text, &["power.policy=by-phase", "power.timeout='1 ms'"]);
    let remote = |result: &RunResult| result.jobs[0].bytes.hdfs_read_remote.get();
    assert!(remote(&asleep) > remote(&result) + (32 << 20), "{} and {}", remote(&asleep), remote(&result));
}

/// A primary disk fails: the backups of its blocks wake for that, on the other nodes.
#[test]
fn a_failed_primary_wakes_its_backups() {
    // Two primaries each, so that new blocks have another disk to go to.
    let text =
        JOB.replace("role = [\"primary\", \"intermediate\"]", "count = 2\nrole = [\"primary\", \"intermediate\"]");
    let fault = "\n[[faults]]\nat = \"30 s\"\nnode = \"worker-1\"\ndisk = 0\n";
    let result = run(&format!("{text}{fault}"), &["power.policy=as-printed"]);
    let first = wakes(&result)[0];
    assert_eq!(first, (Time::from_secs(30), "primary failed"));
    let failed = &result.disks.iter().find(|disk| disk.name == "worker-1 disk 0").unwrap();
    let off = seconds(power(failed), "off");
    assert!((off - (result.ended_at.as_secs_f64() - 30.0)).abs() < 1.0, "without power since: {off} s");
}

/// The primary disk of worker-1 has a high failure rate: the backups of its blocks, on the other nodes, wake before it
/// fails, and stay ready when the job is over. That of worker-1 rests.
#[test]
fn backups_of_a_disk_that_is_expected_to_fail_wake_ahead() {
    let disks = "[{ preset = \"sata-500\", role = [\"primary\", \"intermediate\"], failure-rate = 0.2 }, \
                 { preset = \"sata-500\", role = \"backup\" }]";
    let node = format!("{{ preset = \"yang2012-iii\", idle-power = \"60 W\", disk = {disks} }}");
    let groups = format!("[[cluster.group]]\ncount = 1\nnode = {node}\n[[cluster.group]]\ncount = 2\n");
    let text = format!("{}{groups}", JOB.replace("workers = 3\n", ""));
    let result = run(&text, &["power.policy=as-printed", "power.failing-rate=0.1"]);
    for disk in backups(&result) {
        let causes: Vec<&str> = power(disk).changes.iter().map(|change| change.cause).collect();
        let standby = seconds(power(disk), "standby");
        if disk.node == 1 {
            assert!(!causes.contains(&"failure expected") && standby > 30.0, "{causes:?}, {standby} s");
        } else {
            assert!(causes.contains(&"failure expected") && standby < 10.0, "{causes:?}, {standby} s");
        }
    }
    let lower = run(&text, &["power.policy=as-printed", "power.failing-rate=0.3"]);
    assert!(wakes(&lower).iter().all(|(_, cause)| *cause != "failure expected"));
}

/// Under every policy the disks draw no less than the oracle says, and every wake has a cause.
#[test]
fn no_policy_beats_the_oracle() {
    for policy in ["timeout", "adaptive", "as-printed", "predicted", "by-phase", "gears"] {
        for more in ["power.primaries=never", "power.timeout='10 s'"] {
            let result = run(JOB, &[&format!("power.policy={policy}"), more]);
            let disks = result.energy.as_ref().unwrap().disks.unwrap();
            assert!(disks.least <= disks.drawn, "{policy}: {disks:?}");
            assert!(disks.starts_most <= 24, "{policy}");
            let woken = |disk: &Disk| {
                let power = power(disk);
                let starts: u32 = power.starts.iter().map(|(_, starts)| starts).sum();
                (starts, power.changes.iter().filter(|change| !change.cause.is_empty()).count() as u32)
            };
            for disk in &result.disks {
                let (counted, caused) = woken(disk);
                assert_eq!(counted, caused, "{policy}, {}", disk.name);
            }
        }
    }
}

/// Three replicas, and three backup disks: two for the second, one for the third. Under policy `gears` each of the two
/// gears takes one replica of all that is written; under others every backup disk takes a third of both. What is still
/// in the 64 MiB of a node's memory at the end is on no disk.
#[test]
fn a_gear_holds_one_replica_of_everything() {
    let text = JOB
        .replace("replication = 2", "replication = 3")
        .replace("role = \"backup\"", "role = \"backup\"\ncount = 3")
        .replace("idle-power", "memory = \"64 MiB\"\nidle-power")
        .replace(
            "job = { workload = \"wordcount\", input = \"1536 MiB\", input-format = \"binary\", map-cpu = 400 }",
            "job = { workload = \"dfsio-write\", input = \"1536 MiB\", files = 6 }",
        );
    let written = |policy: &str| {
        let result = run(&text, &[FLOW, &format!("power.policy={policy}")]);
        [1, 2].map(|gear| {
            let of_gear = backups(&result).filter(|disk| power(disk).gear == gear);
            of_gear.map(|disk| disk.written.get()).sum::<u64>()
        })
    };
    let (replica, memory) = (1536_u64 << 20, 3 * (64_u64 << 20));
    for bytes in written("gears") {
        assert!((replica - memory..=replica + (8 << 20)).contains(&bytes), "{bytes} bytes of {replica}");
    }
    let [first, second] = written("timeout");
    assert!(first > second + second / 2, "without gears two disks of three take two thirds: {first} and {second}");
}

/// Many writes keep the backups up; few let them rest.
#[test]
fn backups_stay_up_while_writes_are_many() {
    let text = JOB.replace(
        "job = { workload = \"wordcount\", input = \"1536 MiB\", input-format = \"binary\", map-cpu = 400 }",
        "job = { workload = \"dfsio-write\", input = \"6 GiB\", files = 6 }",
    );
    let plain = [FLOW, "power.policy=timeout", "power.timeout='1 s'"];
    let guard = ["power.guard.on='80 Mbit/s'", "power.guard.off='40 Mbit/s'"];
    let guarded = run(&text, &[&plain[..], &guard].concat());
    let plain = run(&text, &plain);
    let rest = |result: &RunResult| backups(result).map(|disk| seconds(power(disk), "standby")).sum::<f64>();
    assert!(rest(&guarded) < rest(&plain), "{} and {} s", rest(&guarded), rest(&plain));
    assert!(guarded.jobs[0].finish <= plain.jobs[0].finish);
}

#[test]
fn what_is_wrong_with_the_power_of_a_run_is_said() {
    let alone = JOB.replace("role = \"backup\"", "role = \"all\"");
    let flash = JOB.replace("preset = \"sata-500\"\nrole = \"backup\"", "preset = \"nvme\"\nrole = \"backup\"");
    let profile = JOB.replace("drive = \"barracuda-7200.7\"", "policy = \"timeout\"");
    for (text, sets, expected) in [
        (
            JOB,
            vec!["power.drive=barracuda-7200"],
            "`barracuda-7200` is not a drive here; did you mean `barracuda-7200.7`?",
        ),
        (
            &alone,
            vec!["power.policy=as-printed"],
            "policy `as-printed` puts backup disks to rest, and no worker has one",
        ),
        (&alone, vec!["power.policy=timeout"], "policy `timeout` puts backup disks to rest, and no worker has one"),
        (JOB, vec!["power.policy=predicted", "power.spin-ups=0"], "the wear budget has nothing for it"),
        (JOB, vec!["power.policy=timeout", "power.backups=never"], "neither primary nor backup disks may"),
        (JOB, vec!["power.policy=timeout", "power.backups=idle-c"], "their drive has no such state; a depth that"),
        (
            &flash,
            vec!["power.policy=timeout"],
            "policy `timeout` puts disks to rest, and what those of the workers draw is not known; `drive` of",
        ),
        (JOB, vec!["power.guard.on='1 Mbit/s'"], "the two would alternate; an `off` below `on`"),
        (JOB, vec!["power.backup-drive=x"], "`x` is not a drive here"),
        (&profile, vec![], "no disk of this cluster has a drive: what they draw is not known"),
        (
            &profile,
            vec!["power.profile={read='9 W', write='9 W', idle='5 W', standby='7 W'}"],
            "standby (7 W) draws more than idle (5 W): a deeper state draws less",
        ),
    ] {
        let said = problem(text, &sets);
        assert!(said.contains(expected), "{sets:?}: {said}");
    }
    let plain = JOB.split("[power]").next().unwrap().replacen(
        "preset = \"sata-500\"",
        "preset = \"sata-500\"\ndrive = \"diamondmax-21\"",
        1,
    );
    assert!(problem(&plain, &[]).contains("what this drive draws is not asked for"));
}

/// 4.4.4: backup disks of n - 1 times the primaries' data. Three workers with 500 GB each hold the second replicas of
/// 1.5 TB, or two further ones of 0.75 TB; as arrays of four (RAID 5) three times as much. A limit holds at the limit.
#[test]
fn backup_disks_hold_n_minus_1_replicas_of_the_input() {
    const ARRAY: [&str; 2] = ["node.disk.1.array.members=4", "node.disk.1.array.level=raid-5"];
    for (replicas, array, gb) in [(2, false, 1_500), (3, false, 750), (2, true, 4_500), (3, true, 2_250)] {
        let sets = |gb: u64| {
            let mut sets = vec!["power.policy=timeout".to_owned(), format!("hdfs.replication={replicas}")];
            sets.push(format!("job.input={gb} GB"));
            sets.extend(array.then_some(&ARRAY).into_iter().flatten().map(ToString::to_string));
            sets
        };
        let fits = sim::parse("test.toml", JOB, &sets(gb));
        assert!(fits.is_ok(), "{gb} GB, {replicas} replicas: {:?}", fits.err());
        let error = sim::parse("test.toml", JOB, &sets(gb + 1)).expect_err("a gigabyte too much").to_string();
        assert!(error.contains(&format!("{replicas} replicas of")), "{error}");
        assert!(error.contains("to the backup disks, and these hold"), "{error}");
    }
    // The volumes of splits, and their scale, count as well.
    let split = ["power.policy=timeout", "job.splits=['1000 GB', '600 GB']"];
    assert!(problem(JOB, &split).contains("to the backup disks"));
    let scaled = sim::parse("t", JOB, &[split[0].into(), split[1].into(), "mapreduce.data-scale=0.5".to_owned()]);
    assert!(scaled.is_ok(), "{:?}", scaled.err());
}

/// As printed, backups are woken twice: when what is written leaves memory, half a minute later, and for the last
/// primary block. With logs the first of these is gone; what they have goes home with the second, so that nothing is
/// left when the job is over.
#[test]
fn writes_for_disks_at_rest_go_to_logs_and_home_with_the_next_wake() {
    let printed = ["power.policy=as-printed", "mapreduce.reducers=1"];
    let direct = run(JOB, &printed);
    assert!(wakes(&direct).iter().any(|(_, cause)| *cause == "write"), "{:?}", wakes(&direct));
    let sets = [&printed[..], &["storage.offload=true", "storage.window=\"6 h\""]].concat();
    let result = run(JOB, &sets);
    assert!(wakes(&result).iter().all(|(_, cause)| *cause == "last block"), "{:?}", wakes(&result));
    let logs: Vec<_> = backups(&result).map(|disk| power(disk).offload.expect("they are off-loaded")).collect();
    assert!(logs.iter().all(|log| log.logged > Bytes::ZERO && log.owed == Bytes::ZERO && log.lost == Bytes::ZERO));
    // The first replicas' disks have no logs elsewhere, and nothing is lost on the way: what backups have written is
    // what they have written without logs, as far as that has left memory by the end.
    let logged: Bytes = logs.iter().map(|log| log.logged).sum();
    assert!(backups(&result).map(|disk| disk.written).sum::<Bytes>() >= logged);
    assert!(direct.disks.iter().all(|disk| disk.power.as_ref().is_none_or(|power| power.offload.is_none())));
}

/// A scanner that looks every minute wakes each backup disk at its own times, or waits for the planned windows: those of
/// the third of three pairs of disks (6 of 7 parts of 600 s) is at 514 s. Primary disks are always ready.
#[test]
fn background_work_wakes_disks_at_its_own_times_or_in_windows() {
    let scan = "storage.background=[{name='scanner', every='100 s', bytes='1 MiB', deferrable=true}]";
    let timeout = ["power.policy=timeout", "power.timeout=\"5 s\"", "power.spin-ups=1000", scan];
    let own = run(JOB, &timeout);
    let of = |result: &RunResult, wanted: &str| wakes(result).iter().filter(|(_, cause)| *cause == wanted).count();
    // Each of three backups has a turn in every 100 s.
    let turns = 3 * (own.ended_at.as_ps() / Time::from_secs(100).as_ps()) as usize;
    assert!(turns > 3 && of(&own, "background") >= turns - 3, "{:?}", wakes(&own));
    let held = run(JOB, &[&timeout[..], &["storage.window=\"10 min\""]].concat());
    assert_eq!(of(&held, "background"), 0, "{:?}", wakes(&held));
    for (at, cause) in wakes(&held).into_iter().filter(|(_, cause)| *cause == "window") {
        // Disks are a primary and a backup on each of three nodes; backups are the 2nd, 4th and 6th of them.
        let part = at.as_secs_f64() % 600.0 / 600.0 * 7.0;
        assert!([2.0, 4.0, 6.0].iter().any(|place| (part - place).abs() < 1e-6), "{cause} at {at}");
    }
}

#[test]
fn chores_that_nothing_could_do_are_refused() {
    for (sets, message) in [
        (vec!["storage.offload=true"], "might never get what logs have for it"),
        (vec!["storage.background=[{jitter='601 s'}]"], "is more than the"),
    ] {
        let said = problem(JOB, &sets);
        assert!(said.contains(message), "{said}");
    }
    let bare = JOB.replace("[power]\ndrive = \"barracuda-7200.7\"\n", "");
    let said = problem(&bare, &["storage.window=\"1 h\""]);
    assert!(said.contains("without [power] disks are always ready"), "{said}");
}
