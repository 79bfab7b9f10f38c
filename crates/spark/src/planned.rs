//! Attempts at a stage's tasks that will not succeed, and which of them an attempt that begins is.

use crate::config::{Failing, Failure};
use hadoop::NodeId;
use std::collections::{BTreeMap, VecDeque};

/// Which attempts may be one of the list: those at a task, those on a node, or those at a task on a node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Fits {
    task: Option<usize>,
    node: Option<NodeId>,
}

/// Attempts at a stage that have yet to fail.
#[derive(Debug, Default)]
pub struct Planned {
    /// In the order of the list; none of those that have begun.
    failures: Vec<Option<Failure>>,
    /// Their places in the list, those among them that have begun.
    places: BTreeMap<Fits, VecDeque<usize>>,
}

impl Planned {
    /// Those of a list.
    pub fn new(failing: &[Failing]) -> Self {
        let mut planned = Self::default();
        for (place, Failing { task, only_on, failure }) in failing.iter().enumerate() {
            planned.failures.push(Some(*failure));
            let mut fits = |node| {
                planned.places.entry(Fits { task: *task, node }).or_default().push_back(place);
            };
            if only_on.is_empty() {
                fits(None);
            }
            for node in only_on {
                fits(Some(*node));
            }
        }
        planned
    }

    /// An attempt at a task begins on a node: it is the first of the list that is left and that it may be. Copies of
    /// slow tasks fail where a node has them fail; failures of a task count the attempts before them, and those that
    /// were recorded were no copies.
    pub fn begins(&mut self, task: usize, node: NodeId, is_copy: bool) -> Option<Failure> {
        let on_node = [Fits { task: Some(task), node: Some(node) }, Fits { task: None, node: Some(node) }];
        let anywhere = Fits { task: Some(task), node: None };
        let Self { failures, places } = self;
        let mut first = |fits: Fits| {
            let places = places.get_mut(&fits)?;
            while places.front().is_some_and(|place| failures[*place].is_none()) {
                places.pop_front();
            }
            places.front().copied()
        };
        let next = on_node.into_iter().chain((!is_copy).then_some(anywhere)).filter_map(&mut first).min()?;
        failures[next].take()
    }
}
