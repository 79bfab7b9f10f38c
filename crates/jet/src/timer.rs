//! The task that wakes a session when something is due.

use crate::explain::Told;
use crate::hub::Hub;
use crate::log::Log;
use stripe::session::Session;
use tokio::time::sleep_until;

/// Runs the session's timer until the session is over and its programs have been told. With `--explain`, decisions on
/// the number of streams, and the tally of datagrams, go to the log.
pub(crate) async fn run(hub: &Hub, log: &Log) {
    let mut told = Told::default();
    while !hub.look(Session::is_over) {
        let due = if log.explains() { hub.arm().min(told.due(hub.now())) } else { hub.arm() };
        let due = hub.instant(due);
        tokio::select! {
            () = sleep_until(due) => hub.on_timer(),
            () = hub.timer.notified() => {}
        }
        if log.explains() {
            let now = hub.now();
            for (what, why) in hub.look(|session| told.news(now, session)) {
                log.note_of(&hub.peer, &what, &why);
            }
        }
    }
}
