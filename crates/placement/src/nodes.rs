//! The nodes that a plan is for.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A node that keeps data and runs tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Its name, by which it is known again in a later plan.
    pub name: String,
    /// Its rack.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rack: String,
    /// How much it takes of the whole, relative to the others.
    pub weight: f64,
}

impl Node {
    /// A node of weight 1 in the rack without a name.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), rack: String::new(), weight: 1.0 }
    }
}

/// Nodes that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct NodesError(String);

/// The most nodes that a plan is for.
const MOST: usize = 10_000;

/// Nodes from a number (`8` stands for worker-1 to worker-8) or from names between commas or white space, each with an
/// optional rack and weight: `a@rack-1=2`.
///
/// # Errors
///
/// If there are none or too many, or if a name stands twice or a weight is none.
pub fn parse_nodes(text: &str) -> Result<Vec<Node>, NodesError> {
    let wrong = |message: String| Err(NodesError(message));
    if let Ok(count) = text.trim().parse::<usize>() {
        return match count {
            0 => wrong("a plan needs a node".to_owned()),
            1..=MOST => Ok((1..=count).map(|number| Node::named(format!("worker-{number}"))).collect()),
            _ => wrong(format!("{count} nodes: a plan is for at most {MOST}")),
        };
    }
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
    let words =
        lines.flat_map(|line| line.split(|c: char| c == ',' || c.is_whitespace())).filter(|word| !word.is_empty());
    let mut nodes: Vec<Node> = Vec::new();
    for word in words {
        let (rest, weight) = word.split_once('=').map_or((word, None), |(rest, weight)| (rest, Some(weight)));
        let (name, rack) = rest.split_once('@').unwrap_or((rest, ""));
        let weight = match weight.map(str::parse::<f64>) {
            None => 1.0,
            Some(Ok(weight)) if (0.001..=1000.0).contains(&weight) => weight,
            Some(_) => return wrong(format!("`{word}`: a weight is a number from 0.001 to 1000, as in {name}=2")),
        };
        if name.is_empty() {
            return wrong(format!("`{word}` has no name before its rack or weight"));
        }
        nodes.push(Node { name: name.to_owned(), rack: rack.to_owned(), weight });
    }
    let mut names: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
    names.sort_unstable();
    if let Some([twice, _]) = names.array_windows().find(|[first, second]| first == second) {
        return wrong(format!("node {twice} stands twice"));
    }
    match nodes.len() {
        0 => wrong("a plan needs a node".to_owned()),
        1..=MOST => Ok(nodes),
        count => wrong(format!("{count} nodes: a plan is for at most {MOST}")),
    }
}
