//! The result of a run: what a finished world leaves, as plain data.

mod cost;
mod critical;
mod disks;
mod energy;
mod job;
mod losses;
mod object_store;
mod spark;
mod spark_path;
mod unanswered;

use crate::RunError;
use crate::air::station_name;
use crate::cluster::{Driver, service_name};
use crate::flows::FlowKeeper;
use crate::lower::grain;
use crate::sample::{self, Sampler};
use crate::world::{Change, DiskState, World};
use results::field::{Fate, Field, Frame, FrameKind};
use results::{
    Balance, Bond, Event, Flow, Job, JobState, Limits, Master, Namespace, NetworkTotals, Node, RpcServer, RunResult,
    Stall,
};
use scenario::{Scenario, node_name, point_name};
use tcp::SegmentCounts;
use traffic::FIRST_PORT;
use transport::{FlowRecord, Overflow, Owner, PacketTransport, Totals};
use units::{Bytes, Time};
use wifi::mac::Kind;
use wifi::medium::{FrameFate, FrameRecord};

/// What flow level knows of bursts that overflow queues, and what it does not: the kind of the event, and its words.
fn carried(overflow: &Overflow) -> (&'static str, String) {
    let Overflow { packets, carried, spent, bonds, .. } = overflow;
    let bursts = format!("bursts overflow queues by about {packets:.0} packets in the whole run");
    let not_modelled = "what their senders then wait for (incast) is not modelled: `run.fidelity = \"packet\"` does";
    match spent {
        _ if *bonds => ("overflow", format!("{bursts}; with bonds {not_modelled}")),
        Some(spent) => (
            "overflow",
            format!(
                "{bursts}; {carried} went by packets, but from {spent} on only a part of what would have to: \
                     for the rest {not_modelled}"
            ),
        ),
        None if carried.get() == 0 => ("overflow", format!("{bursts}; {not_modelled}")),
        None => ("by-packets", format!("bursts would overflow queues: {carried} in the whole run went by packets")),
    }
}

/// The result of a run that has ended or stalled. `look` is called many times a second and may interrupt.
pub(crate) fn run_result(
    scenario: &Scenario,
    world: &World,
    (sampler, flows): (&Sampler, FlowKeeper),
    stall: Option<Stall>,
    look: &mut dyn FnMut() -> Result<(), RunError>,
) -> Result<RunResult, RunError> {
    let transport = world.transport();
    look()?;
    let mut result = RunResult {
        name: scenario.name.clone(),
        scenario_digest: scenario.digest(),
        seed: scenario.run.seed,
        ended_at: world.now(),
        traffic: world.traffic_outcomes(),
        links: world.packets().map_or_else(Vec::new, |packets| sample::links(world.now(), packets)),
        nodes: nodes(scenario, world),
        network: world.packets().map(totals),
        by_flows: world.packets().is_none(),
        ..RunResult::default()
    };
    // The critical path of a job is computed from all its connections, which fit into memory.
    let records: Vec<FlowRecord> = world.driver().map_or_else(Vec::new, |_| transport.flows());
    flows.finish(world, &mut result);
    look()?;
    if let Some(overflow) = transport.overflow() {
        let (kind, detail) = carried(&overflow);
        result.events.push(Event { at: overflow.first, kind: kind.to_owned(), node: None, link: None, detail });
    }
    for (at, change) in world.changes().iter().filter(|(at, _)| *at <= world.now()) {
        if let Change::Node { node, .. } = change
            && world.meters().and_then(|meters| meters.get(*node)?.empty).is_some_and(|empty| empty <= *at)
        {
            // Its battery was empty before: the change had no effect.
            continue;
        }
        let (kind, detail) = describe(change, transport.topology());
        let (node, link) = concerned(change);
        result.events.push(Event { at: *at, kind: kind.to_owned(), node, link, detail });
    }
    if let Some(packets) = world.packets() {
        result.events.extend(member_events(packets));
        result.events.extend(associations(packets));
        result.bonds = bonds(packets);
        result.field = field(world, packets);
        result.ledger.push(balance(packets));
    }
    if let Some(driver) = world.driver() {
        job::jobs(driver, &records, world, &mut result);
        result.events.extend(large_pieces(scenario));
        result.ledger.extend(disks::laws(driver, world.now()));
        object_store::fill(scenario, driver, &world.transport().interfaces(), &mut result);
        spark::fill(driver, &records, world, &mut result);
        let running = |job: &&mut Job| job.state == JobState::Unfinished && job.submit <= world.now();
        for job in result.jobs.iter_mut().filter(|_| stall.is_some()).filter(running) {
            job.state = JobState::Failed;
            job.reason = stall.as_ref().map(Stall::reason).unwrap_or_default();
        }
        let segments = world.packets().map_or_else(SegmentCounts::default, PacketTransport::segment_counts);
        result.master = Some(Master { segments, ..master(driver, &records) });
    }
    look()?;
    sampler.fill(world, &mut result);
    look()?;
    result.energy = energy::used(world, &result);
    result.cost = cost::of(scenario, world, &result);
    result.losses = losses::of(scenario, world.driver());
    for node in result.energy.iter().flat_map(|energy| &energy.nodes) {
        let detail = format!("{} has no charge left and goes down", node_name(node.node));
        let event = |at| Event { at, kind: "battery-empty".to_owned(), node: Some(node.node), link: None, detail };
        result.events.extend(node.empty.map(event));
    }
    let unanswered = unanswered::events(&records, scenario, &result);
    result.events.extend(unanswered);
    result.events.sort_by_key(|event| event.at);
    result.stall = stall;
    result.findings = results::findings::findings(&result, scenario);
    Ok(result)
}

/// Clients that have joined and lost access points.
fn associations(packets: &PacketTransport) -> impl Iterator<Item = Event> {
    let nodes = packets.topology().hosts().len();
    packets.associations().iter().map(move |moved| {
        let client = station_name(moved.client as usize, nodes);
        let (kind, detail) = match moved.access_point {
            Some(point) => ("associated", format!("{client} is with {}", station_name(point as usize, nodes))),
            None => ("disassociated", format!("{client} has lost its access point")),
        };
        Event { at: moved.at, kind: kind.to_owned(), node: Some(moved.client), link: None, detail }
    })
}

/// Positions of wireless nodes, and a sample of their frames.
fn field(world: &World, transport: &PacketTransport) -> Option<Field> {
    let mut field = world.air()?.field(transport.topology().hosts().len(), world.now());
    let frame = |record: &FrameRecord| Frame {
        at: record.at,
        duration: record.duration,
        from: record.from.0,
        to: record.to.is_unicast().then_some(record.to.0),
        kind: match record.kind {
            Kind::Data => FrameKind::Data,
            Kind::Rts => FrameKind::Rts,
            Kind::Cts => FrameKind::Cts,
            Kind::Ack => FrameKind::Ack,
            Kind::BlockAck { .. } => FrameKind::BlockAck,
            _ if record.beacon => FrameKind::Beacon,
            _ => FrameKind::Other,
        },
        packets: record.packets,
        fate: match record.fate {
            FrameFate::Received => Fate::Received,
            FrameFate::Collided => Fate::Collided,
            FrameFate::Lost => Fate::Lost,
        },
    };
    field.frames = transport.air()?.frames().iter().map(frame).collect();
    field.frames.sort_by_key(|frame| frame.at);
    Some(field)
}

fn totals(transport: &PacketTransport) -> NetworkTotals {
    let (ledger, totals) = (transport.packets(), transport.totals());
    NetworkTotals {
        packets: ledger.sent,
        hops: transport.hops(),
        drops: ledger.dropped,
        lost: ledger.lost + ledger.lost_down,
        marks: transport.marks(),
        ecn_reductions: totals.ecn_reductions,
        retransmissions: totals.retransmissions,
        timeouts: totals.timeouts,
        zero_windows: totals.zero_windows,
        most_unsent: transport.most_unsent(),
    }
}

fn balance(transport: &PacketTransport) -> Balance {
    let ledger = transport.packets();
    let part = |name: &str, count| (name.to_owned(), count);
    Balance {
        what: "packets".to_owned(),
        offered: ledger.sent,
        accounted: vec![
            part("delivered", ledger.delivered),
            part("dropped", ledger.dropped),
            part("lost on links", ledger.lost + ledger.lost_down),
            part("without a route", ledger.no_route),
            part("in flight", ledger.slab),
        ],
    }
}

/// Members of bonds that became usable or ceased to be, as seen at each end.
fn member_events(transport: &PacketTransport) -> impl Iterator<Item = Event> {
    let topology = transport.topology();
    transport.member_changes().iter().map(move |change| {
        let bond = &topology.bonds()[change.bond];
        let link = bond.members[change.member];
        let link = if change.end == 0 { link } else { link.reverse() };
        let (kind, verb) = if change.usable { ("member-joined", "joins") } else { ("member-left", "leaves") };
        let (name, left) = (topology.link_name(link), change.usable_now);
        let detail = format!("{name} {verb} {}: {left} of {} usable", bond.name, bond.members.len());
        Event { at: change.at, kind: kind.to_owned(), node: None, link: Some(link.0), detail }
    })
}

fn bonds(transport: &PacketTransport) -> Vec<Bond> {
    let topology = transport.topology();
    let end = |(number, bond): (usize, &net::bond::BondSpec), end: usize| {
        let counters = transport.bond_counters(number, end);
        let link = if end == 0 { bond.members[0] } else { bond.members[0].reverse() };
        Bond {
            name: bond.name.clone(),
            at: topology.name(topology.ends(link).0).to_owned(),
            members: bond.members.iter().map(|member| if end == 0 { member.0 } else { member.reverse().0 }).collect(),
            packets: counters.packets,
            drops: counters.drops,
            lost: counters.lost,
            lacpdus_sent: counters.lacpdus_sent,
            lacpdus_received: counters.lacpdus_received,
            lacpdus_lost: counters.lacpdus_lost,
            churns: counters.churns,
        }
    };
    topology.bonds().iter().enumerate().flat_map(|bond| [end(bond, 0), end(bond, 1)]).collect()
}

/// The node or the link that a change is about.
const fn concerned(change: &Change) -> (Option<u32>, Option<u32>) {
    match *change {
        Change::Node { node, .. } | Change::Speed { node, .. } | Change::Disk { node, .. } => (Some(node), None),
        Change::AccessPoint { .. } => (None, None),
        Change::Link { link, .. } | Change::Silent { link, .. } | Change::Rate { link, .. } => (None, Some(link.0)),
    }
}

fn nodes(scenario: &Scenario, world: &World) -> Vec<Node> {
    let interfaces = world.transport().interfaces();
    let node = |(index, spec): (usize, scenario::NodeSpec)| Node {
        name: spec.name,
        rack: spec.rack,
        host: spec.host,
        interface_received: interfaces[index].received,
        interface_sent: interfaces[index].sent,
        cpu_work: world
            .driver()
            .map_or(Time::ZERO, |driver| driver.hosts.used(world.now(), hadoop::NodeId(units::count(index)))),
        radio: energy::radio(world, units::count(index)),
        ..Node::default()
    };
    scenario.nodes().into_iter().enumerate().map(node).collect()
}

pub(crate) fn flow(record: &FlowRecord, traffic: &[String]) -> Flow {
    let service = match record.owner {
        Owner::Cluster => service_name(record.port).to_owned(),
        Owner::Traffic => {
            let number = usize::from(record.port.wrapping_sub(FIRST_PORT));
            traffic.get(number).cloned().unwrap_or_else(|| "traffic".to_owned())
        }
    };
    Flow {
        from: record.from,
        to: record.to,
        service,
        start: record.opened,
        finish: record.ended.filter(|_| !record.reset),
        reset: record.reset,
        bytes: Bytes::new(record.bytes),
        bytes_back: Bytes::new(record.bytes_back),
        retransmissions: record.totals.retransmissions,
        timeouts: record.totals.timeouts,
        zero_windows: record.totals.zero_windows,
        drops: record.drops.into(),
        rtt: record.rtt,
        least_rtt: record.least_rtt,
        limits: (record.looks.count() > 0).then_some(Limits(record.looks.limits)),
        window_max: Bytes::new(record.looks.window_max.into()),
    }
}

/// Counters of the RPC servers on the master node, and of the connections to them.
fn master(driver: &Driver, flows: &[FlowRecord]) -> Master {
    let server = |(server, done): (hadoop::rpc::Server, hadoop::rpc::ServerCounters)| RpcServer {
        name: server.name(),
        calls: done.served,
        latency_mean: done.latency_sum / done.served.max(1),
        latency_max: done.latency_max,
        queue_max: done.queue_max,
        unread: done.unread,
    };
    let to_master = |flow: &&FlowRecord| flow.to == 0 && flow.from != 0 && service_name(flow.port) == "rpc";
    let mut totals = Totals::default();
    flows.iter().filter(to_master).for_each(|flow| totals.add(&flow.totals));
    let objects = driver.cluster.hdfs().namespace().objects();
    Master {
        pushed: driver.pushed(),
        zero_windows: totals.zero_windows,
        retransmissions: totals.retransmissions,
        namespace: Namespace { files: objects.files, blocks: objects.blocks, memory: objects.memory() },
        servers: driver.cluster.context().servers().filter(|(server, _)| server.node.0 == 0).map(server).collect(),
        ..Master::default()
    }
}

/// An entry of the list of events for a change: kind and text.
pub(crate) fn describe(change: &Change, topology: &net::Topology) -> (&'static str, String) {
    match *change {
        Change::Node { node, up: false } => ("node-down", format!("{} crashes", node_name(node))),
        Change::Node { node, up: true } => ("node-up", format!("{} is back", node_name(node))),
        Change::AccessPoint { point, up: false } => ("ap-down", format!("{} is switched off", point_name(point))),
        Change::AccessPoint { point, up: true } => ("ap-up", format!("{} is back", point_name(point))),
        Change::Speed { node, factor } if factor < 1.0 => {
            ("slow", format!("{} goes at {:.0} % of its speed", node_name(node), factor * 100.0))
        }
        Change::Speed { node, .. } => ("normal", format!("{} goes at its own speed again", node_name(node))),
        Change::Disk { node, disk: (disk, _), state } => {
            let name = format!("disk {disk} of {}", node_name(node));
            match state {
                DiskState::Failed => ("disk-failed", format!("{name} fails")),
                DiskState::Replaced => ("disk-replaced", format!("{name} has a spare, which is being filled")),
                DiskState::Speed(factor) if factor < 1.0 => {
                    ("disk-slow", format!("{name} goes at {:.0} % of its speed", factor * 100.0))
                }
                DiskState::Speed(_) => ("disk-normal", format!("{name} goes at its own speed again")),
            }
        }
        Change::Link { link, up: false } => ("link-down", format!("{} goes down, both ways", topology.link_name(link))),
        Change::Link { link, up: true } => ("link-up", format!("{} is up again", topology.link_name(link))),
        Change::Silent { link, silent: true } => {
            ("link-silent", format!("{} carries nothing, and nobody sees it", topology.link_name(link)))
        }
        Change::Silent { link, silent: false } => {
            ("link-heard", format!("{} carries packets again", topology.link_name(link)))
        }
        Change::Rate { link, rate } => ("rate", format!("{} goes on at {rate}", topology.link_name(link))),
    }
}

/// That data moves in larger pieces than Hadoop's, from the beginning on.
fn large_pieces(scenario: &Scenario) -> Option<Event> {
    let detail = format!(
        "tasks and disks move data in pieces of up to {}, larger than Hadoop's: `run.grain = 1` follows those",
        grain::largest(scenario)
    );
    let event = Event { at: Time::ZERO, kind: "large-pieces".to_owned(), node: None, link: None, detail };
    (grain::grain(scenario) > 1).then_some(event)
}
