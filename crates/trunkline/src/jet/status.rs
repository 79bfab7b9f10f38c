//! `trunkline jet status`.

use super::options::loopback;
use super::runtime;
use crate::emit;
use crate::failure::Failure;
use crate::screen::Screen;
use jet::monitor::ask;
use jet::status::{SessionStatus, Status as Standing, StreamStatus};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::{IsTerminal, stdout};
use std::net::SocketAddr;
use std::time::Duration;
use units::many;

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
    let mut text = format!("{} gateway, {} of memory free\n", now.role, bytes(now.free_bytes));
    if !now.refusals.is_empty() {
        let counts: Vec<String> = now.refusals.iter().map(|(cause, count)| format!("{count} {cause}")).collect();
        let _ = writeln!(text, "refused: {}", counts.join(", "));
    }
    if let Some(direct) = &now.direct {
        let how = if direct.direct { "new ones go directly" } else { "new ones are carried" };
        let why = direct.round_trip_s.map_or_else(
            || "the path has not been measured".to_owned(),
            |round_trip| format!("a round trip of {:.2} ms at least", 1000.0 * round_trip),
        );
        let open = many(direct.connections, "direct connection");
        let line = format!("{open}, {} since the start; {how}: {why}", direct.begun);
        text += &Screen::of_output().wrapped(&line, 0);
        text.push('\n');
    }
    if now.sessions.is_empty() {
        text += "no session\n";
    }
    for session in &now.sessions {
        let same = |before: &&SessionStatus| before.session == session.session;
        let before = before.and_then(|before| before.sessions.iter().find(same));
        show(&mut text, session, before);
    }
    text
}

fn show(text: &mut String, session: &SessionStatus, before: Option<&SessionStatus>) {
    let rate = |now: u64, before: Option<u64>| match before {
        Some(before) => format!("{:.1} Mbit/s", now.saturating_sub(before) as f64 * 8.0 / PERIOD.as_secs_f64() / 1e6),
        None => bytes(now),
    };
    let _ = writeln!(
        text,
        "\n{}\n  {}; {}, {} wanted, {} used here",
        session.peer,
        many(session.connections, "connection"),
        many(session.streams.len(), "stream"),
        session.target,
        session.used,
    );
    let limited = format!("{:.0} %", 100.0 * session.window_limited);
    let _ = writeln!(
        text,
        "  {} sent, {} received",
        rate(session.delivered_bytes, before.map(|before| before.delivered_bytes)),
        rate(session.received_bytes, before.map(|before| before.received_bytes)),
    );
    let lost = percent(session.segments_lost, session.segments_sent);
    let _ = writeln!(text, "  {lost} of segments lost, {limited} of the time limited by windows");
    let _ = writeln!(
        text,
        "  {} held for the other side, {} for programs here",
        bytes(session.held_bytes),
        bytes(session.unread_bytes),
    );
    if session.flows > 0 || session.datagrams_sent + session.datagrams_received + session.datagrams_late > 0 {
        let (late, full, refused) = (session.datagrams_late, session.datagrams_full, session.datagrams_refused);
        let (sent, received) = (session.datagrams_sent, session.datagrams_received);
        let _ = writeln!(text, "  UDP: {}; {sent} sent, {received} received", many(session.flows, "flow"));
        let _ = writeln!(text, "       dropped here: {late} late, {full} for lack of room, {refused} refused");
    }
    let _ = writeln!(text, "{}", Screen::of_output().wrapped(&format!("{}: {}", session.reason, session.why), 2));
    let _ = writeln!(text, "  stream  path  RTT          sent            received        lost     state");
    let known: BTreeMap<u32, &StreamStatus> =
        before.map(|before| before.streams.iter().map(|stream| (stream.stream, stream)).collect()).unwrap_or_default();
    for stream in &session.streams {
        let before = known.get(&stream.stream);
        let sent = rate(stream.delivered_bytes, before.map(|before| before.delivered_bytes));
        let received = rate(stream.received_bytes, before.map(|before| before.received_bytes));
        let lost = percent(stream.segments_lost, stream.segments_sent);
        let rtt = format!("{:.2} ms", 1000.0 * stream.rtt_s);
        let _ = writeln!(
            text,
            "  {:<6}  {:<4}  {rtt:<11}  {sent:<14}  {received:<14}  {lost:<7}  {}",
            stream.stream, stream.path, stream.health
        );
    }
}

fn percent(part: u64, whole: u64) -> String {
    format!("{:.2} %", 100.0 * part as f64 / whole.max(1) as f64)
}
fn bytes(count: u64) -> String {
    let units = [("GiB", 1_u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match units.into_iter().find(|(_, size)| count >= *size) {
        Some((unit, size)) => format!("{:.1} {unit}", count as f64 / size as f64),
        None => format!("{count} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(delivered: u64, connections: usize) -> Standing {
        let stream = StreamStatus {
            stream: 4_294_967_295,
            path: 1,
            health: "draining".to_owned(),
            rtt_s: 0.539_123,
            rate_bps: 100_000_000_000,
            delivered_bytes: delivered,
            received_bytes: delivered / 1000,
            segments_sent: 1000,
            segments_lost: 1,
        };
        let session = SessionStatus {
            session: "0a1b2c3d".to_owned(),
            peer: "far.example:7608".to_owned(),
            connections,
            target: 128,
            used: 127,
            reason: "window-limited".to_owned(),
            why: "windows or buffers were the limit. ".repeat(9),
            held_bytes: 3 << 20,
            unread_bytes: 0,
            delivered_bytes: delivered,
            received_bytes: delivered / 1000,
            segments_sent: 1000,
            segments_lost: 1,
            window_limited: 1.0,
            flows: connections,
            datagrams_sent: delivered / 1000,
            datagrams_received: 1 << 40,
            datagrams_late: 17,
            datagrams_full: 4,
            datagrams_refused: 2,
            streams: vec![stream],
        };
        Standing { role: "near".to_owned(), sessions: vec![session], free_bytes: 1 << 30, ..Standing::default() }
    }

    #[test]
    fn a_page_fits_a_terminal_and_counts_as_people_do() {
        let (before, now) = (standing(1 << 50, 1), standing((1 << 50) + 125_000_000_000, 2));
        let page = text(&now, Some(&before));
        assert!(page.lines().all(|line| line.chars().count() <= 100), "{page}");
        for part in [
            "1.0 GiB of memory free",
            "2 connections; 1 stream, 128 wanted, 127 used here",
            "window-limited: windows or buffers",
            "1000000.0 Mbit/s sent, 1000.0 Mbit/s received\n",
            "  1000000.0 Mbit/s  1000.0 Mbit/s ",
            "0.10 %",
            "UDP: 2 flows; 1126024906842 sent, 1099511627776 received\n",
            "dropped here: 17 late, 4 for lack of room, 2 refused\n",
            "539.12 ms",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert!(text(&before, None).contains("1 connection; 1 stream,"), "one is one");
        assert!(text(&before, None).contains("UDP: 1 flow;"));
        let mut without = standing(1 << 20, 1);
        let session = &mut without.sessions[0];
        (session.flows, session.datagrams_sent, session.datagrams_received, session.datagrams_late) = (0, 0, 0, 0);
        assert!(!text(&without, None).contains("UDP"), "nobody has asked for it");
        // Another session's counters are not this one's.
        let mut other = standing(1 << 60, 1);
        other.sessions[0].session = "ffffffff".to_owned();
        assert!(
            text(&now, Some(&other)).contains("1048692.4 GiB sent, 1048.7 GiB received"),
            "{}",
            text(&now, Some(&other))
        );
    }
}
