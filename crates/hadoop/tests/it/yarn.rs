//! YARN under an application that is not MapReduce: containers that do nothing until they are told to end.

use crate::jobs::{MIB, config, finish, plain, with_workload};
use crate::support::{Spec, World};
use hadoop::mapreduce::Generation;
use hadoop::rpc::Process;
use hadoop::yarn::{
    ApplicationSpec, Container, ContainerRequest, Locations, MasterPlacement, News, Policy, Resources, Role,
};
use hadoop::{ApplicationId, Config, ContainerId, Event, Framework, NodeId};
use std::collections::BTreeSet;
use units::{Bytes, Time};

/// A NodeManager's and an AppMaster's heartbeat, and time for the calls that follow from one.
const HEARTBEAT: Time = Time::from_secs(1);
const CALLS: Time = Time::from_ms(20);
const GIB: Resources = Resources { memory: Bytes::from_mib(1_024), vcores: 1 };
const PRIORITY: u32 = 1;

/// An application and its AppMaster, which registers as soon as it is started and has every container started.
struct Toy {
    application: ApplicationId,
    master: Option<ContainerId>,
    /// What its next heartbeats ask for.
    locations: Option<Locations>,
    /// On the named nodes or nowhere.
    strict: bool,
    wanted: u32,
    next_heartbeat: Time,
    /// Containers whose processes run.
    running: BTreeSet<ContainerId>,
    lost_nodes: Vec<NodeId>,
    /// All that it was told, and when.
    told: Vec<(Time, News)>,
}

impl Toy {
    /// Submits an application that may lose two AppMasters.
    fn submit(world: &mut World) -> Self {
        let client = Process { node: NodeId(0), id: 7 };
        let spec = ApplicationSpec {
            framework: Framework::Driver(1),
            submit: Time::ZERO,
            weight: 1.0,
            master: GIB,
            max_attempts: 2,
        };
        let application = world.drive_yarn(|ctx, yarn| {
            let application = yarn.add_application(spec);
            yarn.submit(ctx, client, application, MasterPlacement::default());
            application
        });
        Self {
            application,
            master: None,
            locations: None,
            strict: false,
            wanted: 0,
            next_heartbeat: Time::MAX,
            running: BTreeSet::new(),
            lost_nodes: Vec::new(),
            told: Vec::new(),
        }
    }
    /// Runs the world to a time, and the AppMaster in it.
    fn run_to(&mut self, world: &mut World, until: Time) {
        loop {
            if world.step(until.min(self.next_heartbeat)) {
                for (at, event) in std::mem::take(&mut world.news) {
                    let Event::Yarn { application, news } = event else { panic!("{event:?}") };
                    assert_eq!(application, self.application);
                    self.told.push((at, news));
                    self.on_news(world, news);
                }
            } else if self.next_heartbeat <= until {
                world.run_to(self.next_heartbeat);
                self.heartbeat(world);
            } else {
                return world.run_to(until);
            }
        }
    }
    fn on_news(&mut self, world: &mut World, news: News) {
        match news {
            News::Start(container) => match world.cluster.yarn().container(container).role {
                Role::Master => world.drive_yarn(|ctx, yarn| yarn.register(ctx, container)),
                Role::Task(_) => assert!(self.running.insert(container), "started twice"),
            },
            News::Registered(master) => {
                self.master = Some(master);
                self.next_heartbeat = world.now;
            }
            News::HeartbeatOver(master) if self.master == Some(master) => {
                let application = self.application;
                let allocation = world.drive_yarn(|_, yarn| yarn.take_allocation(application));
                self.lost_nodes.extend(allocation.lost_nodes);
                self.wanted -= allocation.granted.len() as u32;
                for container in allocation.granted {
                    world.drive_yarn(|ctx, yarn| yarn.start(ctx, container));
                }
                self.next_heartbeat = world.now + HEARTBEAT;
            }
            News::Stop(container) => self.exit(world, container),
            News::MasterLost { .. } => (self.master, self.next_heartbeat) = (None, Time::MAX),
            _ => {}
        }
    }
    fn heartbeat(&mut self, world: &mut World) {
        self.next_heartbeat = Time::MAX;
        let Some(master) = self.master else { return };
        let request = ContainerRequest {
            priority: PRIORITY,
            resources: GIB,
            count: self.wanted,
            locations: self.locations.clone(),
            strict: self.strict,
            urgent: false,
            useless: Vec::new(),
            since: Time::ZERO,
        };
        world.drive_yarn(|ctx, yarn| yarn.heartbeat(ctx, master, vec![request]));
    }
    /// The process in a container ends.
    fn exit(&mut self, world: &mut World, container: ContainerId) {
        if self.running.remove(&container) {
            world.drive_yarn(|ctx, yarn| yarn.exited(ctx, container));
        }
    }
    fn nodes(&self, world: &World) -> Vec<NodeId> {
        let mut nodes: Vec<_> = self.running.iter().map(|id| world.cluster.yarn().container(*id).node).collect();
        nodes.sort_unstable();
        nodes
    }
    fn when(&self, what: impl Fn(News) -> bool) -> Vec<Time> {
        self.told.iter().filter(|(_, news)| what(*news)).map(|(at, _)| *at).collect()
    }
}

/// Workers with room for so many containers of 1 GiB, in two racks.
fn world(workers: u32, containers: u32) -> World {
    let mut config = Config::default();
    config.yarn.node_memory = GIB.memory * u64::from(containers);
    config.yarn.node_expiry = Time::from_secs(30);
    World::new(config, Spec::new(workers, 2), 1)
}

fn seconds(s: u64) -> Time {
    Time::from_secs(s)
}

/// Two containers are wanted near data on worker 2 and two on worker 3. Each heartbeat of a node is given one
/// container, so in any second each of the two takes one, and the offers of the other two that pass between are fewer
/// than the four after which a rack would do.
#[test]
fn containers_are_granted_where_their_data_is() {
    let mut world = world(4, 8);
    let mut toy = Toy::submit(&mut world);
    let mut locations = Locations::nowhere(5);
    for node in [2, 3] {
        locations.add(2, &[NodeId(node)], &world.cluster.context().nodes);
    }
    (toy.locations, toy.wanted) = (Some(locations), 4);
    toy.run_to(&mut world, seconds(10));
    assert_eq!(toy.nodes(&world), [2, 2, 3, 3].map(NodeId));
    assert_eq!(toy.wanted, 0);
    assert_eq!(toy.when(|news| matches!(news, News::Started(_))).len(), 4, "the AppMaster knows that they run");
}

/// Two workers with room for two each: the AppMaster's container and three more. The fourth waits until one has ended,
/// and is granted by the heartbeat that says so, within a second; the AppMaster has it a heartbeat later.
/// Four are wanted on worker 2, which has room for two beside what else runs there. Ordinary ones go elsewhere once offers
/// have passed; strict ones wait.
#[test]
fn strict_requests_wait_for_their_node() {
    for (strict, most) in [(true, 2), (false, 4)] {
        let mut world = world(4, 2);
        let mut toy = Toy::submit(&mut world);
        let mut locations = Locations::nowhere(5);
        locations.add(4, &[NodeId(2)], &world.cluster.context().nodes);
        (toy.locations, toy.wanted, toy.strict) = (Some(locations), 4, strict);
        toy.run_to(&mut world, seconds(20));
        let nodes = toy.nodes(&world);
        assert!(nodes.len() <= most && (!strict || nodes.iter().all(|node| *node == NodeId(2))), "{nodes:?}");
        assert!(strict || nodes.len() == 4, "{nodes:?}");
    }
}

#[test]
fn a_container_that_ends_makes_room_for_the_next() {
    let mut world = world(2, 2);
    let mut toy = Toy::submit(&mut world);
    toy.wanted = 4;
    toy.run_to(&mut world, seconds(10));
    assert_eq!((toy.running.len(), toy.wanted), (3, 1));
    let ended = *toy.running.first().expect("three run");
    toy.exit(&mut world, ended);
    toy.run_to(&mut world, seconds(13));
    assert_eq!((toy.running.len(), toy.wanted), (3, 0));
    let completed = toy.when(|news| news == News::Completed(ended));
    assert!(completed.len() == 1 && completed[0] <= seconds(10) + HEARTBEAT + CALLS, "{completed:?}");
    let Container { granted, ended, .. } = *world.cluster.yarn().container(*toy.running.last().expect("a new one"));
    assert_eq!((granted, ended), (completed[0], false), "the heartbeat that frees it is the offer");
}

/// What was released is free at once when the heartbeat that says so is served.
#[test]
fn containers_that_are_given_back_are_free() {
    let mut world = world(2, 2);
    let mut toy = Toy::submit(&mut world);
    toy.wanted = 3;
    toy.run_to(&mut world, seconds(10));
    let (application, given_back) = (toy.application, *toy.running.first().expect("three run"));
    world.drive_yarn(|_, yarn| yarn.release(application, [given_back]));
    toy.run_to(&mut world, seconds(10) + HEARTBEAT + CALLS);
    assert!(world.cluster.yarn().container(given_back).ended);
    assert_eq!(toy.when(|news| news == News::Completed(given_back)).len(), 1);
}

/// A worker dies with its container. The ResourceManager gives it up when it has been silent for 30 s, which it looks
/// for every 10 s, and the AppMaster hears of both a heartbeat later.
#[test]
fn a_lost_node_takes_its_containers_with_it() {
    let mut world = world(4, 1);
    let mut toy = Toy::submit(&mut world);
    toy.wanted = 3;
    toy.run_to(&mut world, seconds(10));
    assert_eq!(toy.running.len(), 3);
    let lost = *toy.running.first().expect("three run");
    let node = world.cluster.yarn().container(lost).node;
    world.kill(node, seconds(10));
    toy.run_to(&mut world, seconds(38));
    assert!(!world.cluster.yarn().container(lost).ended, "nobody knows yet");
    toy.run_to(&mut world, seconds(10 + 30 + 10) + HEARTBEAT + CALLS);
    assert!(world.cluster.yarn().container(lost).ended);
    let completed = toy.when(|news| news == News::Completed(lost));
    assert!(completed.len() == 1 && completed[0] >= seconds(9 + 30), "{completed:?}");
    assert_eq!(toy.lost_nodes, [node]);
    assert!(toy.when(|news| matches!(news, News::MasterLost { .. })).is_empty());
}

/// The AppMaster's node dies. Its containers elsewhere are stopped by their nodes' next heartbeats, another AppMaster
/// starts on another node and asks again; when that is lost too, there is no third.
#[test]
fn a_lost_master_is_replaced_once() {
    let mut world = world(4, 2);
    let mut toy = Toy::submit(&mut world);
    toy.wanted = 3;
    toy.run_to(&mut world, seconds(10));
    let first = world.cluster.yarn().master_node(toy.application).expect("it is registered");
    let elsewhere = toy.nodes(&world).iter().filter(|node| **node != first).count();
    world.kill(first, seconds(10));
    toy.run_to(&mut world, seconds(60));
    let lost = |lost: u32, again: bool| move |news: News| news == News::MasterLost { lost, again };
    let [at] = toy.when(lost(1, true))[..] else { panic!("{:?}", toy.told) };
    let stopped = toy.when(|news| matches!(news, News::Stop(_)));
    assert_eq!(stopped.len(), elsewhere);
    assert!(stopped.iter().all(|stop| *stop > at && *stop <= at + HEARTBEAT + CALLS), "{stopped:?} after {at}");
    let second = world.cluster.yarn().master_node(toy.application).expect("another is registered");
    assert_ne!(first, second);
    world.kill(second, seconds(60));
    toy.run_to(&mut world, seconds(120));
    assert_eq!(toy.when(lost(2, false)).len(), 1);
    assert_eq!(toy.when(|news| matches!(news, News::Registered(_))).len(), 2);
}

/// The AppMaster's node dies with containers granted elsewhere that it has not heard of, or has not started yet. Nobody
/// will start them: they are free for the next AppMaster, which has five of the six places on the three nodes that are
/// left.
#[test]
fn what_a_lost_master_never_started_is_free() {
    let mut world = world(4, 2);
    let mut toy = Toy::submit(&mut world);
    toy.wanted = 7;
    while toy.master.is_none() {
        let next = world.now + CALLS;
        toy.run_to(&mut world, next);
    }
    // Each node has had a heartbeat by then, and the AppMaster its first only.
    let at = world.now + HEARTBEAT - CALLS;
    toy.run_to(&mut world, at);
    assert!(toy.running.is_empty());
    let first = world.cluster.yarn().master_node(toy.application).expect("it is registered");
    world.kill(first, at);
    toy.run_to(&mut world, seconds(60));
    assert_eq!(toy.running.len(), 5);
    assert!(!toy.nodes(&world).contains(&first));
}

/// An AppMaster that leaves is told so, and its container is free.
#[test]
fn an_application_ends_when_its_master_unregisters() {
    let mut world = world(2, 2);
    let mut toy = Toy::submit(&mut world);
    toy.run_to(&mut world, seconds(10));
    let (application, master) = (toy.application, toy.master.expect("it is registered"));
    world.drive_yarn(|ctx, yarn| {
        yarn.want_nothing(application);
        assert!(yarn.finish(ctx, application));
    });
    toy.next_heartbeat = Time::MAX;
    toy.run_to(&mut world, seconds(10) + CALLS);
    assert_eq!(toy.when(|news| news == News::Finished).len(), 1);
    assert!(world.cluster.yarn().container(master).ended);
    assert_eq!(world.cluster.yarn().master_node(application), None);
}

/// An AppMaster that dies when the ResourceManager has served its last call and the reply is on its way: the
/// application is over all the same. The call takes 50 us there, 150 us of service, and 50 us back.
#[test]
fn an_application_is_over_when_its_last_reply_finds_nobody() {
    let mut world = world(2, 2);
    let mut toy = Toy::submit(&mut world);
    toy.run_to(&mut world, seconds(10));
    let application = toy.application;
    let node = world.cluster.yarn().master_node(application).expect("it is registered");
    toy.next_heartbeat = Time::MAX;
    world.drive_yarn(|ctx, yarn| yarn.finish(ctx, application));
    world.kill(node, seconds(10) + Time::from_us(230));
    toy.run_to(&mut world, seconds(100));
    assert_eq!(toy.when(|news| news == News::Finished), [seconds(10) + Time::from_us(230)]);
    assert!(toy.when(|news| matches!(news, News::MasterLost { .. })).is_empty());
}

/// Two frameworks share the ResourceManager: a job of MapReduce gets the one container that another application has
/// left on the workers for its AppMaster, and its first map when a container of the other has ended, by the heartbeat
/// that says so.
#[test]
fn a_job_waits_for_containers_that_another_framework_holds() {
    let mut job = with_workload(plain(0.01), 32 * MIB, 0);
    job.submit = seconds(10);
    let mut cfg = Config { hdfs: hadoop::hdfs::HdfsConfig::default(), ..config(Generation::Yarn, vec![job]) };
    cfg.scheduler.policy = Policy::Fifo;
    cfg.yarn.node_memory = GIB.memory * 2;
    cfg.mapreduce.app_master.memory = GIB.memory;
    let mut world = World::new(cfg, Spec::new(2, 1), 1);
    let mut toy = Toy::submit(&mut world);
    toy.wanted = 2;
    toy.run_to(&mut world, seconds(60));
    assert_eq!(toy.running.len(), 2);
    assert!(world.cluster.records().jobs[0].launch.is_some(), "the job's AppMaster runs");
    assert!(world.cluster.records().attempts.is_empty(), "there is no room for its map");
    for container in toy.running.clone() {
        toy.exit(&mut world, container);
    }
    toy.run_to(&mut world, seconds(70));
    let records = finish(&mut world);
    let map = &records.attempts[0];
    assert!(map.allocated > seconds(60) && map.allocated <= seconds(60) + HEARTBEAT + CALLS, "{}", map.allocated);
}
