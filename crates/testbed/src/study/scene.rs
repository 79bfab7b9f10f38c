//! The surroundings of a cell's servers, gateways and programs.

use super::process::Process;
use super::site::Site;
use super::stock::Stock;
use super::{Cell, TrialError};
use crate::link::Namespace;
use std::path::Path;
use std::process::Command;

/// A cell, and everything that its measurement uses.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    /// The cell that is measured.
    pub cell: &'a Cell,
    /// The data that servers serve.
    pub stock: &'a Stock,
    /// The four namespaces of the cell.
    pub site: &'a Site,
    /// A folder that lasts as long as the cell.
    pub work: &'a Path,
    /// Whether the user wants to stop.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

impl Scene<'_> {
    /// Starts a process. Its log is in the cell's folder.
    pub fn start(&self, at: &Namespace, command: Command, name: &str) -> Result<Process, TrialError> {
        Process::start(at, command, name, self.work)
    }
}
