//! `trunkline import`.

use crate::args::{Import, ImportCluster, ImportOf};
use crate::emit;
use crate::failure::Failure;
use crate::import_check::{self, Asked};
use crate::import_many::{import_all, import_many, said};
use crate::import_spark::import_spark;
use crate::interrupt::STOP;
use crate::progress::Meter;
use crate::screen::Screen;
use history::import::{self, ClusterError, ImportedMany, Sources};
use history::{coflow, swim};
use runs::{BUDGET, Effort, Error, Found, Inputs, KnownBeside, Which, reproduce_all, resolve, write_whole};
use std::path::{Path, PathBuf};

/// Words that stand before the files and say their format.
const FORMATS: [&str; 7] = ["jhist", "text", "rumen", "sls", "swim", "coflow", "spark"];

/// Turns a history, a trace of many jobs, or a cluster's configuration, into a scenario.
pub fn import(args: &Import) -> Result<(), Failure> {
    if let Some(ImportOf::Cluster(args)) = &args.of {
        return cluster(args);
    }
    writable(args.output.as_deref(), args.force)?;
    let inputs = Inputs::new(&STOP);
    // A file of that name is meant where it is the only word.
    let word = args.files[0].to_str().filter(|word| args.files.len() > 1 && FORMATS.contains(word));
    let files: &[PathBuf] = if word.is_some() { &args.files[1..] } else { &args.files };
    let cluster = match &args.cluster {
        None => None,
        Some(path) => Some((path.display().to_string(), inputs.text(path)?)),
    };
    let cluster = cluster.as_ref().map(|(name, text)| (name.as_str(), text.as_str()));
    if let [file] = files
        && matches!(word, None | Some("spark"))
    {
        match inputs.event_log(file)? {
            Some(application) => {
                refuse(args, "an application of Spark", &[WORKLOADS, JOBS])?;
                return import_spark(args, (file, &application), cluster);
            }
            None if word.is_some() => {
                return Err(Failure::Input(format!("{} is not an event log of Spark", file.display())));
            }
            None => {}
        }
    }
    if let Some(bytes) = trace(&inputs, files, word)? {
        refuse(args, "a trace of many jobs or coflows, whose durations are not recorded", &[JOBS, &[STRICT]])?;
        return deliver_many(args, &import_many(args, &files[0], &bytes, cluster)?);
    }
    let writer = args.written_by.as_ref().map(|path| inputs.writer(path)).transpose()?;
    if args.all {
        let found = wanted(inputs.jobs(files, Which::All), word, files)?;
        let settings =
            found.iter().map(|found| inputs.settings_of(found, args.run.as_deref())).collect::<Result<_, _>>()?;
        let sources = Sources { cluster, settings: None, writer: writer.as_ref() };
        let mut imported = import_all(args, &files[0], &found, settings, &sources)?;
        sim::parse(&imported.scenario.name, &imported.to_toml(), &[]).map_err(Error::Scenario)?;
        let asked = Asked { none: args.no_check, strict: args.strict, to_output: args.output.is_none() };
        let checked = metered(|effort| Ok(reproduce_all(&mut imported, BUDGET, effort)?))?;
        deliver_many(args, &imported)?;
        return import_check::report_all(&imported, checked.as_ref(), asked);
    }
    refuse(args, "the history of one job", &[WORKLOADS])?;
    let found = wanted(inputs.job(files, args.job.as_deref()).map(|found| vec![found]), word, files)?;
    let Some(found) = found.into_iter().next() else { return Err(Failure::Internal("no job of one".to_owned())) };
    let beside = KnownBeside { cluster, described: args.run.as_deref(), writer: writer.as_ref() };
    let mut imported = inputs.imported(&found, beside)?;
    // Where standard output goes is not known, so no path leads from there to the history.
    if let Some(path) = args.output.as_deref().and_then(|output| runs::path_beside(&found.file, output)) {
        imported.refer_to(path);
    }
    // What is written can run: the engine's checks hold too.
    sim::parse(&found.job.id, &imported.to_toml(), &[]).map_err(Error::Scenario)?;
    let asked = Asked { none: args.no_check, strict: args.strict, to_output: args.output.is_none() };
    let checked = metered(|effort| import_check::fit(&mut imported, asked, effort))?;
    write(args.output.as_deref(), &imported.to_toml())?;
    import_check::report(&imported, checked.as_ref(), asked)
}

/// An option, and whether it was given.
type Given = (&'static str, fn(&Import) -> bool);
/// Options of what has many entries with their times.
const WORKLOADS: &[Given] = &[
    ("--nodes", |args| args.nodes.is_some()),
    ("--recorded-nodes", |args| args.recorded_nodes.is_some()),
    ("--from", |args| args.from.is_some()),
    ("--for", |args| args.length.is_some()),
];
/// Options of histories of jobs.
const JOBS: &[Given] = &[
    ("--job", |args| args.job.is_some()),
    ("--all", |args| args.all),
    ("--written-by", |args| args.written_by.is_some()),
    ("--run", |args| args.run.is_some()),
];
/// The option of what is compared with its record.
const STRICT: Given = ("--strict", |args| args.strict);

/// Refuses options that what is imported would not heed.
fn refuse(args: &Import, what: &str, options: &[&[Given]]) -> Result<(), Failure> {
    match options.iter().copied().flatten().find(|(_, is_given)| is_given(args)) {
        Some((option, _)) => Err(Failure::Input(format!("{option} is not for {what}: leave it out"))),
        None => Ok(()),
    }
}

/// Does what takes runs, with its progress shown.
pub fn metered<T>(work: impl FnOnce(&Effort<'_>) -> Result<T, Failure>) -> Result<T, Failure> {
    let meter = Meter::of_wait("the scenario is run beside its record");
    let progress = |run: usize, progress: &sim::Progress| meter.update(run, progress);
    let done = work(&Effort { threads: Some(1), stop: &STOP, progress: &progress });
    meter.finish();
    done
}

/// The content of a workload of SWIM or a trace of coflows, if the one file is such a trace. Standard input, which can
/// be read once, is one where the word before it says so.
fn trace(inputs: &Inputs, files: &[PathBuf], word: Option<&str>) -> Result<Option<Vec<u8>>, Failure> {
    let said = matches!(word, Some("swim" | "coflow"));
    let [file] = files else {
        return if said {
            Err(Failure::Input("one workload or trace of coflows at a time".to_owned()))
        } else {
            Ok(None)
        };
    };
    let may_be = said || word.is_none() && file.as_os_str() != runs::STANDARD_INPUT && file.is_file();
    if !may_be {
        return Ok(None);
    }
    let bytes = inputs.unpacked(file)?;
    let (swim, coflow) = (swim::is_swim(&bytes), coflow::is_coflow(&bytes));
    if matches!(word, Some("swim")) && !swim || matches!(word, Some("coflow")) && !coflow {
        let expected = if matches!(word, Some("swim")) { "a workload of SWIM" } else { "a trace of coflows" };
        return Err(Failure::Input(format!("{} is not {expected}", file.display())));
    }
    Ok((swim || coflow).then_some(bytes))
}

/// Jobs that were found, of the format that is expected if one is.
fn wanted(found: Result<Vec<Found>, Error>, word: Option<&str>, files: &[PathBuf]) -> Result<Vec<Found>, Failure> {
    let found = match found {
        Err(Error::Input(message)) if word.is_none() && FORMATS.iter().any(|word| files[0] == Path::new(word)) => {
            return Err(Failure::Input(format!("{message}; after a format's name a file is expected")));
        }
        other => other?,
    };
    match found.iter().find(|found| word.is_some_and(|word| word != found.format.name())) {
        Some(other) => {
            let (file, name) = (other.file.display(), other.format.name());
            Err(Failure::Input(format!("{file} is a history of format {name}")))
        }
        None => Ok(found),
    }
}

/// Writes a scenario of many, and says what is assumed in it.
fn deliver_many(args: &Import, imported: &ImportedMany) -> Result<(), Failure> {
    let text = imported.to_toml();
    sim::parse(&imported.scenario.name, &text, &[]).map_err(Error::Scenario)?;
    eprint!("{}", said(imported, &Screen::of_output()));
    write(args.output.as_deref(), &text)
}

/// Turns a cluster's configuration into a scenario.
fn cluster(args: &ImportCluster) -> Result<(), Failure> {
    writable(args.output.as_deref(), args.force)?;
    let inputs = Inputs::new(&STOP);
    let folder = args.folder.display().to_string();
    if !args.folder.is_dir() {
        return Err(Failure::Input(format!("{folder} is no folder: name the one that HADOOP_CONF_DIR names")));
    }
    let text = import::cluster(&folder, |name| {
        let name = name.strip_prefix("file://").unwrap_or(name);
        // A path of another machine may have its file in the folder.
        let within = Path::new(name).file_name().map(|name| args.folder.join(name));
        let places = [Some(args.folder.join(name)), within];
        let Some(place) = places.into_iter().flatten().find(|place| place.is_file()) else { return Ok(None) };
        let bytes = inputs.bytes(&place);
        bytes.map(Some).map_err(|error| ClusterError { file: String::new(), message: error.to_string() })
    });
    let text = text.map_err(|error| {
        let place = if error.file.is_empty() { String::new() } else { format!("{}/", folder.trim_end_matches('/')) };
        Failure::Input(format!("{place}{error}"))
    })?;
    sim::parse(&folder, &text, &[]).map_err(Error::Scenario)?;
    write(args.output.as_deref(), &text)
}

/// Before the work: what cannot be written is better known now.
pub fn writable(output: Option<&Path>, force: bool) -> Result<(), Failure> {
    let Some(path) = output else { return Ok(()) };
    let place = resolve(path).map_err(|error| Error::writing(path, &error))?;
    if !force && place.symlink_metadata().is_ok_and(|there| there.is_file()) {
        let path = path.display();
        return Err(Failure::Output(format!("{path} exists and is left as it is; --force overwrites it")));
    }
    Ok(())
}

pub fn write(output: Option<&Path>, text: &str) -> Result<(), Failure> {
    match output {
        None => emit(text),
        Some(path) => Ok(write_whole(path, text.as_bytes())?),
    }
}
