//! Coupled subflows in whole runs, over seeds, against what their increases and decreases make of random losses.
//!
//! Where losses come by themselves and the round trips are equal, the mean increase of a subflow balances its mean
//! decrease:
//!
//! - LIA (RFC 6356): all subflows together are one TCP on the best path, each in inverse proportion to its path's
//!   losses.
//! - OLIA (Khalili et al., CoNEXT 2012): the same total, all of it on the best path but for what probes the others.
//! - BALIA (Peng et al., ToN 2016): the same total; the worse path has 1 / alpha of the best with (1 + alpha) (4 +
//!   alpha) = 15 p2 / p1 (for alpha above 1.5).
//!
//! That is for windows that stand still. Real ones swing, and LIA's alpha follows the larger one of the moment: over
//! two equal paths it takes a tenth more than one TCP. [`rounds`] has them swing.

use crate::support::streams::{beside, run, traffic};
use des::RandomStream;
use results::TrafficOutcome;
use std::sync::LazyLock;

/// The mean over seeds, and how far it may be off at 95 % (Student's t).
#[derive(Clone, Copy, Debug)]
struct Mean {
    value: f64,
    within: f64,
}

impl Mean {
    fn new(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let value = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|x| (x - value).powi(2)).sum::<f64>() / (n - 1.0);
        let t = match values.len() {
            5 => 2.776,
            8 => 2.365,
            count => panic!("no t for {count} seeds"),
        };
        Self { value, within: t * (variance / n).sqrt() }
    }
    /// No further from `expected` than chance and `share` of it explain.
    fn is_near(self, expected: f64, share: f64) -> bool {
        (self.value - expected).abs() <= self.within + share * expected
    }
}

// === The independent calculation ===

/// Mean windows, in segments, of flows with random losses of `losses`, round trip by round trip: what a window adds per
/// acknowledgement by the paper of each coupling, and what a loss takes, after which it stands still for the round trip
/// of its repair.
fn rounds(coupling: &str, losses: &[f64]) -> Vec<f64> {
    const ROUNDS: u32 = 100_000;
    let mut random = RandomStream::new(1, "test/rounds", 0);
    let count = losses.len();
    let (mut windows, mut repairs, mut sums) = (vec![10.0_f64; count], vec![false; count], vec![0.0; count]);
    // OLIA's l: segments since the last loss, and between the two before.
    let (mut since, mut between) = (vec![0.0_f64; count], vec![0.0_f64; count]);
    for _ in 0..ROUNDS {
        let total: f64 = windows.iter().sum();
        let largest = windows.iter().copied().fold(0.0, f64::max);
        let quality: Vec<f64> = since.iter().zip(&between).map(|(a, b)| a.max(*b).powi(2)).collect();
        let best = quality.iter().copied().fold(0.0, f64::max);
        let poor: Vec<bool> = (0..count).map(|i| quality[i] >= best && windows[i] < largest).collect();
        let poors = poor.iter().filter(|poor| **poor).count() as f64;
        let steps: Vec<(f64, f64)> = windows
            .iter()
            .zip(&poor)
            .map(|(window, poor)| match coupling {
                "none" => (1.0 / window, 0.5),
                "lia" => ((largest / total.powi(2)).min(1.0 / window), 0.5),
                "olia" => {
                    let alpha = match (poors > 0.0, *poor, *window == largest) {
                        (true, true, _) => 1.0 / count as f64 / poors,
                        (true, false, true) => -1.0 / count as f64,
                        _ => 0.0,
                    };
                    (window / total.powi(2) + alpha / window, 0.5)
                }
                "balia" => {
                    let alpha = largest / window;
                    (window / total.powi(2) * (1.0 + alpha) / 2.0 * (4.0 + alpha) / 5.0, alpha.min(1.5) / 2.0)
                }
                other => panic!("no coupling {other}"),
            })
            .collect();
        for i in 0..count {
            let sent = windows[i].floor() + f64::from(u8::from(random.uniform() < windows[i].fract()));
            sums[i] += sent;
            if std::mem::take(&mut repairs[i]) {
                continue;
            }
            since[i] += sent;
            let (increase, decrease) = steps[i];
            if random.uniform() < (1.0 - losses[i]).powi(sent as i32) {
                windows[i] = (windows[i] + increase * sent).max(1.0);
                continue;
            }
            windows[i] = ((windows[i] + increase * sent * random.uniform()) * (1.0 - decrease)).max(2.0);
            repairs[i] = true;
            between[i] = std::mem::take(&mut since[i]);
        }
    }
    sums.into_iter().map(|sum| sum / f64::from(ROUNDS)).collect()
}

/// By [`rounds`]: the total in terms of one TCP on the first path, and the second subflow's share of it.
fn predicted(coupling: &str, losses: [f64; 2]) -> (f64, f64) {
    let (one, both) = (rounds("none", &losses[..1])[0], rounds(coupling, &losses));
    ((both[0] + both[1]) / one, both[1] / (both[0] + both[1]))
}

// === Runs ===

/// Two ways of 40 ms there and back and far more capacity than is used, each with losses of its own.
fn lossy(kind: &str, seed: u64, [near, far]: [f64; 2], stripe: &str) -> TrafficOutcome {
    let result = run(&format!(
        r#"
        [cluster]
        workers = 1
        [network]
        topology = "graph"
        delay = "0 us"
        rate = "10 Gbit/s"
        link = [
            {{ from = "worker-1", to = "near", rate = "1 Gbit/s", delay = "20 ms", loss = {near} }},
            {{ from = "near", to = "master" }},
            {{ from = "worker-1", to = "far", rate = "1 Gbit/s", delay = "20 ms", loss = {far} }},
            {{ from = "far", to = "master" }},
        ]
        [tcp]
        control = "sack-reno"
        delayed-ack = false
        receive-buffer = "16 MiB"
        [[traffic]]
        name = "ours"
        kind = "{kind}"
        from = "worker-1"
        stripe = {{ {stripe}, credit = "16 MiB" }}
        [run]
        seed = {seed}
        until = "120 s"
        warm-up = "20 s"
        "#
    ));
    traffic(&result, "ours").clone()
}

fn goodput(outcome: &TrafficOutcome) -> f64 {
    outcome.goodput_warm.as_bps() as f64
}

/// Losses of the first way in all tests.
const NEAR: f64 = 0.001;

/// One TCP on the first way: the mean over eight seeds. What the other way loses is nothing to it.
static ONE_TCP: LazyLock<f64> = LazyLock::new(|| {
    let run = |seed| goodput(&lossy("stripe", seed, [NEAR, 0.0], "streams = 1, paths = [\"near\"]"));
    (1..=8).map(run).sum::<f64>() / 8.0
});

/// Two subflows over eight seeds: their total in terms of one TCP, and the second's share of it.
fn measured(coupling: &str, losses: [f64; 2]) -> (Mean, Mean) {
    let (mut totals, mut shares) = (Vec::new(), Vec::new());
    let stripe = format!("paths = [\"near\", \"far\"], coupling = \"{coupling}\"");
    for seed in 1..=8 {
        let outcome = lossy("mptcp", seed, losses, &stripe);
        totals.push(goodput(&outcome) / *ONE_TCP);
        let streams = &outcome.stripe.as_ref().expect("subflows").streams;
        let delivered = |path: usize| streams[path].delivered.get() as f64;
        shares.push(delivered(1) / (delivered(0) + delivered(1)));
    }
    (Mean::new(&totals), Mean::new(&shares))
}

#[test]
fn equal_paths_are_shared_equally_and_taken_as_windows_that_swing_have_it() {
    let losses = [NEAR, NEAR];
    for coupling in ["none", "lia", "olia", "balia"] {
        let ((total, share), (expected, _)) = (measured(coupling, losses), predicted(coupling, losses));
        println!("{coupling}: {total:?} of one TCP, by rounds {expected}; the second has {share:?}");
        assert!(total.is_near(expected, 0.05), "{coupling}: {total:?} of one TCP, by rounds {expected}");
        assert!(share.is_near(0.5, 0.05), "{coupling}: {share:?}");
    }
}

#[test]
fn of_unequal_paths_the_better_one_is_preferred_as_each_coupling_has_it() {
    let (losses, mut shares) = ([NEAR, 0.004], Vec::new());
    for coupling in ["lia", "olia", "balia"] {
        let ((total, share), (expected, by_rounds)) = (measured(coupling, losses), predicted(coupling, losses));
        println!(
            "{coupling}: {total:?} of one TCP, by rounds {expected}; the worse path has {share:?}, by rounds {by_rounds}"
        );
        assert!(total.is_near(expected, 0.05), "{coupling}: {total:?} of one TCP, by rounds {expected}");
        assert!(total.value <= 1.0, "{coupling} takes more than one TCP on the better path: {total:?}");
        assert!(share.is_near(by_rounds, 0.05), "{coupling}: {share:?}, by rounds {by_rounds}");
        shares.push(share);
    }
    let [lia, olia, balia] = shares[..] else { panic!("three") };
    // The fixed points: windows as 4 to 1; as 5.39 to 1; nothing.
    assert!(lia.is_near(1.0 / 5.0, 0.1), "{lia:?}");
    assert!(balia.is_near(1.0 / 6.39, 0.1), "{balia:?}");
    assert!(olia.value < balia.value && balia.value < lia.value, "{olia:?}, {balia:?}, {lia:?}");
}

#[test]
fn one_full_queue_is_shared_as_windows_that_swing_have_it() {
    // Four TCP flows, and two subflows of one connection. Drop-tail drops one segment in 200 to 250, of one about as
    // often as of the other.
    let share = |coupling: &str, seed: u64| {
        let network = r#"delay = "1 ms"
        core = { delay = "18 ms", rate = "20 Mbit/s" }
        queue = { limit = "67 packets" }"#;
        let ours = format!("kind = \"mptcp\"\nstripe = {{ streams = 2, coupling = \"{coupling}\" }}");
        let more = format!("seed = {seed}\nuntil = \"200 s\"\nwarm-up = \"20 s\"");
        let result = beside(network, 4, "jitter = \"1 s\"", &ours, &more, &[]);
        let of = |name| traffic(&result, name).goodput_warm.as_bps() as f64;
        assert_eq!(traffic(&result, "ours").kind, "mptcp");
        4.0 * of("ours") / of("others")
    };
    for coupling in ["none", "lia", "olia", "balia"] {
        let shares: Vec<f64> = (1..=5).map(|seed| share(coupling, seed)).collect();
        let (mean, (expected, _)) = (Mean::new(&shares), predicted(coupling, [0.0045, 0.0045]));
        println!("{coupling}: {mean:?} of one TCP, by rounds {expected}");
        let off = (mean.value / expected - 1.0).abs();
        assert!(off <= 0.1, "{coupling}: {mean:?} of one TCP, by rounds {expected}; {shares:?}");
    }
}

#[test]
fn coupled_subflows_use_both_paths_at_least_as_well_as_the_better_one() {
    let goodput = |stripe: &str| {
        let result = run(&format!(
            r#"
            [cluster]
            workers = 1
            [network]
            topology = "graph"
            delay = "0 us"
            rate = "1 Gbit/s"
            link = [
                {{ from = "worker-1", to = "near", rate = "40 Mbit/s", delay = "10 ms" }},
                {{ from = "near", to = "master" }},
                {{ from = "worker-1", to = "far", rate = "10 Mbit/s", delay = "50 ms" }},
                {{ from = "far", to = "master" }},
            ]
            host-queue = {{ limit = "100 packets" }}
            framing = "none"
            [[traffic]]
            name = "many"
            kind = "mptcp"
            from = "worker-1"
            stripe = {{ {stripe} }}
            [run]
            until = "60 s"
            warm-up = "20 s"
            "#
        ));
        traffic(&result, "many").goodput_warm.as_bps() as f64 / 1e6
    };
    let alone = goodput("paths = [\"near\"]");
    assert!(alone > 36.0, "{alone}");
    for coupling in ["lia", "olia", "balia"] {
        let both = goodput(&format!("paths = [\"near\", \"far\"], coupling = \"{coupling}\""));
        assert!(both > alone, "{coupling}: {both} over both, {alone} over the better one");
    }
}
