//! The near end of flows: a door's socket, to which programs send and from which they get answers.

use super::{TURNS, arrived, transparent};
use crate::log::Log;
use crate::scratch;
use crate::shared_session::SharedSession;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry as Slot;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use stripe::session::{Session, code};
use stripe::wire::Destination;
use tokio::net::UdpSocket;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep, timeout};
use units::Time;

/// How long datagrams to a destination that the far gateway has refused are dropped here, before it is asked again.
const REFUSED: Duration = Duration::from_secs(5);
/// By this time a far gateway that carries datagrams has announced it.
const SAID: Time = Time::from_secs(2);
/// Interval at which that is looked for.
const LOOK: Duration = Duration::from_millis(10);
/// Programs with datagrams under way (SOCKS5 associations), at once.
pub(crate) const PROGRAMS: usize = 1024;

/// The way of programs' datagrams into the near gateway.
#[derive(Clone, Debug)]
pub struct Flows {
    shared: watch::Receiver<Option<Arc<SharedSession>>>,
    programs: Arc<Semaphore>,
    pub(crate) log: Log,
}

impl Flows {
    pub(crate) fn new(shared: watch::Receiver<Option<Arc<SharedSession>>>, programs: Arc<Semaphore>, log: Log) -> Self {
        Self { shared, programs, log }
    }
    /// A permit for a program; the gateway stays while one exists.
    pub(crate) fn place(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.programs).try_acquire_owned().ok()
    }
    /// Whether datagrams are carried; `None` while there is no session.
    pub(crate) async fn carried(&self, most: Duration) -> Option<bool> {
        let takes = || self.current().is_some_and(|shared| shared.look(|session| session.peer_flows().is_some()));
        let waited = timeout(most, async {
            while !takes() {
                sleep(LOOK).await;
            }
        });
        let carried = waited.await.is_ok();
        (carried || self.current().is_some()).then_some(carried)
    }
    fn current(&self) -> Option<Arc<SharedSession>> {
        self.shared.borrow().clone()
    }
}

/// A flow: the program's address and the destination.
type Key = (SocketAddr, Destination);
/// Flows, each by its number in a session.
type Known = BTreeMap<Key, (Arc<SharedSession>, u32)>;

/// A door's socket and its flows.
#[derive(Clone)]
pub(crate) struct Relay {
    socket: Arc<UdpSocket>,
    /// Whether the socket gets datagrams for other hosts, and answers with their addresses.
    transparent: bool,
    flows: Flows,
    known: Arc<Mutex<Known>>,
}

/// A flow whose answers no task waits for yet.
struct Begun {
    flow: u32,
    key: Key,
    /// The header of each answer.
    head: Vec<u8>,
}

impl Relay {
    /// A relay to whose socket programs send.
    pub fn new(socket: UdpSocket, flows: Flows) -> Self {
        Self { socket: Arc::new(socket), transparent: false, flows, known: Arc::default() }
    }
    /// A relay to whose socket the kernel brings what programs send to others. Answers come from sockets with the
    /// others' addresses.
    pub fn transparent(socket: UdpSocket, flows: Flows) -> Self {
        Self { transparent: true, ..Self::new(socket, flows) }
    }
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what comes to the socket, until the socket is of no use. `read` gets a datagram, its sender and, where the
    /// kernel has brought it, its original destination. It returns the destination, the length of the header before the
    /// payload, and the header of each answer; `None` drops the datagram.
    pub async fn run(
        &self,
        mut read: impl FnMut(SocketAddr, Option<SocketAddr>, &[u8]) -> Option<(Destination, usize)>,
    ) {
        while self.socket.readable().await.is_ok() {
            let Some(shared) = self.flows.current() else {
                self.receive(&mut read, |_, _, _, _| {});
                continue;
            };
            let mut begun = Vec::new();
            shared.work(|session, now| {
                self.receive(&mut read, |from, to, head, payload| {
                    let Some((flow, new)) = self.flow(session, now, &shared, (from, to)) else { return };
                    session.send_datagram(now, flow, payload);
                    begun.extend(new.map(|key| Begun { flow, key, head: head.to_vec() }));
                });
            });
            if !begun.is_empty() && shared.now() > SAID && shared.look(|session| session.peer_flows().is_none()) {
                let why = "the far gateway carries none: it was not started with --udp";
                self.flows.log.note("datagrams are dropped", why);
            }
            for begun in begun {
                tokio::spawn(self.clone().answer(Arc::clone(&shared), begun));
            }
        }
    }
    /// Reads some datagrams and passes on those that are understood.
    fn receive(
        &self,
        read: &mut impl FnMut(SocketAddr, Option<SocketAddr>, &[u8]) -> Option<(Destination, usize)>,
        mut pass: impl FnMut(SocketAddr, Destination, &[u8], &[u8]),
    ) {
        scratch::with(|scratch| {
            for _ in 0..TURNS {
                let received = if self.transparent {
                    transparent::try_receive(&self.socket, scratch)
                } else {
                    self.socket.try_recv_from(scratch).map(|(count, from)| (count, from, None))
                };
                match received {
                    Ok((count, from, sent_to)) => {
                        if let Some((to, start)) = read(from, sent_to, &scratch[..count]) {
                            let (head, payload) = scratch[..count].split_at(start);
                            pass(from, to, head, payload);
                        }
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    // An ICMP error for an earlier datagram.
                    Err(_) => {}
                }
            }
        });
    }
    /// The flow of a datagram, and its key if it is a new one.
    fn flow(
        &self,
        session: &mut Session,
        now: Time,
        shared: &Arc<SharedSession>,
        key: Key,
    ) -> Option<(u32, Option<Key>)> {
        let mut known = self.known();
        let slot = known.entry(key);
        if let Slot::Occupied(entry) = &slot
            && Arc::ptr_eq(&entry.get().0, shared)
        {
            return Some((entry.get().1, None));
        }
        let key = slot.key().clone();
        let flow = session.open_flow(now, key.1.clone()).ok()?;
        slot.insert_entry((Arc::clone(shared), flow));
        Some((flow, Some(key)))
    }
    /// Sends the answers of a flow to the program, until it is over.
    async fn answer(self, shared: Arc<SharedSession>, begun: Begun) {
        let Begun { flow, key, head } = begun;
        let mut voice = None;
        let code = loop {
            match arrived(&shared, flow).await {
                Ok(payload) => {
                    let whole = if head.is_empty() { payload } else { [&head[..], &payload].concat() };
                    voice = voice.or_else(|| self.voice(&key.1));
                    if let Some(socket) = &voice {
                        // UDP may lose it.
                        let _ = socket.send_to(&whole, key.0).await;
                    }
                }
                Err(code) => break code,
            }
        };
        if code::is_refusal(code) {
            let why = crate::Refusal::of_code(code).to_string();
            self.flows.log.note(&format!("no UDP to {}", key.1), &why);
            // Until then it counts as a flow of the session: sending to ever more refused destinations takes no more
            // memory than flows.
            sleep(REFUSED).await;
        }
        shared.close_flow(flow, 0);
        if let Slot::Occupied(entry) = self.known().entry(key)
            && entry.get().1 == flow
            && Arc::ptr_eq(&entry.get().0, &shared)
        {
            entry.remove();
        }
    }
    /// The socket from which a destination's answers come.
    fn voice(&self, to: &Destination) -> Option<Arc<UdpSocket>> {
        match to {
            Destination::Address(address) if self.transparent => {
                let said = |error: &io::Error| {
                    self.flows.log.note(&format!("no answers can come from {address} (UDP)"), &error.to_string());
                };
                transparent::speak_as(*address).inspect_err(said).ok().map(Arc::new)
            }
            _ => Some(Arc::clone(&self.socket)),
        }
    }
    /// The program has gone: its flows end.
    pub fn close(&self) {
        let all: Vec<_> = self.known().values().cloned().collect();
        for (shared, flow) in all {
            shared.close_flow(flow, 0);
        }
    }
}
