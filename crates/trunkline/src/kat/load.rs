//! `trunkline kat load`: the plan decides record by record, HDFS gets a file for each part of the plan.
//!
//! A file is written aside and moved to its place once all its blocks have all their replicas. So the files that stand
//! in the folder are the journal: the same command goes on with those that do not.

use super::cluster::{Call, Cluster, Look};
use super::placed::{Placed, few};
use crate::emit;
use crate::failure::Failure;
use crate::interrupt::STOP;
use crate::kat_args::KatLoad;
use crate::progress::ByteMeter;
use placement::{Filled, Keys, Layout, ScanError};
use records::{Error, Format, Sample, Sink, Source, read_stream};
use runs::Clock;
use serde_json::{Value, json};
use std::cell::Cell;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;
use units::{BitRate, Bytes};

/// Files of HDFS begin so.
const IN_HDFS: &str = "hdfs:";
/// So many nodes are asked to keep probes.
const PROBED: usize = 4;
/// Probes of each: where HDFS puts files anywhere, half of four nodes have all of theirs in one of 700 loads.
const PROBES: usize = 3;
/// Where there are two nodes each file stands rightly every second time.
const PROBES_OF_TWO: usize = 8;

/// A load as it is asked for.
pub struct Wanted<'a> {
    /// Files to read.
    pub files: &'a [String],
    /// The folder in HDFS.
    pub to: &'a str,
    /// The most bits of records a second.
    pub limit: Option<BitRate>,
    /// Files that are written at a time.
    pub open: usize,
    /// How many seconds a file's blocks have to get all their replicas.
    pub patience: u32,
    /// Shows no progress.
    pub quiet: bool,
}

/// What was loaded.
#[derive(Default)]
pub struct Loaded {
    /// Records of the input.
    pub records: u64,
    /// Those without a key.
    pub keyless: u64,
    /// Records and bytes of each part.
    pub parts: Vec<(u64, u64)>,
    /// Files that were written now, their blocks, and those of them that stand elsewhere than planned.
    pub written: [u64; 3],
}

/// Runs the command.
pub fn load(args: &KatLoad) -> Result<(), Failure> {
    let placed = Placed::open(&args.plan)?;
    let wanted = Wanted {
        files: &args.files,
        to: args.to.trim_end_matches('/'),
        limit: args.limit,
        open: args.open as usize,
        patience: args.patience,
        quiet: args.quiet,
    };
    for file in args.files.iter().filter(|file| !file.starts_with(IN_HDFS)) {
        let source = source(file)?;
        if source.format() != Format::Text {
            return Err(Failure::Input(format!("{file} is {}: text is loaded, a record a line", source.format())));
        }
    }
    let cluster = Cluster::open(&args.cluster)?;
    let Some(loaded) = load_into(&placed, &cluster, &wanted)? else {
        return emit(&format!("{} holds all of it already\n", args.to));
    };
    emit(&text(&loaded, &wanted))
}

/// Loads files; `None` if they are loaded.
pub fn load_into(placed: &Placed, cluster: &Cluster, wanted: &Wanted<'_>) -> Result<Option<Loaded>, Failure> {
    let look = cluster.look(wanted.to)?;
    placed.check(&look)?;
    let manifest = placed.manifest(wanted.files);
    let is_new = fits(&look, &manifest, placed, wanted.to)?;
    if look.loaded.is_some() {
        return Ok(None);
    }
    probe(placed, cluster, wanted.to, wanted.quiet)?;
    let laid_out = laid_out(placed, cluster, wanted.files)?;
    let replicas = placed.plan.replicas();
    if is_new {
        cluster.put(&format!("{}/_trunkline/manifest", wanted.to), replicas, &manifest.to_string())?;
    }
    let missing: Vec<usize> =
        (0..placed.names.len()).filter(|place| !look.files.contains_key(&placed.names[*place])).collect();
    let mut loaded = Loaded { parts: vec![(0, 0); placed.names.len()], ..Loaded::default() };
    // Also where no part is missing: the records are counted.
    let passes = missing.chunks(wanted.open).chain(missing.is_empty().then_some(&[] as &[usize]));
    for (number, parts) in passes.enumerate() {
        let counted = (number == 0).then_some(&mut loaded);
        let lines = pass(placed, cluster, wanted, &laid_out, parts, counted)?;
        for line in lines {
            let field = |at: usize| line.get(at).and_then(|field| field.parse::<u64>().ok()).unwrap_or(0);
            loaded.written[0] += 1;
            loaded.written[1] += field(4);
            loaded.written[2] += field(5);
        }
    }
    let summary = json!({
        "schema": 1, "records": loaded.records, "keyless": loaded.keyless,
        "stored": loaded.parts.iter().map(|part| part.0).sum::<u64>(),
    });
    cluster.put(&format!("{}/_trunkline/loaded", wanted.to), replicas, &summary.to_string())?;
    Ok(Some(loaded))
}

/// Which of the files are laid out by key already, with a line for each key of a record, as the plan has it: they are not
/// to be laid out once more. Whole records are the same before and after.
fn laid_out(placed: &Placed, cluster: &Cluster, files: &[String]) -> Result<Vec<bool>, Failure> {
    let is = |file: &String| {
        if placed.layout == Layout::Whole || !file.starts_with(IN_HDFS) {
            return Ok(false);
        }
        let Some(manifest) = cluster.look(file)?.manifest else { return Ok(false) };
        let manifest: Value = serde_json::from_str(&manifest).unwrap_or(Value::Null);
        match manifest["layout"].as_str() {
            Some(layout) if layout == placed.layout.name() => Ok(true),
            Some("whole") => Ok(false),
            layout => Err(Failure::Input(format!(
                "{file} is laid out by key, by layout {}, and the plan has layout {}: load the files from which it was loaded",
                layout.unwrap_or("of an earlier version"),
                placed.layout.name()
            ))),
        }
    };
    files.iter().map(is).collect()
}

/// Whether the folder is new; an error if it holds something else than a part of this load.
fn fits(look: &Look, manifest: &Value, placed: &Placed, folder: &str) -> Result<bool, Failure> {
    let names = placed.by_name();
    let strange: Vec<&str> = look.files.keys().map(String::as_str).filter(|name| !names.contains_key(name)).collect();
    match &look.manifest {
        None if look.files.is_empty() => Ok(true),
        None => Err(Failure::Input(format!("{folder} holds files already ({}): name a new folder", few(&strange)))),
        Some(text) => {
            let before: Value = serde_json::from_str(text).unwrap_or(Value::Null);
            if !placed.is_of(&before) {
                return Err(Failure::Input(format!("{folder} holds a load by another plan: name a new folder")));
            }
            if before["schema"] != manifest["schema"] && look.loaded.is_none() && !placed.plan.split().is_empty() {
                return Err(Failure::Input(format!(
                    "{folder} holds a part of a load by an earlier version, which had other records in the parts of \
                     split keys: name a new folder"
                )));
            }
            if before["files"] != manifest["files"] {
                return Err(Failure::Input(format!("{folder} holds a load of other files: {}", before["files"])));
            }
            if !strange.is_empty() {
                return Err(Failure::Input(format!("{folder} holds files that the plan has not: {}", few(&strange))));
            }
            Ok(false)
        }
    }
}

/// An error if the NameNode puts files elsewhere than their names say. Nodes that take no blocks, though others do, are
/// told: they may be full, or dead and not yet known to be.
pub fn probe(placed: &Placed, cluster: &Cluster, folder: &str, quiet: bool) -> Result<(), Failure> {
    let nodes: Vec<&str> = placed.plan.nodes().iter().take(PROBED).map(|node| node.name.as_str()).collect();
    if nodes.len() < 2 {
        return Ok(());
    }
    let times = if nodes.len() == 2 { PROBES_OF_TWO } else { PROBES };
    let mut arguments = vec!["probe", folder];
    (0..times).for_each(|_| arguments.extend(&nodes));
    let found = cluster.ask(&arguments)?;
    let wrong =
        |node: &str| found.iter().any(|line| line.get(1).is_some_and(|of| of == node) && line.get(1) != line.get(2));
    let wrong: Vec<&str> = nodes.iter().copied().filter(|node| wrong(node)).collect();
    if 2 * wrong.len() <= nodes.len() {
        if !wrong.is_empty() && !quiet {
            eprintln!("{} take no blocks now: their files will stand elsewhere in part", few(&wrong));
        }
        return Ok(());
    }
    Err(Failure::RealJob(format!(
        "HDFS does not place by key: of probes for {} nodes those for {} stand elsewhere. Its NameNode needs \
         trunkline-hadoop.jar on its class path and in hdfs-site.xml dfs.block.replicator.classname = \
         org.apache.hadoop.hdfs.server.blockmanagement.KeyAwareBlockPlacementPolicy, and then a restart; if it has both, \
         these nodes are full or being decommissioned",
        nodes.len(),
        few(&wrong)
    )))
}

fn source(file: &str) -> Result<Source, Failure> {
    let path = Path::new(file);
    let reading = |error: &io::Error| super::reading(path, error);
    let about = fs::metadata(path).map_err(|error| reading(&error))?;
    if !about.is_file() {
        return Err(Failure::Input(format!("{file} is no file; the input may be read more than once")));
    }
    Source::open(path).map_err(|error| of_records(file, error))
}

fn of_records(file: &str, error: Error) -> Failure {
    match error {
        Error::Io(error) => super::reading(Path::new(file), &error),
        error => Failure::Input(format!("{file}: {error}")),
    }
}

/// Reads all files, and writes the records of these parts. Counts all records where that is asked for.
fn pass(
    placed: &Placed,
    cluster: &Cluster,
    wanted: &Wanted<'_>,
    laid_out: &[bool],
    parts: &[usize],
    counted: Option<&mut Loaded>,
) -> Result<Vec<Vec<String>>, Failure> {
    let (replicas, patience) = (placed.plan.replicas().to_string(), wanted.patience.to_string());
    let call = if parts.is_empty() {
        None
    } else {
        Some(cluster.call(&["write", wanted.to, &replicas, placed.judged_type, &patience])?)
    };
    let failing = Cell::new(false);
    let mut writer = Writer {
        placed,
        call,
        is_wanted: vec![false; placed.names.len()],
        is_begun: vec![false; placed.names.len()],
        counted,
        keys: Keys::new(),
        filled: Filled::new(&placed.plan),
        is_laid_out: false,
        number: 0,
        failure: None,
        written: Ok(()),
        failing: &failing,
        pace: wanted.limit.map(|limit| (limit, Clock::start(), 0)),
    };
    for part in parts {
        writer.is_wanted[*part] = true;
    }
    let local = wanted.files.iter().filter(|file| !file.starts_with(IN_HDFS));
    let size = local.filter_map(|file| Some(fs::metadata(file).ok()?.len())).sum();
    let meter = ByteMeter::new(size, wanted.quiet);
    let mut step = |bytes: u64| {
        meter.add(bytes);
        !failing.get() && STOP.look().is_ok()
    };
    for (file, is_laid_out) in wanted.files.iter().zip(laid_out) {
        writer.is_laid_out = *is_laid_out;
        let read = if file.starts_with(IN_HDFS) {
            let mut call = cluster.call(&["cat", file])?;
            let read =
                call.output().map_or(Ok(0), |from| read_stream(from, None, Sample::new(1.0), &mut writer, &mut step));
            if read.is_ok() {
                call.end()?;
            }
            read
        } else {
            source(file)?.scan(&placed.rule, Sample::new(1.0), &mut writer, &mut step)
        };
        match read {
            Ok(_) => {}
            Err(Error::Stopped) => {
                STOP.look()?;
                break;
            }
            Err(error) => return Err(of_records(file, error)),
        }
    }
    meter.finish();
    let Writer { call, failure, written, is_begun, .. } = writer;
    if let Some(failure) = failure {
        return Err(failure);
    }
    let Some(mut call) = call else { return Ok(Vec::new()) };
    let written = written.and_then(|()| call.send(b"C"));
    let lines = call.end_after(written)?;
    let begun = is_begun.iter().filter(|begun| **begun).count();
    if lines.len() < begun {
        let short = begun - lines.len();
        return Err(Failure::RealJob(format!("the writer ended without a word on {short} of {begun} files")));
    }
    Ok(lines)
}

/// Sends records of a pass to whoever writes them.
struct Writer<'a> {
    placed: &'a Placed,
    call: Option<Call>,
    is_wanted: Vec<bool>,
    is_begun: Vec<bool>,
    counted: Option<&'a mut Loaded>,
    keys: Keys,
    filled: Filled,
    /// Whether the file that is read is laid out already.
    is_laid_out: bool,
    number: u64,
    failure: Option<Failure>,
    written: io::Result<()>,
    /// Ends the reading.
    failing: &'a Cell<bool>,
    /// The limit, when it began to hold, and the bytes since.
    pace: Option<(BitRate, Clock, u64)>,
}

impl Sink for Writer<'_> {
    fn record(&mut self, record: &[u8], _: u64) -> Result<(), ScanError> {
        if self.failing.get() {
            return Ok(());
        }
        let Self { placed, call, is_wanted, is_begun, counted, keys, filled, written, pace, .. } = self;
        let mut sent = 0;
        let mut is_keyless = false;
        let found = placed.of_record(record, self.is_laid_out, self.number, keys, filled, |place, key, bytes| {
            is_keyless = key.is_empty() && placed.layout == Layout::Whole;
            if let Some(counted) = counted {
                counted.parts[place].0 += 1;
                counted.parts[place].1 += bytes.len() as u64 + 1;
            }
            if let (true, Ok(()), Some(call)) = (is_wanted[place], &*written, call.as_mut()) {
                sent += bytes.len() as u64 + 1;
                *written = send(call, placed, place, &mut is_begun[place], key, bytes);
            }
        });
        self.number += 1;
        if let Some(counted) = counted {
            counted.records += 1;
            counted.keyless += u64::from(is_keyless);
        }
        if let Some((limit, clock, bytes)) = pace {
            *bytes += sent;
            let due = *bytes as f64 * 8.0 / limit.as_bps() as f64;
            let ahead = due - clock.elapsed().as_secs_f64();
            // Small steps are not slept through one by one.
            if ahead > 0.05 {
                thread::sleep(Duration::from_secs_f64(ahead));
            }
        }
        if let Err(failure) = found {
            self.failure = Some(failure);
        }
        self.failing.set(self.failure.is_some() || self.written.is_err());
        Ok(())
    }

    fn keyed(&mut self, _: &Keys, _: u64) -> Result<(), ScanError> {
        // Only of formats that are refused.
        Ok(())
    }
}

/// The frames of a record, and that of its file before its first one.
fn send(
    call: &mut Call,
    placed: &Placed,
    place: usize,
    is_begun: &mut bool,
    key: &[u8],
    record: &[u8],
) -> io::Result<()> {
    let number = (place as u32).to_be_bytes();
    if !std::mem::replace(is_begun, true) {
        let name = placed.names[place].as_bytes();
        call.send(b"F")?;
        call.send(&number)?;
        call.send(&(name.len() as u16).to_be_bytes())?;
        call.send(name)?;
        call.send(&placed.plan.parts()[place].bucket.to_be_bytes())?;
        call.send(&placed.plan.bucketing().buckets().to_be_bytes())?;
    }
    call.send(b"R")?;
    call.send(&number)?;
    for bytes in [key, record] {
        call.send(&(bytes.len() as u32).to_be_bytes())?;
        call.send(bytes)?;
    }
    Ok(())
}

/// What a load has come to.
fn text(loaded: &Loaded, wanted: &Wanted<'_>) -> String {
    let (records, bytes) =
        loaded.parts.iter().fold((0, 0), |(records, bytes), part| (records + part.0, bytes + part.1));
    let [files, blocks, elsewhere] = loaded.written;
    let mut text = format!(
        "{}: {records} records, {:.1}, in {} files, of which {files} were written now\n",
        wanted.to,
        Bytes::new(bytes),
        loaded.parts.iter().filter(|part| part.0 > 0).count(),
    );
    // Writing to a string does not fail.
    let _ = writeln!(text, "{} of {blocks} blocks stand where the plan has them", blocks - elsewhere);
    if loaded.keyless > 0 {
        let _ = writeln!(text, "{} records have no key, and stand in all buckets", loaded.keyless);
    }
    if elsewhere > 0 {
        text.push_str(
            "the others' nodes had no room, or were not there: `kat verify` names their files, `kat redistribute` brings \
             them back\n",
        );
    }
    text
}
