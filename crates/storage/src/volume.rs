//! What a host's store has requests for: a disk, or an array of them.

use crate::array::{Array, ArraySpec};
use crate::disk::{Disk, DiskCounters, DiskSpec, DiskUse, Op, Request, Stream};
use units::Time;

/// A disk, or several that are one volume.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VolumeSpec {
    /// The disk, or each member of the array.
    pub disk: DiskSpec,
    /// How several make one.
    pub array: Option<ArraySpec>,
}

impl From<DiskSpec> for VolumeSpec {
    fn from(disk: DiskSpec) -> Self {
        Self { disk, array: None }
    }
}

#[derive(Debug)]
pub(crate) enum Volume<T> {
    Disk(Disk<T>),
    Array(Box<Array<T>>),
}

impl<T: Copy> Volume<T> {
    pub fn new(spec: VolumeSpec) -> Self {
        match spec.array {
            None => Self::Disk(Disk::new(spec.disk)),
            Some(array) => Self::Array(Box::new(Array::new(spec.disk, array))),
        }
    }
    pub fn submit(&mut self, now: Time, request: Request<T>) {
        match self {
            Self::Disk(disk) => disk.submit(now, request),
            Self::Array(array) => array.submit(now, request),
        }
    }
    pub fn deadline(&self) -> Time {
        match self {
            Self::Disk(disk) => disk.deadline(),
            Self::Array(array) => array.deadline(),
        }
    }
    pub fn on_timer(&mut self, now: Time, done: &mut Vec<T>) {
        match self {
            Self::Disk(disk) => disk.on_timer(now, done),
            Self::Array(array) => array.on_timer(now, done),
        }
    }
    pub fn retain(&mut self, keep: impl FnMut(&Request<T>) -> bool) {
        match self {
            Self::Disk(disk) => disk.retain(keep),
            Self::Array(array) => array.retain(keep),
        }
    }
    pub fn queued(&self) -> usize {
        match self {
            Self::Disk(disk) => disk.queued(),
            Self::Array(array) => array.queued(),
        }
    }
    /// A member fails. False if data are lost with it.
    pub fn fail_member(&mut self, now: Time, member: u32) -> bool {
        match self {
            Self::Disk(disk) => {
                disk.retain(|_| false);
                false
            }
            Self::Array(array) => array.fail(now, member),
        }
    }
    /// A spare takes the place of a member that has failed.
    pub fn replace_member(&mut self, now: Time, member: u32) {
        if let Self::Array(array) = self {
            array.replace(now, member);
        }
    }
    /// Whether a member has failed and no spare has taken its place.
    pub fn is_lost(&self, member: usize) -> bool {
        match self {
            Self::Disk(_) => false,
            Self::Array(array) => array.is_lost(member),
        }
    }
    /// The part of a spare that is filled; none if nothing is being rebuilt.
    pub fn rebuilt(&self) -> Option<f64> {
        match self {
            Self::Disk(_) => None,
            Self::Array(array) => array.rebuilt(),
        }
    }
    /// What a member begins from now on takes so much longer.
    pub fn set_slowness(&mut self, member: u32, slowness: f64) {
        match self {
            Self::Disk(disk) => disk.set_slowness(slowness),
            Self::Array(array) => array.set_slowness(member, slowness),
        }
    }
    /// How many disks it is.
    pub fn members(&self) -> usize {
        match self {
            Self::Disk(_) => 1,
            Self::Array(array) => array.members(),
        }
    }
    /// Whether a member has requests that are not done.
    pub fn is_wanted(&self, member: usize) -> bool {
        match self {
            Self::Disk(disk) => disk.queued() > 0,
            Self::Array(array) => array.member(member).queued() > 0,
        }
    }
    /// What a member's mechanics do; none where they do nothing. Beside it, whether nothing waits for them.
    pub fn serving(&self, member: usize) -> (Option<Op>, bool) {
        match self {
            Self::Disk(disk) => (disk.serving(), disk.is_still()),
            Self::Array(array) => (array.member(member).serving(), array.member(member).is_still()),
        }
    }
    /// Of the first request that waits for a member at rest: its direction and file.
    pub fn first_held(&self, member: usize) -> Option<(Op, Stream)> {
        match self {
            Self::Disk(disk) => disk.first_held().map(|first| (first.op, first.stream.file())),
            Self::Array(array) => array.member(member).first_held().map(|first| (first.op, first.stream.file())),
        }
    }
    /// Whether requests to a member wait for it to be ready.
    pub fn is_resting(&self, member: usize) -> bool {
        match self {
            Self::Disk(disk) => disk.is_held(),
            Self::Array(array) => array.member(member).is_held(),
        }
    }
    /// A member rests, or is ready.
    pub fn set_resting(&mut self, now: Time, member: usize, rests: bool) {
        match self {
            Self::Disk(disk) => set_resting(disk, now, rests),
            Self::Array(array) => set_resting(array.member_mut(member), now, rests),
        }
    }
    /// What time series have of one of them.
    pub fn used(&self, member: usize) -> DiskUse {
        match self {
            Self::Disk(disk) => disk.used(),
            Self::Array(array) => array.member(member).used(),
        }
    }
    /// Counters of one of them.
    pub fn counters(&self, now: Time, member: usize) -> DiskCounters {
        match self {
            Self::Disk(disk) => disk.counters(now),
            Self::Array(array) => array.member_counters(now, member),
        }
    }
}

fn set_resting<T: Copy>(disk: &mut Disk<T>, now: Time, rests: bool) {
    if rests {
        disk.hold();
    } else if disk.is_held() {
        disk.release(now);
    }
}
