//! `jet run --strict`: a system-call filter (seccomp(2)) that keeps a program and all that it starts from making TCP
//! sockets, except through the preloaded library.
//!
//! A filter cannot read a socket's destination, but it sees the arguments of `socket`. The library makes TCP sockets
//! with [`KEY`] in the fourth argument, which the kernel ignores. A program without the library (static, Go, started
//! with `env -i`) does not, so its `socket` fails with `EPERM`. The filter outlives `exec` and cannot be removed. It
//! guards against mistakes: a program that knows the key can use it.

use std::collections::BTreeMap;
use std::env::consts::ARCH;

use seccompiler::{
    SeccompAction, SeccompCmpArgLen as Length, SeccompCmpOp as Op, SeccompCondition, SeccompFilter, SeccompRule,
};

use super::LaunchError;

/// Tells the library to make TCP sockets with the key.
pub const VARIABLE: &str = "TRUNKLINE_JET_STRICT";
/// "trunklin", as in `shim/connect.c`.
const KEY: u64 = 0x7472_756e_6b6c_696e;
/// The bits of a socket's type without its flags (`SOCK_TYPE_MASK` of Linux).
const TYPE: u64 = 0xf;

/// Loads the filter, for this thread and what it becomes. It also sets `no_new_privs`, without which only root may load
/// one: what is started gets no other rights by its file.
pub fn confine() -> Result<(), LaunchError> {
    let failed = |error: seccompiler::Error| LaunchError::Filter(error.to_string());
    seccompiler::apply_filter(&program().map_err(|error| failed(error.into()))?).map_err(failed)
}

/// A process of another word length than trunkline's is ended (SIGSYS) at its first system call: its numbers of calls
/// are others.
fn program() -> Result<seccompiler::BpfProgram, seccompiler::BackendError> {
    let denied = SeccompAction::Errno(libc::EPERM as u32);
    SeccompFilter::new(rules()?, SeccompAction::Allow, denied, ARCH.try_into()?)?.try_into()
}

/// What is denied.
fn rules() -> Result<BTreeMap<i64, Vec<SeccompRule>>, seccompiler::BackendError> {
    let is = |argument, op, value| SeccompCondition::new(argument, Length::Dword, op, value);
    let tcp = |family: i32| {
        SeccompRule::new(vec![
            is(0, Op::Eq, family as u64)?,
            is(1, Op::MaskedEq(TYPE), libc::SOCK_STREAM as u64)?,
            SeccompCondition::new(3, Length::Qword, Op::Ne, KEY)?,
        ])
    };
    // TCP Fast Open connects without connect(2).
    let fast_open = |flags| {
        let bit = libc::MSG_FASTOPEN as u64;
        Ok(vec![SeccompRule::new(vec![is(flags, Op::MaskedEq(bit), bit)?])?])
    };
    Ok(BTreeMap::from([
        (libc::SYS_socket, vec![tcp(libc::AF_INET)?, tcp(libc::AF_INET6)?]),
        (libc::SYS_sendto, fast_open(3)?),
        (libc::SYS_sendmsg, fast_open(2)?),
        (libc::SYS_sendmmsg, fast_open(3)?),
        // What io_uring does, a filter does not see.
        (libc::SYS_io_uring_setup, Vec::new()),
    ]))
}
