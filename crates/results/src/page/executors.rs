//! When executors of Spark were there, had tasks, and were excluded.

use crate::{SparkApplication, SparkExecutor};
use std::collections::BTreeMap;
use std::ops::Range;
use units::Time;

/// When executors of an application were in a state, each time of each.
pub struct Spans<'a> {
    app: &'a SparkApplication,
    /// When the run ended.
    end: Time,
}

impl<'a> Spans<'a> {
    /// Of an application of a run that ended then.
    pub const fn of(app: &'a SparkApplication, end: Time) -> Self {
        Self { app, end }
    }

    /// From when on the driver knew of an executor, and until when it did.
    fn known(&self, executor: &SparkExecutor) -> Option<Range<Time>> {
        Some(executor.registered?..executor.lost.unwrap_or(self.end))
    }

    /// When they were there.
    pub fn there(&self) -> impl Iterator<Item = Range<Time>> {
        self.app.executors.iter().filter_map(|executor| self.known(executor))
    }

    /// When they had tasks, by the driver.
    pub fn with_tasks(&self) -> impl Iterator<Item = Range<Time>> {
        let mut by_executor: BTreeMap<usize, Vec<Range<Time>>> = BTreeMap::new();
        for task in &self.app.tasks {
            by_executor.entry(task.executor).or_default().push(task.launch..task.finish.unwrap_or(self.end));
        }
        by_executor.into_values().flat_map(joined)
    }

    /// When they were there and got no tasks, of a stage or at all, by themselves or with their nodes.
    pub fn excluded(&self) -> impl Iterator<Item = Range<Time>> {
        let (mut by_executor, mut by_node) = (BTreeMap::<usize, Vec<_>>::new(), BTreeMap::<_, Vec<_>>::new());
        for exclusion in &self.app.exclusions {
            let span = exclusion.at..exclusion.until.unwrap_or(self.end);
            match exclusion.executor {
                Some(executor) => by_executor.entry(executor).or_default().push(span),
                None => by_node.entry(exclusion.node).or_default().push(span),
            }
        }
        let known = self.app.executors.iter().map(|executor| (executor.node, self.known(executor)));
        let of = move |(number, (node, known)): (usize, (_, Option<Range<Time>>))| {
            let known = known?;
            let own = by_executor.get(&number).into_iter().chain(by_node.get(&node)).flatten();
            let within = |span: &Range<Time>| span.start.max(known.start)..span.end.min(known.end);
            let spans: Vec<_> = own.map(within).filter(|span| span.start < span.end).collect();
            Some(joined(spans))
        };
        known.enumerate().filter_map(of).flatten()
    }
}

/// Spans as one where they overlap or meet.
fn joined(mut spans: Vec<Range<Time>>) -> Vec<Range<Time>> {
    spans.sort_unstable_by_key(|span| (span.start, span.end));
    let mut all: Vec<Range<Time>> = Vec::new();
    for span in spans {
        match all.last_mut() {
            Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
            _ => all.push(span),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SparkExclusion, SparkTask};
    use ::spark::Locality;
    use hadoop::NodeId;

    const fn s(seconds: u64) -> Time {
        Time::from_secs(seconds)
    }

    fn executor(node: u32, registered: Option<u64>, lost: Option<u64>) -> SparkExecutor {
        let (registered, lost) = (registered.map(s), lost.map(s));
        SparkExecutor { node: NodeId(node), granted: None, registered, lost, killed: false, excluded: None }
    }

    fn task(executor: usize, launch: u64, finish: Option<u64>) -> SparkTask {
        let task = SparkTask::new((0, 0, 1), executor, NodeId(1), Locality::Any, s(launch));
        SparkTask { finish: finish.map(s), ..task }
    }

    /// Of three executors the second is given back at 8 s, and the third was refused. The run ends at 20 s.
    fn application() -> SparkApplication {
        SparkApplication {
            executors: vec![executor(1, Some(0), None), executor(2, Some(3), Some(8)), executor(2, None, Some(9))],
            ..SparkApplication::default()
        }
    }

    #[test]
    fn executors_are_there_from_when_the_driver_knows_of_them() {
        let app = application();
        assert_eq!(Spans::of(&app, s(20)).there().collect::<Vec<_>>(), [s(0)..s(20), s(3)..s(8)]);
    }

    /// Two tasks at once, and one behind the other, are one time with tasks; one that runs has them until the end.
    #[test]
    fn an_executor_has_tasks_while_any_runs_on_it() {
        let tasks =
            vec![task(0, 1, Some(4)), task(0, 2, Some(3)), task(1, 4, Some(8)), task(0, 4, Some(5)), task(0, 7, None)];
        let app = SparkApplication { tasks, ..application() };
        let with_tasks: Vec<_> = Spans::of(&app, s(20)).with_tasks().collect();
        assert_eq!(with_tasks, [s(1)..s(5), s(7)..s(20), s(4)..s(8)]);
    }

    /// The first executor is excluded from a stage until 6 s, and from the application from 5 s to 10 s; the node of the
    /// second from 1 s on, of which it is there from 3 s to 8 s.
    #[test]
    fn an_executor_is_excluded_while_it_is_there() {
        let exclusion = |executor, node, stage, at, until: Option<u64>| {
            let (node, until) = (NodeId(node), until.map(s));
            SparkExclusion { executor, node, stage, at: s(at), until }
        };
        let exclusions = vec![
            exclusion(None, 2, Some(0), 1, None),
            exclusion(Some(0), 1, Some(0), 2, Some(6)),
            exclusion(Some(0), 1, None, 5, Some(10)),
            exclusion(Some(1), 2, Some(0), 15, Some(16)),
        ];
        let app = SparkApplication { exclusions, ..application() };
        assert_eq!(Spans::of(&app, s(20)).excluded().collect::<Vec<_>>(), [s(2)..s(10), s(3)..s(8)]);
    }
}
