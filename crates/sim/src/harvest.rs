//! What a world leaves, as plain data.

mod energy;

use crate::air::station_name;
use crate::build::describe;
use crate::cluster::{Driver, service_name};
use crate::flows::FlowKeeper;
use crate::results::field::{Fate, Field, Frame, FrameKind};
use crate::results::{
    Attempt, AttemptState, Balance, Bond, Breakdown, CriticalSegment, Disk, Event, Flow, Interval, Job, JobBytes,
    JobState, Master, NetworkTotals, Node, RpcServer, RunResult, Stall, TaskKind, Waiting,
};
use crate::sample::{self, Sampler};
use crate::scenario::{Scenario, node_name};
use crate::traffic::FIRST_PORT;
use crate::transport::{FlowRecord, Owner, Totals};
use crate::world::{Change, World};
use hadoop::mapreduce::critical::{Stretch, critical_path};
use hadoop::record::{self, AttemptRecord, JobRecord, Records};
use units::{BitRate, Bytes, Time};
use wifi::mac::Kind;
use wifi::medium::{FrameFate, FrameRecord};

/// The result of a run that has ended, or was given up.
pub(crate) fn harvest(
    scenario: &Scenario,
    world: &World,
    (sampler, flows): (&Sampler, FlowKeeper),
    stall: Option<Stall>,
) -> RunResult {
    let transport = world.transport();
    let mut result = RunResult {
        name: scenario.name.clone(),
        scenario_digest: scenario.digest(),
        seed: scenario.run.seed,
        ended_at: world.now(),
        traffic: world.traffic_outcomes(),
        links: sample::links(world),
        nodes: nodes(scenario, world),
        network: totals(world),
        ..RunResult::default()
    };
    // Where a job's time went is asked of all its connections; there are not too many of them.
    let records: Vec<FlowRecord> = world.driver().map_or_else(Vec::new, |_| transport.flows().collect());
    flows.finish(world, &mut result);
    for (at, change) in world.changes().iter().filter(|(at, _)| *at <= world.now()) {
        if let Change::Node { node, .. } = change
            && world.meters().and_then(|meters| meters.get(*node)?.empty).is_some_and(|empty| empty <= *at)
        {
            // Its battery was empty before: nothing happens to it any more.
            continue;
        }
        let (kind, detail) = describe(change, transport.topology());
        result.events.push(Event { at: *at, kind: kind.to_owned(), node: None, link: None, detail });
    }
    result.events.extend(member_events(world));
    result.events.extend(associations(world));
    result.bonds = bonds(world);
    result.field = field(world);
    result.ledger.push(packets(world));
    if let Some(driver) = world.driver() {
        jobs(driver, &records, world, &mut result);
        let running = |job: &&mut Job| job.state == JobState::Unfinished && job.submit <= world.now();
        for job in result.jobs.iter_mut().filter(|_| stall.is_some()).filter(running) {
            job.state = JobState::Failed;
            job.reason = stall.as_ref().map(Stall::reason).unwrap_or_default();
        }
        result.master = Some(master(driver, &records));
    }
    sampler.fill(world, &mut result);
    result.energy = energy::used(world, &result);
    for node in result.energy.iter().flat_map(|energy| &energy.nodes) {
        let detail = format!("{} has no charge left and goes down", node_name(node.node));
        let event = |at| Event { at, kind: "battery-empty".to_owned(), node: Some(node.node), link: None, detail };
        result.events.extend(node.empty.map(event));
    }
    result.events.sort_by_key(|event| event.at);
    result.stall = stall;
    result
}

/// Clients that have joined and lost access points.
fn associations(world: &World) -> impl Iterator<Item = Event> {
    let nodes = world.transport().topology().hosts().len();
    world.transport().associations().iter().map(move |moved| {
        let client = station_name(moved.client as usize, nodes);
        let (kind, detail) = match moved.access_point {
            Some(point) => ("associated", format!("{client} is with {}", station_name(point as usize, nodes))),
            None => ("disassociated", format!("{client} has lost its access point")),
        };
        Event { at: moved.at, kind: kind.to_owned(), node: Some(moved.client), link: None, detail }
    })
}

/// Where nodes on the air were, and a sample of their frames.
fn field(world: &World) -> Option<Field> {
    let transport = world.transport();
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

fn totals(world: &World) -> NetworkTotals {
    let transport = world.transport();
    let (ledger, totals) = (transport.packets(), transport.totals());
    NetworkTotals {
        packets: ledger.sent,
        hops: transport.hops(),
        drops: ledger.dropped,
        lost: ledger.lost + ledger.lost_down,
        marks: transport.links().iter().map(|link| link.counters().marks).sum(),
        ecn_reductions: totals.ecn_reductions,
        retransmissions: totals.retransmissions,
        timeouts: totals.timeouts,
        zero_windows: totals.zero_windows,
        most_unsent: transport.most_unsent(),
    }
}

fn packets(world: &World) -> Balance {
    let ledger = world.transport().packets();
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
fn member_events(world: &World) -> impl Iterator<Item = Event> {
    let transport = world.transport();
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

fn bonds(world: &World) -> Vec<Bond> {
    let transport = world.transport();
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

fn nodes(scenario: &Scenario, world: &World) -> Vec<Node> {
    let transport = world.transport();
    let topology = transport.topology();
    let node = |(index, spec): (usize, crate::scenario::NodeSpec)| {
        // Every link of a node counts: in a graph it may have several.
        let (mut received, mut sent) = (Bytes::ZERO, Bytes::ZERO);
        let vertex = topology.hosts()[index];
        for (link, state) in transport.links().iter().enumerate() {
            let (from, to) = topology.ends(net::LinkId(link as u32));
            let bytes = Bytes::new(state.counters().bytes);
            // What a node sends itself does not pass its interface.
            if from == to {
                continue;
            }
            if from == vertex {
                sent += bytes;
            } else if to == vertex {
                received += bytes;
            }
        }
        if let Some(counts) = transport.stations().get(index) {
            received += Bytes::new(counts.received_bytes);
            sent += Bytes::new(counts.carried_bytes);
        }
        Node {
            name: spec.name,
            rack: spec.rack,
            host: spec.host,
            interface_received: received,
            interface_sent: sent,
            cpu_work: world
                .driver()
                .map_or(Time::ZERO, |driver| driver.hosts.used(world.now(), hadoop::NodeId(index as u32))),
            radio: energy::radio(world, index as u32),
            ..Node::default()
        }
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
    }
}

/// What the servers on the master node have done, and what became of the connections to them.
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
    Master {
        pushed: driver.pushed(),
        zero_windows: totals.zero_windows,
        retransmissions: totals.retransmissions,
        servers: driver.cluster.context().servers().filter(|(server, _)| server.node.0 == 0).map(server).collect(),
    }
}

fn jobs(driver: &Driver, flows: &[FlowRecord], world: &World, result: &mut RunResult) {
    let records = driver.cluster.mapreduce().records();
    result.disks = driver
        .hosts
        .disks(world.now())
        .map(|(name, node, counters)| Disk {
            name,
            node: node.0,
            read: counters.read,
            written: counters.written,
            requests: counters.requests,
            seeks: counters.switches,
            busy: counters.busy,
            utilisation: Vec::new(),
        })
        .collect();
    // Rows of attempts go by start; the records' own numbers are translated.
    let mut order: Vec<usize> = (0..records.attempts.len()).collect();
    order.sort_by_key(|&index| (records.attempts[index].allocated, index));
    let mut rows = vec![0_u32; order.len()];
    for (row, &index) in order.iter().enumerate() {
        rows[index] = row as u32;
    }
    result.attempts = order.iter().map(|&index| attempt(&records.attempts[index], world.now())).collect();
    let waits = Waits::new(flows, world);
    for (number, record) in records.jobs.iter().enumerate() {
        let mut job = job(record, &records, number as u32);
        if let Some(path) = critical_path(&records, hadoop::JobId(number as u32)) {
            for stretch in &path.stretches {
                critical(stretch, &records, &rows, &waits, &mut job);
            }
        }
        result.jobs.push(job);
        ledger(record, &mut result.ledger);
    }
    for attempt in &records.attempts {
        let kind = match attempt.state {
            AttemptState::Failed => "attempt-failed",
            AttemptState::Killed if !attempt.reason.is_empty() => "attempt-killed",
            _ => continue,
        };
        result.events.push(Event {
            at: attempt.output_lost.unwrap_or(attempt.finish),
            kind: kind.to_owned(),
            node: Some(attempt.node.0),
            link: None,
            detail: format!("{} on {}: {}", title(attempt), node_name(attempt.node.0), attempt.reason),
        });
    }
}

fn title(attempt: &AttemptRecord) -> String {
    let kind = match attempt.kind {
        TaskKind::Map => "map",
        TaskKind::Reduce => "reduce",
    };
    if attempt.attempt == 0 {
        format!("{kind} {}", attempt.task)
    } else {
        format!("{kind} {} (attempt {})", attempt.task, attempt.attempt + 1)
    }
}

fn attempt(record: &AttemptRecord, now: Time) -> Attempt {
    let bytes = &record.bytes;
    let running = record.state == AttemptState::Running;
    Attempt {
        job: record.job.0,
        kind: record.kind,
        task: record.task,
        attempt: record.attempt,
        node: record.node.0,
        speculative: record.speculative,
        locality: record.locality,
        state: record.state,
        reason: record.reason.to_owned(),
        start: record.allocated,
        finish: if running { now } else { record.finish },
        intervals: record.intervals.clone(),
        input: bytes.input,
        output: bytes.output,
        remote: bytes.read_rack + bytes.read_remote + bytes.fetched_network,
        spilled: bytes.disk_written,
    }
}

fn job(record: &JobRecord, records: &Records, number: u32) -> Job {
    let mut bytes = JobBytes::default();
    let mut phases: Vec<Interval> = Vec::new();
    for attempt in records.attempts.iter().filter(|attempt| attempt.job.0 == number) {
        let moved = &attempt.bytes;
        if attempt.state != AttemptState::Succeeded {
            bytes.wasted += moved.input + moved.fetched_network + moved.fetched_node + moved.fetch_aborted;
            continue;
        }
        bytes.hdfs_read_local += moved.read_node;
        bytes.hdfs_read_remote += moved.read_rack + moved.read_remote;
        bytes.spilled += moved.disk_written;
        match attempt.kind {
            TaskKind::Map => {
                bytes.map_input += moved.input;
                *(if record.reduces > 0 { &mut bytes.map_output } else { &mut bytes.written }) += moved.output;
            }
            TaskKind::Reduce => {
                bytes.shuffle_local += moved.fetched_node;
                bytes.shuffle_remote += moved.fetched_network;
                bytes.written += moved.output;
            }
        }
        for interval in &attempt.intervals {
            let phase = interval.phase;
            match phases.iter_mut().find(|whole| whole.phase == phase) {
                Some(whole) => {
                    whole.start = whole.start.min(interval.start);
                    whole.finish = whole.finish.max(interval.finish);
                }
                None => phases.push(Interval { phase, start: interval.start, finish: interval.finish }),
            }
        }
    }
    phases.sort_by_key(|interval| interval.phase);
    Job {
        name: record.name.clone(),
        workload: record.workload.clone(),
        state: match record.state {
            record::JobState::Running => JobState::Unfinished,
            record::JobState::Succeeded => JobState::Succeeded,
            record::JobState::Failed => JobState::Failed,
        },
        reason: record.reason.clone(),
        submit: record.submit,
        launch: record.launch,
        finish: record.finish,
        maps: record.maps,
        reduces: record.reduces,
        phases,
        bytes,
        breakdown: Breakdown::default(),
        critical_path: Vec::new(),
    }
}

fn ledger(record: &JobRecord, out: &mut Vec<Balance>) {
    let ledger = &record.ledger;
    let mut balance = |what: &str, offered: u64, parts: &[(&str, u64)]| {
        let accounted = parts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        out.push(Balance { what: format!("{}: {what}", record.name), offered, accounted });
    };
    balance(
        "map output served, bytes",
        ledger.served.get(),
        &[
            ("fetched", ledger.fetched.get()),
            ("fetched by attempts that did not succeed", ledger.discarded.get()),
            ("aborted", ledger.aborted.get()),
            ("in flight", ledger.in_flight.get()),
        ],
    );
    balance(
        "map output offered, bytes",
        ledger.offered.get(),
        &[("fetched", ledger.fetched.get()), ("never fetched", ledger.never_fetched.get())],
    );
    balance("slots", ledger.slots_given, &[("returned", ledger.slots_returned), ("held", ledger.slots_held)]);
}

/// What the flows of each node spent their time on.
struct Waits<'a> {
    /// Flows that carried data to each node, by node.
    into: Vec<Vec<&'a FlowRecord>>,
    /// The rate at which each node can receive.
    rates: Vec<BitRate>,
    now: Time,
}

impl<'a> Waits<'a> {
    fn new(flows: &'a [FlowRecord], world: &World) -> Self {
        let transport = world.transport();
        let topology = transport.topology();
        let mut into = vec![Vec::new(); topology.hosts().len()];
        for flow in flows.iter().filter(|flow| flow.owner == Owner::Cluster && flow.from != flow.to) {
            // Data moves both ways on one connection or another: fetches and reads back to the client, pipelines to the server.
            into[flow.from as usize].push(flow);
            into[flow.to as usize].push(flow);
        }
        let rate = |vertex: &net::VertexId| {
            topology.uplink(*vertex).map_or(BitRate::default(), |up| {
                let down = transport.link(up.reverse());
                let rate = down.shaper().map_or(down.rate(), |shaper| shaper.rate.min(down.rate()));
                let members = topology.bond_of(up).map_or(1, |(bond, _)| bond.members.len() as u64);
                BitRate::from_bps(rate.as_bps() * members)
            })
        };
        Self { rates: topology.hosts().iter().map(rate).collect(), into, now: world.now() }
    }

    /// How a stretch of waiting for the network at a node divides into transfer, queueing, recovery and timeouts.
    ///
    /// Recovery and timeouts are the parts of their time that the node's flows spent so, each flow weighted by how long it fell into the
    /// stretch. Transfer is what the bytes that came meanwhile need on the node's own link, all of them together; what is left was
    /// spent behind other traffic elsewhere, in connection set-up and slow start: the time in queues.
    fn split(&self, node: u32, from: Time, to: Time) -> [(Waiting, Time); 4] {
        let (mut alive, mut recovery, mut timeout, mut bytes) = (0.0, 0.0, 0.0, 0.0);
        for flow in &self.into[node as usize] {
            let end = flow.ended.unwrap_or(self.now);
            let overlap = end.min(to).saturating_sub(flow.opened.max(from)).as_secs_f64();
            let life = end.saturating_sub(flow.opened).as_secs_f64();
            if overlap <= 0.0 || life <= 0.0 {
                continue;
            }
            let part = overlap / life;
            let moved = if flow.to == node { flow.bytes } else { flow.bytes_back } as f64;
            // Connections that only carry calls say nothing about the transfer's fate.
            alive += overlap * moved;
            recovery += flow.totals.recovery_time.as_secs_f64().min(life) * part * moved;
            timeout += flow.totals.timeout_time.as_secs_f64().min(life) * part * moved;
            bytes += moved * part;
        }
        let length = to - from;
        let share = |lost: f64| if alive > 0.0 { length.mul_f64((lost / alive).min(1.0)) } else { Time::ZERO };
        let timeout = share(timeout);
        let recovery = share(recovery).min(length - timeout);
        let left = length - timeout - recovery;
        let transfer = self.rates[node as usize].transmission_time(Bytes::new(bytes as u64)).min(left);
        [
            (Waiting::Transfer, transfer),
            (Waiting::Queueing, left - transfer),
            (Waiting::Recovery, recovery),
            (Waiting::TcpTimeout, timeout),
        ]
    }
}

/// Adds a stretch of the critical path to a job.
fn critical(stretch: &Stretch, records: &Records, rows: &[u32], waits: &Waits, job: &mut Job) {
    let attempt = stretch.attempt.map(|id| &records.attempts[id.0 as usize]);
    let detail = match (attempt, stretch.source) {
        (Some(attempt), Some(source)) => {
            let source = &records.attempts[source.0 as usize];
            format!(
                "{} on {}, {} from {}",
                title(attempt),
                node_name(attempt.node.0),
                title(source),
                node_name(source.node.0)
            )
        }
        (Some(attempt), None) => format!("{} on {}", title(attempt), node_name(attempt.node.0)),
        (None, _) => "the job as a whole".to_owned(),
    };
    let mut push = |waiting: Waiting, start: Time, length: Time| {
        job.breakdown.add(waiting, length);
        job.critical_path.push(CriticalSegment {
            start,
            finish: start + length,
            waiting,
            attempt: stretch.attempt.map(|id| rows[id.0 as usize]),
            detail: detail.clone(),
        });
    };
    let length = stretch.to - stretch.from;
    let waiting = match stretch.waiting {
        record::Waiting::Network => {
            let node = attempt.map_or(0, |attempt| attempt.node.0);
            let mut start = stretch.from;
            for (waiting, part) in waits.split(node, stretch.from, stretch.to) {
                if part > Time::ZERO {
                    push(waiting, start, part);
                    start += part;
                }
            }
            return;
        }
        record::Waiting::Cpu => Waiting::Cpu,
        record::Waiting::Disk => Waiting::Disk,
        record::Waiting::Slot => Waiting::Slot,
        record::Waiting::Timeout | record::Waiting::Maps => Waiting::Timeout,
        record::Waiting::StartUp => Waiting::StartUp,
    };
    push(waiting, stretch.from, length);
}
