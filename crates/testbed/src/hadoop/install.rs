//! Hadoop's and Spark's jars in the user's cache: fetched by Maven or pip as the project's files say, and checked
//! against digests.
//!
//! What Maven has fetched it keeps, so that a fetch that was interrupted goes on where it was. The jars then appear in
//! the cache all at once.

use super::HadoopError;
use super::pip;
use super::tools::{Java, find, finish};
use nix::fcntl::{Flock, FlockArg};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The version of Hadoop.
pub const VERSION: &str = "3.5.0";
const WORD_COUNT: &str = include_str!("../../hadoop/WordCount.java");
const STORE: &str = include_str!("../../hadoop/ObjectStore.java");
/// The version of Spark.
pub const SPARK_VERSION: &str = "4.1.1";
const SPARK_JOBS: &str = include_str!("../../hadoop/SparkJobs.java");

/// Jars that are fetched together.
struct Jars {
    /// What they are, with what is fetched of them.
    what: &'static str,
    /// The folder in the cache.
    folder: &'static str,
    source: Source,
    /// A line for each jar: its BLAKE3 digest in hexadecimal, and its name.
    digests: &'static str,
}

/// Where jars are from.
enum Source {
    /// Maven copies the dependencies of a pom.
    Maven(&'static str),
    /// They are in an archive of PyPI's: the file of requirements that names it, and that of what pip needs beside.
    Pip(&'static str, &'static str),
}

const HADOOP: Jars = Jars {
    what: "Hadoop 3.5.0 by Maven: 113 MB",
    folder: "lib",
    source: Source::Maven(include_str!("../../hadoop/pom.xml")),
    digests: include_str!("../../hadoop/jars.b3"),
};
/// The object store's client, in all of Hadoop's processes.
const S3A: Jars = Jars {
    what: "S3A by Maven: 13 MB",
    folder: "s3a",
    source: Source::Maven(include_str!("../../hadoop/s3a.xml")),
    digests: include_str!("../../hadoop/s3a.b3"),
};
/// The object store's server.
const S3PROXY: Jars = Jars {
    what: "S3Proxy by Maven: 26 MB",
    folder: "s3proxy",
    source: Source::Maven(include_str!("../../hadoop/s3proxy.xml")),
    digests: include_str!("../../hadoop/s3proxy.b3"),
};
const SPARK: Jars = Jars {
    what: "Spark 4.1.1 by pip: 455 MB",
    folder: "spark-4.1.1",
    source: Source::Pip(include_str!("../../hadoop/spark.txt"), include_str!("../../hadoop/spark-build.txt")),
    digests: include_str!("../../hadoop/spark.b3"),
};
/// A source of `hadoop/`: its path there, and its text.
macro_rules! source {
    ($path:literal) => {
        ($path, include_str!(concat!("../../../../hadoop/src/main/java/", $path)))
    };
}
/// The class that is compiled here, and its jar.
const WORD_COUNT_CLASS: &str = "WordCount";
/// The sources of `hadoop/`, which Maven builds for clusters elsewhere.
const PLACEMENT: [(&str, &str); 15] = [
    source!("org/apache/hadoop/hdfs/server/blockmanagement/KeyAwareBlockPlacementPolicy.java"),
    source!("org/apache/hadoop/hdfs/server/blockmanagement/StrayReplicas.java"),
    source!("org/apache/hadoop/mapreduce/v2/app/LocalityAppMaster.java"),
    source!("org/apache/hadoop/mapreduce/v2/app/rm/JobSplits.java"),
    source!("org/apache/hadoop/mapreduce/v2/app/rm/LocalityAllocator.java"),
    source!("trunkline/hadoop/Buckets.java"),
    source!("trunkline/hadoop/JobLayout.java"),
    source!("trunkline/hadoop/Kat.java"),
    source!("trunkline/hadoop/PlacedFile.java"),
    source!("trunkline/hadoop/PlacedLines.java"),
    source!("trunkline/hadoop/PlacedReplicas.java"),
    source!("trunkline/hadoop/PlacedTextInputFormat.java"),
    source!("trunkline/hadoop/PlacedWriter.java"),
    source!("trunkline/hadoop/Redistribution.java"),
    source!("trunkline/hadoop/Waiting.java"),
];
/// The jar of our own jobs, among the others.
pub const OWN_JAR: &str = "trunkline-jobs.jar";

/// Hadoop as it lies in the cache.
#[derive(Clone, Debug)]
pub struct Installation {
    /// The folder of the jars.
    pub jars: PathBuf,
    /// The jar of our own jobs.
    pub own_jar: PathBuf,
    /// The jar of placement by key: the NameNode's policy, the AppMaster, and what `trunkline kat` starts.
    pub placement_jar: PathBuf,
    /// What an object store needs, where one is wanted.
    pub store: Option<StoreJars>,
    /// What Spark needs, where it is wanted.
    pub spark: Option<SparkJars>,
}

/// What a cluster has beside HDFS and MapReduce.
#[derive(Clone, Copy, Debug)]
pub struct Extras {
    /// An object store.
    pub store: bool,
    /// Spark.
    pub spark: bool,
}

/// Spark as it lies in the cache.
#[derive(Clone, Debug)]
pub struct SparkJars {
    /// The folder of Spark's jars.
    pub jars: PathBuf,
    /// The jar of our own applications.
    pub own_jar: PathBuf,
}

/// An object store as it lies in the cache.
#[derive(Clone, Debug)]
pub struct StoreJars {
    /// The folder of S3A's jars.
    pub client: PathBuf,
    /// The folder of the server's jars.
    pub server: PathBuf,
    /// The jar of the handler in front of the server, with the server's main class.
    pub front: PathBuf,
}

/// The user's cache for Hadoop: below `XDG_CACHE_HOME`, else `~/.cache`.
pub fn cache() -> Result<PathBuf, HadoopError> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = set("XDG_CACHE_HOME").filter(|path| path.is_absolute()).or_else(|| Some(set("HOME")?.join(".cache")));
    let base = base.ok_or_else(|| HadoopError::missing("a cache folder", "set XDG_CACHE_HOME or HOME"))?;
    Ok(base.join("trunkline").join(format!("hadoop-{VERSION}")))
}

/// Whether all jars lie in a cache, and what it lacks to fetch them if not.
pub fn lacking(cache: &Path, extras: Extras) -> Option<HadoopError> {
    let fetched = HADOOP.is_complete(cache) && (!extras.store || S3A.is_complete(cache) && S3PROXY.is_complete(cache));
    let own = [Some(OWN_JAR.to_owned()), Some(placement()), extras.store.then(front), extras.spark.then(spark_jobs)];
    let compiled = own.into_iter().flatten().all(|name| cache.join(name).is_file());
    let spark = !extras.spark || SPARK.is_complete(cache);
    if fetched && compiled && spark {
        return None;
    }
    let missing = |tool: &str, package: &str| {
        find(tool)
            .is_none()
            .then(|| HadoopError::missing(format!("the program {tool}"), format!("apt-get install {package}")))
    };
    let maven = if fetched { None } else { missing("mvn", "maven") };
    maven.or_else(|| missing("javac", "openjdk-17-jdk-headless")).or_else(|| if spark { None } else { pip::lacking() })
}

/// Hadoop in a cache, and what else is wanted; what is not there is fetched and compiled. `say` hears what takes time.
pub fn install(
    cache: &Path,
    java: &Java,
    extras: Extras,
    say: &mut dyn FnMut(&str),
) -> Result<Installation, HadoopError> {
    let using = || HadoopError::system(format!("use the cache {}", cache.display()));
    fs::create_dir_all(cache).map_err(using())?;
    let lock = File::create(cache.join("lock")).map_err(using())?;
    let _lock = Flock::lock(lock, FlockArg::LockExclusive).map_err(|(_, error)| using()(error.into()))?;
    let jars = HADOOP.have(cache, say)?;
    let own_jar = cache.join(OWN_JAR);
    if !own_jar.is_file() {
        say("compiling our own jobs");
        let sources = [(&*format!("{WORD_COUNT_CLASS}.java"), WORD_COUNT)];
        compile(cache, java, (&jars, "11"), &sources, &own_jar)?;
    }
    let placement_jar = cache.join(placement());
    if !placement_jar.is_file() {
        say("compiling placement by key");
        compile(cache, java, (&jars, "11"), &PLACEMENT, &placement_jar)?;
    }
    let store = if extras.store { Some(install_store(cache, java, say)?) } else { None };
    let spark = if extras.spark { Some(install_spark(cache, java, say)?) } else { None };
    Ok(Installation { jars, own_jar, placement_jar, store, spark })
}

fn install_spark(cache: &Path, java: &Java, say: &mut dyn FnMut(&str)) -> Result<SparkJars, HadoopError> {
    let jars = SPARK.have(cache, say)?;
    let own_jar = cache.join(spark_jobs());
    if !own_jar.is_file() {
        say("compiling our own applications of Spark");
        compile(cache, java, (&jars, "17"), &[("SparkJobs.java", SPARK_JOBS)], &own_jar)?;
    }
    Ok(SparkJars { jars, own_jar })
}

fn install_store(cache: &Path, java: &Java, say: &mut dyn FnMut(&str)) -> Result<StoreJars, HadoopError> {
    let client = S3A.have(cache, say)?;
    let server = S3PROXY.have(cache, say)?;
    let front = cache.join(front());
    if !front.is_file() {
        say("compiling the object store's handler");
        compile(cache, java, (&server, "17"), &[("ObjectStore.java", STORE)], &front)?;
    }
    Ok(StoreJars { client, server, front })
}

/// The name of the jar of the object store's handler, which follows from its source.
fn front() -> String {
    format!("trunkline-store-{}.jar", &blake3::hash(STORE.as_bytes()).to_hex()[..16])
}

/// The name of the jar of our own applications of Spark, which follows from their source.
fn spark_jobs() -> String {
    format!("trunkline-spark-{}.jar", &blake3::hash(SPARK_JOBS.as_bytes()).to_hex()[..16])
}

/// The name of the jar of placement by key, which follows from its sources.
fn placement() -> String {
    let mut hasher = blake3::Hasher::new();
    for (_, text) in PLACEMENT {
        hasher.update(text.as_bytes());
    }
    format!("trunkline-hadoop-{}.jar", &hasher.finalize().to_hex()[..16])
}

/// The names of all of Hadoop's jars.
pub fn jar_names() -> impl Iterator<Item = &'static str> {
    HADOOP.digests().into_keys()
}

impl Jars {
    /// The digests by name.
    fn digests(&self) -> BTreeMap<&'static str, &'static str> {
        self.digests.lines().filter_map(|line| line.split_once("  ")).map(|(digest, name)| (name, digest)).collect()
    }

    /// Whether all jars are there; not whether they are whole.
    fn is_complete(&self, cache: &Path) -> bool {
        self.digests().keys().all(|name| cache.join(self.folder).join(name).is_file())
    }

    /// A file of the folder that is not a jar of ours: of another content, missing, or too many.
    fn differing(&self, jars: &Path) -> Result<Option<String>, HadoopError> {
        let reading = || HadoopError::system(format!("read {}", jars.display()));
        let mut known = self.digests();
        let mut names: Vec<_> = fs::read_dir(jars)
            .map_err(reading())?
            .map(|entry| entry.map(|entry| entry.file_name()))
            .collect::<Result<_, _>>()
            .map_err(reading())?;
        names.sort();
        for name in names {
            let name = name.to_string_lossy().into_owned();
            let mut hasher = blake3::Hasher::new();
            let file = File::open(jars.join(&name)).map_err(reading())?;
            hasher.update_reader(file).map_err(reading())?;
            if known.remove(name.as_str()) != Some(hasher.finalize().to_hex().as_str()) {
                return Ok(Some(name));
            }
        }
        Ok(known.keys().next().map(|name| (*name).to_owned()))
    }

    /// Their folder in a cache; they are fetched where it has not all of them as we know them.
    fn have(&self, cache: &Path, say: &mut dyn FnMut(&str)) -> Result<PathBuf, HadoopError> {
        let jars = cache.join(self.folder);
        if !self.is_complete(cache) || self.differing(&jars)?.is_some() {
            say(&format!("fetching {} where they are not in its repository yet", self.what));
            self.fetch(cache)?;
        }
        Ok(jars)
    }

    /// Fetches the jars, and puts them in place if they are those that we know.
    fn fetch(&self, cache: &Path) -> Result<(), HadoopError> {
        let partial = cache.join(format!("{}.partial", self.folder));
        let _ = fs::remove_dir_all(&partial);
        let (by, fetched) = match self.source {
            Source::Maven(pom) => ("Maven", by_maven(pom, cache, &partial)),
            Source::Pip(wanted, tools) => ("pip", pip::fetch(wanted, tools, &cache.join("pip.partial"), &partial)),
        };
        fetched.map_err(|error| match error {
            HadoopError::Failed(said) => HadoopError::missing(
                self.what.split(':').next().unwrap_or_default().to_owned(),
                format!("{by} could not fetch it; the same command goes on with what it has ({said})"),
            ),
            other => other,
        })?;
        if let Some(name) = self.differing(&partial)? {
            let message = format!(
                "{name}, as {by} fetched it, is not the file of our list of digests: remove it from where {by} keeps \
                 what it has fetched, and try again"
            );
            return Err(HadoopError::Failed(message));
        }
        let jars = cache.join(self.folder);
        let _ = fs::remove_dir_all(&jars);
        fs::rename(&partial, &jars).map_err(HadoopError::system(format!("write into {}", cache.display())))
    }
}

/// Lets Maven copy the dependencies of a pom into a folder.
fn by_maven(pom: &str, cache: &Path, folder: &Path) -> Result<(), HadoopError> {
    let Some(maven) = find("mvn") else {
        return Err(HadoopError::missing("the program mvn", "apt-get install maven"));
    };
    let written = fs::write(cache.join("pom.xml"), pom);
    written.map_err(HadoopError::system(format!("write into {}", cache.display())))?;
    let mut command = Command::new(maven);
    let way = ["--batch-mode", "--quiet", "--strict-checksums", "dependency:copy-dependencies"];
    command.current_dir(cache).args(way);
    finish(command.arg(format!("-DoutputDirectory={}", folder.display()))).map(|_| ())
}

/// Compiles sources, paths and texts, into a jar: with the jars of a folder, for a release of Java.
fn compile(
    cache: &Path,
    java: &Java,
    (jars, release): (&Path, &str),
    sources: &[(&str, &str)],
    jar: &Path,
) -> Result<(), HadoopError> {
    let writing = || HadoopError::system(format!("write into {}", cache.display()));
    let folder = cache.join("jobs");
    let _ = fs::remove_dir_all(&folder);
    let classes = folder.join("classes");
    fs::create_dir_all(&classes).map_err(writing())?;
    let mut javac = Command::new(java.tool("javac")?);
    javac.args(["-proc:none", "-nowarn", "--release", release, "-cp"]).arg(jars.join("*")).arg("-d").arg(&classes);
    for (path, text) in sources {
        let source = folder.join(path);
        fs::create_dir_all(source.parent().unwrap_or(&folder)).map_err(writing())?;
        fs::write(&source, text).map_err(writing())?;
        javac.arg(&source);
    }
    finish(&mut javac)?;
    let partial = jar.with_extension("partial");
    let mut command = Command::new(java.tool("jar")?);
    finish(command.arg("cf").arg(&partial).arg("-C").arg(&classes).arg("."))?;
    fs::rename(&partial, jar).map_err(writing())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With TRUNKLINE_WRITE_JARS set to a folder of jars that were fetched, writes their list of digests anew, into
    /// the file that TRUNKLINE_WRITE_DIGESTS names in `hadoop/`.
    #[test]
    fn every_jar_has_a_digest() {
        if let Some(folder) = std::env::var_os("TRUNKLINE_WRITE_JARS").map(PathBuf::from) {
            let mut lines: Vec<String> = fs::read_dir(&folder)
                .expect("a folder")
                .map(|entry| {
                    let path = entry.expect("readable").path();
                    let digest = blake3::hash(&fs::read(&path).expect("readable"));
                    format!("{digest}  {}\n", path.file_name().expect("a name").to_string_lossy())
                })
                .collect();
            lines.sort_by(|a, b| a[66..].cmp(&b[66..]));
            let list = std::env::var("TRUNKLINE_WRITE_DIGESTS").unwrap_or_else(|_| "jars.b3".to_owned());
            let list = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/hadoop")).join(list);
            fs::write(list, lines.concat()).expect("written");
            return;
        }
        for (jars, names) in [
            (
                HADOOP,
                ["hadoop-hdfs-3.5.0.jar", "hadoop-mapreduce-client-app-3.5.0.jar", "netty-handler-4.1.130.Final.jar"],
            ),
            (S3A, ["hadoop-aws-3.5.0.jar", "s3-2.35.4.jar", "s3-transfer-manager-2.35.4.jar"]),
            (S3PROXY, ["s3proxy-4.0.0.jar", "s3-2.49.6.jar", "slf4j-simple-2.0.18.jar"]),
            (SPARK, ["spark-core_2.13-4.1.1.jar", "hadoop-client-runtime-3.4.2.jar", "zstd-jni-1.5.7-6.jar"]),
        ] {
            let digests = jars.digests();
            assert_eq!(digests.len(), jars.digests.lines().count());
            assert!(digests.values().all(|digest| digest.len() == 64 && digest.bytes().all(|b| b.is_ascii_hexdigit())));
            assert!(names.iter().all(|name| digests.contains_key(name)), "{}", jars.what);
        }
        assert!(HADOOP.what.contains(VERSION));
        // The archive, and what reads its description, are each of one version and checked by a digest.
        assert!(SPARK.what.contains(SPARK_VERSION) && SPARK.folder.contains(SPARK_VERSION));
        let Source::Pip(wanted, tools) = SPARK.source else { panic!("it is from PyPI") };
        assert!(wanted.contains(&format!("pyspark=={SPARK_VERSION} ")));
        for text in [wanted, tools] {
            let (named, hashed) = (text.matches("==").count(), text.matches("--hash=sha256:").count());
            assert!(named > 0 && named == hashed, "{text}");
        }
    }

    #[test]
    fn a_jar_of_other_content_a_missing_one_and_one_too_many_are_found() {
        let folder = std::env::temp_dir().join(format!("trunkline-jars-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("made");
        let differing = || HADOOP.differing(&folder).expect("read");
        assert_eq!(differing().as_deref(), HADOOP.digests().keys().next().copied(), "one is missing");
        let name = *HADOOP.digests().keys().nth(3).expect("there are more");
        fs::write(folder.join(name), "not a jar").expect("written");
        assert_eq!(differing().as_deref(), Some(name));
        fs::rename(folder.join(name), folder.join("a-stranger.jar")).expect("renamed");
        assert_eq!(differing().as_deref(), Some("a-stranger.jar"));
        fs::remove_dir_all(&folder).expect("removed");
    }
}
