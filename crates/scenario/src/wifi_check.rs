//! What no single key of a wireless scenario shows.

use super::check::Check;
use super::network::{node_name, node_number};
use super::{
    ChannelWidth, Driver, FadingKind, MobilityKind, Propagation, Radio, RateControlKind, RoutingKind, TopologyKind,
    Wifi, WifiMode, WifiQueue, WifiQueueKind, WifiStandard,
};
use units::Distance;

impl Wifi {
    /// All transmit queues with their paths.
    pub(super) fn queues(&self) -> impl Iterator<Item = (String, &WifiQueue)> {
        let own = [("network.wifi.queue".to_owned(), &self.queue)];
        let points = self.access_point.iter().enumerate();
        let points = points.map(|(i, point)| (format!("network.wifi.access-point.{i}.queue"), point.queue.as_ref()));
        let nodes = self.node.iter().enumerate();
        let nodes = nodes.map(|(i, node)| (format!("network.wifi.node.{i}.queue"), node.queue.as_ref()));
        own.into_iter().chain(points.chain(nodes).filter_map(|(path, queue)| Some((path, queue?))))
    }
}

impl WifiQueue {
    /// Whether it marks packets that can be.
    pub(super) fn marks(&self) -> bool {
        self.kind == WifiQueueKind::FqCodel || self.mark_above.is_some()
    }
}

impl Check<'_> {
    pub(super) fn wireless(&mut self) {
        let scenario = self.scenario;
        let network = &scenario.network;
        if network.topology != TopologyKind::Wifi {
            let word = network.topology.word();
            for (path, given) in [("network.wifi", network.wifi.is_some()), ("mobility", scenario.mobility.is_some())] {
                if given {
                    self.says(path, format!("topology {word} has wires"), "set `network.topology = \"wifi\"`");
                }
            }
            return;
        }
        let wires = [
            ("network.bond", network.bond.is_empty()),
            ("network.shape", network.shape.is_empty()),
            ("network.port", network.port.is_empty()),
            ("network.priority", network.priority.is_empty()),
            ("network.shared-buffer", network.shared_buffer.is_none()),
        ];
        for (path, absent) in wires {
            if !absent {
                self.says(path, "topology wifi has no wires between nodes", "leave it out, or take another topology");
            }
        }
        if scenario.cluster.host.is_some() {
            self.says("cluster.host", "nodes on the air are machines of their own", "leave it out");
        }
        if let Some(i) = scenario.faults.iter().position(|fault| fault.link.is_some()) {
            let help = "a fault of a `node`, or `[mobility]`: nodes that move lose each other";
            self.says(&format!("faults.{i}.link"), "topology wifi has no links that could fail", help);
        }
        if let Some(wifi) = &network.wifi {
            self.radio(wifi);
            self.stations(wifi);
        }
        self.positions();
    }

    fn radio(&mut self, wifi: &Wifi) {
        let ht = matches!(wifi.standard, WifiStandard::N | WifiStandard::N24);
        let only_ht = [
            ("streams", wifi.streams > 1),
            ("width", wifi.width == ChannelWidth::Mhz40),
            ("short-guard", wifi.short_guard),
            ("ldpc", wifi.ldpc),
        ];
        for (key, given) in only_ht {
            if given && !ht {
                let message = format!("802.11{} does not have it", wifi.standard.word());
                self.says(&format!("network.wifi.{key}"), message, "`standard = \"n\"`");
            }
        }
        if wifi.short_preamble && wifi.standard != WifiStandard::B {
            self.says("network.wifi.short-preamble", "only 802.11b has two preambles", "leave it out");
        }
        let chosen = matches!(wifi.rate_control, RateControlKind::Minstrel | RateControlKind::Ideal);
        if wifi.rate.is_some() && chosen {
            let word = wifi.rate_control.word();
            let help = "`rate-control = \"fixed\"`, or leave `rate` out";
            self.says("network.wifi.rate", format!("rate control {word} chooses the rate itself"), help);
        }
        let propagation = &wifi.propagation;
        let fading = propagation.fading;
        if !matches!(fading, FadingKind::Nakagami | FadingKind::Correlated) && propagation.m != 1.0 {
            self.says("network.wifi.propagation.m", "only Nakagami fading has it", "`fading = \"nakagami\"`");
        }
        if fading == FadingKind::Correlated && propagation.m.fract() != 0.0 {
            let message = "correlated fading is a sum of so many independent ones";
            self.says("network.wifi.propagation.m", message, "a whole number, 1 for Rayleigh");
        }
        // A resolved text states every key: its default contradicts nothing.
        if fading != FadingKind::Correlated && propagation.around != Propagation::default().around {
            let message = "only correlated fading has it";
            self.says("network.wifi.propagation.around", message, "`fading = \"correlated\"`");
        }
        if propagation.shadowing.is_some_and(|sigma| sigma.0 < 0.0) {
            self.says("network.wifi.propagation.shadowing", "a standard deviation is not negative", "\"4 dB\", say");
        }
        if wifi.range.is_some() && wifi.radio.sensitivity != Radio::default().sensitivity {
            let message = "`range` sets the sensitivity";
            self.says("network.wifi.radio.sensitivity", message, "one of the two");
        }
    }

    fn stations(&mut self, wifi: &Wifi) {
        let only = |given: bool, key: &'static str, mode: WifiMode| (given && wifi.mode != mode).then_some((key, mode));
        let misplaced = [
            only(!wifi.access_point.is_empty(), "access-point", WifiMode::Infrastructure),
            only(wifi.power_save.is_some(), "power-save", WifiMode::Infrastructure),
            only(wifi.routing != RoutingKind::None, "routing", WifiMode::AdHoc),
        ];
        for (key, mode) in misplaced.into_iter().flatten() {
            let message = format!("it is for mode {}", mode.word());
            self.says(
                &format!("network.wifi.{key}"),
                message,
                format!("`mode = \"{}\"`, or leave it out", mode.word()),
            );
        }
        for (i, point) in wifi.access_point.iter().enumerate() {
            self.place(&format!("network.wifi.access-point.{i}.at"), &point.at);
        }
        self.chip("network.wifi.driver", wifi.driver.as_ref());
        for (i, node) in wifi.node.iter().enumerate() {
            self.nodes(&format!("network.wifi.node.{i}.nodes"), &node.nodes);
            self.chip(&format!("network.wifi.node.{i}.driver"), node.driver.as_ref());
        }
        self.fair_behind_drivers(wifi);
        for (path, queue) in wifi.queues() {
            if queue.kind == WifiQueueKind::FqCodel && queue.mark_above.is_some() {
                self.says(
                    &format!("{path}.mark-above"),
                    "fq-codel marks by waiting time",
                    "leave it out, or `kind = \"fifo\"`",
                );
            }
        }
    }

    fn chip(&mut self, path: &str, driver: Option<&Driver>) {
        if driver.is_some_and(|driver| driver.chip_bytes.is_some() && driver.chip_time.is_some()) {
            let message = "what the chip is given is limited in bytes or in time";
            self.says(&format!("{path}.chip-time"), message, "one of `chip-bytes` and `chip-time`");
        }
    }

    /// A driver has its own transmit queue in place of the MAC's, and that is first in, first out.
    fn fair_behind_drivers(&mut self, wifi: &Wifi) {
        let workers = self.scenario.cluster.workers;
        let of = |node: u32| wifi.node.iter().rev().filter(move |part| part.nodes.contains(node));
        let fair = (0..=workers).find(|node| {
            let driver = of(*node).any(|part| part.driver.is_some()) || wifi.driver.is_some();
            let queue = of(*node).find_map(|part| part.queue.as_ref()).unwrap_or(&wifi.queue);
            driver && queue.kind == WifiQueueKind::FqCodel
        });
        let Some(node) = fair else { return };
        let part = wifi.node.iter().rposition(|part| part.queue.is_some() && part.nodes.contains(node));
        let path =
            part.map_or_else(|| "network.wifi.queue.kind".to_owned(), |i| format!("network.wifi.node.{i}.queue.kind"));
        let message = format!("the transmit queue of {}'s driver is first in, first out", node_name(node));
        self.says(&path, message, "`kind = \"fifo\"`, or no `driver`");
    }

    fn positions(&mut self) {
        let Some(mobility) = &self.scenario.mobility else { return };
        if mobility.area.len() != 2 || mobility.area.contains(&Distance::default()) {
            self.says("mobility.area", "this is not a width and a height", "`area = [\"100 m\", \"100 m\"]`");
        }
        if !matches!(mobility.speed.as_slice(), [least, greatest] if least <= greatest) {
            let message = "this is not a least and a greatest speed";
            self.says("mobility.speed", message, "`speed = [\"1 m/s\", \"2 m/s\"]`");
        }
        for (i, place) in mobility.node.iter().enumerate() {
            self.known_node(&format!("mobility.node.{i}.node"), &place.node);
            self.place(&format!("mobility.node.{i}.at"), &place.at);
        }
        let (model, file) = (mobility.model, &mobility.file);
        if model == MobilityKind::Trace && file.is_empty() {
            self.says("mobility.model", "no file says how nodes move", "`file = \"moves.tcl\"`");
        }
        if model != MobilityKind::Trace && !file.is_empty() {
            self.says("mobility.file", format!("model {} needs no file", model.word()), "`model = \"trace\"`");
        }
    }

    fn known_node(&mut self, path: &str, name: &str) {
        let workers = self.scenario.cluster.workers;
        if node_number(name).is_none_or(|number| number > workers) {
            let help = format!("master, worker-1 to {}", node_name(workers));
            self.says(path, format!("there is no node `{name}`"), help);
        }
    }

    /// A place has two coordinates and lies in the area.
    fn place(&mut self, path: &str, at: &[Distance]) {
        let Some(mobility) = &self.scenario.mobility else { return };
        let &[x, y] = at else {
            return self.says(path, "this is not a place", "x and y: `at = [\"10 m\", \"20 m\"]`");
        };
        if let &[width, height] = mobility.area.as_slice()
            && (x > width || y > height)
        {
            let message = format!("({x}, {y}) is outside the area of {width} by {height}");
            self.says(path, message, "a place inside, or a larger `mobility.area`");
        }
    }
}
