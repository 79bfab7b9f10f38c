//! A cluster that is up, as another process sees it: its record, and the way into its namespaces.

use super::HadoopError;
use super::daemons::{Engine, Kind as DaemonKind};
use super::layout::{CLIENT, Layout, Owner};
use super::settings::JVM;
use super::spark;
use crate::link::Host;
use nix::sched::{CloneFlags, setns, unshare};
use nix::unistd::chown;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::net::Ipv4Addr;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// What a cluster says of itself once it is ready.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ready {
    /// The hosts, the master first.
    pub hosts: Vec<HostRecord>,
    /// The daemons.
    pub daemons: Vec<DaemonRecord>,
    /// The folder of the Java runtime.
    pub java_home: PathBuf,
    /// Java's version.
    pub java: String,
    /// The user whose rights daemons have.
    pub user: String,
    /// "emulated" or "veth".
    pub links: String,
    /// Spark's version, where the cluster has it.
    pub spark: Option<String>,
    /// How long it took from nothing to ready, in seconds.
    pub ready_s: f64,
}

/// A host of a cluster.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HostRecord {
    /// Its name.
    pub name: String,
    /// Its address.
    pub address: Ipv4Addr,
    /// The descriptors of its namespaces in the supervisor: network, name.
    pub descriptors: [i32; 2],
}

/// A daemon of a cluster.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DaemonRecord {
    /// The host on which it runs.
    pub host: String,
    /// What it is: "namenode", "datanode", "resourcemanager", "nodemanager", "historyserver", "sparkmaster",
    /// "sparkworker".
    pub kind: String,
    /// Its process number in the cluster's own namespace of processes.
    pub pid: i32,
}

/// A running cluster.
#[derive(Debug)]
pub struct Running {
    /// What it says of itself.
    pub ready: Ready,
    /// Where its files lie.
    pub layout: Layout,
    /// The user whose rights daemons have.
    pub user: String,
    hosts: Vec<Host>,
    mounts: File,
    processes: File,
    owner: Owner,
}

impl Running {
    /// The cluster in a folder, whose supervisor is that process.
    pub fn open(folder: PathBuf, supervisor: u32) -> Result<Self, HadoopError> {
        let owner = Owner::find()?;
        let layout = Layout::new(folder, &owner.name);
        let file = layout.ready();
        let reading = || HadoopError::system(format!("read {}", file.display()));
        let text = fs::read(&file).map_err(reading())?;
        let ready: Ready = serde_json::from_slice(&text).map_err(|error| reading()(error.into()))?;
        let entering = || HadoopError::system("enter the cluster's namespaces");
        let open = |name: String| File::open(format!("/proc/{supervisor}/{name}"));
        let host = |host: &HostRecord| -> io::Result<Host> {
            let [net, uts] = host.descriptors;
            Ok(Host::of(&host.name, open(format!("fd/{net}"))?, open(format!("fd/{uts}"))?))
        };
        let hosts = ready.hosts.iter().map(host).collect::<io::Result<Vec<_>>>().map_err(entering())?;
        let mounts = open("ns/mnt".to_owned()).map_err(entering())?;
        let processes = open("ns/pid".to_owned()).map_err(entering())?;
        if hosts.is_empty() {
            return Err(HadoopError::Failed("the cluster has no host".to_owned()));
        }
        Ok(Self { user: owner.name.clone(), ready, layout, hosts, mounts, processes, owner })
    }

    /// The master and the workers.
    pub fn hosts(&self) -> &[Host] {
        &self.hosts
    }
    /// The master.
    pub fn master(&self) -> &Host {
        &self.hosts[0]
    }
    /// The master's address.
    pub fn master_address(&self) -> Ipv4Addr {
        self.ready.hosts[0].address
    }
    /// The address of a host.
    pub fn address(&self, name: &str) -> Option<Ipv4Addr> {
        self.ready.hosts.iter().find(|host| host.name == name).map(|host| host.address)
    }

    /// A JVM of a client on the master: `class` with `arguments`.
    pub fn client(&self, class: &str, arguments: &[String]) -> Command {
        let mut command = Command::new(self.ready.java_home.join("bin/java"));
        command.args(JVM).arg("-Xmx256m").arg("-cp").arg(self.layout.java_class_path()).arg(class).args(arguments);
        self.surround(&mut command);
        command
    }

    /// A JVM of a driver of Spark on the master.
    pub fn driver(&self, class: &str, arguments: &[String]) -> Command {
        let mut command = Command::new(self.ready.java_home.join("bin/java"));
        // Spark's planner of queries goes deep.
        command.args(spark::jvm(&self.layout)).args(["-Xmx512m", "-Xss4m"]);
        command.arg("-cp").arg(self.layout.spark_class_path()).arg(class).args(arguments);
        self.surround(&mut command);
        spark::surround(&mut command, &self.layout, &self.layout.node(CLIENT));
        command
    }

    fn surround(&self, command: &mut Command) {
        command.env_clear().env("JAVA_HOME", &self.ready.java_home).env("HADOOP_CONF_DIR", self.layout.conf());
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("MALLOC_ARENA_MAX", "2").env("LANG", "C.UTF-8");
    }

    /// Gives a file or folder to the daemons' user.
    pub(super) fn give(&self, path: &Path) -> io::Result<()> {
        Ok(chown(path, Some(self.owner.uid), Some(self.owner.gid))?)
    }

    /// What runs jobs.
    pub fn engine(&self) -> Engine {
        match (&self.ready.spark, self.has_resource_manager()) {
            (None, _) => Engine::Yarn,
            (Some(_), false) => Engine::Spark,
            (Some(_), true) => Engine::SparkOnYarn,
        }
    }

    fn has_resource_manager(&self) -> bool {
        self.ready.daemons.iter().any(|daemon| daemon.kind == DaemonKind::ResourceManager.name())
    }

    /// Starts a program on the master with the daemons' rights, among the cluster's processes and mounts. It ends with
    /// the cluster.
    pub fn spawn(&self, command: &mut Command) -> io::Result<Child> {
        command.stdin(Stdio::null());
        self.spawn_piped(command)
    }

    /// The same with the standard input that the command has.
    pub fn spawn_piped(&self, command: &mut Command) -> io::Result<Child> {
        command.uid(self.owner.uid.as_raw()).gid(self.owner.gid.as_raw());
        command.current_dir(self.layout.node(CLIENT)).process_group(0);
        self.master().within(|| {
            setns(&self.processes, CloneFlags::CLONE_NEWPID)?;
            // A thread that shares its working folder with others cannot change what is mounted where.
            unshare(CloneFlags::CLONE_FS)?;
            setns(&self.mounts, CloneFlags::CLONE_NEWNS)?;
            command.spawn()
        })?
    }

    /// The cluster's processes by their numbers here, each with its place.
    pub fn processes(&self) -> io::Result<Vec<(u32, Place)>> {
        let own = self.processes.metadata()?;
        let mut networks = BTreeMap::new();
        for (host, record) in self.hosts.iter().zip(&self.ready.hosts) {
            networks.insert(host.net().inode()?, record.name.as_str());
        }
        // Daemons may have been started again.
        let now = fs::read(self.layout.ready()).ok().and_then(|text| serde_json::from_slice::<Ready>(&text).ok());
        let daemons = now.map_or_else(|| self.ready.daemons.clone(), |ready| ready.daemons);
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc")?.flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
            let at = |name: &str| fs::metadata(format!("/proc/{pid}/ns/{name}"));
            if !at("pid").is_ok_and(|at| (at.dev(), at.ino()) == (own.dev(), own.ino())) {
                continue;
            }
            let host = at("net").ok().and_then(|at| networks.get(&at.ino())).copied();
            let inner = inner_number(&fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default());
            found.push((pid, self.place(&daemons, host, inner)));
        }
        Ok(found)
    }

    fn place(&self, daemons: &[DaemonRecord], host: Option<&str>, inner: Option<i32>) -> Place {
        // The supervisor, which emulates the links, is on no host.
        let Some(host) = host else { return Place { host: String::new(), role: "supervisor".to_owned() } };
        let daemon = daemons.iter().find(|daemon| Some(daemon.pid) == inner && daemon.host == host);
        let role = match daemon {
            Some(daemon) => daemon.kind.as_str(),
            None if host == self.ready.hosts[0].name => "client",
            None => "tasks",
        };
        Place { host: host.to_owned(), role: role.to_owned() }
    }
}

/// What a process of a cluster is, and where.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Place {
    /// The name of its host; empty for the supervisor.
    pub host: String,
    /// A daemon's kind, "client", "tasks" or "supervisor".
    pub role: String,
}

/// The number of a process in its own namespace: the last of `NSpid` in its `status`.
fn inner_number(status: &str) -> Option<i32> {
    status.lines().find_map(|line| line.strip_prefix("NSpid:"))?.split_ascii_whitespace().last()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_in_the_innermost_namespace_is_the_last() {
        assert_eq!(inner_number("Name:\tjava\nNSpid:\t4711\t17\nThreads:\t20\n"), Some(17));
        assert_eq!(inner_number("NSpid:\t4711\n"), Some(4_711));
        assert_eq!(inner_number("Name:\tjava\n"), None);
    }
}
