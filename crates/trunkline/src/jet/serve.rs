//! `trunkline jet serve`.

use super::daemon::{Daemon, inherited};
use super::options::{Common, address};
use super::{keys_folder, runtime};
use crate::failure::Failure;
use jet::allow::{Allowed, Rule};
use jet::far::{Far, FarError, FarOptions, listen};
use jet::keys::{Identity, Peers};
use jet::limits::{Limit, Limits};
use jet::log::Log;
use jet::trust;
use serde_json::json;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

#[derive(Debug, clap::Args)]
pub struct Serve {
    /// Where sessions are taken; several times for several addresses
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7608", value_parser = address)]
    pub listen: Vec<SocketAddr>,
    /// Where peers' programs may go: HOST:PORTS or NETWORK/BITS:PORTS; nowhere else. With PEER= before it one peer's
    /// alone. A HOST's private addresses need a rule of their own
    #[arg(long, value_name = "[PEER=]RULE", required = true)]
    pub allow: Vec<Rule>,
    /// What one peer may have in place of --connections or --peer-memory: PEER=connections:N or PEER=memory:BYTES;
    /// several times for more
    #[arg(long, value_name = "PEER=LIMIT")]
    pub limit: Vec<Limit>,
    #[command(flatten)]
    pub common: Common,
}

/// Serves until it is told to go.
pub fn serve(serve: &Serve) -> Result<(), Failure> {
    let folder = keys_folder(serve.common.keys.as_ref())?;
    let identity = Identity::load_or_create(&folder)?;
    let told = FarOptions {
        peers: Peers::load(&folder)?,
        allowed: Allowed::new(serve.allow.clone()),
        limits: Limits::new(serve.limit.clone()),
        options: serve.common.options()?,
        identity,
    };
    let wrong = |error: FarError| Failure::Input(error.to_string());
    let inherited = inherited()?;
    runtime()?.block_on(async {
        let open = |address: &SocketAddr| match inherited.tcp(*address) {
            Some(listener) => {
                TcpListener::from_std(listener).map_err(|error| FarError::Listen { address: *address, error })
            }
            None => listen(*address, &told.options),
        };
        let listeners = serve.listen.iter().map(open).collect::<Result<Vec<_>, _>>().map_err(wrong)?;
        let own = told.identity.fingerprint();
        let copies = listeners.iter().filter_map(|listener| listener.as_fd().try_clone_to_owned().ok());
        let mut kept: Vec<OwnedFd> = copies.collect();
        let log = Log::explaining(serve.common.explain);
        let mut daemon = Daemon::new(&log)?;
        let far = Far::start(told, listeners, log.clone()).map_err(wrong)?;
        let shown = Arc::clone(&far);
        let trusting = Arc::clone(&far);
        let mut following = JoinSet::new();
        following.spawn(trust::follow(folder, log.clone(), move |peers| trusting.trust(peers)));
        let monitor = serve.common.answer(&inherited, move || shown.status()).await?;
        daemon.ready(inherited)?;
        let listen: Vec<_> = serve.listen.iter().map(ToString::to_string).collect();
        log.write(&json!({ "event": "serving", "listen": listen, "key": own.to_string() }));
        let handed: Vec<_> =
            kept.iter().chain(monitor.iter().map(|monitor| &monitor.listener)).map(AsFd::as_fd).collect();
        let successor = daemon.until_told(&handed).await;
        kept.clear();
        let _monitor = monitor.filter(|_| !successor);
        daemon.leave(serve.common.grace(), successor, far.leave()).await;
        Ok(())
    })
}
