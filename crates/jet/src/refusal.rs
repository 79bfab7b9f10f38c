//! Why a destination was not reached.

use std::io;

use rustix::io::Errno;

/// Why a program does not get the connection that it asked for, in the words that a door can pass on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The far gateway's rules do not allow the destination.
    #[error("destination not allowed")]
    Denied,
    /// The far gateway cannot resolve the name.
    #[error("no such host name")]
    UnknownName,
    /// `ECONNREFUSED`.
    #[error("connection refused")]
    ConnectionRefused,
    /// `EHOSTUNREACH`.
    #[error("host unreachable")]
    HostUnreachable,
    /// `ENETUNREACH`.
    #[error("network unreachable")]
    NetworkUnreachable,
    /// `ETIMEDOUT`.
    #[error("connection timed out")]
    TimedOut,
    /// No session with the far gateway, or none any more.
    #[error("far gateway unreachable")]
    NoGateway,
    /// Any other reason.
    #[error("failed")]
    Failed,
}

impl Refusal {
    /// The error that `connect` would have returned (connect(2)).
    pub fn errno(self) -> Errno {
        match self {
            Self::Denied => Errno::ACCESS,
            Self::ConnectionRefused => Errno::CONNREFUSED,
            Self::UnknownName | Self::HostUnreachable => Errno::HOSTUNREACH,
            Self::NetworkUnreachable => Errno::NETUNREACH,
            Self::TimedOut => Errno::TIMEDOUT,
            Self::NoGateway => Errno::NETDOWN,
            Self::Failed => Errno::CONNABORTED,
        }
    }
}

impl Refusal {
    /// From the code of a RESET (docs/reference/protocol.md, P-14).
    pub(crate) fn of_code(code: u32) -> Self {
        Errno::from_raw_os_error(code as i32).into()
    }
}

/// From the error of a `connect`, there or here.
impl From<Errno> for Refusal {
    fn from(error: Errno) -> Self {
        match error {
            Errno::ACCESS | Errno::PERM => Self::Denied,
            Errno::CONNREFUSED => Self::ConnectionRefused,
            Errno::HOSTUNREACH | Errno::HOSTDOWN => Self::HostUnreachable,
            Errno::NETUNREACH | Errno::AFNOSUPPORT | Errno::ADDRNOTAVAIL => Self::NetworkUnreachable,
            Errno::NETDOWN => Self::NoGateway,
            Errno::TIMEDOUT => Self::TimedOut,
            _ => Self::Failed,
        }
    }
}

impl From<&io::Error> for Refusal {
    fn from(error: &io::Error) -> Self {
        match Errno::from_io_error(error) {
            Some(errno) => errno.into(),
            None if error.kind() == io::ErrorKind::TimedOut => Self::TimedOut,
            None => Self::Failed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_connect_said_at_the_far_end_is_what_it_says_here() {
        for errno in
            [Errno::ACCESS, Errno::CONNREFUSED, Errno::HOSTUNREACH, Errno::NETUNREACH, Errno::NETDOWN, Errno::TIMEDOUT]
        {
            assert_eq!(Refusal::from(errno).errno(), errno);
            assert_eq!(Refusal::from(&io::Error::from(errno)).errno(), errno);
        }
        assert_eq!(Refusal::from(&io::Error::from(io::ErrorKind::TimedOut)), Refusal::TimedOut);
        assert_eq!(Refusal::from(&io::Error::other("a resolver's words")), Refusal::Failed);
    }
}
