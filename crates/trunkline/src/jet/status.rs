//! `trunkline jet status`.

use super::options::loopback;
use super::runtime;
use crate::emit;
use crate::failure::Failure;
use jet::monitor::ask;
use jet::status::{SessionStatus, Status as Standing};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::{IsTerminal, stdout};
use std::net::SocketAddr;
use std::time::Duration;

/// How often a terminal is brought up to date.
const PERIOD: Duration = Duration::from_secs(1);
/// Home, and clear to the end of the screen (ECMA-48).
const CLEAR: &str = "\x1b[H\x1b[J";

#[derive(Debug, clap::Args)]
pub struct Status {
    /// Where the gateway answers: what it was told with --monitor
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7609", value_parser = loopback)]
    pub monitor: SocketAddr,
    /// Print it once, even to a terminal
    #[arg(long)]
    pub once: bool,
    /// Print it once, as JSON
    #[arg(long)]
    pub json: bool,
}

/// Shows how a gateway stands; in a terminal, until it is interrupted.
pub fn status(status: &Status) -> Result<(), Failure> {
    let live = !status.once && !status.json && stdout().is_terminal();
    let silent = |error| {
        let hint = "is a gateway running with --monitor at this address?";
        Failure::Input(format!("no answer from {}: {error}; {hint}", status.monitor))
    };
    runtime()?.block_on(async {
        let mut before = ask(status.monitor).await.map_err(silent)?;
        if status.json {
            let text = serde_json::to_string_pretty(&before).map_err(|error| Failure::Internal(error.to_string()))?;
            return emit(&format!("{text}\n"));
        }
        if !live {
            return emit(&text(&before, None));
        }
        while !crate::interrupt::requested() {
            tokio::time::sleep(PERIOD).await;
            let now = ask(status.monitor).await.map_err(silent)?;
            emit(&format!("{CLEAR}{}", text(&now, Some(&before))))?;
            before = now;
        }
        Ok(())
    })
}

/// A page of it. Rates need what was a second before.
fn text(now: &Standing, before: Option<&Standing>) -> String {
    let mut text = format!("{} gateway, {} of memory free\n", now.role, mib(now.free_bytes));
    if now.sessions.is_empty() {
        text += "no session\n";
    }
    for (number, session) in now.sessions.iter().enumerate() {
        let before = before.and_then(|before| before.sessions.get(number));
        show(&mut text, session, before);
    }
    text
}

fn show(text: &mut String, session: &SessionStatus, before: Option<&SessionStatus>) {
    let rate = |now: u64, before: Option<u64>| match before {
        Some(before) => format!("{:.1} Mbit/s", now.saturating_sub(before) as f64 * 8.0 / PERIOD.as_secs_f64() / 1e6),
        None => mib(now),
    };
    let _ = writeln!(
        text,
        "\n{}: {} connections; {} streams, {} wanted, {} used; {} sent; {:.2} % lost; limited by windows {:.0} % of the time; held {}, received {}",
        session.peer,
        session.connections,
        session.streams.len(),
        session.target,
        session.used,
        rate(session.delivered_bytes, before.map(|before| before.delivered_bytes)),
        100.0 * session.segments_lost as f64 / session.segments_sent.max(1) as f64,
        100.0 * session.window_limited,
        mib(session.held_bytes),
        mib(session.received_bytes),
    );
    let _ = writeln!(text, "  {}: {}", session.reason, session.why);
    let _ = writeln!(text, "  stream  path  RTT          sent            lost     state");
    let known: BTreeMap<u32, u64> = before
        .map(|before| before.streams.iter().map(|stream| (stream.stream, stream.delivered_bytes)).collect())
        .unwrap_or_default();
    for stream in &session.streams {
        let sent = rate(stream.delivered_bytes, known.get(&stream.stream).copied());
        let lost = 100.0 * stream.segments_lost as f64 / stream.segments_sent.max(1) as f64;
        let rtt = format!("{:.2} ms", 1000.0 * stream.rtt_s);
        let _ = writeln!(
            text,
            "  {:<6}  {:<4}  {rtt:<11}  {sent:<14}  {:<7}  {}",
            stream.stream,
            stream.path,
            format!("{lost:.2} %"),
            stream.health
        );
    }
}

fn mib(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}
