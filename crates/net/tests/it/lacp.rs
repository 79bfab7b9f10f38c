//! The Link Aggregation Control Protocol by itself: times that follow from the standard's timers, and agreement after
//! any trouble.

use net::bond::{Group, Info, Lacpdu, Mux, Receive, State, agree};
use proptest::prelude::*;
use units::Time;

/// One way of each link, in the tests.
const DELAY: Time = Time::from_ms(1);

pub fn seconds(s: f64) -> Time {
    Time::from_secs_f64(s)
}

fn port(system: u8, key: u16, number: u16, flags: State) -> Info {
    Info {
        system_priority: 1,
        system: [2, 0, 0, 0, 0, system],
        key,
        port_priority: 255,
        port: number,
        state: State::AGGREGATION.with(flags),
    }
}

pub const FAST: State = State::ACTIVITY.with(State::SHORT_TIMEOUT);
const SLOW: State = State::ACTIVITY;

fn group(system: u8, ports: u16, flags: State) -> Group {
    Group::new((1..=ports).map(|number| port(system, 7, number, flags)))
}

/// Two groups and the links between them.
pub struct Pair {
    pub ends: [Group; 2],
    pub now: Time,
    /// On the way: arrival, to which end, port.
    wire: Vec<(Time, usize, usize, Lacpdu)>,
    /// What each end sends on each port is lost.
    pub silent: [Vec<bool>; 2],
    sent: Vec<(usize, usize, Time)>,
}

impl Pair {
    fn new(ends: [Group; 2]) -> Self {
        let silent = [0, 1].map(|end: usize| vec![false; ends[end].ports().len()]);
        Self { ends, now: Time::ZERO, wire: Vec::new(), silent, sent: Vec::new() }
    }

    /// Two groups that find each other at time zero.
    pub fn connected(ends: [Group; 2]) -> Self {
        let mut pair = Self::new(ends);
        for end in 0..2 {
            let mut out = Vec::new();
            pair.ends[end].start(pair.now, &mut out);
            pair.send(end, out);
        }
        pair
    }

    fn carrier(&mut self, port: usize, up: bool) {
        for end in 0..2 {
            let mut out = Vec::new();
            self.ends[end].set_carrier(self.now, port, up, &mut out);
            self.send(end, out);
        }
    }

    fn send(&mut self, end: usize, out: Vec<(usize, Lacpdu)>) {
        for (port, pdu) in out {
            self.sent.push((end, port, self.now));
            if !self.silent[end][port] {
                self.wire.push((self.now + DELAY, 1 - end, port, pdu));
            }
        }
    }

    pub fn run(&mut self, until: Time) {
        self.run_while(until, |_| true);
    }

    /// Runs as long as `go` says so; returns when it stopped.
    fn run_while(&mut self, until: Time, go: impl Fn(&Self) -> bool) -> Time {
        let mut at_once = 0;
        while go(self) {
            let arrival = self.wire.iter().map(|frame| frame.0).min().unwrap_or(Time::MAX);
            let timer = self.ends[0].deadline().min(self.ends[1].deadline());
            let next = arrival.min(timer);
            at_once = if next > self.now { 0 } else { at_once + 1 };
            assert!(at_once < 1_000, "time stands still");
            if next > until {
                self.now = until;
                return until;
            }
            self.now = next;
            if let Some(first) = self.wire.iter().position(|frame| frame.0 == next) {
                let (_, end, port, pdu) = self.wire.remove(first);
                let mut out = Vec::new();
                self.ends[end].receive(self.now, port, &pdu, &mut out);
                self.send(end, out);
                continue;
            }
            for end in 0..2 {
                let mut out = Vec::new();
                self.ends[end].on_timer(self.now, &mut out);
                self.send(end, out);
            }
        }
        self.now
    }

    pub fn distributes(&self, end: usize) -> Vec<usize> {
        (0..self.ends[end].ports().len()).filter(|port| self.ends[end].distributes(*port)).collect()
    }
    fn agrees(&self) -> bool {
        (0..2).all(|end| self.distributes(end).len() == self.ends[end].ports().len())
    }
}

#[test]
fn agreement_takes_the_aggregate_wait_and_three_messages() {
    for (a, b) in [(FAST, FAST), (SLOW, SLOW), (FAST, SLOW), (FAST, State::SHORT_TIMEOUT)] {
        // Both speak at once (0), know each other a delay later, wait 2 s, then say "attached", then "collecting".
        let shortest = Time::from_secs(2) + DELAY * 3;
        let mut pair = Pair::connected([group(1, 1, a), group(2, 1, b)]);
        assert_eq!(pair.run_while(seconds(20.0), |pair| !pair.agrees()), shortest);

        // Of several ports one hears "attached" while it says so itself, and repeats it: the fourth message of that
        // second is held back.
        let mut pair = Pair::connected([group(1, 4, a), group(2, 4, b)]);
        let agreed = pair.run_while(seconds(20.0), |pair| !pair.agrees());
        assert!(agreed >= shortest && agreed <= shortest + Time::from_secs(1), "{agreed:?}");
        assert!(pair.ends.iter().flat_map(Group::ports).all(|port| port.receive_state() == Receive::Current));
        let expected = State::AGGREGATION.with(State::SYNCHRONIZATION).with(State::COLLECTING);
        assert!(pair.ends.iter().flat_map(Group::ports).all(|port| port.partner().state.has(expected)));
    }
}

#[test]
fn two_passive_ends_never_agree() {
    let mut pair = Pair::connected([group(1, 2, State::default()), group(2, 2, State::default())]);
    pair.run(seconds(300.0));
    assert!(pair.distributes(0).is_empty() && pair.distributes(1).is_empty());
}

#[test]
fn frames_are_sent_only_where_the_partner_collects() {
    let mut pair = Pair::connected([group(1, 3, FAST), group(2, 3, FAST)]);
    let collected =
        |pair: &Pair| (0..2).all(|end| pair.distributes(end).iter().all(|port| pair.ends[1 - end].collects(*port)));
    // Until all agree, and on when all is well.
    let stopped = pair.run_while(seconds(30.0), collected);
    assert_eq!(stopped, seconds(30.0));
}

#[test]
fn lost_carrier_is_noticed_at_once_and_its_return_within_a_second() {
    let mut pair = Pair::connected([group(1, 2, FAST), group(2, 2, FAST)]);
    pair.run(seconds(10.3));
    pair.carrier(1, false);
    assert_eq!((pair.distributes(0), pair.distributes(1)), (vec![0], vec![0]));
    pair.run(seconds(20.0));
    pair.carrier(1, true);
    let back = pair.run_while(seconds(40.0), |pair| !pair.agrees());
    // The partner is still known, so nobody waits: a port says something a second after its carrier came back, and then
    // it takes two answers.
    assert_eq!(back, seconds(21.0) + DELAY * 2);
}

#[test]
fn silence_one_way_is_noticed_after_three_messages_are_missing() {
    for (flags, least, most) in [(FAST, 2.0, 3.0), (SLOW, 60.0, 90.0)] {
        for at in [100.0, 100.25, 117.9] {
            let mut pair = Pair::connected([group(1, 2, flags), group(2, 2, flags)]);
            pair.run(seconds(at));
            pair.silent[0][1] = true;
            // The deaf end first, and a delay later the end that is not heard.
            let deaf = pair.run_while(seconds(400.0), |pair| pair.distributes(1).len() == 2);
            let both = pair.run_while(seconds(400.0), |pair| pair.distributes(0).len() == 2);
            assert!(deaf > seconds(at + least) && deaf <= seconds(at + most) + DELAY, "{deaf:?} after {at}");
            assert_eq!(both, deaf + DELAY);
            assert_eq!(pair.ends[1].ports()[1].receive_state(), Receive::Expired);
            // Three seconds on, whatever was known of the partner is given up.
            let given_up = |pair: &Pair| pair.ends[1].ports()[1].receive_state() != Receive::Defaulted;
            assert_eq!(pair.run_while(seconds(400.0), given_up), deaf + seconds(3.0));
            assert_eq!(pair.ends[1].ports()[1].mux_state(), Mux::Detached);
            // The other port is not affected.
            assert_eq!((pair.distributes(0), pair.distributes(1)), (vec![0], vec![0]));

            pair.silent[0][1] = false;
            let healed = pair.now;
            let back = pair.run_while(seconds(400.0), |pair| !pair.agrees());
            // At worst a period until the next message, then as at the beginning.
            let period = if flags == FAST { 1.0 } else { 30.0 };
            assert!(back <= healed + seconds(period + 2.0) + DELAY * 4, "back after {:?}", back - healed);
        }
    }
}

#[test]
fn keys_and_systems_decide_what_is_aggregated() {
    // Two keys at one end: two groups, of which the larger is used; the odd port churns after a minute, at both ends.
    let odd = [port(2, 1, 1, FAST), port(2, 9, 2, FAST), port(2, 9, 3, FAST)];
    let mut pair = Pair::connected([group(1, 3, FAST), Group::new(odd)]);
    pair.run(seconds(59.0));
    assert_eq!((pair.distributes(0), pair.distributes(1)), (vec![1, 2], vec![1, 2]));
    assert_eq!(pair.ends[0].ports()[0].churns(), (false, false));
    pair.run(seconds(61.0));
    assert_eq!(pair.ends[0].ports()[0].churns(), (true, true));
    assert_eq!(pair.ends[0].ports()[0].counters().actor_churns, 1);
    assert_eq!(pair.ends[0].ports()[1].churns(), (false, false));

    // A port cabled to another system stays out; when it is all that is left, it is used.
    let mixed = [port(2, 7, 1, FAST), port(2, 7, 2, FAST), port(3, 7, 3, FAST)];
    let mut pair = Pair::connected([group(1, 3, FAST), Group::new(mixed)]);
    pair.run(seconds(10.0));
    assert_eq!(pair.distributes(0), vec![0, 1]);
    pair.carrier(0, false);
    pair.carrier(1, false);
    pair.run(seconds(20.0));
    assert_eq!(pair.distributes(0), vec![2]);

    // A cable from a system to itself is never aggregated, nor is a port that does not want to be.
    let mut pair = Pair::connected([group(1, 1, FAST), group(1, 1, FAST)]);
    pair.run(seconds(10.0));
    assert!(pair.distributes(0).is_empty());
    let alone = Info { state: FAST, ..port(2, 7, 1, FAST) };
    let mut pair = Pair::connected([group(1, 1, FAST), Group::new([alone])]);
    pair.run(seconds(10.0));
    assert!(pair.distributes(0).is_empty() && pair.distributes(1).is_empty());
}

#[test]
fn a_partner_that_changes_its_key_is_detached_before_it_is_aggregated_again() {
    let mut pair = Pair::connected([group(1, 2, FAST), group(2, 2, FAST)]);
    pair.run(seconds(10.0));
    let mut hello = None;
    for end in &pair.ends[1..] {
        let (actor, partner) = (*end.ports()[0].actor(), *end.ports()[0].partner());
        hello = Some(Lacpdu { actor: Info { key: 8, ..actor }, partner });
    }
    let mut out = Vec::new();
    pair.ends[0].receive(pair.now, 0, &hello.unwrap(), &mut out);
    assert_eq!(pair.ends[0].ports()[0].mux_state(), Mux::Detached);
    assert_eq!(pair.distributes(0), vec![1]);
    pair.send(0, out);
    // The next true message brings it back, after the wait.
    let back = pair.run_while(seconds(30.0), |pair| !pair.agrees());
    assert!(back > seconds(12.0) && back < seconds(13.2), "{back:?}");
}

#[test]
fn groups_that_have_agreed_before_go_on_without_a_break() {
    let mut ends = [group(1, 3, FAST), group(2, 3, SLOW)];
    assert_eq!(agree(&mut ends), Time::from_secs(2));
    let mut pair = Pair::new(ends);
    assert!(pair.agrees());
    assert_eq!(pair.run_while(seconds(500.0), Pair::agrees), seconds(500.0));
    // The slow end hears every 30 s, the fast one every second.
    let messages = |end| pair.sent.iter().filter(|(from, port, _)| (*from, *port) == (end, 0)).count();
    assert!((495..=501).contains(&messages(1)), "{}", messages(1));
    assert!((16..=18).contains(&messages(0)), "{}", messages(0));
}

proptest! {
    /// Whatever happens to carriers and messages, when it is over both ends agree again; and no port ever says more
    /// than three things in a second.
    #[test]
    fn ends_agree_after_any_trouble(
        flags in prop::sample::select(vec![[FAST, FAST], [SLOW, SLOW], [FAST, SLOW]]),
        ports in 1_u16..=4,
        trouble in prop::collection::vec((0_u64..20_000, 0_usize..4, 0_usize..3, any::<bool>()), 0..30),
    ) {
        let mut pair = Pair::connected([group(1, ports, flags[0]), group(2, ports, flags[1])]);
        for (pause, port, what, on) in trouble {
            pair.run(pair.now + Time::from_ms(pause));
            let port = port % usize::from(ports);
            match what {
                0 => pair.carrier(port, on),
                end => pair.silent[end - 1][port] = on,
            }
        }
        pair.silent = [vec![false; ports.into()], vec![false; ports.into()]];
        for port in 0..ports.into() {
            pair.carrier(port, true);
        }
        let healed = pair.now;
        let back = pair.run_while(healed + seconds(200.0), |pair| !pair.agrees());
        // A port that has given its partner up speaks every 30 s.
        prop_assert!(pair.agrees(), "no agreement");
        prop_assert!(back <= healed + seconds(35.0), "after {:?}", back - healed);
        for end in 0..2 {
            for port in 0..ports.into() {
                let times: Vec<Time> = pair.sent.iter().filter(|s| (s.0, s.1) == (end, port)).map(|s| s.2).collect();
                prop_assert!(times.windows(4).all(|four| four[3] >= four[0] + Time::from_secs(1)));
            }
        }
    }
}
