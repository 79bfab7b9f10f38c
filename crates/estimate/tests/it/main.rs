//! Estimates of whole scenarios, beside their simulation, and what is refused.

use estimate::JobEstimate;
use scenario::Scenario;
use std::ops::ControlFlow;

fn scenario(text: &str) -> Scenario {
    sim::parse("test", text, &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// Seconds of a simulated job from launch to finish.
fn simulated(scenario: &Scenario) -> f64 {
    let result = sim::run(scenario, &mut |_| ControlFlow::Continue(())).expect("it runs");
    let job = &result.jobs[0];
    job.finish.expect("it ends").saturating_sub(job.launch.expect("it begins")).as_secs_f64()
}

/// Random scenarios: clusters, networks, workloads. A linear congruential generator, so that others can have the same.
struct Drawn(u64);

impl Drawn {
    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        choices[(self.0 >> 33) as usize % choices.len()]
    }
    fn scenario(&mut self) -> String {
        let workers = self.of(&[3_u32, 4, 5, 6, 8, 10, 12, 16, 20]);
        let (cores, disks) = (self.of(&[2, 4, 8]), self.of(&[1, 1, 2, 4]));
        let (disk, memory) = (self.of(&["sata-2009", "ssd", "virtual"]), self.of(&[4, 8, 16]));
        let rate = self.of(&["50 Mbit/s", "100 Mbit/s", "300 Mbit/s", "1 Gbit/s", "10 Gbit/s"]);
        let network = match self.of(&["star", "star", "two-racks"]) {
            "star" => format!("rate = '{rate}'"),
            racks => {
                let over = self.of(&[1, 2, 4]);
                format!("topology = '{racks}', rate = '{rate}', core = {{ oversubscription = {over} }}")
            }
        };
        let (block, replicas) = (self.of(&[32, 64, 128]), self.of(&[1, 2, 3]));
        let reducers = self.of(&[1, 2, (workers / 2).max(1), workers, 2 * workers]);
        let slow_start = self.of(&[0.05, 0.05, 0.5, 1.0]);
        let megabytes = workers * self.of(&[40, 80, 130, 200, 320, 500, 750, 1_000]);
        let job = self.of(&[
            "workload = 'terasort'",
            "workload = 'terasort'",
            "workload = 'sort'",
            "workload = 'grep'",
            "workload = 'wordcount'",
            "workload = 'wordcount', combiner = false",
            "workload = 'generic', map-ratio = 0.3, reduce-ratio = 0.8",
            "workload = 'generic', map-ratio = 1.3, reduce-ratio = 0.2",
        ]);
        [
            format!("cluster.workers = {workers}"),
            "run.fidelity = 'flow'".to_owned(),
            format!("node = {{ cores = {cores}, disks = {disks}, disk = '{disk}', memory = '{memory} GiB' }}"),
            format!("network = {{ {network} }}"),
            format!("hdfs = {{ block = '{block} MiB', replication = {replicas} }}"),
            format!("mapreduce = {{ reducers = {reducers}, slowstart = {slow_start} }}"),
            format!("job = [{{ {job}, input = '{megabytes} MB' }}]"),
        ]
        .join("\n")
    }
}

/// A random scenario's estimate beside its simulation.
struct Case {
    estimate: JobEstimate,
    /// Seconds of the scenario's own seed and of those after it.
    runs: Vec<f64>,
}

/// Random scenarios beside their simulation with so many seeds.
fn cases(seed: u64, count: usize, seeds: u64) -> Vec<Case> {
    let mut drawn = Drawn(seed);
    let case = |_| {
        let mut scenario = scenario(&drawn.scenario());
        let estimate = estimate::estimate(&scenario).expect("it has an estimate").remove(0);
        let first = scenario.run.seed;
        let run = |seed| {
            scenario.run.seed = seed;
            simulated(&scenario)
        };
        Case { estimate, runs: (first..first + seeds).map(run).collect() }
    };
    (0..count).map(case).collect()
}

/// Whether an estimate misses a time by a fifth at the most.
fn is_near(estimate: f64, time: f64) -> bool {
    (estimate / time - 1.0).abs() <= 0.2
}

fn percent(cases: &[Case], holds: impl Fn(&Case) -> bool) -> f64 {
    100.0 * cases.iter().filter(|case| holds(case)).count() as f64 / cases.len() as f64
}

/// Per cent of cases whose time the mean misses by a fifth at the most in one seed's run, in the mean of all seeds'
/// runs, by mean value analysis in one seed's run; and in how many one seed's run is in the bounds.
fn shares(cases: &[Case]) -> [f64; 4] {
    let mean = |case: &Case| case.runs.iter().sum::<f64>() / case.runs.len() as f64;
    [
        percent(cases, |case| is_near(case.estimate.total().mean, case.runs[0])),
        percent(cases, |case| is_near(case.estimate.total().mean, mean(case))),
        percent(cases, |case| is_near(case.estimate.mva, case.runs[0])),
        percent(cases, |case| {
            let total = case.estimate.total();
            total.least <= case.runs[0] && case.runs[0] <= total.most
        }),
    ]
}

#[test]
fn most_of_a_few_random_scenarios_are_near() {
    let [ours, _, rival, _] = shares(&cases(1, 20, 1));
    assert!(ours >= 80.0 && ours >= rival, "{ours} %, by mean value analysis {rival} %");
}

/// The model was mended after a look at its misses of all seeds but the last four.
/// `cargo test -p estimate --release -- --ignored --nocapture share` prints the shares.
#[test]
#[ignore = "12,000 simulations: minutes without optimisation"]
fn the_share_of_random_scenarios_that_are_near() {
    for seed in [1, 2, 3, 4, 5, 6, 777, 2026, 31_337, 4_242, 90_210, 5_150] {
        let [one, mean, rival, bounded] = shares(&cases(seed, 200, 5));
        println!(
            "seed {seed}: of 200 within 20 % of one run {one:.1} %, of the mean of five seeds {mean:.1} %; by mean \
             value analysis {rival:.1} % of one run; one run in the bounds {bounded:.1} %"
        );
        assert!(one >= 80.0 && mean >= 80.0, "seed {seed}: {one} %, {mean} %");
    }
}

/// The mean over ten seeds of what is found in a run.
fn mean_of_ten(scenario: &mut Scenario, of: impl Fn(&Scenario) -> f64) -> f64 {
    let first = scenario.run.seed;
    let run = |seed| {
        scenario.run.seed = seed;
        of(scenario)
    };
    (first..first + 10).map(run).sum::<f64>() / 10.0
}

/// A TeraSort of so many megabytes at 100 Mbit/s, with its reducers from the first maps on.
fn shared(cluster: &str, reducers: u32, megabytes: u32, more: &str) -> Scenario {
    scenario(&format!(
        "cluster.{cluster}\nrun.fidelity = 'flow'\nnetwork.rate = '100 Mbit/s'\nhdfs.block = '64 MiB'\nmapreduce = {{ \
         reducers = {reducers}, slowstart = 0.05{more} }}\njob = [{{ workload = 'terasort', input = '{megabytes} MB' }}]"
    ))
}

/// While maps wait reducers are asked for a few at a time, and the first nodes after the AppMaster's heartbeat get them:
/// with two on a node its link is what all wait for. The scheduling thread spreads them.
#[test]
fn reducers_that_are_asked_for_a_few_at_a_time_share_nodes() {
    for more in ["", ", asynchronous = true"] {
        let cluster = "workers = 4\nnode = { cores = 4, disks = 1, disk = 'virtual', memory = '8 GiB' }";
        let mut scenario = shared(cluster, 2, 2_000, more);
        let mean = estimate::estimate(&scenario).expect("an estimate")[0].total().mean;
        let time = mean_of_ten(&mut scenario, simulated);
        assert!(is_near(mean, time), "{more}: {mean} s beside {time} s");
    }
}

/// Where all maps of a wave end within a tenth of a second it is chance which nodes have room then: with a reducer each
/// the job takes half as long as with two. The mean is not met; the bounds have it.
#[test]
fn reducers_that_share_nodes_by_chance_lie_within_the_bounds() {
    for more in ["", ", asynchronous = true"] {
        let cluster = "workers = 12\nnode = { cores = 2, disks = 1, disk = 'virtual', memory = '8 GiB' }";
        let mut scenario = shared(cluster, 6, 12_000, more);
        scenario.hdfs.replication = 2;
        let total = estimate::estimate(&scenario).expect("an estimate")[0].total();
        let time = mean_of_ten(&mut scenario, simulated);
        assert!((total.least..=total.most).contains(&time), "{more}: {total:?} beside {time} s");
    }
}

/// Two reducers a second, and both to the same nodes: five of twelve on one of six, whose link has two and a half times
/// its part of the shuffle.
#[test]
fn reducers_that_are_asked_for_two_at_a_time_share_nodes() {
    let text = "cluster.workers = 6\nrun.fidelity = 'flow'\nnode = { cores = 4, disks = 2, disk = 'ssd', memory = '16 \
                GiB' }\nnetwork.rate = '100 Mbit/s'\nhdfs = { block = '64 MiB', replication = 3 }\nmapreduce = { \
                reducers = 12, slowstart = 0.05, speculative = false }\njob = [{ workload = 'terasort', input = '4500 \
                MB' }]";
    let mut scenario = scenario(text);
    let job = estimate::estimate(&scenario).expect("an estimate").remove(0);
    let mean = job.maps.plus(job.shuffle).mean;
    let time = mean_of_ten(&mut scenario, |scenario| {
        let result = sim::run(scenario, &mut |_| ControlFlow::Continue(())).expect("it runs");
        let job = &result.jobs[0];
        let fetched = job.phase(results::Phase::Fetch).expect("it fetches").finish;
        fetched.saturating_sub(job.launch.expect("it begins")).as_secs_f64()
    });
    assert!(is_near(mean, time), "fetched after {mean} s beside {time} s");
    // 4,500 MB and framing, 5 / 6 of them from other nodes, over links of 12.5 MB/s less headers.
    let even = 4_500.0 * 5.0 / 6.0 / 6.0 / 11.9;
    assert!(mean > 1.5 * even, "{mean} s, {even} s if all nodes had two");
}

/// Maps that read from other nodes over slow links are taken for slow, and their copies read from the same nodes.
#[test]
fn copies_of_maps_that_read_from_afar_slow_them_down() {
    let means = [false, true].map(|speculative| {
        let text = format!(
            "cluster.workers = 12\nrun.fidelity = 'flow'\nnode = {{ cores = 2, disks = 4, disk = 'virtual' }}\n\
             network.rate = '50 Mbit/s'\nhdfs = {{ block = '128 MiB', replication = 1 }}\nmapreduce = {{ reducers = \
             2, slowstart = 1.0, speculative = {speculative}, asynchronous = true }}\njob = [{{ workload = 'grep', \
             input = '1280 MB' }}]"
        );
        let mut scenario = scenario(&text);
        let mean = estimate::estimate(&scenario).expect("an estimate")[0].total().mean;
        let time = mean_of_ten(&mut scenario, simulated);
        assert!(is_near(mean, time), "copies {speculative}: {mean} s beside {time} s");
        [mean, time]
    });
    let [without, with] = means;
    assert!(with[0] > 1.2 * without[0] && with[1] > 1.2 * without[1], "{means:?}");
}

/// 12 maps of 64 MiB on four nodes with a core each and 3 places: each node computes its three side by side, so
/// the stage takes at least their work on one core. At 18 ns per byte, 40 ns per record and binary logarithm, 8 ns per
/// byte of a spill, and 1.44 s to start: 67,108,864 B are 671,089 records of 102 B and 2 B of framing.
#[test]
fn maps_take_at_least_their_work() {
    let text = "cluster.workers = 4\nnode = { cores = 1, memory = '4 GiB' }\nhdfs = { block = '64 MiB', replication = 3 }\n\
                mapreduce.reducers = 4\njob = [{ workload = 'terasort', input = '805306368 B' }]";
    let job = estimate::estimate(&scenario(text)).expect("an estimate").remove(0);
    // 1.2 s in maps, sort 671,089 x 19.36 x 40 ns = 0.52 s, spill 0.56 s: 3.7 s each, eleven on three nodes.
    let work = 3.0 * (1.208 + 0.519 + 0.558 + 1.44);
    assert!(
        job.maps.least > 0.9 * work && job.maps.least <= job.maps.mean && job.maps.mean <= job.maps.most,
        "{job:?}"
    );
}

#[test]
fn what_has_no_closed_form_is_refused() {
    for (text, word) in [
        ("traffic = [{ kind = 'long' }]", "without jobs"),
        ("job = [{ workload = 'terasort' }, { workload = 'sort' }]", "several jobs"),
        ("job = [{ workload = 'terasort' }]\nfaults = [{ at = '1 s', node = 'worker-1' }]", "faults"),
        ("job = [{ workload = 'terasort' }]\ntraffic = [{ kind = 'long' }]", "traffic"),
        ("job = [{ workload = 'terasort', uber = true }]", "uber"),
        ("job = [{ workload = 'dfsio-read' }]", "named one by one"),
        ("job = [{ workload = 'sort' }]\nhdfs.placement.kind = 'by-key'", "by-key"),
    ] {
        let refused = estimate::estimate(&scenario(text)).expect_err(text).to_string();
        assert!(refused.contains(word), "{refused}");
    }
}
