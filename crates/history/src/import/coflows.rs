//! A trace of coflows as traffic.
//!
//! As in CoflowSim, all flows of a coflow begin at its arrival, and each mapper sends a reducer the same part of what
//! that receives. Unlike there, a flow may be shorter than a megabyte, and what a port has for itself does not cross
//! the fabric.

use super::many::{Extent, ImportedMany, cluster_of, total};
use super::{Assumption, ImportError, printable, significant};
use crate::coflow::{Coflow, CoflowTrace};
use scenario::{GivenCoflow, Nodes, Traffic, TrafficKind};
use std::collections::BTreeMap;
use units::{Bytes, Time};

/// A run ends this long after the last arrival at the latest.
const PATIENCE: Time = Time::from_secs(86_400);

/// Imports the coflows of a trace that arrive within an extent. Port p is worker p + 1.
pub fn coflows(name: &str, trace: &CoflowTrace, extent: &Extent) -> Result<ImportedMany, ImportError> {
    let taken: Vec<&Coflow> = trace.coflows.iter().filter(|coflow| extent.contains(coflow.arrival)).collect();
    if taken.is_empty() {
        return Err(ImportError::Window(trace.coflows.len()));
    }
    let nodes = extent.nodes.or(if extent.cluster.is_none() { Some(trace.ports) } else { None });
    let (mut scenario, mut assumed) = cluster_of(name, &Extent { nodes, ..*extent })?;
    let workers = scenario.cluster.workers;
    if workers < trace.ports {
        return Err(ImportError::Workers(workers, trace.ports));
    }
    let scale = extent.recorded_nodes.map_or(1.0, |recorded| f64::from(workers) / f64::from(recorded));
    let traffic = Traffic {
        name: "coflows".to_owned(),
        kind: TrafficKind::Coflow,
        coflow: taken.iter().map(|coflow| of_coflow(coflow, extent.from)).collect(),
        data_scale: scale,
        ..Traffic::default()
    };
    let last = traffic.coflow.last().map_or(Time::ZERO, |coflow| coflow.start);
    scenario.run.until = scenario.run.until.max(last.saturating_add(PATIENCE));
    scenario.traffic = vec![traffic];
    assumed.extend([
        Assumption::new("a megabyte", "2^20 bytes", "as in CoflowSim"),
        Assumption::new("mappers' parts", "equal, of each reducer's bytes", "the trace has bytes of reducers alone"),
        Assumption::new("flows", "all begin at the coflow's arrival", "as in CoflowSim"),
        Assumption::new("a port to itself", "does not cross the network", "CoflowSim lets it cross its own port"),
    ]);
    let bytes = total(taken.iter().flat_map(|coflow| &coflow.reducers).map(|(_, bytes)| *bytes));
    let flows: usize = taken.iter().map(|coflow| coflow.mappers.len() * coflow.reducers.len()).sum();
    let heading = vec![
        format!(
            "{} of {} coflows, arriving {}: {flows} flows between {} ports.",
            taken.len(),
            trace.coflows.len(),
            extent.text(),
            trace.ports
        ),
        format!("Bytes times {} (traffic.data-scale): {:.1}.", significant(scale), bytes.mul_f64(scale)),
    ];
    ImportedMany::new(scenario, heading, assumed, BTreeMap::new())
}

fn of_coflow(coflow: &Coflow, from: Time) -> GivenCoflow {
    let number = |port: &u32| port + 1;
    let bytes: Vec<Bytes> = coflow.reducers.iter().map(|(_, bytes)| *bytes).collect();
    GivenCoflow {
        name: printable(&coflow.id),
        start: coflow.arrival.saturating_sub(from),
        from: Nodes::List(coflow.mappers.iter().map(number).collect()),
        to: Nodes::List(coflow.reducers.iter().map(|(port, _)| number(port)).collect()),
        bytes,
    }
}
