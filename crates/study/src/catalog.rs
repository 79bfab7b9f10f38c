//! The studies embedded in the program, and reading a study.

use super::check;
use super::file::StudyFile;
use scenario::key::Key;
use scenario::problem::Problems;
use scenario::tree::Tree;
use scenario::{FileKind, ScenarioError, Source};

/// A folder of `studies/`: its name, and its files with `study.toml` first.
struct Folder {
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
}

macro_rules! folders {
    ($($name:literal: $($file:literal),+;)+) => {
        &[$( Folder {
            name: $name,
            files: &[$( ($file, include_str!(concat!("../../../studies/", $name, "/", $file))) ),+],
        } ),+]
    };
}

const FOLDERS: &[Folder] = folders! {
    "alsultani2018": "study.toml", "scenario.toml";
    "dctcp": "study.toml", "scenario.toml";
    "incast-barrier": "study.toml", "scenario.toml";
    "incast-wifi": "study.toml", "scenario.toml", "sessions.toml";
    "lee2014": "study.toml", "pair.toml", "aggregation.toml", "cluster.toml", "single.toml", "mobile.toml", "master.toml";
    "rista2017": "study.toml", "scenario.toml", "netpipe.toml", "failure.toml";
    "wang2014": "study.toml", "scenario.toml", "wan.toml", "shared.toml";
    "yang2012": "study.toml", "scenario.toml", "placement.toml", "energy.toml", "array.toml";
};

/// The names of the studies in the program.
pub fn names() -> Vec<&'static str> {
    FOLDERS.iter().map(|folder| folder.name).collect()
}

/// A study as read and checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Study {
    /// Its folder's name.
    pub name: String,
    /// What `study.toml` says.
    pub file: StudyFile,
    /// The texts of its folder by file name, `study.toml` first.
    pub texts: Vec<(String, String)>,
}

impl Study {
    /// A study of the program; none if it has no such one.
    pub fn embedded(name: &str) -> Option<Result<Self, ScenarioError>> {
        let folder = FOLDERS.iter().find(|folder| folder.name == name)?;
        let texts = folder.files.iter().map(|(file, text)| ((*file).to_owned(), (*text).to_owned()));
        Some(Self::read(name, texts.collect()))
    }

    /// Reads a study from the texts of its folder, `study.toml` first.
    pub fn read(name: &str, texts: Vec<(String, String)>) -> Result<Self, ScenarioError> {
        let text = texts.first().map(|(_, text)| text.clone()).unwrap_or_default();
        let mut problems = Problems::default();
        let tree = Tree::parse(&text, 0, &mut problems);
        FileKind::Study.expect(&tree, &mut problems);
        let file = if problems.is_empty() { StudyFile::read(&tree, None, &mut problems) } else { None };
        if let (Some(file), true) = (file, problems.is_empty()) {
            let study = Self { name: name.to_owned(), file, texts };
            check::check(&study, &tree, &mut problems);
            if problems.is_empty() {
                return Ok(study);
            }
        }
        problems.0.sort_by_key(|problem| problem.span.range.start);
        Err(ScenarioError { sources: vec![Source { name: format!("{name}/study.toml"), text }], problems: problems.0 })
    }

    /// Leaves only the figures of these ids; one that it does not have is an error that names those it has.
    pub fn keep_figures(&mut self, ids: &[String]) -> Result<(), String> {
        let known: Vec<&str> = self.file.figure.iter().map(|figure| figure.id.as_str()).collect();
        if let Some(id) = ids.iter().find(|id| !known.contains(&id.as_str())) {
            let near = units::nearest(id, known.iter().copied()).map(|near| format!("did you mean `{near}`? "));
            let (near, all) = (near.unwrap_or_default(), known.join(", "));
            return Err(format!("study {} has no figure `{id}`; {near}it has: {all}", self.name));
        }
        self.file.figure.retain(|figure| ids.contains(&figure.id));
        Ok(())
    }

    /// The text of a file of its folder.
    pub fn text(&self, file: &str) -> Option<&str> {
        self.texts.iter().find(|(name, _)| name == file).map(|(_, text)| text.as_str())
    }
}
