//! `trunkline jet gateway`.

use super::daemon::{Daemon, inherited};
use super::doors::DoorArgs;
use super::options::Common;
use super::{keys_folder, runtime};
use crate::failure::Failure;
use crate::number::whole;
use jet::Via;
use jet::allow::Rule;
use jet::door::Door;
use jet::door::redirect::note_left_behind;
use jet::keys::{Identity, Peers};
use jet::log::Log;
use jet::near::{Near, NearOptions};
use jet::options::Options;
use jet::trust;
use serde_json::json;
use std::os::fd::AsFd;
use std::sync::Arc;
use tokio::task::JoinSet;

/// The far gateway's port where none is said.
const PORT: u16 = 7608;

#[derive(Debug, clap::Args)]
pub struct Gateway {
    /// The far gateway; several times if it can be reached at several hosts' addresses at once
    #[arg(long, value_name = "HOST[:PORT]", required = true, value_parser = to)]
    pub to: Vec<String>,
    /// A local address or interface from which streams leave; several times for several paths
    #[arg(long, value_name = "ADDRESS|INTERFACE")]
    pub via: Vec<Via>,
    /// Where connections may go directly and in the clear, past the far gateway, while that is at most 1 ms away and
    /// streams gain nothing: ADDRESS:PORTS or NETWORK/BITS:PORTS; several times for more
    #[arg(long, value_name = "RULE", conflicts_with = "via")]
    pub direct_if_near: Vec<Rule>,
    /// Spread streams over so many members of a bond with the hash layer3+4 that this host does not show, as the host's
    /// of a container [default: what the bond here has]
    #[arg(long, value_name = "N", value_parser = whole::<u32>(2..=64))]
    pub members: Option<u32>,
    #[command(flatten)]
    pub doors: DoorArgs,
    #[command(flatten)]
    pub common: Common,
}

fn to(text: &str) -> Result<String, String> {
    if text.is_empty() || text.contains(char::is_whitespace) {
        return Err("a host, or a host and a port, as far.example:7608".to_owned());
    }
    // An IPv6 address has colons of its own.
    match text.parse::<std::net::IpAddr>() {
        Ok(std::net::IpAddr::V6(address)) => return Ok(format!("[{address}]:{PORT}")),
        Ok(address) => return Ok(format!("{address}:{PORT}")),
        Err(_) => {}
    }
    match text.rsplit_once(':') {
        Some((host, port)) if !host.is_empty() && port.parse::<u16>().is_ok_and(|port| port > 0) => Ok(text.to_owned()),
        Some(_) => Err("the port is a number from 1 to 65535, an IPv6 address before it in brackets".to_owned()),
        None => Ok(format!("{text}:{PORT}")),
    }
}

/// Keeps a session until it is told to go.
pub fn gateway(gateway: &Gateway) -> Result<(), Failure> {
    let folder = keys_folder(gateway.common.keys.as_ref())?;
    let told = NearOptions {
        identity: Identity::load_or_create(&folder)?,
        peers: Peers::load(&folder)?,
        to: gateway.to.clone(),
        via: gateway.via.clone(),
        direct: gateway.direct_if_near.clone(),
        options: Options { members: gateway.members, ..gateway.common.options()? },
    };
    let inherited = inherited()?;
    runtime()?.block_on(async {
        let own = told.identity.fingerprint();
        let log = Log::explaining(gateway.common.explain);
        let mut daemon = Daemon::new(&log)?;
        let near = Arc::new(Near::start(told, log.clone()).map_err(|error| Failure::Input(error.to_string()))?);
        let doors = gateway.doors.open(&near, &log, &inherited).await?;
        if !gateway.doors.redirect.is_empty() {
            note_left_behind(&log);
        }
        let trusting = Arc::clone(&near);
        let mut following = JoinSet::new();
        following.spawn(trust::follow(folder, log.clone(), move |peers| trusting.trust(peers)));
        let shown = Arc::clone(&near);
        let monitor = gateway.common.answer(&inherited, move || shown.status()).await?;
        daemon.ready(inherited)?;
        log.write(&json!({ "event": "keeping a session", "to": gateway.to.join(", "), "key": own.to_string() }));
        let listeners = doors.iter().flat_map(Door::listeners);
        let listeners: Vec<_> = listeners.chain(monitor.iter().map(|monitor| monitor.listener.as_fd())).collect();
        let successor = daemon.until_told(&listeners).await;
        let _monitor = monitor.filter(|_| !successor);
        let leaving = async {
            let closing: JoinSet<()> = doors.into_iter().map(|door| door.close(successor)).collect();
            closing.join_all().await;
            near.leave().await;
        };
        daemon.leave(gateway.common.grace(), successor, leaving).await;
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::to;

    #[test]
    fn a_host_gets_the_port_that_it_lacks() {
        for (said, meant) in [
            ("far.example", "far.example:7608"),
            ("far.example:99", "far.example:99"),
            ("192.0.2.1", "192.0.2.1:7608"),
            ("2001:db8::1", "[2001:db8::1]:7608"),
            ("[2001:db8::1]:99", "[2001:db8::1]:99"),
        ] {
            assert_eq!(to(said).as_deref(), Ok(meant));
        }
        assert!(
            to("").is_err() && to("far:0").is_err() && to("far:x").is_err() && to(":99").is_err() && to("a b").is_err()
        );
    }
}
