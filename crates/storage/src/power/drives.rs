//! Real drives, each figure with its source.
//!
//! Manuals of SAS and SATA drives print currents at 5 V and 12 V; a power is `5 I5 + 12 I12`, in watts. What a start
//! costs no manual prints: they give the peak current, and the time to ready. Two estimates bound it. `Typical`: 60 %
//! of the peak for 12 s. `Worst`: the peak for 20 s. A drive that someone has measured needs no estimate.
//!
//! `Idle_C` needs 3 to 15 s to come back, `Idle_B` less than 650 ms (HGST Ultrastar 7K2 Technical Reference Manual,
//! power conditions). What they draw meanwhile Seagate prints for the Constellation ES.1 (SAS manual, Rev. G, table 3,
//! "transition current"): peaks of 20.4 W and 27.5 W, where a start has 26.0 W. So any way back is estimated as a start
//! is, by its peak. How long a motor takes to stop is not printed for these drives: it is counted at the power of
//! standby.

use super::profile::{Profile, Rest, Transition};
use units::{Energy, Power, Time};

/// Which estimate of what a start costs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum StartEstimate {
    /// 60 % of the peak power for 12 s; for 3 s out of `Idle_C`.
    #[default]
    Typical,
    /// The peak power for 20 s; for 15 s out of `Idle_C`.
    Worst,
}

/// A drive's figures as its source prints them, in milliwatts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Drive {
    /// Its name in scenarios.
    pub name: &'static str,
    /// What it is.
    pub what: &'static str,
    /// Where its figures are from.
    pub source: &'static str,
    /// Whether an energy verdict may rest on it.
    pub real: bool,
    read: u64,
    write: u64,
    idle: u64,
    idle_b: Option<u64>,
    idle_c: Option<u64>,
    standby: Option<u64>,
    start: Start,
    start_limit: Option<u32>,
    load_limit: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Start {
    /// The peak power, in milliwatts.
    Peak(u64),
    /// Measured: joules and milliseconds up, joules and milliseconds down.
    Measured { up: (u64, u64), down: (u64, u64) },
}

/// A drive's name, what it is, its source.
const fn drive(name: &'static str, what: &'static str, source: &'static str, start: Start) -> Drive {
    Drive {
        name,
        what,
        source,
        real: true,
        read: 0,
        write: 0,
        idle: 0,
        idle_b: None,
        idle_c: None,
        standby: None,
        start,
        start_limit: None,
        load_limit: None,
    }
}

impl Drive {
    const fn uses(self, read: u64, write: u64) -> Self {
        Self { read, write, ..self }
    }
    const fn rests(self, idle: u64, idle_b: Option<u64>, idle_c: Option<u64>, standby: u64) -> Self {
        Self { idle, idle_b, idle_c, standby: Some(standby), ..self }
    }
    const fn lasts(self, starts: u32, loads: Option<u32>) -> Self {
        Self { start_limit: Some(starts), load_limit: loads, ..self }
    }
    /// The drive that has this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        DRIVES.iter().find(|drive| drive.name == name)
    }
    /// Its profile.
    pub fn profile(&self, estimate: StartEstimate) -> Profile {
        let (spin, crawl) = match estimate {
            StartEstimate::Typical => (Time::from_secs(12), Time::from_secs(3)),
            StartEstimate::Worst => (Time::from_secs(20), Time::from_secs(15)),
        };
        let part = if estimate == StartEstimate::Worst { 10 } else { 6 };
        let back = |peak: u64, time: Time| Transition::at(Power::from_mw(peak * part / 10), time);
        let light = |power: Option<u64>, time: Time| {
            let Start::Peak(peak) = self.start else { return None };
            Some(Rest { power: Power::from_mw(power?), down: Transition::default(), up: back(peak, time) })
        };
        let moved = |(joules, ms): (u64, u64)| Transition {
            time: Time::from_ms(ms),
            energy: Energy::from_joules(joules as f64),
        };
        let (down, up) = match self.start {
            Start::Peak(peak) => (Transition::default(), back(peak, spin)),
            Start::Measured { up, down } => (moved(down), moved(up)),
        };
        let standby = self.standby.map(|power| Rest { power: Power::from_mw(power), down, up });
        Profile {
            read: Power::from_mw(self.read),
            write: Power::from_mw(self.write),
            idle: Power::from_mw(self.idle),
            rests: [light(self.idle_b, Time::from_ms(650)), light(self.idle_c, crawl), standby],
            start_limit: self.start_limit,
            load_limit: self.load_limit,
        }
    }
}

/// Starts and stops at room temperature, loads and unloads of the heads: Ultrastar C15K600 and HC580 data sheets.
const STARTS: u32 = 50_000;
const LOADS: Option<u32> = Some(600_000);

/// All drives.
///
/// Reading and writing are the sequential figures where a manual has them: HDFS moves blocks. The others print one
/// figure for use.
pub static DRIVES: [Drive; 8] = [
    drive(
        "ultrastar-36z15",
        "IBM Ultrastar 36Z15, 3.5 inch, 15,000 rpm, the drive of the literature on spin-down",
        "Deng, ACM Computing Surveys 43(3), 2011",
        Start::Measured { up: (135, 10_900), down: (13, 1_500) },
    )
    .uses(13_500, 13_500)
    .rests(10_200, None, None, 2_500)
    .lasts(STARTS, None),
    drive(
        "constellation-es3-4tb",
        "Seagate Constellation ES.3, 4 TB, SAS, 7,200 rpm",
        "Constellation ES.3 SAS Product Manual, Rev. C, table 2, 6 Gb/s",
        Start::Peak(29_070),
    )
    .uses(10_700, 10_430)
    .rests(7_970, Some(6_560), Some(4_250), 1_200)
    .lasts(STARTS, LOADS),
    drive(
        "constellation-es3-2tb",
        "Seagate Constellation ES.3, 2 TB, SAS, 7,200 rpm",
        "Constellation ES.3 SAS Product Manual, Rev. B, table 4, 6 Gb/s",
        Start::Peak(29_000),
    )
    .uses(8_180, 7_840)
    .rests(5_730, Some(4_970), Some(3_480), 1_150)
    .lasts(STARTS, LOADS),
    drive(
        "constellation-es2-3tb",
        "Seagate Constellation ES.2, 3 TB, SAS, 7,200 rpm",
        "Constellation ES.2 SAS Product Manual, Rev. G, table 2, 6 Gb/s",
        Start::Peak(23_400),
    )
    .uses(9_830, 10_460)
    .rests(7_400, Some(6_220), Some(4_180), 1_370)
    .lasts(STARTS, LOADS),
    drive(
        "constellation-es1-1tb",
        "Seagate Constellation ES.1, 1 TB, SAS, 7,200 rpm",
        "Constellation ES.1 SAS product manual, DC power requirements (random reads for all use)",
        Start::Peak(26_100),
    )
    .uses(7_800, 7_800)
    .rests(5_160, Some(4_200), Some(2_880), 1_490)
    .lasts(STARTS, LOADS),
    drive(
        "barracuda-7200.7",
        "Seagate Barracuda 7200.7, 160 GB, SATA, 7,200 rpm, of the years of the clusters of Yang 2012",
        "Barracuda 7200.7 Serial ATA Product Manual, Rev. N, table 4; start: 2.8 A at 12 V, 0.487 A at 5 V",
        Start::Peak(36_035),
    )
    .uses(12_000, 12_000)
    .rests(7_500, None, None, 1_000)
    .lasts(STARTS, None),
    drive(
        "diamondmax-21",
        "Maxtor DiamondMax 21, SATA, 7,200 rpm",
        "DiamondMax 21 product manual; start: 2.8 A at 12 V, 0.6 A at 5 V",
        Start::Peak(36_600),
    )
    .uses(13_000, 13_000)
    .rests(9_300, None, None, 800)
    .lasts(STARTS, None),
    // A hard disk at 20 W, which no drive of its kind draws when idle, and no state below it. The table's solid state
    // disk has 0.38 W. Kept to show what the table would say.
    Drive {
        real: false,
        read: 20_000,
        write: 20_000,
        idle: 20_000,
        ..drive("as-printed", "the hard disk of Table 2.1", "Yang 2012, table 2.1", Start::Peak(0))
    },
];
