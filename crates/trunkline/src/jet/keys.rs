//! `trunkline jet keys`.

use super::keys_folder;
use crate::emit;
use crate::failure::Failure;
use clap::ValueHint;
use jet::keys::{Fingerprint, Identity, Peers};
use std::fmt::Write;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct Keys {
    /// The folder of this host's key and its peers' [default: ~/.config/trunkline/jet]
    #[arg(long = "keys", value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub folder: Option<PathBuf>,
    /// Trust the gateway with this key: 64 hexadecimal digits, as this command shows them on its host
    #[arg(long, value_name = "FINGERPRINT")]
    pub pin: Option<Fingerprint>,
    /// The name of the gateway that is pinned
    #[arg(long, value_name = "NAME", default_value = "peer", requires = "pin")]
    pub name: String,
    /// Trust the gateway with this key no more: gateways that run end its sessions within a second
    #[arg(long, value_name = "FINGERPRINT", conflicts_with = "pin")]
    pub unpin: Option<Fingerprint>,
}

/// Shows, pins, unpins.
pub fn keys(keys: &Keys) -> Result<(), Failure> {
    let folder = keys_folder(keys.folder.as_ref())?;
    let own = Identity::load_or_create(&folder)?.fingerprint();
    let mut peers = Peers::load(&folder)?;
    if let Some(fingerprint) = keys.pin {
        if fingerprint == own {
            return Err(Failure::Input(format!("{own} is this host's own key: pin the one that the other host shows")));
        }
        peers.pin(fingerprint, &keys.name)?;
        peers.save(&folder)?;
    }
    if let Some(fingerprint) = keys.unpin {
        if !peers.unpin(fingerprint) {
            return Err(Failure::Input(format!("{fingerprint} is not pinned in {}", folder.display())));
        }
        peers.save(&folder)?;
    }
    let mut text = format!("this host  {own}\n");
    for (fingerprint, name) in peers.iter() {
        let _ = writeln!(text, "pinned     {fingerprint}  {name}");
    }
    let _ = writeln!(text, "\nOn the other host: trunkline jet keys --pin {own} --name NAME");
    emit(&text)
}
