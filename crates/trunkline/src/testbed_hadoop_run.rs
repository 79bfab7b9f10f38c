//! `trunkline testbed hadoop run`: a real job, and what it, its cluster and the host did meanwhile.

use crate::failure::Failure;
use crate::recorded_run::late_words;
use crate::screen::Screen;
use crate::table::Table;
use crate::testbed_hadoop::{links_file, need_room, need_root, running};
use crate::testbed_hadoop_args::Run;
use crate::testbed_hadoop_kat as kat;
use crate::testbed_hadoop_predict::{Predicted, predict};
use crate::testbed_hadoop_recorded::{Phase, RecordedJob};
use crate::testbed_spark_predict::predict_spark;
use crate::{emit, interrupt};
use runs::{Clock, Error, Folder, Inputs, Which};
use scenario::{FileSystem, Job as ScenarioJob, Scenario};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs::{self, File, TryLockError};
use std::io::{self, IsTerminal, Write as _};
use std::path::Path;
use std::time::Duration;
use testbed::hadoop::faults::{Deed, FaultSession};
use testbed::hadoop::{
    self, Check, Client, Engine, HadoopError, Hdfs, Input, Job, Kind, Load, Prepared, Ran, RequestLog, Requests,
    Running, Sample, is_worker,
};
use testbed::link::{Host, Traffic};
use units::{Bytes, Time};

/// How often the host's counters are read.
const SAMPLE: Duration = Duration::from_secs(1);
/// How often progress is told where it is not shown in place.
const TELL: Duration = Duration::from_secs(5);

/// What was measured of a job.
struct Measured {
    ran: Ran,
    check: Check,
    samples: Vec<Sample>,
    traffic: Vec<(String, Traffic)>,
    jobs: Vec<RecordedJob>,
    links: Option<Value>,
    /// What was done of the cluster's faults.
    deeds: Vec<Deed>,
    /// What the object store was asked, where there is one.
    store: Option<Requests>,
}

impl Measured {
    /// What each daemon and client spent from the first sample to the last.
    fn roles(&self) -> Vec<hadoop::Share> {
        match self.samples.as_slice() {
            [first, .., last] => last.since(first),
            _ => Vec::new(),
        }
    }
}

/// Runs a job, and leaves a folder with what it did.
pub fn run(args: &Run) -> Result<(), Failure> {
    need_root()?;
    let mut job = Job {
        kind: args.job.clone(),
        text: if args.kat { Input::Words } else { Input::Lines },
        input: args.input,
        maps: args.maps,
        reducers: args.reducers,
        properties: args.property.clone(),
        arguments: args.arguments.clone(),
        in_store: [false; 2],
    };
    job.check()?;
    let (record, cluster) = running(&args.name)?;
    let _alone = alone(&args.name, &record.folder)?;
    let scenario = cluster.layout.scenario();
    let scenario_text = fs::read_to_string(&scenario).map_err(|error| Error::reading(&scenario, &error))?;
    let scenario = Scenario::parse("scenario.toml", &scenario_text, &[]).map_err(Error::Scenario)?;
    job.check_engine(cluster.engine())?;
    if scenario.object_store.is_some() && job.kind != Kind::Pi {
        let jobs = || scenario.job.iter();
        job.in_store = [jobs().any(ScenarioJob::reads_objects), jobs().any(ScenarioJob::writes_objects)];
        job.check()?;
    }
    if !matches!(job.kind, Kind::Jar(_) | Kind::Pi) {
        // Input and output with their replicas, map output, and as much for merging it.
        let copies = 2 * u64::from(scenario.hdfs.replication) + 2;
        need_room(&record.folder, job.input.get().saturating_mul(copies), "the job with its replicas")?;
    }
    let results = Path::new("results").join("hadoop");
    if args.kat {
        let target = args.out.clone().unwrap_or_else(|| results.join(format!("{}-kat", job.name())));
        return kat::run(args, job, &cluster, &scenario, &target);
    }
    let target = args.out.clone().unwrap_or_else(|| results.join(job.name()));
    one(args, &job, &cluster, scenario, &target).map(|_| ())
}

/// A job that was run.
pub struct Outcome {
    /// From the launch to the end of its jobs, in seconds.
    pub seconds: f64,
    /// Bytes that the interfaces of all workers received.
    pub into_workers: u64,
    /// The same as simulated.
    pub predicted: Option<Predicted>,
    /// Seconds of processors that others on this machine had meanwhile.
    pub others_s: f64,
}

/// Runs a job, and leaves a folder with what it did.
pub fn one(args: &Run, job: &Job, cluster: &Running, scenario: Scenario, target: &Path) -> Result<Outcome, Failure> {
    let folder = Folder::create(target).map_err(Error::from)?;
    let measured = measure(args, job, cluster, &scenario, folder.path())?;
    folder.file("cluster.toml", cluster_toml(as_it_was(scenario, &measured)).as_bytes()).map_err(Error::from)?;
    if cluster.engine() == Engine::Yarn {
        folder.file("run.toml", run_toml(job, &measured).as_bytes()).map_err(Error::from)?;
    }
    let result = format!("{:#}\n", result_json(job, cluster, &measured));
    folder.file("result.json", result.as_bytes()).map_err(Error::from)?;
    folder.commit().map_err(Error::from)?;
    if args.json {
        emit(&result)?;
    } else {
        emit(&summary(job, cluster, &measured, target))?;
    }
    if let Check::Wrong(what) = &measured.check {
        return Err(Failure::RealJob(format!("the output is wrong: {what}; results: {}", target.display())));
    }
    if let Some((deed, why)) = measured.deeds.iter().find_map(|deed| Some((deed, deed.failed.as_ref()?))) {
        return Err(Failure::RealJob(format!("a fault was not made: {}: {why}", deed.what)));
    }
    let into_workers = into_workers(&measured.traffic);
    let mut predicted = None;
    if args.predict {
        for job in &measured.jobs {
            let own = if measured.jobs.len() == 1 { "predicted".to_owned() } else { format!("predicted-{}", job.id()) };
            let own = target.join(own);
            predicted = match job {
                RecordedJob::MapReduce(job) => predict(target, job, &own, args.quiet, args.json)?,
                RecordedJob::Spark(application) => {
                    predict_spark(application, into_workers, (target, &own), args.quiet, args.json)?
                }
            };
        }
    }
    let spans = measured.jobs.iter().filter_map(RecordedJob::span);
    let (begin, end) = spans.fold((i64::MAX, 0), |all, span| (all.0.min(span.0), all.1.max(span.1)));
    Ok(Outcome {
        seconds: end.saturating_sub(begin).max(0) as f64 / 1e3,
        into_workers,
        predicted,
        others_s: load(&measured, begin, end).map_or(0.0, |load| load.other_s),
    })
}

fn into_workers(traffic: &[(String, Traffic)]) -> u64 {
    let workers = traffic.iter().enumerate().filter(|(index, (host, _))| is_worker(*index, host));
    workers.map(|(_, (_, traffic))| traffic.received).sum()
}

/// Keeps other jobs off a cluster: what is measured would be of both.
fn alone(name: &str, folder: &Path) -> Result<File, Failure> {
    let file = folder.join("run.lock");
    let lock = File::create(&file).map_err(|error| Error::writing(&file, &error))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(Failure::Input(format!(
            "a job runs on cluster {name}, and what is measured would be of both: wait for it, or bring up \
             another cluster"
        ))),
        Err(TryLockError::Error(error)) => Err(Error::writing(&file, &error).into()),
    }
}

fn measure(args: &Run, job: &Job, cluster: &Running, scenario: &Scenario, folder: &Path) -> Result<Measured, Failure> {
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
    let mut say = |what: &str| {
        if !quiet {
            eprintln!("{what}");
        }
    };
    let has_faults = !scenario.faults.is_empty() && !args.without_faults;
    let mut session = if has_faults { Some(FaultSession::open(&cluster.layout)?) } else { None };
    let mut submitted = || session.as_mut().map_or(Ok(()), |session| session.submitted(hadoop::now_ms()));
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
    Ok(Measured { ran, check, samples, traffic, jobs, links, deeds, store })
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

fn load(measured: &Measured, from: i64, to: i64) -> Option<Load> {
    Load::between(&measured.samples, u64::try_from(from).ok()?, u64::try_from(to).ok()?)
}

fn result_json(job: &Job, cluster: &Running, measured: &Measured) -> Value {
    let phase = |job: &RecordedJob| -> Vec<Value> {
        let of = |(name, from, to): Phase| {
            let (s, load) = ((to - from) as f64 / 1e3, load(measured, from, to));
            json!({ "phase": name, "s": s, "load": load })
        };
        job.phases().into_iter().map(of).collect()
    };
    let roles = measured.roles();
    let traffic = measured
        .traffic
        .iter()
        .map(|(host, traffic)| json!({ "host": host, "received": traffic.received, "sent": traffic.sent }));
    json!({
        "schema": "trunkline-testbed-hadoop/1",
        "job": job.name(),
        "input_bytes": job.input.get(),
        "maps": job.maps,
        "reducers": job.reducers,
        "properties": job.properties,
        "client_wall_s": measured.ran.wall_s,
        "check": measured.check,
        "jobs": measured.jobs.iter().map(|job| json!({
            "id": job.id(), "state": job.state(), "phases": phase(job),
        })).collect::<Vec<_>>(),
        "interfaces": traffic.collect::<Vec<_>>(),
        "object_store": measured.store,
        "roles": roles,
        "links": measured.links,
        "faults": faults_json(measured),
        "samples": measured.samples,
        "host": host_facts(),
        "hadoop": hadoop::VERSION,
        "spark": cluster.ready.spark,
        "java": cluster.ready.java,
        "link_kind": cluster.ready.links,
    })
}

/// What was done of each fault, in seconds since the submission of the first job.
fn faults_json(measured: &Measured) -> Vec<Value> {
    let of = |deed: &Deed| {
        let [began, ended, ready] = times(measured, deed);
        json!({
            "fault": deed.fault, "what": deed.what, "failed": deed.failed,
            "began_s": began, "ended_s": ended, "ready_s": ready,
        })
    };
    measured.deeds.iter().map(of).collect()
}

/// When a fault began, ended, and was over for the daemons that started again, in seconds since the submission of the
/// first job.
fn times(measured: &Measured, deed: &Deed) -> [Option<f64>; 3] {
    let submitted = measured.jobs.first().map(RecordedJob::submit_ms);
    let since = |at: Option<u64>| {
        let at = i64::try_from(at?).ok()?;
        Some((at - submitted?) as f64 / 1e3)
    };
    [deed.began_ms, deed.ended_ms, deed.ready_ms].map(since)
}

/// The cluster's scenario with its faults as they were: a simulation takes a node for back when its daemons are.
fn as_it_was(mut scenario: Scenario, measured: &Measured) -> Scenario {
    let mut made = Vec::new();
    for deed in measured.deeds.iter().filter(|deed| deed.failed.is_none()) {
        let ([Some(began), ended, ready], Some(mut fault)) =
            (times(measured, deed), scenario.faults.get(deed.fault).cloned())
        else {
            continue;
        };
        let began = began.max(0.0);
        // One that lasted for the whole job has no end in it.
        let lasts = fault.down_for.or(fault.slow_for);
        let length = lasts.and(ready.or(ended)).map(|end| Time::from_secs_f64((end - began).max(1e-3)));
        fault.at = Time::from_secs_f64(began);
        *(if fault.slow.is_some() { &mut fault.slow_for } else { &mut fault.down_for }) = length;
        made.push(fault);
    }
    scenario.faults = made;
    scenario
}

/// The machine, by which runs are told apart.
fn host_facts() -> Value {
    let read = |file: &str| fs::read_to_string(file).unwrap_or_default();
    let field = |text: &str, name: &str| {
        text.lines()
            .find_map(|line| line.strip_prefix(name))
            .and_then(|rest| rest.split_once(':'))
            .map(|(_, value)| value.trim().to_owned())
    };
    json!({
        "processor": field(&read("/proc/cpuinfo"), "model name"),
        "cores": std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        "memory": field(&read("/proc/meminfo"), "MemTotal"),
        "kernel": read("/proc/sys/kernel/osrelease").trim(),
    })
}

/// The cluster as `trunkline import --cluster` takes it: its scenario, with a job that an import replaces.
fn cluster_toml(mut scenario: Scenario) -> String {
    let in_store = |uses: fn(&ScenarioJob) -> bool, key: &str, jobs: &[ScenarioJob]| {
        let store = FileSystem::ObjectStore.word();
        if jobs.iter().any(uses) { format!("{key} = {store:?}\n") } else { String::new() }
    };
    let stores = in_store(ScenarioJob::reads_objects, "input-store", &scenario.job)
        + &in_store(ScenarioJob::writes_objects, "output-store", &scenario.job);
    scenario.job.clear();
    if let Some(spark) = &mut scenario.spark {
        // Its settings: stages are the application's.
        spark.stage.clear();
        spark.pause.clear();
        return scenario.to_toml().replacen("job = []\n", "", 1).replacen("stage = []\n", "", 1);
    }
    let without = scenario.to_toml().replacen("job = []\n", "", 1);
    format!("{without}\n[job]        # replaced by the imported one\nworkload = \"generic\"\n{stores}")
}

/// The run as `trunkline import --run` takes it.
fn run_toml(job: &Job, measured: &Measured) -> String {
    let name = job.name();
    let mut text = format!("# a run of a real Hadoop job, by trunkline testbed hadoop run\nname = {name:?}\n");
    // Writing to a string does not fail.
    let _ = writeln!(text, "client_wall_s = {:.1}\n\n[interface_bytes]", measured.ran.wall_s);
    for (host, Traffic { received, sent }) in &measured.traffic {
        let _ = writeln!(text, "{host} = {{ received = {received}, sent = {sent} }}");
    }
    if let Some(store) = &measured.store {
        text.push_str("\n[store_requests]\n");
        for (kind, count) in &store.requests {
            let _ = writeln!(text, "{kind} = {count}");
        }
    }
    // The configuration itself is the file beside the history.
    text.push_str("\n[configuration]\n");
    text
}

fn summary(job: &Job, cluster: &Running, measured: &Measured, target: &Path) -> String {
    let screen = Screen::of_output();
    let mut text = format!("{}: {:.1} s for its client\n", job.name(), measured.ran.wall_s);
    let _ = match &measured.check {
        Check::Right(what) => writeln!(text, "the output is right: {what}"),
        Check::Wrong(what) => writeln!(text, "the output is wrong: {what}"),
        Check::Unknown(why) => writeln!(text, "the output is not checked: {why}"),
    };
    for job in &measured.jobs {
        let mut table = Table::new([job.id(), "real", "cluster", "others", "stolen"]);
        for (name, from, to) in job.phases() {
            let seconds = |value: f64| format!("{value:.1} s");
            let of = load(measured, from, to);
            let share = |part: fn(&Load) -> f64| of.as_ref().map_or_else(String::new, |of| seconds(part(of)));
            table.row([
                name,
                seconds((to - from) as f64 / 1e3),
                share(|load| load.cluster_s),
                share(|load| load.other_s),
                share(|load| load.steal_s),
            ]);
        }
        let _ = write!(text, "\n{}", table.shown(&screen));
    }
    text.push_str("cluster, others, stolen: seconds of processors that each had in the phase\n\n");
    let mut table = Table::new(["host", "received", "sent", "disk read", "written"]);
    let roles = measured.roles();
    for (host, traffic) in &measured.traffic {
        let of = |part: fn(&hadoop::Share) -> u64| -> u64 { roles.iter().filter(|r| r.host == *host).map(part).sum() };
        let shown = |bytes: u64| format!("{:.1}", Bytes::new(bytes));
        table.row([
            host.clone(),
            shown(traffic.received),
            shown(traffic.sent),
            shown(of(|role| role.read)),
            shown(of(|role| role.written)),
        ]);
    }
    text.push_str(&table.shown(&screen));
    if let Some(store) = &measured.store {
        let kinds: Vec<String> = store.requests.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        let _ = write!(text, "requests to the object store: {}", kinds.join(", "));
        let _ = match store.throttled {
            0 => writeln!(text),
            refused => writeln!(text, "; of them {refused} told to slow down"),
        };
        let (all, late) = (store.requests.values().sum::<u64>(), store.late);
        if late > 0 {
            let longest = store.longest_own_s;
            let _ = writeln!(
                text,
                "{late} of {all} answers began later than the scenario's latency: the server itself took up to \
                 {longest:.2} s"
            );
        }
    }
    for deed in &measured.deeds {
        let [began, ended, ready] = times(measured, deed).map(|time| time.map(|s| format!("{s:.1} s")));
        let _ = write!(text, "{}", deed.what);
        let _ = match (began, ended, ready, &deed.failed) {
            (.., Some(why)) => writeln!(text, ": failed: {why}"),
            (None, ..) => writeln!(text, ": the job was over before"),
            (Some(began), Some(ended), Some(ready), None) => {
                writeln!(text, " at {began}; its daemons start again at {ended} and have registered at {ready}")
            }
            (Some(began), Some(ended), None, None) => writeln!(text, " from {began} to {ended}"),
            (Some(began), None, ..) => writeln!(text, " at {began}"),
        };
    }
    if let Some(late) = measured.links.as_ref().and_then(late_words) {
        let _ = writeln!(text, "{late}");
    }
    let _ = writeln!(text, "\nresults: {}; links are {}", target.display(), cluster.ready.links);
    text
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

    #[test]
    fn a_cluster_s_scenario_can_be_imported_with() {
        let scenario = Scenario::parse("a.toml", "[network]\nrate = \"10 Mbit/s\"\n[job]\n", &[]).expect("valid");
        let text = cluster_toml(scenario);
        let read = Scenario::parse("cluster.toml", &text, &["job.workload=\"generic\"".to_owned()]);
        assert_eq!(read.expect("valid").job.len(), 1);
        let text = "[network]\nrate = \"10 Mbit/s\"\n[spark]\nexecutors = 2\n[[spark.stage]]\nname = \"none\"\n";
        let text = cluster_toml(Scenario::parse("a.toml", text, &[]).expect("valid"));
        // An import adds the stages.
        let with = format!("{text}\n[[spark.stage]]\nname = \"count\"\n");
        let spark = Scenario::parse("cluster.toml", &with, &[]).expect("valid").spark.expect("it has Spark");
        assert_eq!((spark.executors, spark.stage.len()), (2, 1));
    }
}
