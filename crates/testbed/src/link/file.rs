//! Paths described by a file.

use super::{LinkError, Path, Shape, check};
use serde::Deserialize;
use std::path::Path as FilePath;
use units::Time;

/// Paths side by side.
#[derive(Clone, PartialEq, Debug)]
pub struct Paths {
    /// The paths, in the order of the file.
    pub paths: Vec<Path>,
    /// The seed of all random draws.
    pub seed: u64,
}

/// Files built into the program: name, text.
const BUILT_IN: [(&str, &str); 6] = [
    ("local", include_str!("../../links/local.toml")),
    ("metro", include_str!("../../links/metro.toml")),
    ("continental", include_str!("../../links/continental.toml")),
    ("cambridge-beijing", include_str!("../../links/cambridge-beijing.toml")),
    ("satellite", include_str!("../../links/satellite.toml")),
    ("three", include_str!("../../links/three.toml")),
];

impl Paths {
    /// Names of the built-in files.
    pub fn built_in_names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.into_iter().map(|(name, _)| name)
    }

    /// Reads built-in paths by name, or else a file.
    pub fn read(name: &FilePath) -> Result<Self, LinkError> {
        if let Some((name, text)) = BUILT_IN.into_iter().find(|(known, _)| FilePath::new(known) == name) {
            return Self::parse(name, text, FilePath::new(""));
        }
        let text = std::fs::read_to_string(name).map_err(|error| {
            let names: Vec<_> = Self::built_in_names().collect();
            LinkError::Input(format!(
                "cannot read {}: {error} (and it is none of {})",
                name.display(),
                names.join(", ")
            ))
        })?;
        Self::parse(&name.display().to_string(), &text, name.parent().unwrap_or(FilePath::new("")))
    }

    /// Reads a file's text. Traces are looked up in `folder`.
    pub fn parse(name: &str, text: &str, folder: &FilePath) -> Result<Self, LinkError> {
        let file: File = toml::from_str(text)
            .map_err(|error| LinkError::Input(format!("{name}: {}", error.to_string().trim_end())))?;
        let paths = file.path.iter().map(|path| path.resolve(folder)).collect::<Result<Vec<_>, _>>();
        let paths = paths.map_err(|error| LinkError::Input(format!("{name}: {error}")))?;
        check(&paths).map_err(|error| LinkError::Input(format!("{name}: {error}")))?;
        Ok(Self { paths, seed: file.seed.unwrap_or(1) })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    seed: Option<u64>,
    #[serde(default)]
    path: Vec<PathEntry>,
}

/// A path: settings for both ways, and for each way.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct PathEntry {
    name: String,
    #[serde(default)]
    both: Shape,
    #[serde(default)]
    forth: Shape,
    #[serde(default)]
    back: Shape,
}

impl PathEntry {
    fn resolve(&self, folder: &FilePath) -> Result<Path, LinkError> {
        let mut path = Path::new(&self.name, None, Time::ZERO);
        for (direction, own) in [(&mut path.forth, &self.forth), (&mut path.back, &self.back)] {
            self.both.apply(direction, folder).and_then(|()| own.apply(direction, folder)).map_err(
                |error| match error {
                    LinkError::Input(what) => LinkError::Input(format!("path {}: {what}", self.name)),
                    other => other,
                },
            )?;
        }
        Ok(path)
    }
}
