//! The memory that the jobs of a file take, so that no file takes all that a machine has.
//!
//! A file's length does not bound it: a counter of four bytes in Avro becomes one of 24, an attempt of 16 bytes in JSON
//! one of 400.

use super::error::Problem;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Most memory for the jobs of one file, in bytes: 100,000 tasks of Hadoop 3 take as much. With the largest file and
/// its largest event it is less than 1 GiB.
pub const MOST: usize = 448 << 20;

/// What is left of the memory for the jobs of one file, 448 MiB, and the names of counters, each kept once.
#[derive(Debug)]
pub struct Memory {
    left: usize,
    names: BTreeSet<Arc<str>>,
}

impl Default for Memory {
    fn default() -> Self {
        Self { left: MOST, names: BTreeSet::new() }
    }
}

impl Memory {
    /// Accounts for so many bytes.
    pub fn take(&mut self, bytes: usize) -> Result<(), Problem> {
        self.left = self.left.checked_sub(bytes).ok_or_else(|| {
            let most = MOST >> 20;
            Problem::Limit(format!("the jobs of this file take more than {most} MiB of memory: cut it into several"))
        })?;
        Ok(())
    }

    /// The one copy of a counter's name.
    pub fn name(&mut self, name: &str) -> Result<Arc<str>, Problem> {
        if let Some(known) = self.names.get(name) {
            return Ok(Arc::clone(known));
        }
        self.take(name.len() + 64)?;
        let name: Arc<str> = name.into();
        self.names.insert(Arc::clone(&name));
        Ok(name)
    }
}
