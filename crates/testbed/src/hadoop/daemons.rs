//! The daemons of a cluster: a JVM each, with the rights of a user who has none.

use super::HadoopError;
use super::layout::{Layout, NODE, Owner};
use super::settings::JVM;
use super::spark;
use super::tools::{Java, last_lines};
use super::words::end_of;
use crate::link::Host;
use scenario::Scenario;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

/// A kind of daemon.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// HDFS's master.
    NameNode,
    /// HDFS's worker.
    DataNode,
    /// YARN's master.
    ResourceManager,
    /// YARN's worker.
    NodeManager,
    /// Keeps and serves histories of jobs.
    HistoryServer,
    /// The object store's server.
    ObjectStore,
    /// Spark's master.
    SparkMaster,
    /// Spark's worker, which starts executors.
    SparkWorker,
}

/// What runs jobs on a cluster, beside HDFS.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Engine {
    /// YARN and the history server, for jobs of MapReduce.
    Yarn,
    /// Spark's own master and workers.
    Spark,
    /// YARN, for applications of Spark.
    SparkOnYarn,
}

impl Engine {
    /// That of a scenario's cluster.
    pub const fn of(scenario: &Scenario) -> Self {
        match &scenario.spark {
            None => Self::Yarn,
            Some(spark) if spark.yarn.is_none() => Self::Spark,
            Some(_) => Self::SparkOnYarn,
        }
    }
    /// The daemons of the master, in the order in which they are started.
    pub const fn of_master(self) -> &'static [Kind] {
        match self {
            Self::Yarn => &[Kind::NameNode, Kind::ResourceManager, Kind::HistoryServer],
            Self::Spark => &[Kind::NameNode, Kind::SparkMaster],
            Self::SparkOnYarn => &[Kind::NameNode, Kind::ResourceManager],
        }
    }
    /// The daemons of a worker.
    pub const fn of_worker(self) -> &'static [Kind] {
        match self {
            Self::Yarn | Self::SparkOnYarn => &[Kind::DataNode, Kind::NodeManager],
            Self::Spark => &[Kind::DataNode, Kind::SparkWorker],
        }
    }
    /// The daemon of a worker whose children tasks and executors are.
    pub const fn parent_of_tasks(self) -> Kind {
        match self {
            Self::Yarn | Self::SparkOnYarn => Kind::NodeManager,
            Self::Spark => Kind::SparkWorker,
        }
    }
}

impl Kind {
    /// Its name in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NameNode => "namenode",
            Self::DataNode => "datanode",
            Self::ResourceManager => "resourcemanager",
            Self::NodeManager => "nodemanager",
            Self::HistoryServer => "historyserver",
            Self::ObjectStore => "objectstore",
            Self::SparkMaster => "sparkmaster",
            Self::SparkWorker => "sparkworker",
        }
    }
    const fn class(self) -> &'static str {
        match self {
            Self::NameNode => "org.apache.hadoop.hdfs.server.namenode.NameNode",
            Self::DataNode => "org.apache.hadoop.hdfs.server.datanode.DataNode",
            Self::ResourceManager => "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager",
            Self::NodeManager => "org.apache.hadoop.yarn.server.nodemanager.NodeManager",
            Self::HistoryServer => "org.apache.hadoop.mapreduce.v2.hs.JobHistoryServer",
            Self::ObjectStore => "ObjectStore",
            Self::SparkMaster => "org.apache.spark.deploy.master.Master",
            Self::SparkWorker => "org.apache.spark.deploy.worker.Worker",
        }
    }
    /// Largest heap, as Java takes it.
    const fn heap(self) -> &'static str {
        match self {
            Self::DataNode => "-Xmx64m",
            Self::ResourceManager | Self::ObjectStore | Self::SparkMaster | Self::SparkWorker => "-Xmx128m",
            Self::NameNode | Self::NodeManager | Self::HistoryServer => "-Xmx96m",
        }
    }
}

/// A daemon that runs. Dropping it kills it: what it holds is removed with the cluster.
#[derive(Debug)]
pub struct Daemon {
    /// What it is.
    pub kind: Kind,
    /// The name of its host.
    pub host: String,
    child: Child,
    log: PathBuf,
    /// Where its words begin in the log, which an earlier one may have begun.
    begins: u64,
}

/// What a daemon says until it has registered is no longer than this.
const MOST_OF_START: u64 = 1 << 20;
/// Modules that Hadoop looks into.
const OPENED: [&str; 5] = ["java.lang", "java.io", "java.util", "java.net", "java.util.concurrent"];

impl Daemon {
    /// Starts a daemon on a host, with arguments.
    pub fn start(
        (kind, arguments): (Kind, &[String]),
        host: &Host,
        java: &Java,
        layout: &Layout,
        owner: &Owner,
    ) -> Result<Self, HadoopError> {
        let what = || format!("start the {} of {}", kind.name(), host.name());
        let log = layout.node(host.name()).join(format!("{}.log", kind.name()));
        let mut command = command(kind, host, java, layout, owner, &log).map_err(HadoopError::system(what()))?;
        let begins = log.metadata().map_err(HadoopError::system(what()))?.len();
        let child = host.spawn(command.args(arguments)).map_err(HadoopError::system(what()))?;
        Ok(Self { kind, host: host.name().to_owned(), child, log, begins })
    }

    /// Starts the object store's server with its settings, which are in no list of processes.
    pub fn start_store(
        host: &Host,
        java: &Java,
        layout: &Layout,
        owner: &Owner,
        settings: &str,
    ) -> Result<Self, HadoopError> {
        let what = || HadoopError::system("start the object store");
        let (kind, log) = (Kind::ObjectStore, layout.node(host.name()).join("objectstore.log"));
        let mut command = command(kind, host, java, layout, owner, &log).map_err(what())?;
        let mut child = host.spawn(command.stdin(Stdio::piped())).map_err(what())?;
        let input = child.stdin.take();
        let daemon = Self { kind, host: host.name().to_owned(), child, log, begins: 0 };
        if let Some(mut input) = input {
            input.write_all(settings.as_bytes()).map_err(what())?;
        }
        Ok(daemon)
    }

    /// Makes HDFS's first image.
    pub fn format(
        master: &Host,
        java: &Java,
        layout: &Layout,
        owner: &Owner,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), HadoopError> {
        let what = || HadoopError::system("format HDFS");
        let log = layout.node(master.name()).join("format.log");
        let mut command = command(Kind::NameNode, master, java, layout, owner, &log).map_err(what())?;
        let child = master.spawn(command.args(["-format", "-force", "-nonInteractive"])).map_err(what())?;
        let host = master.name().to_owned();
        let mut daemon = Self { kind: Kind::NameNode, host, child, log, begins: 0 };
        loop {
            match daemon.status()? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => {
                    return Err(HadoopError::Failed(format!("HDFS is not formatted ({status}): {}", daemon.said())));
                }
                None if stop() => return Err(HadoopError::Interrupted),
                None => thread::sleep(Duration::from_millis(20)),
            }
        }
    }

    /// Its process number.
    pub fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    /// An error if it has ended.
    pub fn look(&mut self) -> Result<(), HadoopError> {
        let Some(status) = self.status()? else { return Ok(()) };
        let (kind, host) = (self.kind.name(), &self.host);
        Err(HadoopError::Failed(format!("the {kind} of {host} has ended ({status}): {}", self.said())))
    }

    /// Whether a worker's daemon has said that its master knows it.
    pub fn has_registered(&self) -> bool {
        let sign = match self.kind {
            Kind::DataNode => "successfully registered with NN",
            Kind::NodeManager => "Registered with ResourceManager",
            Kind::SparkWorker => "Successfully registered with master",
            Kind::NameNode | Kind::ResourceManager | Kind::HistoryServer | Kind::ObjectStore | Kind::SparkMaster => {
                return true;
            }
        };
        let said = || -> io::Result<String> {
            let mut log = File::open(&self.log)?;
            log.seek(SeekFrom::Start(self.begins))?;
            let mut text = Vec::new();
            log.take(MOST_OF_START).read_to_end(&mut text)?;
            Ok(String::from_utf8_lossy(&text).into_owned())
        };
        said().is_ok_and(|said| said.contains(sign))
    }

    /// The last of what it has said that sounds like an error, or else the last.
    pub fn said(&self) -> String {
        let text = end_of(&self.log);
        let bad = |line: &&str| [" ERROR ", " FATAL ", "Exception", "Error:"].iter().any(|sign| line.contains(sign));
        let wrong: Vec<&str> = text.lines().filter(bad).collect();
        if wrong.is_empty() { last_lines(&text, 2) } else { last_lines(&wrong.join("\n"), 3) }
    }

    fn status(&mut self) -> Result<Option<ExitStatus>, HadoopError> {
        self.child.try_wait().map_err(HadoopError::system(format!("wait for the {}", self.kind.name())))
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // One that has ended need not be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn command(
    kind: Kind,
    host: &Host,
    java: &Java,
    layout: &Layout,
    owner: &Owner,
    log: &std::path::Path,
) -> io::Result<Command> {
    let errors = File::options().append(true).create(true).open(log)?;
    let mut command = Command::new(java.home.join("bin/java"));
    command.env_clear();
    let class_path = match kind {
        Kind::SparkMaster | Kind::SparkWorker => {
            command.args(spark::jvm(layout));
            spark::surround(&mut command, layout, &layout.node(host.name()));
            layout.spark_class_path()
        }
        _ => {
            command.args(OPENED.map(|module| format!("--add-opens=java.base/{module}=ALL-UNNAMED"))).args(JVM);
            command.arg(format!("-D{NODE}={}", host.name())).arg(layout.temporary_option());
            if kind == Kind::ObjectStore { layout.store_class_path() } else { layout.java_class_path() }
        }
    };
    command.arg(kind.heap()).arg("-cp").arg(class_path).arg(kind.class());
    command.env("JAVA_HOME", &java.home).env("HADOOP_CONF_DIR", layout.conf());
    command.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("MALLOC_ARENA_MAX", "2").env("LANG", "C.UTF-8");
    command.current_dir(layout.node(host.name())).stdin(Stdio::null());
    command.stdout(errors.try_clone()?).stderr(errors);
    // A process group of its own: signals of the terminal are for whoever started the cluster.
    command.uid(owner.uid.as_raw()).gid(owner.gid.as_raw()).process_group(0);
    Ok(command)
}
