//! HDFS, by the class `trunkline.hadoop.Kat` of `hadoop/`, which a JVM with the cluster's configuration runs.

use crate::failure::Failure;
use crate::kat_args::ClusterArgs;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The class that is started.
const CLASS: &str = "trunkline.hadoop.Kat";
/// What the class says when it fails begins so.
const REASON: &str = "kat: ";
const BUFFER: usize = 1 << 16;
/// Lines of what a client says that are kept.
const KEPT: usize = 20;
/// A client that is not wanted any longer has so long to remove what it has begun: 10 s.
const LOOK: Duration = Duration::from_millis(50);
const PATIENCE_LOOKS: u32 = 200;

/// How clients of the cluster are started.
pub enum Cluster {
    /// By the program `hadoop`, with our jar.
    Program { program: PathBuf, jar: Option<PathBuf> },
    /// On the master of a testbed's cluster.
    #[cfg(feature = "testbed")]
    Testbed(Box<testbed::hadoop::Running>),
}

/// A client that runs.
pub struct Call {
    child: Child,
    input: Option<BufWriter<ChildStdin>>,
    output: Option<BufReader<ChildStdout>>,
    errors: Option<JoinHandle<Vec<String>>>,
}

/// What a folder of HDFS holds, and the nodes that there are.
#[derive(Default)]
pub struct Look {
    /// DataNodes that live: the rack of each.
    pub nodes: BTreeMap<String, String>,
    /// Files, with the hosts of each of their blocks.
    pub files: BTreeMap<String, Stored>,
    /// Files that are being written, or were when their writer was killed.
    pub aside: Vec<String>,
    /// What was to be loaded into the folder, as JSON.
    pub manifest: Option<String>,
    /// What was loaded in the end, as JSON.
    pub loaded: Option<String>,
}

/// A file of HDFS.
pub struct Stored {
    /// Bytes.
    pub length: u64,
    /// The hosts of each block.
    pub blocks: Vec<Vec<String>>,
}

impl Stored {
    /// How many blocks have a replica outside a group of nodes.
    pub fn elsewhere(&self, nodes: &[&str]) -> usize {
        self.blocks.iter().filter(|hosts| hosts.iter().any(|host| !nodes.contains(&host.as_str()))).count()
    }
}

impl Cluster {
    /// As the command line says.
    pub fn open(args: &ClusterArgs) -> Result<Self, Failure> {
        #[cfg(feature = "testbed")]
        if let Some(name) = &args.testbed {
            return Ok(Self::Testbed(Box::new(crate::testbed_hadoop::running(name)?.1)));
        }
        if let Some(jar) = args.jar.as_deref().filter(|jar| !jar.is_file()) {
            return Err(Failure::Input(format!("there is no file {}: Maven builds it in hadoop/", jar.display())));
        }
        Ok(Self::Program { program: args.hadoop.clone(), jar: args.jar.clone() })
    }

    /// Starts a command of the class.
    pub fn call(&self, arguments: &[&str]) -> Result<Call, Failure> {
        let mut child = match self {
            Self::Program { program, jar } => {
                let mut command = Command::new(program);
                command.arg(CLASS).args(arguments);
                if let Some(jar) = jar {
                    command.env("HADOOP_CLASSPATH", with_class_path(jar));
                }
                piped(&mut command).spawn().map_err(|error| not_started(program, &error))?
            }
            #[cfg(feature = "testbed")]
            Self::Testbed(running) => {
                let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
                let mut command = running.client(CLASS, &arguments);
                running
                    .spawn_piped(piped(&mut command))
                    .map_err(|error| Failure::RealJob(format!("a client does not start in the cluster: {error}")))?
            }
        };
        let input = child.stdin.take().map(|input| BufWriter::with_capacity(BUFFER, input));
        let output = child.stdout.take().map(|output| BufReader::with_capacity(BUFFER, output));
        let errors = child.stderr.take().map(|errors| {
            thread::spawn(move || {
                let mut kept = Vec::new();
                // What is not text ends it; the exit code says whether it matters.
                for line in BufReader::new(errors).lines().map_while(Result::ok) {
                    if kept.len() == KEPT {
                        kept.remove(0);
                    }
                    kept.push(line);
                }
                kept
            })
        });
        Ok(Call { child, input, output, errors })
    }

    /// Runs a command that reads nothing; its lines.
    pub fn ask(&self, arguments: &[&str]) -> Result<Vec<Vec<String>>, Failure> {
        self.call(arguments)?.end()
    }

    /// Writes a file with so many replicas, or the site's number if that is greater.
    pub fn put(&self, path: &str, replicas: usize, text: &str) -> Result<(), Failure> {
        let mut call = self.call(&["put", path, &replicas.to_string()])?;
        let written = call.send(text.as_bytes());
        call.end_after(written).map(|_| ())
    }

    /// The nodes, and what a folder holds.
    pub fn look(&self, folder: &str) -> Result<Look, Failure> {
        let mut look = Look::default();
        for line in self.ask(&["look", folder])? {
            match line.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
                ["node", name, rack, ..] => {
                    look.nodes.insert((*name).to_owned(), (*rack).to_owned());
                }
                ["file", name, length, _, blocks] => {
                    let blocks = blocks.split(';').filter(|block| !block.is_empty());
                    let blocks = blocks.map(|hosts| hosts.split(',').map(str::to_owned).collect()).collect();
                    let stored = Stored { length: length.parse().unwrap_or(0), blocks };
                    look.files.insert((*name).to_owned(), stored);
                }
                ["aside", name] => look.aside.push((*name).to_owned()),
                ["manifest", text] => look.manifest = Some((*text).to_owned()),
                ["loaded", text] => look.loaded = Some((*text).to_owned()),
                _ => {}
            }
        }
        if look.nodes.is_empty() {
            return Err(Failure::RealJob("HDFS has no DataNodes that live".to_owned()));
        }
        Ok(look)
    }
}

fn piped(command: &mut Command) -> &mut Command {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped())
}

fn with_class_path(jar: &Path) -> OsString {
    let mut path = jar.canonicalize().unwrap_or_else(|_| jar.to_owned()).into_os_string();
    if let Some(before) = std::env::var_os("HADOOP_CLASSPATH") {
        path.push(":");
        path.push(before);
    }
    path
}

fn not_started(program: &Path, error: &io::Error) -> Failure {
    let program = program.display();
    match error.kind() {
        io::ErrorKind::NotFound => Failure::Missing(format!(
            "there is no program {program}: --hadoop names Hadoop's own, as /opt/hadoop/bin/hadoop"
        )),
        _ => Failure::Missing(format!("{program} does not start: {error}")),
    }
}

impl Call {
    /// Writes to it.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.input.as_mut().map_or_else(|| Err(io::ErrorKind::BrokenPipe.into()), |input| input.write_all(bytes))
    }

    /// Writes to it, and no part of that stays here, whether it takes it or not.
    pub fn send_now(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.send(bytes)?;
        let flushed = self.input.as_mut().map_or(Ok(()), BufWriter::flush);
        if flushed.is_err() {
            self.input = None;
        }
        flushed
    }

    /// What it writes.
    pub fn output(&mut self) -> Option<BufReader<ChildStdout>> {
        self.output.take()
    }

    /// Waits for its end; the lines that it says.
    pub fn end(self) -> Result<Vec<Vec<String>>, Failure> {
        self.end_after(Ok(()))
    }

    /// Ends it after its input was written, which has failed where the client has.
    pub fn end_after(mut self, written: io::Result<()>) -> Result<Vec<Vec<String>>, Failure> {
        let flushed = self.input.take().map_or(Ok(()), |mut input| input.flush());
        let mut lines = Vec::new();
        if let Some(output) = self.output.take() {
            for line in output.lines() {
                let line = line.map_err(|error| Failure::RealJob(format!("a client of HDFS: {error}")))?;
                lines.push(line.split('\t').map(str::to_owned).collect());
            }
        }
        let status = self.child.wait().map_err(|error| Failure::Internal(format!("cannot wait: {error}")))?;
        let said = self.errors.take().and_then(|errors| errors.join().ok()).unwrap_or_default();
        if !status.success() {
            let reason = said.iter().rev().find_map(|line| line.strip_prefix(REASON)).map(str::to_owned);
            let missing = said.iter().any(|line| line.contains(CLASS) && line.contains("find or load"));
            if missing {
                return Err(Failure::Missing(format!(
                    "Hadoop's class path has no {CLASS}: --jar names trunkline-hadoop.jar, which Maven builds in hadoop/"
                )));
            }
            return Err(Failure::RealJob(reason.unwrap_or_else(|| {
                let last = said.last().map_or_else(String::new, |last| format!(": {last}"));
                format!("a client of HDFS ended with {status}{last}; the same command may be given again")
            })));
        }
        written.and(flushed).map_err(|error| Failure::RealJob(format!("a client of HDFS: {error}")))?;
        Ok(lines)
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        // It reads to the end of its input, and ends then; one that waits for HDFS is not waited for.
        self.input = None;
        self.output = None;
        for _ in 0..PATIENCE_LOOKS {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(LOOK);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
