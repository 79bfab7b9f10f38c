//! Placement by key over files of records.

use crate::effort::{Asked as Wanted, watched};
use crate::errors::{input, raised};
use ::kat::{Asked, Jobs, Modified, Planned, one_of, plan};
use placement::{Engine, Hash, KeyRule, KeyType, Layout};
use pyo3::prelude::*;
use runs::{Error, Inputs, write_whole};
use sim::Progress;
use std::path::PathBuf;

/// What a plan has found.
#[pyclass(frozen, module = "trunkline._trunkline")]
pub struct Placement(Planned);

#[pymethods]
impl Placement {
    /// What `trunkline kat plan --json` prints.
    fn json(&self, py: Python<'_>) -> String {
        py.detach(|| self.0.json())
    }

    /// What `trunkline kat plan -o` writes.
    fn file(&self, py: Python<'_>) -> String {
        py.detach(|| self.0.file())
    }

    /// Writes that, whole or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| write_whole(&path, self.0.file().as_bytes())).map_err(|error| raised(py, &error))
    }
}

/// Plans the placement of files' records.
#[pyfunction]
pub fn place(
    py: Python<'_>,
    files: Vec<PathBuf>,
    nodes: String,
    key: Option<String>,
    key_type: Option<String>,
    engine: String,
    hash: Option<String>,
    buckets: Option<u32>,
    replicas: u32,
    sample: Option<f64>,
    layout: String,
    value: Option<u64>,
    combiner: bool,
    present: bool,
    second: Option<String>,
    second_type: Option<String>,
    second_copies: u32,
    modified: Option<u64>,
    redistribute_after: Option<u64>,
    rate: String,
    block: String,
    previous: Option<PathBuf>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Placement> {
    let rule = |what: &str, text: &Option<String>| -> Result<Option<KeyRule>, Error> {
        let rule = text.as_ref().map(|text| text.parse::<KeyRule>()).transpose();
        rule.map_err(|error| Error::Input(format!("{what}: {error}")))
    };
    let of_type = |what: &str, word: &Option<String>| {
        word.as_ref().map(|word| one_of(what, &KeyType::ALL, KeyType::name, word)).transpose()
    };
    let asked = || -> Result<Asked, Error> {
        let named = |what: &'static str| move |error: String| Error::Input(format!("{what}: {error}"));
        Ok(Asked {
            files,
            key: rule("key", &key)?,
            key_type: of_type("key_type", &key_type)?,
            engine: one_of("engine", &Engine::ALL, Engine::name, &engine)?,
            hash: hash.map(|word| one_of("hash", &Hash::ALL, Hash::name, &word)).transpose()?,
            nodes,
            buckets,
            replicas,
            sample: sample.map(|part| ::kat::part(&part.to_string())).transpose().map_err(named("sample"))?,
            layout: one_of("layout", &Layout::ALL, Layout::name, &layout)?,
            value,
            combiner,
            present,
            second: rule("second", &second)?,
            second_type: of_type("second_type", &second_type)?,
            second_copies,
            modified: modified.map(|records| Modified { records, after: redistribute_after }),
            rate: ::kat::rate(&rate).map_err(named("rate"))?,
            block: ::kat::block(&block).map_err(named("block"))?,
            previous,
        })
    };
    let asked = asked().map_err(|error| raised(py, &error))?;
    watched(py, &Wanted { threads: Some(1), progress }, |effort| {
        let tell = |read: u64, all: u64| {
            let done = if all > 0 { (read as f64 / all as f64).min(1.0) } else { 0.0 };
            (effort.progress)(0, &Progress { done, ..Progress::default() });
        };
        plan(asked, &Inputs::new(effort.stop), &tell).map(Placement)
    })
}

/// Which files of recorded jobs, laid out by key, would save which of their shuffles: what `trunkline kat plan
/// --history --json` prints.
#[pyfunction]
pub fn place_jobs(py: Python<'_>, histories: Vec<PathBuf>, nodes: String) -> PyResult<String> {
    if histories.is_empty() {
        return Err(input(py, "there is no history"));
    }
    watched(py, &Wanted { threads: Some(1), progress: None }, |effort| {
        Ok(Jobs::of(&histories, &nodes, &Inputs::new(effort.stop))?.json())
    })
}
