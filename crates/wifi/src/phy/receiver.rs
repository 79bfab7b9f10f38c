//! The receiver of a station, by either model.

use super::reception::{Ended, Reception, ReceptionSpec, Signal};
use super::threshold::{ThresholdReception, Thresholds};
use super::timing::Settings;
use crate::propagation::Radio;
use des::RandomStream;
use units::Time;

/// How receivers are modelled.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ReceiverModel {
    /// Error rates by signal to interference and noise.
    Interference(ReceptionSpec),
    /// Thresholds alone, as in ns-2.
    Threshold(Thresholds),
}

impl Default for ReceiverModel {
    fn default() -> Self {
        Self::Interference(ReceptionSpec::default())
    }
}

/// The receiver of one station.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one per station, usually the large one")]
pub enum Receiver {
    /// By signal to interference and noise.
    Interference(Reception),
    /// By thresholds.
    Threshold(ThresholdReception),
}

impl Receiver {
    /// The receiver of a radio whose PHY is so set; what chance decides is drawn from `random`.
    pub fn new(radio: &Radio, phy: &Settings, model: &ReceiverModel, random: RandomStream) -> Self {
        match model {
            ReceiverModel::Interference(spec) => Self::Interference(Reception::new(radio, phy, spec, random)),
            ReceiverModel::Threshold(thresholds) => Self::Threshold(ThresholdReception::new(thresholds)),
        }
    }
    /// Clear channel assessment.
    pub fn busy(&self) -> bool {
        match self {
            Self::Interference(reception) => reception.busy(),
            Self::Threshold(reception) => reception.busy(),
        }
    }
    /// The station begins or ends to send.
    pub fn send(&mut self, on: bool) {
        match self {
            Self::Interference(reception) => reception.send(on),
            Self::Threshold(reception) => reception.send(on),
        }
    }
    /// A signal begins; true if it is followed from now on.
    pub fn begin(&mut self, now: Time, signal: &Signal) -> bool {
        match self {
            Self::Interference(reception) => reception.begin(now, signal),
            Self::Threshold(reception) => reception.begin(signal),
        }
    }
    /// A signal ends.
    pub fn end(&mut self, now: Time, id: u32) -> Ended {
        match self {
            Self::Interference(reception) => reception.end(now, id),
            Self::Threshold(reception) => reception.end(id),
        }
    }
    /// After [`Ended::Payload`]: whether the MPDU at `offset` in the PSDU is right.
    pub fn mpdu(&mut self, offset: u32, bytes: u32) -> bool {
        match self {
            Self::Interference(reception) => reception.mpdu(offset, bytes),
            Self::Threshold(_) => true,
        }
    }
    /// After [`Ended::Payload`]: signal to noise over 20 MHz, as a ratio; infinite where noise is not modelled.
    pub fn snr(&self) -> f64 {
        match self {
            Self::Interference(reception) => reception.snr(),
            Self::Threshold(_) => f64::INFINITY,
        }
    }
}
