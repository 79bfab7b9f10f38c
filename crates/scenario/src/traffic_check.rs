//! What no single key of a traffic shows.

use super::check::{Check, MOST};
use super::network::{node_name, node_number};
use super::{SizeKind, StreamCount, Stripe, Traffic, TrafficKind};
use units::{Bytes, Quantity};

impl Check<'_> {
    /// Says what is wrong with one traffic.
    pub(super) fn traffic(&mut self, position: usize, traffic: &Traffic) {
        let path = &format!("traffic.{position}");
        self.nodes(&format!("{path}.from"), &traffic.from);
        if let Some(to) = &traffic.to {
            self.nodes(&format!("{path}.to"), to);
        }
        let workers = self.scenario.cluster.workers;
        let from = traffic.from.numbers(workers);
        let to = traffic.to_or_default().numbers(workers);
        let pairs = from.len() as u64 * to.len() as u64;
        let flows = match traffic.kind {
            TrafficKind::Stripe | TrafficKind::Mptcp => {
                let pairs = if from.len() == to.len() { from.len() as u64 } else { pairs };
                let streams = match traffic.stripe.streams {
                    StreamCount::Fixed(count) => count,
                    StreamCount::Auto | StreamCount::Paper => traffic.stripe.most,
                };
                pairs * u64::from(streams)
            }
            TrafficKind::Long if from.len() == to.len() => from.len() as u64 * u64::from(traffic.flows),
            TrafficKind::Long => pairs * u64::from(traffic.flows),
            TrafficKind::AllToAll | TrafficKind::PartitionAggregate => pairs,
            TrafficKind::Poisson if traffic.persistent => pairs,
            _ => 0,
        };
        if flows > MOST {
            self.says(path, format!("these are {flows} flows"), format!("at most {MOST}"));
        }
        match traffic.kind {
            TrafficKind::Barrier if to.len() != 1 => {
                let message = format!("{} nodes receive", to.len());
                self.says(&format!("{path}.to"), message, "barrier traffic has one receiver");
            }
            TrafficKind::PingPong if traffic.largest.is_some_and(|largest| largest < traffic.smallest) => {
                let message = format!("no size lies from {} on", traffic.smallest.exact());
                self.says(&format!("{path}.largest"), message, "at least `smallest`");
            }
            TrafficKind::PingPong if traffic.largest.is_none() && traffic.request == Some(Bytes::ZERO) => {
                self.says(&format!("{path}.request"), "a request of nothing is never sent", "at least 1 B");
            }
            TrafficKind::Csv if traffic.file.is_empty() && traffic.flow.is_empty() => {
                self.says(path, "csv traffic has no `file`", "the name of a file of flows, or [[traffic.flow]]");
            }
            TrafficKind::Csv => {
                for (i, flow) in traffic.flow.iter().enumerate() {
                    for (key, name) in [("from", &flow.from), ("to", &flow.to)] {
                        if node_number(name).is_none_or(|number| number > workers) {
                            let path = format!("{path}.flow.{i}.{key}");
                            let help = format!("master, or worker-1 to worker-{workers}");
                            self.says(&path, format!("there is no node `{name}`"), help);
                        }
                    }
                }
            }
            TrafficKind::Coflow => self.coflows(path, traffic),
            TrafficKind::PartitionAggregate if traffic.request == Some(Bytes::ZERO) => {
                self.says(&format!("{path}.request"), "a request of nothing is never sent", "at least 1 B");
            }
            _ if !from.is_empty() && from == to && from.len() == 1 => {
                self.says(path, format!("{} would send to itself", node_name(from[0])), "another `to`");
            }
            _ => {}
        }
        if let Some(stop) = traffic.stop.filter(|stop| *stop <= traffic.start) {
            let message = format!("it stops at {}, before it starts at {}", stop.exact(), traffic.start.exact());
            self.says(&format!("{path}.stop"), message, "a later `stop`");
        }
        self.sizes(path, traffic);
        self.stripe(path, traffic);
        self.load(path, traffic);
        self.after(path, position, traffic);
    }

    fn coflows(&mut self, path: &str, traffic: &Traffic) {
        if traffic.coflow.is_empty() {
            self.says(path, "coflow traffic has no `coflow`", "[[traffic.coflow]] with `from`, `to` and `bytes`");
        }
        let workers = self.scenario.cluster.workers;
        for (i, coflow) in traffic.coflow.iter().enumerate() {
            let path = format!("{path}.coflow.{i}");
            self.nodes(&format!("{path}.from"), &coflow.from);
            self.nodes(&format!("{path}.to"), &coflow.to);
            let (from, to) = (coflow.from.numbers(workers).len(), coflow.to.numbers(workers).len());
            if coflow.bytes.len() != 1 && coflow.bytes.len() != to {
                let message = format!("{} sizes for {to} receivers", coflow.bytes.len());
                self.says(&format!("{path}.bytes"), message, "one for each node of `to`, or one for all");
            }
            if from as u64 * to as u64 > MOST {
                self.says(&path, format!("these are {} flows", from as u64 * to as u64), format!("at most {MOST}"));
            }
        }
    }

    fn stripe(&mut self, path: &str, traffic: &Traffic) {
        let stripe = &traffic.stripe;
        let path = format!("{path}.stripe");
        if !matches!(traffic.kind, TrafficKind::Stripe | TrafficKind::Mptcp) {
            if *stripe != Stripe::default() {
                let message = format!("{} traffic has no `stripe`", traffic.kind.word());
                self.says(&path, message, "kinds stripe and mptcp have");
            }
            return;
        }
        if traffic.kind == TrafficKind::Mptcp && stripe.streams == StreamCount::Paper {
            self.says(&format!("{path}.streams"), "the paper's optimizer is not MPTCP's", "a number, or `auto`");
        }
        if stripe.max_credit < stripe.credit {
            let message = format!("it is less than `credit`, {}", stripe.credit.exact());
            self.says(&format!("{path}.max-credit"), message, "at least `credit`");
        }
    }

    fn sizes(&mut self, path: &str, traffic: &Traffic) {
        let sizes = &traffic.sizes;
        let used = matches!(traffic.kind, TrafficKind::Poisson | TrafficKind::PartitionAggregate);
        if !used && sizes.kind != SizeKind::Fixed {
            let message = format!("{} traffic sends `bytes`", traffic.kind.word());
            self.says(&format!("{path}.sizes"), message, "kinds poisson and partition-aggregate have `sizes`");
        }
        match sizes.kind {
            SizeKind::Uniform if sizes.most.is_some_and(|most| most < sizes.least) => {
                let message = format!("no size lies from {} on", sizes.least.exact());
                self.says(&format!("{path}.sizes.most"), message, "at least `least`");
            }
            SizeKind::Cdf if sizes.file.is_empty() && sizes.point.is_empty() => {
                self.says(
                    &format!("{path}.sizes"),
                    "it has no `file`",
                    "the name of a file, or [[traffic.sizes.point]]",
                );
            }
            _ => {}
        }
    }

    fn load(&mut self, path: &str, traffic: &Traffic) {
        // A resolved text states every key: its default contradicts nothing.
        if traffic.load.is_some() && traffic.interval != Traffic::default().interval {
            self.says(&format!("{path}.load"), "`interval` says already how often sessions begin", "one of the two");
        }
        if traffic.load.is_some() && traffic.kind != TrafficKind::Poisson {
            let message = format!("{} traffic has no `load`", traffic.kind.word());
            self.says(&format!("{path}.load"), message, "kind poisson has");
        }
        if traffic.load_link.is_some() && traffic.load.is_none() {
            self.says(&format!("{path}.load-link"), "it does not say which load", "`load = 0.6`, say");
        }
    }

    fn after(&mut self, path: &str, position: usize, traffic: &Traffic) {
        let Some(name) = &traffic.after else { return };
        let path = format!("{path}.after");
        let all = || self.scenario.traffic.iter().enumerate();
        let Some(number) = self.scenario.traffic_number(name) else {
            let names: Vec<_> = all().map(|(number, traffic)| traffic.name_or_default(number)).collect();
            let near = units::nearest(name, names.iter().map(String::as_str));
            let help = near.map_or_else(|| names.join(", "), |near| format!("did you mean `{near}`?"));
            self.says(&path, format!("there is no traffic `{name}`"), help);
            return;
        };
        if !self.scenario.traffic[number].has_end() {
            self.says(&path, format!("traffic `{name}` never ends"), "give it `bytes` (long) or `stop` (poisson)");
            return;
        }
        // As many steps as there are traffics lead to one that waits for no other, or in a circle.
        let mut at = Some(number);
        for _ in all() {
            at = at.and_then(|at| self.scenario.traffic_number(self.scenario.traffic[at].after.as_ref()?));
        }
        if at.is_some() || number == position {
            self.says(&path, format!("it waits for `{name}`, and that for this one"), "one that begins by itself");
        }
    }
}
