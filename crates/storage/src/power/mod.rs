//! Power of disks: what drives draw, when they rest, and the least that they could have drawn.
//!
//! State machines without I/O. The simulator, `trunkline power plan` and `trunkline power daemon` run them: a
//! [`Controller`] is told what a node's disks are asked for and says when each is ready.

mod budget;
mod controller;
pub mod day;
mod drives;
pub mod figures;
mod gears;
mod guard;
mod machine;
pub mod offload;
pub mod oracle;
mod policy;
mod profile;

pub use budget::{Bucket, Budget};
pub use controller::Controller;
pub use drives::{DRIVES, Drive, StartEstimate};
pub use gears::{Gears, GearsSpec};
pub use guard::{GuardSpec, WriteGuard};
pub use machine::{Cause, Change, DiskPower, Drawn, PowerState};
pub use policy::{Hint, Phase, Policy, PolicyError, Settings};
pub use profile::{Depth, Profile, ProfileError, Rest, Transition};
