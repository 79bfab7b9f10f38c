//! A job's critical path: the cause of waiting in each of its stretches.

use super::job::title;
use crate::sample::on_air_rate;
use crate::world::World;
use hadoop::mapreduce::critical::Stretch;
use hadoop::record::{self, Records};
use results::{CriticalSegment, Job, Waiting};
use scenario::node_name;
use transport::{FlowRecord, Owner};
use units::{BitRate, Bytes, Time};

/// Causes of waiting for the network, from the flows of each node.
pub(super) struct Waits<'a> {
    /// Flows that carried data to each node, by node.
    into: Vec<Vec<&'a FlowRecord>>,
    /// The rate at which each node can receive.
    rates: Vec<BitRate>,
    now: Time,
}

impl<'a> Waits<'a> {
    pub(super) fn new(flows: &'a [FlowRecord], world: &World) -> Self {
        let transport = world.transport();
        let topology = transport.topology();
        let mut into = vec![Vec::new(); topology.hosts().len()];
        for flow in flows.iter().filter(|flow| flow.owner == Owner::Cluster && flow.from != flow.to) {
            // Data may move either way: fetches and reads towards the client, pipelines towards the server.
            into[flow.from as usize].push(flow);
            into[flow.to as usize].push(flow);
        }
        let rate = |(host, vertex): (usize, &net::VertexId)| {
            let on_air = || world.packets().and_then(|packets| on_air_rate(packets, host)).unwrap_or_default();
            topology.uplink(*vertex).map_or_else(on_air, |up| {
                // The packet transport knows the present rate, which may have changed during the run.
                let spec = topology.spec(up.reverse());
                let (rate, shaper) = world.packets().map_or((spec.rate, spec.shaper), |packets| {
                    let down = packets.link(up.reverse());
                    (down.rate(), down.shaper())
                });
                let rate = shaper.map_or(rate, |shaper| shaper.rate.min(rate));
                let members = topology.bond_of(up).map_or(1, |(bond, _)| bond.members.len() as u64);
                BitRate::from_bps(rate.as_bps() * members)
            })
        };
        Self { rates: topology.hosts().iter().enumerate().map(rate).collect(), into, now: world.now() }
    }

    /// Divides the time for which a node waited for the network within a stretch into transfer, queueing, recovery and
    /// timeouts.
    ///
    /// Recovery and timeouts are the mean parts of their lifetime that the node's flows spent so. Each flow is weighted
    /// by the time for which it overlaps the stretch, times its bytes. Transfer is the time that the bytes received
    /// meanwhile need on the node's own link. The rest counts as queueing: other traffic elsewhere, connection set-up,
    /// slow start.
    pub(super) fn split(&self, node: u32, from: Time, to: Time, waited: Time) -> [(Waiting, Time); 4] {
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
            // Without the bytes, connections that only carry calls would count as much as transfers.
            alive += overlap * moved;
            recovery += flow.totals.recovery_time.as_secs_f64().min(life) * part * moved;
            timeout += flow.totals.timeout_time.as_secs_f64().min(life) * part * moved;
            bytes += moved * part;
        }
        let share = |lost: f64| if alive > 0.0 { waited.mul_f64((lost / alive).min(1.0)) } else { Time::ZERO };
        let timeout = share(timeout);
        let recovery = share(recovery).min(waited - timeout);
        let left = waited - timeout - recovery;
        let bytes = Bytes::new(units::whole(bytes));
        let transfer = if bytes == Bytes::ZERO {
            Time::ZERO
        } else {
            self.rates[node as usize].transmission_time(bytes).min(left)
        };
        [
            (Waiting::Transfer, transfer),
            (Waiting::Queueing, left - transfer),
            (Waiting::Recovery, recovery),
            (Waiting::TcpTimeout, timeout),
        ]
    }

    /// Adds a stretch of the critical path to a job.
    pub(super) fn add(&self, stretch: &Stretch, records: &Records, rows: &[u32], job: &mut Job) {
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
        let source = stretch.source.map(|id| records.attempts[id.0 as usize].node.0);
        let mut push = |waiting: Waiting, start: Time, length: Time| {
            job.breakdown.add(waiting, length);
            job.critical_path.push(CriticalSegment {
                start,
                finish: start + length,
                waiting,
                attempt: stretch.attempt.map(|id| rows[id.0 as usize]),
                source,
                detail: detail.clone(),
            });
        };
        let length = stretch.to - stretch.from;
        let waiting = match stretch.waiting {
            record::Waiting::Network => {
                let node = attempt.map_or(0, |attempt| attempt.node.0);
                let mut start = stretch.from;
                for (waiting, part) in self.split(node, stretch.from, stretch.to, length) {
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
            record::Waiting::SecondAttempt => Waiting::SecondAttempt,
            record::Waiting::StartUp => Waiting::StartUp,
        };
        push(waiting, stretch.from, length);
    }
}
