//! What a real job, its cluster and the host did meanwhile.

use crate::failure::Failure;
use crate::interrupt;
use crate::testbed_hadoop::links_file;
use crate::testbed_hadoop_args::Run;
use crate::testbed_hadoop_recorded::RecordedJob;
use runs::{Clock, Inputs, Which};
use scenario::Scenario;
use serde_json::{Value, json};
use std::fs;
use std::io::{self, IsTerminal, Write as _};
use std::path::Path;
use std::time::Duration;
use testbed::hadoop::faults::{Deed, FaultSession};
use testbed::hadoop::{
    self, Check, Client, HadoopError, Hdfs, Job, Load, Prepared, Ran, RequestLog, Requests, Running, Sample,
};
use testbed::link::{Host, Traffic};

/// How often the host's counters are read.
const SAMPLE: Duration = Duration::from_secs(1);
/// How often progress is told where it is not shown in place.
const TELL: Duration = Duration::from_secs(5);

/// What was measured of a job.
pub struct Measured {
    /// The client's process.
    pub ran: Ran,
    /// When it told that its first job, or its application on YARN, was submitted, in ms since 1970.
    pub submitted_ms: Option<u64>,
    /// What its output is worth.
    pub check: Check,
    /// What daemons, clients and the host had spent, second by second.
    pub samples: Vec<Sample>,
    /// Bytes of each host's interface.
    pub traffic: Vec<(String, Traffic)>,
    /// The jobs, by what they have left.
    pub jobs: Vec<RecordedJob>,
    /// How late frames left the emulated links; none where links are not emulated.
    pub links: Option<Value>,
    /// What was done of the cluster's faults.
    pub deeds: Vec<Deed>,
    /// What the object store was asked, where there is one.
    pub store: Option<Requests>,
}

impl Measured {
    /// What each daemon and client spent from the first sample to the last.
    pub fn roles(&self) -> Vec<hadoop::Share> {
        match self.samples.as_slice() {
            [first, .., last] => last.since(first),
            _ => Vec::new(),
        }
    }

    /// Seconds of processors in a stretch of time, in ms since 1970; none where it was not sampled.
    pub fn load(&self, from: i64, to: i64) -> Option<Load> {
        Load::between(&self.samples, u64::try_from(from).ok()?, u64::try_from(to).ok()?)
    }
}

/// Runs a job, and measures. What it leaves is copied into a folder.
pub fn measure(
    args: &Run,
    job: &Job,
    cluster: &Running,
    scenario: &Scenario,
    folder: &Path,
) -> Result<Measured, Failure> {
    let cluster_folder = &cluster.layout.folder;
    let stop = interrupt::requested;
    let quiet = args.quiet;
    let mut say = |what: &str| {
        if !quiet {
            eprintln!("{what}");
        }
    };
    let mut wait = |_: &str| {};
    let mut nothing = || Ok(());
    let mut before = Client {
        cluster,
        folder,
        limit: args.limit,
        stop: &stop,
        say: &mut say,
        tick: &mut wait,
        submitted: &mut nothing,
    };
    let prepared = job.prepare(cluster, scenario, &mut before)?;
    let reading = |error: io::Error| Failure::Output(format!("cannot read the host's counters: {error}"));
    let counters = || cluster.hosts().iter().map(Host::traffic).collect::<io::Result<Vec<_>>>();
    let links = || -> Option<Value> { serde_json::from_slice(&fs::read(links_file(cluster_folder)).ok()?).ok() };
    let log = RequestLog::open(&cluster.layout);
    let (links_before, traffic_before) = (links(), counters().map_err(reading)?);
    let mut samples = vec![Sample::take(cluster).map_err(reading)?];
    let mut shown = Shown::new(quiet);
    let (clock, mut next) = (Clock::start(), SAMPLE);
    let mut tick = |progress: &str| {
        if clock.elapsed() >= next {
            next = clock.elapsed() + SAMPLE;
            // A sample that cannot be taken is one less.
            samples.extend(Sample::take(cluster));
        }
        shown.show(clock.elapsed(), progress);
    };
    let has_faults = !scenario.faults.is_empty() && !args.without_faults;
    let mut session = if has_faults { Some(FaultSession::open(&cluster.layout)?) } else { None };
    let mut submitted_ms = None;
    let mut submitted = || {
        let now = hadoop::now_ms();
        submitted_ms = Some(now);
        session.as_mut().map_or(Ok(()), |session| session.submitted(now))
    };
    let mut client = Client {
        cluster,
        folder,
        limit: args.limit,
        stop: &stop,
        say: &mut say,
        tick: &mut tick,
        submitted: &mut submitted,
    };
    let ran = client.run(prepared.command(), "job");
    shown.finish();
    samples.push(Sample::take(cluster).map_err(reading)?);
    // Whatever became of the job: the next one finds a whole cluster.
    let deeds = match session {
        Some(session) if !stop() => session.over(),
        _ => Ok(Vec::new()),
    };
    let ran = ran.inspect_err(|_| prepared.discard())?;
    let deeds = deeds?;
    let store = match log {
        None => None,
        Some(log) => Some(log.copy(&folder.join("requests.tsv"))?),
    };
    let traffic = counters().map_err(reading)?.into_iter().zip(traffic_before).zip(cluster.hosts());
    let traffic = traffic.map(|((now, then), host)| {
        let difference = Traffic { received: now.received - then.received, sent: now.sent - then.sent };
        (host.name().to_owned(), difference)
    });
    let traffic = traffic.collect();
    // What the supervisor has published last is at most a second old.
    let links = lateness(links_before.as_ref(), links().as_ref());
    let mut after = Client {
        cluster,
        folder,
        limit: args.limit,
        stop: &stop,
        say: &mut say,
        tick: &mut wait,
        submitted: &mut nothing,
    };
    let check = prepared.check(&mut after, &ran.log).inspect_err(|_| prepared.discard())?;
    let jobs = recorded(&prepared, cluster, &ran, &check, folder).inspect_err(|_| prepared.discard())?;
    Ok(Measured { ran, submitted_ms, check, samples, traffic, jobs, links, deeds, store })
}

/// The jobs of a run, by what they have left; it is copied into a folder.
fn recorded(
    prepared: &Prepared<'_>,
    cluster: &Running,
    ran: &Ran,
    check: &Check,
    folder: &Path,
) -> Result<Vec<RecordedJob>, Failure> {
    let inputs = Inputs::new(&interrupt::STOP);
    let mut jobs = Vec::new();
    if let Some(events) = prepared.events() {
        for log in hadoop::event_logs(events, folder)? {
            let application = inputs.event_log(&log)?;
            let application = application.ok_or_else(|| {
                Failure::RealJob(format!("{} is no event log", log.file_name().unwrap_or_default().display()))
            })?;
            jobs.push(RecordedJob::Spark(Box::new(application)));
        }
        return Ok(jobs);
    }
    for id in &ran.jobs {
        let [file, configuration] = hadoop::history(Hdfs::of(cluster), id, folder, &interrupt::requested)?;
        let found = inputs.jobs(&[file, configuration], Which::All)?;
        jobs.extend(found.into_iter().map(|found| RecordedJob::MapReduce(Box::new(found.job))));
    }
    if jobs.is_empty() && !matches!(check, Check::Unknown(_)) {
        return Err(HadoopError::Failed("the client told of no job".to_owned()).into());
    }
    Ok(jobs)
}

/// Progress on standard error: in place on a terminal, else a line now and then.
struct Shown {
    quiet: bool,
    in_place: bool,
    told: Duration,
    last: String,
}

impl Shown {
    fn new(quiet: bool) -> Self {
        Self { quiet, in_place: io::stderr().is_terminal(), told: Duration::ZERO, last: String::new() }
    }

    fn show(&mut self, elapsed: Duration, progress: &str) {
        if self.quiet || progress.is_empty() {
            return;
        }
        if self.in_place {
            eprint!("\r{:4} s  {progress}   ", elapsed.as_secs());
            // Progress that cannot be shown is no reason to stop.
            let _ = io::stderr().flush();
        } else if progress != self.last && elapsed >= self.told + TELL {
            self.told = elapsed;
            eprintln!("{:4} s  {progress}", elapsed.as_secs());
        }
        progress.clone_into(&mut self.last);
    }

    fn finish(&self) {
        if self.in_place && !self.last.is_empty() && !self.quiet {
            eprint!("\r{:60}\r", "");
        }
    }
}

/// The emulator's lateness between two reports; none where links are not emulated.
fn lateness(before: Option<&Value>, after: Option<&Value>) -> Option<Value> {
    let sum = |report: &Value, key: &str| -> u64 {
        let paths = report["paths"].as_array().into_iter().flatten();
        paths.flat_map(|path| [&path["forth"], &path["back"]]).filter_map(|way| way["lateness"][key].as_u64()).sum()
    };
    let after = after?;
    let of = |key: &str| sum(after, key).saturating_sub(before.map_or(0, |before| sum(before, key)));
    let (frames, late) = (of("count"), of("late"));
    let share = if frames > 0 { late as f64 / frames as f64 } else { 0.0 };
    Some(json!({ "frames": frames, "late": late, "late_share": share, "tolerance_us": after["tolerance_us"] }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_before_a_job_are_none_of_it() {
        let report = |count: u64, late: u64| {
            let way = json!({ "lateness": { "count": count, "late": late } });
            json!({ "tolerance_us": 1000, "paths": [{ "forth": way, "back": way }] })
        };
        let (before, after) = (report(100, 40), report(300, 41));
        let of = lateness(Some(&before), Some(&after)).expect("emulated");
        // Both ways of the one path: 2 x 200 frames, 2 of them late.
        assert_eq!((&of["frames"], &of["late"], &of["late_share"]), (&400.into(), &2.into(), &0.005.into()));
        assert_eq!(lateness(None, None), None);
    }
}
