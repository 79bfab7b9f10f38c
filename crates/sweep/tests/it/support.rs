//! What the tests share: a folder, and plans of sweeps over a small scenario.

use runs::{Error, Stop};
use std::fs;
use std::path::{Path, PathBuf};
use sweep::{Changes, Plan, Sweep};

/// Eight flows through a small star: done in a moment.
pub const SMALL: &str = r#"
[cluster]
workers = 4
[[traffic]]
kind = "all-to-all"
from = "worker-1..worker-3"
to = "worker-2..worker-4"
bytes = "200 KB"
jitter = "1 ms"
[run]
until = "10 s"
"#;

pub static STOP: Stop = Stop::new();

/// A folder of its own for a test, gone at its end.
pub struct Scratch(pub PathBuf);

impl Scratch {
    /// With the small scenario in it, as `small.toml`.
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("trunkline-sweep-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a scratch folder");
        fs::write(path.join("small.toml"), SMALL).expect("written");
        Self(path)
    }

    pub fn plan(&self, text: &str) -> Result<Plan, String> {
        self.plan_with(text, &Changes::default())
    }

    pub fn plan_with(&self, text: &str, changes: &Changes) -> Result<Plan, String> {
        let text =
            if text.contains("scenario =") { text.to_owned() } else { format!("scenario = \"small.toml\"\n{text}") };
        let sweep = Sweep::read("s.toml", &text).map_err(|error| error.to_string())?;
        Plan::new(sweep, &self.0, changes, &STOP).map(|(plan, _)| plan).map_err(|error| match error {
            Error::Scenario(error) => error.to_string(),
            other => other.to_string(),
        })
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The names in a folder, sorted.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
