//! What YARN asks of the world and says in calls, and what it tells frameworks.

use crate::ids::{ApplicationId, ContainerId, NodeId};

/// A timer.
#[allow(missing_docs, reason = "the text of a variant says what its fields are")]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Request {
    /// A NodeManager's heartbeat is due, unless it waits for another one by now.
    HeartbeatDue { node: NodeId, wait: u32 },
    /// The ResourceManager looks for silent NodeManagers.
    ExpiryDue,
    /// The ResourceManager's scheduling thread passes over the nodes.
    PassDue,
}

/// A call to the ResourceManager or a NodeManager.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Call {
    /// A client submits an application.
    Submit(ApplicationId),
    /// A NodeManager's heartbeat.
    NodeHeartbeat(NodeId),
    /// The ResourceManager starts an AppMaster's container.
    StartMaster(ContainerId),
    /// The AppMaster in this container registers.
    Register(ContainerId),
    /// The AppMaster's heartbeat.
    Allocate(ContainerId),
    /// The AppMaster unregisters.
    Finish(ContainerId),
    /// An AppMaster starts a task's container.
    Start(ContainerId),
    /// An AppMaster stops a task's container.
    Stop(ContainerId),
}

/// What becomes of an application and its containers, told to its framework.
#[allow(missing_docs, reason = "the text of a variant says what its fields are")]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum News {
    /// At the client: the submission had no answer.
    SubmitFailed,
    /// At a NodeManager: a container's process is to start.
    Start(ContainerId),
    /// At a NodeManager: a container's process is to end. It may not have started.
    Stop(ContainerId),
    /// At the AppMaster: it is registered, and may ask for containers.
    Registered(ContainerId),
    /// At the AppMaster in this container: the reply to its heartbeat has come, or will never come.
    HeartbeatOver(ContainerId),
    /// At the AppMaster: a NodeManager has started a container.
    Started(ContainerId),
    /// At the AppMaster: a container was not started. It may ask again, unless it has tried for too long or the
    /// container has ended.
    StartFailed { container: ContainerId, last: bool },
    /// At the AppMaster: it has unregistered.
    Finished,
    /// At the ResourceManager: a container has ended.
    Completed(ContainerId),
    /// At the ResourceManager: the AppMaster is lost, the last of so many. `again`: there will be another.
    MasterLost { lost: u32, again: bool },
}
