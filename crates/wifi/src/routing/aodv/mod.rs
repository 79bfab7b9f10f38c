//! Ad hoc on-demand distance vector routing (Perkins, Belding-Royer and Das, RFC 3561, 2003).
//!
//! A node that has a packet and no route floods a request, in rings that widen; whoever knows a way as new as asked
//! for, at last the destination, replies along the way the request came; packets wait meanwhile. A route lives while it
//! is used. When the MAC gives up on a neighbour (or, with `hello`, when it falls silent), the routes over it end and
//! those who use them are told.
//!
//! Left out, all optional there: local repair (section 6.12), multicast, gratuitous replies, acknowledgements of
//! replies (a failed reply is known from the MAC; its neighbour's requests are then ignored for a while, as section 6.8
//! wants of links that work one way only).

mod search;
mod settings;
mod table;

pub use settings::AodvSettings;

use super::{Broken, Datagram, Failed, Message, Node, Output, Reply, Request, Undelivered};
use des::RandomStream;
use search::{RateLimit, Search};
use std::collections::{BTreeMap, BTreeSet};
use table::{News, Table, newer};
use units::Time;

/// One node's AODV.
#[derive(Debug, Clone)]
pub struct Aodv<P> {
    me: Node,
    settings: AodvSettings,
    sequence: u32,
    request_id: u32,
    table: Table,
    searches: BTreeMap<Node, Search<P>>,
    /// Requests seen, and until when they are remembered.
    seen: BTreeMap<(Node, u32), Time>,
    /// Requests to be passed on, and when.
    waiting: Vec<(Time, Request)>,
    /// Neighbours who do not hear this node, and until when that is believed.
    deaf: BTreeMap<Node, Time>,
    /// Neighbours who say Hello, and until when they are there without another word.
    greeters: BTreeMap<Node, Time>,
    next_hello: Time,
    requests: RateLimit,
    errors: RateLimit,
    stream: RandomStream,
}

impl<P: Copy> Aodv<P> {
    /// The routing of node `me`.
    pub fn new(seed: u64, me: Node, settings: AodvSettings) -> Self {
        let mut stream = RandomStream::new(seed, "wifi/aodv", u64::from(me));
        let next_hello = settings.hello.map_or(Time::MAX, |interval| interval.mul_f64(stream.uniform()));
        Self {
            me,
            settings,
            sequence: 0,
            request_id: 0,
            table: Table::default(),
            searches: BTreeMap::new(),
            seen: BTreeMap::new(),
            waiting: Vec::new(),
            deaf: BTreeMap::new(),
            greeters: BTreeMap::new(),
            next_hello,
            requests: RateLimit::new(settings.rate_limit),
            errors: RateLimit::new(settings.rate_limit),
            stream,
        }
    }

    pub(super) fn route(&mut self, now: Time, datagram: Datagram<P>, previous: Option<Node>, out: &mut Output<P>) {
        let Datagram { source, destination, .. } = datagram;
        let until = now.saturating_add(self.settings.active_route);
        if let Some(next_hop) = self.table.active(now, destination).map(|route| route.next_hop) {
            // What is used lives on: both directions, and the neighbours on both sides (section 6.2).
            for used in [Some(destination), Some(next_hop), Some(source), previous].into_iter().flatten() {
                self.table.extend(now, used, until);
            }
            out.forward.push((next_hop, datagram));
        } else if let Some(previous) = previous {
            let sequence = self.table.get(destination).map_or(0, |route| route.sequence);
            self.report(now, vec![(destination, sequence)], &BTreeSet::from([previous]), out);
            out.dropped.push((datagram, Undelivered::NoRoute));
        } else if self.held() >= self.settings.buffer {
            out.dropped.push((datagram, Undelivered::BufferFull));
        } else {
            let begins = !self.searches.contains_key(&destination);
            self.searches.entry(destination).or_insert_with(|| Search::new(now)).held.push_back(datagram);
            if begins {
                self.search(now, destination, out);
            }
        }
    }

    pub(super) fn on_message(&mut self, now: Time, from: Node, message: &Message, out: &mut Output<P>) {
        if let Some(until) = self.greeters.get_mut(&from) {
            *until = now.saturating_add(self.settings.hello.unwrap_or(Time::ZERO) * 2);
        }
        match message {
            Message::Request(request) => self.on_request(now, from, *request, out),
            Message::Reply(reply) if reply.originator == reply.destination => self.on_hello(now, from, *reply),
            Message::Reply(reply) => self.on_reply(now, from, *reply, out),
            Message::Broken(broken) => {
                let said = |destination| {
                    broken.unreachable.iter().find(|(node, _)| *node == destination).map(|(_, sequence)| *sequence)
                };
                self.end_over(now, from, said, out);
            }
            Message::Olsr(_) => {}
        }
    }

    pub(super) fn on_failed(&mut self, now: Time, neighbour: Node, failed: Failed<'_, P>, out: &mut Output<P>) {
        self.greeters.remove(&neighbour);
        if let Failed::Control(Message::Reply(_)) = failed {
            let until = now.saturating_add(self.settings.net_traversal() * u64::from(self.settings.retries));
            self.deaf.insert(neighbour, until);
        }
        self.end_over(now, neighbour, |_| Some(0), out);
        match failed {
            // Who has sent it looks for another way, which counts as a hop, so that there is an end to it; who has only
            // passed it on has told so.
            Failed::Data(datagram) if datagram.source == self.me && datagram.ttl == 0 => {
                out.dropped.push((datagram, Undelivered::TtlExpired));
            }
            Failed::Data(datagram) if datagram.source == self.me => {
                self.route(now, Datagram { ttl: datagram.ttl - 1, ..datagram }, None, out);
            }
            Failed::Data(datagram) => out.dropped.push((datagram, Undelivered::NoRoute)),
            Failed::Control(_) => {}
        }
    }

    pub(super) fn on_timer(&mut self, now: Time, out: &mut Output<P>) {
        let mut index = 0;
        while index < self.waiting.len() {
            if self.waiting[index].0 > now {
                index += 1;
                continue;
            }
            let (_, request) = self.waiting.remove(index);
            out.transmit.push((None, Message::Request(request)));
        }
        let due: Vec<Node> =
            self.searches.iter().filter(|(_, search)| search.deadline <= now).map(|(node, _)| *node).collect();
        for destination in due {
            self.search(now, destination, out);
        }
        self.greet(now, out);
    }

    pub(super) fn deadline(&self) -> Time {
        let searches = self.searches.values().map(|search| search.deadline);
        let waiting = self.waiting.iter().map(|(at, _)| *at);
        searches.chain(waiting).chain(self.greeters.values().copied()).fold(self.next_hello, Time::min)
    }

    pub(super) fn switch_off(&mut self) -> Vec<Datagram<P>> {
        self.table = Table::default();
        self.seen.clear();
        self.waiting.clear();
        self.deaf.clear();
        self.greeters.clear();
        std::mem::take(&mut self.searches).into_values().flat_map(|search| search.held).collect()
    }

    pub(super) fn held(&self) -> usize {
        self.searches.values().map(|search| search.held.len()).sum()
    }

    pub(super) fn next_hop(&self, now: Time, destination: Node) -> Option<Node> {
        self.table.next_hop(now, destination)
    }

    /// Asks for a way to `destination` in the next wider ring, or gives up (sections 6.3 and 6.4).
    fn search(&mut self, now: Time, destination: Node, out: &mut Output<P>) {
        let Some(search) = self.searches.get_mut(&destination) else { return };
        if let Err(again) = self.requests.take(now) {
            search.deadline = again;
            return;
        }
        let last = self.table.get(destination);
        let Some(ttl) = search.widen(now, last.map(|route| route.hops), &self.settings) else {
            let search = self.searches.remove(&destination);
            out.dropped.extend(
                search.into_iter().flat_map(|search| search.held).map(|datagram| (datagram, Undelivered::NoRoute)),
            );
            return;
        };
        self.sequence = self.sequence.wrapping_add(1);
        self.request_id = self.request_id.wrapping_add(1);
        let request = Request {
            originator: self.me,
            originator_sequence: self.sequence,
            id: self.request_id,
            destination,
            destination_sequence: last.map(|route| route.sequence).filter(|sequence| *sequence != 0),
            hops: 0,
            ttl,
        };
        self.seen.insert((self.me, self.request_id), now.saturating_add(self.settings.path_discovery()));
        out.transmit.push((None, Message::Request(request)));
    }

    /// Section 6.5: learn the way back; reply if this node knows a way; otherwise pass the request on.
    fn on_request(&mut self, now: Time, from: Node, request: Request, out: &mut Output<P>) {
        self.deaf.retain(|_, until| *until > now);
        if self.deaf.contains_key(&from) || request.originator == self.me {
            return;
        }
        self.table.refresh_neighbour(now, from, now.saturating_add(self.settings.active_route));
        self.seen.retain(|_, until| *until > now);
        if self
            .seen
            .insert((request.originator, request.id), now.saturating_add(self.settings.path_discovery()))
            .is_some()
        {
            return;
        }
        let hops = request.hops.saturating_add(1);
        // Long enough for the reply to come back from as far as the request can still go.
        let travelled = self.settings.node_traversal * (2 * u64::from(hops));
        let expires = now.saturating_add((self.settings.net_traversal() * 2).saturating_sub(travelled));
        let back = News {
            destination: request.originator,
            sequence: request.originator_sequence,
            hops,
            next_hop: from,
            expires,
        };
        self.table.learn(now, back);
        self.table.extend(now, request.originator, expires);
        if request.destination == self.me {
            if let Some(asked) = request.destination_sequence.filter(|asked| newer(*asked, self.sequence)) {
                self.sequence = asked;
            }
            // Twice as long as a route lives without use.
            let lifetime = self.settings.active_route * 2;
            self.reply(now, request, 0, self.sequence, lifetime, out);
            return;
        }
        // A way that leads over the one who asks is none for it.
        if let Some(route) = self.table.active(now, request.destination)
            && route.known
            && request.destination_sequence.is_none_or(|asked| !newer(asked, route.sequence))
            && route.next_hop != from
        {
            let (hops, sequence, next_hop) = (route.hops, route.sequence, route.next_hop);
            let lifetime = route.expires.saturating_sub(now);
            if let Some(back) = self.table.next_hop(now, request.originator) {
                self.table.add_precursor(now, request.destination, back);
                self.table.add_precursor(now, request.originator, next_hop);
            }
            self.reply(now, request, hops, sequence, lifetime, out);
            return;
        }
        if request.ttl > 1 {
            let known =
                self.table.get(request.destination).map(|route| route.sequence).filter(|sequence| *sequence != 0);
            let destination_sequence = match (request.destination_sequence, known) {
                (Some(asked), Some(known)) if newer(known, asked) => Some(known),
                (asked, known) => asked.or(known),
            };
            let passed_on = Request { hops, ttl: request.ttl - 1, destination_sequence, ..request };
            let at = now.saturating_add(self.settings.jitter.mul_f64(self.stream.uniform()));
            self.waiting.push((at, passed_on));
        }
    }

    /// Sends a reply towards the originator of a request (section 6.6).
    fn reply(&mut self, now: Time, request: Request, hops: u8, sequence: u32, lifetime: Time, out: &mut Output<P>) {
        let reply = Reply {
            destination: request.destination,
            destination_sequence: sequence,
            originator: request.originator,
            hops,
            lifetime,
        };
        if let Some(next_hop) = self.table.next_hop(now, request.originator) {
            out.transmit.push((Some(next_hop), Message::Reply(reply)));
        }
    }

    /// Section 6.7: learn the way, and pass the reply on if it brought news.
    fn on_reply(&mut self, now: Time, from: Node, reply: Reply, out: &mut Output<P>) {
        let active = now.saturating_add(self.settings.active_route);
        self.table.refresh_neighbour(now, from, active);
        self.release(now, from, out);
        if reply.destination == self.me {
            return;
        }
        let hops = reply.hops.saturating_add(1);
        let expires = now.saturating_add(reply.lifetime);
        let news = News {
            destination: reply.destination,
            sequence: reply.destination_sequence,
            hops,
            next_hop: from,
            expires,
        };
        if !self.table.learn(now, news) {
            return;
        }
        self.release(now, reply.destination, out);
        if reply.originator == self.me {
            return;
        }
        let Some(back) = self.table.next_hop(now, reply.originator) else { return };
        self.table.extend(now, reply.originator, active);
        self.table.add_precursor(now, reply.destination, back);
        self.table.add_precursor(now, from, back);
        self.table.add_precursor(now, reply.originator, from);
        out.transmit.push((Some(back), Message::Reply(Reply { hops, ..reply })));
    }

    /// Section 6.9: a neighbour says that it is there.
    fn on_hello(&mut self, now: Time, from: Node, reply: Reply) {
        let expires = now.saturating_add(reply.lifetime);
        self.table.refresh_neighbour(now, from, expires);
        self.table.learn(
            now,
            News { destination: from, sequence: reply.destination_sequence, hops: 1, next_hop: from, expires },
        );
        if self.settings.hello.is_some() {
            self.greeters.insert(from, expires);
        }
    }

    /// Says Hello if it is time, and misses neighbours who have not.
    fn greet(&mut self, now: Time, out: &mut Output<P>) {
        let Some(interval) = self.settings.hello else { return };
        let silent: Vec<Node> =
            self.greeters.iter().filter(|(_, until)| **until <= now).map(|(node, _)| *node).collect();
        for neighbour in silent {
            self.greeters.remove(&neighbour);
            self.end_over(now, neighbour, |_| Some(0), out);
        }
        if now >= self.next_hello {
            self.next_hello = now.saturating_add(interval);
            let (me, sequence) = (self.me, self.sequence);
            let hello = Reply {
                destination: me,
                destination_sequence: sequence,
                originator: me,
                hops: 0,
                lifetime: interval * 2,
            };
            out.transmit.push((None, Message::Reply(hello)));
        }
    }

    /// Ends routes over a neighbour and tells those who use them (section 6.11).
    fn end_over(&mut self, now: Time, neighbour: Node, concerned: impl Fn(Node) -> Option<u32>, out: &mut Output<P>) {
        let mut tell = BTreeSet::new();
        let unreachable = self.table.end_over(now, neighbour, concerned, &mut tell);
        self.report(now, unreachable, &tell, out);
    }

    /// Sends an error to one neighbour or, if there are more, to all.
    fn report(&mut self, now: Time, unreachable: Vec<(Node, u32)>, tell: &BTreeSet<Node>, out: &mut Output<P>) {
        let Some(first) = tell.first().filter(|_| !unreachable.is_empty()) else { return };
        if self.errors.take(now).is_ok() {
            let to = if tell.len() == 1 { Some(*first) } else { None };
            out.transmit.push((to, Message::Broken(Broken { unreachable })));
        }
    }

    /// Lets go the packets for a destination that a reply has shown a way to. A request shows one too, but perhaps for
    /// one direction only: packets that wait would be tried on it in vain, and two nodes that search each other could
    /// keep each other searching for ever.
    fn release(&mut self, now: Time, destination: Node, out: &mut Output<P>) {
        for datagram in self.searches.remove(&destination).into_iter().flat_map(|search| search.held) {
            self.route(now, datagram, None, out);
        }
    }
}
