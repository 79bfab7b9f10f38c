//! The daemons' calls: NodeManagers' heartbeats, lost nodes, and what is served of AppMasters' calls.

use super::application::State;
use super::{
    Allocation, CLIENTS, Call, Container, HEARTBEAT, LAUNCH_CONTEXT, NODE_MANAGER, NODE_PROCESS, News, PER_CONTAINER,
    RESOURCE_TRACKER, RM_PROCESS, Request, Role, SCHEDULER, SMALL, Yarn,
};
use crate::context::Context;
use crate::effect::Service;
use crate::ids::{ApplicationId, CallId, ContainerId, NodeId, Process, Server};
use crate::rpc::{self, ServerConfig};
use units::{Bytes, Time};

/// Handlers (`yarn.resourcemanager.*.client.thread-count` 50, `yarn.nodemanager.container-manager.thread-count` 20) and
/// the processor time of a call.
const RM_HANDLERS: u32 = 50;
const RM_CALL: Time = Time::from_us(150);
const NM_HANDLERS: u32 = 20;
const NM_CALL: Time = Time::from_us(300);
/// How long a client tries to reach a NodeManager (`yarn.client.nodemanager-connect.max-wait-ms`).
const NODE_WAIT: Time = Time::from_secs(180);
/// The ResourceManager looks for silent nodes this often within their expiry, as `AbstractLivelinessMonitor` does.
const LOOKS: u64 = 3;

impl Yarn {
    /// The daemons start.
    pub(crate) fn on_start(&mut self, ctx: &mut Context) {
        self.runs = true;
        let master = ctx.nodes.master();
        for port in [RESOURCE_TRACKER, SCHEDULER, CLIENTS] {
            rpc::serve(ctx, Server { node: master, port }, self.scheduler.server(RM_HANDLERS, RM_CALL));
        }
        for node in ctx.nodes.workers() {
            let server = ServerConfig::new(NM_HANDLERS, NM_CALL, Service::Rpc);
            rpc::serve(ctx, Server { node, port: NODE_MANAGER }, server);
            let phase = self.config.node_heartbeat.mul_f64(self.phases.uniform());
            self.heartbeat_in(ctx, node, phase);
        }
        ctx.timer_in(self.config.node_expiry / LOOKS, Request::ExpiryDue);
    }
    /// A node's processes are gone; the ResourceManager notices by silence.
    pub(crate) fn on_node_down(&mut self, node: NodeId) {
        self.tracker.node_down(node);
        for id in self.application_ids() {
            if self.master_node(id) == Some(node) {
                let application = self.application_mut(id);
                application.forget_master();
                // Nobody waits for the reply to its last call.
                if application.state == State::Unregistered {
                    self.over(id);
                }
            }
        }
    }
    /// A node is back: its NodeManager registers anew.
    pub(crate) fn on_node_up(&mut self, ctx: &mut Context, node: NodeId) {
        if self.runs && node != ctx.nodes.master() {
            self.heartbeat_in(ctx, node, Time::ZERO);
        }
    }
    /// A node's battery has come to a level.
    pub(crate) fn on_charge(&mut self, node: NodeId, level: u16) {
        self.charges.set(node, level);
    }

    pub(super) fn heartbeat_in(&mut self, ctx: &mut Context, node: NodeId, delay: Time) {
        ctx.timer_in(delay, Request::HeartbeatDue { node, wait: self.tracker.wait(node) });
    }

    pub(crate) fn on_answer(&mut self, ctx: &mut Context, request: Request) {
        match request {
            Request::HeartbeatDue { node, wait } => {
                if !ctx.nodes.is_up(node) || !self.tracker.is_waiting(node, wait) {
                    return;
                }
                let completed = self.tracker.send_heartbeat(node) as u64;
                let from = rpc::heartbeat_process(ctx, Process { node, id: NODE_PROCESS });
                let to = Server { node: ctx.nodes.master(), port: RESOURCE_TRACKER };
                let request = Bytes::new(HEARTBEAT + PER_CONTAINER * completed);
                Self::call(ctx, from, to, (request, SMALL), Call::NodeHeartbeat(node));
            }
            Request::PassDue => self.pass(ctx),
            Request::ExpiryDue => {
                let expiry = self.config.node_expiry;
                for node in ctx.nodes.workers() {
                    if self.tracker.is_expired(ctx.now, node, expiry) {
                        self.lose(ctx, node);
                    }
                }
                if self.applications.iter().any(|application| application.state != State::Over) {
                    ctx.timer_in(expiry / LOOKS, Request::ExpiryDue);
                }
            }
        }
    }

    // === Calls ===

    /// A call has been processed at its server.
    pub(crate) fn on_served(&mut self, ctx: &mut Context, id: CallId, call: Call) {
        match call {
            Call::Submit(application) => {
                let application = self.application_mut(application);
                application.wants_master = Some(application.submitted);
                self.pass_soon(ctx);
            }
            Call::NodeHeartbeat(node) => self.on_heartbeat(ctx, node, id),
            Call::StartMaster(container) => {
                let state = self.tracker.container_mut(container);
                if !state.ended && !std::mem::replace(&mut state.started, true) {
                    self.tell_of(container, News::Start(container));
                }
            }
            Call::Register(_) => {}
            Call::Allocate(master) => self.answer(ctx, master, id),
            Call::Finish(master) => {
                let application = self.container(master).application;
                self.application_mut(application).state = State::Unregistered;
                self.free(master);
            }
            Call::Start(container) => {
                let Container { node, ended, .. } = *self.container(container);
                if !ended && ctx.nodes.is_up(node) {
                    self.tell_of(container, News::Start(container));
                }
            }
            Call::Stop(container) => {
                if !self.container(container).ended {
                    self.tell_of(container, News::Stop(container));
                }
            }
        }
    }
    /// The reply to a call is there.
    pub(crate) fn on_replied(&mut self, ctx: &mut Context, call: Call) {
        match call {
            Call::Submit(_) | Call::StartMaster(_) | Call::Stop(_) => {}
            Call::NodeHeartbeat(node) => {
                for container in self.tracker.heartbeat_answered(node) {
                    self.tell_of(container, News::Stop(container));
                }
                self.heartbeat_in(ctx, node, self.config.node_heartbeat);
            }
            Call::Register(master) => {
                let Container { application: id, ended, .. } = *self.container(master);
                let application = self.application_mut(id);
                if !ended && application.state == State::Running {
                    application.forget_master();
                    application.master = Some(master);
                    self.tell(id, News::Registered(master));
                }
            }
            Call::Allocate(master) => self.tell_of(master, News::HeartbeatOver(master)),
            Call::Start(container) => self.tell_of(container, News::Started(container)),
            Call::Finish(master) => {
                let application = self.container(master).application;
                if let Some(process) = self.master_process(application) {
                    rpc::exit(ctx, process);
                }
                self.over(application);
            }
        }
    }
    /// No reply to a call will come.
    pub(crate) fn on_call_failed(&mut self, ctx: &mut Context, call: Call) {
        match call {
            Call::Submit(application) => self.tell(application, News::SubmitFailed),
            Call::NodeHeartbeat(node) => {
                self.tracker.heartbeat_failed(node);
                self.heartbeat_in(ctx, node, self.config.node_heartbeat);
            }
            // A NodeManager that has restarted resets connections to its former life: the client tries again.
            Call::StartMaster(container) => {
                if !self.container(container).ended {
                    self.start_master(ctx, container);
                }
            }
            Call::Register(master) => self.register(ctx, master),
            Call::Allocate(master) => self.tell_of(master, News::HeartbeatOver(master)),
            Call::Start(container) => {
                let Container { granted, ended, .. } = *self.container(container);
                let last = ended || ctx.now.saturating_sub(granted) >= NODE_WAIT;
                self.tell_of(container, News::StartFailed { container, last });
            }
            Call::Stop(_) => {}
            Call::Finish(master) => {
                let application = self.container(master).application;
                if !self.finish(ctx, application) {
                    self.over(application);
                }
            }
        }
    }

    // === The ResourceManager ===

    /// A NodeManager's heartbeat is at the ResourceManager: containers that have ended are freed, and the node is
    /// offered to the applications, at once or by the scheduling thread.
    fn on_heartbeat(&mut self, ctx: &mut Context, node: NodeId, call: CallId) {
        if self.tracker.registers_anew(node) {
            // It has restarted: what ran there is gone.
            self.lose(ctx, node);
        }
        self.tracker.on_heartbeat(ctx.now, node);
        self.charges.on_heartbeat(node);
        for container in self.tracker.reported(node) {
            self.free(container);
        }
        let masters = if self.config.asynchronous {
            self.pass_soon(ctx);
            Vec::new()
        } else {
            self.allocate(ctx, node)
        };
        let stopped = self.tracker.to_clean_up(node) as u64;
        rpc::set_reply(ctx, call, Bytes::new(SMALL.get() + PER_CONTAINER * stopped));
        for master in masters {
            self.start_master(ctx, master);
        }
    }
    pub(super) fn start_master(&self, ctx: &mut Context, container: ContainerId) {
        let from = Process { node: ctx.nodes.master(), id: RM_PROCESS };
        let to = Server { node: self.container(container).node, port: NODE_MANAGER };
        Self::call(ctx, from, to, (LAUNCH_CONTEXT, SMALL), Call::StartMaster(container));
    }
    /// An AppMaster's heartbeat is at the ResourceManager, which hands over what it has granted since the last one.
    fn answer(&mut self, ctx: &mut Context, master: ContainerId, call: CallId) {
        let id = self.container(master).application;
        for released in std::mem::take(&mut self.application_mut(id).releases) {
            self.free(released);
            if self.container(released).launched {
                self.tracker.clean_up(released);
            }
        }
        let headroom = self.tracker.free_memory();
        let Self { applications, tracker, .. } = self;
        let application = &mut applications[id.0 as usize];
        // What was granted since the last reply is not known to the AppMaster yet, so it has asked for it again.
        application.requests.clone_from(&application.sent);
        let granted = std::mem::take(&mut application.granted);
        for &container in &granted {
            let Container { node, role, .. } = *tracker.container(container);
            if let Role::Task(priority) = role
                && let Some(request) = application.request_mut(priority)
            {
                request.granted(node, &ctx.nodes);
            }
        }
        rpc::set_reply(ctx, call, Bytes::new(SMALL.get() + 2 * PER_CONTAINER * granted.len() as u64));
        let lost_nodes = std::mem::take(&mut application.lost_nodes);
        let completed = std::mem::take(&mut application.completed);
        application.reply = Allocation { granted, completed, lost_nodes, headroom };
        self.pass_soon(ctx);
    }
    /// The ResourceManager knows that a container has ended.
    fn free(&mut self, id: ContainerId) {
        let Some(Container { application, resources, role, .. }) = self.tracker.free(id) else { return };
        self.application_mut(application).used -= resources.memory;
        if role != Role::Master {
            self.application_mut(application).completed.push(id);
        }
        self.tell(application, News::Completed(id));
    }

    /// The ResourceManager gives a node up, or finds that it has restarted.
    fn lose(&mut self, ctx: &Context, node: NodeId) {
        let mut masters = Vec::new();
        for id in self.tracker.give_up(node) {
            self.free(id);
            let Container { application, role, launched, .. } = *self.container(id);
            if launched {
                // If the node was only out of reach, it stops them when its heartbeats come again.
                self.tracker.clean_up(id);
            }
            if role == Role::Master && self.application(application).state != State::Unregistered {
                masters.push(application);
            }
        }
        for application in masters {
            self.lose_master(ctx, application);
        }
        for application in &mut self.applications {
            application.lost_nodes.push(node);
        }
    }
    /// An AppMaster is lost: its containers are stopped, those that it has not started are free, and it starts again
    /// elsewhere unless it has been lost too often.
    fn lose_master(&mut self, ctx: &Context, id: ApplicationId) {
        for container in self.tracker.containers_of(id) {
            if self.container(container).launched {
                self.tracker.clean_up(container);
            } else {
                self.free(container);
            }
        }
        let application = self.application_mut(id);
        application.forget_master();
        application.requests.clear();
        application.granted.clear();
        application.lost_masters += 1;
        let lost = application.lost_masters;
        let again = application.state == State::Running && lost < application.spec.max_attempts;
        if again {
            application.wants_master = Some(ctx.now);
        } else {
            application.state = State::Over;
        }
        self.tell(id, News::MasterLost { lost, again });
    }
    /// An application is over, its AppMaster gone.
    fn over(&mut self, id: ApplicationId) {
        let application = self.application_mut(id);
        application.forget_master();
        application.state = State::Over;
        self.tell(id, News::Finished);
    }
    fn tell_of(&mut self, container: ContainerId, news: News) {
        let application = self.container(container).application;
        self.tell(application, news);
    }
}
