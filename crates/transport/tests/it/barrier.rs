//! Barrier-synchronised reads over either transport: the truth of packets beside flows.

use des::{EventQueue, RandomStream};
use net::{Discipline, Limit, LinkSpec, Topology};
use tcp::control::ControlKind;
use tcp::{Config, Recovery, StartRule};
use transport::{
    End, FlowTransport, Handle, Happened, Message, Open, Overflow, Owner, PacketTransport, Tag, Transport, Upcall,
};
use units::{BitRate, Bytes, Time};

/// A reader that asks `senders` for `bytes` each, round by round.
#[derive(Clone, Copy, Debug)]
pub struct Barrier {
    pub senders: u32,
    pub bytes: u64,
    /// Packets that the switch's ports hold.
    pub buffer: u32,
    pub min_rto: Time,
    pub rate: BitRate,
    /// DCTCP, with marks from this many packets on.
    pub marks: Option<u32>,
    /// A new connection in each round.
    pub fresh: bool,
    pub host: Host,
}

/// What hosts' TCP is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// Reno with SACK and RFC 6675, the simulator's `sack-reno`.
    SackReno,
    /// CUBIC with RACK-TLP.
    Linux,
}

const DELAY: Time = Time::from_us(25);
/// A sender begins its answer, or a reader's connection opens, up to so many segments' times late.
const SPREAD: f64 = 2.0;
const PAUSE: Time = Time::from_secs(1);
const NEXT: u8 = 200;

impl Barrier {
    fn config(&self) -> Config {
        let plain =
            Config { min_rto: self.min_rto, receive_buffer: Bytes::from_mib(4), nagle: false, ..Config::default() };
        let config = match self.host {
            Host::SackReno => Config { control: ControlKind::Reno, hystart: StartRule::Off, ..plain },
            Host::Linux => Config { recovery: Recovery::Rack, ..plain },
        };
        match self.marks {
            Some(_) => Config { control: ControlKind::Dctcp, ecn: true, hystart: StartRule::Off, ..config },
            None => config,
        }
    }
    fn topology(&self) -> Topology {
        let mut topology = Topology::new();
        let switch = topology.add_switch("switch");
        let link = LinkSpec::new(self.rate, DELAY);
        for _ in 0..=self.senders {
            let mut down = link.clone().with_limit(Limit::Packets(self.buffer));
            if let Some(marks) = self.marks {
                down = down.with_discipline(Discipline::Threshold { mark_above: Limit::Packets(marks) });
            }
            let host = topology.add_host(format!("host-{}", topology.hosts().len()));
            topology.connect_both(host, switch, link.clone().with_limit(Limit::Packets(1000)), down);
        }
        topology
    }

    /// The mean seconds of `rounds` rounds over packets, and what is said of overflows: nothing.
    pub fn packets(&self, rounds: u32, seed: u64) -> (f64, Option<Overflow>) {
        let packets = PacketTransport::new(self.topology(), Bytes::new(38), seed).unwrap();
        self.run(Transport::Packets(Box::new(packets)), rounds, seed)
    }
    /// The mean seconds of `rounds` rounds at flow level, and what is said of overflows.
    pub fn flows(&self, rounds: u32, seed: u64) -> (f64, Option<Overflow>) {
        let flows = FlowTransport::new(self.topology(), Bytes::new(38), seed);
        self.run(Transport::Flows(Box::new(flows)), rounds, seed)
    }
    fn run(&self, mut transport: Transport, rounds: u32, seed: u64) -> (f64, Option<Overflow>) {
        let mut random = RandomStream::new(seed, "barrier", 0);
        let mut events = EventQueue::new();
        if let Some(packets) = transport.packets_mut() {
            packets.start(&mut events);
        }
        let segment = 1538.0 * 8.0 / self.rate.as_bps() as f64;
        let config = self.config();
        let open = |transport: &mut Transport, events: &mut EventQueue, now: Time, sender: u32| {
            let open = Open {
                owner: Owner::Cluster,
                user: sender,
                from: sender,
                to: 0,
                port: 80,
                via: None,
                client: config,
                server: config,
            };
            transport.open(now, &open, events)
        };
        let mut handles: Vec<Option<Handle>> = vec![None; self.senders as usize + 1];
        let (mut now, mut waiting, mut round, mut began) = (Time::ZERO, self.senders, 0, Time::ZERO);
        let mut total = Time::ZERO;
        let mut spread = |events: &mut EventQueue, now: Time, sender: u32| {
            let late = Time::from_secs_f64(SPREAD * segment * random.uniform());
            events.push(now + late, NEXT, sender, 0);
        };
        for sender in 1..=self.senders {
            // Connections that are kept begin one after the other.
            let begins = if self.fresh { now } else { PAUSE.mul_f64(f64::from(sender)) };
            spread(&mut events, begins, sender);
        }
        let answer = Message::new(Bytes::new(self.bytes), Tag(1));
        let request = Message::new(Bytes::new(100), Tag(0));
        let mut told: Vec<Upcall> = Vec::new();
        while let Some(event) = events.pop() {
            now = event.time();
            transport.pass(now);
            if event.kind() == NEXT {
                match handles[event.index as usize] {
                    Some(handle) => transport.send(now, handle, End::Client, answer, &mut events),
                    None => handles[event.index as usize] = Some(open(&mut transport, &mut events, now, event.index)),
                }
            } else {
                transport.on_event(&event, &mut events);
            }
            transport.take_upcalls(&mut told);
            for upcall in std::mem::take(&mut told) {
                let sender = upcall.user;
                match upcall.what {
                    Happened::Connected if self.fresh => {
                        transport.send(now, upcall.handle, End::Client, answer, &mut events);
                    }
                    Happened::Delivered(End::Client, _) => spread(&mut events, now, sender),
                    Happened::Connected | Happened::Delivered(End::Server, _) => {
                        let done = upcall.what != Happened::Connected;
                        if self.fresh {
                            transport.close(now, upcall.handle, End::Client, &mut events);
                            transport.close(now, upcall.handle, End::Server, &mut events);
                            handles[sender as usize] = None;
                        }
                        waiting -= 1;
                        if waiting > 0 {
                            continue;
                        }
                        if done {
                            round += 1;
                            total += now - began;
                        }
                        if round == rounds {
                            return (total.as_secs_f64() / f64::from(rounds), transport.overflow());
                        }
                        began = now;
                        waiting = self.senders;
                        for sender in 1..=self.senders {
                            if self.fresh {
                                // The ends of the last ones are over by then.
                                began = now + PAUSE;
                                spread(&mut events, began, sender);
                            } else if let Some(handle) = handles[sender as usize] {
                                transport.send(now, handle, End::Server, request, &mut events);
                            }
                        }
                    }
                    Happened::Reset(_) => panic!("{self:?}: reset"),
                    _ => {}
                }
            }
        }
        panic!("{self:?}: round {round} does not end: {waiting} wait at {now}");
    }
}
