//! Long flows, incast and shuffle against ns-2 2.35 and ns-3.37 (`reference/*.csv`). Tolerances are how far those two
//! agree with each other; where we lie outside, the test says why and holds what we stand for instead.

use crate::reference::{
    Dumbbell, dumbbell_table, incast, incast_clocks_table, incast_table, incast_with_clocks, incast_with_requests,
    red_table, shuffle, shuffle_table, tcp,
};
use net::{Discipline, Limit, RedSpec};
use tcp::control::{ControlKind, IncreaseRule};
use tcp::{Config, IdleRestart, Recovery, ReductionBase};
use units::{Bytes, Time};

/// The relative distance to the nearest of some references.
fn off(value: f64, references: &[f64]) -> f64 {
    references.iter().map(|reference| (value / reference - 1.0).abs()).fold(f64::INFINITY, f64::min)
}

fn near(what: &str, value: f64, references: &[f64], tolerance: f64) {
    assert!(off(value, references) <= tolerance, "{what}: {value}, references {references:?}, tolerance {tolerance}");
}

#[test]
fn long_sack_flows() {
    let table = dumbbell_table();
    for (flows, mbps, length) in [(1, 10, 60), (2, 10, 60), (16, 10, 60), (1, 100, 30), (16, 100, 30)] {
        let got = Dumbbell::new(flows, mbps, 40, length).run();
        let (nf, bw) = (flows.to_string(), mbps.to_string());
        let rows = table.rows(&[("proto", "Sack"), ("nf", &nf), ("bw", &bw), ("rtt", "40"), ("loss", "0")]);
        let rows: Vec<_> = rows.into_iter().filter(|row| ["100000", "0"].contains(&row.text("wnd"))).collect();
        assert_eq!(rows.len(), 2, "ns-2 and ns-3");
        let column = |name| rows.iter().map(|row| row.number(name)).collect::<Vec<_>>();
        let what = format!("{flows} flows, {mbps} Mbit/s: {got:?}");
        near(&format!("goodput of {what}"), got.goodput, &column("goodput_warm_mbps"), 0.01);
        near(&format!("drops of {what}"), got.drops as f64, &column("drops"), 0.1);
        near(&format!("mean queue of {what}"), got.queue, &column("qmean_warm"), 0.1);
        near(&format!("hops of {what}"), got.hops as f64, &column("hops"), 0.01);
    }
}

/// ns-2 without its `wait_`, which spaces drops otherwise than the paper and drops a fifth fewer.
#[test]
fn long_flows_through_red() {
    let table = red_table();
    for (ecn, adaptive) in [(false, false), (true, false), (false, true), (true, true)] {
        let run = |seed| {
            let mut dumbbell = Dumbbell::new(4, 10, 42, 60);
            (dumbbell.access, dumbbell.queue, dumbbell.seed) = (Time::from_us(500), 200, seed);
            dumbbell.tcp.ecn = ecn;
            let (min, max) = if adaptive { (10, 30) } else { (5, 15) };
            dumbbell.discipline = Discipline::Red(RedSpec {
                min: Some(Limit::Packets(min)),
                max: Some(Limit::Packets(max)),
                weight: Some(0.002),
                adaptive,
                packet: Bytes::new(1_500),
                ..RedSpec::default()
            });
            dumbbell.run()
        };
        let runs: Vec<_> = (1..=3).map(run).collect();
        let mean = |of: fn(&crate::reference::DumbbellResult) -> f64| runs.iter().map(of).sum::<f64>() / 3.0;
        let (e, a) = (u8::from(ecn).to_string(), u8::from(adaptive).to_string());
        let ns2 = |column| [table.mean(&[("ecn", &e), ("adaptive", &a), ("wait", "false")], column)];
        let what = format!("ECN {ecn}, adaptive {adaptive}: {runs:?}");
        near(&format!("goodput, {what}"), mean(|run| run.goodput), &ns2("goodput_warm_mbps"), 0.01);
        near(&format!("drops, {what}"), mean(|run| run.drops as f64), &ns2("drops"), 0.15);
        near(&format!("mean queue, {what}"), mean(|run| run.queue), &ns2("qmean_warm"), 0.1);
    }
}

#[test]
fn long_flows_without_sack() {
    // ns-3 NewReno is no reference; with a slow start of one flow that loses 700 segments at once, only the timer ends
    // recovery.
    let table = dumbbell_table();
    for (flows, mbps, length) in [(1, 10, 60), (2, 10, 60), (16, 10, 60), (1, 100, 30), (16, 100, 30)] {
        let mut dumbbell = Dumbbell::new(flows, mbps, 40, length);
        dumbbell.tcp.sack = false;
        // ns-2's rules, as in the tables of docs/fidelity.md.
        (dumbbell.tcp.increase, dumbbell.tcp.reduction_base) = (IncreaseRule::PerAck, ReductionBase::Window);
        let got = dumbbell.run();
        let (nf, bw) = (flows.to_string(), mbps.to_string());
        let wanted = [("sim", "ns2"), ("proto", "NewReno"), ("nf", &nf), ("bw", &bw), ("loss", "0")];
        let what = format!("{flows} flows, {mbps} Mbit/s: {got:?}");
        near(&format!("goodput of {what}"), got.goodput, &[table.mean(&wanted, "goodput_warm_mbps")], 0.01);
        near(&format!("drops of {what}"), got.drops as f64, &[table.mean(&wanted, "drops")], 0.1);
    }
}

#[test]
fn long_cubic_flows() {
    let table = dumbbell_table();
    for (flows, mbps, length) in [(1, 10, 60), (16, 10, 60), (1, 100, 30), (16, 100, 30)] {
        let got = Dumbbell::new(flows, mbps, 40, length).control(ControlKind::Cubic).run();
        let (nf, bw) = (flows.to_string(), mbps.to_string());
        let wanted = [("proto", "Cubic"), ("nf", &nf), ("bw", &bw), ("loss", "0"), ("wnd", "0")];
        let expected = table.mean(&wanted, "goodput_warm_mbps");
        near(&format!("goodput of {flows} flows, {mbps} Mbit/s: {got:?}"), got.goodput, &[expected], 0.01);
    }
}

#[test]
fn a_window_limits_to_one_window_per_round_trip() {
    let table = dumbbell_table();
    for rtt in [40, 539] {
        let got = Dumbbell::new(1, 100, rtt, 100).window(44).run();
        // Round trip: propagation, and the transmission of segment and acknowledgement on three links each.
        let round_trip = rtt as f64 * 1e-3 + (1_500.0 + 40.0) * 8.0 * (1e-8 + 2e-9);
        let closed_form = 44.0 * 1_460.0 * 8.0 / round_trip / 1e6;
        near(&format!("{rtt} ms"), got.goodput, &[closed_form], 0.01);
        let rtt = rtt.to_string();
        for wnd in ["44", "65535"] {
            let wanted = [("proto", "Sack"), ("nf", "1"), ("bw", "100"), ("rtt", &rtt), ("loss", "0"), ("wnd", wnd)];
            near(&format!("{rtt} ms"), got.goodput, &[table.mean(&wanted, "goodput_warm_mbps")], 0.01);
        }
    }
}

#[test]
fn random_loss() {
    let table = dumbbell_table();
    for (loss, rtt, tolerance) in [("0.001", 40, 0.05), ("0.01", 40, 0.15)] {
        let seeds = 1..=8_u32;
        let runs =
            seeds.map(|seed| Dumbbell::new(1, 100, rtt, 100).loss(loss.parse().unwrap(), seed.into()).run().goodput);
        let mean = runs.sum::<f64>() / 8.0;
        let rtt = rtt.to_string();
        let reference = |sim, wnd| {
            let wanted = [("sim", sim), ("proto", "Sack"), ("rtt", &rtt), ("loss", loss), ("wnd", wnd)];
            table.mean(&wanted, "goodput_warm_mbps")
        };
        near(&format!("loss {loss}, {rtt} ms"), mean, &[reference("ns2", "100000"), reference("ns3", "0")], tolerance);
        // Mathis et al., CCR 27(3), 1997: MSS / RTT * sqrt(3/2) / sqrt(p), every segment acknowledged.
        let p: f64 = loss.parse().unwrap();
        let mathis = 1_460.0 * 8.0 / (rtt.parse::<f64>().unwrap() * 1e-3) * (1.5 / p).sqrt() / 1e6;
        near(&format!("loss {loss}, Mathis"), mean, &[mathis], 0.15);
    }
}

/// Blocks as the incast table counts them: ns-3 clocks them from the client's request, which takes one way, to the last
/// byte, and ns-2 from the servers' start to the last acknowledgement, which takes the other.
#[test]
fn incast_without_loss_takes_the_time_of_its_bytes() {
    let got = incast(2, 32_768, 300, tcp(), 1);
    // 46 segments of both senders on the client's link, and the first one's way there.
    let bytes = 2.0 * (32_768.0 + 23.0 * 40.0);
    let closed_form = bytes * 8e-9 + 1_500.0 * 8e-9 + 50e-6;
    near("block", got.block_p50, &[closed_form], 0.01);
    assert_eq!((got.drops, got.timeouts), (0, 0));
    let wanted = [("N", "2"), ("proto", "Sack"), ("sru", "32768"), ("minrto", "0.2"), ("seed", "1"), ("sim", "ns3")];
    let asked = incast_with_requests(2, 1, 32_768, 300, tcp(), 1);
    assert_eq!((asked.drops, asked.timeouts), (0, 0));
    near("ns-3's block", asked.block_p50, &[incast_table().mean(&wanted, "blk_p50")], 0.01);
}

/// Both references take a backed-off timeout back with the first new acknowledgement. RFC 6298 waits for a measured
/// round trip. When only retransmissions are left of a block after a timeout, they give a round trip only with
/// timestamps, which are on here therefore.
#[test]
fn incast_collapses_to_a_block_per_timeout() {
    let table = incast_table();
    for bytes in [8_192, 32_768] {
        let tcp = Config { timestamps: true, ..tcp() };
        let mean = (1..=4).map(|seed| incast(32, bytes, 300, tcp, seed).goodput).sum::<f64>() / 4.0;
        let sru = bytes.to_string();
        let reference = |sim| {
            let wanted = [("sim", sim), ("N", "32"), ("proto", "Sack"), ("sru", &sru), ("minrto", "0.2")];
            table.mean(&wanted, "goodput_mbps")
        };
        near(&format!("32 servers, {bytes} B"), mean, &[reference("ns2"), reference("ns3")], 0.05);
    }
}

#[test]
fn incast_collapses_where_the_references_do() {
    let table = incast_table();
    // Two servers of 32 KB fill the link, eight collapse; in between only the order of magnitude is sure.
    for (servers, bytes) in [(2, 131_072), (4, 32_768), (4, 65_536), (8, 32_768)] {
        let got = incast(servers, bytes, 300, tcp(), 1).goodput;
        let (n, sru) = (servers.to_string(), bytes.to_string());
        let wanted = [("N", &*n), ("proto", "Sack"), ("sru", &sru), ("minrto", "0.2")];
        let all: Vec<f64> = table.rows(&wanted).iter().map(|row| row.number("goodput_mbps")).collect();
        let (low, high) = all.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), v| (low.min(*v), high.max(*v)));
        assert!(got > low / 2.0 && got < high * 2.0, "{servers} servers, {bytes} B: {got}, references {low} to {high}");
    }
}

/// Servers whose clocks are all alike send packets that come to the port at the very time when one leaves it. Which of
/// the two goes first decides who drops; in ns-2 rounding does. Where clocks differ as Ethernet's may (100 ppm), nothing
/// is simultaneous, and each block goes as in ns-2.
#[test]
fn barrier_reads_go_as_in_ns_2_where_nothing_is_simultaneous() {
    let table = incast_clocks_table();
    for (servers, bytes, restart) in
        [(4, 65_536, false), (8, 32_768, false), (16, 32_768, false), (32, 32_768, false), (64, 32_768, true)]
    {
        let idle_restart = if restart { IdleRestart::Ns2 } else { IdleRestart::Off };
        let (increase, reduction_base) = (IncreaseRule::PerAck, ReductionBase::Window);
        let run = |seed| {
            let tcp = Config { idle_restart, increase, reduction_base, ..tcp() };
            incast_with_clocks(servers, bytes, 300, tcp, seed, 1e-4)
        };
        let runs: Vec<_> = (1..=3).map(run).collect();
        let (n, sru) = (servers.to_string(), bytes.to_string());
        let wanted = [("proto", "Sack"), ("N", &*n), ("sru", &*sru), ("restart", if restart { "1" } else { "0" })];
        let column = |name| table.rows(&wanted).iter().map(|row| row.number(name)).collect::<Vec<_>>();
        let within = |what: &str, ours: f64, said: &[f64]| {
            assert_eq!(said.len(), 5, "seeds of ns-2");
            let (low, high) = said.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), v| (low.min(*v), high.max(*v)));
            assert!(ours > low / 1.05 && ours < high * 1.05, "{servers} servers, {what}: {ours}, ns-2 {said:?}");
        };
        within("drops", runs.iter().map(|run| run.drops as f64).sum::<f64>() / 3.0, &column("drops"));
        within("timeouts", runs.iter().map(|run| run.timeouts as f64).sum::<f64>() / 3.0, &column("timeouts"));
    }
}

#[test]
fn incast_with_a_fine_timeout() {
    let table = incast_table();
    for servers in [4, 8, 32] {
        let mut tcp = tcp();
        tcp.min_rto = Time::from_ms(1);
        let got = incast(servers, 32_768, 200, tcp, 1).goodput;
        let n = servers.to_string();
        let reference = |sim| {
            table.mean(
                &[("sim", sim), ("N", &n), ("proto", "Sack"), ("sru", "32768"), ("minrto", "0.001")],
                "goodput_mbps",
            )
        };
        near(&format!("{servers} servers"), got, &[reference("ns2"), reference("ns3")], 0.15);
    }
}

/// Completion is the last of 56 flows and hangs on the backed-off timeouts of a few: the mean over seeds is compared.
#[test]
fn shuffle_of_eight_nodes() {
    let table = shuffle_table();
    let runs: Vec<_> = (1..=4).map(|seed| shuffle(8, 64, seed, |_| {})).collect();
    let mean =
        |value: fn(&crate::reference::ShuffleResult) -> f64| runs.iter().map(value).sum::<f64>() / runs.len() as f64;
    let reference = |sim, column| {
        let rows = table.rows(&[("sim", sim), ("n", "8"), ("MB", "64")]);
        rows.iter().find(|row| !row.text(column).is_empty()).unwrap_or_else(|| panic!("no {column}")).number(column)
    };
    let both = |column| [reference("ns2", column), reference("ns3", column)];
    near("completion", mean(|run| run.completion), &both("completion"), 0.05);
    near("median flow", mean(|run| run.median), &both("fct_p50"), 0.02);
    near("mean flow", mean(|run| run.mean), &both("fct_mean"), 0.02);
    near("hops", mean(|run| run.hops as f64), &both("hops"), 0.002);
    let drops = |sim| reference(sim, "drops_host") + reference(sim, "drops_switch");
    near("drops", mean(|run| (run.drops_host + run.drops_switch) as f64), &[drops("ns2"), drops("ns3")], 0.03);
    // ns-2 forgets at a timeout what was SACKed and sends it again: 1,265 of its 26,802 retransmissions repair no loss
    // (seed 1).
    near("retransmissions", mean(|run| run.retransmissions as f64), &[reference("ns2", "rtx")], 0.1);
}

/// Drops lie a tenth above both references, whose recoveries send less when a window loses several segments at once:
/// ns-2's *pipe* counts lost segments until a partial acknowledgement, ns-3 halves what is left after SACKed and lost
/// ones, where RFC 5681 halves all that is outstanding. With either in place of RFC 6675 the difference goes: 33,300
/// and 34,600 drops, 33,354 in ns-2, 33,719 in ns-3.
#[test]
fn rfc_6675_drops_a_tenth_more_than_the_references_in_a_shuffle() {
    let table = shuffle_table();
    let drops = |sim| {
        let rows = table.rows(&[("sim", sim), ("n", "8"), ("MB", "64")]);
        let row = rows.iter().find(|row| !row.text("drops_host").is_empty()).unwrap();
        row.number("drops_host") + row.number("drops_switch")
    };
    let runs: Vec<_> = (1..=2).map(|seed| shuffle(8, 64, seed, |tcp| tcp.recovery = Recovery::Rfc6675)).collect();
    let mean = runs.iter().map(|run| (run.drops_host + run.drops_switch) as f64).sum::<f64>() / 2.0;
    near("drops", mean, &[drops("ns2"), drops("ns3")], 0.15);
    let completion = runs.iter().map(|run| run.completion).sum::<f64>() / 2.0;
    near("completion", completion, &[table.mean(&[("sim", "ns2"), ("n", "8"), ("MB", "64")], "completion")], 0.05);
}

#[test]
fn shuffle_without_sack_drops_as_in_ns2() {
    // `benches/shuffle.tcl` with Agent/TCP/Newreno: 28,629 retransmissions, 19,853 + 14,767 drops.
    let runs: Vec<_> = (1..=2).map(|seed| shuffle(8, 64, seed, |tcp| tcp.sack = false)).collect();
    let mean = |value: fn(&crate::reference::ShuffleResult) -> u64| {
        runs.iter().map(|run| value(run) as f64).sum::<f64>() / 2.0
    };
    near("drops", mean(|run| run.drops_host + run.drops_switch), &[34_620.0], 0.1);
    near("retransmissions", mean(|run| run.retransmissions), &[28_629.0], 0.1);
}

#[test]
fn shuffle_of_sixteen_nodes() {
    let table = shuffle_table();
    let runs: Vec<_> = (1..=2).map(|seed| shuffle(16, 16, seed, |_| {})).collect();
    let mean = runs.iter().map(|run| run.mean).sum::<f64>() / 2.0;
    let reference = |sim| table.mean(&[("sim", sim), ("n", "16"), ("MB", "16")], "fct_mean");
    near("mean flow", mean, &[reference("ns2"), reference("ns3")], 0.1);
    let median = runs.iter().map(|run| run.median).sum::<f64>() / 2.0;
    let reference = |sim| table.mean(&[("sim", sim), ("n", "16"), ("MB", "16")], "fct_p50");
    near("median flow", median, &[reference("ns2"), reference("ns3")], 0.06);
}
