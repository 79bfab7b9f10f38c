//! What single peers may have of a far gateway, where that is not what every peer may have.

use crate::keys::Peers;
use crate::options::Options;
use std::fmt;
use std::str::FromStr;
use units::Bytes;

/// One limit of one peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The peer's name.
    peer: String,
    most: Most,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Most {
    /// Connections at once, of all its sessions.
    Connections(usize),
    /// Bytes held for it, each way.
    Memory(u64),
}

/// The most connections that a limit may allow.
const CONNECTIONS: usize = 1_000_000;

/// Errors of a limit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\": {reason}; a limit is PEER=connections:NUMBER or PEER=memory:BYTES, as laptop=memory:64MiB")]
pub struct LimitError {
    text: String,
    reason: String,
}

impl FromStr for Limit {
    type Err = LimitError;
    fn from_str(text: &str) -> Result<Self, LimitError> {
        let wrong = |reason: &str| LimitError { text: text.to_owned(), reason: reason.to_owned() };
        let (peer, limit) = text.split_once('=').ok_or_else(|| wrong("it names no peer"))?;
        if !Peers::is_name(peer) {
            return Err(wrong("no peer can have that name"));
        }
        let (kind, value) = limit.split_once(':').ok_or_else(|| wrong("it has no value"))?;
        let most = match kind {
            "connections" => match value.trim().parse() {
                Ok(count) if (1..=CONNECTIONS).contains(&count) => Most::Connections(count),
                _ => return Err(wrong("connections are a number from 1 to 1000000")),
            },
            "memory" => {
                let bytes: Bytes =
                    value.trim().parse().map_err(|error: units::ParseError| wrong(&error.to_string()))?;
                if bytes < Bytes::from_mib(1) {
                    return Err(wrong("memory is at least 1 MiB"));
                }
                Most::Memory(bytes.get())
            }
            _ => return Err(wrong("only connections and memory have limits")),
        };
        Ok(Self { peer: peer.to_owned(), most })
    }
}

/// As `--limit` takes it.
impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.most {
            Most::Connections(count) => write!(f, "{}=connections:{count}", self.peer),
            Most::Memory(bytes) => write!(f, "{}=memory:{bytes}B", self.peer),
        }
    }
}

/// The limits of all peers that have limits of their own. Of two of a kind for one peer the last counts.
#[derive(Clone, Debug, Default)]
pub struct Limits(Vec<Limit>);

impl Limits {
    /// These limits and no others.
    pub fn new(limits: Vec<Limit>) -> Self {
        Self(limits)
    }
    /// The peers that have limits of their own.
    pub fn peers(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|limit| limit.peer.as_str())
    }
    /// The options as they hold for a peer.
    pub(crate) fn of(&self, peer: &str, options: &Options) -> Options {
        let mut own = options.clone();
        for limit in self.0.iter().filter(|limit| limit.peer == peer) {
            match limit.most {
                Most::Connections(count) => own.connections = count,
                Most::Memory(bytes) => own.peer_memory = bytes,
            }
        }
        own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_has_its_own_limits_and_others_the_common_ones() {
        let limits = ["laptop=connections:7", "laptop=memory:64 MiB", "phone=memory:1MiB"];
        let limits = Limits::new(limits.iter().map(|limit| limit.parse().expect("a limit")).collect());
        let common = Options::default();
        let of = |peer| {
            let own = limits.of(peer, &common);
            (own.connections, own.peer_memory)
        };
        assert_eq!(of("laptop"), (7, 64 << 20));
        assert_eq!(of("phone"), (common.connections, 1 << 20));
        assert_eq!(of("tablet"), (common.connections, common.peer_memory));
    }

    #[test]
    fn what_is_no_limit_is_refused_with_the_reason() {
        for (wrong, reason) in [
            ("connections:7", "it names no peer"),
            ("a b=connections:7", "no peer can have that name"),
            ("laptop=7", "it has no value"),
            ("laptop=connections:0", "from 1 to 1000000"),
            ("laptop=connections:-1", "from 1 to 1000000"),
            ("laptop=memory:1KiB", "at least 1 MiB"),
            ("laptop=memory:much", "much"),
            ("laptop=streams:7", "only connections and memory"),
        ] {
            let error = wrong.parse::<Limit>().expect_err(wrong).to_string();
            assert!(error.contains(reason) && error.contains("PEER=connections:NUMBER"), "{error}");
        }
        for right in ["laptop=connections:7", "laptop=memory:67108864B"] {
            assert_eq!(right.parse::<Limit>().expect("a limit").to_string(), right);
        }
    }
}
