//! A host's cores, shared fairly by the work of its nodes.
//!
//! Processor sharing: every piece of work gets the same share of a core, at most one whole core, as a fair time-sharing
//! scheduler does over times that are long against its slice (Kleinrock, Queueing Systems II, 1976, section 4.4). A
//! node may be capped (a container's quota): its work then shares the cap, and the rest goes to the others, so shares
//! are max-min fair.
//!
//! Exactness: all work of a node progresses at one rate. So each node keeps a virtual clock of work done per piece, and
//! a piece is finished when the clock passes the value that was set when the piece came. A node has as many pieces as its
//! tasks have threads, so they stand in a list.
//! Rates are fixed-point fractions with 32 bits, clocks are 128-bit integers, so no rounding accumulates.

use units::Time;

/// One whole core, or factor 1.
const ONE: u128 = 1 << 32;

#[derive(Debug, Clone)]
struct Node<T> {
    /// The most cores it may use.
    cap: u128,
    /// Speed of a core, as a fixed-point factor.
    speed: u128,
    /// Work per piece done so far, in picoseconds times `ONE`.
    clock: u128,
    /// The share of a core that each piece has now.
    share: u128,
    /// Work per picosecond that each piece does now: share times speed.
    rate: u128,
    /// Pieces by the clock at which they are finished, and in order of arrival: the first to be finished is the last.
    pieces: Vec<(u128, T)>,
    /// Core time used, in picoseconds times `ONE`.
    used: u128,
}

/// The cores of a host and the work on them.
#[derive(Debug, Clone)]
pub struct Processor<T> {
    cores: u128,
    /// Pieces of work that are no node's and never end, as a fixed-point number.
    load: u128,
    nodes: Vec<Node<T>>,
    now: Time,
    deadline: Time,
    /// Nodes with work, by their limits.
    order: Vec<usize>,
}

/// Cores that are not shared out yet, and the pieces that are to share them, as fixed-point numbers.
struct Rest {
    cores: u128,
    pieces: u128,
}

impl<T: PartialEq> Node<T> {
    /// The most of a core that each of its pieces may have.
    fn limit(&self) -> u128 {
        // A quotient that is not below a bound need not be known.
        let count = self.pieces.len().max(1) as u128;
        if self.cap >= count * ONE { ONE } else { self.cap / count }
    }
    /// Takes its share; when its first piece is finished then.
    fn serve(&mut self, now: Time, rest: &mut Rest) -> Time {
        let Some((end, _)) = self.pieces.last() else { return Time::MAX };
        let (count, most) = (self.pieces.len() as u128, self.limit());
        self.share = if rest.cores * ONE >= most * rest.pieces { most } else { rest.cores * ONE / rest.pieces };
        self.rate = (self.share * self.speed) >> 32;
        rest.cores -= self.share * count;
        rest.pieces -= count * ONE;
        if self.rate == 0 {
            return Time::MAX;
        }
        let wait = end.saturating_sub(self.clock).div_ceil(self.rate);
        now.saturating_add(Time::from_ps(wait.min(u128::from(u64::MAX)) as u64))
    }
    fn forget(&mut self, tag: &T) {
        if let Some(place) = self.pieces.iter().position(|(_, other)| other == tag) {
            self.pieces.remove(place);
        }
    }
}

fn fixed(value: f64) -> u128 {
    (value.max(0.0) * ONE as f64).round() as u128
}

impl<T: Copy + PartialEq> Processor<T> {
    /// A host with this many cores.
    pub fn new(cores: u32) -> Self {
        Self {
            cores: u128::from(cores) * ONE,
            load: 0,
            nodes: Vec::new(),
            now: Time::ZERO,
            deadline: Time::MAX,
            order: Vec::new(),
        }
    }

    /// A host on which so many pieces of other work are always ready to run: they share the cores, as any piece does.
    pub fn with_load(cores: u32, load: f64) -> Self {
        Self { load: fixed(load), ..Self::new(cores) }
    }

    /// Adds a node that may use up to `cap` cores, each `speed` times as fast as the reference; returns its number on
    /// this host.
    pub fn add_node(&mut self, cap: f64, speed: f64) -> usize {
        self.nodes.push(Node {
            cap: fixed(cap),
            speed: fixed(speed),
            clock: 0,
            share: 0,
            rate: 0,
            pieces: Vec::new(),
            used: 0,
        });
        self.nodes.len() - 1
    }

    /// Takes a piece of `work`: the time that it would take on one core of its own at speed 1.
    pub fn submit(&mut self, now: Time, node: usize, work: Time, tag: T) {
        self.advance(now);
        let node = &mut self.nodes[node];
        let end = node.clock + u128::from(work.as_ps()) * ONE;
        node.forget(&tag);
        // Of two that end at the same time the later one is reported later: it stands before the other.
        let place = node.pieces.partition_point(|(other, _)| *other > end);
        node.pieces.insert(place, (end, tag));
        self.share_out();
    }

    /// Forgets a piece of work; it is not reported.
    pub fn cancel(&mut self, now: Time, node: usize, tag: T) {
        self.advance(now);
        self.nodes[node].forget(&tag);
        self.share_out();
    }

    /// Forgets all work of a node.
    pub fn clear(&mut self, now: Time, node: usize) {
        self.advance(now);
        self.nodes[node].pieces.clear();
        self.share_out();
    }

    /// Changes how fast a node works (a fault, or heat).
    pub fn set_speed(&mut self, now: Time, node: usize, speed: f64) {
        self.advance(now);
        self.nodes[node].speed = fixed(speed);
        self.share_out();
    }

    /// When [`Processor::on_timer`] is next due.
    pub const fn deadline(&self) -> Time {
        self.deadline
    }

    /// Appends the pieces that are finished, with their nodes.
    pub fn on_timer(&mut self, now: Time, done: &mut Vec<(usize, T)>) {
        if now < self.deadline {
            return;
        }
        self.advance(now);
        for (index, node) in self.nodes.iter_mut().enumerate() {
            while let Some((_, tag)) = node.pieces.pop_if(|(end, _)| *end <= node.clock) {
                done.push((index, tag));
            }
        }
        self.share_out();
    }

    /// Pieces of work on a node.
    pub fn pieces(&self, node: usize) -> usize {
        self.nodes[node].pieces.len()
    }
    /// Core time that a node has used up to `now`.
    pub fn used(&self, now: Time, node: usize) -> Time {
        let node = &self.nodes[node];
        let running = node.share * node.pieces.len() as u128 * u128::from(now.saturating_sub(self.now).as_ps());
        Time::from_ps(((node.used + running) / ONE) as u64)
    }

    fn advance(&mut self, now: Time) {
        let elapsed = u128::from(now.saturating_sub(self.now).as_ps());
        self.now = self.now.max(now);
        for node in &mut self.nodes {
            node.clock += elapsed * node.rate;
            node.used += elapsed * node.share * node.pieces.len() as u128;
        }
    }

    /// Water-filling: the nodes whose own limit is lowest are served first; the rest share what is left equally per
    /// piece.
    fn share_out(&mut self) {
        // Other work is limited by a core for each piece only, and so takes what is left last.
        let pieces = self.nodes.iter().map(|node| node.pieces.len() as u128 * ONE).sum::<u128>() + self.load;
        let mut rest = Rest { cores: self.cores, pieces };
        if let [node] = &mut self.nodes[..] {
            self.deadline = node.serve(self.now, &mut rest);
            return;
        }
        let mut order = std::mem::take(&mut self.order);
        order.extend((0..self.nodes.len()).filter(|n| !self.nodes[*n].pieces.is_empty()));
        order.sort_by_key(|n| self.nodes[*n].limit());
        let ends = order.drain(..).map(|n| self.nodes[n].serve(self.now, &mut rest));
        self.deadline = ends.min().unwrap_or(Time::MAX);
        self.order = order;
    }
}
