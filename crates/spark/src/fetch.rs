//! How a task fetches shuffle blocks from other executors: its requests, and how many are under way
//! (`ShuffleBlockFetcherIterator` of Spark 4.1).

use des::RandomStream;
use std::collections::{BTreeMap, VecDeque};
use units::Bytes;

/// Bounds of what a task has under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Bytes (`spark.reducer.maxSizeInFlight`).
    pub size: Bytes,
    /// Requests (`spark.reducer.maxReqsInFlight`).
    pub requests: u32,
    /// Blocks of one executor (`spark.reducer.maxBlocksInFlightPerAddress`).
    pub blocks_per_address: u32,
}

/// A block of a map task's output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Block {
    /// The parent among the stage's parents.
    pub parent: usize,
    /// The map task.
    pub map: usize,
    /// Its length.
    pub bytes: Bytes,
}

/// A request to one executor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FetchRequest {
    /// The executor.
    pub address: usize,
    /// The blocks asked for.
    pub blocks: Vec<Block>,
    /// Bytes of these.
    pub bytes: Bytes,
}

impl FetchRequest {
    const fn new(address: usize) -> Self {
        Self { address, blocks: Vec::new(), bytes: Bytes::ZERO }
    }
}

/// The remote fetches of a task.
#[derive(Clone, Debug)]
pub struct Fetches {
    limits: Limits,
    waiting: VecDeque<FetchRequest>,
    /// Requests to executors of which enough blocks were under way when their turn came.
    deferred: BTreeMap<usize, VecDeque<FetchRequest>>,
    bytes: Bytes,
    requests: u32,
    blocks: BTreeMap<usize, u32>,
}

impl Fetches {
    /// Of blocks by executor. A request has a fifth of what may be under way, so that five executors send at once
    /// (`targetRemoteRequestSize`); requests are asked in random order.
    pub fn new(blocks: BTreeMap<usize, Vec<Block>>, limits: Limits, random: &mut RandomStream) -> Self {
        let target = Bytes::new((limits.size.get() / 5).max(1));
        let most = limits.blocks_per_address.max(1) as usize;
        let mut requests: Vec<FetchRequest> = Vec::new();
        for (address, blocks) in blocks {
            let mut request = FetchRequest::new(address);
            for block in blocks.into_iter().filter(|block| block.bytes > Bytes::ZERO) {
                request.bytes += block.bytes;
                request.blocks.push(block);
                if request.bytes >= target || request.blocks.len() >= most {
                    requests.push(std::mem::replace(&mut request, FetchRequest::new(address)));
                }
            }
            if !request.blocks.is_empty() {
                requests.push(request);
            }
        }
        random.shuffle(&mut requests);
        Self {
            limits,
            waiting: requests.into(),
            deferred: BTreeMap::new(),
            bytes: Bytes::ZERO,
            requests: 0,
            blocks: BTreeMap::new(),
        }
    }

    /// The next request that may leave now (`fetchUpToMaxBytes`).
    pub fn ask(&mut self) -> Option<FetchRequest> {
        let free: Vec<usize> = self.deferred.keys().copied().collect();
        for address in free {
            let front = self.deferred.get(&address).and_then(VecDeque::front);
            if front.is_some_and(|request| self.fits(request) && !self.is_full(request)) {
                let queue = self.deferred.get_mut(&address)?;
                let request = queue.pop_front()?;
                if queue.is_empty() {
                    self.deferred.remove(&address);
                }
                return Some(self.leaves(request));
            }
        }
        while self.waiting.front().is_some_and(|request| self.fits(request)) {
            let request = self.waiting.pop_front()?;
            if self.is_full(&request) {
                self.deferred.entry(request.address).or_default().push_back(request);
            } else {
                return Some(self.leaves(request));
            }
        }
        None
    }

    /// The task takes a block that has come; with `last` its request is over.
    pub fn taken(&mut self, address: usize, bytes: Bytes, last: bool) {
        self.bytes = self.bytes.saturating_sub(bytes);
        self.requests -= u32::from(last);
        if let Some(blocks) = self.blocks.get_mut(&address) {
            *blocks = blocks.saturating_sub(1);
        }
    }

    /// Bytes that are under way, or have come and are not taken.
    pub const fn in_flight(&self) -> Bytes {
        self.bytes
    }

    /// Whether nothing is left to ask for.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.deferred.is_empty()
    }

    fn fits(&self, request: &FetchRequest) -> bool {
        self.bytes == Bytes::ZERO
            || self.requests < self.limits.requests && self.bytes + request.bytes <= self.limits.size
    }

    fn is_full(&self, request: &FetchRequest) -> bool {
        let under_way = self.blocks.get(&request.address).copied().unwrap_or(0);
        u64::from(under_way) + request.blocks.len() as u64 > u64::from(self.limits.blocks_per_address) && under_way > 0
    }

    fn leaves(&mut self, request: FetchRequest) -> FetchRequest {
        self.bytes += request.bytes;
        self.requests += 1;
        *self.blocks.entry(request.address).or_insert(0) += units::count(request.blocks.len());
        request
    }
}
