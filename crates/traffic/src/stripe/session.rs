//! A session: its streams come and go, its frames travel, its timer fires.

use super::{Census, ENDS, Session, Side, StripeSpec, TcpStream, World, tuner};
use crate::{ENDLESS, Flow, FlowIndex, SESSION};
use ::stripe::optimizer::Reason;
use ::stripe::wire::{Data, Frame, Hello};
use ::stripe::{Config, Connection, Notice, Output, StreamId, Streams};
use results::StreamCountAt;
use std::collections::BTreeMap;
use transport::{End, Open, Owner};
use units::{Bytes, Time};

/// Before a stream that could not be opened, or died, is opened again.
const REDIAL: Time = Time::from_secs(1);

impl Session {
    pub(super) fn new(spec: &StripeSpec, flow: FlowIndex, from: u32, to: u32) -> Self {
        let side = || Side { connection: Connection::new(&spec.config), streams: Streams::default() };
        Self {
            flow,
            from,
            to,
            sides: [side(), side()],
            tcp_streams: BTreeMap::new(),
            next_stream: 1,
            tuner: tuner::tuner(spec.number),
            began: Time::ZERO,
            running: false,
            redial_at: Time::MAX,
            armed: Time::MAX,
            census: Census::default(),
            numbers: Vec::new(),
            gone: Vec::new(),
            held: 0,
            held_since: Time::ZERO,
            held_integral: 0.0,
            held_most: 0,
            buffered_most: 0,
            out: Output::default(),
            spec: spec.clone(),
        }
    }

    pub(super) fn begin(&mut self, world: &mut World) {
        let now = world.net.now;
        (self.began, self.held_since, self.running) = (now, now, true);
        self.sides[0].connection.write(self.spec.bytes.unwrap_or(ENDLESS).get());
        if self.spec.bytes.is_some() {
            self.sides[0].connection.finish();
        }
        self.sides[1].connection.finish();
        self.note_number(now);
        self.adjust(world);
    }
    pub(super) fn note_number(&mut self, now: Time) {
        let reason = self.tuner.reason().map_or("", Reason::name);
        self.numbers.push(StreamCountAt { at: now, streams: self.tuner.target(), reason });
    }

    // === Streams come and go ===

    /// As many streams as there are to be: new ones are opened, the latest drained.
    pub(super) fn adjust(&mut self, world: &mut World) {
        let target = self.tuner.open() as usize;
        let used: Vec<u32> =
            self.tcp_streams.iter().filter(|(_, tcp_stream)| !tcp_stream.closing).map(|(id, _)| *id).collect();
        for _ in used.len()..target {
            self.dial(world);
        }
        for id in used.iter().skip(target) {
            self.sides[0].streams.drain(StreamId(*id));
            if let Some(tcp_stream) = self.tcp_streams.get_mut(id) {
                tcp_stream.closing = true;
            }
        }
        self.sides[0].streams.rest_beyond(self.tuner.target());
        self.close_drained(world);
    }
    pub(super) fn dial(&mut self, world: &mut World) {
        let stream = self.next_stream;
        self.next_stream += 1;
        let flow = world.flows.insert(Flow::new(world.traffic, self.from, self.to, Bytes::ZERO));
        let paths = self.spec.paths.len() as u32;
        let path = if paths > 0 { (stream - 1) % paths } else { 0 };
        let open = Open {
            owner: Owner::Traffic,
            user: flow.0,
            from: self.from,
            to: self.to,
            port: world.port,
            via: self.spec.paths.get(path as usize).copied(),
            client: world.tcp,
            server: world.tcp,
        };
        let handle = world.net.transport.open(world.net.now, &open, world.net.events);
        if let Some(one) = world.flows.get_mut(flow) {
            one.handle = Some(handle);
        }
        world.streams.insert(flow.0, (world.session, stream));
        let tcp_stream = TcpStream {
            handle,
            path,
            in_flight: Default::default(),
            delivered: 0,
            census: Census::default(),
            lost_before: 0,
            window_before: 0,
            losses: 0,
            acknowledged_at_loss: 0,
            between_losses: 0,
            connected: false,
            closing: false,
            closed: false,
        };
        self.tcp_streams.insert(stream, tcp_stream);
    }
    /// Closes the streams that get nothing more and carry nothing that is not acknowledged.
    pub(super) fn close_drained(&mut self, world: &mut World) {
        let (running, connection) = (self.running, &self.sides[0].connection);
        for (id, tcp_stream) in
            self.tcp_streams.iter_mut().filter(|(_, tcp_stream)| tcp_stream.closing && !tcp_stream.closed)
        {
            if !running || !connection.uses(StreamId(*id)) {
                tcp_stream.closed = true;
                world.net.close(tcp_stream.handle, End::Client);
            }
        }
    }
    pub(super) fn on_connected(&mut self, stream: u32, world: &mut World) {
        let Some(measured) = self.measured(stream, 0, world) else { return };
        let Some(tcp_stream) = self.tcp_streams.get_mut(&stream) else { return };
        tcp_stream.connected = true;
        let (path, closing) = (tcp_stream.path, tcp_stream.closing);
        self.sides[0].streams.add(world.net.now, StreamId(stream), path, measured);
        if closing {
            self.sides[0].streams.drain(StreamId(stream));
        }
        self.sides[0].streams.rest_beyond(self.tuner.target());
        self.say_hello(stream, 0, world);
        self.pump(0, world);
    }
    pub(super) fn say_hello(&mut self, stream: u32, side: usize, world: &mut World) {
        let Config { credit, .. } = self.spec.config;
        let hello = Hello {
            session: u128::from(world.session).to_be_bytes(),
            stream,
            credit: credit.get(),
            max_payload: 1 << 24,
            max_streams: u16::MAX,
        };
        self.put(stream, side, Frame::Hello(hello), world);
        self.refresh(stream, side, world);
    }
    pub(super) fn on_lost(&mut self, stream: u32, gone: bool, world: &mut World) {
        let (now, id) = (world.net.now, StreamId(stream));
        for side in &mut self.sides {
            if side.streams.remove(id) {
                side.connection.on_stream_lost(now, id);
            }
        }
        self.sides[0].streams.rest_beyond(self.tuner.target());
        if gone && let Some(tcp_stream) = self.tcp_streams.remove(&stream) {
            self.census = self.census + tcp_stream.census;
            self.gone.push(tcp_stream.outcome(stream));
            if self.running && !tcp_stream.closing {
                self.redial_at = self.redial_at.min(now + REDIAL);
            }
        }
        if self.running {
            self.pump(0, world);
            self.pump(1, world);
        }
    }

    // === Frames ===

    /// Puts a frame on a stream.
    pub(super) fn put(&mut self, stream: u32, side: usize, frame: Frame, world: &mut World) {
        if let Some(tcp_stream) = self.tcp_streams.get_mut(&stream) {
            world.net.send(tcp_stream.handle, ENDS[side], Bytes::new(frame.wire_bytes()), 0);
            tcp_stream.in_flight[side].push_back(frame);
        }
    }
    /// Lets an end send.
    pub(super) fn pump(&mut self, side: usize, world: &mut World) {
        let mut out = std::mem::take(&mut self.out);
        let end = &mut self.sides[side];
        end.connection.transmit(world.net.now, &mut end.streams, &mut out);
        for (id, frame) in out.frames.drain(..) {
            self.put(id.0, side, frame, world);
        }
        self.out = out;
    }
    /// A frame has arrived at a side; returns when it began and how much it was if that makes the session complete.
    pub(super) fn on_delivered(&mut self, stream: u32, side: usize, world: &mut World) -> Option<(Time, Bytes)> {
        let now = world.net.now;
        let tcp_stream = self.tcp_streams.get_mut(&stream)?;
        let frame = tcp_stream.in_flight[1 - side].pop_front()?;
        if let Frame::Hello(_) = frame {
            if side == 1 {
                let path = tcp_stream.path;
                let measured = self.measured(stream, 1, world)?;
                self.sides[1].streams.add(now, StreamId(stream), path, measured);
                self.say_hello(stream, 1, world);
            }
            return None;
        }
        if let Frame::Data(Data { len, .. }) = frame {
            tcp_stream.delivered += u64::from(len);
        }
        let mut out = std::mem::take(&mut self.out);
        let judged = self.sides[side].connection.on_frame(now, &frame, &mut out);
        debug_assert!(judged.is_ok(), "both ends are of one make: {judged:?}");
        let finished = side == 1 && out.notices.contains(&Notice::Finished);
        out.clear();
        self.out = out;
        if side == 1 {
            self.take_data(world);
        }
        self.refresh(stream, side, world);
        self.pump(side, world);
        if side == 0 {
            self.close_drained(world);
        }
        if side == 0 && self.running && self.sides[0].connection.is_sent() {
            self.running = false;
            for tcp_stream in self.tcp_streams.values_mut() {
                tcp_stream.closing = true;
            }
            self.close_drained(world);
        }
        finished.then(|| {
            if let Some(flow) = world.flows.get_mut(self.flow) {
                flow.finished = Some(now);
            }
            (self.began, self.spec.bytes.unwrap_or(ENDLESS))
        })
    }
    /// The receiving application takes all that is in order.
    pub(super) fn take_data(&mut self, world: &mut World) {
        let now = world.net.now;
        let Side { connection, streams } = &mut self.sides[1];
        self.buffered_most = self.buffered_most.max(connection.buffered().get());
        let ready = connection.readable();
        connection.consume(now, ready.len(), streams);
        if let Some(flow) = world.flows.get_mut(self.flow) {
            flow.received = ready.end;
        }
        self.held_integral += self.held as f64 * (now - self.held_since).as_secs_f64();
        (self.held, self.held_since) = (connection.out_of_order().get(), now);
        self.held_most = self.held_most.max(self.held);
    }

    // === The timer ===

    pub(super) fn on_timer(&mut self, world: &mut World) {
        let now = world.net.now;
        if now != self.armed || !self.running {
            return;
        }
        self.armed = Time::MAX;
        self.refresh_all(world);
        for side in &mut self.sides {
            if side.streams.deadline() <= now {
                let mut suspects = Vec::new();
                side.streams.check(now, &mut suspects);
                for id in suspects {
                    side.connection.on_stream_lost(now, id);
                }
            }
        }
        if self.tuner.deadline() <= now {
            let (target, open) = (self.tuner.target(), self.tuner.open());
            self.tune(world);
            if self.tuner.target() != target {
                self.note_number(now);
            }
            if (self.tuner.target(), self.tuner.open()) != (target, open) {
                self.adjust(world);
            }
        }
        self.sides[0].streams.rest_beyond(self.tuner.target());
        if self.redial_at <= now {
            self.redial_at = Time::MAX;
            self.adjust(world);
        }
        self.pump(0, world);
        self.pump(1, world);
        self.close_drained(world);
    }
    /// Sees to it that the timer fires when something is due.
    pub(super) fn arm(&mut self, world: &mut World) {
        if !self.running {
            return;
        }
        let sides = self.sides.iter().flat_map(|side| [side.connection.deadline(), side.streams.deadline()]);
        let due = sides.chain([self.tuner.deadline(), self.redial_at]).min().unwrap_or(Time::MAX);
        if due < self.armed {
            self.armed = due.max(world.net.now);
            world.net.events.push(self.armed, SESSION, world.traffic, world.session);
        }
    }
}
