//! Executors and nodes that get no tasks, as tasks have failed there: of one task or of an attempt at a stage
//! (`TaskSetExcludelist`), and of the whole application for some time (`HealthTracker`). Rules and defaults are those of
//! Spark 4.1.

use hadoop::NodeId;
use std::collections::{BTreeMap, BTreeSet};
use units::Time;

/// What is excluded, and when (`spark.excludeOnFailure.*`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exclusion {
    /// For the whole application (`application.enabled`).
    pub application: bool,
    /// For a task or for a stage (`taskAndStage.enabled`).
    pub task_and_stage: bool,
    /// Attempts at a task that fail on an executor before it gets no other (`task.maxTaskAttemptsPerExecutor`, 1).
    pub task_attempts_per_executor: u32,
    /// Failures of a task on a node after which it gets no more of it (`task.maxTaskAttemptsPerNode`, 2).
    pub task_attempts_per_node: u32,
    /// Tasks of a stage that fail on an executor before it gets none of that stage
    /// (`stage.maxFailedTasksPerExecutor`, 2).
    pub stage_tasks_per_executor: u32,
    /// Executors of a node that get none before the node gets none (`stage.maxFailedExecutorsPerNode`, 2).
    pub stage_executors_per_node: u32,
    /// Tasks that fail on an executor, of stages that succeed, before it gets none at all
    /// (`application.maxFailedTasksPerExecutor`, 2).
    pub application_tasks_per_executor: u32,
    /// Executors of a node that get none at all before the node gets none (`application.maxFailedExecutorsPerNode`, 2).
    pub application_executors_per_node: u32,
    /// After how long a failure no longer counts, and an executor or a node gets tasks again (`timeout`, 1 h).
    pub timeout: Time,
    /// Whether executors are killed that are excluded for the application, and those of such nodes
    /// (`killExcludedExecutors`, off).
    pub kill: bool,
    /// Whether one failed fetch excludes the executor that did not give the blocks
    /// (`application.fetchFailure.enabled`, off).
    pub fetch_failure: bool,
    /// How long a stage with a task that can run nowhere waits for another executor
    /// (`spark.scheduler.excludeOnFailure.unschedulableTaskSetTimeout`, 120 s).
    pub unschedulable_timeout: Time,
}

impl Default for Exclusion {
    fn default() -> Self {
        Self {
            application: true,
            task_and_stage: true,
            task_attempts_per_executor: 1,
            task_attempts_per_node: 2,
            stage_tasks_per_executor: 2,
            stage_executors_per_node: 2,
            application_tasks_per_executor: 2,
            application_executors_per_node: 2,
            timeout: Time::from_secs(3_600),
            kill: false,
            fetch_failure: false,
            unschedulable_timeout: Time::from_secs(120),
        }
    }
}

/// Failures of tasks on an executor, in an attempt at a stage.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Failures {
    node: NodeId,
    /// By task: how many attempts have failed, and when the last one did.
    tasks: BTreeMap<usize, (u32, Time)>,
}

/// What is excluded from an attempt at a stage.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StageExclusion {
    by_executor: BTreeMap<usize, Failures>,
    tasks_of_nodes: BTreeSet<(NodeId, usize)>,
    executors: BTreeSet<usize>,
    nodes: BTreeSet<NodeId>,
}

impl StageExclusion {
    /// An attempt at a task has failed on an executor of a node (`updateExcludedForFailedTask`).
    pub fn failed(&mut self, rules: &Exclusion, now: Time, (executor, node): (usize, NodeId), task: usize) {
        let on_executor = self.by_executor.entry(executor).or_insert_with(|| Failures { node, tasks: BTreeMap::new() });
        let (count, last) = on_executor.tasks.entry(task).or_default();
        (*count, *last) = (*count + 1, now);
        let failed_tasks = on_executor.tasks.len();
        if !rules.task_and_stage {
            // It is noted for the application alone (`isDryRun`).
            return;
        }
        // Attempts count here and not executors, as a job fails with so many attempts.
        let of_node = self.by_executor.values().filter(|of| of.node == node);
        let attempts: u32 = of_node.filter_map(|of| of.tasks.get(&task)).map(|(count, _)| count).sum();
        if attempts >= rules.task_attempts_per_node {
            self.tasks_of_nodes.insert((node, task));
        }
        if failed_tasks >= rules.stage_tasks_per_executor as usize && self.executors.insert(executor) {
            let of_node = self.executors.iter().filter(|executor| self.by_executor[*executor].node == node);
            if of_node.count() >= rules.stage_executors_per_node as usize {
                self.nodes.insert(node);
            }
        }
    }

    /// Whether a task gets no other attempt on an executor of a node.
    pub fn excludes_task(&self, rules: &Exclusion, (executor, node): (usize, NodeId), task: usize) -> bool {
        let failed = || self.by_executor.get(&executor)?.tasks.get(&task).map(|(count, _)| *count);
        rules.task_and_stage
            && (self.tasks_of_nodes.contains(&(node, task))
                || failed().is_some_and(|failed| failed >= rules.task_attempts_per_executor))
    }

    /// Whether an executor of a node gets no task of the stage.
    pub fn excludes(&self, (executor, node): (usize, NodeId)) -> bool {
        self.executors.contains(&executor) || self.nodes.contains(&node)
    }

    /// How many executors are excluded by themselves.
    pub fn executors(&self) -> usize {
        self.executors.len()
    }

    /// How many nodes are.
    pub fn nodes(&self) -> usize {
        self.nodes.len()
    }
}

/// What is excluded from the whole application.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Health {
    /// By executor: until when each failure of a task counts, of stages that have succeeded.
    failures: BTreeMap<usize, Vec<Time>>,
    /// Until when executors and nodes are excluded.
    executors: BTreeMap<usize, (NodeId, Time)>,
    nodes: BTreeMap<NodeId, Time>,
    /// Excluded executors of each node, be they lost meanwhile.
    of_node: BTreeMap<NodeId, BTreeSet<usize>>,
}

/// What became excluded from the application.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Excluded {
    /// An executor.
    Executor(usize),
    /// A node.
    Node(NodeId),
}

impl Health {
    /// All tasks of an attempt at a stage have succeeded: what failed of it counts
    /// (`updateExcludedForSuccessfulTaskSet`).
    pub fn succeeded(&mut self, rules: &Exclusion, now: Time, stage: &StageExclusion) -> Vec<Excluded> {
        let until = now.saturating_add(rules.timeout);
        let mut excluded = Vec::new();
        for (executor, of_stage) in &stage.by_executor {
            let failures = self.failures.entry(*executor).or_default();
            failures.extend(of_stage.tasks.values().map(|(_, at)| at.saturating_add(rules.timeout)));
            failures.retain(|counts_until| *counts_until >= now);
            let is_enough = failures.len() >= rules.application_tasks_per_executor as usize;
            if !is_enough || self.executors.contains_key(executor) {
                continue;
            }
            let node = of_stage.node;
            self.failures.remove(executor);
            self.exclude(*executor, node, until);
            excluded.push(Excluded::Executor(*executor));
            if self.of_node[&node].len() >= rules.application_executors_per_node as usize
                && !self.nodes.contains_key(&node)
            {
                self.nodes.insert(node, until);
                excluded.push(Excluded::Node(node));
            }
        }
        excluded
    }

    /// An executor of a node did not give blocks (`updateExcludedForFetchFailure`): with an external shuffle service its
    /// node is excluded, else itself.
    pub fn fetch_failed(
        &mut self,
        rules: &Exclusion,
        now: Time,
        (executor, node): (usize, NodeId),
        shuffle_service: bool,
    ) -> Option<Excluded> {
        let until = now.saturating_add(rules.timeout);
        if shuffle_service {
            if self.nodes.contains_key(&node) {
                return None;
            }
            self.nodes.insert(node, until);
            return Some(Excluded::Node(node));
        }
        if self.executors.contains_key(&executor) {
            return None;
        }
        self.exclude(executor, node, until);
        Some(Excluded::Executor(executor))
    }

    fn exclude(&mut self, executor: usize, node: NodeId, until: Time) {
        self.executors.insert(executor, (node, until));
        self.of_node.entry(node).or_default().insert(executor);
    }

    /// What was excluded for long enough no longer is (`applyExcludeOnFailureTimeout`).
    pub fn expire(&mut self, now: Time) {
        let Self { executors, nodes, of_node, .. } = self;
        executors.retain(|executor, (node, until)| {
            let stays = *until >= now;
            if !stays && let Some(of_node) = of_node.get_mut(node) {
                of_node.remove(executor);
            }
            stays
        });
        nodes.retain(|_, until| *until >= now);
    }

    /// An executor is lost: failures on it no longer count, but it stays excluded (`handleRemovedExecutor`).
    pub fn removed(&mut self, executor: usize) {
        self.failures.remove(&executor);
    }

    /// Whether an executor of a node gets no tasks.
    pub fn excludes(&self, (executor, node): (usize, NodeId)) -> bool {
        self.executors.contains_key(&executor) || self.excludes_node(node)
    }

    /// Whether a node gets none.
    pub fn excludes_node(&self, node: NodeId) -> bool {
        self.nodes.contains_key(&node)
    }

    /// Nodes that get none.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> {
        self.nodes.keys().copied()
    }
}
