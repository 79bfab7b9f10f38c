//! Why there are as many streams as there are, in words.

use std::fmt::Write;
use stripe::optimizer::{Controller, Reason, Tuner};
use stripe::session::Session;

/// A decision about the number of streams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decision {
    /// How many there are to be, how many are used for what goes from here, and by which reason; the reason's name is stable.
    pub number: u32,
    pub used: u32,
    pub reason: &'static str,
    /// The same as a sentence, with what was measured.
    pub why: String,
}

impl Decision {
    /// The one that holds now.
    pub fn of(session: &Session) -> Self {
        let (number, used) = (session.number(), session.used_count());
        let (reason, why) = match session.tuner() {
            _ if session.peer_wish() > session.tuner().open() => {
                ("peer", "the other gateway has much to send".to_owned())
            }
            Tuner::Controller(controller) => (controller.reason().name(), measured(controller)),
            Tuner::Enumerator(_) => ("paper", "the paper's enumeration".to_owned()),
            Tuner::Fixed(_) => ("fixed", "as told".to_owned()),
        };
        Self { number, used, reason, why }
    }
    /// Whether this is another decision than that, and not the same with other figures.
    pub fn differs(&self, other: &Self) -> bool {
        (self.number, self.used, self.reason) != (other.number, other.used, other.reason)
    }
}

fn measured(controller: &Controller) -> String {
    let mbps = |bps: u64| format!("{:.1} Mbit/s", bps as f64 / 1e6);
    let mut text = controller.reason().text().to_owned();
    if controller.reason() == Reason::Start {
        return text;
    }
    if let Some((from, rate)) = controller.compared() {
        let _ = write!(text, "; {from} carried {}", mbps(rate.as_bps()));
    }
    if let Some(rate) = controller.rate() {
        let _ = write!(text, "; {} now", mbps(rate.as_bps()));
    }
    let _ = write!(text, "; {} at most lately", mbps(controller.most().as_bps()));
    if let Some(loss) = controller.loss() {
        let _ = write!(text, "; {:.3} % lost by chance", loss * 100.0);
    }
    text
}
