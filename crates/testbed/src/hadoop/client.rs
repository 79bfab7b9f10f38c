//! Starts clients of jobs on a cluster's master, and waits for them.

use super::HadoopError;
use super::http::{Request, ask};
use super::running::Running;
use super::settings::RESOURCE_MANAGER_HTTP;
use super::tools::last_lines;
use super::words::Words;
use crate::link::Clock;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command};
use std::thread;
use std::time::Duration;
use units::Time;

/// Starts clients, one after the other. Their words go to files of a folder.
pub struct Client<'a> {
    /// The cluster.
    pub cluster: &'a Running,
    /// Where their words go.
    pub folder: &'a Path,
    /// A client that takes longer is ended, and its job with it.
    pub limit: Option<Time>,
    /// Whether the user wants to stop.
    pub stop: &'a (dyn Fn() -> bool + Sync),
    /// Hears what is done.
    pub say: &'a mut dyn FnMut(&str),
    /// Called a few times a second while a client runs, with how far its job is.
    pub tick: &'a mut dyn FnMut(&str),
    /// Called once the client has submitted its first job.
    pub submitted: &'a mut dyn FnMut() -> Result<(), HadoopError>,
}

/// A client that has ended well.
#[derive(Clone, Debug)]
pub struct Ran {
    /// The end of what it said.
    pub log: String,
    /// The jobs that it told of, in their order.
    pub jobs: Vec<String>,
    /// How long it took, in seconds.
    pub wall_s: f64,
}

const LOOK: Duration = Duration::from_millis(100);
const GRACE: Time = Time::from_secs(3);

impl Client<'_> {
    /// Runs a client to its end. `name` names the file of its words.
    pub fn run(&mut self, mut command: Command, name: &str) -> Result<Ran, HadoopError> {
        let file = self.folder.join(format!("{name}.log"));
        let writing = || HadoopError::system(format!("write {}", file.display()));
        let log = File::create(&file).map_err(writing())?;
        let mut words = Words::of(File::open(&file).map_err(writing())?);
        command.stdout(log.try_clone().map_err(writing())?).stderr(log);
        let clock = Clock::start();
        let mut has_submitted = false;
        let mut child =
            self.cluster.spawn(&mut command).map_err(HadoopError::system("start a client in the cluster"))?;
        loop {
            let status = child.try_wait().map_err(HadoopError::system("wait for the client"))?;
            let hearing = || HadoopError::system(format!("read {}", file.display()));
            if let Some(status) = status {
                let wall_s = clock.now().as_secs_f64();
                words.hear_out().map_err(hearing())?;
                if status.success() {
                    return Ok(Ran { log: words.end(), jobs: words.jobs(), wall_s });
                }
                return Err(HadoopError::Failed(format!(
                    "the job's client ended with {status}: {}",
                    reason(&words.end())
                )));
            }
            words.hear().map_err(hearing())?;
            if words.has_begun() && !std::mem::replace(&mut has_submitted, true) {
                (self.submitted)().inspect_err(|_| self.end(&mut child, &words.applications()))?;
            }
            let done = progress(&words.end());
            if (self.stop)() {
                self.end(&mut child, &words.applications());
                return Err(HadoopError::Interrupted);
            }
            if let Some(limit) = self.limit.filter(|limit| clock.now() > *limit) {
                let done = done.unwrap_or_else(|| "no progress told".to_owned());
                self.end(&mut child, &words.applications());
                return Err(HadoopError::Failed(format!("it did not end within {limit} ({done}), and is killed")));
            }
            (self.tick)(&done.unwrap_or_default());
            thread::sleep(LOOK);
        }
    }

    /// Ends a client and the applications that it has submitted.
    fn end(&self, child: &mut Child, applications: &[String]) {
        for id in applications {
            let path = format!("/ws/v1/cluster/apps/{id}/state?user.name={}", self.cluster.user);
            let body = "{\"state\":\"KILLED\"}";
            let length = body.len() as u64;
            let request = Request { length, content_type: "application/json", ..Request::new("PUT", &path) };
            let to = (self.cluster.master_address(), RESOURCE_MANAGER_HTTP);
            // One that has ended need not be killed.
            let _ = ask(self.cluster.master(), to, request, |stream| stream.write_all(body.as_bytes()));
        }
        // The client leads a process group of its own.
        let _ = killpg(Pid::from_raw(child.id() as i32), Signal::SIGTERM);
        let clock = Clock::start();
        while clock.now() < GRACE && matches!(child.try_wait(), Ok(None)) {
            thread::sleep(LOOK / 5);
        }
        let _ = child.kill();
        let _ = child.wait();
    }
}

impl Ran {
    /// A counter that the client told.
    pub fn counter(&self, name: &str) -> Option<&str> {
        self.log.lines().find_map(|line| line.trim().strip_prefix(name)?.strip_prefix('='))
    }
}

/// How far a job is, as its client told last.
fn progress(log: &str) -> Option<String> {
    log.lines().rev().find_map(|line| of_map_reduce(line).or_else(|| of_spark(line)))
}

/// `map 40% reduce 13%`, of a client of MapReduce.
fn of_map_reduce(line: &str) -> Option<String> {
    let told = &line[line.find(" map ")? + 1..];
    told.contains("% reduce ").then(|| told.trim().to_owned())
}

/// `stage 1.0 3/4`, of a driver of Spark: `Finished task 2.0 in stage 1.0 (TID 6) in 9 ms on host (executor 1) (3/4)`.
fn of_spark(line: &str) -> Option<String> {
    let (_, told) = line.split_once(" in stage ").filter(|(begin, _)| begin.contains("Finished task "))?;
    let (stage, tasks) = (told.split(' ').next()?, told.rsplit('(').next()?.trim().strip_suffix(')')?);
    Some(format!("stage {stage} {tasks}"))
}

/// Why a client failed, from what it said.
fn reason(log: &str) -> String {
    let signs = ["failed with state", "already exists", "Exception", "Error:", "No such", "Unknown program"];
    let telling = |line: &&str| signs.iter().any(|sign| line.contains(sign)) && !line.trim_start().starts_with("at ");
    let lines: Vec<&str> = log.lines().filter(telling).collect();
    let said = if lines.is_empty() { last_lines(log, 3) } else { last_lines(&lines.join("\n"), 3) };
    let short: String = said.chars().take(600).collect();
    if short.is_empty() { "it said nothing".to_owned() } else { short }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "INFO mapreduce.Job:  map 40% reduce 13%\nINFO mapreduce.Job: Job completed\n\t\tCHECKSUM=42\n";

    #[test]
    fn what_a_client_says_is_understood() {
        let ran = Ran { log: LOG.to_owned(), jobs: Vec::new(), wall_s: 1.0 };
        assert_eq!(ran.counter("CHECKSUM"), Some("42"));
        assert_eq!(progress(LOG).as_deref(), Some("map 40% reduce 13%"));
        assert_eq!(progress("nothing"), None);
        // As Spark 4.1.1 says it.
        let spark = "26/11/27 01:02:03 INFO TaskSetManager: Finished task 2.0 in stage 1.0 (TID 6) in 91 ms on worker-2 \
            (executor 1) (3/4)\n26/11/27 01:02:03 INFO DAGScheduler: running: Set()\n";
        assert_eq!(progress(spark).as_deref(), Some("stage 1.0 3/4"));
    }

    #[test]
    fn a_failure_s_reason_is_what_sounds_like_one() {
        let log = "INFO x\nException in thread \"main\" org.apache.hadoop.mapred.FileAlreadyExistsException: Output \
            directory hdfs://master:8020/out already exists\n\tat org.apache.hadoop.Exception.x(X.java:1)\n";
        let said = reason(log);
        assert!(said.starts_with("Exception in thread") && said.ends_with("already exists"), "{said}");
        assert_eq!(reason("one\ntwo\n"), "one; two");
        assert_eq!(reason(""), "it said nothing");
    }
}
