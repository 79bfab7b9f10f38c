//! Bonds in the network: the member of each packet, LACPDUs on the links, member failures.

use super::{BOND, Network};
use crate::bond::{BondError, BondSpec, End, EndCounters, Lacpdu, MemberChange, Sent, agree};
use crate::packet::Transit;
use crate::{LinkId, Packet, Topology, VertexId};
use des::{Event, EventQueue, RandomStream, Slab, define_index};
use units::{Bytes, Time};

define_index! {
    /// An LACPDU on its way.
    FrameId
}

/// What a [`BOND`] event is for.
const PROCESSED: u32 = 0;
const TIMER: u32 = 1;
const LACPDU: u32 = 2;

#[derive(Debug)]
struct Frame {
    from: usize,
    member: usize,
    pdu: Lacpdu,
}

/// All bonds. Ends 2k and 2k + 1 belong to bond k.
#[derive(Debug, Default)]
pub(super) struct Bonds {
    ends: Vec<End>,
    /// Random losses of LACPDUs: one stream per member link.
    losses: Vec<Vec<RandomStream>>,
    frames: Slab<FrameId, Frame>,
    changes: Vec<MemberChange>,
    /// Buffer for the LACPDUs that an end sends.
    out: Vec<(usize, Lacpdu)>,
}

impl Bonds {
    pub(super) fn new(topology: &Topology, seed: u64) -> Result<Self, BondError> {
        let mut bonds = Self::default();
        for (number, bond) in topology.bonds().iter().enumerate() {
            bond.check(topology)?;
            bonds.add(number, bond, topology, seed);
        }
        Ok(bonds)
    }

    fn add(&mut self, number: usize, bond: &BondSpec, topology: &Topology, seed: u64) {
        let system = |end: usize| {
            let [a, b, c, d] = (2 * number as u32 + end as u32).to_be_bytes();
            [2, 1, a, b, c, d]
        };
        let [first, second] = bond.ends;
        let forth: Vec<u32> = bond.members.iter().map(|member| member.0).collect();
        let back: Vec<u32> = bond.members.iter().map(|member| member.reverse().0).collect();
        for members in [&forth, &back] {
            let stream = |link: &u32| RandomStream::new(seed, "net/lacp", u64::from(*link));
            self.losses.push(members.iter().map(stream).collect());
        }
        // `BondSpec::check` has seen to it: there are members, all between the same two vertices.
        let (a, b) = topology.ends(bond.members[0]);
        let mut ends = [End::new(first, a, forth, system(0)), End::new(second, b, back, system(1))];
        if bond.agreed {
            let groups = ends.each_mut().map(|end| end.lacp.take());
            if let [Some(first), Some(second)] = groups {
                let mut groups = [first, second];
                agree(&mut groups);
                for (end, group) in ends.iter_mut().zip(groups) {
                    end.lacp = Some(group);
                    end.refresh();
                }
            }
        }
        self.ends.extend(ends);
    }

    fn sum(&self, count: impl Fn(&End) -> u64) -> u64 {
        self.ends.iter().map(count).sum()
    }
    pub(super) fn drops(&self) -> u64 {
        self.sum(|end| end.counters.drops)
    }
    pub(super) fn lost(&self) -> u64 {
        self.sum(|end| end.counters.lost)
    }
    pub(super) fn waiting(&self) -> u64 {
        self.sum(End::waiting)
    }
    /// The member for a packet with this hash; the first if none is usable.
    pub(super) fn member_for(&self, end: usize, class: u32) -> LinkId {
        let end = &self.ends[end];
        LinkId(end.usable().get(class as usize % end.usable().len().max(1)).copied().unwrap_or(end.members[0]))
    }
    /// The bond that a link belongs to and the link's index among its members.
    fn find(&self, link: LinkId) -> Option<(usize, usize)> {
        let member = |end: &End| end.members.iter().position(|m| *m == link.0 || *m == link.reverse().0);
        self.ends.iter().step_by(2).enumerate().find_map(|(bond, end)| Some((bond, member(end)?)))
    }
}

impl<P: Packet> Network<P> {
    /// Starts LACP. Called once, at time zero.
    pub fn start(&mut self, events: &mut EventQueue) {
        for end in 0..self.bonds.ends.len() {
            let agreed = !self.bonds.ends[end].usable().is_empty();
            if let (Some(group), false) = (&mut self.bonds.ends[end].lacp, agreed) {
                group.start(Time::ZERO, &mut self.bonds.out);
            }
            self.update_end(Time::ZERO, end, events);
            self.routing.set_down(self.routing.bond_link(end), self.bonds.ends[end].usable().is_empty());
        }
    }

    /// The changes of members so far.
    pub fn member_changes(&self) -> &[MemberChange] {
        &self.bonds.changes
    }
    /// Counters of one end of a bond, 0 or 1.
    pub fn bond_counters(&self, bond: usize, end: usize) -> EndCounters {
        self.bonds.ends[2 * bond + end].counters()
    }
    /// The members over which an end of a bond may send now.
    pub fn usable_members(&self, bond: usize, end: usize) -> impl Iterator<Item = LinkId> {
        self.bonds.ends[2 * bond + end].usable().iter().copied().map(LinkId)
    }
    /// LACPDUs on their way.
    pub fn lacpdus_in_flight(&self) -> u64 {
        self.bonds.frames.len() as u64
    }

    /// With `silent`, a link carries nothing from now on, and neither end can tell; without, it carries everything
    /// again.
    pub fn set_silent(&mut self, link: LinkId, silent: bool) {
        self.links[link.0 as usize].set_silent(silent);
    }

    /// Halts a host or switch, or restarts it. A halted one's bond ends forget their LACP state and are silent. Their
    /// members keep carrier, so neighbours notice only the missing LACPDUs. After the restart LACP begins anew. Returns
    /// as [`Network::on_bond`].
    pub fn set_halted(&mut self, now: Time, vertex: VertexId, halted: bool, events: &mut EventQueue) -> bool {
        let mut rerouted = false;
        for index in 0..self.bonds.ends.len() {
            let bonds = &mut *self.bonds;
            if bonds.ends[index].at == vertex {
                bonds.ends[index].set_halted(now, halted, &mut bonds.out);
                rerouted |= self.update_end(now, index, events);
            }
        }
        rerouted
    }

    /// Sends a packet over the bond that is next on its route.
    #[cold]
    pub(super) fn forward_bonded(&mut self, now: Time, at: u32, mut item: Transit, events: &mut EventQueue) {
        let Some((end, class)) = self.routing.bond_for(at) else { return };
        item.next += 1;
        let sent = self.bonds.ends[end].send(now, class, item);
        self.carry_out(now, end, item, sent, events);
    }

    fn carry_out(&mut self, now: Time, end: usize, item: Transit, sent: Sent, events: &mut EventQueue) {
        match sent {
            Sent::Over(link) => self.offer(now, link, item, events),
            Sent::First(done) => events.push(done, BOND, end as u32, PROCESSED),
            Sent::Waits => {}
            Sent::Dropped => {
                self.dropped.push(self.packets.get(item.packet).owner());
                self.packets.free(item.packet);
            }
            Sent::Lost => self.packets.free(item.packet),
        }
    }

    /// Handles a [`BOND`] event. True if a bond has become usable or unusable, so that routes must be asked for again.
    pub fn on_bond(&mut self, event: &Event, events: &mut EventQueue) -> bool {
        let (now, index) = (event.time(), event.index as usize);
        match event.arg {
            PROCESSED => {
                if let Some((item, sent, next)) = self.bonds.ends[index].processed() {
                    if let Some(next) = next {
                        events.push(next, BOND, event.index, PROCESSED);
                    }
                    self.carry_out(now, index, item, sent, events);
                }
                false
            }
            TIMER => {
                let end = &mut self.bonds.ends[index];
                if end.armed != now {
                    return false;
                }
                end.armed = Time::MAX;
                if let (Some(group), false) = (&mut end.lacp, end.halted) {
                    group.on_timer(now, &mut self.bonds.out);
                }
                self.update_end(now, index, events)
            }
            _ => self.deliver_lacpdu(now, FrameId(event.index), events),
        }
    }

    /// An LACPDU meets the fate of its link but waits in no queue: control frames go first.
    fn deliver_lacpdu(&mut self, now: Time, frame: FrameId, events: &mut EventQueue) -> bool {
        let bonds = &mut *self.bonds;
        let Some(Frame { from, member, pdu }) = bonds.frames.remove(frame) else { return false };
        let (link, to) = (&self.links[bonds.ends[from].members[member] as usize], from ^ 1);
        let unheard = !link.is_up() || link.is_silent() || bonds.ends[to].halted;
        if unheard || bonds.losses[from][member].chance(link.loss()) {
            bonds.ends[from].counters.lacpdus_lost += 1;
            return false;
        }
        if let Some(group) = &mut bonds.ends[to].lacp {
            group.receive(now, member, &pdu, &mut bonds.out);
        }
        self.update_end(now, to, events)
    }

    /// A link has gained or lost its carrier.
    pub(super) fn carrier_of_member(&mut self, now: Time, link: LinkId, up: bool, events: &mut EventQueue) {
        let Some((bond, member)) = self.bonds.find(link) else { return };
        for index in [2 * bond, 2 * bond + 1] {
            let end = &mut self.bonds.ends[index];
            end.carrier[member] = up;
            if let (Some(group), false) = (&mut end.lacp, end.halted) {
                group.set_carrier(now, member, up, &mut self.bonds.out);
            }
            self.update_end(now, index, events);
        }
    }

    /// Runs after an end's state machines: sends its LACPDUs, sets its timer, notes its usable members. Returns as
    /// [`Network::on_bond`].
    fn update_end(&mut self, now: Time, index: usize, events: &mut EventQueue) -> bool {
        let bonds = &mut *self.bonds;
        let end = &mut bonds.ends[index];
        for (member, pdu) in bonds.out.drain(..) {
            let link = &self.links[end.members[member] as usize];
            let arrival = now + link.rate().transmission_time(Bytes::new(Lacpdu::WIRE_BYTES)) + link.delay();
            let frame = bonds.frames.insert(Frame { from: index, member, pdu });
            events.push(arrival, BOND, frame.0, LACPDU);
        }
        let deadline = end.lacp.as_ref().map_or(Time::MAX, crate::bond::Group::deadline);
        if deadline < end.armed {
            end.armed = deadline;
            events.push(deadline, BOND, index as u32, TIMER);
        }
        for member in 0..end.members.len() {
            let arriving = LinkId(end.members[member]).reverse();
            self.links[arriving.0 as usize].set_ignored(!end.collects(member));
        }
        let was_usable = !end.usable().is_empty();
        let changed = end.refresh();
        let usable_now = end.usable().len();
        let change =
            |(member, usable)| MemberChange { at: now, bond: index / 2, end: index % 2, member, usable, usable_now };
        bonds.changes.extend(changed.into_iter().map(change));
        let usable = usable_now > 0;
        if usable != was_usable {
            self.routing.set_down(self.routing.bond_link(index), !usable);
        }
        usable != was_usable
    }
}
