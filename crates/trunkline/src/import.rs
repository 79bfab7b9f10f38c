//! `trunkline import`.

use crate::args::{History, Import};
use crate::emit;
use crate::failure::Failure;
use crate::import_check::{self, Asked};
use crate::interrupt::STOP;
use crate::progress::Meter;
use history::Format;
use history::import::{self, ImportError, Sources};
use runs::{Effort, Error, Inputs, pick_job, resolve, write_whole};

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
    let job = pick_job(&args.file, jobs, args.job.as_deref())?;
    let cluster = match &args.cluster {
        None => None,
        Some(path) => Some((path.display().to_string(), inputs.text(path)?)),
    };
    let settings = args.run.as_deref().map(|path| inputs.settings(path)).transpose()?;
    let writer = match &args.written_by {
        None => None,
        Some(path) => Some(pick_job(path, inputs.history(path)?.1, None)?),
    };
    let cluster = cluster.as_ref().map(|(name, text)| (name.as_str(), text.as_str()));
    let mut imported =
        import::import(&job, &Sources { cluster, settings, writer: writer.as_ref() }).map_err(|error| match error {
            ImportError::Scenario(error) => Failure::Runs(Error::Scenario(error)),
            other => Failure::Input(format!("{}: {other}", args.file.display())),
        })?;
    // What is written can run: the engine's checks hold too.
    sim::parse(&job.id, &imported.to_toml(), &[]).map_err(Error::Scenario)?;
    let asked = Asked { none: args.no_check, strict: args.strict, to_output: args.output.is_none() };
    let meter = Meter::new(1, false);
    let progress = |run: usize, progress: &sim::Progress| meter.update(run, progress);
    let effort = Effort { threads: Some(1), stop: &STOP, progress: &progress };
    let checked = import_check::fit(&mut imported, asked, &effort);
    meter.finish();
    let checked = checked?;
    let text = imported.to_toml();
    match &args.output {
        None => emit(&text)?,
        Some(path) => write_whole(path, text.as_bytes())?,
    }
    import_check::report(&imported, checked.as_ref(), asked)
}
