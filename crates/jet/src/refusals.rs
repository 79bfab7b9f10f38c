//! Why connections and streams were refused, counted: the log names each once a minute, `/status` has the sums.

use crate::handshake::HandshakeError;
use crate::log::Log;
use std::collections::BTreeMap;
use std::io;
use stripe::session::code;
use stripe::wire;

/// A kind of reason. There are few, so that they can be counted each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// No rule allows the destination.
    NotAllowed,
    /// The destination could not be reached.
    Unreachable,
    /// No descriptor, or no memory of the system's.
    NoDescriptor,
    /// More connections than the session may have.
    TooManyConnections,
    /// There is no session with the other gateway.
    NoSession,
    /// The session ended with connections in it.
    SessionLost,
    /// The door was not told the destination.
    NoDestination,
    /// A stream that did not get through the handshake.
    Handshake,
    /// No memory for another session.
    NoMemory,
}

impl Cause {
    /// Its name in `/status` and `/metrics`.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotAllowed => "not_allowed",
            Self::Unreachable => "unreachable",
            Self::NoDescriptor => "no_descriptor",
            Self::TooManyConnections => "too_many_connections",
            Self::NoSession => "no_session",
            Self::SessionLost => "session_lost",
            Self::NoDestination => "no_destination",
            Self::Handshake => "handshake",
            Self::NoMemory => "no_memory",
        }
    }
    /// Of a connection that the system has refused.
    pub fn of(error: &io::Error) -> Self {
        match error.raw_os_error() {
            Some(libc::EMFILE | libc::ENFILE | libc::ENOMEM) => Self::NoDescriptor,
            Some(libc::EACCES | libc::EPERM) => Self::NotAllowed,
            Some(libc::ENOBUFS) => Self::TooManyConnections,
            Some(libc::ENETDOWN) => Self::NoSession,
            _ => Self::Unreachable,
        }
    }
    /// Of a connection, from the code of its RESET (P-14).
    pub fn of_code(code: u32) -> Self {
        if code == code::RESET {
            return Self::SessionLost;
        }
        Self::of(&io::Error::from_raw_os_error(code.cast_signed()))
    }
    /// Of a stream.
    pub fn of_stream(error: &HandshakeError) -> Self {
        match error {
            HandshakeError::Dismissed(wire::Refusal::Busy) => Self::NoMemory,
            HandshakeError::Io(error) if Self::of(error) == Self::NoDescriptor => Self::NoDescriptor,
            _ => Self::Handshake,
        }
    }
}

/// How often each cause has been met, by its name.
pub(crate) type Counts = BTreeMap<&'static str, u64>;

/// What a program and an operator are told of a connection's code.
pub(crate) fn in_words(code: u32) -> String {
    match code {
        code::NO_ROOM => "the peer has as many connections as it may have (--connections, --limit)".to_owned(),
        code => io::Error::from_raw_os_error(code.cast_signed()).to_string(),
    }
}

impl Log {
    /// Notes and counts a refusal.
    pub(crate) fn refused(&self, cause: Cause, peer: Option<&str>, what: &str, why: &str) {
        self.count(cause.name());
        match peer {
            Some(peer) => self.note_of(peer, what, why),
            None => self.note(what, why),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_has_its_cause_and_each_is_counted() {
        let of = |errno| Cause::of(&io::Error::from_raw_os_error(errno));
        assert_eq!([of(libc::EMFILE), of(libc::ENFILE)], [Cause::NoDescriptor; 2]);
        assert_eq!([of(libc::ECONNREFUSED), of(libc::EHOSTUNREACH), of(libc::ETIMEDOUT)], [Cause::Unreachable; 3]);
        assert_eq!([Cause::of_code(13), Cause::of_code(105)], [Cause::NotAllowed, Cause::TooManyConnections]);
        let log = Log::default();
        for _ in 0..156 {
            log.refused(Cause::NoDescriptor, Some("near"), "no connection to 10.1.0.1:80", "too many open files");
        }
        log.refused(Cause::Handshake, None, "a stream from 10.1.0.1", "no answer within 10 s");
        assert_eq!(log.refusals(), BTreeMap::from([("no_descriptor", 156), ("handshake", 1)]));
        assert_eq!(log.lines().len(), 2, "each once: {:?}", log.lines());
    }
}
