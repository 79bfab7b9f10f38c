//! What a client and an AppMaster say to YARN: submit, register, ask for containers, have them started and stopped,
//! finish.

use super::application::{Application, State};
use super::{
    Allocation, ApplicationSpec, CLIENTS, Call, Container, ContainerRequest, HEARTBEAT, LAUNCH_CONTEXT,
    MasterPlacement, NODE_MANAGER, PER_CONTAINER, PER_LOCATION, SCHEDULER, SMALL, Yarn,
};
use crate::context::Context;
use crate::ids::{ApplicationId, ContainerId, NodeId, Process, Server};
use des::Index;
use units::{Bytes, Time};

impl Yarn {
    fn scheduler(ctx: &Context) -> Server {
        Server { node: ctx.nodes.master(), port: SCHEDULER }
    }

    // === The client ===

    /// Names an application that will be submitted.
    pub fn add_application(&mut self, spec: ApplicationSpec) -> ApplicationId {
        let id = ApplicationId::from_usize(self.applications.len());
        self.applications.push(Application::new(spec));
        self.charges.add_user();
        id
    }
    /// A client submits an application. The ResourceManager starts its AppMaster when it has a container for it.
    pub fn submit(&mut self, ctx: &mut Context, client: Process, id: ApplicationId, placement: MasterPlacement) {
        let application = self.application_mut(id);
        application.submitted = ctx.now;
        application.placement = placement;
        let to = Server { node: ctx.nodes.master(), port: CLIENTS };
        Self::call(ctx, client, to, (LAUNCH_CONTEXT, SMALL), Call::Submit(id));
    }

    // === The AppMaster and the ResourceManager ===

    /// The AppMaster in this container is up and registers.
    pub fn register(&mut self, ctx: &mut Context, master: ContainerId) {
        let Container { application, node, ended, .. } = *self.container(master);
        if ended || !ctx.nodes.is_up(node) {
            return;
        }
        let from = Self::master_on(node, application);
        Self::call(ctx, from, Self::scheduler(ctx), (SMALL, SMALL), Call::Register(master));
    }
    /// The AppMaster's heartbeat leaves: `requests` is all that it asks for from now on. It waits for the reply
    /// ([`News::HeartbeatOver`](super::News::HeartbeatOver)) before it sends another.
    pub fn heartbeat(&mut self, ctx: &mut Context, master: ContainerId, requests: Vec<ContainerRequest>) {
        if !self.is_registered(master) {
            return;
        }
        let Container { application: id, node, .. } = *self.container(master);
        let from = Self::master_on(node, id);
        let application = self.application_mut(id);
        let named = application.send(requests) as u64;
        let released = application.releases.len() as u64;
        let request = Bytes::new(HEARTBEAT + PER_LOCATION * named + PER_CONTAINER * released);
        Self::call(ctx, from, Self::scheduler(ctx), (request, SMALL), Call::Allocate(master));
    }
    /// What the reply to the AppMaster's heartbeat has brought. Containers that have ended since are left out.
    pub fn take_allocation(&mut self, id: ApplicationId) -> Allocation {
        let mut allocation = std::mem::take(&mut self.application_mut(id).reply);
        allocation.granted.retain(|&container| !self.container(container).ended);
        allocation
    }
    /// The AppMaster has no use for these containers: its next heartbeat gives them back.
    pub fn release(&mut self, id: ApplicationId, containers: impl IntoIterator<Item = ContainerId>) {
        self.application_mut(id).releases.extend(containers);
    }
    /// The AppMaster wants no task on these nodes. Taken to be known at once, although it goes with a heartbeat.
    pub fn set_blacklist(&mut self, id: ApplicationId, nodes: Vec<NodeId>) {
        self.application_mut(id).blacklist = nodes;
    }
    /// The AppMaster wants nothing more, and will unregister. Taken to be known at once.
    pub fn want_nothing(&mut self, id: ApplicationId) {
        let application = self.application_mut(id);
        if application.state == State::Running {
            application.state = State::Finishing;
        }
    }
    /// The AppMaster unregisters; false if there is none, and the application is over at once.
    pub fn finish(&mut self, ctx: &mut Context, id: ApplicationId) -> bool {
        let (Some(master), Some(from)) = (self.application(id).master, self.master_process(id)) else {
            self.application_mut(id).state = State::Over;
            return false;
        };
        Self::call(ctx, from, Self::scheduler(ctx), (SMALL, SMALL), Call::Finish(master));
        true
    }

    // === The AppMaster and NodeManagers ===

    /// The AppMaster tells a container's NodeManager to start it.
    pub fn start(&mut self, ctx: &mut Context, container: ContainerId) {
        let Container { application, node, .. } = *self.container(container);
        let Some(from) = self.master_process(application) else { return };
        self.tracker.container_mut(container).launched = true;
        let to = Server { node, port: NODE_MANAGER };
        Self::call(ctx, from, to, (LAUNCH_CONTEXT, SMALL), Call::Start(container));
    }
    /// The AppMaster tells a container's NodeManager to stop it.
    pub fn stop(&mut self, ctx: &mut Context, container: ContainerId) {
        let Container { application, node, .. } = *self.container(container);
        let Some(from) = self.master_process(application) else { return };
        let to = Server { node, port: NODE_MANAGER };
        Self::call(ctx, from, to, (SMALL, SMALL), Call::Stop(container));
    }
    /// The process in a container is gone: its NodeManager sees it, and says so by a heartbeat out of band. One whose
    /// heartbeat is under way says so with the next one (`NodeStatusUpdater.sendOutofBandHeartBeat`, which wakes who
    /// waits).
    pub fn exited(&mut self, ctx: &mut Context, container: ContainerId) {
        if self.tracker.exited(container) {
            let node = self.container(container).node;
            self.heartbeat_in(ctx, node, Time::ZERO);
        }
    }
}
