//! `result.json`: the summary of a run, versioned, and the same whenever the scenario and the seed are.

use super::cost::COST;
use super::energy::ENERGY;
use super::findings::FINDINGS;
use super::imbalance::{BALANCER, IMBALANCE};
use super::job::{JOB_BYTES, JOBS, PHASES};
use super::losses::LOSSES;
use super::master::MASTER;
use super::metrics::{Metrics, Row, figure, widened};
use super::network::{BONDS, DISKS, LINKS, NETWORK, NODES};
use super::object_store::OBJECT_STORE;
use super::spark::SPARK;
use super::stall::STALLED;
use super::traffic::TRAFFIC;
use super::value::Value;
use super::{EVENTS, LEDGER, RunResult};

/// The version of `result.json`; its number goes up when a field changes its meaning or goes away.
pub const SCHEMA: &str = "trunkline-result/1";

/// The most links in `result.json`; the table `links` has all.
const MOST_LINKS: usize = 32;

/// A run: `result.json` as a whole.
pub static RUN: Metrics<RunResult> = Metrics {
    name: "run",
    what: "`result.json` as a whole.",
    file: None,
    metrics: &[
        figure("schema", "`trunkline-result/1`; its number goes up when a field changes its meaning or goes away.")
            .text(|_| SCHEMA.to_owned()),
        figure("name", "The scenario's name.").text(|run| run.name.clone()),
        figure("scenario_digest", "Names the scenario as resolved, seed aside.")
            .text(|run| run.scenario_digest.clone()),
        figure("seed", "The seed of every random stream.").count("number", |run| run.seed),
        figure("simulated_s", "When the run ended.").time(|run| run.ended_at),
        figure("job", "The first job; null where there is none.")
            .inner(&JOBS, |run| JOBS.maybe(run.run, run.jobs.first())),
        figure("phases", "The phases of the first job.")
            .inner(&PHASES, |run| PHASES.list(run.run, run.jobs.first().into_iter().flat_map(|job| &job.phases))),
        figure("bytes", "The volumes of the first job.")
            .inner(&JOB_BYTES, |run| JOB_BYTES.maybe(run.run, run.jobs.first().map(|job| &job.bytes))),
        figure("jobs", "All jobs.").inner(&JOBS, |run| JOBS.list(run.run, &run.jobs)),
        figure("spark", "The application of Spark, where the scenario has one.")
            .may_be_absent()
            .inner(&SPARK, |run| SPARK.maybe(run.run, run.spark.as_ref())),
        figure("findings", "Why jobs took as long as they did, job by job, the costliest causes first.")
            .inner(&FINDINGS, |run| FINDINGS.list(run.run, &run.findings)),
        figure("stalled", "Why the run was given up, if it was.")
            .may_be_absent()
            .inner(&STALLED, |run| STALLED.maybe(run.run, run.stall.as_ref())),
        figure("traffic", "Each `[[traffic]]`.").inner(&TRAFFIC, |run| TRAFFIC.list(run.run, &run.traffic)),
        figure("network", "Sums over the whole network; null where packets are not modelled (`run.fidelity`).")
            .inner(&NETWORK, |run| NETWORK.maybe(run.run, run.network.as_ref())),
        figure("master", "The master node's side of calls, where the run has jobs.")
            .may_be_absent()
            .inner(&MASTER, |run| MASTER.maybe(run.run, run.master.as_ref())),
        figure("links", "The 32 links that were used most, in this order.").inner(&LINKS, |run| {
            let mut links: Vec<_> = run.links.iter().filter(|link| link.packets > 0).collect();
            links.sort_by(|a, b| b.used.total_cmp(&a.used));
            LINKS.list(run.run, links.into_iter().take(MOST_LINKS))
        }),
        figure("nodes", "The master, then the workers.").inner(&NODES, |run| NODES.list(run.run, &run.nodes)),
        figure("imbalance", "How evenly the jobs' loads are spread over the workers, where the run has jobs.")
            .may_be_absent()
            .inner(&IMBALANCE, |run| IMBALANCE.list(run.run, &run.imbalance)),
        figure("balancer", "What HDFS's Balancer has done, where one is started.")
            .may_be_absent()
            .inner(&BALANCER, |run| BALANCER.maybe(run.run, run.balancer.as_ref())),
        figure("object_store", "What became of the requests to the object store, where the scenario has one.")
            .may_be_absent()
            .inner(&OBJECT_STORE, |run| OBJECT_STORE.maybe(run.run, run.object_store.as_ref())),
        figure("interface_sent", "Bytes sent through the interfaces of all nodes, headers included.")
            .bytes(|run| run.nodes.iter().map(|node| node.interface_sent).sum()),
        figure("disks", "Disks of the nodes, or of the hosts they share.")
            .inner(&DISKS, |run| DISKS.list(run.run, &run.disks)),
        figure("bonds", "Ends of bonds, two for each.")
            .may_be_absent()
            .inner(&BONDS, |run| BONDS.list(run.run, &run.bonds)),
        figure("energy", "What nodes have drawn; null where no hardware in the scenario says it.")
            .inner(&ENERGY, |run| ENERGY.maybe(run.run, run.energy.as_ref())),
        figure("cost", "What the run cost, where the scenario says prices.")
            .may_be_absent()
            .inner(&COST, |run| COST.maybe(run.run, run.cost.as_ref())),
        figure("losses", "How often data are to be expected lost, where the scenario says how often disks fail.")
            .may_be_absent()
            .inner(&LOSSES, |run| LOSSES.maybe(run.run, run.losses.as_ref())),
        figure("events", "What happened, in order of time.").inner(&EVENTS, |run| EVENTS.list(run.run, &run.events)),
        figure("ledger", "The conservation laws.").inner(&LEDGER, |run| LEDGER.list(run.run, &run.ledger)),
        figure("retransmissions", "Segments sent again in each step, over all connections.")
            .series("segments", |run| widened(&run.retransmissions)),
        figure("timeouts", "Retransmission timeouts in each step, over all connections.")
            .series("times", |run| widened(&run.timeouts)),
    ],
};

/// The summary of a run.
pub fn summary(run: &RunResult) -> Value {
    RUN.object(Row::new(run, run))
}

/// The summary of a run as JSON text.
pub fn to_json(run: &RunResult) -> String {
    // Serialisation cannot fail: all map keys are texts, and infinities become null.
    let mut text = serde_json::to_string_pretty(&summary(run)).unwrap_or_default();
    text.push('\n');
    text
}
