//! The keys of a scenario, by which remedies are chosen and their values made.

use results::TaskKind;
use scenario::Scenario;
use scenario::problem::Problems;
use scenario::tree::{Inline, Tree, Value};

/// The keys of a resolved scenario.
#[derive(Clone, Debug)]
pub struct Keys {
    tree: Tree,
    slots: [u64; 2],
}

/// Maps and reduces that all workers together have room for at once.
fn slots(scenario: &Scenario) -> [u64; 2] {
    let config = sim::hadoop_config(scenario);
    let workers = u64::from(scenario.cluster.workers);
    [TaskKind::Map, TaskKind::Reduce].map(|kind| u64::from(config.places(kind)) * workers)
}

impl Keys {
    /// Of a scenario.
    pub fn of(scenario: &Scenario) -> Self {
        // What a scenario prints is a text that it reads.
        let tree = Tree::parse(&scenario.to_toml(), 0, &mut Problems::default());
        Self { tree, slots: slots(scenario) }
    }

    /// The paths that a path with `*` stands for.
    pub fn expand(&self, path: &str) -> Vec<String> {
        let Some((list, rest)) = path.split_once(".*") else { return vec![path.to_owned()] };
        let Some(Tree { value: Value::Array(items), .. }) = self.tree.get(list) else { return Vec::new() };
        (0..items.len()).flat_map(|i| self.expand(&format!("{list}.{i}{rest}"))).collect()
    }

    /// The value of a key as written, without quotes. `slots.map` and `slots.reduce` are the containers that run at
    /// once.
    pub fn get(&self, path: &str) -> Option<String> {
        match path {
            "slots.map" => return Some(self.slots[0].to_string()),
            "slots.reduce" => return Some(self.slots[1].to_string()),
            _ => {}
        }
        match &self.tree.get(path)?.value {
            Value::String(text) => Some(text.clone()),
            other => Some(Inline(other).to_string()),
        }
    }

    /// The values of a key; `*` stands for every entry of a list, and `None` for what is left out.
    pub fn all(&self, path: &str) -> Vec<Option<String>> {
        let paths = self.expand(path);
        if paths.is_empty() { vec![None] } else { paths.iter().map(|path| self.get(path)).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_that_run_at_once_are_counted() {
        let slots = |text: &str| {
            let keys = Keys::of(&Scenario::parse("s.toml", text, &[]).expect("valid"));
            ["slots.map", "slots.reduce"].map(|path| keys.get(path).expect("known"))
        };
        let yarn = "[cluster]\nworkers = 3\n[mapreduce]\nnode-memory = \"4 GiB\"\nmap-memory = \"1 GiB\"\n\
            reduce-memory = \"1536 MiB\"\n[job]\n";
        // Four maps fit into 4 GiB, and two reducers: containers are multiples of 1 GiB. Eight cores are enough.
        assert_eq!(slots(yarn), ["12", "6"]);
        let finer = yarn.replace("[job]", "minimum-allocation = \"768 MiB\"\n[job]");
        assert_eq!(slots(&finer), ["6", "6"], "both take 1,536 MiB");
        assert_eq!(slots(&yarn.replace("[job]", "node-vcores = 3\n[job]")), ["9", "6"]);
        let old = "[cluster]\nworkers = 5\ngeneration = \"hadoop1\"\n[mapreduce]\nmap-slots = 3\n[job]\n";
        assert_eq!(slots(old), ["15", "10"]);
    }

    #[test]
    fn a_star_stands_for_every_entry() {
        let text = "[[job]]\n[[job]]\n[network]\n";
        let keys = Keys::of(&Scenario::parse("s.toml", text, &[]).expect("valid"));
        assert_eq!(keys.expand("job.*.reducers"), ["job.0.reducers", "job.1.reducers"]);
        assert!(keys.expand("network.shape.*.rate").is_empty(), "there is none");
        assert_eq!(keys.expand("tcp.control"), ["tcp.control"]);
    }
}
