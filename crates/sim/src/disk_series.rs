//! Time series of disks. Between its changes what a disk does goes on evenly, so only these are kept: most disks do
//! nothing for most of a run's steps.

use crate::hosts::Hosts;
use results::Disk;
use storage::DiskUse;
use storage::power::Drawn;
use units::{Energy, Time};

/// What a disk does, from the end of a step on.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Reading {
    /// The step, from 1.
    step: usize,
    used: DiskUse,
    /// None where its power is not known.
    drawn: Option<Drawn>,
}

/// What the disks of a run did, step by step.
#[derive(Debug, Default)]
pub(crate) struct DiskSeries {
    /// By disk: readings that are not as those before, oldest first.
    readings: Vec<Vec<Reading>>,
    /// By machine: [`storage::Store::changes`] when its disks were last read.
    changes: Vec<u64>,
}

impl DiskSeries {
    /// A step ends: disks of machines on which something has changed are read.
    pub fn take(&mut self, step: usize, hosts: &Hosts) {
        let Self { readings, changes } = self;
        hosts.read_disks(changes, |disk, used, drawn| {
            if readings.len() <= disk {
                readings.resize_with(disk + 1, Vec::new);
            }
            let last = readings[disk].last();
            if last.is_none_or(|last| (last.used, last.drawn) != (used, drawn)) {
                readings[disk].push(Reading { step, used, drawn });
            }
        });
    }

    /// Steps are twice as long from now on: of two only what was at the end of the second counts.
    pub fn double(&mut self) {
        for readings in &mut self.readings {
            for reading in readings.iter_mut() {
                reading.step = reading.step.div_ceil(2);
            }
            // The last of those of a step stays.
            readings.reverse();
            readings.dedup_by_key(|reading| reading.step);
            readings.reverse();
        }
    }

    /// Puts the series into a disk of the result: `ends` are the ends of the steps.
    pub fn fill(&self, index: usize, disk: &mut Disk, (ends, step): (&[Time], Time)) {
        let (length, seconds) = (step.as_ps() as f64, step.as_secs_f64());
        let rate = |bytes: u64| units::single(bytes as f64 / seconds);
        let busy = self.steps_of(index, ends, |reading, end| reading.used.busy(end).as_ps());
        disk.utilisation = busy.map(|busy| units::single(busy as f64 / length)).collect();
        disk.read_rate = self.steps_of(index, ends, |reading, _| reading.used.read.get()).map(rate).collect();
        disk.write_rate = self.steps_of(index, ends, |reading, _| reading.used.written.get()).map(rate).collect();
        if let Some(power) = &mut disk.power {
            let energy =
                |reading: &Reading, end| reading.drawn.map_or(Energy::default(), |drawn| drawn.at(end)).as_nj();
            let watts = |drawn: u64| units::single(drawn as f64 * 1e-9 / seconds);
            power.series = self.steps_of(index, ends, energy).map(watts).collect();
        }
    }

    /// Increments per step of something that a disk has so far, by what it does and the time.
    fn steps_of<'a>(
        &'a self,
        disk: usize,
        ends: &'a [Time],
        read: impl Fn(&Reading, Time) -> u64 + 'a,
    ) -> impl Iterator<Item = u64> + 'a {
        let mut readings = self.readings[disk].iter().peekable();
        let (mut current, mut last) = (None, 0);
        ends.iter().zip(1..).map(move |(end, step)| {
            while let Some(reading) = readings.next_if(|reading| reading.step <= step) {
                current = Some(reading);
            }
            let now = current.map_or(0, |reading| read(reading, *end));
            now - std::mem::replace(&mut last, now)
        })
    }
}
