//! What a job leaves: its history and configuration, from where HDFS keeps them, or its driver's event log.

use super::HadoopError;
use super::hdfs::Hdfs;
use super::settings::HISTORY;
use crate::link::Clock;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;
use units::Time;

/// The AppMaster writes a history after its job's end; by then it has long been there.
const PATIENCE: Time = Time::from_secs(30);
const ENDINGS: [&str; 2] = [".jhist", "_conf.xml"];

/// Copies history and configuration of a job into a folder; their paths there.
pub fn history(
    hdfs: Hdfs<'_>,
    job: &str,
    folder: &Path,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<[PathBuf; 2], HadoopError> {
    let clock = Clock::start();
    loop {
        let copied = copy(hdfs, job, folder)?;
        if let Some(files) = copied {
            return Ok(files);
        }
        if stop() {
            return Err(HadoopError::Interrupted);
        }
        if clock.now() > PATIENCE {
            return Err(HadoopError::Failed(format!("{job} has left no history in HDFS's {HISTORY}")));
        }
        thread::sleep(Duration::from_millis(200));
    }
}

/// Moves the event logs of an application of Spark into a folder; their paths there. A program may have several, one
/// for each context that it made.
pub fn event_logs(events: &Path, folder: &Path) -> Result<Vec<PathBuf>, HadoopError> {
    let reading = || HadoopError::system(format!("read {}", events.display()));
    let mut logs = Vec::new();
    for entry in fs::read_dir(events).map_err(reading())? {
        let entry = entry.map_err(reading())?;
        // A name of the driver's, which runs what the user gave it; what is no file of its own is no log.
        if !entry.file_type().map_err(reading())?.is_file() {
            continue;
        }
        let to = folder.join(entry.file_name());
        fs::copy(entry.path(), &to).map_err(HadoopError::system(format!("write {}", to.display())))?;
        logs.push(to);
    }
    logs.sort();
    fs::remove_dir_all(events).map_err(HadoopError::system(format!("remove {}", events.display())))?;
    if logs.is_empty() {
        return Err(HadoopError::Failed("the application has left no event log: it made no context".to_owned()));
    }
    Ok(logs)
}

fn copy(hdfs: Hdfs<'_>, job: &str, folder: &Path) -> Result<Option<[PathBuf; 2]>, HadoopError> {
    let files = hdfs.files(HISTORY)?;
    let of = |ending: &str| {
        let ours = |name: &str| {
            let rest = name.strip_prefix(job);
            // job_1_1 is not job_1_10.
            rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit())) && name.ends_with(ending)
        };
        files.iter().find(|(_, entry)| ours(&entry.name))
    };
    let [Some(history), Some(configuration)] = ENDINGS.map(of) else { return Ok(None) };
    let mut paths = Vec::new();
    for (path, entry) in [history, configuration] {
        // The history server may move a file between the look and the reading.
        let Ok(content) = hdfs.read(path) else { return Ok(None) };
        let to = folder.join(entry.name.replace(['/', '\0'], "-"));
        fs::write(&to, content).map_err(HadoopError::system(format!("write {}", to.display())))?;
        paths.push(to);
    }
    Ok(paths.try_into().ok())
}
