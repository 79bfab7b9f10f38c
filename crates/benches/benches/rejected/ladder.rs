//! Ladder queue (Tang, Goh and Thng, "Ladder queue: an O(1) priority queue structure for large-scale discrete event
//! simulation", TOMACS 15(3), 2005).

use des::Event;
use units::Time;

/// A bucket with more events than this is spread over a new rung.
const THRESHOLD: usize = 50;

struct Rung {
    buckets: Vec<Vec<Event>>,
    start: u64,
    width: u64,
    current: usize,
}

#[derive(Default)]
pub struct LadderQueue {
    /// Far future, unsorted.
    top: Vec<Event>,
    /// Events from here on go to the top.
    top_start: u64,
    /// Ever finer rungs.
    rungs: Vec<Rung>,
    /// Next events, sorted latest first.
    bottom: Vec<Event>,
    pushed: u64,
}

impl LadderQueue {
    pub fn push(&mut self, time: Time, kind: u8, index: u32, arg: u32) {
        let event = Event::new(time, self.pushed, kind, index, arg);
        self.pushed += 1;
        let at = time.as_ps();
        if at >= self.top_start {
            self.top.push(event);
            return;
        }
        for rung in &mut self.rungs {
            if rung.current < rung.buckets.len() && at >= rung.start + rung.current as u64 * rung.width {
                let bucket = (((at - rung.start) / rung.width) as usize).min(rung.buckets.len() - 1);
                rung.buckets[bucket].push(event);
                return;
            }
        }
        let place = self.bottom.partition_point(|other| other.key() > event.key());
        self.bottom.insert(place, event);
    }

    pub fn pop(&mut self) -> Option<Event> {
        while self.bottom.is_empty() {
            if self.rungs.is_empty() {
                if self.top.is_empty() {
                    return None;
                }
                let top = std::mem::take(&mut self.top);
                let latest = top.iter().map(|event| event.time().as_ps()).max()?;
                self.top_start = latest + 1;
                self.spread(top);
                continue;
            }
            self.descend();
        }
        self.bottom.pop()
    }

    /// Takes the next bucket of the lowest rung to the bottom, or to a finer rung.
    fn descend(&mut self) {
        let Some(rung) = self.rungs.last_mut() else { return };
        while rung.current < rung.buckets.len() && rung.buckets[rung.current].is_empty() {
            rung.current += 1;
        }
        if rung.current == rung.buckets.len() {
            self.rungs.pop();
            return;
        }
        let mut bucket = std::mem::take(&mut rung.buckets[rung.current]);
        rung.current += 1;
        if bucket.len() > THRESHOLD && rung.width > 1 && self.rungs.len() < 8 {
            self.spread(bucket);
        } else {
            bucket.sort_unstable_by_key(|event| std::cmp::Reverse(event.key()));
            self.bottom = bucket;
        }
    }

    fn spread(&mut self, events: Vec<Event>) {
        let times = events.iter().map(|event| event.time().as_ps());
        let (start, end) = times.fold((u64::MAX, 0), |(low, high), at| (low.min(at), high.max(at)));
        let width = ((end - start) / events.len() as u64).max(1);
        let mut buckets = vec![Vec::new(); ((end - start) / width + 1) as usize];
        for event in events {
            buckets[((event.time().as_ps() - start) / width) as usize].push(event);
        }
        self.rungs.push(Rung { buckets, start, width, current: 0 });
    }
}
