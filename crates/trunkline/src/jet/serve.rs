//! `trunkline jet serve`.

use super::options::Common;
use super::{keys_folder, runtime, until_told};
use crate::failure::Failure;
use jet::allow::{Allowed, Rule};
use jet::far::{Far, FarOptions, listen};
use jet::keys::{Identity, Peers};
use jet::log::Log;
use std::net::SocketAddr;
use std::sync::Arc;

#[derive(Debug, clap::Args)]
pub struct Serve {
    /// Where sessions are taken; several times for several addresses
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7608")]
    pub listen: Vec<SocketAddr>,
    /// Where peers' programs may go: HOST:PORTS or NETWORK/BITS:PORTS; nowhere else
    #[arg(long, value_name = "RULE", required = true)]
    pub allow: Vec<Rule>,
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
        options: serve.common.options()?,
        identity,
    };
    let wrong = |error: jet::far::FarError| Failure::Input(error.to_string());
    runtime()?.block_on(async {
        let options = &told.options;
        let listeners =
            serve.listen.iter().map(|address| listen(*address, options)).collect::<Result<_, _>>().map_err(wrong)?;
        let own = told.identity.fingerprint();
        let far = Far::start(told, listeners, Log::explaining(serve.common.explain)).map_err(wrong)?;
        let shown = Arc::clone(&far);
        serve.common.answer(move || shown.status()).await?;
        eprintln!(
            "serving at {} with key {own}",
            serve.listen.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        );
        until_told(serve.common.grace(), far.leave()).await
    })
}
