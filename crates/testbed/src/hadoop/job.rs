//! Jobs that can be run, and what is wrong with what is asked of them.

use super::HadoopError;
use super::daemons::Engine;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use units::Bytes;

/// A job that can be run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Counts words, with or without a combiner.
    WordCount {
        /// Whether the maps combine.
        combine: bool,
    },
    /// Sorts records of 100 bytes.
    TeraSort,
    /// Counts what matches an expression, and sorts the counts: two jobs.
    Grep,
    /// Estimates pi: processor time and no data.
    Pi,
    /// Writes files.
    DfsioWrite,
    /// Reads files that `DfsioWrite` wrote.
    DfsioRead,
    /// One of our own applications of Spark.
    Spark(Application),
    /// The main class of a jar, or the class that is its first argument.
    Jar(PathBuf),
}

/// An application of Spark that can be run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Application {
    /// Counts words, summed before they are shuffled.
    WordCount,
    /// Sorts lines.
    Sort,
    /// Joins words with a table of their categories, and counts these.
    Join,
    /// A query that counts the words of a table in Parquet, joined with one in CSV.
    Sql,
}

impl Application {
    /// The word for it as a job; behind the prefix it is the program's own.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::WordCount => "spark-wordcount",
            Self::Sort => "spark-sort",
            Self::Join => "spark-join",
            Self::Sql => "spark-sql",
        }
    }
}

/// The words for jobs.
pub const NAMES: [&str; 11] = [
    "wordcount",
    "wordcount-nocombine",
    "terasort",
    "grep",
    "pi",
    "dfsio-write",
    "dfsio-read",
    "spark-wordcount",
    "spark-sort",
    "spark-join",
    "spark-sql",
];

impl FromStr for Kind {
    type Err = String;
    fn from_str(word: &str) -> Result<Self, String> {
        Ok(match word {
            "wordcount" => Self::WordCount { combine: true },
            "wordcount-nocombine" => Self::WordCount { combine: false },
            "terasort" => Self::TeraSort,
            "grep" => Self::Grep,
            "pi" => Self::Pi,
            "dfsio-write" => Self::DfsioWrite,
            "dfsio-read" => Self::DfsioRead,
            "spark-wordcount" => Self::Spark(Application::WordCount),
            "spark-sort" => Self::Spark(Application::Sort),
            "spark-join" => Self::Spark(Application::Join),
            "spark-sql" => Self::Spark(Application::Sql),
            jar if Path::new(jar).extension().is_some_and(|ending| ending == "jar") => Self::Jar(jar.into()),
            _ => {
                let near =
                    units::nearest(word, NAMES).map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"));
                return Err(format!("`{word}` is no job{near}: there are {}, or a file NAME.jar", NAMES.join(", ")));
            }
        })
    }
}

/// The text that jobs over text read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Input {
    /// Lines of words.
    Lines,
    /// The same words, one on each line.
    Words,
    /// Those in a folder of HDFS, which was loaded.
    Placed(String),
}

/// A job as it is asked for.
#[derive(Clone, Debug)]
pub struct Job {
    /// What it does.
    pub kind: Kind,
    /// The text that it reads, if it reads text.
    pub text: Input,
    /// The size of its input; of what `DfsioWrite` writes.
    pub input: Bytes,
    /// Files of DFSIO, maps of pi.
    pub maps: u32,
    /// Reducers, partitions of Spark's shuffles; `None` for the cluster's default.
    pub reducers: Option<u32>,
    /// Properties of Hadoop or of Spark, `name=value`.
    pub properties: Vec<String>,
    /// A jar's arguments.
    pub arguments: Vec<String>,
    /// Whether its input and its output lie in the cluster's object store; else in HDFS.
    pub in_store: [bool; 2],
}

/// Where our inputs and outputs lie in HDFS; its name is that of the object store's bucket.
pub(super) const FOLDER: &str = "/trunkline";
/// The folders of jobs' inputs and outputs.
pub const FOLDERS: [&str; 2] = [FOLDER, "/benchmarks"];

impl Job {
    /// A short name, for folders.
    pub fn name(&self) -> String {
        match &self.kind {
            Kind::WordCount { combine: true } => "wordcount",
            Kind::WordCount { combine: false } => "wordcount-nocombine",
            Kind::TeraSort => "terasort",
            Kind::Grep => "grep",
            Kind::Pi => "pi",
            Kind::DfsioWrite => "dfsio-write",
            Kind::DfsioRead => "dfsio-read",
            Kind::Spark(application) => application.name(),
            Kind::Jar(jar) => {
                return jar.file_stem().map_or_else(|| "jar".to_owned(), |stem| stem.to_string_lossy().into_owned());
            }
        }
        .to_owned()
    }

    /// What is wrong with what is asked.
    pub fn check(&self) -> Result<(), HadoopError> {
        let wrong = |message: String| Err(HadoopError::Input(message));
        if let Kind::Jar(jar) = &self.kind
            && !jar.is_file()
        {
            return wrong(format!("there is no file {}", jar.display()));
        }
        if !matches!(self.kind, Kind::Jar(_)) && !self.arguments.is_empty() {
            return wrong(format!("{} takes no arguments: they are for a jar", self.name()));
        }
        if let Some(property) =
            self.properties.iter().find(|property| property.split_once('=').is_none_or(|p| p.0.is_empty()))
        {
            return wrong(format!("`{property}` is not a property: it is written like name=value"));
        }
        if self.in_store.contains(&true)
            && matches!(self.kind, Kind::DfsioWrite | Kind::DfsioRead | Kind::Spark(_) | Kind::Jar(_))
        {
            let message = "is not told of the object store of the scenario's job: wordcount, terasort and grep are, \
                and pi reads nothing";
            return wrong(format!("{} {message}", self.name()));
        }
        if self.in_store[0] && matches!(self.text, Input::Placed(_)) {
            return wrong("input in an object store is not laid out by key".to_owned());
        }
        let largest = Bytes::from_mib(64 << 10);
        if self.input == Bytes::ZERO || self.input > largest {
            return wrong(format!("an input of {} is not more than nothing and at most {largest}", self.input));
        }
        if !(1..=1_000).contains(&self.maps) {
            return wrong(format!("{} maps or files are not from 1 to 1000", self.maps));
        }
        Ok(())
    }

    /// Whether a cluster can run it: it has MapReduce, or Spark in its place.
    pub fn check_engine(&self, engine: Engine) -> Result<(), HadoopError> {
        let fits = match self.kind {
            Kind::Jar(_) => true,
            Kind::Spark(_) => engine != Engine::Yarn,
            _ => engine == Engine::Yarn,
        };
        if fits {
            return Ok(());
        }
        let without = "`trunkline testbed hadoop up` without Spark brings up one with MapReduce";
        let (has, bring) = match engine {
            Engine::Yarn => ("YARN and no Spark", "`trunkline testbed hadoop up --spark` brings up one with Spark"),
            Engine::Spark => ("Spark in place of YARN", without),
            Engine::SparkOnYarn => ("Spark on its YARN, in place of MapReduce", without),
        };
        Err(HadoopError::Input(format!("{} does not run on this cluster, which has {has}: {bring}", self.name())))
    }

    /// The folder of the text.
    pub fn text_path(&self) -> String {
        match &self.text {
            Input::Lines => format!("{FOLDER}/in/text-{}", self.input.get()),
            Input::Words => format!("{FOLDER}/in/words-{}", self.input.get()),
            Input::Placed(folder) => folder.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(kind: Kind) -> Job {
        Job {
            kind,
            text: Input::Lines,
            input: Bytes::from_mib(1),
            maps: 4,
            reducers: None,
            properties: Vec::new(),
            arguments: Vec::new(),
            in_store: [false; 2],
        }
    }

    #[test]
    fn words_name_jobs_and_others_are_told_what_is_near() {
        for name in NAMES {
            assert_eq!(job(name.parse().expect("a job")).name(), name);
        }
        assert_eq!("a/b.jar".parse(), Ok(Kind::Jar("a/b.jar".into())));
        let error = "wordcont".parse::<Kind>().expect_err("no job");
        assert!(error.contains("did you mean `wordcount`"), "{error}");
    }

    #[test]
    fn what_cannot_be_run_is_refused_before_anything_starts() {
        let refused = |job: &Job| job.check().expect_err("refused").to_string();
        assert!(refused(&job(Kind::Jar("absent.jar".into()))).contains("absent.jar"));
        assert!(refused(&Job { arguments: vec!["x".to_owned()], ..job(Kind::Pi) }).contains("takes no arguments"));
        assert!(refused(&Job { properties: vec!["x".to_owned()], ..job(Kind::Pi) }).contains("name=value"));
        assert!(refused(&Job { in_store: [true; 2], ..job(Kind::DfsioRead) }).contains("object store"));
        assert!(refused(&Job { input: Bytes::ZERO, ..job(Kind::Grep) }).contains("input"));
        assert!(refused(&Job { maps: 0, ..job(Kind::Pi) }).contains("from 1 to 1000"));
        let sort = || Kind::Spark(Application::Sort);
        assert!(refused(&Job { in_store: [false, true], ..job(sort()) }).contains("object store"));
        let elsewhere = |kind, engine| job(kind).check_engine(engine).map_err(|error| error.to_string());
        assert!(elsewhere(sort(), Engine::Yarn).expect_err("no Spark").contains("up --spark"));
        assert!(elsewhere(Kind::Pi, Engine::Spark).expect_err("no YARN").contains("Spark in place of YARN"));
        assert!(elsewhere(Kind::Pi, Engine::SparkOnYarn).expect_err("no MapReduce").contains("in place of MapReduce"));
        assert_eq!(elsewhere(sort(), Engine::Spark), Ok(()));
        assert_eq!(elsewhere(sort(), Engine::SparkOnYarn), Ok(()));
        assert_eq!(elsewhere(Kind::Jar("a.jar".into()), Engine::Spark), Ok(()));
    }
}
