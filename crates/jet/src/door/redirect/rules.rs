//! The kernel's rules for a redirection, as text for nft(8).

use ipnet::IpNet;
use socket2::Socket;

use super::control_group::ControlGroup;
use super::{Redirection, Source, bypass, strict};

/// The mark of the gateway's own connections. The rules leave it alone, or those connections would come back.
pub const EXEMPT: u32 = 0x4a45_0000;

/// Where a redirection leads, and what belongs to it.
#[derive(Clone, Debug)]
pub struct Site {
    /// A number that is unique among the redirections of a network namespace.
    pub instance: u16,
    /// The ports of connections, and of datagrams where they are taken.
    pub tcp: Ports,
    pub udp: Ports,
    pub group: Option<ControlGroup>,
}

/// The ports of sockets, for each address family with redirected destinations.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ports {
    pub v4: Option<u16>,
    pub v6: Option<u16>,
}

impl Ports {
    pub fn of(sockets: &[Socket]) -> Self {
        let addresses = || sockets.iter().filter_map(|socket| socket.local_addr().ok()?.as_socket());
        let port = |v4: bool| addresses().find(|address| address.is_ipv4() == v4).map(|address| address.port());
        Self { v4: port(true), v6: port(false) }
    }
}

impl Site {
    pub fn table(&self) -> String {
        format!("trunkline_jet_{}", self.instance)
    }

    /// The mark of packets to be delivered here although they are for others. Never [`EXEMPT`]: there is no port 0.
    pub fn mark(instance: u16) -> u32 {
        EXEMPT | u32::from(instance)
    }
}

/// The commands that add the table with all rules, in one line and so in one transaction.
///
/// The table is its creator's: the kernel removes it when the process that has added it ends, however it ends.
pub fn commands(redirection: &Redirection, site: &Site) -> String {
    let table = site.table();
    let mut commands = vec![format!("add table inet {table} {{ flags owner; }}")];
    if bypasses(redirection) {
        commands.extend(bypass::sets(&table));
    }
    let mut chain = |name: &str, hook: &str, rules: Vec<String>| {
        commands.push(format!("add chain inet {table} {name} {{ type {hook}; policy accept; }}"));
        commands.extend(rules.into_iter().map(|rule| format!("add rule inet {table} {name} {rule}")));
    };
    match &redirection.from {
        Source::Local | Source::Namespace(_) | Source::ControlGroup(_) | Source::Launched => {
            let who = of_group(site);
            let mut rules = vec![format!("meta mark {EXEMPT} return")];
            rules.extend(left_alone(redirection));
            if bypasses(redirection) {
                rules.extend(bypass::rules());
            }
            rules.extend(
                taken(redirection, site.tcp)
                    .map(|(_, to, port)| format!("{who}meta l4proto tcp {to} redirect to :{port}")),
            );
            chain("output", "nat hook output priority -100", rules);
        }
        Source::Interface(name) => {
            let mut rules = left_alone(redirection);
            rules.extend(
                taken(redirection, site.tcp)
                    .map(|(_, to, port)| format!("iifname \"{name}\" meta l4proto tcp {to} redirect to :{port}")),
            );
            chain("prerouting", "nat hook prerouting priority -100", rules);
            // The door listens beyond loopback here, but only redirected connections may reach it.
            let ports =
                taken(redirection, site.tcp).map(|(_, _, port)| port.to_string()).collect::<Vec<_>>().join(", ");
            let strangers = format!("iifname != \"lo\" tcp dport {{ {ports} }} ct status & dnat == 0 drop");
            chain("input", "filter hook input priority 0", vec![strangers]);
        }
        Source::Transparent(name) => {
            let mark = Site::mark(site.instance);
            let mut rules = left_alone(redirection);
            for (protocol, ports) in [("tcp", site.tcp), ("udp", site.udp)] {
                rules.extend(taken(redirection, ports).map(|(family, to, port)| {
                    let door = if family == "ip" { "127.0.0.1" } else { "[::1]" };
                    format!(
                        "iifname \"{name}\" meta l4proto {protocol} {to} meta mark set {mark} tproxy {family} to \
                         {door}:{port} accept"
                    )
                }));
            }
            chain("prerouting", "filter hook prerouting priority -150", rules);
        }
    }
    if redirection.strict {
        commands.extend(refusals(redirection, site));
    }
    commands.join("; ")
}

/// The commands for a table that refuses what is to be redirected and was not: the door's rules have been before, and
/// what they have redirected has another destination by now. The table replaces the one that a killed gateway has left.
///
/// Of TCP only SYNs are refused: nothing can begin, and connections that are older than the door go on.
fn refusals(redirection: &Redirection, site: &Site) -> Vec<String> {
    let (hook, who) = match &redirection.from {
        Source::Interface(name) | Source::Transparent(name) => ("forward", format!("iifname \"{name}\" ")),
        _ => ("output", of_group(site)),
    };
    let mut rules = vec![format!("meta mark {EXEMPT} return")];
    rules.extend(left_alone(redirection));
    for family in ["ip", "ip6"] {
        let Some(to) = destinations(redirection, family) else { continue };
        rules.push(format!("{who}tcp flags & (syn | ack) == syn {to} reject with tcp reset"));
        if takes_datagrams(redirection) {
            rules.push(format!("{who}meta l4proto udp {to} reject"));
        }
    }
    let table = strict::table_name(redirection);
    let begin = [
        format!("add table inet {table}"),
        format!("delete table inet {table}"),
        format!("add table inet {table}"),
        format!("add chain inet {table} refuse {{ type filter hook {hook} priority 0; policy accept; }}"),
    ];
    begin.into_iter().chain(rules.into_iter().map(|rule| format!("add rule inet {table} refuse {rule}"))).collect()
}

/// Whether programs may reach servers without the gateway. They have to be in its network namespace, where it has seen
/// that the servers answer; and `strict` says that nothing goes directly.
pub fn bypasses(redirection: &Redirection) -> bool {
    let here = matches!(redirection.from, Source::Local | Source::Launched | Source::ControlGroup(_));
    redirection.bypass.is_some() && here && !redirection.strict
}

/// Whether a redirection takes datagrams too.
pub fn takes_datagrams(redirection: &Redirection) -> bool {
    redirection.flows.is_some() && matches!(redirection.from, Source::Transparent(_))
}

/// The match of the programs of a control group, if the redirection is for one.
fn of_group(site: &Site) -> String {
    let group = |group: &ControlGroup| format!("socket cgroupv2 level {} \"{}\" ", group.level, group.path);
    site.group.as_ref().map(group).unwrap_or_default()
}

/// The match of the redirected destinations of an address family, if there are any.
fn destinations(redirection: &Redirection, name: &str) -> Option<String> {
    let networks = redirection.take.iter().filter(|network| family(network) == name);
    let networks: Vec<_> = networks.map(ToString::to_string).collect();
    (!networks.is_empty()).then(|| format!("{name} daddr {{ {} }}", networks.join(", ")))
}

/// Networks that are never redirected: this host's own addresses, and what the user has excluded.
fn left_alone(redirection: &Redirection) -> Vec<String> {
    let mut rules = vec!["fib daddr type { local, broadcast, multicast } return".to_owned()];
    rules.extend(redirection.direct.iter().map(|network| format!("{} daddr {network} return", family(network))));
    rules
}

/// For each address family: its name, the match of the redirected destinations, and the port to redirect to.
fn taken(redirection: &Redirection, ports: Ports) -> impl Iterator<Item = (&'static str, String, u16)> {
    [("ip", ports.v4), ("ip6", ports.v6)]
        .into_iter()
        .filter_map(|(name, port)| Some((name, destinations(redirection, name)?, port?)))
}

/// nft's name for the family of a network.
fn family(network: &IpNet) -> &'static str {
    if network.addr().is_ipv4() { "ip" } else { "ip6" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(redirection: &str, udp: Ports, group: Option<ControlGroup>) -> String {
        let redirection = Redirection { direct: vec!["10.9.0.0/16".parse().unwrap()], ..redirection.parse().unwrap() };
        let tcp = Ports { v4: Some(4001), v6: Some(4002) };
        commands(&redirection, &Site { instance: 4001, tcp, udp, group }).replace("; add ", ";\nadd ")
    }

    #[test]
    fn own_programs_are_redirected_but_not_the_gateway() {
        let expected = "\
add table inet trunkline_jet_4001 { flags owner; };
add chain inet trunkline_jet_4001 output { type nat hook output priority -100; policy accept; };
add rule inet trunkline_jet_4001 output meta mark 1246035968 return;
add rule inet trunkline_jet_4001 output fib daddr type { local, broadcast, multicast } return;
add rule inet trunkline_jet_4001 output ip daddr 10.9.0.0/16 return;
add rule inet trunkline_jet_4001 output meta l4proto tcp ip daddr { 10.0.0.0/8, 192.0.2.1/32 } redirect to :4001;
add rule inet trunkline_jet_4001 output meta l4proto tcp ip6 daddr { 2001:db8::/32 } redirect to :4002";
        assert_eq!(lines("local=10.0.0.0/8,192.0.2.1,2001:db8::/32", Ports::default(), None), expected);
        let group = ControlGroup { path: "unified/jobs".to_owned(), level: 1 };
        let in_group =
            expected.replace("output meta l4proto", "output socket cgroupv2 level 1 \"unified/jobs\" meta l4proto");
        assert_eq!(lines("cgroup:/jobs=10.0.0.0/8,192.0.2.1,2001:db8::/32", Ports::default(), Some(group)), in_group);
    }

    /// Where the gateway's own connections show what programs reach, and only there.
    #[test]
    fn servers_that_need_no_gateway_are_left_alone() {
        let site = Site { instance: 4001, tcp: Ports { v4: Some(4001), v6: None }, udp: Ports::default(), group: None };
        let leaves = |text: &str, strict| {
            let bypass = Some(bypass::Bypass(tokio::sync::watch::channel(std::sync::Arc::default()).1));
            let redirection = Redirection { bypass, strict, ..text.parse().unwrap() };
            let rules = commands(&redirection, &site);
            let (set, rule) = (rules.contains("add set inet"), rules.contains("ip daddr . tcp dport @near4 return; "));
            assert_eq!(set, rule);
            rule && rules.find("@near4 return") < rules.find("redirect to")
        };
        assert!(leaves("local=10.0.0.0/8", false) && leaves("run=10.0.0.0/8", false));
        assert!(!leaves("local=10.0.0.0/8", true));
        for elsewhere in ["netns:web=10.0.0.0/8", "interface:lan0=10.0.0.0/8", "tproxy:lan0=10.0.0.0/8"] {
            assert!(!leaves(elsewhere, false), "{elsewhere}");
        }
    }

    #[test]
    fn a_routers_door_is_closed_to_strangers() {
        let rules = lines("interface:lan0=any", Ports::default(), None);
        assert!(
            rules.contains("iifname \"lan0\" meta l4proto tcp ip daddr { 0.0.0.0/0 } redirect to :4001"),
            "{rules}"
        );
        assert!(
            rules.ends_with("input iifname != \"lo\" tcp dport { 4001, 4002 } ct status & dnat == 0 drop"),
            "{rules}"
        );
    }

    /// SYNs alone, so that what is older than the door goes on. The door's redirected SYNs have a local destination.
    #[test]
    fn a_strict_door_refuses_what_is_not_redirected() {
        let strict = |text: &str| {
            let redirection = Redirection { strict: true, ..text.parse().unwrap() };
            let tcp = Ports { v4: Some(4001), v6: None };
            let site = Site { instance: 4001, tcp, udp: Ports::default(), group: None };
            let commands = commands(&redirection, &site);
            let table = strict::table_name(&redirection);
            let at = commands.find(&format!("add table inet {table}")).unwrap();
            commands[at..].replace(&table, "T").replace("; add ", ";\nadd ")
        };
        let expected = "\
add table inet T; delete table inet T;
add table inet T;
add chain inet T refuse { type filter hook output priority 0; policy accept; };
add rule inet T refuse meta mark 1246035968 return;
add rule inet T refuse fib daddr type { local, broadcast, multicast } return;
add rule inet T refuse tcp flags & (syn | ack) == syn ip daddr { 10.0.0.0/8 } reject with tcp reset;
add rule inet T refuse tcp flags & (syn | ack) == syn ip6 daddr { 2001:db8::/32 } reject with tcp reset";
        // Also where the host has no IPv6 to listen on.
        assert_eq!(strict("local=10.0.0.0/8,2001:db8::/32"), expected);
        let forwarded = "refuse iifname \"lan0\" tcp flags & (syn | ack) == syn ip daddr { 10.0.0.0/8 } reject with";
        assert!(strict("interface:lan0=10.0.0.0/8").contains(forwarded));
        assert!(strict("tproxy:lan0=10.0.0.0/8").contains("type filter hook forward priority 0;"));
    }

    #[test]
    fn transparent_packets_are_marked_for_local_delivery() {
        let connections = "iifname \"lan0\" meta l4proto tcp ip6 daddr { 2001:db8::/32 } meta mark set 1246039969 \
                           tproxy ip6 to [::1]:4002 accept";
        let rules = lines("tproxy:lan0=2001:db8::/32", Ports::default(), None);
        assert!(rules.ends_with(connections), "{rules}");
        let datagrams = connections.replace("l4proto tcp", "l4proto udp").replace("4002", "4003");
        let rules = lines("tproxy:lan0=2001:db8::/32", Ports { v4: None, v6: Some(4003) }, None);
        let both = format!("{connections};\nadd rule inet trunkline_jet_4001 prerouting {datagrams}");
        assert!(rules.ends_with(&both), "{rules}");
    }
}
