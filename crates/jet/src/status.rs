//! How a gateway stands: for `trunkline jet status`, and for Prometheus.

use crate::explain::Decision;
use crate::refusals::Counts;
use crate::shared_session::SharedSession;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;
use stripe::Health;
use stripe::session::Pool;

/// The status of a gateway.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// `near` or `far`.
    pub role: String,
    /// The gateway's sessions.
    pub sessions: Vec<SessionStatus>,
    /// Memory that no session has taken, in bytes.
    pub free_bytes: u64,
    /// What was refused since the gateway began, by cause. An older gateway does not say.
    #[serde(default)]
    pub refusals: BTreeMap<String, u64>,
    /// Connections past the far gateway; none where no rule allows them.
    #[serde(default)]
    pub direct: Option<DirectStatus>,
}

/// How a near gateway's direct connections stand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DirectStatus {
    /// Direct connections that are not over.
    pub connections: usize,
    /// Direct connections since the gateway began.
    pub begun: u64,
    /// Servers that have answered directly. Redirected programs of this host reach them without the gateway.
    pub servers: usize,
    /// Whether new connections go directly.
    pub direct: bool,
    /// The least round trip between the gateways, in seconds, by which that is decided; none without a session.
    pub round_trip_s: Option<f64>,
}

/// The status of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionStatus {
    /// Identifies the session while it lasts.
    pub session: String,
    /// The peer's name, as its key was pinned.
    pub peer: String,
    /// Connections that are not over.
    pub connections: usize,
    /// The number of streams wanted.
    pub target: u32,
    /// The number of streams used for what goes from here.
    pub used: u32,
    /// The reason for the number of streams: a short stable name.
    pub reason: String,
    /// The reason as a sentence, with what was measured.
    pub why: String,
    /// Bytes held for the programs here, and datagrams of both directions.
    pub held_bytes: u64,
    /// Bytes of the peer's held until programs here take them.
    pub unread_bytes: u64,
    /// Bytes acknowledged by the peer's kernel since the session began, all streams together.
    pub delivered_bytes: u64,
    /// Bytes that came from the peer.
    pub received_bytes: u64,
    /// TCP segments with data sent.
    pub segments_sent: u64,
    /// Of the segments, retransmissions.
    pub segments_lost: u64,
    /// Part of the streams' busy time in which the peer's window or the send buffer was the limit: 0 to 1.
    pub window_limited: f64,
    /// Flows of datagrams that are not over.
    pub flows: usize,
    /// Datagrams that streams have taken here.
    pub datagrams_sent: u64,
    /// Datagrams that have come.
    pub datagrams_received: u64,
    /// Datagrams dropped here that no stream took in time.
    pub datagrams_late: u64,
    /// Datagrams dropped here for lack of room.
    pub datagrams_full: u64,
    /// Datagrams dropped here because their destination was unreachable or forbidden.
    pub datagrams_refused: u64,
    /// The session's streams.
    pub streams: Vec<StreamStatus>,
}

/// The status of a stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StreamStatus {
    /// The stream's number.
    pub stream: u32,
    /// The number of its path, from 0.
    pub path: u32,
    /// `usable`, `suspect` or `draining`.
    pub health: String,
    /// Smoothed round-trip time in seconds.
    pub rtt_s: f64,
    /// The delivery rate, actual or possible, in bits per second.
    pub rate_bps: u64,
    /// Bytes acknowledged by the peer's kernel.
    pub delivered_bytes: u64,
    /// Bytes that came from the peer.
    pub received_bytes: u64,
    /// TCP segments with data sent.
    pub segments_sent: u64,
    /// Of the segments, retransmissions.
    pub segments_lost: u64,
}

impl Status {
    /// The status of these sessions, each with its number.
    pub(crate) fn of<'a>(
        role: &str,
        sessions: impl Iterator<Item = (&'a [u8; 16], &'a SharedSession)>,
        pool: &Pool,
        refusals: Counts,
    ) -> Self {
        let sessions = sessions.map(|(id, shared)| session(id, shared)).collect();
        let refusals = refusals.into_iter().map(|(cause, count)| (cause.to_owned(), count)).collect();
        Self { role: role.to_owned(), sessions, free_bytes: pool.free(), refusals, direct: None }
    }

    /// In Prometheus' text format, version 0.0.4.
    pub fn metrics(&self) -> String {
        type Value = fn(&SessionStatus) -> f64;
        let values: [(&str, &str, &str, Value); 18] = [
            ("connections", "gauge", "Connections that are not over.", |session| session.connections as f64),
            ("streams", "gauge", "Streams.", |session| session.streams.len() as f64),
            ("streams_target", "gauge", "Streams that there are to be.", |session| f64::from(session.target)),
            ("streams_used", "gauge", "Streams used for what goes from here.", |session| f64::from(session.used)),
            ("held_bytes", "gauge", "Bytes held for the programs here.", |session| session.held_bytes as f64),
            ("unread_bytes", "gauge", "Bytes of the peer's that programs here have not taken.", |session| {
                session.unread_bytes as f64
            }),
            ("delivered_bytes_total", "counter", "Bytes acknowledged by the peer's kernel.", |session| {
                session.delivered_bytes as f64
            }),
            ("received_bytes_total", "counter", "Bytes received from the peer's kernel.", |session| {
                session.received_bytes as f64
            }),
            ("segments_sent_total", "counter", "TCP segments with data sent.", |session| session.segments_sent as f64),
            ("segments_lost_total", "counter", "TCP segments retransmitted.", |session| session.segments_lost as f64),
            ("window_limited_ratio", "gauge", "Part of busy time limited by windows and buffers.", |session| {
                session.window_limited
            }),
            ("flows", "gauge", "Flows of datagrams that are not over.", |session| session.flows as f64),
            ("datagrams_sent_total", "counter", "Datagrams that streams have taken here.", |session| {
                session.datagrams_sent as f64
            }),
            ("datagrams_received_total", "counter", "Datagrams that have come.", |session| {
                session.datagrams_received as f64
            }),
            ("datagrams_late_total", "counter", "Datagrams dropped here: no stream took them in time.", |session| {
                session.datagrams_late as f64
            }),
            ("datagrams_full_total", "counter", "Datagrams dropped here for lack of room.", |session| {
                session.datagrams_full as f64
            }),
            (
                "datagrams_refused_total",
                "counter",
                "Datagrams dropped here: their destination was refused.",
                |session| session.datagrams_refused as f64,
            ),
            ("rtt_seconds", "gauge", "The streams' least round-trip time.", |session| {
                session.streams.iter().map(|stream| stream.rtt_s).reduce(f64::min).unwrap_or(0.0)
            }),
        ];
        let mut text = String::new();
        for (name, kind, help, value) in values {
            let _ = writeln!(text, "# HELP trunkline_jet_{name} {help}\n# TYPE trunkline_jet_{name} {kind}");
            for session in &self.sessions {
                let (role, peer) = (&self.role, label(&session.peer));
                let labels = format!("role=\"{role}\",peer=\"{peer}\",session=\"{}\"", session.session);
                let _ = writeln!(text, "trunkline_jet_{name}{{{labels}}} {}", value(session));
            }
        }
        let _ = writeln!(
            text,
            "# HELP trunkline_jet_free_bytes Memory that no session has taken.\n# TYPE trunkline_jet_free_bytes gauge"
        );
        let _ = writeln!(text, "trunkline_jet_free_bytes{{role=\"{}\"}} {}", self.role, self.free_bytes);
        let _ = writeln!(
            text,
            "# HELP trunkline_jet_refusals_total Connections and streams refused.\n\
             # TYPE trunkline_jet_refusals_total counter"
        );
        for (cause, count) in &self.refusals {
            let _ = writeln!(text, "trunkline_jet_refusals_total{{role=\"{}\",cause=\"{cause}\"}} {count}", self.role);
        }
        if let Some(direct) = &self.direct {
            let _ = writeln!(
                text,
                "# HELP trunkline_jet_direct_connections Connections past the far gateway that are not over.\n\
                 # TYPE trunkline_jet_direct_connections gauge\n\
                 trunkline_jet_direct_connections{{role=\"{role}\"}} {}\n\
                 # HELP trunkline_jet_direct_connections_total Connections past the far gateway.\n\
                 # TYPE trunkline_jet_direct_connections_total counter\n\
                 trunkline_jet_direct_connections_total{{role=\"{role}\"}} {}\n\
                 # HELP trunkline_jet_direct_servers Servers that programs of this host reach without the gateway.\n\
                 # TYPE trunkline_jet_direct_servers gauge\n\
                 trunkline_jet_direct_servers{{role=\"{role}\"}} {}",
                direct.connections,
                direct.begun,
                direct.servers,
                role = self.role,
            );
        }
        text
    }
}

/// A label's value, escaped as the format requires.
fn label(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn session(id: &[u8; 16], shared: &SharedSession) -> SessionStatus {
    shared.measure();
    shared.look(|session| {
        let census = session.census();
        let (held, unread) = session.memory();
        let tally = session.tally();
        let busy = census.busy.as_secs_f64();
        let streams = session.streams().iter().map(|stream| {
            let gauge = session.gauge(stream.id()).copied().unwrap_or_default();
            let health = match stream.health() {
                Health::Usable => "usable",
                Health::Suspect => "suspect",
                Health::Draining => "draining",
            };
            StreamStatus {
                stream: stream.id().0,
                path: stream.path(),
                health: health.to_owned(),
                rtt_s: gauge.rtt.as_secs_f64(),
                rate_bps: gauge.rate.as_bps(),
                delivered_bytes: gauge.census.delivered,
                received_bytes: gauge.census.received,
                segments_sent: gauge.census.sent,
                segments_lost: gauge.census.lost,
            }
        });
        let Decision { number, used, reason, why } = Decision::of(session);
        SessionStatus {
            session: format!("{:02x}{:02x}{:02x}{:02x}", id[0], id[1], id[2], id[3]),
            peer: shared.peer.clone(),
            connections: session.connection_count(),
            target: number,
            used,
            reason: reason.to_owned(),
            why,
            held_bytes: held.get(),
            unread_bytes: unread.get(),
            delivered_bytes: census.delivered,
            received_bytes: census.received,
            segments_sent: census.sent,
            segments_lost: census.lost,
            window_limited: if busy > 0.0 { census.limited.as_secs_f64() / busy } else { 0.0 },
            flows: session.flow_count(),
            datagrams_sent: tally.sent,
            datagrams_received: tally.received,
            datagrams_late: tally.late,
            datagrams_full: tally.full,
            datagrams_refused: tally.refused,
            streams: streams.collect(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status() -> Status {
        let session = SessionStatus {
            session: "0a1b2c3d".to_owned(),
            peer: "a \"b\" \\ c\nd".to_owned(),
            connections: 1,
            target: 4,
            used: 3,
            reason: String::new(),
            why: String::new(),
            held_bytes: 1 << 40,
            unread_bytes: 0,
            delivered_bytes: 7,
            received_bytes: 11,
            segments_sent: 2,
            segments_lost: 1,
            window_limited: 0.25,
            flows: 2,
            datagrams_sent: 5,
            datagrams_received: 4,
            datagrams_late: 3,
            datagrams_full: 1,
            datagrams_refused: 6,
            streams: Vec::new(),
        };
        Status {
            role: "near".to_owned(),
            sessions: vec![session],
            free_bytes: 9,
            refusals: BTreeMap::from([("not_allowed".to_owned(), 3)]),
            direct: Some(DirectStatus {
                connections: 2,
                begun: 5,
                servers: 1,
                direct: true,
                round_trip_s: Some(0.0002),
            }),
        }
    }

    /// https://prometheus.io/docs/instrumenting/exposition_formats and .../practices/naming.
    #[test]
    fn metrics_are_as_prometheus_has_them() {
        let text = status().metrics();
        let mut known = None;
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("# HELP ") {
                let (name, help) = rest.split_once(' ').expect("name and help");
                assert!(help.ends_with('.') && name.starts_with("trunkline_jet_"), "{line}");
                known = Some(name);
            } else if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (name, kind) = rest.split_once(' ').expect("name and kind");
                assert_eq!(Some(name), known);
                assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
                // Base units: no milliseconds, no megabytes.
                assert!(!["_ms", "_mb", "_mib", "_bits", "_percent"].iter().any(|unit| name.contains(unit)), "{line}");
            } else {
                let (sample, value) = line.rsplit_once(' ').expect("a sample");
                assert!(
                    sample.starts_with(&format!("{}{{", known.expect("its HELP"))) && sample.ends_with('}'),
                    "{line}"
                );
                assert!(value.parse::<f64>().is_ok_and(f64::is_finite), "{line}");
            }
        }
        assert!(text.contains(r#"peer="a \"b\" \\ c\nd",session="0a1b2c3d""#), "{text}");
        for (name, value) in [
            ("flows", 2),
            ("datagrams_sent_total", 5),
            ("datagrams_received_total", 4),
            ("datagrams_late_total", 3),
            ("datagrams_full_total", 1),
            ("datagrams_refused_total", 6),
        ] {
            let sample = text.lines().find(|line| line.starts_with(&format!("trunkline_jet_{name}{{")));
            assert!(sample.is_some_and(|sample| sample.ends_with(&format!(" {value}"))), "{name}: {text}");
        }
        assert!(text.ends_with('\n') && text.contains("trunkline_jet_held_bytes"));
        assert!(text.contains(r#"trunkline_jet_refusals_total{role="near",cause="not_allowed"} 3"#), "{text}");
        assert!(text.contains("trunkline_jet_direct_connections_total{role=\"near\"} 5\n"), "{text}");
        // Both directions, told apart.
        for (name, value) in [("delivered", 7), ("received", 11)] {
            let counted = |line: &str| {
                line.starts_with(&format!("trunkline_jet_{name}_bytes_total{{"))
                    && line.ends_with(&format!("}} {value}"))
            };
            assert!(text.lines().any(counted), "{name}: {text}");
        }
    }
}
