//! What a job reads, how it is started, and what its output must be.

use super::HadoopError;
use super::check::{Check, counted, pi, sorted, validated};
use super::client::Client;
use super::daemons::Engine;
use super::files::Files;
use super::job::{Application, FOLDER, Input, Job, Kind};
use super::running::Running;
use super::settings::HDFS;
use super::spark::{self, OWN_CLASS, Submission};
use super::text::{Counts, Lines, PATTERN, Text, matches};
use scenario::{Scenario, Spark};
use std::fs;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a job reads and must come to, once its input is there.
#[derive(Debug)]
pub struct Prepared<'a> {
    job: &'a Job,
    cluster: &'a Running,
    input: Files<'a>,
    output: Files<'a>,
    /// The folder of the output.
    to: String,
    jar: PathBuf,
    reference: Reference,
    spark: Option<OfSpark>,
}

/// What an application of Spark is submitted with.
#[derive(Debug)]
struct OfSpark {
    scenario: Scenario,
    /// Where its event log goes.
    events: PathBuf,
}

impl OfSpark {
    /// All tasks that its executors run at once.
    fn cores(&self) -> u32 {
        self.scenario.spark.as_ref().map_or(1, |spark| spark::cores(&self.scenario, spark))
    }
}

#[derive(Debug)]
enum Reference {
    /// Words and how often each comes.
    Counts(Counts),
    /// The checksum of the records that TeraGen wrote.
    Checksum(String),
    /// The lines that were sorted.
    Lines(String),
    /// Bytes of files.
    Files(u64),
    Pi {
        maps: u32,
    },
    /// Nobody knows.
    None,
}

/// The table that is joined with words.
const TABLE: &str = "/trunkline/in/table";
/// Files of the table in Parquet for each of the cluster's tasks at once: a task of a scan reads several, as of small
/// files.
const FILES_EACH: u32 = 3;
const TERA_RECORD: u64 = 100;
const DFSIO: &str = "org.apache.hadoop.fs.TestDFSIO";
const DFSIO_DATA: &str = "/benchmarks/TestDFSIO/io_data";
/// Points that each map of pi tries.
const PI_POINTS: u64 = 1_000_000;
const EXAMPLES: &str = "hadoop-mapreduce-examples-";
const RUN_JAR: &str = "org.apache.hadoop.util.RunJar";

impl Job {
    /// Makes the job's input where it is not there yet, and learns what must come of it.
    pub fn prepare<'a>(
        &'a self,
        cluster: &'a Running,
        scenario: &Scenario,
        client: &mut Client<'_>,
    ) -> Result<Prepared<'a>, HadoopError> {
        let [input, output] = self.in_store.map(|in_store| Files::of(cluster, in_store));
        let (input, output) = (input?, output?);
        let to = format!("{FOLDER}/out/{}-{}", self.name(), super::load::now_ms());
        let mut jar = cluster.layout.own_jar();
        let reference = match &self.kind {
            Kind::WordCount { .. } => Reference::Counts(self.text(&input, client)?),
            Kind::Spark(application) => {
                jar = cluster.layout.spark_own_jar();
                self.of_spark(*application, &input, client)?
            }
            Kind::Grep => {
                jar = examples(cluster)?;
                Reference::Counts(matches(&self.text(&input, client)?))
            }
            Kind::TeraSort => {
                jar = examples(cluster)?;
                Reference::Checksum(self.records(&input, client, &jar)?)
            }
            Kind::Pi => {
                jar = examples(cluster)?;
                Reference::Pi { maps: self.maps }
            }
            Kind::DfsioWrite => {
                input.delete(DFSIO_DATA)?;
                Reference::Files(self.file_bytes() * u64::from(self.maps))
            }
            Kind::DfsioRead => {
                let bytes = self.file_bytes() * u64::from(self.maps);
                if held(&input, DFSIO_DATA)? != bytes {
                    (client.say)("writing the files to read");
                    input.delete(DFSIO_DATA)?;
                    client.run(cluster.client(DFSIO, &self.dfsio("-write")), "prepare")?;
                }
                Reference::Files(bytes)
            }
            Kind::Jar(file) => {
                // The daemons' user may not be able to read the user's own.
                jar = cluster.layout.node(super::layout::CLIENT).join("job.jar");
                let copied = fs::copy(file, &jar)
                    .and_then(|_| fs::set_permissions(&jar, std::os::unix::fs::PermissionsExt::from_mode(0o644)));
                copied.map_err(HadoopError::system(format!("copy {}", file.display())))?;
                Reference::None
            }
        };
        let spark = match cluster.engine() {
            Engine::Yarn => None,
            Engine::Spark | Engine::SparkOnYarn => {
                Some(OfSpark { scenario: scenario.clone(), events: events(cluster)? })
            }
        };
        let prepared = Prepared { job: self, cluster, input, output, to, jar, reference, spark };
        if self.kind == Kind::Spark(Application::Sql) {
            prepared.tabulate(client)?;
        }
        Ok(prepared)
    }

    /// Text of the asked size in place; the counts of its words.
    fn text(&self, files: &Files<'_>, client: &mut Client<'_>) -> Result<Counts, HadoopError> {
        let path = self.text_path();
        let text = match self.text {
            Input::Lines => Text::of(self.input.get()),
            Input::Words | Input::Placed(_) => Text::of_words(self.input.get()),
        };
        let writing = || HadoopError::system("make text");
        let (counts, length) = text.write(&mut io::sink()).map_err(writing())?;
        if matches!(self.text, Input::Placed(_)) {
            return Ok(counts);
        }
        if held(files, &path)? != length {
            (client.say)(&format!("putting {} of text into {}", self.input, files.name()));
            let partial = format!("{FOLDER}/partial");
            files.delete(&path)?;
            files.write(&partial, length, |stream| {
                let mut stream = BufWriter::with_capacity(1 << 16, stream);
                text.write(&mut stream)?;
                stream.flush()
            })?;
            files.place(&partial, &path, "text")?;
        }
        Ok(counts)
    }

    /// What an application of Spark reads in place; what must come of it.
    fn of_spark(
        &self,
        application: Application,
        files: &Files<'_>,
        client: &mut Client<'_>,
    ) -> Result<Reference, HadoopError> {
        let counts = self.text(files, client)?;
        let text = Text::of(self.input.get());
        Ok(match application {
            Application::WordCount => Reference::Counts(counts),
            Application::Sort => {
                let mut lines = Lines::default();
                text.write(&mut lines).map_err(HadoopError::system("make text"))?;
                Reference::Lines(lines.said())
            }
            Application::Join | Application::Sql => {
                let table = text.table();
                if held(files, TABLE)? != table.len() as u64 {
                    files.write(&format!("{TABLE}/table"), table.len() as u64, |to| to.write_all(table.as_bytes()))?;
                }
                Reference::Counts(text.by_category(&counts))
            }
        })
    }

    /// Records of TeraGen in place; their checksum.
    fn records(&self, files: &Files<'_>, client: &mut Client<'_>, jar: &Path) -> Result<String, HadoopError> {
        let count = (self.input.get() / TERA_RECORD).max(1);
        let (path, sum) = (self.records_path(), format!("{}.checksum", self.records_path()));
        if held(files, &path)? == count * TERA_RECORD
            && let Ok(known) = files.read(&sum)
        {
            return Ok(String::from_utf8_lossy(&known).into_owned());
        }
        (client.say)(&format!("making {count} records by TeraGen"));
        files.delete(&path)?;
        let arguments = [jar.display().to_string(), "teragen".to_owned(), count.to_string(), files.told(&path)];
        let run = client.run(client.cluster.client(RUN_JAR, &arguments), "prepare")?;
        let known = run.counter("CHECKSUM").and_then(|sum| sum.parse::<i64>().ok());
        let known = known.ok_or_else(|| HadoopError::Failed("TeraGen told no checksum".to_owned()))?;
        let known = format!("{:x}", known as u64);
        files.write(&sum, known.len() as u64, |stream| stream.write_all(known.as_bytes()))?;
        Ok(known)
    }

    fn records_path(&self) -> String {
        format!("{FOLDER}/in/records-{}", self.input.get() / TERA_RECORD)
    }

    /// The text as a table in Parquet.
    fn parquet_path(&self) -> String {
        format!("{}.parquet", self.text_path())
    }

    fn file_bytes(&self) -> u64 {
        (self.input.get() / u64::from(self.maps)).max(1)
    }

    fn dfsio(&self, way: &str) -> Vec<String> {
        let results = "TestDFSIO_results.log".to_owned();
        let (files, size) = (self.maps.to_string(), format!("{}B", self.file_bytes()));
        let mut arguments: Vec<String> = self.properties.iter().map(|property| format!("-D{property}")).collect();
        arguments.extend([way.to_owned(), "-nrFiles".to_owned(), files, "-size".to_owned(), size]);
        arguments.extend(["-resFile".to_owned(), results]);
        arguments
    }
}

impl Prepared<'_> {
    /// The client to start.
    pub fn command(&self) -> Command {
        if let Some(spark) = &self.spark {
            return self.driver(spark);
        }
        let (class, arguments) = self.client();
        self.cluster.client(class, &arguments)
    }

    /// Where the event log of an application of Spark goes.
    pub fn events(&self) -> Option<&Path> {
        self.spark.as_ref().map(|spark| spark.events.as_path())
    }

    /// Has the text as a table in Parquet, which an application writes that is not measured.
    fn tabulate(&self, client: &mut Client<'_>) -> Result<(), HadoopError> {
        let (path, Some(of)) = (self.job.parquet_path(), &self.spark) else { return Ok(()) };
        // A table that is whole has this beside its files.
        if self.input.files(&path)?.iter().any(|(file, _)| file.ends_with("/_SUCCESS")) {
            return Ok(());
        }
        (client.say)("writing the text as a table in Parquet");
        let paths = [&self.job.text_path(), &path].map(|path| format!("{HDFS}{path}"));
        let files = (FILES_EACH * of.cores()).to_string();
        let arguments = [vec!["parquet".to_owned()], paths.into(), vec![files]].concat();
        client.run(self.submitted(of, None, Some(OWN_CLASS), arguments), "prepare").map(|_| ())
    }

    /// The driver of an application of Spark.
    fn driver(&self, of: &OfSpark) -> Command {
        let job = self.job;
        let Kind::Spark(application) = job.kind else {
            return self.submitted(of, Some(&of.events), None, job.arguments.clone());
        };
        // Spark's own name for a file of HDFS, which its event log tells.
        let whole = |path: &str| format!("{HDFS}{path}");
        let mut arguments = match application {
            Application::WordCount | Application::Sort => vec![whole(&job.text_path())],
            Application::Join => vec![whole(&job.text_path()), whole(TABLE)],
            Application::Sql => vec![whole(&job.parquet_path()), whole(TABLE)],
        };
        arguments.extend([whole(&self.to), job.reducers.unwrap_or_else(|| of.cores()).to_string()]);
        let name = application.name().trim_start_matches("spark-").to_owned();
        self.submitted(of, Some(&of.events), Some(OWN_CLASS), [vec![name], arguments].concat())
    }

    fn submitted(&self, of: &OfSpark, events: Option<&Path>, class: Option<&str>, arguments: Vec<String>) -> Command {
        let default = Spark::default();
        let (mut properties, sorts) = (Vec::new(), self.job.kind == Kind::Spark(Application::Sort));
        if sorts {
            // As TeraSort writes its output.
            properties.push("spark.hadoop.dfs.replication=1".to_owned());
        }
        properties.extend(self.job.properties.iter().cloned());
        let submission = Submission {
            scenario: &of.scenario,
            spark: of.scenario.spark.as_ref().unwrap_or(&default),
            master: self.cluster.master().name(),
            events,
            jar: self.jar.clone(),
            class,
            properties: &properties,
            arguments,
        };
        let (class, words) = submission.command(&self.cluster.layout);
        self.cluster.driver(class, &words)
    }

    /// The class of a client of MapReduce, and its arguments.
    fn client(&self) -> (&'static str, Vec<String>) {
        let job = self.job;
        let reducers = job.reducers.map(|reducers| format!("mapreduce.job.reduces={reducers}"));
        let mut set: Vec<String> = reducers.iter().chain(&job.properties).map(|set| format!("-D{set}")).collect();
        let jar = self.jar.display().to_string();
        let paths = |from: &str| vec![self.input.told(from), self.output.told(&self.to)];
        let arguments = match &job.kind {
            Kind::WordCount { combine } => {
                set.push(format!("-Dtrunkline.combine={combine}"));
                [vec![jar, "WordCount".to_owned()], set, paths(&job.text_path())].concat()
            }
            Kind::TeraSort => [vec![jar, "terasort".to_owned()], set, paths(&job.records_path())].concat(),
            Kind::Grep => {
                let words = [paths(&job.text_path()), vec![PATTERN.to_owned()]].concat();
                [vec![jar, "grep".to_owned()], set, words].concat()
            }
            Kind::Pi => [vec![jar, "pi".to_owned()], set, vec![job.maps.to_string(), PI_POINTS.to_string()]].concat(),
            Kind::DfsioWrite => return (DFSIO, job.dfsio("-write")),
            Kind::DfsioRead => return (DFSIO, job.dfsio("-read")),
            Kind::Spark(_) | Kind::Jar(_) => [vec![jar], job.arguments.clone()].concat(),
        };
        (RUN_JAR, arguments)
    }

    /// Removes what a job that did not end well has written.
    pub fn discard(&self) {
        // Where HDFS does not answer there is nothing to remove it from.
        let _ = self.output.delete(&self.to);
        if let Some(events) = self.events() {
            // What stays ends with the cluster.
            let _ = fs::remove_dir_all(events);
        }
    }

    /// Checks the job's output against the reference, and removes it.
    pub fn check(&self, client: &mut Client<'_>, log: &str) -> Result<Check, HadoopError> {
        let check = match &self.reference {
            Reference::Counts(counts) => {
                let key_first = self.job.kind != Kind::Grep;
                counted(&self.output.parts(&self.to)?, counts, key_first)
            }
            Reference::Checksum(sum) => {
                (client.say)("validating the order by TeraValidate");
                let to = format!("{}-validated", self.to);
                let jar = self.jar.display().to_string();
                let paths = [&self.to, &to].map(|path| self.output.told(path));
                let arguments = [vec![jar, "teravalidate".to_owned()], paths.into()].concat();
                client.run(self.cluster.client(RUN_JAR, &arguments), "validate")?;
                let said = self.output.parts(&to)?;
                self.output.delete(&to)?;
                validated(&String::from_utf8_lossy(&said), sum)
            }
            Reference::Lines(lines) => {
                let Some(of) = &self.spark else {
                    return Err(HadoopError::Failed("the cluster has no Spark".to_owned()));
                };
                (client.say)("looking at the order");
                let arguments = ["validate".to_owned(), format!("{HDFS}{}", self.to)];
                let ran = client.run(self.submitted(of, None, Some(OWN_CLASS), arguments.into()), "validate")?;
                sorted(ran.counter("VALIDATED"), lines)
            }
            Reference::Files(bytes) => {
                let there = held(&self.output, DFSIO_DATA)?;
                let what = format!("{there} bytes in HDFS where {bytes} were asked for");
                if there == *bytes { Check::Right(what) } else { Check::Wrong(what) }
            }
            Reference::Pi { maps } => pi(log, *maps, PI_POINTS),
            Reference::None => Check::Unknown("nothing is known of what a jar must come to".to_owned()),
        };
        self.output.delete(&self.to)?;
        Ok(check)
    }
}

/// A folder of its own for an event log, which the driver can write.
fn events(cluster: &Running) -> Result<PathBuf, HadoopError> {
    let folder = spark::events(&cluster.layout, super::load::now_ms());
    let made = fs::create_dir(&folder).and_then(|()| cluster.give(&folder));
    made.map_err(HadoopError::system(format!("make {}", folder.display())))?;
    Ok(folder)
}

/// Bytes of the files below a folder.
fn held(files: &Files<'_>, folder: &str) -> Result<u64, HadoopError> {
    Ok(files.files(folder)?.iter().map(|(_, length)| length).sum())
}

/// The jar of Hadoop's examples.
fn examples(cluster: &Running) -> Result<PathBuf, HadoopError> {
    let jars = cluster.layout.jars();
    // Our list of digests knows which version it is.
    let name = super::install::jar_names().find(|name| name.starts_with(EXAMPLES));
    name.map(|name| jars.join(name)).ok_or_else(|| HadoopError::Failed("Hadoop's examples are missing".to_owned()))
}
