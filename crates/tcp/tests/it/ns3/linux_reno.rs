//! `src/internet/test/tcp-linux-reno-test.cc`: what cwnd becomes when so many segments are acknowledged, one or two at
//! a time. Bytes are counted, in slow start and after it.

use crate::support::control::ack;
use crate::support::{Side, Wire, plain};
use tcp::Config;
use tcp::control::{Ack, Control, Reno, Window};
use units::Time;

/// Seven segments from a window of two: nine, whether or not acknowledgements are delayed.
#[test]
fn slow_start_counts_what_is_acknowledged() {
    for mss in [524, 1500] {
        for delayed_ack in [None, Some(Time::from_ms(200))] {
            let config = Config {
                mss,
                initial_window: 2,
                delayed_ack,
                quick_acks: 0,
                min_rto: Time::from_secs(1),
                abc_limit: None,
                window_validation: false,
                ..plain()
            };
            let mut wire = Wire::new(&config, &config, Time::from_ms(5)).established();
            wire.write(Side::Client, 7 * u64::from(mss));
            wire.run();
            assert_eq!(wire.client.window().cwnd, 9 * u64::from(mss), "{mss} {delayed_ack:?}");
        }
    }
}

/// Six segments from a window of one with ssthresh at two: slow start takes one, two make it three and three more four.
#[test]
fn congestion_avoidance_counts_windows() {
    for mss in [524, 1500] {
        for at_once in [1, 2] {
            let mut window = Window { ssthresh: 2 * u64::from(mss), ..Window::new(mss, 1) };
            let mut reno = Reno::default();
            for _ in 0..6 / at_once {
                let it = Ack { slow_start_limit: None, ..ack(Time::ZERO, at_once * u64::from(mss), &window) };
                reno.on_ack(&mut window, &it);
            }
            assert_eq!(window.cwnd, 4 * u64::from(mss), "{mss} {at_once}");
        }
    }
}
