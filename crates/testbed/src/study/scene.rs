//! What servers, gateways and programs of a cell have around them.

use super::process::Process;
use super::site::Site;
use super::stock::Stock;
use super::{Cell, TrialError};
use crate::link::Namespace;
use std::path::Path;
use std::process::Command;

/// A cell, where it is measured and with what.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    /// The cell that is measured.
    pub cell: &'a Cell,
    /// The data that servers serve.
    pub stock: &'a Stock,
    /// The four namespaces of the cell.
    pub site: &'a Site,
    /// A folder for what lasts as long as the cell.
    pub work: &'a Path,
    /// Whether the user wants to stop.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

impl Scene<'_> {
    /// Starts something; what it says is kept in the cell's folder.
    pub fn start(&self, at: &Namespace, command: Command, name: &str) -> Result<Process, TrialError> {
        Process::start(at, command, name, self.work)
    }
}
