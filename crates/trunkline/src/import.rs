//! `trunkline import`.

use crate::args::{Import, ImportCluster, ImportOf};
use crate::emit;
use crate::failure::Failure;
use crate::interrupt::STOP;
use history::import::{self, ClusterError, ImportError, Settings, Sources};
use runs::{Error, Found, Inputs, pick_job, resolve, write_whole};
use std::path::{Path, PathBuf};

/// Words that stand before the files and say their format.
const FORMATS: [&str; 4] = ["jhist", "text", "rumen", "sls"];

/// Turns a history, or a cluster's configuration, into a scenario.
pub fn import(args: &Import) -> Result<(), Failure> {
    if let Some(ImportOf::Cluster(args)) = &args.of {
        return cluster(args);
    }
    writable(args.output.as_deref(), args.force)?;
    let inputs = Inputs::new(&STOP);
    let found = wanted(&inputs, args)?;
    let cluster = match &args.cluster {
        None => None,
        Some(path) => Some((path.display().to_string(), inputs.text(path)?)),
    };
    let settings = settings(&inputs, &found, args.run.as_deref())?;
    let writer = match &args.written_by {
        None => None,
        Some(path) => Some(pick_job(path, inputs.history(path)?.1, None)?),
    };
    let cluster = cluster.as_ref().map(|(name, text)| (name.as_str(), text.as_str()));
    let imported = import::import(&found.job, &Sources { cluster, settings, writer: writer.as_ref() }).map_err(
        |error| match error {
            ImportError::Scenario(error) => Failure::Runs(Error::Scenario(error)),
            other => Failure::Input(format!("{}: {other}", found.file.display())),
        },
    )?;
    let text = imported.to_toml();
    // What is written can run: the engine's checks hold too.
    sim::parse(&found.job.id, &text, &[]).map_err(Error::Scenario)?;
    write(args.output.as_deref(), &text)
}

/// The job that is meant, of the format that is expected if one is.
fn wanted(inputs: &Inputs, args: &Import) -> Result<Found, Failure> {
    // A file of that name is meant where it is the only word.
    let word = args.files[0].to_str().filter(|word| args.files.len() > 1 && FORMATS.contains(word));
    let files: &[PathBuf] = if word.is_some() { &args.files[1..] } else { &args.files };
    let found = match inputs.job(files, args.job.as_deref()) {
        Err(Error::Input(message)) if word.is_none() && FORMATS.iter().any(|word| args.files[0] == Path::new(word)) => {
            return Err(Failure::Input(format!("{message}; after a format's name a file is expected")));
        }
        other => other?,
    };
    match word {
        Some(word) if word != found.format.name() => {
            let (file, name) = (found.file.display(), found.format.name());
            Err(Failure::Input(format!("{file} is a history of format {name}")))
        }
        _ => Ok(found),
    }
}

/// What is known of the job's configuration: its own, and before it the run's description.
fn settings(inputs: &Inputs, found: &Found, run: Option<&Path>) -> Result<Option<Settings>, Failure> {
    let described = run.map(|path| inputs.settings(path)).transpose()?;
    let (file, properties) = match &found.configuration {
        Some((file, properties)) => (file, properties),
        None => (&found.file, &found.job.properties),
    };
    if properties.is_empty() {
        return Ok(described);
    }
    let own = Settings::of_job(properties).map_err(|error| Failure::Input(format!("{}: {error}", file.display())))?;
    Ok(Some(match described {
        Some(described) => described.before(own),
        None => own,
    }))
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
fn writable(output: Option<&Path>, force: bool) -> Result<(), Failure> {
    let Some(path) = output else { return Ok(()) };
    let place = resolve(path).map_err(|error| Error::writing(path, &error))?;
    if !force && place.symlink_metadata().is_ok_and(|there| there.is_file()) {
        let path = path.display();
        return Err(Failure::Output(format!("{path} exists and is left as it is; --force overwrites it")));
    }
    Ok(())
}

fn write(output: Option<&Path>, text: &str) -> Result<(), Failure> {
    match output {
        None => emit(text),
        Some(path) => Ok(write_whole(path, text.as_bytes())?),
    }
}
