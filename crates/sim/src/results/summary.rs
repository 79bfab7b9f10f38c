//! `result.json`: the summary of a run, versioned, and the same whenever the scenario and the seed are.

use super::traffic_view::{TrafficView, traffic_view};
use super::{
    Balance, Bond, EnergyUse, Job, JobState, Master, NodeEnergy, RadioUse, RpcServer, RunResult, Stall, Waiting,
};
use hadoop::mapreduce::Wait;
use serde::Serialize;
use std::collections::BTreeMap;
use units::{Energy, Time};

/// The version of `result.json`; its number goes up when a field changes its meaning or goes away.
pub const SCHEMA: &str = "trunkline-result/1";

#[derive(Serialize)]
struct Summary<'a> {
    schema: &'static str,
    name: &'a str,
    scenario_digest: &'a str,
    seed: u64,
    simulated_s: f64,
    /// The first job, for those who run one.
    job: Option<JobView<'a>>,
    phases: Vec<PhaseView>,
    bytes: Option<BytesView>,
    jobs: Vec<JobView<'a>>,
    /// Why the run was given up, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    stalled: Option<StallView<'a>>,
    traffic: Vec<TrafficView<'a>>,
    network: NetworkView,
    /// The master node's side of calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    master: Option<MasterView>,
    /// The links that were used most.
    links: Vec<LinkView<'a>>,
    nodes: Vec<NodeView<'a>>,
    disks: Vec<DiskView<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    bonds: Vec<BondView<'a>>,
    /// Null where the scenario does not say what its hardware draws.
    energy: Option<EnergyView<'a>>,
    events: Vec<EventView<'a>>,
    ledger: Vec<BalanceView<'a>>,
}

#[derive(Serialize)]
struct JobView<'a> {
    name: &'a str,
    workload: &'a str,
    state: &'static str,
    reason: &'a str,
    submit_s: f64,
    launch_s: Option<f64>,
    finish_s: Option<f64>,
    maps: u32,
    reduces: u32,
    phases: Vec<PhaseView>,
    bytes: BytesView,
    critical_path_s: BTreeMap<&'static str, f64>,
}

/// Jobs that made no progress, and who waited for what, longest first.
#[derive(Serialize)]
struct StallView<'a> {
    since_s: f64,
    at_s: f64,
    waits: Vec<WaitView<'a>>,
}

#[derive(Serialize)]
struct WaitView<'a> {
    who: &'a str,
    waits_for: &'a str,
    since_s: f64,
}

#[derive(Serialize)]
struct PhaseView {
    name: &'static str,
    start_s: f64,
    finish_s: f64,
}

#[derive(Serialize)]
struct BytesView {
    map_input: u64,
    map_output: u64,
    shuffle_local: u64,
    shuffle_remote: u64,
    hdfs_read_local: u64,
    hdfs_read_remote: u64,
    written: u64,
    spilled: u64,
    wasted: u64,
}

#[derive(Serialize)]
struct NetworkView {
    packets: u64,
    hops: u64,
    drops: u64,
    lost: u64,
    marks: u64,
    ecn_reductions: u64,
    retransmissions: u64,
    timeouts: u64,
    zero_windows: u64,
    most_unsent_bytes: u64,
}

#[derive(Serialize)]
struct MasterView {
    pushed_messages: u64,
    pushed_per_s: f64,
    zero_windows: u64,
    retransmissions: u64,
    segments: SegmentsView,
    servers: Vec<ServerView>,
}

#[derive(Serialize)]
struct SegmentsView {
    received: u64,
    received_pushed: u64,
    sent: u64,
    sent_pushed: u64,
    zero_windows: u64,
}

#[derive(Serialize)]
struct ServerView {
    name: &'static str,
    calls: u64,
    latency_mean_s: f64,
    latency_max_s: f64,
    queue_max_calls: u32,
    unread: u64,
}

#[derive(Serialize)]
struct EnergyView<'a> {
    total_j: f64,
    /// Between submission and end, of all nodes.
    jobs_j: Vec<Option<f64>>,
    /// Time to the first dead battery.
    first_empty_s: Option<f64>,
    nodes: Vec<NodeEnergyView<'a>>,
}

#[derive(Serialize)]
struct NodeEnergyView<'a> {
    name: &'a str,
    total_j: f64,
    idle_j: f64,
    screen_j: f64,
    cpu_j: f64,
    radio_j: f64,
    battery_j: Option<f64>,
    battery_left_j: Option<f64>,
    empty_s: Option<f64>,
    throttled_s: f64,
    throttled_times: u32,
}

#[derive(Serialize)]
struct LinkView<'a> {
    name: &'a str,
    rate_bps: u64,
    utilisation: f64,
    packets: u64,
    drops: u64,
    marks: u64,
    queue_mean_packets: f64,
    queue_p50_packets: Option<u64>,
    queue_p95_packets: Option<u64>,
    queue_p99_packets: Option<u64>,
    queue_max_packets: u64,
}

/// So many links stand in `result.json`; the table `links` has all.
const MOST_LINKS: usize = 32;

#[derive(Serialize)]
struct NodeView<'a> {
    name: &'a str,
    rack: u32,
    interface_received: u64,
    interface_sent: u64,
    cpu_work_s: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    radio_s: Option<RadioView>,
}

/// For how long a node's radio did what.
#[derive(Serialize)]
struct RadioView {
    transmit: f64,
    receive: f64,
    listen: f64,
    sleep: f64,
    off: f64,
}

#[derive(Serialize)]
struct DiskView<'a> {
    name: &'a str,
    read: u64,
    written: u64,
    requests: u64,
    seeks: u64,
    busy_s: f64,
}

/// One end of a bond with the members that it sends on.
#[derive(Serialize)]
struct BondView<'a> {
    name: &'a str,
    at: &'a str,
    members: Vec<MemberView<'a>>,
    packets: u64,
    drops: u64,
    lost: u64,
    lacpdus_sent: u64,
    lacpdus_received: u64,
    lacpdus_lost: u64,
    churns: u64,
}

#[derive(Serialize)]
struct MemberView<'a> {
    link: &'a str,
    packets: u64,
    bytes: u64,
    drops: u64,
    lost: u64,
}

#[derive(Serialize)]
struct EventView<'a> {
    at_s: f64,
    kind: &'a str,
    detail: &'a str,
}

#[derive(Serialize)]
struct BalanceView<'a> {
    what: &'a str,
    offered: u64,
    accounted: BTreeMap<&'a str, u64>,
    holds: bool,
}

impl JobState {
    /// As Hadoop writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Succeeded => "SUCCEEDED",
            Self::Failed => "FAILED",
            Self::Unfinished => "UNFINISHED",
        }
    }
}

/// The summary of a run as JSON text.
pub fn to_json(result: &RunResult) -> String {
    let jobs: Vec<_> = result.jobs.iter().map(job_view).collect();
    let totals = &result.network;
    let summary = Summary {
        schema: SCHEMA,
        name: &result.name,
        scenario_digest: &result.scenario_digest,
        seed: result.seed,
        simulated_s: result.ended_at.as_secs_f64(),
        job: result.jobs.first().map(job_view),
        phases: result.jobs.first().map(phases).unwrap_or_default(),
        bytes: result.jobs.first().map(bytes),
        jobs,
        stalled: result.stall.as_ref().map(stall_view),
        traffic: result.traffic.iter().map(traffic_view).collect(),
        network: NetworkView {
            packets: totals.packets,
            hops: totals.hops,
            drops: totals.drops,
            lost: totals.lost,
            marks: totals.marks,
            ecn_reductions: totals.ecn_reductions,
            retransmissions: totals.retransmissions,
            timeouts: totals.timeouts,
            zero_windows: totals.zero_windows,
            most_unsent_bytes: totals.most_unsent.get(),
        },
        master: result.master.as_ref().map(|master| master_view(master, result.ended_at)),
        links: links(result),
        bonds: result.bonds.iter().map(|bond| bond_view(bond, result)).collect(),
        nodes: result
            .nodes
            .iter()
            .map(|node| NodeView {
                name: &node.name,
                rack: node.rack,
                interface_received: node.interface_received.get(),
                interface_sent: node.interface_sent.get(),
                cpu_work_s: node.cpu_work.as_secs_f64(),
                radio_s: node.radio.map(radio_view),
            })
            .collect(),
        disks: result
            .disks
            .iter()
            .map(|disk| DiskView {
                name: &disk.name,
                read: disk.read.get(),
                written: disk.written.get(),
                requests: disk.requests,
                seeks: disk.seeks,
                busy_s: disk.busy.as_secs_f64(),
            })
            .collect(),
        energy: result.energy.as_ref().map(|energy| energy_view(energy, result)),
        events: result
            .events
            .iter()
            .map(|event| EventView { at_s: event.at.as_secs_f64(), kind: &event.kind, detail: &event.detail })
            .collect(),
        ledger: result.ledger.iter().map(balance_view).collect(),
    };
    // Nothing in it can fail to be JSON: no maps with other keys than texts, and infinities become null.
    let mut text = serde_json::to_string_pretty(&summary).unwrap_or_default();
    text.push('\n');
    text
}

fn energy_view<'a>(energy: &EnergyUse, result: &'a RunResult) -> EnergyView<'a> {
    let node = |node: &NodeEnergy| NodeEnergyView {
        name: &result.nodes[node.node as usize].name,
        total_j: node.total().as_joules(),
        idle_j: node.idle.as_joules(),
        screen_j: node.screen.as_joules(),
        cpu_j: node.processor.as_joules(),
        radio_j: node.radio.as_joules(),
        battery_j: node.battery.map(|(whole, _)| whole.as_joules()),
        battery_left_j: node.battery.map(|(_, left)| left.as_joules()),
        empty_s: node.empty.map(Time::as_secs_f64),
        throttled_s: node.throttled.0.as_secs_f64(),
        throttled_times: node.throttled.1,
    };
    EnergyView {
        total_j: energy.total().as_joules(),
        jobs_j: energy.jobs.iter().map(|job| job.map(Energy::as_joules)).collect(),
        first_empty_s: energy.first_empty().map(Time::as_secs_f64),
        nodes: energy.nodes.iter().map(node).collect(),
    }
}

fn radio_view(radio: RadioUse) -> RadioView {
    RadioView {
        transmit: radio.transmit.as_secs_f64(),
        receive: radio.receive.as_secs_f64(),
        listen: radio.listen.as_secs_f64(),
        sleep: radio.sleep.as_secs_f64(),
        off: radio.off.as_secs_f64(),
    }
}

fn master_view(master: &Master, ended: Time) -> MasterView {
    let server = |server: &RpcServer| ServerView {
        name: server.name,
        calls: server.calls,
        latency_mean_s: server.latency_mean.as_secs_f64(),
        latency_max_s: server.latency_max.as_secs_f64(),
        queue_max_calls: server.queue_max,
        unread: server.unread,
    };
    MasterView {
        pushed_messages: master.pushed,
        pushed_per_s: if ended > Time::ZERO { master.pushed as f64 / ended.as_secs_f64() } else { 0.0 },
        zero_windows: master.zero_windows,
        retransmissions: master.retransmissions,
        segments: SegmentsView {
            received: master.segments.received,
            received_pushed: master.segments.received_pushed,
            sent: master.segments.sent,
            sent_pushed: master.segments.sent_pushed,
            zero_windows: master.segments.zero_windows,
        },
        servers: master.servers.iter().map(server).collect(),
    }
}

/// The links in the order of their use, the first of equally used ones first.
fn links(result: &RunResult) -> Vec<LinkView<'_>> {
    let mut links: Vec<_> = result.links.iter().filter(|link| link.packets > 0).collect();
    links.sort_by(|a, b| b.used.total_cmp(&a.used));
    links.into_iter().take(MOST_LINKS).map(link_view).collect()
}

fn link_view(link: &super::Link) -> LinkView<'_> {
    LinkView {
        name: &link.name,
        rate_bps: link.rate.as_bps(),
        utilisation: link.used,
        packets: link.packets,
        drops: link.drops,
        marks: link.marks,
        queue_mean_packets: link.queue_mean,
        queue_p50_packets: link.queue_quantile(0.5),
        queue_p95_packets: link.queue_quantile(0.95),
        queue_p99_packets: link.queue_quantile(0.99),
        queue_max_packets: link.queue_max,
    }
}

fn seconds(time: Option<Time>) -> Option<f64> {
    time.map(Time::as_secs_f64)
}

fn phases(job: &Job) -> Vec<PhaseView> {
    let view = |phase: &super::Interval| PhaseView {
        name: phase.phase.name(),
        start_s: phase.start.as_secs_f64(),
        finish_s: phase.finish.as_secs_f64(),
    };
    job.phases.iter().map(view).collect()
}

fn bytes(job: &Job) -> BytesView {
    let bytes = &job.bytes;
    BytesView {
        map_input: bytes.map_input.get(),
        map_output: bytes.map_output.get(),
        shuffle_local: bytes.shuffle_local.get(),
        shuffle_remote: bytes.shuffle_remote.get(),
        hdfs_read_local: bytes.hdfs_read_local.get(),
        hdfs_read_remote: bytes.hdfs_read_remote.get(),
        written: bytes.written.get(),
        spilled: bytes.spilled.get(),
        wasted: bytes.wasted.get(),
    }
}

fn job_view(job: &Job) -> JobView<'_> {
    JobView {
        name: &job.name,
        workload: &job.workload,
        state: job.state.name(),
        reason: &job.reason,
        submit_s: job.submit.as_secs_f64(),
        launch_s: seconds(job.launch),
        finish_s: seconds(job.finish),
        maps: job.maps,
        reduces: job.reduces,
        phases: phases(job),
        bytes: bytes(job),
        critical_path_s: Waiting::ALL
            .iter()
            .map(|waiting| (waiting.name(), job.breakdown.of(*waiting).as_secs_f64()))
            .collect(),
    }
}

fn wait_view(wait: &Wait) -> WaitView<'_> {
    WaitView { who: &wait.who, waits_for: &wait.what, since_s: wait.since.as_secs_f64() }
}

fn stall_view(stall: &Stall) -> StallView<'_> {
    StallView {
        since_s: stall.since.as_secs_f64(),
        at_s: stall.at.as_secs_f64(),
        waits: stall.waits.iter().map(wait_view).collect(),
    }
}

fn balance_view(balance: &Balance) -> BalanceView<'_> {
    BalanceView {
        what: &balance.what,
        offered: balance.offered,
        accounted: balance.accounted.iter().map(|(name, count)| (name.as_str(), *count)).collect(),
        holds: balance.holds(),
    }
}

fn bond_view<'a>(bond: &'a Bond, result: &'a RunResult) -> BondView<'a> {
    let links = bond.members.iter().filter_map(|link| result.links.get(*link as usize));
    BondView {
        name: &bond.name,
        at: &bond.at,
        members: links
            .map(|link| MemberView {
                link: &link.name,
                packets: link.packets,
                bytes: link.bytes.get(),
                drops: link.drops,
                lost: link.lost,
            })
            .collect(),
        packets: bond.packets,
        drops: bond.drops,
        lost: bond.lost,
        lacpdus_sent: bond.lacpdus_sent,
        lacpdus_received: bond.lacpdus_received,
        lacpdus_lost: bond.lacpdus_lost,
        churns: bond.churns,
    }
}
