//! Two ends of a connection and the streams between them. Streams are first in, first out, each with its own rate and
//! delay. They die, swallow what they carry, or lose single frames. Frames travel as bytes, with their payload.

pub mod sessions;

use std::collections::VecDeque;
use stripe::wire::{Decoded, Frame, decode};
use stripe::{Config, Connection, Measured, Notice, Output, StreamId, Streams};
use units::{BitRate, Bytes, Time};

pub const MAX_PAYLOAD: u32 = 1 << 20;

/// One direction of a stream.
#[derive(Default)]
struct Direction {
    queue: VecDeque<(Time, Vec<u8>)>,
    free_at: Time,
    handed: u64,
    delivered: u64,
}

pub struct Pipe {
    pub id: StreamId,
    rate: BitRate,
    delay: Time,
    buffer: u64,
    directions: [Direction; 2],
    /// It delivers nothing any more, and nobody has noticed.
    pub swallows: bool,
    /// When each end finds it dead.
    dies_at: [Time; 2],
}

pub struct End {
    pub connection: Connection,
    pub streams: Streams,
    pub notices: Vec<Notice>,
    /// Positions of the peer's byte stream that have arrived, taken or not.
    arrived: Vec<bool>,
    pub taken: u64,
    /// Bytes that its reader takes per millisecond.
    pub pace: u64,
    pub peak: u64,
}

pub struct Net {
    pub now: Time,
    pub ends: [End; 2],
    pub pipes: Vec<Pipe>,
    next_stream: u32,
    /// Frames to lose on live streams, by their number of all frames.
    pub lose: Vec<bool>,
    carried: usize,
    calls: u32,
    out: Output,
}

/// The byte at a position of an end's byte stream.
pub fn byte(side: usize, position: u64) -> u8 {
    let mixed = (position + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15 ^ side as u64);
    (mixed >> 32) as u8
}

impl Net {
    pub fn new(configs: [&Config; 2]) -> Self {
        let end = |config| End {
            connection: Connection::new(config),
            streams: Streams::default(),
            notices: Vec::new(),
            arrived: Vec::new(),
            taken: 0,
            pace: u64::MAX,
            peak: 0,
        };
        Self {
            now: Time::ZERO,
            ends: configs.map(end),
            pipes: Vec::new(),
            next_stream: 1,
            lose: Vec::new(),
            carried: 0,
            calls: 0,
            out: Output::default(),
        }
    }

    pub fn add(&mut self, rate: BitRate, delay: Time, buffer: u64) -> StreamId {
        let id = StreamId(self.next_stream);
        self.next_stream += 1;
        self.pipes.push(Pipe {
            id,
            rate,
            delay,
            buffer,
            directions: Default::default(),
            swallows: false,
            dies_at: [Time::MAX; 2],
        });
        for side in 0..2 {
            let measured = self.measured(self.pipes.len() - 1, side);
            self.ends[side].streams.add(self.now, id, 0, measured);
            self.transmit(side);
        }
        id
    }
    /// Kills a stream. What is on its way is lost, and the ends find out after these times.
    pub fn kill(&mut self, place: usize, after: [Time; 2]) {
        if let Some(pipe) = self.pipes.get_mut(place) {
            pipe.swallows = true;
            for (at, after) in pipe.dies_at.iter_mut().zip(after) {
                *at = (*at).min(self.now + after);
            }
        }
    }

    fn measured(&self, place: usize, side: usize) -> Measured {
        let pipe = &self.pipes[place];
        let direction = &pipe.directions[side];
        Measured {
            rtt: pipe.delay * 2,
            rtt_min: pipe.delay * 2,
            rto: (pipe.delay * 3).max(Time::from_ms(200)),
            rate: pipe.rate,
            window: Bytes::ZERO,
            handed: direction.handed,
            acknowledged: direction.delivered,
            room: Bytes::new(pipe.buffer.saturating_sub(direction.handed - direction.delivered)),
        }
    }
    fn refresh(&mut self, side: usize) {
        for place in 0..self.pipes.len() {
            let measured = self.measured(place, side);
            self.ends[side].streams.update(self.now, self.pipes[place].id, measured);
        }
    }

    /// Lets an end send, and puts its frames on the streams.
    pub fn transmit(&mut self, side: usize) {
        self.calls += 1;
        assert!(self.calls < 1_000_000, "it does not come to an end: {:#?}", self.ends[side].connection);
        self.refresh(side);
        let end = &mut self.ends[side];
        end.connection.transmit(self.now, &mut end.streams, &mut self.out);
        assert!(end.connection.deadline() > self.now, "something stays due: {:?}", end.connection);
        for (id, frame) in self.out.frames.drain(..) {
            let mut bytes = Vec::new();
            frame.encode(7, &mut bytes);
            if let Frame::Data(data) = &frame {
                assert!(data.len == 0 || data.offset >= end.connection.acknowledged(), "payload that is gone");
                bytes.extend((data.offset..data.offset + u64::from(data.len)).map(|at| byte(side, at)));
            }
            assert_eq!(bytes.len() as u64, frame.wire_bytes());
            let Some(pipe) = self.pipes.iter_mut().find(|pipe| pipe.id == id) else {
                panic!("a frame for stream {id:?}, which is gone");
            };
            let direction = &mut pipe.directions[side];
            direction.handed += frame.wire_bytes();
            direction.free_at =
                direction.free_at.max(self.now) + pipe.rate.transmission_time(Bytes::new(frame.wire_bytes()));
            direction.queue.push_back((direction.free_at + pipe.delay, bytes));
        }
    }

    fn arrive(&mut self, from: usize, bytes: &[u8]) {
        let Decoded::Frame { connection: 7, frame, read } = decode(bytes, MAX_PAYLOAD).expect("own frames are right")
        else {
            panic!("own frames are whole");
        };
        let to = 1 - from;
        let end = &mut self.ends[to];
        end.connection.on_frame(self.now, &frame, &mut self.out).expect("the peer keeps to the protocol");
        for piece in self.out.pieces.drain(..) {
            let Frame::Data(data) = &frame else { panic!("pieces of {frame:?}") };
            assert_eq!(piece.offset, data.offset + piece.skip);
            let (start, payload) = (piece.offset as usize, &bytes[read + piece.skip as usize..]);
            let needed = start + piece.len as usize;
            if end.arrived.len() < needed {
                end.arrived.resize(needed, false);
            }
            for (at, got) in (start..needed).zip(payload) {
                assert!(!end.arrived[at], "position {at} told twice");
                assert_eq!(*got, byte(from, at as u64), "position {at}");
                end.arrived[at] = true;
            }
        }
        end.notices.append(&mut self.out.notices);
        end.peak = end.peak.max(end.connection.buffered().get());
        assert!(end.connection.buffered() <= end.connection.credit(), "more buffered than granted");
    }
    fn consume(&mut self, side: usize) {
        let now = self.now;
        let end = &mut self.ends[side];
        let ready = end.connection.readable();
        if !ready.is_empty() && end.pace > 0 {
            assert_eq!(ready.start, end.taken);
            let bytes = ready.len().min(end.pace);
            assert!((ready.start..ready.start + bytes).all(|at| end.arrived[at as usize]), "a hole was handed out");
            end.taken += bytes;
            end.connection.consume(now, bytes, &end.streams);
        }
    }

    /// When something happens next, apart from paced readers and writers.
    pub fn next_at(&self) -> Time {
        let arrivals = self
            .pipes
            .iter()
            .flat_map(|pipe| pipe.directions.iter().filter_map(|direction| direction.queue.front().map(|(at, _)| *at)));
        let deaths = self.pipes.iter().flat_map(|pipe| pipe.dies_at);
        let timers = self.ends.iter().flat_map(|end| [end.connection.deadline(), end.streams.deadline()]);
        arrivals.chain(deaths).chain(timers).min().unwrap_or(Time::MAX)
    }
    /// Handles all that is due up to `until`.
    pub fn run_until(&mut self, until: Time) {
        while self.next_at() <= until {
            self.now = self.now.max(self.next_at());
            self.step();
        }
        self.now = until.max(self.now);
    }
    fn step(&mut self) {
        for place in 0..self.pipes.len() {
            for side in 0..2 {
                while self.pipes[place].directions[side].queue.front().is_some_and(|(at, _)| *at <= self.now) {
                    let pipe = &mut self.pipes[place];
                    let Some((_, bytes)) = pipe.directions[side].queue.pop_front() else { break };
                    if pipe.swallows {
                        continue;
                    }
                    pipe.directions[side].delivered += bytes.len() as u64;
                    let lost = self.lose.get(self.carried).copied().unwrap_or(false);
                    self.carried += 1;
                    if !lost && pipe.dies_at[1 - side] > self.now {
                        self.arrive(side, &bytes);
                        self.consume(1 - side);
                    }
                }
            }
        }
        for side in 0..2 {
            for place in 0..self.pipes.len() {
                if self.pipes[place].dies_at[side] <= self.now {
                    let id = self.pipes[place].id;
                    let end = &mut self.ends[side];
                    if end.streams.remove(id) {
                        end.connection.on_stream_lost(self.now, id);
                    }
                }
            }
            if self.ends[side].streams.deadline() <= self.now {
                self.refresh(side);
                let mut suspects = Vec::new();
                let end = &mut self.ends[side];
                end.streams.check(self.now, &mut suspects);
                for id in suspects {
                    end.connection.on_stream_lost(self.now, id);
                }
            }
        }
        let now = self.now;
        for pipe in &mut self.pipes {
            for at in &mut pipe.dies_at {
                // An end finds out once.
                if *at <= now {
                    *at = Time::MAX;
                }
            }
        }
        for side in 0..2 {
            self.transmit(side);
        }
    }

    /// Runs with readers of their pace until `done`. Steps are a millisecond while somebody reads slowly, and otherwise
    /// as long as nothing happens.
    pub fn run_to(&mut self, limit: Time, done: impl Fn(&Self) -> bool) -> bool {
        while !done(self) {
            let slow = |end: &End| !end.connection.readable().is_empty() && end.pace > 0;
            let next = if self.ends.iter().any(slow) {
                self.now + Time::from_ms(1)
            } else {
                self.next_at().max(self.now + Time::from_ms(1))
            };
            if next > limit {
                return false;
            }
            self.run_until(next);
            for side in 0..2 {
                self.consume(side);
                self.transmit(side);
            }
        }
        true
    }
}
