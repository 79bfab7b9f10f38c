//! Jobs whose input or output lies in an object store.
//!
//! Hadoop counts the bytes of each file system under its scheme's name: `S3A_BYTES_READ` beside `HDFS_BYTES_READ`. What
//! an import needs are a job's volumes, wherever they lay.

use super::Assumption;
use crate::{Counters, JobHistory};
use scenario::{FileSystem, Scenario};
use std::collections::BTreeMap;
use units::Time;

/// Schemes of object stores, as counters name them: S3A and its elders, Azure's, Google's, Alibaba's, Tencent's, OBS.
const SCHEMES: [&str; 11] = ["S3A", "S3N", "S3", "ABFS", "ABFSS", "WASB", "WASBS", "GS", "OSS", "COSN", "OBS"];
/// Of less than this a job has its lists and manifests there, and not its data.
const DATA: u64 = 1 << 10;

/// What of a job lay in an object store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Stored {
    input: bool,
    output: bool,
}

/// Adds what a job read and wrote in an object store to what it did in HDFS, of which volumes are read.
pub(super) fn counted(job: &mut JobHistory) -> Stored {
    let mut maps = 0;
    let mut written = 0;
    for task in &mut job.maps {
        for attempt in &mut task.attempts {
            let [read, wrote] = add(&mut attempt.counters);
            (maps, written) = (maps + read, written + wrote);
        }
    }
    for attempt in job.reduces.iter_mut().flat_map(|task| &mut task.attempts) {
        written += add(&mut attempt.counters)[1];
    }
    add(&mut job.counters);
    Stored { input: maps >= DATA, output: written >= DATA }
}

/// Bytes that an object store's counters have; they are added to HDFS's.
fn add(counters: &mut Counters) -> [u64; 2] {
    ["BYTES_READ", "BYTES_WRITTEN"].map(|what| {
        let of_store: u64 = SCHEMES.iter().map(|scheme| counters.count(&format!("{scheme}_{what}"))).sum();
        if of_store > 0 {
            let hdfs = format!("HDFS_{what}");
            counters.set(&hdfs, counters.count(&hdfs).saturating_add(of_store));
        }
        of_store
    })
}

impl Stored {
    /// Says in the scenario where the job's data lie, or that the cluster has no such place.
    pub(super) fn apply(
        self,
        scenario: &mut Scenario,
        notes: &mut BTreeMap<String, String>,
        assumed: &mut Vec<Assumption>,
    ) {
        let has_store = scenario.object_store.is_some();
        let Some(job) = scenario.job.first_mut() else { return };
        for (is_there, key, place, counter) in [
            (self.input, "input-store", &mut job.input_store, "BYTES_READ of an object store's scheme"),
            (self.output, "output-store", &mut job.output_store, "BYTES_WRITTEN of an object store's scheme"),
        ] {
            if is_there && has_store {
                *place = FileSystem::ObjectStore;
                notes.insert(format!("job.{key}"), counter.to_owned());
            } else if is_there {
                let why = "it lay in an object store, and the cluster has no [object-store]";
                assumed.push(Assumption::new(&format!("job.{key}"), "hdfs", why));
            }
        }
        if job.input_store == FileSystem::ObjectStore {
            // S3A names `localhost` as the host of each split.
            job.split_hosts.clear();
            notes.remove("job.split-hosts");
        }
    }

    /// CPU time in which S3A starts in each task, and in the AppMaster.
    pub(super) fn starts(self, scenario: &Scenario) -> [Time; 2] {
        let start = scenario.object_store.as_ref().map_or(Time::ZERO, |store| store.s3a.start);
        [self.input || self.output, self.output].map(|touches| if touches { start } else { Time::ZERO })
    }

    /// The rate of the link behind which the input lies, in bit/s.
    pub(super) fn rate(self, scenario: &Scenario) -> Option<f64> {
        let store = scenario.object_store.as_ref().filter(|_| self.input)?;
        Some(store.rate.as_bps() as f64)
    }

    /// The length of blocks in which the input lies.
    pub(super) fn block(self, scenario: &Scenario) -> units::Bytes {
        match &scenario.object_store {
            Some(store) if self.input => store.s3a.block,
            _ => scenario.hdfs.block,
        }
    }
}
