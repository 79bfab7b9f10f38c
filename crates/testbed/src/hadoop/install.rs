//! Hadoop's jars in the user's cache: fetched by Maven as the project's pom says, and checked against digests.
//!
//! What Maven has fetched it keeps, so that a fetch that was interrupted goes on where it was. The jars then appear in
//! the cache all at once.

use super::HadoopError;
use super::tools::{Java, find, finish};
use nix::fcntl::{Flock, FlockArg};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The version of Hadoop.
pub const VERSION: &str = "3.5.0";
const POM: &str = include_str!("../../hadoop/pom.xml");
const WORD_COUNT: &str = include_str!("../../hadoop/WordCount.java");
/// A line for each jar: its BLAKE3 digest in hexadecimal, and its name.
const DIGESTS: &str = include_str!("../../hadoop/jars.b3");
/// A source of `hadoop/`: its path there, and its text.
macro_rules! source {
    ($path:literal) => {
        ($path, include_str!(concat!("../../../../hadoop/src/main/java/", $path)))
    };
}
const JARS: &str = "lib";
const PARTIAL: &str = "lib.partial";
/// The class that is compiled here, and its jar.
const WORD_COUNT_CLASS: &str = "WordCount";
/// The sources of `hadoop/`, which Maven builds for clusters elsewhere.
const PLACEMENT: [(&str, &str); 11] = [
    source!("org/apache/hadoop/hdfs/server/blockmanagement/KeyAwareBlockPlacementPolicy.java"),
    source!("org/apache/hadoop/hdfs/server/blockmanagement/StrayReplicas.java"),
    source!("org/apache/hadoop/mapreduce/v2/app/LocalityAppMaster.java"),
    source!("org/apache/hadoop/mapreduce/v2/app/rm/JobSplits.java"),
    source!("org/apache/hadoop/mapreduce/v2/app/rm/LocalityAllocator.java"),
    source!("trunkline/hadoop/Buckets.java"),
    source!("trunkline/hadoop/JobLayout.java"),
    source!("trunkline/hadoop/Kat.java"),
    source!("trunkline/hadoop/PlacedFile.java"),
    source!("trunkline/hadoop/PlacedWriter.java"),
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
}

/// The user's cache for Hadoop: below `XDG_CACHE_HOME`, else `~/.cache`.
pub fn cache() -> Result<PathBuf, HadoopError> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = set("XDG_CACHE_HOME").filter(|path| path.is_absolute()).or_else(|| Some(set("HOME")?.join(".cache")));
    let base = base.ok_or_else(|| HadoopError::missing("a cache folder", "set XDG_CACHE_HOME or HOME"))?;
    Ok(base.join("trunkline").join(format!("hadoop-{VERSION}")))
}

/// Whether all jars lie in a cache, and what it lacks to fetch them if not.
pub fn lacking(cache: &Path) -> Option<HadoopError> {
    let complete = is_complete(&cache.join(JARS)) && cache.join(OWN_JAR).is_file() && cache.join(placement()).is_file();
    if complete {
        return None;
    }
    let missing = |tool: &str, package: &str| {
        find(tool)
            .is_none()
            .then(|| HadoopError::missing(format!("the program {tool}"), format!("apt-get install {package}")))
    };
    missing("mvn", "maven").or_else(|| missing("javac", "openjdk-17-jdk-headless"))
}

/// Hadoop in a cache; what is not there is fetched and compiled. `say` hears what takes time.
pub fn install(cache: &Path, java: &Java, say: &mut dyn FnMut(&str)) -> Result<Installation, HadoopError> {
    let using = || HadoopError::system(format!("use the cache {}", cache.display()));
    fs::create_dir_all(cache).map_err(using())?;
    let lock = File::create(cache.join("lock")).map_err(using())?;
    let _lock = Flock::lock(lock, FlockArg::LockExclusive).map_err(|(_, error)| using()(error.into()))?;
    let jars = cache.join(JARS);
    if !is_complete(&jars) || differing(&jars)?.is_some() {
        say(&format!("fetching Hadoop {VERSION} by Maven: 113 MB where they are not in its repository yet"));
        fetch(cache)?;
    }
    let own_jar = cache.join(OWN_JAR);
    if !own_jar.is_file() {
        say("compiling our own jobs");
        compile(cache, java, &jars, &[(&format!("{WORD_COUNT_CLASS}.java"), WORD_COUNT)], &own_jar)?;
    }
    let placement_jar = cache.join(placement());
    if !placement_jar.is_file() {
        say("compiling placement by key");
        compile(cache, java, &jars, &PLACEMENT, &placement_jar)?;
    }
    Ok(Installation { jars, own_jar, placement_jar })
}

/// The name of the jar of placement by key, which follows from its sources.
fn placement() -> String {
    let mut hasher = blake3::Hasher::new();
    for (_, text) in PLACEMENT {
        hasher.update(text.as_bytes());
    }
    format!("trunkline-hadoop-{}.jar", &hasher.finalize().to_hex()[..16])
}

/// The digests by name.
fn digests() -> BTreeMap<&'static str, &'static str> {
    DIGESTS.lines().filter_map(|line| line.split_once("  ")).map(|(digest, name)| (name, digest)).collect()
}

/// The names of all jars.
pub fn jar_names() -> impl Iterator<Item = &'static str> {
    digests().into_keys()
}

/// Whether all jars are there; not whether they are whole.
fn is_complete(jars: &Path) -> bool {
    digests().keys().all(|name| jars.join(name).is_file())
}

/// A file of the folder that is not a jar of ours: of another content, missing, or too many.
fn differing(jars: &Path) -> Result<Option<String>, HadoopError> {
    let reading = || HadoopError::system(format!("read {}", jars.display()));
    let mut known = digests();
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

/// Lets Maven copy the jars, and puts them in place if they are those that we know.
fn fetch(cache: &Path) -> Result<(), HadoopError> {
    let Some(maven) = find("mvn") else {
        return Err(HadoopError::missing("the program mvn", "apt-get install maven"));
    };
    let writing = || HadoopError::system(format!("write into {}", cache.display()));
    let partial = cache.join(PARTIAL);
    let _ = fs::remove_dir_all(&partial);
    fs::write(cache.join("pom.xml"), POM).map_err(writing())?;
    let mut command = Command::new(maven);
    command.current_dir(cache).args(["--batch-mode", "--quiet", "--strict-checksums", "dependency:copy-dependencies"]);
    command.arg(format!("-DoutputDirectory={}", partial.display()));
    finish(&mut command).map_err(|error| match error {
        HadoopError::Failed(said) => HadoopError::missing(
            format!("Hadoop {VERSION}"),
            format!("Maven could not fetch it; the same command goes on with what it has ({said})"),
        ),
        other => other,
    })?;
    if let Some(name) = differing(&partial)? {
        let message = format!(
            "{name}, as Maven fetched it, is not the file of our list of digests: remove it from Maven's repository \
             and try again"
        );
        return Err(HadoopError::Failed(message));
    }
    let jars = cache.join(JARS);
    let _ = fs::remove_dir_all(&jars);
    fs::rename(&partial, &jars).map_err(writing())
}

/// Compiles sources, paths and texts, into a jar.
fn compile(cache: &Path, java: &Java, jars: &Path, sources: &[(&str, &str)], jar: &Path) -> Result<(), HadoopError> {
    let writing = || HadoopError::system(format!("write into {}", cache.display()));
    let folder = cache.join("jobs");
    let _ = fs::remove_dir_all(&folder);
    let classes = folder.join("classes");
    fs::create_dir_all(&classes).map_err(writing())?;
    let mut javac = Command::new(java.tool("javac")?);
    javac.args(["-proc:none", "-nowarn", "--release", "11", "-cp"]).arg(jars.join("*")).arg("-d").arg(&classes);
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

    /// With TRUNKLINE_WRITE_JARS set to a folder of jars that Maven has copied, writes the list of digests anew.
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
            fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/hadoop/jars.b3"), lines.concat()).expect("written");
            return;
        }
        let digests = digests();
        assert_eq!(digests.len(), DIGESTS.lines().count());
        assert!(digests.values().all(|digest| digest.len() == 64 && digest.bytes().all(|b| b.is_ascii_hexdigit())));
        for name in ["hadoop-hdfs", "hadoop-mapreduce-client-app", "hadoop-yarn-server-nodemanager"] {
            assert!(digests.contains_key(format!("{name}-{VERSION}.jar").as_str()), "{name}");
        }
    }

    #[test]
    fn a_jar_of_other_content_a_missing_one_and_one_too_many_are_found() {
        let folder = std::env::temp_dir().join(format!("trunkline-jars-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("made");
        assert_eq!(differing(&folder).expect("read").as_deref(), digests().keys().next().copied(), "one is missing");
        let name = *digests().keys().nth(3).expect("there are more");
        fs::write(folder.join(name), "not a jar").expect("written");
        assert_eq!(differing(&folder).expect("read").as_deref(), Some(name));
        fs::rename(folder.join(name), folder.join("a-stranger.jar")).expect("renamed");
        assert_eq!(differing(&folder).expect("read").as_deref(), Some("a-stranger.jar"));
        fs::remove_dir_all(&folder).expect("removed");
    }
}
