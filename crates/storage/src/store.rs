//! A host's storage: its disks behind one page cache.
//!
//! A read is served from memory where it can, else from the disk, and stays cached. A write is complete when it is in
//! memory; the disks write back in the background. Above the limit of dirty bytes writers go at the disk's pace (Linux:
//! `balance_dirty_pages`).

use crate::cache::{Cache, CacheSpec, WriteBack};
use crate::disk::{DiskCounters, DiskUse, Op, Request, Stream};
use crate::offloading::{OffloadCounters, Offloading, Step};
use crate::power::{Cause, Drawn, Hint, PolicyError, Profile, Settings};
use crate::powered::StorePower;
use crate::volume::{Volume, VolumeSpec};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use units::{Bytes, Time};

/// Counters of the page cache.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct StoreCounters {
    /// Bytes read that were in memory.
    pub hits: Bytes,
    /// Bytes read that came from a disk.
    pub misses: Bytes,
    /// Bytes accepted from writers.
    pub written: Bytes,
    /// Bytes written back to the disks.
    pub written_back: Bytes,
    /// Writes that had to wait for write-back.
    pub throttled: u64,
}

/// What a disk request belongs to.
#[derive(Debug, Clone, Copy)]
enum Job {
    /// A part of a read that memory did not have.
    Read(u64),
    /// A write past the cache.
    Write(u64),
    /// An extent on its way to the disk.
    WriteBack(WriteBack),
    /// An extent on its way home by a log.
    Offload(Step),
    /// Work of the disks besides jobs, which nobody waits for.
    Chore,
}

#[derive(Debug, Clone, Copy)]
struct Waiting<T> {
    disk: u32,
    request: Request<T>,
    /// Parts that the disk still owes.
    parts: u32,
}

/// The disks and the page cache of a host.
#[derive(Debug)]
pub struct Store<T> {
    spec: CacheSpec,
    cache: Cache,
    volumes: Vec<Volume<Job>>,
    /// By volume: when it is next due.
    due: Vec<Time>,
    /// Volumes that have been asked for something, or have done something, since [`Store::settle`].
    touched: Vec<usize>,
    changes: u64,
    /// By volume: it has failed with its data.
    gone: Vec<bool>,
    writing_back: Vec<bool>,
    waiting: BTreeMap<u64, Waiting<T>>,
    /// Writes that wait for write-back.
    throttled: VecDeque<(u32, Request<T>)>,
    /// Requests that are being copied from or to memory, by when they are done.
    copies: BTreeMap<(Time, u64), Request<T>>,
    next: u64,
    done: Vec<Job>,
    gaps: Vec<(Bytes, Bytes)>,
    counters: StoreCounters,
    /// The policy of its disks, if they have one.
    power: Option<Box<StorePower>>,
    /// Logs of writes for disks at rest, if these are off-loaded.
    offloading: Option<Box<Offloading>>,
    /// Work that waits until its volume is ready.
    chores: Vec<(usize, Request<Job>)>,
}

impl<T: Copy> Store<T> {
    /// Idle disks and an empty cache.
    pub fn new<V: Copy + Into<VolumeSpec>>(disks: &[V], cache: CacheSpec) -> Self {
        Self {
            spec: cache,
            cache: Cache::default(),
            volumes: disks.iter().map(|spec| Volume::new((*spec).into())).collect(),
            due: vec![Time::MAX; disks.len()],
            touched: Vec::new(),
            changes: 0,
            gone: vec![false; disks.len()],
            writing_back: vec![false; disks.len()],
            waiting: BTreeMap::new(),
            throttled: VecDeque::new(),
            copies: BTreeMap::new(),
            next: 0,
            done: Vec::new(),
            gaps: Vec::new(),
            counters: StoreCounters::default(),
            power: None,
            offloading: None,
            chores: Vec::new(),
        }
    }
    /// Puts the disks under a power policy; by volume, the profile and the gear of its disks if they have one.
    pub fn set_power(
        &mut self,
        now: Time,
        settings: Settings,
        profiles: &[Option<(Profile, u32)>],
    ) -> Result<(), PolicyError> {
        let volumes: Vec<_> = self.members().zip(profiles.iter().copied()).collect();
        self.power = Some(Box::new(StorePower::new(settings, &volumes, now)?));
        self.settle(now);
        Ok(())
    }
    /// What is written back for disks at rest goes to logs from now on.
    pub fn set_offloading(&mut self) {
        self.offloading = Some(Box::new(Offloading::new(self.volumes.len())));
    }
    /// What became of writes for a volume at rest; none without off-loading. Beside it, bytes that logs have for it.
    pub fn offloaded(&self, disk: usize) -> Option<(OffloadCounters, Bytes)> {
        let logs = self.offloading.as_ref()?;
        Some((logs.counters(disk), logs.owed(disk as u32)))
    }
    /// Reads bytes of a disk besides all jobs, past memory, as a scanner does that keeps no pages. If it may wait for a
    /// disk at rest it does so, until that is ready for another reason or for its window; else `cause` wakes it.
    pub fn chore(&mut self, now: Time, disk: usize, file: (Stream, Bytes), bytes: Bytes, cause: Cause, waits: bool) {
        let (stream, offset) = file;
        let request = Request { op: Op::Read, stream, offset, bytes, places: 1, tag: Job::Chore };
        if self.gone[disk] || bytes == Bytes::ZERO {
            return;
        }
        if waits && self.power.as_ref().is_some_and(|power| !power.is_ready(disk)) {
            self.chores.push((disk, request));
        } else {
            self.ask_for(now, disk, request, cause);
        }
        self.settle(now);
    }
    /// Chores of a disk that wait for it.
    pub fn waiting_chores(&self, disk: usize) -> usize {
        self.chores.iter().filter(|(of, _)| *of == disk).count()
    }
    /// The planned window of a disk: what has waited for it wakes it.
    pub fn window(&mut self, now: Time, disk: usize) {
        self.serve(now, disk);
        self.settle(now);
    }
    /// The power of the disks, if they are under a policy.
    pub fn power(&self) -> Option<&StorePower> {
        self.power.as_deref()
    }
    /// Tells the policy what goes on.
    pub fn hint(&mut self, now: Time, hint: Hint) {
        if let Some(power) = &mut self.power {
            power.hint(now, hint);
        }
        self.settle(now);
    }
    /// The host has lost its power, or has it again. A disk ends what it is about first.
    pub fn switch(&mut self, now: Time, on: bool) {
        let Some(power) = &mut self.power else { return };
        for (number, volume) in self.volumes.iter().enumerate().filter(|(number, _)| !self.gone[*number]) {
            for member in (0..volume.members()).filter(|member| !volume.is_lost(*member)) {
                power.switch(now, (number, member), on);
            }
        }
        self.settle(now);
    }
    /// What volumes have begun and ended is told to the policy, and what has waited for a volume goes there.
    fn settle(&mut self, now: Time) {
        self.settle_disks(now);
        if self.serve_ready(now) {
            self.settle_disks(now);
        }
    }
    /// What waits for volumes that are ready begins; whether there was anything.
    fn serve_ready(&mut self, now: Time) -> bool {
        let mut any = false;
        if self.offloading.is_none() && self.chores.is_empty() {
            return any;
        }
        for disk in 0..self.volumes.len() {
            let owed = self.offloading.as_ref().is_some_and(|logs| logs.owes(disk as u32));
            if owed || self.waiting_chores(disk) > 0 {
                any |= self.power.as_ref().is_some_and(|power| power.is_ready(disk)) && self.serve(now, disk);
            }
        }
        any
    }
    /// What waits for a volume begins; whether there was anything.
    fn serve(&mut self, now: Time, disk: usize) -> bool {
        let chores: Vec<_> = self.chores.extract_if(.., |(of, _)| *of == disk).collect();
        let next = self.offloading.as_mut().and_then(|logs| logs.homeward(disk as u32, Job::Offload));
        let any = !chores.is_empty() || next.is_some();
        for (_, request) in chores {
            self.ask_for(now, disk, request, Cause::Window);
        }
        if let Some((on, request)) = next {
            self.ask_for(now, on as usize, request, Cause::Flush);
        }
        any
    }
    /// Asks a volume for something that no job has asked for.
    fn ask_for(&mut self, now: Time, disk: usize, request: Request<Job>, cause: Cause) {
        if let Some(power) = &mut self.power {
            power.asked(request.stream, Some(cause));
        }
        self.touch(disk).submit(now, request);
    }
    /// Volumes tell the policy what they have begun and ended; when they are next due is looked up.
    fn settle_disks(&mut self, now: Time) {
        if let Some(power) = &mut self.power {
            power.settle(now, &mut self.volumes, &mut self.touched);
        }
        for volume in self.touched.drain(..) {
            self.changes += 1;
            self.due[volume] = self.volumes[volume].deadline();
        }
    }
    /// A volume that is about to change.
    fn touch(&mut self, volume: usize) -> &mut Volume<Job> {
        if !self.touched.contains(&volume) {
            self.touched.push(volume);
        }
        &mut self.volumes[volume]
    }
    /// How many disks each volume is.
    pub fn members(&self) -> impl Iterator<Item = usize> {
        self.volumes.iter().map(Volume::members)
    }

    /// Takes a request for a disk; numbers beyond the last disk wrap round.
    pub fn submit(&mut self, now: Time, disk: u32, request: Request<T>) {
        self.submit_for(now, disk, request, None);
    }
    /// As [`Store::submit`], with what a disk that it wakes is woken for if that is not just a read or a write.
    pub fn submit_for(&mut self, now: Time, disk: u32, request: Request<T>, cause: Option<Cause>) {
        if let Some(power) = &mut self.power {
            power.asked(request.stream, cause);
        }
        self.take(now, disk, request);
        self.settle(now);
    }
    fn take(&mut self, now: Time, disk: u32, request: Request<T>) {
        let disk = disk % self.volumes.len() as u32;
        if self.spec.capacity == Bytes::ZERO {
            self.ask_disk(now, disk, request, &[(request.offset, request.bytes)]);
        } else if request.op == Op::Read {
            let mut gaps = std::mem::take(&mut self.gaps);
            self.cache.look_up(request.stream, request.offset, request.bytes, &mut gaps);
            let misses: Bytes = gaps.iter().map(|(_, bytes)| *bytes).sum();
            self.counters.misses += misses;
            self.counters.hits += request.bytes - misses;
            if gaps.is_empty() {
                self.copy(now, request);
            } else {
                self.ask_disk(now, disk, request, &gaps);
            }
            self.gaps = gaps;
        } else {
            self.throttled.push_back((disk, request));
            self.admit(now);
            if !self.throttled.is_empty() {
                self.counters.throttled += 1;
            }
            self.write_back(now);
        }
    }

    /// When [`Store::on_timer`] is next due.
    pub fn deadline(&self) -> Time {
        let copy = self.copies.first_key_value().map_or(Time::MAX, |((at, _), _)| *at);
        let disks = self.due.iter().copied().min().unwrap_or(Time::MAX);
        let expiry = (0..self.volumes.len())
            .filter(|disk| !self.writing_back[*disk])
            .filter_map(|disk| self.cache.oldest_dirty(disk as u32))
            .min()
            .map_or(Time::MAX, |since| since.saturating_add(self.spec.expire));
        let power = self.power.as_ref().map_or(Time::MAX, |power| power.deadline());
        copy.min(disks).min(expiry).min(power)
    }

    /// Appends the tags of the requests that are done.
    pub fn on_timer(&mut self, now: Time, done: &mut Vec<T>) {
        if let Some(power) = &mut self.power {
            power.on_timer(now);
        }
        while let Some(entry) = self.copies.first_entry()
            && entry.key().0 <= now
        {
            done.push(entry.remove().tag);
        }
        let mut jobs = std::mem::take(&mut self.done);
        for disk in 0..self.volumes.len() {
            if self.due[disk] > now {
                continue;
            }
            self.touch(disk).on_timer(now, &mut jobs);
            for job in jobs.drain(..) {
                self.disk_done(now, disk, job, done);
            }
        }
        self.done = jobs;
        self.admit(now);
        self.write_back(now);
        self.settle(now);
    }

    /// A node of the host has crashed: its requests are gone and so are its cached bytes.
    pub fn drop_node(&mut self, now: Time, node: u32) {
        for disk in 0..self.volumes.len() {
            self.touch(disk)
                .retain(|request| request.stream.node != node || !matches!(request.tag, Job::Read(_) | Job::Write(_)));
        }
        self.waiting.retain(|_, waiting| waiting.request.stream.node != node);
        self.throttled.retain(|(_, request)| request.stream.node != node);
        self.copies.retain(|_, request| request.stream.node != node);
        self.cache.drop_node(node);
        for home in self.offloading.iter_mut().flat_map(|logs| logs.drop_node(node)) {
            self.writing_back[home] = false;
        }
        self.settle(now);
    }

    /// A disk fails, or a member of an array. What an array still has, its other members answer. Else the volume is gone
    /// with its data and what memory has of them, and these are the requests that get no answer.
    pub fn fail_member(&mut self, now: Time, disk: usize, member: u32) -> Option<Vec<T>> {
        let unanswered = self.lose_member(now, disk, member);
        if let Some(power) = &mut self.power {
            let member = member as usize % self.volumes[disk].members();
            power.switch(now, (disk, member), false);
        }
        self.admit(now);
        self.write_back(now);
        self.settle(now);
        unanswered
    }
    fn lose_member(&mut self, now: Time, disk: usize, member: u32) -> Option<Vec<T>> {
        let asked = self.readers_of(disk);
        if self.touch(disk).fail_member(now, member) {
            return None;
        }
        self.gone[disk] = true;
        self.writing_back[disk] = false;
        self.chores.retain(|(of, _)| *of != disk);
        for (home, extent) in self.offloading.as_mut().map(|logs| logs.fail(disk as u32)).unwrap_or_default() {
            self.writing_back[home as usize] = false;
            self.cache.not_written(extent);
        }
        self.cache.drop_disk(disk as u32);
        let mut unanswered = Vec::new();
        self.waiting.retain(|id, waiting| {
            let stays = waiting.disk as usize != disk && !asked.contains(id);
            if !stays {
                unanswered.push(waiting.request.tag);
            }
            stays
        });
        self.throttled.retain(|(volume, request)| {
            let stays = *volume as usize != disk;
            if !stays {
                unanswered.push(request.tag);
            }
            stays
        });
        Some(unanswered)
    }
    /// Reads of which a volume owes a part: of what only its log has, its readers are those of another disk.
    fn readers_of(&mut self, disk: usize) -> BTreeSet<u64> {
        let mut readers = BTreeSet::new();
        if self.offloading.is_some() {
            self.volumes[disk].retain(|request| {
                if let Job::Read(id) = request.tag {
                    readers.insert(id);
                }
                true
            });
        }
        readers
    }
    /// Whether a volume is gone, so that requests for it would get no answer.
    pub fn is_gone(&self, disk: u32) -> bool {
        self.gone[disk as usize % self.gone.len()]
    }
    /// A spare takes the place of a member of an array that has failed, and is filled.
    pub fn replace_member(&mut self, now: Time, disk: usize, member: u32) {
        self.touch(disk).replace_member(now, member);
        if let Some(power) = &mut self.power {
            let member = member as usize % self.volumes[disk].members();
            power.switch(now, (disk, member), true);
        }
        self.settle(now);
    }
    /// What a disk, or a member of an array, begins from now on takes so much longer than by its specification: 1 is
    /// normal.
    pub fn set_slowness(&mut self, disk: usize, member: u32, slowness: f64) {
        self.volumes[disk].set_slowness(member, slowness);
    }
    /// The part of an array's spare that is filled; none if nothing is being rebuilt.
    pub fn rebuilt(&self, disk: usize) -> Option<f64> {
        self.volumes[disk].rebuilt()
    }

    /// Bytes in memory that are not on disk yet.
    pub fn unwritten(&self) -> Bytes {
        self.cache.unwritten()
    }
    /// Bytes in memory.
    pub fn cached(&self) -> Bytes {
        self.cache.total()
    }
    /// Requests that are not done, write-back included.
    pub fn queued(&self, disk: usize) -> usize {
        self.volumes[disk].queued()
    }
    /// Counters of the page cache.
    pub fn counters(&self) -> StoreCounters {
        self.counters
    }
    /// Counters of a disk at `now`: a volume, and its member.
    pub fn disk_counters(&self, now: Time, disk: usize, member: usize) -> DiskCounters {
        self.volumes[disk].counters(now, member)
    }
    /// What time series have of each disk, and its energy if that is known: volume by volume. It holds as long as
    /// [`Store::changes`] is the same.
    pub fn disks_used(&self) -> impl Iterator<Item = (DiskUse, Option<Drawn>)> {
        self.volumes.iter().enumerate().flat_map(move |(number, volume)| {
            (0..volume.members()).map(move |member| {
                let drawn = self.power.as_ref().and_then(|power| power.drawn(number, member));
                (volume.used(member), drawn)
            })
        })
    }
    /// A number that changes whenever a disk may have begun or ended something, or has gone to another state.
    pub const fn changes(&self) -> u64 {
        self.changes
    }

    fn copy(&mut self, now: Time, request: Request<T>) {
        self.next += 1;
        let at = now.saturating_add(self.spec.copy_rate.transmission_time(request.bytes));
        self.copies.insert((at, self.next), request);
    }

    fn ask_disk(&mut self, now: Time, disk: u32, request: Request<T>, parts: &[(Bytes, Bytes)]) {
        self.next += 1;
        let id = self.next;
        let (op, stream) = (request.op, request.stream);
        let tag = if op == Op::Read { Job::Read(id) } else { Job::Write(id) };
        let mut count = 0;
        for &range in parts {
            // A log has the only copy of what is not home yet.
            let Some(logs) = self.offloading.as_ref().filter(|_| op == Op::Read) else {
                count += 1;
                let (offset, bytes) = range;
                let places = request.places_in(bytes);
                self.touch(disk as usize).submit(now, Request { op, stream, offset, bytes, places, tag });
                continue;
            };
            for (disk, stream, offset, bytes) in logs.split(disk, stream, range) {
                count += 1;
                let places = request.places_in(bytes);
                self.touch(disk as usize).submit(now, Request { op, stream, offset, bytes, places, tag });
            }
        }
        self.waiting.insert(id, Waiting { disk, request, parts: count });
    }

    /// An extent is on disk, at home or in a log.
    fn written_back(&mut self, disk: usize, extent: WriteBack) {
        self.writing_back[disk] = false;
        self.counters.written_back += extent.bytes;
        self.cache.written_back(extent);
        self.cache.shrink_to(self.spec.capacity);
    }
    /// A step of an extent's way home is done.
    fn step_done(&mut self, now: Time, step: Step) {
        let Some(logs) = &mut self.offloading else { return };
        match step {
            Step::Log(write) => {
                if let Some((home, extent)) = logs.logged(write) {
                    self.written_back(home as usize, extent);
                }
            }
            Step::Fetch(write) => {
                if let Some((home, request)) = logs.fetched(write, Job::Offload) {
                    self.ask_for(now, home as usize, request, Cause::Flush);
                }
            }
            Step::Home(write) => {
                let Some((home, stream)) = logs.at_home(write) else { return };
                if let Some(power) = &mut self.power {
                    power.asked(stream, None);
                }
                if let Some(extent) = logs.follower(home) {
                    self.touch(home as usize).submit(now, write_of(extent));
                }
            }
        }
    }
    /// Where an extent is written: home, or to the log of a disk that is ready if the home rests. None: it waits until
    /// older bytes of its place are home.
    fn way_of(&mut self, home: usize, extent: WriteBack) -> Option<(usize, Request<Job>)> {
        let direct = Some((home, write_of(extent)));
        let (Some(logs), Some(power)) = (&mut self.offloading, &self.power) else { return direct };
        // Older bytes of the place come home before these.
        if let Some(on) = logs.log_with(extent) {
            return Some((on as usize, logs.begin(extent, home as u32, on, Job::Offload)));
        }
        if logs.wait_for_older(extent, home as u32) {
            return None;
        }
        if !power.is_backup(home) || power.depth(home) == 0 {
            return direct;
        }
        let may_log = |disk: &usize| {
            let other = *disk != home && !self.gone[*disk];
            other && !power.is_backup(*disk) && power.is_ready(*disk)
        };
        let on = (0..self.volumes.len()).filter(may_log).min_by_key(|disk| self.volumes[*disk].queued());
        match on {
            Some(on) => Some((on, logs.begin(extent, home as u32, on as u32, Job::Offload))),
            None => direct,
        }
    }

    fn disk_done(&mut self, now: Time, disk: usize, job: Job, done: &mut Vec<T>) {
        match job {
            Job::WriteBack(extent) => self.written_back(disk, extent),
            Job::Offload(step) => self.step_done(now, step),
            Job::Chore => {}
            Job::Read(id) | Job::Write(id) => {
                let Some(waiting) = self.waiting.get_mut(&id) else { return };
                waiting.parts -= 1;
                if waiting.parts > 0 {
                    return;
                }
                let Waiting { disk, request, .. } = *waiting;
                self.waiting.remove(&id);
                if matches!(job, Job::Read(_)) && self.spec.capacity > Bytes::ZERO {
                    self.cache.insert_clean(disk, request.stream, request.offset, request.bytes);
                    self.cache.shrink_to(self.spec.capacity);
                }
                done.push(request.tag);
            }
        }
    }

    /// Waiting writes enter the cache as long as the limit allows; one that is larger than the limit enters alone.
    fn admit(&mut self, now: Time) {
        while let Some(&(disk, request)) = self.throttled.front() {
            let unwritten = self.cache.unwritten();
            if unwritten > Bytes::ZERO && unwritten + request.bytes > self.spec.dirty_limit {
                return;
            }
            self.throttled.pop_front();
            self.counters.written += request.bytes;
            self.cache.insert_dirty(now, disk, request.stream, request.offset, request.bytes);
            self.cache.shrink_to(self.spec.capacity);
            self.copy(now, request);
        }
    }

    /// Each disk writes back one extent at a time while too much is dirty, someone waits, or the oldest is too old.
    fn write_back(&mut self, now: Time) {
        let pressed = self.cache.unwritten() > self.spec.background || !self.throttled.is_empty();
        for disk in 0..self.volumes.len() {
            let old = || {
                self.cache.oldest_dirty(disk as u32).is_some_and(|since| since.saturating_add(self.spec.expire) <= now)
            };
            if self.writing_back[disk] || !(pressed || old()) {
                continue;
            }
            if let Some(extent) = self.cache.write_back(disk as u32) {
                self.writing_back[disk] = true;
                if let Some((to, request)) = self.way_of(disk, extent) {
                    self.touch(to).submit(now, request);
                }
            }
        }
    }
}

/// An extent's write to its own disk.
const fn write_of(extent: WriteBack) -> Request<Job> {
    let WriteBack { stream, offset, bytes } = extent;
    Request { op: Op::Write, stream, offset, bytes, places: 1, tag: Job::WriteBack(extent) }
}
