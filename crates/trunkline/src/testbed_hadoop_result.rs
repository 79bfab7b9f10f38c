//! What `trunkline testbed hadoop run` leaves of a job, and prints.

use crate::recorded_run::late_words;
use crate::screen::Screen;
use crate::table::Table;
use crate::testbed_hadoop_measure::Measured;
use crate::testbed_hadoop_recorded::{Phase, RecordedJob};
use scenario::{FileSystem, Job as ScenarioJob, Scenario};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use testbed::hadoop::faults::Deed;
use testbed::hadoop::{self, Check, Job, Load, Running};
use testbed::link::Traffic;
use units::{Bytes, Time};

/// `result.json` of a run.
pub fn result_json(job: &Job, cluster: &Running, measured: &Measured) -> Value {
    let phase = |job: &RecordedJob| -> Vec<Value> {
        let of = |(name, from, to): Phase| {
            let (s, load) = ((to - from) as f64 / 1e3, measured.load(from, to));
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

/// When a fault began, ended, and was over for the daemons that started again, in seconds since a run of the job as a
/// simulation begins: since the submission of the first job, of Spark on YARN since that of the application.
fn times(measured: &Measured, deed: &Deed) -> [Option<f64>; 3] {
    let of_application = || measured.submitted_ms.and_then(|at| i64::try_from(at).ok());
    let submitted = match measured.jobs.first() {
        Some(job) if job.is_on_yarn() => of_application(),
        job => job.map(RecordedJob::submit_ms),
    };
    let since = |at: Option<u64>| {
        let at = i64::try_from(at?).ok()?;
        Some((at - submitted?) as f64 / 1e3)
    };
    [deed.began_ms, deed.ended_ms, deed.ready_ms].map(since)
}

/// The cluster's scenario with its faults as they were: a simulation takes a node for back when its daemons are.
pub fn as_it_was(mut scenario: Scenario, measured: &Measured) -> Scenario {
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
pub fn cluster_toml(mut scenario: Scenario) -> String {
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
pub fn run_toml(job: &Job, measured: &Measured) -> String {
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

/// A run as text.
pub fn summary(job: &Job, cluster: &Running, measured: &Measured, target: &Path) -> String {
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
            let of = measured.load(from, to);
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
