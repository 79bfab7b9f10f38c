//! Fuzzing: a fuzzer's bytes choose what a peer sends and what happens beside it. What it has found so far is in
//! `__fuzz__` and is replayed here; `scripts/fuzz stripe session 300` looks for more.

use stripe::optimizer::{Limits, Policy, Tuner};
use stripe::session::{Arrived, Carriage, Gauge, Pool, Role, Session, Settings, code};
use stripe::wire::{
    Ack, Data, Datagram, Decoded, Destination, Frame, FrameReader, HEADER, Item, KeepAlive, MAX_DATAGRAM, decode,
};
use stripe::{Config, Span, StreamId};
use units::{BitRate, Bytes, Time};

const MAX_PAYLOAD: u32 = 1 << 18;

/// P-5: the decoder takes any bytes, and accepts nothing that the encoder would say differently.
#[test]
fn frames() {
    bolero::check!().for_each(|input: &[u8]| {
        match decode(input, MAX_PAYLOAD) {
            Ok(Decoded::Frame { frame, read, connection }) => {
                let mut said = Vec::new();
                frame.encode(connection, &mut said);
                assert_eq!(said, input[..read]);
            }
            Ok(Decoded::Incomplete(needed)) => assert!(needed > input.len() && needed <= HEADER + MAX_DATAGRAM + 260),
            Ok(Decoded::Skip(bytes)) => assert!((HEADER..=HEADER + (1 << 24)).contains(&bytes)),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
        // A stream means the same whole and cut.
        assert_eq!(items(input, input.len()), items(input, 1));
    });
}

/// The items of a stream's bytes. Payload is listed byte by byte, so that cuts make no difference.
fn items(input: &[u8], at_once: usize) -> (Vec<(u32, u64, Option<Frame>)>, bool) {
    let (mut reader, mut read) = (FrameReader::new(MAX_PAYLOAD), Vec::new());
    for mut part in input.chunks(at_once.max(1)) {
        loop {
            match reader.next(&mut part) {
                Ok(Some(Item::Frame { connection, frame })) => read.push((connection, 0, Some(frame))),
                Ok(Some(Item::Payload { connection, data, payload })) => {
                    assert_eq!(data.len as usize, payload.len());
                    read.extend((data.offset..).zip(payload).map(|(at, _)| (connection, at, None)));
                }
                Ok(None) => break,
                Err(_) => return (read, true),
            }
        }
    }
    (read, false)
}

/// P-6, P-21, P-30, P-32: whatever a peer sends, nothing panics, and what is held is bounded. When the session is over
/// all of it is given back.
#[test]
fn session() {
    bolero::check!().with_max_len(600).for_each(|input: &[u8]| Play::new(input).run());
}

const MEMORY: u64 = 8 << 20;
const POOL: u64 = 24 << 20;
const CONNECTIONS: usize = 6;
const FLOWS: u32 = 3;
/// Bytes that may wait for a peer that does not read: the bound, and what one input makes at once.
const MOST_CONTROL: u64 = (4 << 20) + (64 << 10);

/// The input that has not been used.
struct Bytewise<'a>(&'a [u8]);

impl Bytewise<'_> {
    fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().map_or((0, &[][..]), |(first, rest)| (*first, rest));
        self.0 = rest;
        first
    }
    /// A number, mostly a small one or one at a limit.
    fn number(&mut self) -> u64 {
        let (kind, low) = (self.byte(), u64::from(self.byte()));
        match kind % 8 {
            0..=2 => low,
            3 => low << 8,
            4 => low << 14,
            5 => (1 << 18) + low - 128,
            6 => u64::MAX - low,
            _ => low << (kind / 8 + 16),
        }
    }
    fn few(&mut self) -> u32 {
        u32::from(self.byte() % 8)
    }
}

struct Play<'a> {
    input: Bytewise<'a>,
    session: Session,
    pool: std::sync::Arc<Pool>,
    readers: std::collections::BTreeMap<StreamId, FrameReader>,
    now: Time,
    next_stream: u32,
    violated: bool,
}

impl<'a> Play<'a> {
    fn new(input: &'a [u8]) -> Self {
        let mut input = Bytewise(input);
        let how = input.byte();
        let pool = Pool::new(POOL);
        let connection = Config {
            credit: Bytes::new(256 << 10),
            peer_credit: Bytes::new(input.number()),
            ..if how & 2 == 0 { Config::default() } else { Config::paper(1000) }
        };
        let settings = Settings {
            connection,
            max_payload: MAX_PAYLOAD,
            max_streams: 8,
            connections: CONNECTIONS,
            memory: MEMORY,
            patience: Time::from_secs(30),
            keep_alive: Time::from_secs(10),
            warm: 2,
            datagrams: (how & 4 != 0).then_some(Carriage { wait: Time::from_ms(100), flows: FLOWS }),
        };
        let role = if how & 1 == 0 { Role::Far } else { Role::Near };
        let tuner = Tuner::measuring(Policy::Fill, Limits { first: 2, most: 8 }, 2);
        let session = Session::new(Time::ZERO, role, settings, tuner, &pool).expect("there is memory");
        let mut play = Self {
            input,
            session,
            pool,
            readers: std::collections::BTreeMap::new(),
            now: Time::ZERO,
            next_stream: 1,
            violated: false,
        };
        play.add_stream();
        play
    }
    fn add_stream(&mut self) {
        let id = StreamId(self.next_stream);
        self.next_stream += 1;
        let gauge = self.gauge();
        self.session.add_stream(self.now, id, u32::from(id.0.is_multiple_of(2)), gauge);
        self.readers.insert(id, FrameReader::new(MAX_PAYLOAD));
    }
    /// Measurements of a kernel, over which the peer has no influence.
    fn gauge(&mut self) -> Gauge {
        let mut number = || self.input.number() & 0xff_ffff_ffff;
        Gauge {
            rtt: Time::from_us(number()),
            rto: Time::from_ms(200),
            rate: BitRate::from_bps(number()),
            unacknowledged: number(),
            mss: number() & 0xffff,
            window: number(),
            ..Gauge::default()
        }
    }
    fn stream(&mut self) -> StreamId {
        StreamId(1 + self.input.few())
    }
    fn destination(&mut self) -> Destination {
        match self.input.few() {
            0 => Destination::Name("db.example".to_owned(), self.input.byte().into()),
            1 => Destination::Address(([127, 0, 0, 1], 80).into()),
            _ => Destination::Address(([0, 0, 0, 0, 0, 0, 0, 1], 80).into()),
        }
    }
    fn frame(&mut self) -> Frame {
        let input = &mut self.input;
        match input.byte() % 18 {
            0..=4 => Frame::Data(Data {
                offset: input.number(),
                len: input.number() as u32 % MAX_PAYLOAD,
                end: input.few() == 1,
            }),
            5 | 6 => {
                let (next, limit, flags) = (input.number(), input.number(), input.few());
                let mut at = next;
                let ranges = (0..input.few()).map_while(|_| {
                    let start = at.checked_add(1 + input.number() % 5000)?;
                    at = start.checked_add(1 + input.number() % 5000)?;
                    Some(Span::new(start, at))
                });
                let ranges = ranges.collect();
                Frame::Ack(Ack { next, limit, end: flags & 1 != 0, reset: flags & 2 != 0, ranges })
            }
            7 => Frame::Reset { code: input.few(), end: input.number() },
            8 => Frame::Stop { code: input.few() },
            9 => Frame::Gone { stream: input.few() },
            10 | 11 => Frame::Open(self.destination()),
            12 => Frame::Opened,
            13 => Frame::Over,
            14 => Frame::Allow { limit: input.number() },
            15 => Frame::Want { streams: input.number() as u32 },
            16 => Frame::Ping { token: input.number() },
            _ => match input.few() {
                0 => Frame::Leave,
                1 => Frame::Start,
                2 => Frame::Share { bytes: input.number() },
                3 => Frame::Pong { token: 1 },
                4 => Frame::Flows { most: input.few() },
                5 => self.datagram(),
                6 => Frame::Known,
                7 => Frame::KeepAlive(KeepAlive { idle: input.few(), interval: input.few(), probes: input.few() }),
                _ => Frame::Forget { code: input.few() },
            },
        }
    }
    fn datagram(&mut self) -> Frame {
        let to = if self.input.few().is_multiple_of(2) { Some(self.destination()) } else { None };
        Frame::Datagram(Datagram { to, payload: self.payload() })
    }
    fn payload(&mut self) -> Vec<u8> {
        vec![9; self.input.number() as usize % (MAX_DATAGRAM + 1)]
    }
    /// Actions of the owners of flows.
    fn flow(&mut self, flow: u32) {
        match self.input.few() {
            0 | 1 => {
                let to = self.destination();
                let _ = self.session.open_flow(self.now, to);
            }
            2..=4 => {
                let payload = self.payload();
                self.session.send_datagram(self.now, flow, &payload);
            }
            5 | 6 => while let Arrived::Datagram(_) = self.session.take_datagram(flow) {},
            _ => self.session.close_flow(flow, 0),
        }
    }

    /// Bytes arrive on a stream, if it exists.
    fn hear(&mut self, id: StreamId, mut bytes: &[u8]) {
        let Some(reader) = self.readers.get_mut(&id) else { return };
        loop {
            match reader.next(&mut bytes) {
                Ok(Some(item)) if self.session.on_item(self.now, id, &item).is_ok() => {}
                Ok(None) => return,
                _ => break,
            }
        }
        self.session.give_up();
        self.violated = true;
    }
    /// Does one thing.
    fn step(&mut self) {
        const WAITS: [Time; 8] = [
            Time::from_us(1),
            Time::from_ms(1),
            Time::from_ms(5),
            Time::from_ms(100),
            Time::from_secs(1),
            Time::from_secs(10),
            Time::from_secs(31),
            // A host that was suspended for a month.
            Time::from_secs(2_600_000),
        ];
        let now = self.now;
        let connection = 1 + self.input.few();
        let act = self.input.byte();
        match act % 24 {
            _ if act >= 248 => self.flow(connection),
            0..=8 => {
                let (frame, id) = (self.frame(), self.stream());
                let mut bytes = Vec::new();
                frame.encode(if frame.is_of_session() { 0 } else { connection }, &mut bytes);
                if let Frame::Data(data) = frame {
                    bytes.resize(bytes.len() + data.len as usize, 7);
                }
                self.hear(id, &bytes);
            }
            9 => {
                let (id, count) = (self.stream(), self.input.byte() as usize);
                let (bytes, rest) = self.input.0.split_at(count.min(self.input.0.len()));
                self.input.0 = rest;
                self.hear(id, bytes);
            }
            10 => self.add_stream(),
            11 => {
                let id = self.stream();
                self.readers.remove(&id);
                self.session.lose_stream(now, id);
            }
            12 => {
                let id = self.stream();
                self.session.drain_stream(now, id);
            }
            13 => {
                let id = self.stream();
                self.session.on_stream_end(now, id);
                if self.session.wants_shut(id) {
                    self.session.on_shut(now, id);
                }
            }
            14 => {
                let (id, gauge) = (self.stream(), self.gauge());
                self.session.measure(now, id, gauge);
            }
            15 => {
                let destination = self.destination();
                let _ = self.session.connect(destination);
            }
            16 => {
                let most = self.session.room(connection).min(self.input.number());
                self.session.write(connection, &vec![5; most as usize]);
            }
            17 => self.session.finish(connection),
            18 => self.session.abandon(now, connection, code::RESET),
            19 => {
                let there = self.session.readable(connection).map(<[u8]>::len).sum::<usize>() as u64;
                let most = self.input.number().min(there);
                self.session.consume(now, connection, most);
            }
            20 => self.session.release(now, connection),
            21 => self.session.refuse(now, connection, 111),
            22 => self.session.leave(self.now),
            _ => self.now = now.saturating_add(WAITS[self.input.few() as usize]),
        }
    }
    fn serve_session(&mut self) {
        for (connection, _) in self.session.effects().openings {
            self.session.accept(connection);
        }
        if self.session.deadline() <= self.now {
            self.session.on_timer(self.now);
        }
        self.session.flush(self.now);
    }
    fn take(&mut self) {
        let ids: Vec<StreamId> = self.readers.keys().copied().filter(|id| self.session.has_stream(*id)).collect();
        for id in ids {
            let mut out = Vec::new();
            self.session.take(self.now, id, &mut out, 1 << 16);
            assert!(out.len() <= (1 << 16) + MAX_PAYLOAD as usize + HEADER, "{}", out.len());
            // The session's own output is valid.
            assert!(!items(&out, out.len()).1);
        }
    }
    fn check(&self) {
        let (_, received) = self.session.memory();
        assert!(received.get() <= MEMORY, "{received:?} held for the peer");
        assert!(self.session.connection_count() <= 2 * CONNECTIONS);
        assert!(self.session.unsent_control() <= MOST_CONTROL, "{} B of control frames", self.session.unsent_control());
        assert!((1..=8).contains(&self.session.number()));
        // P-46: far fewer than the peer asks for.
        assert!(self.session.flow_count() <= FLOWS as usize);
    }
    fn run(mut self) {
        while !self.input.0.is_empty() && !self.violated {
            self.step();
            self.serve_session();
            if !self.input.byte().is_multiple_of(4) {
                self.take();
            }
            self.check();
        }
        // The session is over: programs and streams go.
        for connection in 0..10 {
            self.session.release(self.now, connection);
        }
        for id in self.readers.keys() {
            self.session.lose_stream(self.now, *id);
        }
        self.serve_session();
        self.session.give_up();
        self.serve_session();
        drop(self.session);
        assert_eq!(self.pool.free(), POOL);
    }
}
