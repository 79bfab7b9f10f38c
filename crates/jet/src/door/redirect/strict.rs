//! Rules that outlive the process: with `--strict` they refuse what the door would have redirected, while nobody does.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::thread;

use ring::digest::{SHA256, digest};

use super::life::{self, Life};
use super::{DoorError, Redirection, enter};
use crate::handover::Inherited;
use crate::log::Log;

const PREFIX: &str = "trunkline_jet_strict_";

/// The name of the table that refuses for a redirection: the same whenever a gateway is started with it, so that the
/// next one takes over what a killed one has left.
pub fn table_name(redirection: &Redirection) -> String {
    let digest = digest(&SHA256, redirection.to_string().as_bytes());
    let short = digest.as_ref().iter().take(4).fold(0, |short, byte| short << 8 | u32::from(*byte));
    format!("{PREFIX}{short:08x}")
}

/// A table that refuses. Nobody owns it, so it stays when the process is killed.
#[derive(Debug)]
pub struct Refusing {
    table: String,
    /// Where the table is, if not in the process's own network namespace.
    namespace: Option<File>,
    life: Life,
    /// Whether the table outlives this.
    stays: bool,
}

impl Refusing {
    /// The predecessor's hold on the table.
    pub fn inherited(redirection: &Redirection, inherited: &Inherited) -> Option<Life> {
        redirection.strict.then(|| Life::inherit(&table_name(redirection), inherited)).flatten()
    }
    /// Reserves the table's name in this thread's network namespace.
    pub fn reserve(redirection: &Redirection, namespace: Option<File>, life: Option<Life>) -> Result<Self, DoorError> {
        let table = table_name(redirection);
        let taken = || DoorError::Redirection(format!("another gateway redirects {redirection} with --strict"));
        let life = life.or_else(|| Life::hold(&table)).ok_or_else(taken)?;
        // What a killed gateway has left is not opened by one that fails to start.
        let stays = tables().contains(&table);
        Ok(Self { table, namespace, life, stays })
    }
    /// The socket that marks the table as in use, for a successor.
    pub fn life(&self) -> Option<OwnedFd> {
        self.life.share()
    }
    /// Leaves the table to a successor.
    pub fn leave(&mut self) {
        self.stays = true;
    }
    /// Has the table removed, whoever made it: the gateway ends as it was told to.
    pub fn end(&mut self) {
        self.stays = false;
    }
}

impl Drop for Refusing {
    fn drop(&mut self) {
        if self.stays {
            return;
        }
        let delete = || {
            if self.namespace.as_ref().is_none_or(|namespace| enter(namespace).is_ok()) {
                let mut nft = Command::new("nft");
                let _ = nft.args(["delete", "table", "inet", &self.table]).stderr(Stdio::null()).status();
            }
        };
        // A thread enters a namespace as a whole.
        thread::scope(|scope| drop(scope.spawn(delete).join()));
    }
}

/// Notes the tables in this network namespace that refuse although no gateway holds them. To be called when all doors
/// are open: until then some may still be taken over.
pub fn note_left_behind(log: &Log) {
    for table in tables().into_iter().filter(|table| !life::is_held(table)) {
        let why = format!(
            "a killed gateway with --strict has left the table {table}: start it again with the same --redirect, or \
             remove the table (nft delete table inet {table})"
        );
        log.note("connections are refused", &why);
    }
}

fn tables() -> Vec<String> {
    let listed = Command::new("nft").args(["list", "tables", "inet"]).stderr(Stdio::null()).output();
    let listed = listed.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let name = |line: &str| line.strip_prefix("table inet ").filter(|name| name.starts_with(PREFIX)).map(str::to_owned);
    listed.lines().filter_map(name).collect()
}
