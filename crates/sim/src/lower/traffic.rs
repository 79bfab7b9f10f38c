//! The traffic that a scenario describes.

use super::bonds::links;
use super::tcp::tcp_config;
use net::{LinkId, Topology};
use scenario::{
    Scenario, SizeKind, StreamCount, StreamCoupling, StreamPolicy, StreamScheduler, Traffic, TrafficKind, node_number,
};
use std::collections::BTreeMap;
use stripe::optimizer::{MOST_STREAMS, Policy};
use stripe::{Scheduler, Segmentation};
use tcp::control::{ControlKind, Coupling};
use traffic::{
    Cdf, CoflowSpec, Exchange, FlowSpec, Pareto, Sizes, SizesError, StreamNumber, StripeSpec, TrafficKind as Kind,
    TrafficSpec, netpipe_sizes,
};
use units::{Bytes, Time};

/// What a flow, session or answer carries where the scenario does not say.
const DEFAULT_BYTES: Bytes = Bytes::from_mb(1);
/// What a ping-pong's request carries where the scenario does not say.
const DEFAULT_REQUEST: Bytes = Bytes::new(100);
/// What a query carries where the scenario does not say, as measured in the DCTCP paper (section 2.2: requests of 1.6
/// KB).
const DEFAULT_QUERY: Bytes = Bytes::new(1_600);

/// All plain traffic of a scenario, on the topology to which its network resolves.
pub(super) fn traffic_specs(scenario: &Scenario, topology: &Topology) -> Result<Vec<TrafficSpec>, SizesError> {
    let numbered = scenario.traffic.iter().enumerate();
    numbered.map(|(number, traffic)| traffic_spec(scenario, topology, number, traffic)).collect()
}

fn traffic_spec(
    scenario: &Scenario,
    topology: &Topology,
    number: usize,
    traffic: &Traffic,
) -> Result<TrafficSpec, SizesError> {
    let bytes = traffic.bytes.unwrap_or(DEFAULT_BYTES);
    let request = |default| traffic.request.unwrap_or(default);
    let workers = scenario.cluster.workers;
    let (from, to) = (traffic.from.numbers(workers), traffic.to_or_default().numbers(workers));
    let kind = match traffic.kind {
        TrafficKind::Long => Kind::Long { flows: traffic.flows, bytes: traffic.bytes },
        TrafficKind::AllToAll => Kind::AllToAll { bytes },
        TrafficKind::Barrier => Kind::Barrier {
            request: request(Bytes::ZERO),
            bytes,
            pause: traffic.pause,
            spread: traffic.spread,
            rounds: traffic.rounds,
        },
        TrafficKind::Poisson => {
            let sizes = sizes(traffic)?;
            let interval = match traffic.load {
                Some(load) => interval_of_load(scenario, topology, traffic, load, sizes.mean()),
                None => traffic.interval,
            };
            Kind::Poisson { sizes, interval, persistent: traffic.persistent }
        }
        TrafficKind::PartitionAggregate => Kind::PartitionAggregate {
            request: request(DEFAULT_QUERY),
            sizes: sizes(traffic)?,
            fan_out: traffic.fan_out,
            interval: traffic.interval,
            queries: traffic.rounds,
            deadline: traffic.deadline,
        },
        TrafficKind::PingPong => {
            let exchanges = match traffic.largest {
                Some(largest) => netpipe_sizes(traffic.smallest, largest, traffic.perturbation)
                    .into_iter()
                    .map(Exchange::equal)
                    .collect(),
                None => vec![Exchange { request: request(DEFAULT_REQUEST), answer: bytes }],
            };
            Kind::PingPong { exchanges, rounds: traffic.rounds }
        }
        TrafficKind::Stripe | TrafficKind::Mptcp => Kind::Stripe(stripe(scenario, topology, traffic)),
        TrafficKind::Csv => Kind::Flows(flows(traffic)),
        TrafficKind::Coflow => Kind::Coflows(coflows(scenario, topology, traffic)),
    };
    let mut tcp = tcp_config(scenario);
    if let Kind::Stripe(StripeSpec { coupling: Some(_), .. }) = &kind {
        tcp.control = ControlKind::Coupled;
    }
    Ok(TrafficSpec {
        name: traffic.name_or_default(number),
        kind,
        from,
        to,
        start: traffic.start,
        stop: traffic.stop,
        jitter: traffic.jitter,
        tcp,
        after: traffic.after.as_ref().and_then(|after| scenario.traffic_number(after)).map(units::count),
    })
}

/// A byte stream over many connections. What the receiver holds is the same at both ends.
fn stripe(scenario: &Scenario, topology: &Topology, traffic: &Traffic) -> StripeSpec {
    let given = &traffic.stripe;
    let policy = match given.policy {
        StreamPolicy::Polite => Policy::Polite,
        StreamPolicy::Fill => Policy::Fill,
        StreamPolicy::Greedy => Policy::Greedy,
    };
    let mptcp = traffic.kind == TrafficKind::Mptcp;
    let coupling = match given.coupling {
        Some(StreamCoupling::None) => None,
        None => mptcp.then_some(Coupling::Lia),
        Some(StreamCoupling::Lia) => Some(Coupling::Lia),
        Some(StreamCoupling::Olia) => Some(Coupling::Olia),
        Some(StreamCoupling::Balia) => Some(Coupling::Balia),
    };
    StripeSpec {
        bytes: traffic.bytes,
        mptcp,
        coupling,
        number: match given.streams {
            StreamCount::Fixed(count) => StreamNumber::Fixed(count),
            _ if mptcp => {
                StreamNumber::Fixed(units::count(given.paths.len().max(if given.paths.is_empty() { 2 } else { 1 })))
            }
            StreamCount::Auto => StreamNumber::Tuned(policy, given.most),
            StreamCount::Paper => StreamNumber::Paper(given.most.min(MOST_STREAMS)),
        },
        config: stripe::Config {
            scheduler: match given.scheduler {
                StreamScheduler::Earliest => Scheduler::EarliestDelivery,
                StreamScheduler::RoundRobin => Scheduler::RoundRobin,
            },
            segmentation: match given.segment {
                Some(bytes) => Segmentation::Fixed(units::word(bytes.get())),
                None => Segmentation::ByRate,
            },
            credit: given.credit,
            max_credit: given.max_credit,
            peer_credit: given.credit,
            ack_delay: given.ack_delay,
            pin: given.pin,
            copies: given.copies,
            // Nothing tells simulated streams that segments are lost now and then.
            twice: Bytes::ZERO,
        },
        send_buffer: scenario.tcp.send_buffer,
        paths: given.paths.iter().filter_map(|name| topology.find(name)).collect(),
    }
}

fn flows(traffic: &Traffic) -> Vec<FlowSpec> {
    let number = |name: &str| node_number(name).unwrap_or(0);
    let flow = |flow: &scenario::GivenFlow| FlowSpec {
        start: flow.start,
        from: number(&flow.from),
        to: number(&flow.to),
        bytes: flow.bytes,
    };
    traffic.flow.iter().map(flow).collect()
}

fn coflows(scenario: &Scenario, topology: &Topology, traffic: &Traffic) -> Vec<CoflowSpec> {
    let workers = scenario.cluster.workers;
    let of = |(number, given): (usize, &scenario::GivenCoflow)| {
        let receivers = given.to.numbers(workers);
        let sizes = given.bytes.iter().cycle().map(|bytes| bytes.mul_f64(traffic.data_scale));
        let mut coflow = CoflowSpec {
            name: if given.name.is_empty() { (number + 1).to_string() } else { given.name.clone() },
            start: given.start,
            from: given.from.numbers(workers),
            to: receivers.into_iter().zip(sizes).collect(),
            least: Time::ZERO,
        };
        coflow.least = least(topology, &coflow);
        coflow
    };
    traffic.coflow.iter().enumerate().map(of).collect()
}

/// What the busiest link to a node needs for a coflow's payload (Chowdhury, Zhong and Stoica, "Varys", SIGCOMM 2014,
/// section 4.1: the effective bottleneck). Headers, and links between switches, come on top.
fn least(topology: &Topology, coflow: &CoflowSpec) -> Time {
    let mut ends: BTreeMap<(u32, bool), Bytes> = BTreeMap::new();
    for (from, to, bytes) in coflow.flows() {
        for end in [(from, true), (to, false)] {
            let sum = ends.entry(end).or_default();
            *sum = Bytes::new(sum.get().saturating_add(bytes.get()));
        }
    }
    let needs = |((node, sends), bytes): ((u32, bool), Bytes)| {
        let link = topology.uplink(*topology.hosts().get(node as usize)?)?;
        let rate = bps_of_node(topology, if sends { link } else { link.reverse() });
        Some(Time::from_secs_f64(bytes.get() as f64 * 8.0 / rate))
    };
    ends.into_iter().filter_map(needs).max().unwrap_or_default()
}

/// What a link carries per second, in bits: by its bucket if it has one.
fn bps(topology: &Topology, link: LinkId) -> f64 {
    let spec = topology.spec(link);
    spec.shaper.map_or(spec.rate, |shaper| shaper.rate.min(spec.rate)).as_bps() as f64
}

/// The same of a node's link. A bond is as fast as its members together.
fn bps_of_node(topology: &Topology, link: LinkId) -> f64 {
    bps(topology, link) * topology.bond_of(link).map_or(1, |(bond, _)| bond.members.len()) as f64
}

/// How large a traffic's sessions or answers are.
pub(super) fn sizes(traffic: &Traffic) -> Result<Sizes, SizesError> {
    let bytes = traffic.bytes.unwrap_or(DEFAULT_BYTES);
    let given = &traffic.sizes;
    Ok(match given.kind {
        SizeKind::Fixed => Sizes::Fixed(bytes),
        SizeKind::Uniform => {
            let most = given.most.unwrap_or((bytes * 2).saturating_sub(given.least).max(given.least));
            Sizes::Uniform { least: given.least, most }
        }
        SizeKind::Exponential => Sizes::Exponential { mean: bytes },
        SizeKind::Pareto => Sizes::Pareto(Pareto::new(given.shape, bytes, given.most)?),
        SizeKind::WebSearch => Sizes::Empirical(Cdf::web_search()),
        SizeKind::DataMining => Sizes::Empirical(Cdf::data_mining()),
        SizeKind::Cdf => {
            let points = given.point.iter().map(|point| (point.bytes.get() as f64, point.share));
            Sizes::Empirical(Cdf::new(points.collect())?)
        }
    })
}

/// The mean time between sessions of a source, so that all sources together offer a load: payload per second over the
/// rate of a link, or of all receivers' own links together.
fn interval_of_load(scenario: &Scenario, topology: &Topology, traffic: &Traffic, load: f64, mean: f64) -> Time {
    let workers = scenario.cluster.workers;
    let (from, to) = (traffic.from.numbers(workers), traffic.to_or_default().numbers(workers));
    // Who has nobody to send to but itself sends nothing.
    let sources = from.iter().filter(|node| to.iter().any(|to| to != *node)).count();
    let receivers = || {
        let hosts = to.iter().filter_map(|node| topology.hosts().get(*node as usize));
        hosts.filter_map(|host| topology.uplink(*host)).map(|link| bps_of_node(topology, link.reverse())).sum()
    };
    let named = traffic.load_link.as_ref().map(|name| links(topology, name));
    let all: f64 = named.map_or_else(receivers, |links| links.into_iter().map(|link| bps(topology, link)).sum());
    let seconds = mean * 8.0 * sources as f64 / (load * all);
    Time::from_secs_f64(seconds.clamp(1e-9, 86_400.0 * 30.0))
}
