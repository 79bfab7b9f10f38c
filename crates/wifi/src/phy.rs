//! The physical layer: what a PHY rate is and how long a frame at it takes, the times and rules that a standard gives
//! its MAC.

mod edca;
mod error;
mod error_table;
mod ldpc;
mod link_curves;
mod mode;
mod rates;
mod receiver;
mod reception;
mod threshold;
mod timing;

pub use edca::{AccessCategory, Edca};
pub use error::ErrorModel;
pub use error_table::ErrorTable;
pub use link_curves::Frame;
pub use mode::{Class, Mode};
pub use rates::{Band, Code, Coding, DsssRate, Guard, Ht, HtFormat, Modulation, OfdmRate, Preamble, Width};
pub use receiver::{Receiver, ReceiverModel};
pub use reception::{Capture, Ended, Reception, ReceptionSpec, Signal};
pub use threshold::{ThresholdReception, Thresholds};
pub use timing::{ACK_BYTES, BasicRates, Settings, SettingsError, Standard, Timing, Understands};
