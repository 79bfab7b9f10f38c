//! The object store of a cluster: its server, its bucket, and what it says of requests.
//!
//! The server is S3Proxy over a folder, with a host of its own on the star. Objects are files of that folder: what jobs
//! read is laid there, as it is in the store when a run begins, and what they leave is read there. Jobs themselves speak
//! S3 over the star's links.

use super::HadoopError;
use super::layout::{Layout, Owner};
use nix::unistd::{chown, geteuid};
use rustix::fs::{XattrFlags, setxattr};
use scenario::ObjectStore;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

/// The name of the store's host, as the simulated topology has it.
pub const HOST: &str = "object-store";
/// The server's port.
pub const PORT: u16 = 9_000;
/// The bucket, which is also the folder of the same files in HDFS.
pub const BUCKET: &str = "trunkline";
/// The attribute by which S3Proxy knows an object's entity tag; S3A wants one. Java's are named below `user.`.
const TAG: &str = "user.user.content-md5";
/// The longest line of the log of requests: S3's keys have 1024 bytes, each of which may be escaped as three.
const MOST_LINE: u64 = 64 << 10;

/// The key with which clients sign, made for one cluster.
#[derive(Clone)]
pub struct Credentials {
    /// The key's name.
    pub access: String,
    /// The key.
    pub secret: String,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credentials").field("access", &self.access).finish_non_exhaustive()
    }
}

impl Credentials {
    /// New ones, of the kernel's random numbers.
    pub fn random() -> Result<Self, HadoopError> {
        let text = random::<30>().map_err(HadoopError::system("read random numbers"))?;
        Ok(Self { access: text[..20].to_owned(), secret: text[20..].to_owned() })
    }
}

/// Random bytes of the kernel, in hexadecimal.
fn random<const BYTES: usize>() -> io::Result<String> {
    let mut bytes = [0; BYTES];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02X}");
        text
    }))
}

/// The server's settings as it reads them. What a request takes is the scenario's.
pub fn properties(store: &ObjectStore, seed: u64, layout: &Layout, at: Ipv4Addr, key: &Credentials) -> String {
    let text = [
        ("address", format!("{at}:{PORT}")),
        ("bucket", BUCKET.to_owned()),
        ("folder", objects(layout).display().to_string()),
        ("log", log(layout).display().to_string()),
        ("access", key.access.clone()),
        ("secret", key.secret.clone()),
    ];
    let numbers = [
        ("seed", seed as f64),
        ("latency-s", store.latency.as_secs_f64()),
        ("latency-p99-s", store.latency_p99.as_secs_f64()),
        ("connection-rate", store.connection_rate.as_bps() as f64 / 8.0),
        ("copy-rate", store.copy_rate.as_bps() as f64 / 8.0),
        ("read-limit", f64::from(store.read_limit)),
        ("write-limit", f64::from(store.write_limit)),
        ("limit-window-s", store.limit_window.as_secs_f64()),
        ("prefixes", f64::from(store.prefixes)),
    ];
    let lines = text.into_iter().chain(numbers.map(|(name, value)| (name, value.to_string())));
    // A backslash would begin an escape.
    let lines: Vec<String> = lines.map(|(name, value)| format!("{name}={}\n", value.replace('\\', "\\\\"))).collect();
    lines.concat()
}

/// The folder of buckets.
fn objects(layout: &Layout) -> PathBuf {
    layout.node(HOST).join("objects")
}

/// The log of requests.
fn log(layout: &Layout) -> PathBuf {
    layout.node(HOST).join("requests.tsv")
}

/// Whether objects can lie in a folder: entity tags are attributes of files.
pub fn check_folder(folder: &Path) -> Result<(), HadoopError> {
    let tried = || {
        // The folder may be everybody's, and this root: a name that nobody knows before, and a file that was not there,
        // so that no link leads to another file.
        let probe = folder.join(format!(".trunkline-tag-{}", random::<16>()?));
        OpenOptions::new().write(true).create_new(true).open(&probe)?;
        let tagged = tag(&probe);
        fs::remove_file(&probe).and(tagged)
    };
    tried().map_err(|error: io::Error| HadoopError::Missing {
        what: format!("a file system with users' attributes ({} has none: {error})", folder.display()),
        help: "an object store keeps entity tags there: choose another --scratch".to_owned(),
    })
}

fn tag(file: &Path) -> io::Result<()> {
    // As of an upload in parts: S3's tag of one is no digest of the content either.
    let tag = format!("\"{}-1\"", &blake3::hash(file.as_os_str().as_encoded_bytes()).to_hex()[..32]);
    setxattr(file, TAG, tag.as_bytes(), XattrFlags::empty()).map_err(io::Error::from)
}

/// The bucket of a running cluster, from the server's side.
#[derive(Clone, Debug)]
pub struct Bucket {
    folder: PathBuf,
    owner: Owner,
}

impl Bucket {
    /// Of a cluster in a folder.
    pub fn of(layout: &Layout) -> Result<Self, HadoopError> {
        Ok(Self { folder: objects(layout), owner: Owner::find()? })
    }

    /// The file of an object; paths begin with the bucket's name.
    fn file(&self, path: &str) -> PathBuf {
        self.folder.join(path.trim_start_matches('/'))
    }

    /// The objects below a folder, with their paths and lengths.
    pub fn files(&self, folder: &str) -> io::Result<Vec<(String, u64)>> {
        let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
        while let Some(folder) = folders.pop() {
            let entries = match fs::read_dir(self.file(&folder)) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                entries => entries?,
            };
            for entry in entries {
                let entry = entry?;
                let (path, of) = (format!("{folder}/{}", entry.file_name().to_string_lossy()), entry.metadata()?);
                if of.is_dir() { folders.push(path) } else { files.push((path, of.len())) }
            }
        }
        files.sort();
        Ok(files)
    }

    /// The content of an object.
    pub fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        fs::read(self.file(path))
    }

    /// Makes an object.
    pub fn write(&self, path: &str, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        let file = self.file(path);
        self.make_folders(path)?;
        write(&mut File::create(&file)?)?;
        tag(&file)?;
        self.own(&file)
    }

    /// Moves an object.
    pub fn rename(&self, path: &str, to: &str) -> io::Result<()> {
        self.make_folders(to)?;
        fs::rename(self.file(path), self.file(to))
    }

    /// Removes an object, or all objects below a folder.
    pub fn delete(&self, path: &str) -> io::Result<()> {
        let file = self.file(path);
        let removed = if file.is_dir() { fs::remove_dir_all(&file) } else { fs::remove_file(&file) };
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// The folders in which an object's file lies, with the server's rights.
    fn make_folders(&self, path: &str) -> io::Result<()> {
        let mut folder = self.folder.clone();
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        for part in &parts[..parts.len() - 1] {
            folder.push(part);
            match fs::create_dir(&folder) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                Err(_) => {}
                Ok(()) => self.own(&folder)?,
            }
        }
        Ok(())
    }

    fn own(&self, file: &Path) -> io::Result<()> {
        if !geteuid().is_root() {
            return Ok(());
        }
        chown(file, Some(self.owner.uid), Some(self.owner.gid)).map_err(io::Error::from)
    }
}

/// What the server says of a job's requests.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Requests {
    /// How many of each kind, in the words of simulated results; those refused among them.
    pub requests: BTreeMap<String, u64>,
    /// Those that were told 503 Slow Down.
    pub throttled: u64,
    /// Bytes of bodies of requests.
    pub received: u64,
    /// Bytes of bodies of answers.
    pub sent: u64,
    /// Bytes copied within the store.
    pub copied: u64,
    /// Requests whose answer the server began later than the scenario's latency, having been busy with it for longer.
    pub late: u64,
    /// The longest that the server was busy with a request before its answer, in seconds.
    pub longest_own_s: f64,
    /// What they were for: S3A's operation (as its audit names it), kind and status, with how many there were.
    pub operations: BTreeMap<String, u64>,
}

impl Requests {
    /// Counts a line of the server's log. One that is cut off is none.
    fn count(&mut self, line: &str) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [_, kind, status, received, sent, copied, own_us, waited_us, _, operation, ..] = fields.as_slice() else {
            return;
        };
        let number = |field: &str| field.parse::<u64>().unwrap_or(0);
        *self.requests.entry((*kind).to_owned()).or_default() += 1;
        self.throttled += u64::from(*status == "503");
        self.received += number(received);
        self.sent += number(sent);
        self.copied += number(copied);
        // One that waits for less than a timer's step was late.
        self.late += u64::from(*status != "503" && number(waited_us) < 50);
        self.longest_own_s = self.longest_own_s.max(number(own_us) as f64 / 1e6);
        let operation = if operation.is_empty() { "none" } else { operation };
        *self.operations.entry(format!("{operation} {kind} {status}")).or_default() += 1;
    }
}

/// The server's log, from a moment on.
#[derive(Debug)]
pub struct RequestLog {
    file: PathBuf,
    begins: u64,
}

impl RequestLog {
    /// From now on; none where a cluster has no store.
    pub fn open(layout: &Layout) -> Option<Self> {
        let file = log(layout);
        let begins = file.metadata().ok()?.len();
        Some(Self { file, begins })
    }

    /// What the server has said since: its lines into a file of their own, and what they come to. The log may be long:
    /// it is read line by line.
    pub fn copy(&self, to: &Path) -> Result<Requests, HadoopError> {
        let copied = || -> io::Result<Requests> {
            let mut file = File::open(&self.file)?;
            file.seek(SeekFrom::Start(self.begins))?;
            let (mut log, mut copy) = (BufReader::new(file), BufWriter::new(File::create(to)?));
            let (mut requests, mut line) = (Requests::default(), Vec::new());
            while log.by_ref().take(MOST_LINE).read_until(b'\n', &mut line)? > 0 {
                copy.write_all(&line)?;
                requests.count(String::from_utf8_lossy(&line).trim_end_matches('\n'));
                line.clear();
            }
            copy.flush()?;
            Ok(requests)
        };
        copied().map_err(HadoopError::system("copy the object store's log"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_s_lines_are_counted_by_what_they_say() {
        // S3A of Hadoop 3.5.0: `hadoop fs -mv`.
        let text = "1795712922319\tcopy\t200\t0\t219\t3000000\t125220\t184119\t127.0.0.1\top_rename\t\t/trunkline/in/q\n\
            1795712921506\thead\t404\t0\t0\t0\t1872\t39161\t127.0.0.1\top_rename\t\t/trunkline/in/q.bin\n\
            1795712937064\tdelete\t204\t0\t0\t0\t81733\t1\t127.0.0.1\top_rename\t\t/trunkline/in/big\n\
            1795712937064\tput\t503\t0\t160\t0\t0\t0\t127.0.0.1\t\t\t/trunkline/in/big\ncut off";
        let folder = std::env::temp_dir().join(format!("trunkline-requests-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("made");
        let (file, copy) = (folder.join("log"), folder.join("copy"));
        fs::write(&file, format!("a line of an earlier job\n{text}")).expect("written");
        let all = RequestLog { file, begins: 25 }.copy(&copy).expect("copied");
        assert_eq!(fs::read_to_string(&copy).expect("read"), text);
        fs::remove_dir_all(&folder).expect("removed");
        let kinds: Vec<_> = all.requests.iter().map(|(kind, count)| (kind.as_str(), *count)).collect();
        assert_eq!(kinds, [("copy", 1), ("delete", 1), ("head", 1), ("put", 1)]);
        assert_eq!((all.throttled, all.late, all.sent, all.copied), (1, 1, 379, 3_000_000));
        assert_eq!(all.operations["op_rename head 404"], 1);
        assert!((all.longest_own_s - 0.12522).abs() < 1e-9);
    }

    #[test]
    fn objects_are_files_with_tags_and_no_folder_is_one() {
        let folder = std::env::temp_dir().join(format!("trunkline-bucket-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("made");
        if check_folder(&folder).is_err() {
            // This file system has no attributes; where it matters, `up` says so.
            fs::remove_dir_all(&folder).expect("removed");
            return;
        }
        let bucket = Bucket { folder: folder.clone(), owner: Owner::find().expect("nobody") };
        bucket.write("/trunkline/partial", |to| to.write_all(b"words")).expect("written");
        bucket.rename("/trunkline/partial", "/trunkline/in/text/text").expect("moved");
        assert_eq!(bucket.files("/trunkline").expect("listed"), [("/trunkline/in/text/text".to_owned(), 5)]);
        assert_eq!(bucket.read("/trunkline/in/text/text").expect("read"), b"words");
        bucket.delete("/trunkline/in").expect("deleted");
        bucket.delete("/trunkline/in").expect("there is none");
        assert!(bucket.files("/trunkline").expect("listed").is_empty());
        fs::remove_dir_all(&folder).expect("removed");
    }

    #[test]
    fn keys_are_new_each_time() {
        let [a, b] = [(); 2].map(|()| Credentials::random().expect("random"));
        assert!(a.access != b.access && a.secret != b.secret && a.secret.len() == 40, "{a:?}");
        assert!(!format!("{a:?}").contains(&a.secret));
    }
}
