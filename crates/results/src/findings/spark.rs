//! Why an application of Spark took its time: what its critical path waited for, by cause.

use super::job::seconds;
use super::{Finding, Rule, Severity};
use crate::{RunResult, SparkApplication, SparkSegment, Waiting};
use scenario::{Scenario, SparkPlace};
use std::collections::BTreeMap;
use units::{Bytes, Time, many};

/// What a rule finds: the stretches of the path that are of its cause.
struct Cause {
    rule: Rule,
    /// What went on, after "The longest chain of tasks".
    did: &'static str,
    advice: &'static str,
    property: &'static str,
    key: &'static str,
}

/// What a task is to be near to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Near {
    Files,
    Kept,
    Shuffle,
}

/// An application as the rules look at it.
struct View<'a> {
    app: &'a SparkApplication,
    scenario: &'a Scenario,
    /// Which resource each stretch of the path waited for.
    places: Vec<String>,
    /// Time of the path in which each attempt on it waited for the network.
    network: BTreeMap<usize, Time>,
    took: Time,
}

/// The causes of an application's length that cost enough of it.
pub fn of_application(run: &RunResult, app: &SparkApplication, scenario: &Scenario) -> Vec<Finding> {
    let Some(took) = app.took() else { return Vec::new() };
    let mut network: BTreeMap<usize, Time> = BTreeMap::new();
    for segment in app.critical_path.iter().filter(|segment| segment.waiting.is_network()) {
        if let Some(task) = segment.task {
            *network.entry(task).or_default() += segment.length();
        }
    }
    let view = View { app, scenario, places: crate::page::places_of_spark(app, run), network, took };
    let mut causes: BTreeMap<Rule, Vec<usize>> = BTreeMap::new();
    for (place, segment) in app.critical_path.iter().enumerate() {
        for rule in view.rules(segment) {
            causes.entry(rule).or_default().push(place);
        }
    }
    causes.into_iter().filter_map(|(rule, stretches)| view.finding(&view.cause(rule, &stretches), &stretches)).collect()
}

impl View<'_> {
    /// The rules under which a stretch comes.
    fn rules(&self, segment: &SparkSegment) -> Vec<Rule> {
        let task = segment.task.map(|row| &self.app.tasks[row]);
        let of_network = || {
            let of = |of: fn(&crate::SparkTask) -> Bytes| task.map_or(Bytes::ZERO, of);
            let shuffle = of(|task| task.shuffle_remote);
            let input = of(|task| task.input_remote + task.cached_remote);
            let output = if self.writes_to_hdfs(segment) { of(|task| task.output) } else { Bytes::ZERO };
            // Of the waits only those for blocks of shuffles are known by themselves.
            let waited = segment.task.and_then(|task| self.network.get(&task)).copied().unwrap_or_default();
            let for_blocks = task.map_or(Time::ZERO, |task| task.fetch_wait);
            // A task that does several of these waits for what is more.
            if output > Bytes::ZERO && output >= input && for_blocks < waited / 2 {
                Some(Rule::Output)
            } else if shuffle > Bytes::ZERO && shuffle >= input {
                Some(Rule::Shuffle)
            } else {
                (input > Bytes::ZERO).then_some(Rule::Locality)
            }
        };
        match segment.waiting {
            Waiting::Cpu => vec![Rule::Processor],
            Waiting::Disk => vec![Rule::Disk],
            Waiting::StartUp => vec![Rule::ExecutorStarts],
            Waiting::Locality => vec![Rule::Locality],
            Waiting::Driver => vec![Rule::Driver],
            Waiting::SecondAttempt if task.is_some_and(|task| task.speculative) => vec![Rule::SecondAttempt],
            Waiting::SecondAttempt => vec![Rule::FailedAttempts],
            Waiting::TcpTimeout => of_network().into_iter().chain([Rule::TcpTimeouts]).collect(),
            Waiting::Transfer | Waiting::Queueing | Waiting::Recovery => of_network().into_iter().collect(),
            Waiting::Timeout | Waiting::Slot => Vec::new(),
        }
    }

    /// Whether a stretch is of a stage whose files go to HDFS.
    fn writes_to_hdfs(&self, segment: &SparkSegment) -> bool {
        let stages = self.scenario.spark.as_ref().map(|spark| &spark.stage);
        let stage = segment.stage.and_then(|stage| stages?.get(stage));
        stage.is_some_and(|stage| stage.output_to == SparkPlace::Hdfs)
    }

    /// What most of some stretches of the path waited to be near to.
    fn near_to(&self, stretches: &[usize]) -> Near {
        let mut times: BTreeMap<Near, Time> = BTreeMap::new();
        let stages = self.scenario.spark.as_ref().map(|spark| &spark.stage);
        for segment in stretches.iter().map(|place| &self.app.critical_path[*place]) {
            let stage = segment.stage.and_then(|stage| stages?.get(stage));
            let near = match stage {
                Some(stage) if !stage.reads.is_empty() => Near::Kept,
                Some(stage) if !stage.parents.is_empty() && stage.input_from == SparkPlace::Local => Near::Shuffle,
                _ => Near::Files,
            };
            *times.entry(near).or_default() += segment.length();
        }
        times.into_iter().max_by_key(|(_, time)| *time).map_or(Near::Files, |(near, _)| near)
    }

    fn cause(&self, rule: Rule, stretches: &[usize]) -> Cause {
        let wireless = self.scenario.network.topology == scenario::TopologyKind::Wifi;
        let rate = if wireless { "network.wifi.width, network.wifi.streams" } else { "network.rate" };
        let (did, advice, property, key) = match rule {
            Rule::Shuffle => (
                "waited for blocks of shuffles",
                "Less to shuffle (combine or filter before it, join by broadcast), or a faster link there",
                "spark.reducer.maxSizeInFlight, spark.shuffle.compress",
                rate,
            ),
            Rule::Output => (
                "waited for the network to take what it wrote to HDFS",
                "Fewer replicas, less to write (compressed), or a faster link there",
                "dfs.replication, spark.hadoop.mapreduce.output.fileoutputformat.compress",
                if wireless { "hdfs.replication, network.wifi.width" } else { "hdfs.replication, network.rate" },
            ),
            Rule::Locality => match self.near_to(stretches) {
                Near::Files => (
                    "waited for cores near to data, or for data from other nodes,",
                    "Another wait for such cores, more replicas, or executors on all nodes that have the data",
                    "spark.locality.wait, dfs.replication",
                    "spark.locality-wait, hdfs.replication",
                ),
                Near::Kept => (
                    "waited for cores near to what executors keep, or for that from other nodes,",
                    "Another wait for such cores, or more memory, so that less is computed anew elsewhere",
                    "spark.locality.wait, spark.executor.memory",
                    "spark.locality-wait, spark.executor-memory",
                ),
                Near::Shuffle => (
                    "waited for cores near to blocks of shuffles",
                    "A shorter wait for such cores, or none: a task that is on another node fetches the blocks",
                    "spark.locality.wait, spark.shuffle.reduceLocality.enabled",
                    "spark.locality-wait, spark.reduce-locality",
                ),
            },
            Rule::Processor => (
                "computed",
                "Where stages have more tasks than there are cores, more executors or cores of them; else more partitions, \
                 or faster processors",
                "spark.executor.instances, spark.executor.cores",
                "spark.executors, spark.executor-cores, node.cores",
            ),
            Rule::Disk => (
                "waited for its own nodes' disks",
                "More or faster disks for spark.local.dir, or less that is spilled and written",
                "spark.local.dir, spark.executor.memory",
                "node.disks",
            ),
            Rule::ExecutorStarts => (
                "waited for executors that start and warm up",
                "Executors that are kept for longer, or are there from the beginning",
                "spark.dynamicAllocation.minExecutors, spark.dynamicAllocation.executorIdleTimeout",
                "spark.executor-start, mapreduce.jvm-start",
            ),
            Rule::FailedAttempts => (
                "waited for attempts that did not succeed",
                "What makes them fail or loses their executors; how often they are tried is not what takes the time",
                "spark.task.maxFailures",
                "spark.task-max-failures",
            ),
            Rule::SecondAttempt => (
                "waited until copies of slow attempts were launched",
                "Copies that are launched earlier",
                "spark.speculation.multiplier, spark.speculation.quantile",
                "spark.speculation-multiplier, spark.speculation-quantile",
            ),
            Rule::TcpTimeouts => (
                "waited for retransmission timeouts of TCP",
                "A lower minimum timeout, longer queues, or fewer blocks that are asked for at once",
                "spark.reducer.maxReqsInFlight",
                if wireless { "tcp.min-rto, network.wifi.queue" } else { "tcp.min-rto, network.queue" },
            ),
            _ => (
                "waited for the driver: its program, launches of tasks and their ends",
                "Fewer and larger tasks, or less that the program does between jobs",
                "",
                "spark.launch-cost, spark.status-cost, spark.pause",
            ),
        };
        Cause { rule, did, advice, property, key }
    }

    /// A finding, if its cost matters.
    fn finding(&self, cause: &Cause, stretches: &[usize]) -> Option<Finding> {
        let path = &self.app.critical_path;
        let cost: Time = stretches.iter().map(|place| path[*place].length()).sum();
        let share = cost.as_secs_f64() / self.took.as_secs_f64().max(1e-9);
        let severity = Severity::rising(share, Severity::SHARES)?;
        let mut stages: BTreeMap<Option<usize>, Time> = BTreeMap::new();
        let mut places: BTreeMap<&str, Time> = BTreeMap::new();
        for (segment, place) in stretches.iter().map(|place| (&path[*place], self.places[*place].as_str())) {
            *stages.entry(segment.stage).or_default() += segment.length();
            if !place.is_empty() {
                *places.entry(place).or_default() += segment.length();
            }
        }
        let stage = stages.into_iter().max_by_key(|(stage, time)| (*time, std::cmp::Reverse(*stage)));
        let place = places.into_iter().rev().max_by_key(|(_, time)| *time);
        let mut evidence = vec![format!("{} of {}", seconds(cost), seconds(self.took))];
        evidence.extend(stage.map(|(stage, time)| match stage {
            Some(stage) => format!("most of it in stage {}, {}", self.app.stages[stage].name, seconds(time)),
            None => format!("most of it outside of stages, {}", seconds(time)),
        }));
        evidence.extend(place.map(|(place, time)| format!("at {place} {}", seconds(time))));
        evidence.extend(self.more(cause.rule));
        Some(Finding {
            job: None,
            stage: stage.and_then(|(stage, _)| stage).map(units::count),
            rule: cause.rule,
            severity,
            summary: format!("The longest chain of tasks {} for {}.", cause.did, seconds(cost)),
            evidence: evidence.join("; "),
            advice: format!("{}: at most {} less.", cause.advice, seconds(cost)),
            node: None,
            attempt: None,
            cost,
            property: cause.property.to_owned(),
            key: cause.key,
        })
    }

    /// Figures of the whole application beside those of the path.
    fn more(&self, rule: Rule) -> Option<String> {
        let tasks = &self.app.tasks;
        match rule {
            Rule::Shuffle => Some(format!("{:.1} crossed the network in all shuffles", self.app.shuffle_remote())),
            Rule::Output => {
                let written: Bytes = tasks.iter().map(|task| task.output).sum();
                Some(format!("{written:.1} written in all, before replication"))
            }
            Rule::Locality => {
                let far = tasks.iter().filter(|task| task.input_remote + task.cached_remote > Bytes::ZERO).count();
                (far > 0).then(|| format!("{} read over the network", many(far, "attempt")))
            }
            Rule::Processor => {
                let busy: f64 = tasks.iter().map(|task| task.cpu_time.as_secs_f64()).sum();
                let at_once = busy / self.took.as_secs_f64().max(1e-9);
                let cores = many(self.scenario.spark.as_ref()?.executor_cores as usize, "core");
                let executors = many(self.app.executors.len(), "executor");
                Some(format!("in the mean {at_once:.1} tasks computed at once, on {executors} of {cores}"))
            }
            Rule::FailedAttempts => {
                let failed = tasks.iter().filter(|task| crate::SparkTaskEnd::Success != task.ended).count();
                Some(format!("{} did not succeed in the run", many(failed, "attempt")))
            }
            _ => None,
        }
    }
}
