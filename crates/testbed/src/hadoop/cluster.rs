//! Starts a cluster, within namespaces of processes and mounts that end with this process.

use super::HadoopError;
use super::daemons::{Daemon, Engine, Kind};
use super::faults::{self, Disk};
use super::http::{Request, ask, get};
use super::install::{SPARK_VERSION, SparkJars, StoreJars};
use super::job;
use super::layout::{Layout, Owner};
use super::running::{DaemonRecord, HostRecord, Ready};
use super::scenario::word;
use super::settings::{self, HISTORY_HTTP, NAME_NODE_HTTP, RESOURCE_MANAGER_HTTP};
use super::spark::{self, MASTER_HTTP};
use super::store::{self, Credentials};
use super::tools::Java;
use crate::link::{Clock, Host, Links, Spoke, Star, StarSettings};
use nix::mount::{MsFlags, mount};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::{Pid, chown};
use scenario::{ObjectStore, Scenario, Spark};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::io;
use std::net::Ipv4Addr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;
use units::{BitRate, Bytes, Time};

/// A cluster as it is to be.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The scenario with all that holds for it.
    pub scenario: Scenario,
    /// The links of its nodes, the master's first.
    pub spokes: Vec<Spoke>,
    /// How the links are made.
    pub links: Links,
    /// The kernel's name of the congestion control.
    pub control: Option<String>,
    /// The folder of the cluster, which must not exist.
    pub folder: PathBuf,
    /// The folder of the jars.
    pub jars: PathBuf,
    /// The jar of our own jobs.
    pub own_jar: PathBuf,
    /// The jar of placement by key.
    pub placement_jar: PathBuf,
    /// What the object store needs, where the scenario has one.
    pub store: Option<StoreJars>,
    /// Spark, where the scenario has it.
    pub spark: Option<SparkJars>,
    /// The Java runtime of daemons and clients.
    pub java: Java,
    /// The size of each worker's own disk; `None` if all write to what the cluster's folder is on.
    pub disk: Option<Bytes>,
    /// What the scenario's disks read and write, in bytes per second: what slow disks are a part of.
    pub disk_rates: [f64; 2],
}

/// A cluster that is up. Its processes end with it.
#[derive(Debug)]
pub struct Cluster {
    /// The hosts and links.
    pub star: Star,
    daemons: Vec<Daemon>,
    /// The disks of hosts that have one of their own.
    disks: BTreeMap<usize, Disk>,
    disk_rates: [f64; 2],
    engine: Engine,
    /// The settings of Spark, where the cluster has it.
    spark: Option<Spark>,
    java: Java,
    layout: Layout,
    owner: Owner,
    ready: Option<Ready>,
}

/// A cluster that is not ready after this time has failed.
const PATIENCE: Time = Time::from_secs(180);
const LOOK: Duration = Duration::from_millis(200);

impl Cluster {
    /// Makes hosts and links, starts the daemons and waits until they are ready. The caller's namespaces of processes
    /// and mounts must be its own.
    pub fn up(plan: &Plan, stop: &(dyn Fn() -> bool + Sync), say: &mut dyn FnMut(&str)) -> Result<Self, HadoopError> {
        let clock = Clock::start();
        let owner = Owner::find()?;
        let layout = Layout::new(plan.folder.clone(), &owner.name);
        let names: Vec<&str> = plan.spokes.iter().map(Spoke::name).collect();
        layout.make(&names, &owner)?;
        let mut disks = BTreeMap::new();
        let slow = faults::slow_disks(&plan.scenario);
        for (host, name) in names.iter().enumerate() {
            let size = plan.disk.filter(|_| is_worker(host, name));
            if size.is_some() || slow.contains(&host) {
                say(&format!("making a disk for {name}"));
                let mut disk = Disk::under(&layout.node(name), size, &layout, &owner)?;
                if slow.contains(&host) {
                    disk.can_be_slow()?;
                }
                disks.insert(host, disk);
            }
        }
        let key = plan.store.as_ref().map(|_| Credentials::random()).transpose()?;
        write_files(plan, &layout, &names, (key.as_ref(), &owner))?;
        mount_over(&plan.jars, &layout.jars())?;
        if let Some(store) = &plan.store {
            mount_over(&store.client, &layout.store_client())?;
            mount_over(&store.server, &layout.store_server())?;
        }
        if let Some(spark) = &plan.spark {
            mount_over(&spark.jars, &layout.spark_jars())?;
        }
        mount_over(&layout.hosts(), Path::new("/etc/hosts"))?;
        if Path::new("/etc/resolv.conf").exists() {
            // No server is to be asked for a name: the question would wait for its time-out.
            mount_over(Path::new("/dev/null"), Path::new("/etc/resolv.conf"))?;
        }
        let settings = StarSettings {
            links: plan.links,
            mtu: plan.scenario.network.mtu.get() as u32,
            control: plan.control.clone(),
            seed: plan.scenario.run.seed,
        };
        say("making hosts and links");
        let star = Star::up(&plan.spokes, &settings)?;
        let (java, disk_rates) = (plan.java.clone(), plan.disk_rates);
        let (engine, spark) = (Engine::of(&plan.scenario), plan.scenario.spark.clone());
        let (daemons, ready) = (Vec::new(), None);
        let mut cluster = Self { star, daemons, disks, disk_rates, engine, spark, java, layout, owner, ready };
        if let (Some(key), Some(of)) = (&key, &plan.scenario.object_store) {
            say("starting the object store");
            cluster.start_store(of, plan.scenario.run.seed, key)?;
        }
        let (first, then): (&[Kind], &[Kind]) = match engine {
            Engine::Yarn | Engine::SparkOnYarn => {
                say("starting YARN, formatting HDFS");
                (&[Kind::ResourceManager, Kind::NodeManager], &[Kind::NameNode, Kind::DataNode, Kind::HistoryServer])
            }
            Engine::Spark => {
                say("starting Spark, formatting HDFS");
                // A Worker that finds no Master tries again only seconds later.
                (&[Kind::SparkMaster], &[Kind::NameNode, Kind::DataNode, Kind::SparkWorker])
            }
        };
        first.iter().try_for_each(|kind| cluster.start(*kind))?;
        Daemon::format(cluster.master(), &cluster.java, &cluster.layout, &cluster.owner, stop)?;
        say("starting HDFS and the rest");
        then.iter().try_for_each(|kind| cluster.start(*kind))?;
        cluster.wait(&clock, stop)?;
        if let Some(coding) = plan.scenario.hdfs.erasure_coding {
            cluster.erasure_code(coding.policy())?;
        }
        cluster.ready = Some(cluster.described(plan, clock.now()));
        cluster.write_ready()?;
        Ok(cluster)
    }

    /// Has the folders of jobs' files erasure-coded: `hdfs ec -setPolicy`.
    fn erasure_code(&self, policy: &str) -> Result<(), HadoopError> {
        for folder in job::FOLDERS {
            for operation in ["MKDIRS".to_owned(), format!("SETECPOLICY&ecpolicy={policy}")] {
                let path = format!("/webhdfs/v1{folder}?op={operation}&user.name={}", self.owner.name);
                let to = (Star::address(0), NAME_NODE_HTTP);
                let answer = ask(self.master(), to, Request::new("PUT", &path), |_| Ok(()));
                let answer = answer.map_err(HadoopError::system("ask the NameNode"))?;
                if answer.status != 200 {
                    let said = String::from_utf8_lossy(&answer.body).chars().take(300).collect::<String>();
                    return Err(HadoopError::Failed(format!("{folder} is not erasure-coded by {policy}: {said}")));
                }
            }
        }
        Ok(())
    }

    fn write_ready(&self) -> Result<(), HadoopError> {
        let text = serde_json::to_string_pretty(&self.ready).unwrap_or_default();
        let partial = self.layout.ready().with_extension("partial");
        fs::write(&partial, text)
            .and_then(|()| fs::rename(&partial, self.layout.ready()))
            .map_err(HadoopError::system("write the cluster's record"))
    }

    fn master(&self) -> &Host {
        &self.star.hosts()[0]
    }

    /// Starts the daemons of a kind on all hosts that have one.
    fn start(&mut self, kind: Kind) -> Result<(), HadoopError> {
        (0..self.star.hosts().len()).try_for_each(|index| self.start_at(index, kind))
    }

    /// Starts the object store on its host.
    fn start_store(&mut self, of: &ObjectStore, seed: u64, key: &Credentials) -> Result<(), HadoopError> {
        let index = self.star.hosts().iter().position(|host| host.name() == store::HOST);
        let index = index.ok_or_else(|| HadoopError::Failed("the object store has no host".to_owned()))?;
        let settings = store::properties(of, seed, &self.layout, Star::address(index), key);
        let host = &self.star.hosts()[index];
        self.daemons.push(Daemon::start_store(host, &self.java, &self.layout, &self.owner, &settings)?);
        Ok(())
    }

    /// The address of the object store's server, where there is one.
    fn store_address(&self) -> Option<(Ipv4Addr, u16)> {
        let index = self.star.hosts().iter().position(|host| host.name() == store::HOST)?;
        Some((Star::address(index), store::PORT))
    }

    /// Starts the daemon of a kind on a host, if it has one.
    fn start_at(&mut self, index: usize, kind: Kind) -> Result<(), HadoopError> {
        let host = &self.star.hosts()[index];
        let kinds: &[Kind] = match index {
            0 => self.engine.of_master(),
            _ if is_worker(index, host.name()) => self.engine.of_worker(),
            _ => &[],
        };
        if kinds.contains(&kind) {
            let arguments = self.arguments(kind, host);
            self.daemons.push(Daemon::start((kind, &arguments), host, &self.java, &self.layout, &self.owner)?);
        }
        Ok(())
    }

    /// What a daemon is told: Hadoop's read all from their configuration.
    fn arguments(&self, kind: Kind, host: &Host) -> Vec<String> {
        match (kind, &self.spark) {
            (Kind::SparkMaster, _) => spark::of_master(host.name()),
            (Kind::SparkWorker, Some(spark)) => {
                let folder = self.layout.node(host.name()).join("executors");
                spark::of_worker(host.name(), self.master().name(), spark, &folder, &self.layout)
            }
            _ => Vec::new(),
        }
    }

    /// Kills all processes of a worker. Its kernel lives on, and would tell of their connections' ends once its link is
    /// up again, which a machine that has lost its power does not: it gives them up at once.
    pub fn crash(&mut self, host: usize) -> Result<(), HadoopError> {
        let host = &self.star.hosts()[host];
        set_orphan_retries(host, "1")?;
        let failing = || HadoopError::system(format!("kill the processes of {}", host.name()));
        // A NodeManager may be starting a task just now: until there is none.
        for _ in 0..100 {
            let pids = host.net().processes().map_err(failing())?;
            if pids.is_empty() {
                break;
            }
            for pid in pids {
                // One that has just ended needs no signal.
                let _ = kill(Pid::from_raw(pid as i32), Signal::SIGKILL);
            }
            thread::sleep(LOOK / 20);
            self.daemons.retain(|daemon| daemon.host != host.name());
            reap(&self.daemons);
        }
        Ok(())
    }

    /// Starts the daemons of a worker again.
    pub fn restart(&mut self, host: usize) -> Result<(), HadoopError> {
        set_orphan_retries(&self.star.hosts()[host], "0")?;
        self.engine.of_worker().iter().try_for_each(|kind| self.start_at(host, *kind))?;
        let daemons = self.daemon_records();
        if let Some(ready) = &mut self.ready {
            ready.daemons = daemons;
        }
        self.write_ready()
    }

    /// Whether the daemons of a worker have registered with their masters since they were started.
    pub fn has_rejoined(&self, host: usize) -> bool {
        let name = self.star.hosts()[host].name();
        let mut own = self.daemons.iter().filter(|daemon| daemon.host == name).peekable();
        own.peek().is_some() && own.all(Daemon::has_registered)
    }

    /// Takes a host's link down or up.
    pub fn set_link_up(&self, host: usize, up: bool) -> Result<(), HadoopError> {
        Ok(self.star.set_link_up(host, up)?)
    }

    /// Gives a host's link a part of its rate.
    pub fn set_link_part(&self, host: usize, part: f64, nominal: BitRate) -> Result<(), HadoopError> {
        Ok(self.star.set_link_part(host, part, nominal)?)
    }

    /// Gives a host's own disk a part of the scenario's rates; 1 lets it be as fast as it is.
    pub fn set_disk_part(&self, host: usize, part: f64) -> Result<(), HadoopError> {
        let disk = self.disks.get(&host);
        let disk = disk.ok_or_else(|| HadoopError::Failed("this host has no disk of its own".to_owned()))?;
        if part < 1.0 {
            disk.slow(&self.layout, self.disk_rates.map(|rate| (rate * part) as u64))
        } else {
            disk.restore()
        }
    }

    /// Waits until every worker is there for HDFS and for what runs jobs, and the history server, if there is one,
    /// answers.
    fn wait(&mut self, clock: &Clock, stop: &(dyn Fn() -> bool + Sync)) -> Result<(), HadoopError> {
        let store = self.store_address();
        let workers = self.star.hosts().iter().enumerate().filter(|(index, host)| is_worker(*index, host.name()));
        let workers = workers.count() as u64;
        loop {
            if stop() {
                return Err(HadoopError::Interrupted);
            }
            self.look()?;
            let waits = waits_for(self.master(), self.engine, workers, store);
            let Some(what) = waits else { return Ok(()) };
            if clock.now() > PATIENCE {
                let said: Vec<String> = self.daemons.iter().map(Daemon::said).filter(|said| !said.is_empty()).collect();
                return Err(HadoopError::Failed(format!(
                    "{what} is not ready after {PATIENCE}; the daemons' last words: {}",
                    said.join("; ")
                )));
            }
            thread::sleep(LOOK);
        }
    }

    /// Whether all daemons run; an error names one that does not.
    pub fn look(&mut self) -> Result<(), HadoopError> {
        self.daemons.iter_mut().try_for_each(Daemon::look)
    }

    /// Waits for processes that were left to this one, the first of its namespace.
    pub fn reap(&self) {
        reap(&self.daemons);
    }

    fn daemon_records(&self) -> Vec<DaemonRecord> {
        let record = |daemon: &Daemon| DaemonRecord {
            host: daemon.host.clone(),
            kind: daemon.kind.name().to_owned(),
            pid: daemon.pid(),
        };
        self.daemons.iter().map(record).collect()
    }

    fn described(&self, plan: &Plan, took: Time) -> Ready {
        let host = |(index, host): (usize, &Host)| HostRecord {
            name: host.name().to_owned(),
            address: Star::address(index),
            descriptors: host.descriptors(),
        };
        Ready {
            hosts: self.star.hosts().iter().enumerate().map(host).collect(),
            daemons: self.daemon_records(),
            java_home: plan.java.home.clone(),
            java: plan.java.version.clone(),
            user: self.owner.name.clone(),
            links: word(plan.links).to_owned(),
            spark: plan.spark.as_ref().map(|_| SPARK_VERSION.to_owned()),
            ready_s: took.as_secs_f64(),
        }
    }
}

/// How often a host repeats what ends a connection that no process has any more; 0 is the kernel's default, eight
/// times.
fn set_orphan_retries(host: &Host, retries: &str) -> Result<(), HadoopError> {
    let what = || HadoopError::system(format!("set up {} for a crash", host.name()));
    host.within(|| fs::write("/proc/sys/net/ipv4/tcp_orphan_retries", retries)).map_err(what())?.map_err(what())
}

/// Waits for children that were left to this process and are none of these daemons.
fn reap(daemons: &[Daemon]) {
    let Ok(tasks) = fs::read_dir("/proc/self/task") else { return };
    for task in tasks.flatten() {
        let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        for pid in children.split_ascii_whitespace().filter_map(|pid| pid.parse::<i32>().ok()) {
            if !daemons.iter().any(|daemon| daemon.pid() == pid) {
                // One that still runs is left alone.
                let _ = waitpid(Pid::from_raw(pid), Some(WaitPidFlag::WNOHANG));
            }
        }
    }
}

/// Whether the host at a place of a cluster's list is a worker: the first is the master, and one may be the object
/// store's.
pub fn is_worker(index: usize, host: &str) -> bool {
    index > 0 && host != store::HOST
}

/// What is not ready yet.
fn waits_for(master: &Host, engine: Engine, workers: u64, store: Option<(Ipv4Addr, u16)>) -> Option<&'static str> {
    let at = |port: u16, path: &str| -> Option<Value> {
        serde_json::from_slice(&get(master, (Star::address(0), port), path).ok()?).ok()
    };
    let bean = |name: &str| at(NAME_NODE_HTTP, &format!("/jmx?qry=Hadoop:service=NameNode,name={name}"));
    let nodes = bean("FSNamesystemState").and_then(|state| state["beans"][0]["NumLiveDataNodes"].as_u64());
    let safe = bean("NameNodeInfo").and_then(|info| Some(info["beans"][0]["Safemode"].as_str()?.to_owned()));
    if nodes != Some(workers) || safe.as_deref() != Some("") {
        return Some("HDFS");
    }
    match engine {
        Engine::Yarn | Engine::SparkOnYarn => {
            let metrics = at(RESOURCE_MANAGER_HTTP, "/ws/v1/cluster/metrics");
            if metrics.and_then(|metrics| metrics["clusterMetrics"]["activeNodes"].as_u64()) != Some(workers) {
                return Some("YARN");
            }
            if engine == Engine::Yarn && at(HISTORY_HTTP, "/ws/v1/history/info").is_none() {
                return Some("the history server");
            }
        }
        Engine::Spark => {
            if at(MASTER_HTTP, "/json/").and_then(|state| state["aliveworkers"].as_u64()) != Some(workers) {
                return Some("Spark");
            }
        }
    }
    // Whatever it says to one who has no key.
    let answers = |to| ask(master, to, Request::new("GET", "/"), |_| Ok(())).is_ok();
    store.is_some_and(|to| !answers(to)).then_some("the object store")
}

fn write_files(
    plan: &Plan,
    layout: &Layout,
    names: &[&str],
    (key, owner): (Option<&Credentials>, &Owner),
) -> Result<(), HadoopError> {
    let write = |path: PathBuf, text: &str| {
        fs::write(&path, text).map_err(HadoopError::system(format!("write {}", path.display())))
    };
    for (name, text) in settings::files(&plan.scenario, layout, key) {
        let file = layout.conf().join(name);
        write(file.clone(), "")?;
        if key.is_some() {
            // The key is the daemons' and their clients'.
            let closed = fs::set_permissions(&file, fs::Permissions::from_mode(0o600))
                .and_then(|()| chown(&file, Some(owner.uid), Some(owner.gid)).map_err(io::Error::from));
            closed.map_err(HadoopError::system(format!("write {}", file.display())))?;
        }
        write(file, &text)?;
    }
    let mut hosts = "127.0.0.1 localhost\n".to_owned();
    for (index, name) in names.iter().enumerate() {
        // Writing to a string does not fail.
        let _ = writeln!(hosts, "{} {name}", Star::address(index));
    }
    write(layout.hosts(), &hosts)?;
    write(layout.scenario(), &plan.scenario.to_toml())?;
    let front = plan.store.as_ref().map(|store| (&store.front, layout.store_front()));
    let jars = [(&plan.own_jar, layout.own_jar()), (&plan.placement_jar, layout.placement_jar())];
    let applications = plan.spark.as_ref().map(|spark| (&spark.own_jar, layout.spark_own_jar()));
    for (jar, to) in jars.into_iter().chain(front).chain(applications) {
        fs::copy(jar, to).map_err(HadoopError::system(format!("copy {}", jar.display())))?;
    }
    Ok(())
}

/// Mounts a file or folder over another, for this namespace of mounts.
fn mount_over(what: &Path, place: &Path) -> Result<(), HadoopError> {
    let none = None::<&str>;
    mount(Some(what), place, none, MsFlags::MS_BIND, none)
        .map_err(|error| HadoopError::system(format!("mount over {}", place.display()))(io::Error::from(error)))
}
