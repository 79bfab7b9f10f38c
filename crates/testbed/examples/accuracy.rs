//! Measures the accuracy of emulated paths on this machine, as root, in a minute and a half:
//!
//!     cargo run --release -p testbed --example accuracy

#[path = "../tests/links/measure.rs"]
mod measure;

use measure::{goodput, round_trips};
use std::time::Duration;
use testbed::link::{LinkError, Pair, Path};
use units::{BitRate, Time};

fn main() -> Result<(), LinkError> {
    println!("| round trip | median | 5 % to 95 % | left late: median, 99 %, worst |\n|---|---|---|---|");
    for ms in [0, 10, 40, 120, 539] {
        let pair = Pair::up(&[Path::new("wan", BitRate::from_mbps(155), Time::from_ms(ms))], 1)?;
        let count = if ms > 200 { 15 } else { 40 };
        let times = round_trips(&pair, pair.addresses()[0].far.into(), count, Duration::from_millis(5));
        let at = |share: f64| times[((times.len() - 1) as f64 * share).round() as usize];
        println!("| {ms} ms | {:.3} ms | {:.3} to {:.3} ms | {} |", at(0.5), at(0.05), at(0.95), lateness(&pair));
    }
    println!(
        "\n| rate | round trip | goodput | of what fits | left late: median, 99 %, worst |\n|---|---|---|---|---|"
    );
    for (mbps, ms) in [(10, 40), (100, 40), (155, 40), (155, 120), (1_000, 10), (1_000, 40)] {
        let path = Path::new("wan", BitRate::from_mbps(mbps), Time::from_ms(ms));
        let most = path.forth.tcp_goodput().map_or(0.0, |rate| rate.as_bps() as f64);
        let pair = Pair::up(&[path], 1)?;
        let (warm_up, length) = (Duration::from_millis(1_500 + 20 * ms), Duration::from_secs(5));
        let got = goodput(&pair, pair.addresses()[0].far.into(), warm_up, length);
        println!(
            "| {mbps} Mbit/s | {ms} ms | {:.2} Mbit/s | {:.1} % | {} |",
            got / 1e6,
            100.0 * got / most,
            lateness(&pair)
        );
    }
    Ok(())
}

/// How late frames left on the way there.
fn lateness(pair: &Pair) -> String {
    pair.report().map_or_else(
        |error| error.to_string(),
        |report| {
            let late = &report.paths[0].forth.lateness;
            let of = |share| late.quantile(share);
            format!("{:.0}, {:.0}, {:.1}", of(0.5), of(0.99), late.worst())
        },
    )
}
