//! What programs print of a disk's state.

use super::event::Seen;

/// `SENSE KEY` NOT READY (SPC-4, table 45).
const NOT_READY: u8 = 2;

/// What the answer to REQUEST SENSE says of a disk's power (SPC-4, 5.12 and annex D; as `sg_requests --raw` writes
/// it). `None`: nothing; TEST UNIT READY tells whether it is ready.
pub fn sense_state(answer: &[u8]) -> Option<Seen> {
    let unknown = |why: &str| Some(Seen::Unknown(why.to_owned()));
    let at = |place: usize| answer.get(place).copied().unwrap_or(0);
    // Fixed format or descriptors, current or deferred.
    let (key, code, qualifier) = match at(0) & 0x7f {
        0x70 | 0x71 => (at(2) & 0xf, at(12), at(13)),
        0x72 | 0x73 => (at(1) & 0xf, at(2), at(3)),
        _ => return unknown("the answer to REQUEST SENSE is no sense data"),
    };
    match (key, code, qualifier) {
        // LOW POWER CONDITION ON and its kinds: Idle_A, B and C leave the motor on.
        (_, 0x5e, 0x01 | 0x03 | 0x05..=0x08) => Some(Seen::Awake),
        // Standby by timer or command, Standby_Y by either; LOGICAL UNIT NOT READY, INITIALIZING COMMAND REQUIRED; NOTIFY
        // (ENABLE SPINUP) REQUIRED.
        (_, 0x5e, 0x02 | 0x04 | 0x09 | 0x0a) | (NOT_READY, 0x04, 0x02 | 0x11) => Some(Seen::Standby),
        (_, 0x5e, _) => unknown("it is in a low power condition that it does not name"),
        (NOT_READY, 0x04, 0x01) => unknown("it is becoming ready"),
        (NOT_READY, code, qualifier) => {
            Some(Seen::Unknown(format!("it is not ready: additional sense {code:02x}h/{qualifier:02x}h")))
        }
        // No sense, a unit attention, an old error: nothing of its power.
        _ => None,
    }
}

/// What `hdparm -C` says of a disk's state.
pub fn hdparm_state(printed: &str) -> Seen {
    let state = printed.lines().find_map(|line| line.trim().strip_prefix("drive state is:")).map(str::trim);
    match state {
        Some("standby" | "sleeping") => Seen::Standby,
        Some(state) if state.starts_with("active") || state.starts_with("idle") => Seen::Awake,
        Some(state) => Seen::Unknown(format!("hdparm says \"{state}\"")),
        None => Seen::Unknown("hdparm says no state".to_owned()),
    }
}
