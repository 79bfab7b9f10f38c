//! LIA, OLIA and BALIA against their formulas worked out by hand, and the control that goes by their weights step by
//! step.

use tcp::control::{Ack, Control, Coupled, Coupling, Subflow, Weights, Window};
use units::Time;

fn subflow(segments: u64, rtt_ms: u64, between_losses: u64) -> Subflow {
    Subflow { cwnd: segments * 1000, rtt: Time::from_ms(rtt_ms), between_losses }
}

fn close(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-12, "{value}, expected {expected}");
}

#[test]
fn one_subflow_alone_is_reno() {
    for coupling in [Coupling::Lia, Coupling::Olia, Coupling::Balia] {
        let Weights { increase, decrease } = coupling.weights(&[subflow(17, 80, 5000)], 0);
        close(increase, 1.0);
        close(decrease, 1.0);
    }
}

#[test]
fn lia_as_in_section_3_of_rfc_6356() {
    // Windows of 10,000 and 20,000 bytes, 0.1 and 0.2 s: max(cwnd / rtt^2) = 1e6, sum of cwnd / rtt = 2e5, alpha =
    // 30,000 x 1e6 / 4e10 = 0.75. 1,000 bytes acknowledged on either: 0.75 x 1,000 x 1,000 / 30,000 = 25 bytes, below
    // Reno's 100 and 50.
    let flows = [subflow(10, 100, 0), subflow(20, 200, 0)];
    let grows = |which: usize| Coupling::Lia.weights(&flows, which).increase * 1e6 / flows[which].cwnd as f64;
    close(grows(0), 25.0);
    close(grows(1), 25.0);
    // Never more than Reno on that subflow: with 2,000 bytes at 10 ms beside 100,000 at 500 ms max is 2e7, the sum 4e5,
    // alpha 12.75; 12.75 x 1e6 / 102,000 = 125 bytes where Reno's are 500 and 10.
    let flows = [subflow(2, 10, 0), subflow(100, 500, 0)];
    close(Coupling::Lia.weights(&flows, 0).increase * 1e6 / 2000.0, 125.0);
    close(Coupling::Lia.weights(&flows, 1).increase * 1e6 / 100_000.0, 10.0);
}

#[test]
fn lia_takes_as_much_as_one_tcp_on_the_best_path() {
    // Equal paths: k subflows of window w with total increase per round trip of all equal to one TCP's on a window of k
    // w ... alpha = 1 / k.
    for count in [2_usize, 3, 8] {
        let flows = vec![subflow(12, 60, 0); count];
        close(Coupling::Lia.weights(&flows, 1).increase, 1.0 / (count * count) as f64);
    }
}

#[test]
fn olia_moves_window_to_the_best_path() {
    // l^2 / rtt: 40,000^2 / 0.1 = 1.6e10 against 10,000^2 / 0.2 = 5e8: the first is best, the second has the largest
    // window. (w / rtt)^2 / sum^2 = 1/4 for both.
    let flows = [subflow(10, 100, 40_000), subflow(20, 200, 10_000)];
    close(Coupling::Olia.weights(&flows, 0).increase, 0.25 + 0.5);
    close(Coupling::Olia.weights(&flows, 1).increase, 0.25 - 0.5);
    // The best has the largest window: nothing is moved.
    let flows = [subflow(10, 100, 10_000), subflow(20, 200, 40_000)];
    close(Coupling::Olia.weights(&flows, 0).increase, 0.25);
    close(Coupling::Olia.weights(&flows, 1).increase, 0.25);
    // Two best, one largest, one neither, of four: the best share 1/4, the largest gives it.
    let flows = [subflow(10, 100, 40_000), subflow(10, 100, 40_000), subflow(30, 100, 9_000), subflow(20, 100, 9_000)];
    let part = |segments: f64| (segments / 70.0) * (segments / 70.0);
    close(Coupling::Olia.weights(&flows, 0).increase, part(10.0) + 0.125);
    close(Coupling::Olia.weights(&flows, 1).increase, part(10.0) + 0.125);
    close(Coupling::Olia.weights(&flows, 2).increase, part(30.0) - 0.25);
    close(Coupling::Olia.weights(&flows, 3).increase, part(20.0));
}

#[test]
fn balia_by_its_two_formulas() {
    // Rates of 200,000 and 100,000 bytes/s: alpha is 1 and 2. Increases (2/3)^2 x 1 x 1 and (1/3)^2 x 3/2 x 6/5; a loss
    // takes w / 2 x 1 and x 1.5.
    let flows = [subflow(20, 100, 0), subflow(20, 200, 0)];
    let fast = Coupling::Balia.weights(&flows, 0);
    close(fast.increase, 4.0 / 9.0);
    close(fast.decrease, 1.0);
    let slow = Coupling::Balia.weights(&flows, 1);
    close(slow.increase, 1.8 / 9.0);
    close(slow.decrease, 1.5);
    // alpha = 1.2: no more than that.
    let flows = [subflow(24, 100, 0), subflow(20, 100, 0)];
    close(Coupling::Balia.weights(&flows, 1).decrease, 1.2);
}

fn ack(acked: u64) -> Ack {
    Ack {
        now: Time::from_ms(5),
        acked,
        delivered: acked,
        slow_start_limit: None,
        flight: 20_000,
        una: 1,
        nxt: 20_001,
        cwnd_limited: true,
        smoothed_rtt: Time::from_ms(100),
        least_rtt: Time::from_ms(100),
    }
}

#[test]
fn the_control_goes_by_its_weights() {
    let mut window = Window { cwnd: 10_000, ssthresh: 10_000, ..Window::new(1000, 10) };
    let mut control = Coupled::default();
    control.set_weights(Weights { increase: 0.3, decrease: 1.5 });
    // 0.3 x acked x MSS / cwnd of the moment, in whole bytes, the rest kept.
    let mut exact = 10_000.0;
    for step in 0..500 {
        let acked = 500 + step % 7 * 300;
        exact += 0.3 * acked as f64 * 1000.0 / window.cwnd as f64;
        control.on_ack(&mut window, &ack(acked));
        assert_eq!(window.cwnd, exact as u64, "step {step}");
    }
    // Three quarters of 40,000 bytes outstanding are taken.
    control.on_loss(&mut window, Time::from_ms(9), 40_000);
    assert_eq!((window.cwnd, window.ssthresh), (10_000, 10_000));
    // Below zero it shrinks, to one segment at least.
    control.set_weights(Weights { increase: -0.25, decrease: 1.0 });
    control.on_ack(&mut window, &ack(4000));
    assert_eq!(window.cwnd, 9_900);
    for _ in 0..500 {
        control.on_ack(&mut window, &ack(20_000));
    }
    assert_eq!(window.cwnd, 1000);
    // Not while something else holds it back.
    control.set_weights(Weights::RENO);
    control.on_ack(&mut window, &Ack { cwnd_limited: false, ..ack(20_000) });
    assert_eq!(window.cwnd, 1000);
    // Slow start and timeouts are Reno's.
    control.set_weights(Weights { increase: 0.1, decrease: 0.1 });
    control.on_timeout(&mut window, Time::from_ms(20), 30_000, false);
    assert_eq!((window.cwnd, window.ssthresh), (1000, 15_000));
    control.on_ack(&mut window, &ack(1000));
    assert_eq!(window.cwnd, 2000);
}
