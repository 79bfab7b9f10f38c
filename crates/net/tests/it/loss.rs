//! Losses in bursts against the closed forms of the Gilbert-Elliott wire.

use net::{GilbertElliott, LinkSpec, Loss, Losses};
use units::{BitRate, Time};

/// What a wire does to so many packets: the share lost, and the mean length of runs of losses.
fn tried(loss: Loss, seed: u64, packets: u32) -> (f64, f64) {
    let mut losses = Losses::new(loss, seed, 0);
    let (mut lost, mut runs, mut before) = (0_u32, 0_u32, false);
    for _ in 0..packets {
        let now = losses.next_is_lost();
        lost += u32::from(now);
        runs += u32::from(now && !before);
        before = now;
    }
    (f64::from(lost) / f64::from(packets), f64::from(lost) / f64::from(runs))
}

#[test]
fn bursts_have_their_share_and_their_length() {
    for (share, length) in [(0.001, 4.0), (0.01, 10.0), (0.2, 2.0)] {
        let wire = Loss::Bursts(GilbertElliott::bursts(share, length));
        assert!((wire.mean() - share).abs() < 1e-12, "{}", wire.mean());
        let packets = 4_000_000;
        let (lost, run) = tried(wire, 7, packets);
        // Runs are geometric and independent: the deviation of the number lost is below sqrt(2 length) times the
        // binomial's.
        let deviation = (share * 2.0 * length / f64::from(packets)).sqrt();
        assert!((lost - share).abs() < 4.0 * deviation, "{lost} for {share}, deviation {deviation}");
        let runs = share * f64::from(packets) / length;
        assert!((run / length - 1.0).abs() < 4.0 / runs.sqrt(), "{run} for {length}, {runs} runs");
    }
}

#[test]
fn both_states_lose_with_their_own_probability() {
    let wire = GilbertElliott { to_bad: 0.02, to_good: 0.18, bad: 0.5, good: 0.01 };
    // Bad for a tenth of the time: 0.1 x 0.5 + 0.9 x 0.01.
    assert!((Loss::Bursts(wire).mean() - 0.059).abs() < 1e-12);
    let (lost, _) = tried(Loss::Bursts(wire), 3, 2_000_000);
    assert!((lost - 0.059).abs() < 0.001, "{lost}");
}

/// A wire whose bad state always ends loses packets singly, and independently only in the limit; one without a bad
/// state is a random one's equal in share.
#[test]
fn a_wire_that_never_turns_bad_loses_at_random() {
    let wire = Loss::Bursts(GilbertElliott { to_bad: 0.0, to_good: 1.0, bad: 1.0, good: 0.03 });
    let (share, _) = tried(wire, 1, 1_000_000);
    assert!((share - 0.03).abs() < 4.0 * (0.03_f64 * 0.97 / 1e6).sqrt(), "{share}");
    assert_eq!(tried(wire, 5, 1_000), tried(wire, 5, 1_000));
}

#[test]
fn what_is_no_probability_is_refused() {
    let link = LinkSpec::new(BitRate::from_mbps(1), Time::ZERO);
    let with = |wire| link.clone().with_loss(Loss::Bursts(wire)).check();
    let good = GilbertElliott::bursts(0.01, 5.0);
    assert!(with(good).is_ok());
    assert!(with(GilbertElliott { to_bad: -0.1, ..good }).is_err());
    assert!(with(GilbertElliott { good: f64::NAN, ..good }).is_err());
    assert!(with(GilbertElliott::bursts(0.01, 0.5)).is_err(), "a burst is at least one packet long");
}
