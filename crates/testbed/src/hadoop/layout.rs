//! Where the files of a cluster lie.

use super::HadoopError;
use nix::unistd::{Gid, Uid, User, chown};
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The system property that tells a daemon its node, and the property's default in `core-site.xml`.
pub const NODE: &str = "trunkline.node";
/// The node that clients and tasks take themselves for.
pub const CLIENT: &str = "client";
/// The beginning of the names of clusters' folders.
const PREFIX: &str = "trunkline-hadoop-";
/// The user whose rights daemons and tasks have.
const USER: &str = "nobody";

/// The folder of a cluster.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The folder.
    pub folder: PathBuf,
    /// The name of the user whose rights daemons have.
    pub user: String,
}

/// The user without rights as whom daemons run.
#[derive(Clone, Debug)]
pub struct Owner {
    /// The user's number.
    pub uid: Uid,
    /// The number of the user's group.
    pub gid: Gid,
    /// The user's name.
    pub name: String,
}

impl Owner {
    /// `nobody`, as this system has it.
    pub fn find() -> Result<Self, HadoopError> {
        let user = User::from_name(USER).map_err(|error| HadoopError::system("look up users")(error.into()))?;
        let user = user.ok_or_else(|| {
            HadoopError::missing(format!("the user {USER}"), "daemons run with its rights: add it to /etc/passwd")
        })?;
        Ok(Self { uid: user.uid, gid: user.gid, name: user.name })
    }
}

impl Layout {
    /// A cluster in a folder.
    pub fn new(folder: PathBuf, user: &str) -> Self {
        Self { folder, user: user.to_owned() }
    }

    /// The folder of a cluster of that name within another.
    pub fn folder_of(parent: &Path, name: &str) -> PathBuf {
        parent.join(format!("{PREFIX}{name}"))
    }

    /// Whether a folder can be one of ours, by its name.
    pub fn is_ours(folder: &Path) -> bool {
        folder.is_absolute() && folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX))
    }

    /// The configuration.
    pub fn conf(&self) -> PathBuf {
        self.folder.join("conf")
    }
    /// Where the jars are mounted.
    pub fn jars(&self) -> PathBuf {
        self.folder.join("lib")
    }
    /// The jar of our own jobs.
    pub fn own_jar(&self) -> PathBuf {
        self.folder.join("jobs.jar")
    }
    /// The jar of placement by key.
    pub fn placement_jar(&self) -> PathBuf {
        self.folder.join("placement.jar")
    }
    /// Where S3A's jars are mounted; an empty folder where there is no object store.
    pub fn store_client(&self) -> PathBuf {
        self.folder.join("s3a")
    }
    /// Where the jars of the object store's server are mounted.
    pub fn store_server(&self) -> PathBuf {
        self.folder.join("s3proxy")
    }
    /// The jar of the handler in front of that server.
    pub fn store_front(&self) -> PathBuf {
        self.folder.join("store.jar")
    }
    /// What Spark takes for its home: its jars are mounted within.
    pub fn spark(&self) -> PathBuf {
        self.folder.join("spark")
    }
    /// Where Spark's jars are mounted.
    pub fn spark_jars(&self) -> PathBuf {
        self.spark().join("jars")
    }
    /// The jar of our own applications of Spark.
    pub fn spark_own_jar(&self) -> PathBuf {
        self.folder.join("applications.jar")
    }
    /// The class path of Spark's daemons and drivers.
    pub(super) fn spark_class_path(&self) -> String {
        format!("{}:{}/*", self.conf().display(), self.spark_jars().display())
    }
    /// The folder of the JVMs' temporary files.
    fn temporary(&self) -> PathBuf {
        self.folder.join("tmp")
    }
    /// The option of a JVM by which what it unpacks ends with the cluster, however that ends.
    pub(super) fn temporary_option(&self) -> String {
        format!("-Djava.io.tmpdir={}", self.temporary().display())
    }
    /// The names of all hosts, as `/etc/hosts` has them.
    pub fn hosts(&self) -> PathBuf {
        self.folder.join("hosts")
    }
    /// The record of the cluster once it is ready.
    pub fn ready(&self) -> PathBuf {
        self.folder.join("cluster.json")
    }
    /// The scenario with all that holds for the cluster.
    pub fn scenario(&self) -> PathBuf {
        self.folder.join("scenario.toml")
    }
    /// The folder of a node: its disk, its logs.
    pub fn node(&self, node: &str) -> PathBuf {
        self.folder.join("nodes").join(node)
    }
    /// A folder of whatever node a daemon is told to be.
    pub(super) fn of_node(&self, name: &str) -> String {
        format!("{}/nodes/${{{NODE}}}/{name}", self.folder.display())
    }
    pub(super) fn of_node_url(&self, name: &str) -> String {
        format!("file://{}", self.of_node(name))
    }
    /// The class path of tasks.
    pub(super) fn class_path(&self) -> String {
        self.all_jars(',')
    }
    /// The class path of daemons and clients.
    pub fn java_class_path(&self) -> String {
        self.all_jars(':')
    }
    fn all_jars(&self, between: char) -> String {
        let (conf, jars, store) = (self.conf(), self.jars(), self.store_client());
        let (conf, jars, store, placement) = (conf.display(), jars.display(), store.display(), self.placement_jar());
        format!("{conf}{between}{jars}/*{between}{store}/*{between}{}", placement.display())
    }
    /// The class path of the object store's server.
    pub(super) fn store_class_path(&self) -> String {
        format!("{}:{}/*", self.store_front().display(), self.store_server().display())
    }

    /// Makes the folders, those of nodes for their owner. The folder itself must not exist.
    pub fn make(&self, nodes: &[&str], owner: &Owner) -> Result<(), HadoopError> {
        let writing = |path: &Path| HadoopError::system(format!("make {}", path.display()));
        let made = DirBuilder::new().mode(0o755).create(&self.folder);
        made.map_err(writing(&self.folder))?;
        // The NameNode and the DataNodes serve pages from these.
        for folder in ["hdfs", "datanode", "secondary"] {
            let path = self.conf().join("webapps").join(folder);
            fs::create_dir_all(&path).map_err(writing(&path))?;
        }
        let mounted = [self.jars(), self.store_client(), self.store_server(), self.spark_jars()];
        for path in mounted.into_iter().chain([self.folder.join("nodes")]) {
            fs::create_dir_all(&path).map_err(writing(&path))?;
        }
        let own = nodes.iter().copied().chain([CLIENT]).map(|node| self.node(node));
        for path in own.chain([self.temporary()]) {
            let made = fs::create_dir(&path)
                .and_then(|()| chown(&path, Some(owner.uid), Some(owner.gid)).map_err(io::Error::from));
            made.map_err(writing(&path))?;
        }
        Ok(())
    }
}

/// Checks that a user without rights can reach what lies in a folder.
pub fn check_reachable(parent: &Path) -> Result<PathBuf, HadoopError> {
    let folder = parent
        .canonicalize()
        .map_err(|error| HadoopError::Input(format!("cannot use {} for the cluster: {error}", parent.display())))?;
    if !folder.is_dir() {
        return Err(HadoopError::Input(format!("{} is not a folder", folder.display())));
    }
    if folder.to_string_lossy().contains([':', ',', '$', '\n', '"']) {
        let message = format!("{}: Hadoop's settings cannot name a folder with : , $ or quotes", folder.display());
        return Err(HadoopError::Input(message));
    }
    if let Some(closed) = closed_to_daemons(&folder)? {
        return Err(HadoopError::Input(format!(
            "daemons run as {USER}, who may not enter {}: choose another folder with --scratch",
            closed.display()
        )));
    }
    Ok(folder)
}

/// The folder, this or one above it, that a user without rights may not enter.
pub(super) fn closed_to_daemons(folder: &Path) -> Result<Option<PathBuf>, HadoopError> {
    for step in folder.ancestors() {
        let mode = step.metadata().map_err(HadoopError::system(format!("look at {}", step.display())))?.mode();
        if mode & 0o001 == 0 {
            return Ok(Some(step.to_owned()));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_that_a_user_without_rights_cannot_enter_are_refused() {
        let temporary = std::env::temp_dir().join(format!("trunkline-reach-{}", std::process::id()));
        let closed = temporary.join("closed");
        fs::create_dir_all(closed.join("within")).expect("made");
        assert!(check_reachable(&temporary).is_ok());
        fs::set_permissions(&closed, std::os::unix::fs::PermissionsExt::from_mode(0o700)).expect("changed");
        let error = check_reachable(&closed.join("within")).expect_err("closed").to_string();
        assert!(error.contains("closed: choose another"), "{error}");
        fs::create_dir(temporary.join("a,b")).expect("made");
        assert!(check_reachable(&temporary.join("a,b")).is_err(), "Hadoop takes it for two");
        assert!(check_reachable(&temporary.join("absent")).is_err());
        fs::remove_dir_all(&temporary).expect("removed");
    }

    #[test]
    fn only_folders_of_clusters_are_ours() {
        let of = Layout::folder_of(Path::new("/tmp"), "one");
        assert!(Layout::is_ours(&of));
        assert!(!Layout::is_ours(Path::new("/tmp/one")) && !Layout::is_ours(Path::new("trunkline-hadoop-x")));
    }
}
