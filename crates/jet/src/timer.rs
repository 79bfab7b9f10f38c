//! The task that wakes a session when something is due.

use crate::explain::Told;
use crate::log::Log;
use crate::shared_session::SharedSession;
use stripe::session::Session;
use tokio::time::sleep_until;

/// Runs the session's timer until the session is over and its programs have been told. With `--explain`, decisions on
/// the number of streams, and the tally of datagrams, go to the log.
pub(crate) async fn run(shared: &SharedSession, log: &Log) {
    let mut told = Told::default();
    while !shared.look(Session::is_over) {
        let due = if log.explains() { shared.arm().min(told.due(shared.now())) } else { shared.arm() };
        let due = shared.instant(due);
        tokio::select! {
            () = sleep_until(due) => shared.on_timer(),
            () = shared.timer.notified() => {}
        }
        if log.explains() {
            let now = shared.now();
            for (what, why) in shared.look(|session| told.news(now, session)) {
                log.note_of(&shared.peer, &what, &why);
            }
        }
    }
}
