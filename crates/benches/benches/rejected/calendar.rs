//! Calendar queue (Brown, "Calendar queues: a fast O(1) priority queue implementation", CACM 31(10), 1988).

use des::Event;
use units::Time;

pub struct CalendarQueue {
    /// One per day; each sorted latest first, so that the earliest is popped from the end.
    days: Vec<Vec<Event>>,
    /// A day lasts 2^shift picoseconds.
    shift: u32,
    /// The day (counted from time zero) that is searched next.
    today: u64,
    len: usize,
    pushed: u64,
}

impl Default for CalendarQueue {
    fn default() -> Self {
        Self { days: vec![Vec::new(); 2], shift: 0, today: 0, len: 0, pushed: 0 }
    }
}

impl CalendarQueue {
    pub fn push(&mut self, time: Time, kind: u8, index: u32, arg: u32) {
        let event = Event::new(time, self.pushed, kind, index, arg);
        self.pushed += 1;
        self.insert(event);
        self.len += 1;
        if self.len > 2 * self.days.len() {
            self.resize(self.days.len() * 2);
        }
    }

    pub fn pop(&mut self) -> Option<Event> {
        if self.len == 0 {
            return None;
        }
        for _ in 0..self.days.len() {
            let mask = self.days.len() as u64 - 1;
            let day = &mut self.days[(self.today & mask) as usize];
            if let Some(event) = day.last()
                && event.time().as_ps() >> self.shift == self.today
            {
                let event = *event;
                day.pop();
                self.len -= 1;
                if self.len < self.days.len() / 2 && self.days.len() > 2 {
                    self.resize(self.days.len() / 2);
                }
                return Some(event);
            }
            self.today += 1;
        }
        // A whole year without an event: look for the earliest directly.
        let earliest = self.days.iter().filter_map(|day| day.last()).min_by_key(|event| event.key())?;
        self.today = earliest.time().as_ps() >> self.shift;
        self.pop()
    }

    fn insert(&mut self, event: Event) {
        let day = event.time().as_ps() >> self.shift;
        self.today = self.today.min(day);
        let mask = self.days.len() as u64 - 1;
        let events = &mut self.days[(day & mask) as usize];
        let place = events.iter().rposition(|other| other.key() > event.key()).map_or(0, |at| at + 1);
        events.insert(place, event);
    }

    fn resize(&mut self, days: usize) {
        let mut events: Vec<Event> = self.days.drain(..).flatten().collect();
        events.sort_unstable_by_key(|event| std::cmp::Reverse(event.key()));
        // Brown's rule: three times the mean gap between the events soonest due, larger gaps left out.
        let soonest = &events[events.len().saturating_sub(25)..];
        let gaps: Vec<u64> = soonest.windows(2).map(|pair| (pair[0].time() - pair[1].time()).as_ps()).collect();
        let mean = gaps.iter().sum::<u64>() / gaps.len().max(1) as u64;
        let kept: Vec<u64> = gaps.into_iter().filter(|gap| *gap <= 2 * mean).collect();
        let width = (3 * kept.iter().sum::<u64>() / kept.len().max(1) as u64).max(1);
        self.shift = width.ilog2();
        self.today = events.last().map_or(0, |event| event.time().as_ps() >> self.shift);
        self.days = vec![Vec::new(); days];
        for event in events {
            let mask = days as u64 - 1;
            self.days[((event.time().as_ps() >> self.shift) & mask) as usize].push(event);
        }
    }
}
