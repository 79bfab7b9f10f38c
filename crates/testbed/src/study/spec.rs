//! A study described by its file.

use super::cell::{Buffers, Cell, Only, Way};
use super::tool::Tool;
use crate::link::{LinkError, Path, Paths, Share};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::Path as FilePath;
use std::str::FromStr;
use std::sync::Arc;
use units::{BitRate, Bytes, Time};

/// A study: programs, paths, and the ways to measure them.
#[derive(Clone, Debug)]
pub struct Study {
    /// The name: that of its folder.
    pub name: String,
    /// The title of the study.
    pub title: String,
    /// A cell is late if the emulator sent more than this fraction of its frames late.
    pub late: f64,
    /// What no program is to fall below through `jet`, as a share of what it has by itself.
    pub floor: Option<f64>,
    cells: Vec<Cell>,
    quick: Vec<Cell>,
}

/// A program of a study.
#[derive(Clone, PartialEq, Debug)]
pub struct Program {
    /// The program's name in the study.
    pub name: String,
    /// The tool that runs.
    pub tool: Tool,
    /// Payload, in bytes; of a benchmark, that of an answer.
    pub size: Bytes,
    /// Time after the first twelve RTTs at which a benchmark ends and a download is cut off; `None` runs the program to
    /// its end.
    pub time: Option<Time>,
    /// Time limit after which the program is ended in any case.
    pub limit: Time,
    /// The row of the published table that it reproduces, and the speedup published there.
    pub published: Option<(String, f64)>,
}

impl Program {
    /// When the program is cut off after the first twelve RTTs, if it is.
    pub(super) fn cut(&self) -> Option<Time> {
        self.time.filter(|_| !self.tool.is_benchmark())
    }
}

const BUILT_IN: [(&str, &str); 3] = [
    ("jet-grid", include_str!("../../../../studies/jet-grid/testbed.toml")),
    ("jet-programs", include_str!("../../../../studies/jet-programs/testbed.toml")),
    ("jet-strangers", include_str!("../../../../studies/jet-strangers/testbed.toml")),
];

impl Study {
    /// Names of the built-in studies.
    pub fn built_in_names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.into_iter().map(|(name, _)| name)
    }

    /// A built-in study by name, or a study from a folder with a `testbed.toml`.
    pub fn read(name: &str) -> Result<Self, LinkError> {
        if let Some((name, text)) = BUILT_IN.into_iter().find(|(known, _)| *known == name) {
            return Self::parse(name, text);
        }
        let folder = FilePath::new(name);
        let file = folder.join("testbed.toml");
        let text = std::fs::read_to_string(&file).map_err(|error| {
            let known: Vec<_> = Self::built_in_names().collect();
            let near = units::nearest(name, known.iter().copied())
                .map_or_else(String::new, |near| format!("did you mean `{near}`? "));
            let why = if error.kind() == std::io::ErrorKind::NotFound {
                format!("there is no study `{name}`, and no folder of that name with a testbed.toml")
            } else {
                format!("cannot read {}: {error}", file.display())
            };
            LinkError::Input(format!("{why}; {near}there are: {}", known.join(", ")))
        })?;
        let name = folder.file_name().map_or_else(|| "study".to_owned(), |name| name.to_string_lossy().into_owned());
        Self::parse(&name, &text)
    }

    /// Reads a file's text.
    pub fn parse(name: &str, text: &str) -> Result<Self, LinkError> {
        let wrong = |what: String| LinkError::Input(format!("{name}: {what}"));
        let file: File = toml::from_str(text).map_err(|error| wrong(error.to_string().trim_end().to_owned()))?;
        let cells = file.cells(None).map_err(wrong)?;
        let quick = match &file.quick {
            None => cells.clone(),
            Some(quick) => {
                let only: Result<Vec<Only>, String> = quick.only.iter().map(|text| text.parse()).collect();
                only.and_then(|only| Only::choose(&only, file.cells(Some(quick))?)).map_err(wrong)?
            }
        };
        let floor = file.floor.as_deref().map(|text| parsed::<Share>("floor", text).map(|share| share.0));
        let floor = floor.transpose().map_err(wrong)?;
        let late = file.late.as_deref().map_or(Ok(0.001), |text| text.parse::<Share>().map(|share| share.0));
        Ok(Self { name: name.to_owned(), title: file.title, late: late.map_err(wrong)?, floor, cells, quick })
    }

    /// The cells to measure. The quick form has just enough to see that everything works.
    pub fn cells(&self, quick: bool) -> &[Cell] {
        if quick { &self.quick } else { &self.cells }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    title: String,
    #[serde(default)]
    paths: Vec<String>,
    grid: Option<Grid>,
    buffers: Vec<String>,
    controls: Vec<String>,
    late: Option<String>,
    floor: Option<String>,
    program: Vec<ProgramEntry>,
    quick: Option<Quick>,
}

/// A path for each combination of these.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Grid {
    rate: String,
    round_trips: Vec<String>,
    losses: Vec<String>,
    seed: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct ProgramEntry {
    name: String,
    tool: Tool,
    size: Option<String>,
    time: Option<String>,
    limit: Option<String>,
    /// The only paths on which it is measured.
    #[serde(default)]
    paths: Vec<String>,
    ways: Vec<Way>,
    /// Ways that are measured only under the first congestion control.
    #[serde(default)]
    once: Vec<Way>,
    row: Option<String>,
    speedup: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Quick {
    #[serde(default)]
    only: Vec<String>,
    size: Option<String>,
    time: Option<String>,
    limit: Option<String>,
}

/// Socket buffers of the way `bbr`: they fill 1 Gbit/s at an RTT of 539 ms.
const TUNED: Bytes = Bytes::from_mib(64);
/// Default time limit of a program.
const LIMIT: Time = Time::from_secs(900);
/// Largest payload.
const MOST: Bytes = Bytes::from_mb(20_000);
/// Largest answer of a benchmark.
const MOST_ANSWERED: Bytes = Bytes::from_mb(16);

fn parsed<T: FromStr<Err: std::fmt::Display>>(what: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|error| format!("{what}: {error}"))
}

impl File {
    fn paths(&self) -> Result<Vec<(Path, u64)>, String> {
        let mut paths = Vec::new();
        for name in &self.paths {
            let read = Paths::read(FilePath::new(name)).map_err(|error| error.to_string())?;
            paths.extend(read.paths.into_iter().map(|path| (path, read.seed)));
        }
        if let Some(grid) = &self.grid {
            let rate: BitRate = parsed("grid.rate", &grid.rate)?;
            for round_trip in &grid.round_trips {
                let time: Time = parsed("grid.round-trips", round_trip)?;
                for loss in &grid.losses {
                    let share: Share = parsed("grid.losses", loss)?;
                    // The path's name becomes an interface's, of at most fifteen characters.
                    let part = |text: &str| text.replace([' ', '%'], "").replace('.', "-");
                    let name = format!("r{}-l{}", part(round_trip), part(loss));
                    paths.push((Path::new(&name, rate, time).with_loss(share.0), grid.seed.unwrap_or(1)));
                }
            }
        }
        for (path, _) in &paths {
            path.check().map_err(|error| error.to_string())?;
        }
        Ok(paths)
    }

    fn cells(&self, quick: Option<&Quick>) -> Result<Vec<Cell>, String> {
        let paths = self.paths()?;
        let buffers: Vec<Buffers> =
            self.buffers.iter().map(|text| parsed("buffers", text)).collect::<Result<_, _>>()?;
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        for name in self.controls.iter().chain(self.program.iter().map(|program| &program.name)) {
            if name.is_empty() || !name.chars().all(plain) {
                return Err(format!("`{name}` cannot be a name here: letters, digits, - and _ can"));
            }
        }
        for (what, none) in [
            ("path: name some in paths, or give a grid", paths.is_empty()),
            ("buffers", buffers.is_empty()),
            ("congestion control in controls", self.controls.is_empty()),
            ("[[program]]", self.program.is_empty()),
        ] {
            if none {
                return Err(format!("there is no {what}"));
            }
        }
        let programs = self
            .program
            .iter()
            .map(|entry| Ok((entry, Arc::new(entry.program(quick)?))))
            .collect::<Result<Vec<_>, String>>()?;
        let (mut cells, mut seen) = (Vec::new(), BTreeSet::new());
        for (entry, _) in &programs {
            if let Some(unknown) = entry.paths.iter().find(|name| paths.iter().all(|(path, _)| path.name != **name)) {
                return Err(format!("program {}: there is no path {unknown}", entry.name));
            }
        }
        for (path, seed) in &paths {
            let on_path = |entry: &ProgramEntry| entry.paths.is_empty() || entry.paths.contains(&path.name);
            for (entry, program) in programs.iter().filter(|(entry, _)| on_path(entry)) {
                for buffers in &buffers {
                    for (index, control) in self.controls.iter().enumerate() {
                        for way in &entry.ways {
                            let once = entry.once.contains(way) && index > 0;
                            let (buffers, control) = match way {
                                Way::Bbr => (Buffers::Limited(TUNED), "bbr"),
                                Way::Local => (Buffers::Default, self.controls[0].as_str()),
                                _ => (*buffers, control.as_str()),
                            };
                            let cell = Cell {
                                path: path.clone(),
                                seed: *seed,
                                program: Arc::clone(program),
                                way: *way,
                                buffers,
                                control: control.to_owned(),
                            };
                            if !once && seen.insert(cell.id()) {
                                cells.push(cell);
                            }
                        }
                    }
                }
            }
        }
        Ok(cells)
    }
}

impl ProgramEntry {
    fn program(&self, quick: Option<&Quick>) -> Result<Program, String> {
        let wrong = |what: String| format!("program {}: {what}", self.name);
        let benchmark = self.tool.is_benchmark();
        let of = |short: fn(&Quick) -> &Option<String>, own: &Option<String>| {
            quick.and_then(|quick| short(quick).clone()).filter(|_| own.is_some()).or_else(|| own.clone())
        };
        // The size of answers is what a benchmark is about: it has no short form.
        let size = if benchmark { self.size.clone() } else { of(|quick| &quick.size, &self.size) };
        let time: Option<Time> =
            of(|quick| &quick.time, &self.time).map(|text| parsed("time", &text)).transpose().map_err(wrong)?;
        let size: Option<Bytes> = size.map(|text| parsed("size", &text)).transpose().map_err(wrong)?;
        let limit = quick.and_then(|quick| quick.limit.clone()).or_else(|| self.limit.clone());
        let limit = limit.map_or(Ok(LIMIT), |text| parsed("limit", &text)).map_err(wrong)?;
        let size = match (size, time) {
            (_, None) if benchmark => return Err(wrong("a benchmark has a time".to_owned())),
            (Some(size), _) if self.tool.answers() && (Bytes::new(1)..=MOST_ANSWERED).contains(&size) => size,
            (Some(size), _) if self.tool.answers() => {
                return Err(wrong(format!("an answer of {size} cannot be: 1 B to {MOST_ANSWERED}")));
            }
            (None, _) if self.tool.answers() => return Err(wrong("its answers have a size".to_owned())),
            (Some(_), _) if benchmark => return Err(wrong("this benchmark has no size".to_owned())),
            (None, Some(_)) if benchmark => Bytes::ZERO,
            (Some(size), None) if (Bytes::new(64_000)..=MOST).contains(&size) => size,
            (Some(size), None) => return Err(wrong(format!("a size of {size} cannot be: 64 KB to {MOST}"))),
            // The cell decides how long the file must be.
            (None, Some(_)) if matches!(self.tool, Tool::Curl | Tool::Wget) => Bytes::ZERO,
            (None, Some(_)) => return Err(wrong("only downloads by curl and wget are cut off by time".to_owned())),
            _ => return Err(wrong("it has either a size, and runs to its end, or a time".to_owned())),
        };
        let files = |way: &&Way| matches!(way, Way::Aria2 | Way::Lftp);
        if let Some(way) = self.ways.iter().find(files).filter(|_| !matches!(self.tool, Tool::Curl | Tool::Wget)) {
            return Err(wrong(format!("{} stands in for downloads by curl and wget alone", way.name())));
        }
        if self.ways.contains(&Way::Local) && !self.tool.works_on_files() {
            return Err(wrong("local is for what works on files: vi-open, vi-save and soffice".to_owned()));
        }
        if self.ways.is_empty() {
            return Err(wrong("it has no ways".to_owned()));
        }
        if let Some(way) = self.once.iter().find(|way| !self.ways.contains(way)) {
            return Err(wrong(format!("{} stands in once, and not in ways", way.name())));
        }
        let published = match (&self.row, self.speedup) {
            (Some(row), Some(speedup)) if speedup > 1.0 => Some((row.clone(), speedup)),
            (None, None) => None,
            _ => return Err(wrong("a row of the published table has a speedup above 1".to_owned())),
        };
        Ok(Program { name: self.name.clone(), tool: self.tool, size, time, limit, published })
    }
}
