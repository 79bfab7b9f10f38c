//! What stages of SQL read of files: which scans of their query's plan are theirs, and where these have their files.

use super::{Application, Scan, Stage};
use std::collections::{BTreeMap, BTreeSet};

/// The data set of a scan of files.
const FILE_SCAN: &str = "FileScanRDD";

/// Formats whose readers read lines, so that a task reads on behind its part of a file to the end of the last one.
const OF_LINES: [&str; 4] = ["CSV", "JSON", "LibSVM", "Text"];

/// A stage, and a task, have no more files here than these, each of which takes memory when it is simulated.
const MOST_FILES: u64 = 1_000_000;
const MOST_FILES_EACH: u32 = 100_000;

/// What a stage reads by scans.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Scanned {
    /// Its scans in words, each once: `scan parquet visits, scan csv users`. Empty if the log does not say.
    pub words: String,
    /// File systems of its files, by their schemes; empty ones for paths without. None where the log names no path.
    pub schemes: BTreeSet<String>,
    /// Whether all of them have files of lines.
    pub of_lines: bool,
    /// How many files they are.
    pub files: u64,
}

/// By number: the stages that scan files.
///
/// Metrics that a stage's tasks counted tell which scans of a query are its own. In a log without them they may be any of
/// its query's.
pub fn scanned(of: &Application) -> BTreeMap<u32, Scanned> {
    let mut of_queries: BTreeMap<u64, Vec<&Scan>> = BTreeMap::new();
    for scan in &of.scans {
        of_queries.entry(scan.query).or_default().push(scan);
    }
    let jobs = of.jobs.iter().flat_map(|job| job.stages.iter().map(move |stage| (*stage, job.query)));
    let queries: BTreeMap<u32, u64> = jobs.filter_map(|(stage, query)| Some((stage, query?))).collect();
    let counted = |stage: &Stage| stage.scans.iter().filter_map(|place| of.scans.get(*place)).collect::<Vec<_>>();
    let mut all: BTreeMap<u32, Vec<&Scan>> = BTreeMap::new();
    for stage in &of.stages {
        if !stage.scans.is_empty() || stage.rdds.iter().any(|rdd| rdd.name == FILE_SCAN) {
            all.entry(stage.id).or_default().extend(counted(stage));
        }
    }
    for (stage, scans) in all.iter_mut().filter(|(_, scans)| scans.is_empty()) {
        let of_query = queries.get(stage).and_then(|query| of_queries.get(query));
        scans.extend(of_query.into_iter().flatten());
    }
    all.into_iter().map(|(stage, scans)| (stage, Scanned::of(&scans))).collect()
}

impl Scanned {
    fn of(scans: &[&Scan]) -> Self {
        let mut words: Vec<String> = scans.iter().map(|scan| in_words(scan)).collect();
        words.sort();
        words.dedup();
        let schemes = scans.iter().flat_map(|scan| paths(&scan.location)).map(|path| scheme(path).to_owned());
        Self {
            words: words.join(", "),
            schemes: schemes.collect(),
            files: scans.iter().fold(0, |files, scan| scan.files.saturating_add(files)),
            of_lines: scans.iter().all(|scan| OF_LINES.contains(&&*scan.format)),
        }
    }

    /// How many files each of so many tasks reads, one at least.
    pub fn files_each(&self, tasks: u32) -> u32 {
        let tasks = u64::from(tasks.max(1));
        let each = self.files.min(MOST_FILES).saturating_add(tasks / 2) / tasks;
        u32::try_from(each).unwrap_or(u32::MAX).clamp(1, MOST_FILES_EACH)
    }

    /// Whether all of its files are in HDFS. `by_default`: paths that name no file system are.
    pub fn in_hdfs(&self, by_default: bool) -> bool {
        let is_hdfs = |scheme: &String| scheme == "hdfs" || scheme.is_empty() && by_default;
        !self.schemes.is_empty() && self.schemes.iter().all(is_hdfs)
    }
}

/// A scan by its format, and its table, or else the last part of its first path.
fn in_words(scan: &Scan) -> String {
    let words = scan.name.trim();
    let named = words.split_whitespace().count() > 2;
    let folder = paths(&scan.location).next().and_then(|path| path.trim_end_matches('/').rsplit('/').next());
    let words = words.strip_prefix('S').map_or_else(|| words.to_owned(), |rest| format!("s{rest}"));
    match folder.filter(|_| !named) {
        Some(folder) => format!("{words} {folder}"),
        None => words,
    }
}

/// The paths that a scan's location names. Spark leaves out the last of many, with `...` in their place; of a list that
/// breaks off the last path is left out here.
fn paths(location: &str) -> impl Iterator<Item = &str> {
    let listed = location.split_once('[').map_or("", |(_, listed)| listed);
    let broken = || listed.rsplit_once(", ").map_or(listed, |(whole, _)| whole);
    let listed = listed.strip_suffix(']').unwrap_or_else(broken);
    listed.split(", ").map(str::trim).filter(|path| !path.is_empty() && *path != "...")
}

/// The file system that a path names, or nothing.
fn scheme(path: &str) -> &str {
    path.split_once(':').map_or("", |(scheme, _)| scheme)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, location: &str) -> Scanned {
        Scanned::of(&[&Scan { name: name.to_owned(), location: location.to_owned(), ..Scan::default() }])
    }

    /// As Spark 3.1 and later write a location (`Utils.buildLocationMetadata`), and as 2.x and 3.0 did; written by hand.
    #[test]
    fn locations_of_all_versions_are_read() {
        for location in [
            "InMemoryFileIndex(1 paths)[hdfs://m:8020/a/visits]",
            "InMemoryFileIndex[hdfs://m:8020/a/visits]",
            "CatalogFileIndex(1 paths)[hdfs://m:8020/a/visits/]",
            "PreparedDeltaFileIndex(1 paths)[hdfs://m:8020/a/visits]",
            "InMemoryFileIndex(812 paths)[hdfs://m:8020/a/visits, hdfs://m:8020/a/2, ...]",
            "InMemoryFileIndex[hdfs://m:8020/a/visits, hdfs://m:8020/a/2, hd",
        ] {
            let scanned = of("Scan parquet ", location);
            assert_eq!((&*scanned.words, scanned.in_hdfs(false)), ("scan parquet visits", true), "{location}");
        }
        let of_table = of("Scan orc default.visits", "InMemoryFileIndex[hdfs://m/warehouse/v]");
        assert_eq!(of_table.words, "scan orc default.visits");
    }

    #[test]
    fn files_are_in_hdfs_if_all_of_them_are() {
        for (location, [named, by_default]) in [
            ("InMemoryFileIndex(2 paths)[hdfs://m/a, s3a://b/c]", [false, false]),
            ("InMemoryFileIndex(1 paths)[s3a://b/c]", [false, false]),
            ("InMemoryFileIndex(1 paths)[file:/a]", [false, false]),
            ("InMemoryFileIndex(1 paths)[/a]", [false, true]),
            ("InMemoryFileIndex(0 paths)[]", [false, false]),
            ("*********(redacted)", [false, false]),
        ] {
            let scanned = of("Scan text ", location);
            assert_eq!([scanned.in_hdfs(false), scanned.in_hdfs(true)], [named, by_default], "{location}");
        }
    }
}
