//! CPU work from wall time: how many core-seconds each attempt got in each of its phases.
//!
//! A history records when phases began and ended, but a task that shares its cores takes longer for the same work.
//! Under processor sharing each of n runnable tasks of a machine gets min(1, cores / n) of a core. So the work of a
//! phase is the integral of that share over the phase. Maps are runnable from start to end. Reducers are runnable while
//! their JVM starts and after their last fetch; in between they wait for maps and the network. Reducers that start
//! after the last map are runnable from their start.

use super::busy::share;
use super::hosts::Hosts;
use crate::{Attempt, JobHistory};

/// The cores of each physical machine, and the machine of each worker.
#[derive(Clone, Debug, PartialEq)]
pub struct Machines {
    /// Cores available to tasks on each machine.
    pub cores: Vec<f64>,
    /// The machine of worker i + 1.
    pub of_worker: Vec<usize>,
    /// Seconds from an attempt's start until it is runnable. No processor shortens them.
    pub latency: f64,
    /// Threads of other work that are always ready to run, for each core.
    pub load: f64,
}

impl Machines {
    /// The cores of a worker's machine; those of the first where the worker is not known.
    pub fn cores_of(&self, worker: Option<u32>) -> f64 {
        let machine = worker.and_then(|worker| self.of_worker.get((worker as usize).wrapping_sub(1))).unwrap_or(&0);
        self.cores.get(*machine).copied().unwrap_or(1.0)
    }
}

/// Core-seconds of one attempt.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// Maps: from the container's start to the last input record. Reducers: the start of the JVM, or everything up to
    /// the last fetch.
    pub first: f64,
    /// Maps: sorting, spilling and merging the rest. Reducers: the final merge.
    pub second: f64,
    /// Reducers: the reduce function and its output.
    pub third: f64,
    /// Reducers: what its share of the cores comes to from its start to its last fetch, were it runnable all the time.
    /// Its start has had no more.
    pub most: f64,
}

/// Time steps of the integral over the job.
const STEPS: u32 = 20_000;

struct Running {
    machine: usize,
    /// Index into the result.
    attempt: usize,
    /// Whether it is runnable all the time.
    busy: bool,
    start: f64,
    /// Ends of the phases; the end of the attempt where a moment is not recorded.
    first_end: f64,
    second_end: f64,
    end: f64,
}

/// The work of each attempt of `job`: maps first, in the order of tasks and attempts. `start_up` is the CPU time of a
/// JVM start.
pub fn work(job: &JobHistory, hosts: &Hosts, machines: &Machines, start_up: f64) -> Vec<Work> {
    let mut attempts = Vec::new();
    let seconds = |ms: i64| (ms - job.launch_ms) as f64 / 1e3;
    let job_end = job.finish_ms.map(seconds);
    let maps_end = job.maps.iter().filter_map(|t| t.finish_ms).max().map_or(0.0, seconds);
    let mut count = 0;
    for (map, attempt) in each_attempt(job) {
        let index = count;
        count += 1;
        let (Some(start), Some(worker)) = (attempt.start_ms.map(seconds), hosts.number(&attempt.host)) else {
            continue;
        };
        let Some(end) = attempt.finish_ms.map(seconds).or(job_end) else { continue };
        let after_maps = start >= maps_end;
        let start = (start + machines.latency).min(end);
        let first = if map { attempt.map_finish_ms } else { attempt.shuffle_finish_ms };
        let first_end = first.map_or(end, seconds);
        attempts.push(Running {
            machine: machines.of_worker[worker as usize - 1],
            attempt: index,
            busy: map || after_maps,
            start,
            first_end,
            second_end: attempt.sort_finish_ms.map_or(end, seconds),
            end,
        });
    }
    attempts.sort_by(|a, b| a.start.total_cmp(&b.start));
    let mut done = vec![Work::default(); count];
    let Some(begin) = attempts.first().map(|a| a.start) else { return done };
    let finish = attempts.iter().map(|a| a.end).fold(begin, f64::max);
    let step = ((finish - begin) / f64::from(STEPS)).max(1e-3);
    let mut runnable = vec![0_u32; machines.cores.len()];
    let (mut next, mut active, mut time) = (0, Vec::<usize>::new(), begin);
    while time < finish {
        while next < attempts.len() && attempts[next].start <= time {
            active.push(next);
            next += 1;
        }
        active.retain(|&i| attempts[i].end > time);
        runnable.fill(0);
        let runs = |a: &Running, done: &Work| a.busy || done.first < start_up || time >= a.first_end;
        for a in active.iter().map(|&i| &attempts[i]) {
            runnable[a.machine] += u32::from(runs(a, &done[a.attempt]));
        }
        for a in active.iter().map(|&i| &attempts[i]) {
            let work = &mut done[a.attempt];
            let is_runnable = runs(a, work);
            let among = f64::from(runnable[a.machine] + u32::from(!is_runnable));
            let share = share(machines.cores[a.machine], among, machines.load) * step;
            if time < a.first_end {
                work.most += share;
            }
            if is_runnable {
                match (time < a.first_end, time < a.second_end) {
                    (true, _) => work.first += share,
                    (false, true) => work.second += share,
                    (false, false) => work.third += share,
                }
            }
        }
        time += step;
    }
    done
}

/// All attempts, each with whether it is a map's, in the order of [`work`]'s result.
pub fn each_attempt(job: &JobHistory) -> impl Iterator<Item = (bool, &Attempt)> {
    let maps = job.maps.iter().flat_map(|t| &t.attempts).map(|a| (true, a));
    maps.chain(job.reduces.iter().flat_map(|t| &t.attempts).map(|a| (false, a)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Task;

    fn attempt(host: &str, start: i64, map_finish: i64, end: i64) -> Attempt {
        Attempt {
            host: host.into(),
            start_ms: Some(start),
            map_finish_ms: Some(map_finish),
            finish_ms: Some(end),
            ..Attempt::default()
        }
    }

    /// Two maps on one core, the second from 4 s on: the first gets 4 s alone and half of the 4 s that they share.
    #[test]
    fn tasks_of_one_core_halve_it_while_both_run() {
        let task = |a| Task { attempts: vec![a], ..Task::default() };
        let maps = vec![task(attempt("a", 0, 6_000, 8_000)), task(attempt("b", 4_000, 8_000, 10_000))];
        let job = JobHistory { maps, ..JobHistory::default() };
        let hosts = Hosts::of(&job, None);
        let shared = Machines { cores: vec![1.0], of_worker: vec![0, 0], latency: 0.0, load: 0.0 };
        let done = work(&job, &hosts, &shared, 0.0);
        let near = |a: f64, b: f64| (a - b).abs() < 0.01;
        assert!(near(done[0].first, 5.0) && near(done[0].second, 1.0), "{done:?}");
        assert!(near(done[1].first, 2.0) && near(done[1].second, 2.0), "{done:?}");
        // With a machine each, work is wall time.
        let own = Machines { cores: vec![1.0, 2.0], of_worker: vec![0, 1], latency: 0.0, load: 0.0 };
        let done = work(&job, &hosts, &own, 0.0);
        assert!(near(done[0].first, 6.0) && near(done[1].first, 4.0), "{done:?}");
        // Beside two threads of other work a core gives a task alone a third: 4 s alone, 4 s among four.
        let loaded = Machines { load: 2.0, ..shared };
        let done = work(&job, &hosts, &loaded, 0.0);
        assert!(near(done[0].first, 4.0 / 3.0 + 0.5) && near(done[0].second, 0.5), "{done:?}");
    }
}
