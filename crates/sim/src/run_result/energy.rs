//! Energy of nodes, in total and during each job.

use crate::world::World;
use hadoop::NodeId;
use results::{Disk, DiskPower, DisksEnergy, EnergyUse, Job, NodeEnergy, RadioUse, RunResult};
use units::{Energy, Power, Time};
use wifi::energy::RadioState;

/// Energy of all nodes; `None` where no node's power is known.
pub(super) fn used(world: &World, result: &RunResult) -> Option<EnergyUse> {
    let now = world.now();
    let disks = DisksEnergy::of(result);
    if world.meters().is_none() && disks.is_none() {
        return None;
    }
    let node = |node: u32| {
        let (meter, used) = (world.meters()?.get(node)?, world.used(node));
        Some(NodeEnergy {
            node,
            idle: meter.idle(now),
            screen: meter.screen(now),
            processor: meter.processor(used),
            radio: meter.radio(now, used),
            disks: of_disks(result, node).map(|power| power.energy).reduce(|sum, energy| sum + energy),
            supply: meter.draw.supply,
            battery: meter.draw.battery.map(|(full, _)| full).zip(meter.left(now, used)),
            empty: meter.empty,
            throttled: (meter.slow_for(now), meter.slowdowns),
        })
    };
    let nodes: Vec<NodeEnergy> = (0..units::count(result.nodes.len())).filter_map(node).collect();
    let job = |job: &Job| {
        let finish = job.finish?;
        let span = (job.submit, finish);
        if nodes.is_empty() {
            // Disks are all that is known.
            let drawn = |disk: &Disk| Some(series_energy(world, result, &disk.power.as_ref()?.series, span));
            return Some(result.disks.iter().filter_map(drawn).sum());
        }
        Some(nodes.iter().map(|node| during(world, result, node, span)).sum())
    };
    let jobs = result.jobs.iter().map(job).collect();
    Some(EnergyUse { nodes, jobs, disks })
}

/// Energy that all nodes drew at the wall within a span, in joules; the disks' alone where that is all that is known.
pub(super) fn at_the_wall(world: &World, result: &RunResult, span: (Time, Time)) -> Option<f64> {
    let energy = result.energy.as_ref()?;
    let whole = span == (Time::ZERO, world.now());
    if energy.nodes.is_empty() {
        let drawn =
            |power: &DiskPower| if whole { power.energy } else { series_energy(world, result, &power.series, span) };
        return Some(result.disks.iter().filter_map(|disk| disk.power.as_ref()).map(drawn).sum::<Energy>().as_joules());
    }
    let drawn = |node: &NodeEnergy| if whole { node.total() } else { during(world, result, node, span) };
    Some(energy.nodes.iter().map(|node| drawn(node).as_joules() / node.supply).sum())
}

/// Energy of a node from one time to another, from the sampled series.
fn during(world: &World, result: &RunResult, node: &NodeEnergy, (from, to): (Time, Time)) -> Energy {
    let Some(draw) = world.meters().and_then(|meters| meters.get(node.node)).map(|meter| meter.draw) else {
        return Energy::default();
    };
    let on = |at: Time| at.min(node.empty.unwrap_or(Time::MAX));
    let idle = (draw.idle + draw.screen).over(on(to).saturating_sub(on(from)));
    let series = &result.nodes[node.node as usize];
    let cores = world.driver().map_or(0.0, |driver| driver.hosts.cores(NodeId(node.node)));
    let worked = |(step, used): (usize, &f32)| {
        result.sample_interval.mul_f64(f64::from(*used) * cores * part(world, result, (from, to), step))
    };
    // At the mean power over all core time, which is below the nominal power if the processor was throttled at times.
    let core_time: Time = series.cpu_utilisation.iter().enumerate().map(worked).sum();
    let whole = series.cpu_work.as_secs_f64();
    let mean = if whole > 0.0 { node.processor.as_joules() / whole } else { 0.0 };
    let processor = Power::from_watts(mean).over(core_time);
    let radio = series_energy(world, result, &series.radio_power, (from, to));
    let disks: Energy =
        of_disks(result, node.node).map(|power| series_energy(world, result, &power.series, (from, to))).sum();
    idle + processor + radio + disks
}

/// The part of a sampled step within an interval: the energy of a step counts as spread evenly over it.
fn part(world: &World, result: &RunResult, (from, to): (Time, Time), step: usize) -> f64 {
    let start = result.sample_interval * step as u64;
    let end = (start + result.sample_interval).min(world.now());
    let length = end.saturating_sub(start).as_secs_f64();
    let within = end.min(to).saturating_sub(start.max(from)).as_secs_f64();
    if length > 0.0 { within / length } else { 0.0 }
}

/// Energy within an interval of a series of powers, in watts.
fn series_energy(world: &World, result: &RunResult, watts: &[f32], span: (Time, Time)) -> Energy {
    let drawn = |(step, watts): (usize, &f32)| {
        Power::from_watts(f64::from(*watts) * part(world, result, span, step)).over(result.sample_interval)
    };
    watts.iter().enumerate().map(drawn).sum()
}

/// The disks that count for a node.
fn of_disks(result: &RunResult, node: u32) -> impl Iterator<Item = &DiskPower> {
    result.disks.iter().filter(move |disk| disk.node == node).filter_map(|disk| disk.power.as_ref())
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
