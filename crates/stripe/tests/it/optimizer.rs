//! Models against values computed elsewhere (40 decimal digits, Python's `decimal`; least squares in fractions), and
//! the controller on paths whose closed form is known.

use stripe::optimizer::{
    Controller, FullSecondOrder, Law, Limits, LossFit, Newcomers, PartialSecondOrder, Path, Policy, Reason, Totals,
    best_number, hacker, streams_to_fill,
};
use units::{BitRate, Bytes, Time};

fn close(value: f64, expected: f64) {
    assert!((value / expected - 1.0).abs() < 1e-8, "{value:e}, expected {expected:e}");
}

fn path(rtt_ms: u64, loss: f64, per_ack: f64) -> Path {
    Path {
        mss: Bytes::new(1448),
        rtt: Time::from_ms(rtt_ms),
        loss,
        rto: Time::from_ms(300),
        window: Bytes::new(1_000_000_000_000),
        per_ack,
    }
}

#[test]
fn one_stream() {
    // RTT in ms, loss, Mathis (b = 1), PFTK (b = 2, T0 = 300 ms), CUBIC; bits per second.
    let table = [
        (100, 1e-5, 4.486_463_908e7, 3.172_194_930e7, 1.220_755_434e8),
        (100, 1e-4, 1.418_744_459e7, 1.002_527_122e7, 2.170_844_253e7),
        (100, 1e-3, 4.486_463_908e6, 3.151_138_190e6, 4.486_463_908e6),
        (100, 1e-2, 1.418_744_459e6, 9.395_792_774e5, 1.418_744_459e6),
        (200, 1e-4, 7.093_722_295e6, 5.014_326_803e6, 1.825_455_151e7),
        (200, 1e-3, 2.243_231_954e6, 1.580_868_923e6, 3.246_169_308e6),
        (20, 1e-5, 2.243_231_954e8, 1.585_669_363e8, 2.243_231_954e8),
        (20, 1e-2, 7.093_722_295e6, 3.747_268_851e6, 7.093_722_295e6),
    ];
    for (rtt, loss, mathis, pftk, cubic) in table {
        close(path(rtt, loss, 1.0).mathis(), mathis);
        close(path(rtt, loss, 2.0).pftk(), pftk);
        close(path(rtt, loss, 1.0).cubic(), cubic);
    }
    // 64 KiB in 40 ms.
    let limited = Path { window: Bytes::new(65_536), ..path(40, 1e-5, 2.0) };
    for rate in [limited.mathis(), limited.pftk(), limited.cubic()] {
        close(rate, 13_107_200.0);
    }
}

#[test]
fn many_streams() {
    // MSS / RTT / sqrt(p): 1448 x 8 / 0.1 x (100 + 10) with losses of 1e-4 and 1e-2.
    close(hacker(&[path(100, 1e-4, 1.0), path(100, 1e-2, 1.0)]), 1_448.0 * 80.0 * 110.0);
    // 1 Gbit/s of 4.4865 Mbit/s each takes 223 streams, more than the limit. Windows of 4 MiB per 100 ms (336 Mbit/s)
    // take 3.
    let rate = path(100, 1e-3, 1.0).mathis();
    assert_eq!(streams_to_fill(BitRate::from_gbps(1), rate), 128);
    assert_eq!(streams_to_fill(BitRate::from_mbps(500), rate), 112);
    let windows = Path { window: Bytes::from_mib(4), ..path(100, 1e-9, 1.0) };
    assert_eq!(streams_to_fill(BitRate::from_gbps(1), windows.mathis()), 3);
    assert_eq!(streams_to_fill(BitRate::from_mbps(1), windows.mathis()), 1);
}

#[test]
fn the_papers_enumeration() {
    let fit = |alpha, beta, gamma| LossFit { alpha, beta, gamma, r: 1.0 };
    let path = |mss, rtt, rto, window| Path {
        mss: Bytes::new(mss),
        rtt: Time::from_ms(rtt),
        loss: 0.0,
        rto: Time::from_ms(rto),
        window: Bytes::new(window),
        per_ack: 2.0,
    };
    let table = [
        (fit(1e-6, 1e-5, 5e-4), path(1460, 500, 1500, 65_536), 88, 1.755_378_601e7),
        (fit(2e-7, 1e-6, 1e-4), path(1460, 120, 400, 65_536), 126, 1.775_837_461e8),
        (fit(1e-5, 1e-4, 1e-3), path(1448, 40, 250, 65_536), 27, 5.591_880_836e7),
        // A loss that does not depend on n has no knee: the limit is best.
        (fit(0.0, 0.0, 1e-3), path(1448, 100, 300, 1 << 40), 128, 4.033_456_883e8),
    ];
    for (fit, path, n, rate) in table {
        let best = best_number(&path, &fit);
        assert_eq!(best.0, n);
        close(best.1, rate);
    }
}

#[test]
fn the_loss_polynomial() {
    let points = [(1, 0.0011), (2, 0.0010), (4, 0.0013), (8, 0.0012), (16, 0.0021), (32, 0.0043), (64, 0.0125)];
    let fit = LossFit::new(&points).expect("seven numbers of streams");
    close(fit.alpha, 2.409_143_715_456e-6);
    close(fit.beta, 2.523_831_316_913e-5);
    close(fit.gamma, 1.019_771_485_345e-3);
    close(fit.r, 0.999_699_378_601);
    let exact: Vec<(u32, f64)> =
        [1, 5, 9, 128].map(|n| (n, 1e-6 * f64::from(n * n) + 2e-5 * f64::from(n) + 3e-4)).into();
    let fit = LossFit::new(&exact).expect("four numbers of streams");
    close(fit.alpha, 1e-6);
    close(fit.beta, 2e-5);
    close(fit.gamma, 3e-4);
    assert!(LossFit::new(&[(1, 0.1), (2, 0.2), (2, 0.3)]).is_none());
    assert!(LossFit::new(&[]).is_none());
}

#[test]
fn few_probes() {
    // Th = 10 and 30 with 1 and 4 streams: y = 0.01 and 16/900; a = 7/900/15, b = 0.01 - a; Th(8) = 8 / sqrt(0.128/3).
    let fit = PartialSecondOrder::new((1, 10.0), (4, 30.0)).expect("two probes");
    close(fit.a, 7.0 / 13_500.0);
    close(fit.b, 0.01 - 7.0 / 13_500.0);
    close(fit.rate(8), 8.0 / (0.128_f64 / 3.0).sqrt());
    // 90 % of 1/sqrt(a): n = sqrt(b/a x 0.81/0.19) = 8.83.
    assert_eq!(fit.reaches(0.9), 9);
    // Exactly proportional: there is no limit to reach.
    assert_eq!(PartialSecondOrder::new((1, 10.0), (4, 40.0)).map(|fit| fit.reaches(0.9)), Some(128));
    assert!(PartialSecondOrder::new((3, 10.0), (3, 12.0)).is_none());
    // No such curve rises more than proportionally.
    assert!(PartialSecondOrder::new((1, 10.0), (2, 30.0)).is_none());

    // a = 1e-4, b = -1e-3, c = 1e-2 has its peak at 20.
    let rate = |n: f64| n / (1e-4 * n * n - 1e-3 * n + 1e-2).sqrt();
    let fit = FullSecondOrder::new([(1, rate(1.0)), (4, rate(4.0)), (16, rate(16.0))]).expect("three probes");
    close(fit.a, 1e-4);
    close(fit.b, -1e-3);
    close(fit.c, 1e-2);
    assert_eq!(fit.best(128), 20);
    assert_eq!(fit.best(12), 12);
    close(fit.rate(20), rate(20.0));
    assert!(FullSecondOrder::new([(1, 5.0), (1, 6.0), (2, 7.0)]).is_none());
}

/// A path in its steady state: the rate and the loss of n of our streams.
#[derive(Clone, Copy)]
struct Steady {
    capacity: f64,
    rtt: f64,
    /// Loss rate that does not depend on the streams.
    random: f64,
    /// Number of others' streams.
    others: f64,
    /// A stream's window in bytes.
    window: f64,
}

impl Steady {
    /// Our rate, the others' rate, and the loss rate.
    fn at(&self, n: u32) -> (f64, f64, f64) {
        let n = f64::from(n);
        // Mathis: 1448 x 8 / rtt x sqrt(1.5 / p). The loss is what fits all streams into the capacity, or the random
        // loss if that is more.
        let fits = 1.5 * (1448.0 * 8.0 * (n + self.others) / (self.rtt * self.capacity)).powi(2);
        let stream = |p: f64| 1448.0 * 8.0 / self.rtt * (1.5 / p).sqrt();
        let window = self.window * 8.0 / self.rtt;
        if self.others == 0.0 && window * n <= self.capacity {
            return (n * window.min(stream(self.random)), 0.0, self.random);
        }
        let p = self.random.max(fits);
        let each = stream(p).min(self.capacity / (n + self.others));
        (n * each.min(window), self.others * each, p)
    }
}

/// Runs the controller for `epochs` epochs of six round trips. Returns the numbers at the end of each, and the
/// controller.
fn run(path: impl Fn(usize) -> Steady, policy: Policy, epochs: usize, seed: u64) -> (Vec<u32>, Controller) {
    let mut controller = Controller::new(policy, Limits { first: 1, most: 128 }, 1);
    let (mut totals, mut now) = (Totals::default(), Time::ZERO);
    let mut state = seed;
    // Uniform in -1..1; the sum of three is about normal.
    let mut noise = || {
        (0..3)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) as f64 / f64::from(1_u32 << 30) - 1.0
            })
            .sum::<f64>()
    };
    let mut numbers = Vec::new();
    for round in 0..6 * epochs {
        let n = controller.target();
        controller.on_round(now, &totals, n);
        let path = path(round / 6);
        let n = controller.target();
        if round % 6 == 5 {
            numbers.push(n);
        }
        let time = (controller.deadline() - now).as_secs_f64();
        now = controller.deadline();
        let (rate, _, loss) = path.at(n);
        // 3 % noise of each epoch, which has six round trips.
        let bytes = rate * (1.0 + 0.03 * 6_f64.sqrt() * noise()) * time / 8.0;
        let segments = bytes / 1448.0;
        let lost = segments * loss;
        totals.delivered += bytes as u64;
        totals.sent += segments as u64;
        totals.lost += (lost + lost.sqrt() * noise()).round().max(0.0) as u64;
        totals.rtt = Time::from_secs_f64(path.rtt);
        totals.window_limited = path.window * 8.0 / path.rtt * f64::from(n) < rate * 1.1;
    }
    (numbers, controller)
}

/// Means over the last 50 of 200 epochs and ten seeds: our rate as a part of the best number's, and the others' rate as
/// a part of what they have beside one stream.
fn judge(path: Steady, policy: Policy) -> (f64, f64, f64) {
    let best = (1..=128).map(|n| path.at(n).0).fold(0.0, f64::max);
    let (mut ours, mut theirs, mut number) = (0.0, 0.0, 0.0);
    for seed in 1..=10 {
        let (numbers, _) = run(|_| path, policy, 200, seed * 977);
        for n in &numbers[150..] {
            let (rate, others, _) = path.at(*n);
            ours += rate / best / 500.0;
            theirs += others / path.at(1).1 / 500.0;
            number += f64::from(*n) / 500.0;
        }
    }
    (ours, theirs, number)
}

const IDLE_LOSSY: Steady = Steady { capacity: 1e9, rtt: 0.1, random: 1e-3, others: 0.0, window: 1e12 };
const WINDOWS: Steady = Steady { capacity: 1e9, rtt: 0.2, random: 1e-9, others: 0.0, window: 262_144.0 };
const CLEAN: Steady = Steady { capacity: 1e9, rtt: 0.1, random: 1e-9, others: 0.0, window: 1e12 };
const CONGESTED: Steady = Steady { capacity: 1e8, rtt: 0.1, random: 1e-9, others: 10.0, window: 1e12 };

#[test]
fn random_loss_is_made_up_for_unless_polite() {
    // 128 streams of 4.49 Mbit/s fill 57 % of the capacity. More would be better, so the limit is used.
    for policy in [Policy::Fill, Policy::Greedy] {
        let (ours, _, number) = judge(IDLE_LOSSY, policy);
        assert!(ours > 0.95, "{policy:?}: {ours} of the best with {number} streams");
    }
    let (_, _, number) = judge(IDLE_LOSSY, Policy::Polite);
    assert!(number < 1.05, "{number}");
}

#[test]
fn windows_are_made_up_for_by_all() {
    // 96 streams of 256 KiB in 200 ms.
    for policy in [Policy::Polite, Policy::Fill, Policy::Greedy] {
        let (ours, _, number) = judge(WINDOWS, policy);
        assert!(ours > 0.85, "{policy:?}: {ours} of the best with {number} streams");
    }
}

#[test]
fn one_stream_that_fills_the_path_stays_alone() {
    for policy in [Policy::Polite, Policy::Fill, Policy::Greedy] {
        let (ours, _, number) = judge(CLEAN, policy);
        assert!(ours > 0.95 && number < 1.6, "{policy:?}: {ours} with {number} streams");
    }
}

#[test]
fn on_a_shared_path_the_policy_decides_what_others_keep() {
    let (_, polite, _) = judge(CONGESTED, Policy::Polite);
    let (_, fill, number) = judge(CONGESTED, Policy::Fill);
    let (_, greedy, _) = judge(CONGESTED, Policy::Greedy);
    // Three streams beside ten: they keep 10/13 of the path, 11/13 = 85 % of what they have beside one.
    assert!(polite > 0.95, "polite: {polite}");
    assert!(fill > 0.75, "fill: {fill} with {number} streams");
    assert!(greedy < 0.4, "greedy: {greedy}");
}

#[test]
fn it_follows_a_path_that_changes() {
    // An idle path with random losses, then others come: the part that they keep of their rate beside one stream, 100
    // epochs later.
    let capacity = 1e8;
    let idle = Steady { capacity, random: 1e-3, ..IDLE_LOSSY };
    let busy = Steady { others: 10.0, ..idle };
    let mut kept = 0.0;
    for seed in 1..=10 {
        let (numbers, _) = run(|epoch| if epoch < 150 { idle } else { busy }, Policy::Fill, 300, seed * 31);
        assert!(numbers[149] >= 14, "22 streams fill it: {}", numbers[149]);
        kept += numbers[250..].iter().map(|n| busy.at(*n).1 / busy.at(1).1 / 500.0).sum::<f64>();
    }
    assert!(kept > 0.7, "{kept}");
    // The others go again.
    let (numbers, _) = run(|epoch| if epoch < 150 { busy } else { idle }, Policy::Fill, 400, 5);
    assert!(numbers[399] >= 14, "{}", numbers[399]);
}

#[test]
fn an_application_with_little_to_say_teaches_nothing() {
    let mut controller = Controller::new(Policy::Greedy, Limits::default(), 4);
    let mut totals = Totals { idle: true, rtt: Time::from_ms(50), ..Totals::default() };
    for _ in 0..300 {
        totals.delivered += 1000;
        assert!(!controller.on_round(controller.deadline(), &totals, 4));
    }
    assert_eq!((controller.target(), controller.reason(), controller.rate()), (4, Reason::Idle, None));
    // Epochs in which some streams are missing do not count either.
    totals.idle = false;
    for _ in 0..300 {
        totals.delivered += 1_000_000;
        assert!(!controller.on_round(controller.deadline(), &totals, 3));
    }
}

/// One round trip of 100 ms at so many Mbit/s, without losses.
fn round(controller: &mut Controller, totals: &mut Totals, mbps: u64, streams: u32) {
    let bytes = mbps * 1_000_000 / 8 / 10;
    totals.delivered += bytes;
    totals.sent += bytes / 1448;
    totals.lost_most = 0;
    controller.on_round(controller.deadline(), totals, streams);
}

/// One round trip in which chance takes one segment in a thousand, of different streams.
fn lossy_round(controller: &mut Controller, totals: &mut Totals, mbps: u64, streams: u32, state: &mut u64) {
    for _ in 0..mbps * 1_000_000 / 8 / 10 / 1448 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        totals.lost += u64::from((*state >> 33).is_multiple_of(1000));
    }
    round(controller, totals, mbps, streams);
}

/// One round trip to begin with, and one with a queue.
fn queue(controller: &mut Controller, totals: &mut Totals) {
    let rtt = std::mem::replace(&mut totals.rtt, Time::from_ms(130));
    round(controller, totals, 1, 4);
    round(controller, totals, 1, 4);
    totals.rtt = rtt;
}

fn at_100_ms(law: Law) -> Totals {
    let rtt = Time::from_ms(100);
    Totals { rtt, rtt_min: rtt, mss: Bytes::new(1448), law, ..Totals::default() }
}

#[test]
fn random_losses_say_how_many_it_takes() {
    let run = |law, policy, mut seed| {
        let mut controller = Controller::new(policy, Limits { first: 4, most: 128 }, 4);
        let mut totals = at_100_ms(law);
        queue(&mut controller, &mut totals);
        for mbps in [1, 2, 4, 8, 16, 32, 64, 128, 150, 150, 150, 150] {
            lossy_round(&mut controller, &mut totals, mbps, 4, &mut seed);
        }
        // Slow start is over. Rates are not judged, so only the model has a say.
        totals.credit_limited = true;
        for _ in 0..100 {
            if controller.reason() != Reason::Modelled {
                lossy_round(&mut controller, &mut totals, 30, 4, &mut seed);
            }
        }
        (controller.target(), controller.reason())
    };
    // CUBIC has 4.49 Mbit/s at that (RFC 9438, section 4.3: as Reno); 1.15 x 150 / 4.49 = 38.4. Eight losses tell it to
    // 18 %, the mean of sixty such to 2.3 %. That it ends with a loss makes the rate an eighth more (as inverse binomial
    // sampling does), the number a sixteenth.
    for law in [Law::Cubic, Law::Reno] {
        let numbers = (1..=60).map(|seed| run(law, Policy::Fill, seed * 977));
        let sum: u32 =
            numbers.inspect(|(_, reason)| assert_eq!(*reason, Reason::Modelled)).map(|(number, _)| number).sum();
        let mean = f64::from(sum) / 60.0;
        assert!((36.0..=43.5).contains(&mean), "{law:?}: {mean}");
    }
    // BBR has no model here, and `polite` makes up for windows only.
    assert_eq!(run(Law::Unknown, Policy::Fill, 1).0, 4);
    assert_eq!(run(Law::Cubic, Policy::Polite, 1).0, 1);
}

#[test]
fn a_model_does_not_wait_for_a_doubling() {
    let run = |full: bool| {
        let mut controller = Controller::new(Policy::Fill, Limits { first: 4, most: 128 }, 4);
        let mut totals = at_100_ms(Law::Cubic);
        if full {
            queue(&mut controller, &mut totals);
        }
        while controller.target() == 4 {
            round(&mut controller, &mut totals, 150, 4);
        }
        assert_eq!((controller.target(), controller.reason()), (8, Reason::TryMore));
        // Losses come while eight are tried.
        (totals.credit_limited, totals.starting) = (true, true);
        let mut seed = 1;
        for _ in 0..60 {
            if controller.target() == 8 {
                lossy_round(&mut controller, &mut totals, 20, 8, &mut seed);
            }
        }
        assert_eq!(controller.reason(), Reason::Modelled);
        let (from, rate) = controller.compared().expect("a try");
        // The comparison is with the model's rate of four, and not with their rate in slow start.
        assert_eq!(from, 4);
        (f64::from(controller.target()), rate.as_bps() as f64 / 4e6)
    };
    // Nothing shows that the path has no more than 150 Mbit/s: twice that by the rate of one stream.
    let (number, stream) = run(false);
    assert!((300.0..300.0 + stream).contains(&(number * stream)), "{number} of {stream} Mbit/s");
    let (number, stream) = run(true);
    assert!((172.5..172.5 + stream).contains(&(number * stream)), "{number} of {stream} Mbit/s");
}

/// A model that took others' queue for chance: with its number streams carry as much more as it said, and lose far more
/// than it took for chance, although no epoch before has shown what is usual.
#[test]
fn a_number_that_makes_losses_is_not_the_models() {
    let run = |one_in: u64| {
        let mut controller = Controller::new(Policy::Fill, Limits { first: 4, most: 128 }, 4);
        let mut totals = at_100_ms(Law::Cubic);
        let mut seed = 1;
        for mbps in [32, 64, 128, 150, 150, 150, 150] {
            round(&mut controller, &mut totals, mbps, 4);
        }
        totals.credit_limited = true;
        while controller.target() == 4 {
            lossy_round(&mut controller, &mut totals, 18, 4, &mut seed);
        }
        assert_eq!(controller.reason(), Reason::Modelled);
        totals.credit_limited = false;
        let number = controller.target();
        while controller.reason() == Reason::Modelled {
            totals.lost += 1295 / one_in;
            round(&mut controller, &mut totals, 150, number);
        }
        controller.reason()
    };
    assert_eq!(run(1000), Reason::Gained, "as often as before");
    assert_eq!(run(300), Reason::Lossy, "three times as often");
}

/// Streams that cannot be opened: a try is judged by those that there are.
#[test]
fn a_try_does_not_wait_for_streams_that_do_not_come() {
    let mut controller = Controller::new(Policy::Fill, Limits { first: 4, most: 128 }, 4);
    let mut totals = at_100_ms(Law::Bbr);
    while controller.target() == 4 {
        round(&mut controller, &mut totals, 100, 4);
    }
    assert_eq!(controller.target(), 8);
    for _ in 0..100 {
        if controller.target() == 8 {
            round(&mut controller, &mut totals, 150, 6);
        }
    }
    assert_eq!((controller.target(), controller.reason()), (6, Reason::TryMore));
    while controller.reason() == Reason::TryMore {
        round(&mut controller, &mut totals, 150, 6);
    }
    // Half as many again carry half as much again.
    assert_eq!((controller.target(), controller.reason()), (6, Reason::Gained));
}

#[test]
fn a_full_path_gets_no_more_streams() {
    for (rtt_ms, most, reason) in [(100, 8, Reason::TryMore), (130, 4, Reason::Full)] {
        let mut controller = Controller::new(Policy::Fill, Limits { first: 4, most: 128 }, 4);
        let mut totals = Totals { rtt: Time::from_ms(rtt_ms), ..at_100_ms(Law::Cubic) };
        for _ in 0..20 {
            round(&mut controller, &mut totals, 150, 4);
        }
        assert_eq!((controller.target(), controller.reason()), (most, reason), "{rtt_ms} ms");
    }
}

#[test]
fn windows_are_met_by_four_times_as_many() {
    // 3 MB in 100 ms are 240 Mbit/s for each stream; the path has 1000. `mbps` is the rate of so many streams.
    let run = |mbps: fn(u32) -> u64, rounds: u32| {
        let mut controller = Controller::new(Policy::Fill, Limits { first: 1, most: 128 }, 1);
        let mut totals = at_100_ms(Law::Bbr);
        let mut numbers = vec![1];
        for _ in 0..rounds {
            let n = controller.target();
            totals.window_limited = u64::from(n) * 240 < 1000;
            round(&mut controller, &mut totals, mbps(n), n);
            if controller.target() != n {
                numbers.push(controller.target());
            }
        }
        numbers
    };
    // One epoch of six round trips is not counted, and one is, since windows leave no doubt: four. Their windows are
    // still the limit. Sixteen gain too little, and four carry what they have.
    assert_eq!(run(|n| (u64::from(n) * 240).min(1000), 13), [1, 4]);
    assert_eq!(run(|n| (u64::from(n) * 240).min(1000), 60), [1, 4, 16, 4]);
    // If four have no more than two, two are enough. The one step that was too wide is not taken back whole.
    assert_eq!(run(|n| (u64::from(n) * 240).min(490), 40), [1, 4, 2]);
}

#[test]
fn what_still_gains_is_not_judged() {
    let mut controller = Controller::new(Policy::Fill, Limits { first: 4, most: 128 }, 4);
    let mut totals = at_100_ms(Law::Bbr);
    totals.window_limited = true;
    while controller.target() == 4 {
        round(&mut controller, &mut totals, 200, 4);
    }
    // Sixteen streams carry an eighth more in each epoch. After two epochs that is far too little for four times as
    // many; after eleven it is enough.
    let mut rate = 200.0;
    for _ in 0..12 {
        assert_eq!((controller.target(), controller.reason()), (16, Reason::TryMore), "{rate}");
        for _ in 0..6 {
            round(&mut controller, &mut totals, rate as u64, 16);
        }
        rate *= 1.125;
    }
    for _ in 0..12 {
        if controller.reason() == Reason::TryMore {
            round(&mut controller, &mut totals, rate as u64, 16);
        }
    }
    assert_eq!((controller.target(), controller.reason()), (16, Reason::Gained), "{rate}");
}

/// Eight streams beside others of a full path, which four were added to: they carry no more than four did. As long as the
/// new ones' windows grow towards the others' the try goes on, and at most ten epochs longer.
#[test]
fn newcomers_that_catch_up_are_not_judged() {
    let refused_after = |part: fn(u32) -> f64| {
        let mut controller = Controller::new(Policy::Greedy, Limits { first: 4, most: 128 }, 4);
        let mut totals = at_100_ms(Law::Bbr);
        while controller.target() == 4 {
            round(&mut controller, &mut totals, 100, 4);
        }
        let mut epochs = 0;
        while controller.reason() == Reason::TryMore && epochs < 100 {
            totals.newcomers = Some(part(epochs));
            for _ in 0..6 {
                round(&mut controller, &mut totals, 100, 8);
            }
            epochs += 1;
        }
        assert_eq!((controller.target(), controller.reason()), (4, Reason::TooLittle));
        epochs
    };
    // One epoch that does not count, and eight that do, since there shall be fewer again.
    assert_eq!(refused_after(|_| 1.0), 9);
    assert_eq!(refused_after(|_| 0.5), 9);
    assert_eq!(refused_after(|epoch| 0.11 + 0.05 * f64::from(epoch)), 17, "nine tenths in the 17th");
    assert_eq!(refused_after(|epoch| 0.01 * f64::from(epoch)), 19);
}

#[test]
fn newcomers_are_those_beyond_the_number_before() {
    let part = |before, windows: &[u64]| {
        let mut newcomers = Newcomers::beyond(before);
        for window in windows {
            newcomers.add(*window);
        }
        newcomers.part()
    };
    assert_eq!(part(Some(2), &[10, 30, 5, 15, 10]), Some(0.5));
    assert_eq!(part(Some(2), &[10, 30]), None);
    assert_eq!(part(Some(5), &[10, 30]), None);
    assert_eq!(part(Some(1), &[0, 30]), None);
    assert_eq!(part(None, &[10, 30]), None);
}

#[test]
fn an_application_that_has_no_more_keeps_what_brought_more() {
    for (mbps, number) in [(600, 16), (150, 4)] {
        let mut controller = Controller::new(Policy::Fill, Limits { first: 4, most: 128 }, 4);
        let mut totals = at_100_ms(Law::Bbr);
        totals.window_limited = true;
        while controller.target() == 4 {
            round(&mut controller, &mut totals, 200, 4);
        }
        totals.idle = true;
        for _ in 0..6 {
            round(&mut controller, &mut totals, mbps, 16);
        }
        assert_eq!((controller.target(), controller.reason()), (number, Reason::Idle));
    }
}

#[test]
fn credit_and_slow_start_teach_nothing() {
    let limits: [fn(&mut Totals); 2] = [|totals| totals.credit_limited = true, |totals| totals.starting = true];
    for limit in limits {
        let mut controller = Controller::new(Policy::Greedy, Limits { first: 4, most: 128 }, 4);
        let mut totals = at_100_ms(Law::Unknown);
        limit(&mut totals);
        for _ in 0..60 {
            round(&mut controller, &mut totals, 100, 4);
        }
        assert_eq!((controller.target(), controller.rate()), (4, None));
    }
}
