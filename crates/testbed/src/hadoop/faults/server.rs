//! The supervisor's side of the faults: it makes them at their times, and undoes them.

use super::{Deed, Planned, SOCKET, What, Word};
use crate::hadoop::HadoopError;
use crate::hadoop::cluster::Cluster;
use crate::hadoop::layout::Layout;
use crate::hadoop::load::now_ms;
use crate::link::Clock;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::Duration;
use units::Time;

/// Makes a cluster's faults for one job after the other.
#[derive(Debug)]
pub struct FaultServer {
    plan: Vec<Planned>,
    listener: UnixListener,
    job: Option<Job>,
}

/// A job with faults.
#[derive(Debug)]
struct Job {
    stream: UnixStream,
    heard: Vec<u8>,
    /// Runs from the job's submission on, which was so long before it was told.
    clock: Option<(Clock, Time)>,
    faults: Vec<(State, Deed)>,
    /// It is over: all that is still to come is that what was started again registers.
    over: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Waits,
    Acts,
    /// Undone, but for daemons that have not registered yet.
    Recovers,
    Over,
}

/// A session whose words are longer than this is none.
const MOST_HEARD: usize = 4096;
/// Daemons that have not registered after this time have failed.
const PATIENCE_MS: u64 = 90_000;

impl FaultServer {
    /// Waits for jobs of a cluster with these faults.
    pub fn listen(plan: Vec<Planned>, layout: &Layout) -> Result<Self, HadoopError> {
        let path = layout.folder.join(SOCKET);
        let what = || HadoopError::system(format!("listen at {}", path.display()));
        let listener = UnixListener::bind(&path).map_err(what())?;
        listener.set_nonblocking(true).map_err(what())?;
        // Writing is connecting: none but the supervisor's own user.
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).map_err(what())?;
        Ok(Self { plan, listener, job: None })
    }

    /// How long until the next fault begins or ends, at most `most`.
    pub fn next(&self, most: Duration) -> Duration {
        let Some(job) = &self.job else { return most };
        let now = job.now();
        let due = |(planned, (state, _)): (&Planned, &(State, Deed))| match state {
            State::Waits => Some(planned.at),
            State::Acts => planned.length.map(|length| planned.at + length),
            State::Recovers | State::Over => None,
        };
        let next = self.plan.iter().zip(&job.faults).filter_map(due).min();
        next.zip(now)
            .map_or(most, |(next, now)| Duration::from_nanos(next.saturating_sub(now).as_ps() / 1_000).min(most))
    }

    /// Hears sessions, and makes and undoes what is due.
    pub fn tick(&mut self, cluster: &mut Cluster) {
        if self.job.is_none()
            && let Ok((stream, _)) = self.listener.accept()
        {
            self.job = Job::new(stream, &self.plan);
        }
        let Some(job) = &mut self.job else { return };
        let lives = job.hear();
        job.over |= !lives;
        for index in 0..self.plan.len() {
            job.act(cluster, &self.plan, index);
        }
        if job.over && job.faults.iter().all(|(state, _)| *state == State::Over) {
            if lives {
                job.answer();
            }
            self.job = None;
        }
    }

    /// Undoes what is under way, for a cluster that ends.
    pub fn end(&mut self, cluster: &mut Cluster) {
        if let Some(mut job) = self.job.take() {
            for index in 0..self.plan.len() {
                if let What::SlowDisk { host, .. } = self.plan[index].what
                    && job.faults[index].0 == State::Acts
                {
                    job.faults[index].0 = State::Over;
                    // What cannot be restored now is on record.
                    let _ = cluster.set_disk_part(host, 1.0);
                }
            }
        }
    }
}

impl Job {
    fn new(stream: UnixStream, plan: &[Planned]) -> Option<Self> {
        stream.set_nonblocking(true).ok()?;
        let deed = |(fault, planned): (usize, &Planned)| {
            let what = planned.what.words();
            (State::Waits, Deed { fault, what, began_ms: None, ended_ms: None, ready_ms: None, failed: None })
        };
        let faults = plan.iter().enumerate().map(deed).collect();
        Some(Self { stream, heard: Vec::new(), clock: None, faults, over: false })
    }

    /// Time since the job's submission.
    fn now(&self) -> Option<Time> {
        self.clock.as_ref().map(|(clock, before)| clock.now() + *before)
    }

    /// Takes in what the session says; whether it lives.
    fn hear(&mut self) -> bool {
        let mut chunk = [0; 256];
        loop {
            match self.stream.read(&mut chunk) {
                Ok(0) => return false,
                Ok(count) => self.heard.extend_from_slice(&chunk[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => return false,
            }
            if self.heard.len() > MOST_HEARD {
                return false;
            }
        }
        while let Some(end) = self.heard.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.heard.drain(..=end).collect();
            match serde_json::from_slice(&line) {
                Ok(Word::Submitted(at_ms)) => {
                    let before = Time::from_ms(now_ms().saturating_sub(at_ms));
                    self.clock.get_or_insert((Clock::start(), before));
                }
                Ok(Word::Over) => self.over = true,
                Err(_) => return false,
            }
        }
        true
    }

    /// Begins a fault, ends it, or looks whether what it ended has recovered.
    fn act(&mut self, cluster: &mut Cluster, plan: &[Planned], index: usize) {
        let (planned, now) = (&plan[index], self.now());
        let over = self.over;
        let ends = planned.length.map(|length| planned.at.saturating_add(length));
        let is_past = |time: Option<Time>| time.zip(now).is_some_and(|(time, now)| time <= now);
        match self.faults[index].0 {
            State::Waits if over => self.faults[index].0 = State::Over,
            State::Waits if is_past(Some(planned.at)) => {
                let (state, deed) = &mut self.faults[index];
                (*state, deed.began_ms) = (State::Acts, Some(now_ms()));
                self.change(cluster, plan, index);
            }
            State::Acts if over || is_past(ends) => {
                let (state, deed) = &mut self.faults[index];
                (*state, deed.ended_ms) = (State::Recovers, Some(now_ms()));
                self.change(cluster, plan, index);
            }
            State::Recovers => {
                let (state, deed) = &mut self.faults[index];
                match planned.what {
                    What::Crash { host } if deed.failed.is_none() => {
                        if cluster.has_rejoined(host) {
                            (*state, deed.ready_ms) = (State::Over, Some(now_ms()));
                        } else if deed.ended_ms.is_some_and(|ended| now_ms() > ended + PATIENCE_MS) {
                            *state = State::Over;
                            deed.failed = Some("the daemons that were started again have not registered".to_owned());
                        }
                    }
                    _ => *state = State::Over,
                }
            }
            State::Waits | State::Acts | State::Over => {}
        }
    }

    /// Makes the cluster be as its faults under way want it, where this one concerns it.
    fn change(&mut self, cluster: &mut Cluster, plan: &[Planned], index: usize) {
        let acts: BTreeSet<usize> = (0..plan.len()).filter(|index| self.faults[*index].0 == State::Acts).collect();
        let begins = acts.contains(&index);
        let under_way = || acts.iter().map(|index| plan[*index].what);
        let host = plan[index].what.host();
        let is_cut = under_way().any(|what| match what {
            What::Crash { host: other } | What::LinkDown { host: other } => other == host,
            What::SlowDisk { .. } | What::SlowLink { .. } => false,
        });
        let done = match plan[index].what {
            // The link first: a machine that loses its power sends no FIN.
            What::Crash { .. } if begins => cluster.set_link_up(host, false).and_then(|()| cluster.crash(host)),
            // Two crashes of one worker may overlap.
            What::Crash { .. } if under_way().any(|what| what == What::Crash { host }) => Ok(()),
            What::Crash { .. } => cluster.set_link_up(host, !is_cut).and_then(|()| cluster.restart(host)),
            What::LinkDown { .. } => cluster.set_link_up(host, !is_cut),
            What::SlowDisk { .. } => {
                let part = under_way().filter_map(|what| match what {
                    What::SlowDisk { host: other, part } if other == host => Some(part),
                    _ => None,
                });
                cluster.set_disk_part(host, part.product())
            }
            What::SlowLink { nominal, .. } => {
                let part = under_way().filter_map(|what| match what {
                    What::SlowLink { host: other, part, .. } if other == host => Some(part),
                    _ => None,
                });
                cluster.set_link_part(host, part.product(), nominal)
            }
        };
        if let Err(error) = done {
            self.faults[index].1.failed = Some(error.to_string());
        }
    }

    /// Says what was done.
    fn answer(&mut self) {
        let deeds: Vec<&Deed> = self.faults.iter().map(|(_, deed)| deed).collect();
        let text = serde_json::to_string(&deeds).unwrap_or_default();
        // One that has gone meanwhile does not want to know.
        let _ = self.stream.set_nonblocking(false).and_then(|()| writeln!(self.stream, "{text}"));
    }
}
