//! Ctrl-C and SIGTERM.
//!
//! Everything that takes time looks at [`STOP`] many times a second and comes to its end by itself. Simulations have
//! besides a limit: what has not ended after a while, deep in work that does not look, is ended from here.

use runs::{Stop, exit};
use std::io::{self, Write};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// The wish to stop.
pub static STOP: Stop = Stop::new();
/// How many milliseconds a command has to end by itself; 0 is for ever.
static PATIENCE_MS: AtomicU64 = AtomicU64::new(0);

/// Listens from now on.
pub fn listen() {
    // Without a handler the system's default holds: the process ends at once.
    let _ = ctrlc::set_handler(|| {
        STOP.request();
        let patience = PATIENCE_MS.load(Ordering::Relaxed);
        if patience > 0 {
            thread::sleep(Duration::from_millis(patience));
            end();
        }
    });
}

/// From now on the command is ended so many milliseconds after the wish to stop where it does not end by itself. It
/// must not have anything to take down but files that are not whole.
pub fn limit(milliseconds: u64) {
    PATIENCE_MS.store(milliseconds, Ordering::Relaxed);
}

/// Whether the user wants to stop.
#[cfg(any(feature = "jet", feature = "testbed"))]
pub fn requested() -> bool {
    STOP.requested()
}

/// Ends the process from another thread than the one that works.
fn end() {
    let kept = runs::remove_partial();
    let text = match kept.first() {
        Some(kept) => {
            format!("interrupted: finished runs are kept in {}; the same command goes on from there\n", kept.display())
        }
        None => "interrupted\n".to_owned(),
    };
    let _ = io::stderr().lock().write_all(text.as_bytes());
    process::exit(i32::from(exit::INTERRUPTED));
}
