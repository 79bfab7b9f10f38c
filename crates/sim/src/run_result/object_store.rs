//! The object store's and its clients' side of a run.

use crate::cluster::Driver;
use hadoop::object_store::Method;
use results::{Balance, RunResult, StoreUse};
use scenario::Scenario;
use transport::Interface;

/// Fills in what became of requests, where the scenario has a store, and its conservation law.
pub(super) fn fill(scenario: &Scenario, driver: &Driver, interfaces: &[Interface], result: &mut RunResult) {
    if scenario.object_store.is_none() {
        return;
    }
    let store = driver.cluster.object_store();
    let (done, (moving, _)) = (store.counters(), store.under_way());
    // Hosts of the topology are the nodes, and a store that is none stands behind them.
    let node = store.config().node.0;
    let interface = interfaces.get(node as usize).copied().unwrap_or_default();
    result.object_store = Some(StoreUse {
        node,
        interface_received: interface.received,
        interface_sent: interface.sent,
        requests: Method::ALL.iter().map(|method| (method.name(), done.requests[*method as usize])).collect(),
        throttled: done.throttled,
        retries: done.retries,
        given_up: done.given_up,
        connections: done.connections,
        read: done.read,
        in_vain: done.discarded + done.aborted,
        stored: done.stored,
        copied: done.copied,
        first_bytes: done.first_bytes,
        waited_for_first_byte: done.waited_for_first_byte,
        longest_first_byte: done.longest_first_byte,
        waited_for_connection: done.waited_for_connection,
        backed_off: done.backed_off,
        ..StoreUse::default()
    });
    let accounted = [
        ("received", done.received.get()),
        ("lost with connections that were given up", done.aborted.get()),
        ("in flight", moving.get()),
    ];
    let bodies = Balance {
        what: "bodies of the object store's answers, bytes".to_owned(),
        offered: done.sent.get(),
        accounted: accounted.map(|(name, bytes)| (name.to_owned(), bytes)).to_vec(),
    };
    let ends = store.ends();
    let requests = Balance {
        what: "requests to the object store".to_owned(),
        offered: done.requests.iter().sum(),
        accounted: ends.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect(),
    };
    result.ledger.extend([bodies, requests]);
}
