//! Which JVM runs a task (Hadoop 1): a TaskTracker's `JvmManager`, and the loop in which a JVM asks for its next task
//! (`Child.main`).

use crate::ids::{AttemptId, JobId};
use units::Time;

/// How long a JVM sleeps after it has asked in vain: four times the first, then the second.
const SLEEP: Time = Time::from_ms(500);
const LONG_SLEEP: Time = Time::from_ms(1_500);
const SHORT_SLEEPS: u64 = 4;

/// The JVMs of a TaskTracker's tasks of one kind, in the order of their start.
#[derive(Debug, Default)]
pub(super) struct Jvms(Vec<Jvm>);

#[derive(Debug)]
struct Jvm {
    job: JobId,
    /// Tasks that it has done.
    ran: u32,
    state: State,
}

#[derive(Debug)]
enum State {
    Runs(AttemptId),
    /// It has first asked for a task at this time.
    Asks(Time),
}

impl Jvms {
    /// A task gets a JVM: the time at which an idle one of its job asks for it, or none for a new one. While there are
    /// fewer JVMs than slots a new one is started even if another is idle (`JvmManagerForType.reapJvm`); else a new one
    /// takes the place of one that is idle for another job.
    pub fn take(&mut self, slots: u32, now: Time, job: JobId, task: AttemptId) -> Option<Time> {
        if self.0.len() >= slots as usize {
            let idle = |jvm: &Jvm| matches!(jvm.state, State::Asks(_));
            for jvm in self.0.iter_mut().filter(|jvm| jvm.job == job) {
                if let State::Asks(since) = jvm.state {
                    jvm.state = State::Runs(task);
                    return Some(next_question(since, now));
                }
            }
            if let Some(killed) = self.0.iter().rposition(|jvm| jvm.job != job && idle(jvm)) {
                self.0.remove(killed);
            }
        }
        self.0.push(Jvm { job, ran: 0, state: State::Runs(task) });
        None
    }

    /// A task has left its JVM. The JVM stays if the task is done and the job lets it run more tasks: `most` in all, 0
    /// for no limit. That of a task that has failed or was killed ends.
    pub fn leave(&mut self, most: u32, now: Time, task: AttemptId, done: bool) {
        let runs_it = |jvm: &Jvm| matches!(jvm.state, State::Runs(other) if other == task);
        let Some(number) = self.0.iter().position(runs_it) else { return };
        let jvm = &mut self.0[number];
        jvm.ran += 1;
        if done && (most == 0 || jvm.ran < most) {
            jvm.state = State::Asks(now);
        } else {
            self.0.remove(number);
        }
    }
}

/// When a JVM that has asked since `since` asks next, at `now` or later.
fn next_question(since: Time, now: Time) -> Time {
    let idle = now - since;
    let short = SLEEP * SHORT_SLEEPS;
    let round_up = |time: Time, step: Time| step * time.as_ps().div_ceil(step.as_ps());
    since + if idle <= short { round_up(idle, SLEEP) } else { short + round_up(idle - short, LONG_SLEEP) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: JobId = JobId(0);
    const B: JobId = JobId(1);

    fn at(ms: u64) -> Time {
        Time::from_ms(ms)
    }

    /// `Child.main` asks at 0, 0.5, 1, 1.5 and 2 s; five questions in vain make it sleep for 1.5 s each.
    #[test]
    fn an_idle_jvm_asks_less_often_after_five_questions() {
        for (idle, asks) in [
            (0, 0),
            (1, 500),
            (500, 500),
            (501, 1_000),
            (1_999, 2_000),
            (2_000, 2_000),
            (2_001, 3_500),
            (3_500, 3_500),
            (3_501, 5_000),
            (60_000, 60_500),
        ] {
            assert_eq!(next_question(at(7), at(7 + idle)), at(7 + asks), "{idle} ms idle");
        }
    }

    #[test]
    fn a_jvm_runs_as_many_tasks_of_its_job_as_allowed() {
        let mut jvms = Jvms::default();
        assert_eq!(jvms.take(1, at(0), A, AttemptId(0)), None);
        jvms.leave(3, at(10), AttemptId(0), true);
        assert_eq!(jvms.take(1, at(10), A, AttemptId(1)), Some(at(10)), "the second of three");
        jvms.leave(3, at(20), AttemptId(1), true);
        assert_eq!(jvms.take(1, at(30), A, AttemptId(2)), Some(at(520)), "the third, at the next question");
        jvms.leave(3, at(600), AttemptId(2), true);
        assert_eq!(jvms.take(1, at(700), A, AttemptId(3)), None, "it has done its three");
    }

    #[test]
    fn another_job_and_a_free_slot_get_new_jvms() {
        let mut jvms = Jvms::default();
        assert_eq!(jvms.take(2, at(0), A, AttemptId(0)), None);
        jvms.leave(0, at(1), AttemptId(0), true);
        assert_eq!(jvms.take(2, at(1), A, AttemptId(1)), None, "one JVM for two slots: another is started");
        assert_eq!(jvms.take(2, at(1), B, AttemptId(2)), None, "the idle one is of another job");
        jvms.leave(0, at(2), AttemptId(1), true);
        jvms.leave(0, at(2), AttemptId(2), true);
        assert_eq!(jvms.take(2, at(2), B, AttemptId(3)), Some(at(2)), "each job has one");
        assert_eq!(jvms.take(2, at(2), A, AttemptId(4)), Some(at(2)));
    }

    #[test]
    fn the_jvm_of_a_task_that_fails_ends() {
        let mut jvms = Jvms::default();
        assert_eq!(jvms.take(1, at(0), A, AttemptId(0)), None);
        jvms.leave(0, at(1), AttemptId(0), false);
        assert_eq!(jvms.take(1, at(1), A, AttemptId(1)), None);
    }
}
