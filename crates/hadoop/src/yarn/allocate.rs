//! The ResourceManager's scheduler: which application a node's offer goes to, and for which of its requests.

use super::application::{Application, State};
use super::scheduler::{Share, Wanted, order};
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
    /// Offers a node whose heartbeat has come to the applications in order; returns the AppMasters to start.
    pub(super) fn allocate(&mut self, ctx: &Context, node: NodeId) -> Vec<ContainerId> {
        let mut masters = Vec::new();
        let mut off_switch = 0;
        for _ in 0..self.config.containers_per_heartbeat {
            match self.offer(ctx, node, off_switch < self.config.off_switch_per_heartbeat) {
                None => break,
                Some((container, Choice { role: Role::Master, .. })) => masters.push(container),
                Some((_, Choice { locality: Locality::Remote, .. })) => off_switch += 1,
                Some(_) => {}
            }
        }
        masters
    }
    /// Offers a node to the applications in order; the container that it is granted, if one takes it.
    pub(super) fn offer(&mut self, ctx: &Context, node: NodeId, anywhere: bool) -> Option<(ContainerId, Choice)> {
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
        order(self.scheduler.policy, shares).into_iter().map(ApplicationId::from_usize).find_map(|application| {
            let choice = self.choose(ctx, application, node, anywhere)?;
            Some((self.grant(ctx, application, node, &choice), choice))
        })
    }
    /// The request of an application that the node serves, if one does.
    fn choose(&mut self, ctx: &Context, id: ApplicationId, node: NodeId, anywhere: bool) -> Option<Choice> {
        let application = self.application(id);
        if application.wants_master.is_some() {
            let resources = self.config.normalized(application.spec.master);
            let placement = application.placement;
            let allowed = placement.node.is_none_or(|only| only == node) && placement.not_before <= ctx.now;
            let fits = self.tracker.fits(node, resources) && !self.spares(ctx, id, node, resources);
            let choice = Choice { role: Role::Master, resources, locality: Locality::Node, located: false };
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
        let urgent = application.requests.iter().filter(|request| request.urgent && anywhere).find(usable);
        if let Some(request) = urgent {
            return Some(choice(request, Locality::Remote));
        }
        let mut found = None;
        let mut passed = false;
        for request in application.requests.iter().filter(usable) {
            match self.locality(ctx, application, request, node, anywhere) {
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
        anywhere: bool,
    ) -> Option<Locality> {
        let Some(locations) = &request.locations else { return anywhere.then_some(Locality::Remote) };
        if locations.names_node(node) {
            return Some(Locality::Node);
        }
        if request.strict {
            return None;
        }
        let workers = ctx.nodes.worker_count();
        let wanted = Wanted { containers: request.count, places: locations.places() };
        if locations.names_rack(ctx.nodes.rack(node))
            && application.missed.takes_rack(self.config.locality_delay, workers)
        {
            return Some(Locality::Rack);
        }
        (anywhere && application.missed.takes_any(workers, wanted)).then_some(Locality::Remote)
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
    fn grant(&mut self, ctx: &Context, id: ApplicationId, node: NodeId, choice: &Choice) -> ContainerId {
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
