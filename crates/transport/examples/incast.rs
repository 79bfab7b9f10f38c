//! Flow level beside packets over a grid of barrier-synchronised reads: mean seconds of a round, and how many bytes
//! went by packets at flow level. `docs/models/flow.md` has what comes out.
//!
//!     cargo run --release -p transport --example incast [EVERY]
//!
//! With EVERY, each EVERY-th point only.

#[path = "../tests/it/barrier.rs"]
mod barrier;

use barrier::{Barrier, Host};
use units::{BitRate, Time};

fn main() {
    let every: usize = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(1);
    let mut points = Vec::new();
    for host in [Host::SackReno, Host::Linux] {
        for fresh in [false, true] {
            for marks in [false, true] {
                for rate in [BitRate::from_mbps(100), BitRate::from_gbps(1), BitRate::from_gbps(10)] {
                    for min_rto in [Time::from_ms(200), Time::from_ms(1)] {
                        for buffer in [32, 64, 256] {
                            for bytes in [1_u64 << 10, 8 << 10, 32 << 10, 256 << 10] {
                                for senders in [2, 4, 8, 16, 32, 64] {
                                    let marks = marks.then_some(buffer / 4);
                                    points.push(Barrier { senders, bytes, buffer, min_rto, rate, marks, fresh, host });
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    println!("host,fresh,marks,rate,min_rto,buffer,bytes,senders,packets,flows,carried");
    for point in points.iter().step_by(every) {
        let rounds = (20_000_000 / (u64::from(point.senders) * point.bytes)).clamp(3, 20) as u32;
        let mean = |run: &dyn Fn(u64) -> f64| (1..=3).map(run).sum::<f64>() / 3.0;
        let packets = mean(&|seed| point.packets(rounds, seed).0);
        let flows = mean(&|seed| point.flows(rounds, seed).0);
        let overflow = point.flows(rounds, 1).1;
        let Barrier { senders, bytes, buffer, min_rto, rate, marks, fresh, host } = point;
        println!(
            "{host:?},{fresh},{},{},{},{buffer},{bytes},{senders},{packets:.6},{flows:.6},{}",
            marks.is_some(),
            rate.as_bps(),
            min_rto.as_secs_f64(),
            overflow.map_or(0, |overflow| overflow.carried.get()),
        );
    }
}
