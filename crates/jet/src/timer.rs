//! The task that wakes a session when something is due.

use crate::hub::Hub;
use stripe::session::Session;
use tokio::time::sleep_until;

/// Runs until the session is over, and its programs have been told.
pub(crate) async fn run(hub: &Hub) {
    while !hub.look(Session::is_over) {
        let due = hub.instant(hub.arm());
        tokio::select! {
            () = sleep_until(due) => hub.on_timer(),
            () = hub.timer.notified() => {}
        }
    }
}
