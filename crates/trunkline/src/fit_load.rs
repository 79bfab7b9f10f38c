//! What `trunkline fit` reads: histories, each with the cluster that it ran on.

use crate::failure::Failure;
use crate::interrupt::STOP;
use ::fit::{Hardware, Observation, Site, Unfit};
use runs::{Change, Error, Found, Inputs, Which};
use scenario::problem::Problems;
use scenario::tree::{Tree, Value};
use scenario::{Generation, Scenario};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};
use units::many;

/// Histories as observations.
pub struct Loaded {
    /// What can be fitted.
    pub runs: Vec<Observation>,
    /// What cannot, and why.
    pub left_out: Vec<(String, String)>,
    /// A scenario of the cluster.
    pub cluster: Scenario,
}

/// A run's description, where there is one beside its history.
struct About {
    tree: Tree,
}

impl About {
    /// `run.toml`, or `NAME.run.toml` beside `NAME.jhist.gz` and `NAME.1.jhist.gz`.
    fn beside(file: &Path, inputs: &Inputs<'_>) -> Result<Self, Failure> {
        let folder = file.parent().unwrap_or(Path::new("."));
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let stem = name.split(".jhist").next().unwrap_or(&name).to_owned();
        let first = stem.rsplit_once('.').map_or(stem.as_str(), |(first, _)| first).to_owned();
        let files = [format!("{stem}.run.toml"), format!("{first}.run.toml"), "run.toml".to_owned()];
        let Some(found) = files.iter().map(|name| folder.join(name)).find(|path| path.is_file()) else {
            return Ok(Self { tree: Tree::default() });
        };
        let text = inputs.text(&found)?;
        let mut problems = Problems::default();
        let tree = Tree::parse(&text, 0, &mut problems);
        match problems.0.first() {
            Some(problem) => Err(Failure::Input(format!("{}: {}", found.display(), problem.message))),
            None => Ok(Self { tree }),
        }
    }

    fn text(&self, key: &str) -> Option<String> {
        match &self.tree.get(key)?.value {
            Value::String(text) => Some(text.clone()),
            _ => None,
        }
    }

    /// A property of Hadoop's: its name is one key.
    fn property(&self, name: &str) -> Option<String> {
        let Value::Table(entries) = &self.tree.get("configuration")?.value else { return None };
        let entry = entries.iter().find(|entry| entry.key == name)?;
        match &entry.tree.value {
            Value::String(text) => Some(text.clone()),
            Value::Integer(integer) => Some(integer.to_string()),
            _ => None,
        }
    }
}

/// Jobs that were read, with their files: by identifier and submission.
pub type Seen = BTreeMap<(String, i64), PathBuf>;

/// Reads histories with their clusters. A job that was `seen` is left out: a copy of a run is no repetition of it.
/// So is one of a cluster of other machines than `like`, or than most have where there is none.
pub fn load(
    paths: &[PathBuf],
    cluster: Option<&Path>,
    like: Option<&Site>,
    seen: &mut Seen,
) -> Result<Loaded, Failure> {
    let inputs = Inputs::new(&STOP);
    let found = inputs.jobs(paths, Which::All)?;
    let mut known: BTreeMap<(PathBuf, Option<String>), Scenario> = BTreeMap::new();
    let (mut runs, mut left_out) = (Vec::new(), Vec::new());
    for Found { job, file, configuration, .. } in &found {
        STOP.look()?;
        let of_several = found.iter().filter(|other| other.file == *file).count() > 1;
        let named = if of_several { format!("{}, {}", file.display(), job.id) } else { file.display().to_string() };
        match seen.entry((job.id.clone(), job.submit_ms)) {
            Entry::Occupied(first) => {
                left_out.push((named, format!("it is the same job as {}", first.get().display())));
                continue;
            }
            Entry::Vacant(place) => {
                place.insert(file.clone());
            }
        }
        let about = About::beside(file, &inputs)?;
        let own = file.parent().unwrap_or(Path::new(".")).join("cluster.toml");
        let of = if own.is_file() { Some(own) } else { cluster.map(Path::to_owned) };
        let Some(of) = of else {
            return Err(Failure::Input(format!(
                "nothing says on which cluster {} ran: name a scenario with its machines and network as --cluster, or \
                 put it beside the history as cluster.toml",
                file.display()
            )));
        };
        let shaped = about.text("network_rate_per_worker").filter(|rate| rate.ends_with("bit/s"));
        let key = (of.clone(), shaped.clone());
        if !known.contains_key(&key) {
            let shape = shaped.map(|rate| format!("network.shape=[{{ rate = \"{rate}\" }}]"));
            let change = Change { assignments: shape.into_iter().collect(), seed: None };
            known.insert(key.clone(), inputs.scenario(&of, &change)?.0);
        }
        let Some(scenario) = known.get(&key) else { continue };
        let properties = configuration.as_ref().map(|(_, properties)| properties);
        let configured =
            |name: &str| properties.and_then(|properties| properties.get(name)).or_else(|| about.property(name));
        let run = about.text("name");
        let name = if job.name.is_empty() { job.id.clone() } else { job.name.clone() };
        let title = match &run {
            Some(run) if *run != name => format!("{run}: {name}"),
            _ => name,
        };
        let old = history::import::generation(job) == Generation::Hadoop1;
        if old != (scenario.cluster.generation == Generation::Hadoop1) {
            let names = |old: bool| if old { "Hadoop 1 (a JobTracker's)" } else { "YARN" };
            left_out.push((
                named,
                format!("the job is of {}, and the cluster that is described of {}", names(old), names(!old)),
            ));
            continue;
        }
        match Observation::of(&named, &title, job, Site::of(scenario), &configured) {
            Ok(run) => runs.push((run, key)),
            Err(why) => left_out.push((named, Unfit::to_string(&why))),
        }
    }
    let sites: Vec<&Site> = runs.iter().map(|(run, _): &(Observation, _)| &run.site).collect();
    if let Some(like) = like.cloned().or_else(|| usual(&sites)) {
        runs.retain(|(run, _)| {
            let is_like = run.site.is_like(&like);
            if !is_like {
                let (own, others) = (machines(&run.site), machines(&like));
                let why =
                    format!("its cluster has other machines ({own}) than the others ({others}): fit it by itself");
                left_out.push((run.name.clone(), why));
            }
            is_like
        });
    }
    let cluster = runs.first().and_then(|(_, key)| known.remove(key));
    let mut runs: Vec<Observation> = runs.into_iter().map(|(run, _)| run).collect();
    shorten(&mut runs);
    let Some(cluster) = cluster else {
        let (file, why) = left_out.first().cloned().unwrap_or_default();
        let others = left_out.len().saturating_sub(1);
        let others = if others > 0 { format!(" ({others} more are left out, too)") } else { String::new() };
        return Err(Error::Input(format!("no history is left: {file}: {why}{others}")).into());
    };
    Ok(Loaded { runs, left_out, cluster })
}

/// The site of which most others have the same kinds of machine; of several the first.
fn usual(sites: &[&Site]) -> Option<Site> {
    let alike = |site: &Site| sites.iter().filter(|other| site.is_like(other)).count();
    let most = sites.iter().map(|site| alike(site)).max()?;
    sites.iter().find(|site| alike(site) == most).map(|site| (*site).clone())
}

/// The workers' machines in words.
fn machines(site: &Site) -> String {
    let words = |kind: &Hardware| {
        let shared = kind.shared.map(|cores| format!(" of a machine with {cores}")).unwrap_or_default();
        let speed = if kind.speed == 1.0 { String::new() } else { format!(" of speed {}", kind.speed) };
        let [read, write] = kind.disk.map(|rate| rate / 1e6);
        let (cores, disks) = (many(kind.cores, "core"), many(kind.disks as u64, "disk"));
        format!("{cores}{shared}{speed}, {disks} of {read:.0} and {write:.0} MB/s")
    };
    site.hardware.iter().map(words).collect::<Vec<_>>().join("; ")
}

/// A run of one job needs not say the job's own name, which may have a version in it.
fn shorten(runs: &mut [Observation]) {
    let titles: Vec<String> = runs.iter().map(|run| run.job.clone()).collect();
    for run in runs.iter_mut() {
        let Some((first, _)) = run.job.split_once(": ") else { continue };
        let others = titles.iter().filter(|title| title.split(": ").next() == Some(first));
        if others.clone().all(|title| *title == run.job) {
            run.job = first.to_owned();
        }
    }
}
