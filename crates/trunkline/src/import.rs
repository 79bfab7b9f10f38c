//! `trunkline import`.

use crate::args::{History, Import};
use crate::emit;
use crate::failure::Failure;
use crate::import_many::{import_all, import_many, is_many, said};
use crate::interrupt::STOP;
use crate::screen::Screen;
use history::Format;
use history::import::{self, ImportError, Sources};
use runs::{Error, Inputs, pick_job, resolve, write_whole};

/// Turns a history into a scenario.
pub fn import(args: &Import) -> Result<(), Failure> {
    let inputs = Inputs::new(&STOP);
    if let Some(path) = &args.output {
        // Before the work: what cannot be written is better known now.
        let place = resolve(path).map_err(|error| Error::writing(path, &error))?;
        if !args.force && place.symlink_metadata().is_ok_and(|there| there.is_file()) {
            let path = path.display();
            return Err(Failure::Output(format!("{path} exists and is left as it is; --force overwrites it")));
        }
    }
    if matches!(args.format, History::Swim | History::Coflow) {
        let bytes = inputs.bytes(&args.file)?;
        if !is_many(&bytes) {
            let file = args.file.display();
            return Err(Failure::Input(format!("{file} is neither a workload of SWIM nor a trace of coflows")));
        }
        let cluster = read_cluster(&inputs, args)?;
        let cluster = cluster.as_ref().map(|(name, text)| (name.as_str(), text.as_str()));
        let imported = import_many(args, &bytes, cluster)?;
        eprint!("{}", said(&imported, &Screen::of_output()));
        return deliver(args, &imported.scenario.name, &imported.to_toml());
    }
    let (format, jobs) = inputs.history(&args.file)?;
    let of_format = match format {
        Format::AvroBinary | Format::AvroJson => History::Jhist,
        Format::Rumen => History::Rumen,
        Format::Sls => History::Sls,
    };
    if of_format != args.format {
        let name = format!("{of_format:?}").to_lowercase();
        return Err(Failure::Input(format!("{} is a history of format {name}", args.file.display())));
    }
    let cluster = read_cluster(&inputs, args)?;
    let cluster = cluster.as_ref().map(|(name, text)| (name.as_str(), text.as_str()));
    let settings = args.run.as_deref().map(|path| inputs.settings(path)).transpose()?;
    let writer = match &args.written_by {
        None => None,
        Some(path) => Some(pick_job(path, inputs.history(path)?.1, None)?),
    };
    if args.all {
        let imported = import_all(args, &jobs, &Sources { cluster, settings, writer: writer.as_ref() })?;
        eprint!("{}", said(&imported, &Screen::of_output()));
        return deliver(args, &imported.scenario.name, &imported.to_toml());
    }
    let job = pick_job(&args.file, jobs, args.job.as_deref())?;
    let imported =
        import::import(&job, &Sources { cluster, settings, writer: writer.as_ref() }).map_err(|error| match error {
            ImportError::Scenario(error) => Failure::Runs(Error::Scenario(error)),
            other => Failure::Input(format!("{}: {other}", args.file.display())),
        })?;
    deliver(args, &job.id, &imported.to_toml())
}

/// Name and text of the cluster's scenario.
fn read_cluster(inputs: &Inputs, args: &Import) -> Result<Option<(String, String)>, Failure> {
    Ok(match &args.cluster {
        None => None,
        Some(path) => Some((path.display().to_string(), inputs.text(path)?)),
    })
}

/// Writes a scenario. What is written can run: the engine's checks hold too.
fn deliver(args: &Import, name: &str, text: &str) -> Result<(), Failure> {
    sim::parse(name, text, &[]).map_err(Error::Scenario)?;
    match &args.output {
        None => emit(text),
        Some(path) => Ok(write_whole(path, text.as_bytes())?),
    }
}
