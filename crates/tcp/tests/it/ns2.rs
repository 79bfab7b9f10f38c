//! What ns-2's Sack1 and NewReno do when any packets are lost: `ns2/vectors.csv` and `ns2/open.csv`, written by ns-2
//! 2.35 (`ns2/vectors.tcl`, `ns2/open.tcl`). Random losses of 2 to 30 %, blocks of 3 to 40 segments, each after the one
//! before or on a clock. And its copy of Linux' Reno (`ns2/linux.csv`): a few losses, blocks of 60 to 150 segments.

use crate::support::{Fate, Side, Wire, plain};
use tcp::control::IncreaseRule;
use tcp::{Config, IdleRestart, Recovery, ReductionBase};
use units::{Bytes, Time};

const MSS: u64 = 1000;
const DELAY: Time = Time::from_us(23_170);

struct Block {
    end: f64,
    timeouts: u32,
    retransmissions: u32,
}

/// A connection over ns-2's path that loses these data segments, established; and ns-2's time zero.
fn connected(agent: &str, restart: bool, lost: &[u64]) -> (Wire, Time) {
    let linux = agent == "Linux-reno";
    let config = Config {
        receive_buffer: Bytes::from_mib(64),
        idle_restart: if restart { IdleRestart::Ns2 } else { IdleRestart::Off },
        window_validation: false,
        recovery: if linux { Recovery::Rfc6675 } else { Recovery::FallFloyd },
        increase: if linux { IncreaseRule::Counted } else { IncreaseRule::PerAck },
        start_at_ssthresh: linux,
        reduction_base: ReductionBase::Window,
        sack: agent != "NewReno",
        min_rto: Time::from_ms(200),
        ..plain()
    };
    let mut wire = Wire::new(&config, &config, DELAY).established();
    let start = wire.now - DELAY * 2;
    let (mut sent, lost) = (0, lost.to_vec());
    wire.set_script(move |side, _, segment| {
        sent += u64::from(side == Side::Client && segment.len > 0);
        if side == Side::Client && segment.len > 0 && lost.contains(&sent) { Fate::Drop } else { Fate::Deliver }
    });
    (wire, start)
}

/// The same writes and losses as in `vectors.tcl`.
fn play(agent: &str, segments: u64, pause: Time, restart: bool, lost: &[u64]) -> Vec<Block> {
    let (mut wire, start) = connected(agent, restart, lost);
    let block = |number: u64| {
        wire.write(Side::Client, segments * MSS);
        while wire.client.acknowledged() < number * segments * MSS {
            assert!(wire.step(), "nothing is pending");
        }
        let counters = wire.client.counters();
        let end = (wire.now - start).as_secs_f64();
        if pause > Time::ZERO {
            wire.run_until(wire.now + pause);
        }
        Block { end, timeouts: counters.timeouts, retransmissions: counters.retransmissions as u32 }
    };
    (1..=4).map(block).collect()
}

/// To the millisecond, timeout and retransmission. ns-2's NewReno counts a duplicate acknowledgement also when nothing
/// is outstanding, as after a pause; that is not modelled. One vector of sixty differs, by one timeout.
#[test]
fn any_losses_are_repaired_as_ns_2_repairs_them() {
    let mut others = [0, 0];
    let mut all = [0, 0];
    for line in include_str!("ns2/vectors.csv").lines().skip(2) {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |at: usize| fields[at].parse::<f64>().unwrap();
        let lost: Vec<u64> = fields[4].split_whitespace().map(|lost| lost.parse().unwrap()).collect();
        let got = play(fields[0], number(1) as u64, Time::from_secs_f64(number(2)), fields[3] == "1", &lost);
        let same = got.iter().zip(fields[5..].chunks(3)).all(|(block, said)| {
            let [end, timeouts, retransmissions] = [0, 1, 2].map(|at| said[at].parse::<f64>().unwrap());
            (block.end - end).abs() < 1e-3
                && f64::from(block.timeouts) == timeouts
                && f64::from(block.retransmissions) == retransmissions
        });
        let agent = usize::from(fields[0] == "NewReno");
        all[agent] += 1;
        others[agent] += i32::from(!same);
    }
    assert_eq!(all, [60, 60]);
    assert_eq!(others, [0, 1]);
}

/// To the millisecond. ns-2's copy of Linux' Reno has no handshake: its first packet is data. It halves its rate in steps
/// of its own, which shows in three vectors of 24 by a round trip; without `start_at_ssthresh` six differ.
#[test]
fn congestion_avoidance_begins_as_in_ns_2s_copy_of_linux() {
    let mut others = Vec::new();
    let lines: Vec<&str> = include_str!("ns2/linux.csv").lines().skip(2).collect();
    for line in &lines {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |at: usize| fields[at].parse::<f64>().unwrap();
        let lost: Vec<u64> = fields[1].split_whitespace().map(|lost| lost.parse::<u64>().unwrap() + 1).collect();
        let got = &play("Linux-reno", number(0) as u64, Time::ZERO, false, &lost)[0];
        assert_eq!(f64::from(got.timeouts), number(3), "{line}");
        let end = got.end - (DELAY * 2).as_secs_f64();
        if (end - number(2)).abs() >= 1e-3 {
            others.push((*line, end));
        }
    }
    assert_eq!(lines.len(), 24);
    assert!(others.len() <= 3, "{others:?}");
}

/// Blocks are written on a clock, also while duplicates are counted, in recoveries and after timeouts (`ns2/open.tcl`):
/// to the millisecond, timeout and retransmission. In the last 24 vectors up to twenty are lost in a row.
#[test]
fn what_is_written_meanwhile_is_sent_as_ns_2_sends_it() {
    let mut all = [0, 0];
    for line in include_str!("ns2/open.csv").lines().skip(2) {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |at: usize| fields[at].parse::<f64>().unwrap();
        let lost: Vec<u64> = fields[5].split_whitespace().map(|lost| lost.parse().unwrap()).collect();
        let (blocks, segments, every) = (number(1) as u64, number(2) as u64, Time::from_secs_f64(number(3)));
        let (mut wire, start) = connected(fields[0], fields[4] == "1", &lost);
        for block in 0..blocks {
            wire.run_until((start + every * block).max(wire.now));
            wire.write(Side::Client, segments * MSS);
        }
        while wire.client.acknowledged() < blocks * segments * MSS {
            assert!(wire.step(), "nothing is pending");
        }
        let counters = wire.client.counters();
        let end = (wire.now - start).as_secs_f64();
        assert!((end - number(6)).abs() < 1e-3, "{line}: {end}");
        assert_eq!([f64::from(counters.timeouts), counters.retransmissions as f64], [7, 8].map(number), "{line}");
        all[usize::from(fields[0] == "NewReno")] += 1;
    }
    assert_eq!(all, [124, 60]);
}
