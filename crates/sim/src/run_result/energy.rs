//! Energy of nodes, in total and during each job.

use crate::world::World;
use hadoop::NodeId;
use results::{EnergyUse, Job, NodeEnergy, RadioUse, RunResult};
use units::{Energy, Power, Time};
use wifi::energy::RadioState;

/// Energy of all nodes; `None` where no node's power is known.
pub(super) fn used(world: &World, result: &RunResult) -> Option<EnergyUse> {
    let (meters, now) = (world.meters()?, world.now());
    let node = |node: u32| {
        let (meter, used) = (meters.get(node)?, world.used(node));
        Some(NodeEnergy {
            node,
            idle: meter.idle(now),
            screen: meter.screen(now),
            processor: meter.processor(used),
            radio: meter.radio(now, used),
            battery: meter.draw.battery.map(|(full, _)| full).zip(meter.left(now, used)),
            empty: meter.empty,
            throttled: (meter.slow_for(now), meter.slowdowns),
        })
    };
    let nodes: Vec<NodeEnergy> = (0..units::count(result.nodes.len())).filter_map(node).collect();
    let job = |job: &Job| {
        let finish = job.finish?;
        Some(nodes.iter().map(|node| during(world, result, node, (job.submit, finish))).sum())
    };
    let jobs = result.jobs.iter().map(job).collect();
    Some(EnergyUse { nodes, jobs })
}

/// Energy of a node from one time to another, from the sampled series.
fn during(world: &World, result: &RunResult, node: &NodeEnergy, (from, to): (Time, Time)) -> Energy {
    let Some(draw) = world.meters().and_then(|meters| meters.get(node.node)).map(|meter| meter.draw) else {
        return Energy::default();
    };
    let on = |at: Time| at.min(node.empty.unwrap_or(Time::MAX));
    let idle = (draw.idle + draw.screen).over(on(to).saturating_sub(on(from)));
    // The part of each step within the interval: the energy of a step counts as spread evenly over it.
    let part = |step: usize| {
        let start = result.sample_interval * step as u64;
        let end = (start + result.sample_interval).min(world.now());
        let length = end.saturating_sub(start).as_secs_f64();
        let within = end.min(to).saturating_sub(start.max(from)).as_secs_f64();
        if length > 0.0 { within / length } else { 0.0 }
    };
    let series = &result.nodes[node.node as usize];
    let cores = world.driver().map_or(0.0, |driver| driver.hosts.cores(NodeId(node.node)));
    let worked = |(step, used): (usize, &f32)| result.sample_interval.mul_f64(f64::from(*used) * cores * part(step));
    let sent =
        |(step, watts): (usize, &f32)| Power::from_watts(f64::from(*watts) * part(step)).over(result.sample_interval);
    // At the mean power over all core time, which is below the nominal power if the processor was throttled at times.
    let core_time: Time = series.cpu_utilisation.iter().enumerate().map(worked).sum();
    let whole = series.cpu_work.as_secs_f64();
    let mean = if whole > 0.0 { node.processor.as_joules() / whole } else { 0.0 };
    let processor = Power::from_watts(mean).over(core_time);
    let radio: Energy = series.radio_power.iter().enumerate().map(sent).sum();
    idle + processor + radio
}

/// Counters of a node's radio; `None` where nodes are wired.
pub(super) fn radio(world: &World, node: u32) -> Option<RadioUse> {
    let times = world.packets()?.radio_times(node)?;
    let of = |state| times.time(world.now(), state);
    Some(RadioUse {
        transmit: of(RadioState::Transmit),
        receive: of(RadioState::Receive),
        listen: of(RadioState::Idle) + of(RadioState::Busy),
        sleep: of(RadioState::Sleep),
        off: of(RadioState::Off),
    })
}
