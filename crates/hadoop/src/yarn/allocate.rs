//! The ResourceManager's scheduler: which application a node's offer goes to, and for which of its requests.

use super::application::{Application, State};
use super::scheduler::{Policy, Share, Wanted, order};
use super::{ContainerRequest, Resources, Role, Yarn};
use crate::context::Context;
use crate::ids::{ApplicationId, ContainerId, NodeId};
use crate::record::Locality;
use des::Index;

/// A request that a node's offer may serve.
pub(super) struct Choice {
    pub role: Role,
    resources: Resources,
    locality: Locality,
    /// Its request says where containers would be near their input.
    located: bool,
}

impl Yarn {
    /// Offers a node whose heartbeat has come to the applications in order, again and again; returns the AppMasters to
    /// start. The last container that may be off-switch ends the heartbeat (`CapacityScheduler.canAllocateMore`), or
    /// the one with which half of what was free is exceeded (`FairScheduler.shouldContinueAssigning`).
    pub(super) fn allocate(&mut self, ctx: &Context, node: NodeId) -> Vec<ContainerId> {
        let mut masters = Vec::new();
        let mut off_switch = 0;
        let free = self.tracker.free_on(node);
        for _ in 0..self.config.containers_per_heartbeat {
            let Some((application, choice)) = self.offer(ctx, node) else { break };
            let container = self.grant(ctx, application, node, &choice);
            if choice.role == Role::Master {
                masters.push(container);
            }
            off_switch += u32::from(choice.locality == Locality::Remote);
            let is_half = self.config.half_per_heartbeat && self.tracker.free_on(node).is_below_half_of(free);
            if off_switch >= self.config.off_switch_per_heartbeat || is_half {
                break;
            }
        }
        masters
    }
    /// Offers a node to the applications in order; the one that takes it, and for what.
    pub(super) fn offer(&mut self, ctx: &Context, node: NodeId) -> Option<(ApplicationId, Choice)> {
        let shares = (0..)
            .zip(&self.applications)
            .filter(|(_, application)| application.state == State::Running)
            .map(|(user, application)| Share {
                user,
                submit: application.spec.submit,
                used: application.used.get(),
                weight: application.spec.weight,
            })
            .collect();
        let mut order = order(self.scheduler.policy, shares).into_iter().map(ApplicationId::from_usize);
        order.find_map(|application| Some((application, self.choose(ctx, application, node)?)))
    }
    /// Whether what an application has taken an offer for is asked for and has room still
    /// (`FiCaSchedulerApp.accept`).
    pub(super) fn accepts(&self, ctx: &Context, id: ApplicationId, node: NodeId, choice: &Choice) -> bool {
        let application = self.application(id);
        let asked = match choice.role {
            Role::Master => application.wants_master.is_some(),
            Role::Task(priority) => {
                let mut requests = application.requests.iter();
                let request = requests.find(|request| request.priority == priority && request.count > 0);
                request.is_some_and(|request| match (&request.locations, choice.locality) {
                    (None, _) | (_, Locality::Remote) => true,
                    (Some(locations), Locality::Node) => locations.names_node(node),
                    (Some(locations), Locality::Rack) => locations.names_rack(ctx.nodes.rack(node)),
                })
            }
        };
        asked && self.tracker.fits(node, choice.resources)
    }
    /// The request of an application that the node serves, if one does.
    fn choose(&mut self, ctx: &Context, id: ApplicationId, node: NodeId) -> Option<Choice> {
        let application = self.application(id);
        if application.wants_master.is_some() {
            let resources = self.config.normalized(application.spec.master);
            let placement = application.placement;
            let allowed = placement.node.is_none_or(|only| only == node) && placement.not_before <= ctx.now;
            let fits = self.tracker.fits(node, resources) && !self.spares(ctx, id, node, resources);
            let choice = Choice { role: Role::Master, resources, locality: Locality::Remote, located: false };
            return (allowed && fits).then_some(choice);
        }
        if application.blacklist.contains(&node) {
            return None;
        }
        let choice = |request: &ContainerRequest, locality: Locality| Choice {
            role: Role::Task(request.priority),
            resources: self.config.normalized(request.resources),
            locality,
            located: request.locations.is_some(),
        };
        let usable = |request: &&ContainerRequest| {
            let resources = self.config.normalized(request.resources);
            request.count > 0
                && !request.useless.contains(&node)
                && self.tracker.fits(node, resources)
                && !self.spares(ctx, id, node, resources)
        };
        let urgent = application.requests.iter().filter(|request| request.urgent).find(usable);
        if let Some(request) = urgent {
            return Some(choice(request, Locality::Remote));
        }
        let mut found = None;
        let mut passed = false;
        for request in application.requests.iter().filter(usable) {
            match self.locality(ctx, application, request, node) {
                Some(locality) => {
                    found = Some(choice(request, locality));
                    break;
                }
                None => passed |= request.locations.is_some() && !request.strict,
            }
        }
        let missed = &mut self.application_mut(id).missed;
        match &found {
            Some(found) if found.located => missed.assigned(found.locality),
            None if passed => missed.miss(),
            _ => {}
        }
        found
    }
    /// As what the scheduler grants a request's container on a node: for the node, for its rack, or as one that may be
    /// anywhere. None if the request lets the offer pass.
    fn locality(
        &self,
        ctx: &Context,
        application: &Application,
        request: &ContainerRequest,
        node: NodeId,
    ) -> Option<Locality> {
        let Some(locations) = &request.locations else { return Some(Locality::Remote) };
        if locations.names_node(node) {
            return Some(Locality::Node);
        }
        if request.strict {
            return None;
        }
        let workers = ctx.nodes.worker_count();
        let wanted = Wanted { containers: request.count, places: locations.places() };
        // The fair scheduler lets no offer pass (`yarn.scheduler.fair.locality.threshold.node` and `.rack` are -1).
        let waits = self.scheduler.policy == Policy::Fifo;
        if locations.names_rack(ctx.nodes.rack(node))
            && (!waits || application.missed.takes_rack(self.config.locality_delay, workers))
        {
            return Some(Locality::Rack);
        }
        (!waits || application.missed.takes_any(workers, wanted)).then_some(Locality::Remote)
    }
    /// Whether an application leaves a node alone for its battery, while others have room for such a container.
    fn spares(&self, ctx: &Context, id: ApplicationId, node: NodeId, resources: Resources) -> bool {
        let since = || self.application(id).waits_since();
        let fits = |other| self.tracker.fits(other, resources);
        self.charges.spares(ctx.now, id.0 as usize, since, node, self.others(ctx, id, node), fits)
    }
    /// The active nodes beside this one that an application does not avoid.
    fn others<'a>(
        &'a self,
        ctx: &'a Context,
        id: ApplicationId,
        node: NodeId,
    ) -> impl Iterator<Item = NodeId> + use<'a> {
        let blacklist = &self.application(id).blacklist;
        let takes =
            move |other: &NodeId| *other != node && self.tracker.is_active(*other) && !blacklist.contains(other);
        ctx.nodes.workers().filter(takes)
    }
    pub(super) fn grant(&mut self, ctx: &Context, id: ApplicationId, node: NodeId, choice: &Choice) -> ContainerId {
        let Choice { role, resources, .. } = *choice;
        let container = self.tracker.grant(ctx.now, id, node, role, resources);
        let fits = |other: NodeId| self.tracker.fits(other, resources);
        if !self.charges.is_spared(node, self.others(ctx, id, node), fits) {
            self.charges.served(ctx.now, id.0 as usize);
        }
        let application = self.application_mut(id);
        application.used += resources.memory;
        match role {
            Role::Master => application.wants_master = None,
            Role::Task(priority) => {
                if let Some(request) = application.request_mut(priority) {
                    request.granted(node, &ctx.nodes);
                }
                application.granted.push(container);
            }
        }
        container
    }
}
