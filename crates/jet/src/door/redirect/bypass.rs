//! Servers to which the kernel does not redirect at present, because programs reach them as well without the gateway.
//!
//! They stand in two sets of the door's table, by address and port. The set changes what becomes of new connections;
//! those that have begun stay what they are.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use tokio::sync::watch;
use tokio::task::spawn_blocking;

use super::table::Orders;
use crate::direct::{MOST_SERVERS, Reached};

/// The families of addresses, with the names of their sets.
const SETS: [(&str, &str); 2] = [("ip", "near4"), ("ip6", "near6")];
/// Servers in one command: a line that every pipe takes.
const AT_ONCE: usize = 64;

/// The servers that need no gateway, as that changes.
#[derive(Clone, Debug)]
pub struct Bypass(pub(crate) watch::Receiver<Reached>);

/// The commands that add the sets to a table.
pub(super) fn sets(table: &str) -> impl Iterator<Item = String> {
    SETS.into_iter().map(move |(family, set)| {
        let address = if family == "ip" { "ipv4_addr" } else { "ipv6_addr" };
        format!("add set inet {table} {set} {{ type {address} . inet_service; size {MOST_SERVERS}; }}")
    })
}

/// The rules that leave what is in the sets alone.
pub(super) fn rules() -> impl Iterator<Item = String> {
    SETS.into_iter().map(|(family, set)| format!("{family} daddr . tcp dport @{set} return"))
}

impl Bypass {
    /// Keeps the sets of a table as the gateway says, until either is gone.
    pub(super) async fn keep(mut self, orders: Orders) {
        let mut there = Reached::default();
        loop {
            let wanted = self.0.borrow_and_update().clone();
            let commands = changes(&orders.table, &there, &wanted);
            let orders = orders.clone();
            let given = spawn_blocking(move || commands.iter().try_for_each(|commands| orders.give(commands)));
            if !matches!(given.await, Ok(Ok(()))) {
                return;
            }
            there = wanted;
            if self.0.changed().await.is_err() {
                return;
            }
        }
    }
}

/// The commands that lead from one set of servers to another.
fn changes(table: &str, there: &BTreeSet<SocketAddr>, wanted: &BTreeSet<SocketAddr>) -> Vec<String> {
    let (gone, new): (Vec<_>, Vec<_>) = (there.difference(wanted).collect(), wanted.difference(there).collect());
    let mut commands = Vec::new();
    for (verb, servers) in [("delete", gone), ("add", new)] {
        for (family, set) in SETS {
            let of_family: Vec<_> = servers.iter().filter(|server| server.is_ipv4() == (family == "ip")).collect();
            commands.extend(of_family.chunks(AT_ONCE).map(|servers| {
                let elements: Vec<_> =
                    servers.iter().map(|server| format!("{} . {}", server.ip(), server.port())).collect();
                format!("{verb} element inet {table} {set} {{ {} }}", elements.join(", "))
            }));
        }
    }
    commands
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_follows_what_is_reached() {
        let set = |servers: &[&str]| servers.iter().map(|server| server.parse().unwrap()).collect::<BTreeSet<_>>();
        let (one, two) = (set(&["10.0.0.1:80", "10.0.0.2:80"]), set(&["10.0.0.2:80", "[2001:db8::1]:443"]));
        let expected =
            ["delete element inet t near4 { 10.0.0.1 . 80 }", "add element inet t near6 { 2001:db8::1 . 443 }"];
        assert_eq!(changes("t", &one, &two), expected);
        assert!(changes("t", &two, &two).is_empty());
        let many: BTreeSet<SocketAddr> = (1..=130).map(|port| ([10, 0, 0, 1], port).into()).collect();
        assert_eq!(changes("t", &BTreeSet::new(), &many).len(), 3, "each line is short");
    }
}
