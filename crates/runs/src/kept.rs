//! Records of finished runs, which let a later call reuse them.

use crate::{Figures, Told};
use scenario::Scenario;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;

/// The record's file in the folder of each seed. It is written last, so the folder is complete if it exists.
pub(crate) const FILE: &str = "figures.json";
/// The version of that file; its number goes up when a field changes its meaning or goes away.
const SCHEMA: &str = "trunkline-seed/1";

/// A finished run: what it is of, and its figures.
#[derive(Serialize, Deserialize)]
struct Kept {
    schema: String,
    key: String,
    figures: Figures,
}

/// Names this build: the BLAKE3 hash of the sources of all that simulates, and of the versions of what they stand on.
/// Another build may give other numbers. The program and the Python package of the same sources are one build.
pub const fn build_id() -> &'static str {
    env!("TRUNKLINE_BUILD")
}

/// Names a run: the BLAKE3 hash of all that its results depend on.
pub(crate) fn key(build: &str, scenario: &Scenario, told: &Told<'_>) -> String {
    let mut hasher = blake3::Hasher::new();
    let recorded = told.recorded.map(|recorded| format!("{recorded:?}")).unwrap_or_default();
    let application = told.application.map(|of| format!("{:?}", of.recorded)).unwrap_or_default();
    for part in [build, &scenario.to_toml(), &recorded, &application, &told.changes.join("\n")] {
        // The length keeps two neighbours apart.
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

/// The record of a run as text, and its figures as parsed back from that text. So a call that reuses records has the
/// same numbers as one that was not interrupted.
pub(crate) fn text(key: &str, figures: Figures) -> (String, Figures) {
    let kept = Kept { schema: SCHEMA.to_owned(), key: key.to_owned(), figures };
    // Serialisation cannot fail: all map keys are texts, and infinities become null.
    let text = serde_json::to_string_pretty(&kept).unwrap_or_default();
    let figures = serde_json::from_str(&text).map_or(kept.figures, |back: Kept| back.figures);
    (text + "\n", figures)
}

/// The figures of a run of that key, if that folder has them.
pub(crate) fn read(folder: &Path, key: &str) -> Option<Figures> {
    let text = fs::read_to_string(folder.join(FILE)).ok()?;
    let kept: Kept = serde_json::from_str(&text).ok()?;
    (kept.schema == SCHEMA && kept.key == key).then_some(kept.figures)
}
