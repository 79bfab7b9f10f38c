//! Estimates of whole scenarios, beside their simulation, and what is refused.

use scenario::Scenario;
use std::ops::ControlFlow;

fn scenario(text: &str) -> Scenario {
    sim::parse("test", text, &[]).unwrap_or_else(|error| panic!("{error}"))
}

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

/// Shares of random scenarios whose simulated time the mean misses by a fifth at the most, mean value analysis does, and
/// the bounds hold.
fn shares(seed: u64, count: usize) -> [f64; 3] {
    let mut drawn = Drawn(seed);
    let near = |estimate: f64, time: f64| (estimate / time - 1.0).abs() <= 0.2;
    let mut shares = [0.0; 3];
    for _ in 0..count {
        let scenario = scenario(&drawn.scenario());
        let job = estimate::estimate(&scenario).expect("it has a closed form").remove(0);
        let (total, time) = (job.total(), simulated(&scenario));
        let found = [near(total.mean, time), near(job.mva, time), total.least <= time && time <= total.most];
        for (share, found) in shares.iter_mut().zip(found) {
            *share += f64::from(u8::from(found)) / count as f64;
        }
    }
    shares
}

#[test]
fn most_of_a_few_random_scenarios_are_near() {
    let [ours, rival, _] = shares(1, 20);
    assert!(ours >= 0.8 && ours >= rival, "{ours}, by mean value analysis {rival}");
}

/// The model was mended after a look at its misses of seeds 1 to 3; of seed 2026 nobody looked at any.
/// `cargo test -p estimate --release -- --ignored --nocapture` prints the shares.
#[test]
#[ignore = "800 simulations: minutes without optimisation"]
fn the_share_of_random_scenarios_that_are_near() {
    for seed in [1, 2, 3, 2026] {
        let [ours, rival, bounded] = shares(seed, 200).map(|share| 100.0 * share);
        println!(
            "seed {seed}: within 20 % {ours:.1} % of 200, by mean value analysis {rival:.1} %; in bounds {bounded:.1} %"
        );
        assert!(ours >= 80.0, "seed {seed}: {ours} %");
    }
}

/// 12 maps of 64 MiB on four nodes with a core each and 3 places: each node computes its three side by side, so
/// the stage takes at least their work on one core. At 18 ns per byte, 40 ns per record and binary logarithm, 8 ns per
/// byte of a spill, and 1.44 s to start: 67,108,864 B are 671,089 records of 102 B and 2 B of framing.
#[test]
fn maps_take_at_least_their_work() {
    let text = "cluster.workers = 4\nnode = { cores = 1, memory = '4 GiB' }\nhdfs = { block = '64 MiB', replication = 3 }\n\
                mapreduce.reducers = 4\njob = [{ workload = 'terasort', input = '805306368 B' }]";
    let job = estimate::estimate(&scenario(text)).expect("a closed form").remove(0);
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
