//! The task that wakes a session when something is due.

use crate::explain::Decision;
use crate::hub::Hub;
use crate::log::Log;
use stripe::session::Session;
use tokio::time::sleep_until;

/// Runs until the session is over, and its programs have been told. Decisions about the number of streams go to the log, if it is to explain them.
pub(crate) async fn run(hub: &Hub, log: &Log) {
    let mut told = None;
    while !hub.look(Session::is_over) {
        let due = hub.instant(hub.arm());
        tokio::select! {
            () = sleep_until(due) => hub.on_timer(),
            () = hub.timer.notified() => {}
        }
        if log.explains() {
            let decision = hub.look(Decision::of);
            if told.as_ref().is_none_or(|told| decision.differs(told)) {
                let Decision { number, used, reason, why } = &decision;
                log.note(&format!("{number} streams, {used} used here"), &format!("{reason}: {why}"));
                told = Some(decision);
            }
        }
    }
}
