//! A plan as a file: which nodes keep which bucket.

use crate::asked::Asked;
use crate::plan::Planned;
use placement::{Bucketing, Engine, KeyRule, Layout, PLAN_VERSION, Plan};
use runs::Error;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

/// The plan's text: all layouts. Bytes are those of what was read.
pub fn text(found: &Planned) -> String {
    let asked = &found.asked;
    let bytes = [found.scanned.bytes, found.profile.bytes];
    let mut value = first(&found.placed.plan, &found.rule, asked.engine, (asked.layout, asked.value), bytes);
    if let Some(second) = &found.second {
        value["second"] = layout(&second.planned.plan, &second.rule, (asked.layout, asked.value));
    }
    format!("{value}\n")
}

/// A plan's first layout, and for whom it is: of so many bytes, and of those so many that were read.
fn first(
    plan: &Plan,
    rule: &KeyRule,
    engine: Engine,
    content: (Layout, Option<u64>),
    [bytes, bytes_read]: [u64; 2],
) -> Value {
    let mut value = layout(plan, rule, content);
    value["trunkline_plan"] = PLAN_VERSION.into();
    value["engine"] = engine.name().into();
    value["bytes"] = bytes.into();
    value["bytes_read"] = bytes_read.into();
    value["nodes"] = json!(plan.nodes());
    value
}

/// What a file of the data is like: its key, and the nodes of each bucket and of each part of a split key.
fn layout(plan: &Plan, rule: &KeyRule, (content, value): (Layout, Option<u64>)) -> Value {
    let bucketing = plan.bucketing();
    let buckets = plan.parts().iter().filter(|part| part.of_key.is_none());
    let parts_of = |number: u32| {
        let parts = plan.parts().iter().filter(move |part| matches!(part.of_key, Some((key, _)) if key == number));
        parts.map(|part| json!({ "bytes": part.bytes, "nodes": part.group })).collect::<Vec<_>>()
    };
    let split = plan.split().iter().zip(0..).map(|(key, number)| {
        json!({ "key": hex(&key.key), "text": String::from_utf8_lossy(&key.key), "bucket": key.bucket,
                "bytes": key.bytes, "parts": parts_of(number) })
    });
    json!({
        "key": rule.to_string(),
        "key_type": bucketing.key_type().name(),
        "hash": bucketing.hash().name(),
        "replicas": plan.replicas(),
        "layout": content.name(),
        "value": value,
        "buckets": buckets.map(|part| json!({ "bytes": part.bytes, "nodes": part.group })).collect::<Vec<_>>(),
        "split": split.collect::<Vec<_>>(),
    })
}

/// A plan as it was kept, with the question that it answers.
#[derive(Debug)]
pub struct Kept {
    /// How keys are found.
    pub rule: KeyRule,
    /// Who runs the job.
    pub engine: Engine,
    /// What is laid out.
    pub layout: Layout,
    /// Bytes of the value that stands with each key; `None` is the whole record.
    pub value: Option<u64>,
    /// Which node keeps which records.
    pub plan: Plan,
}

impl Kept {
    /// Its text, of a plan whose records were all read.
    pub fn text(&self) -> String {
        let bytes = self.plan.loads().iter().sum();
        format!("{}\n", first(&self.plan, &self.rule, self.engine, (self.layout, self.value), [bytes; 2]))
    }
}

/// Reads a plan with the question that it answers.
pub fn open(path: &Path, text: &str) -> Result<Kept, Error> {
    let name = path.display().to_string();
    let wrong = |what: &str| wrong(&name, what);
    let value: Value = serde_json::from_str(text).map_err(|error| wrong(&error.to_string()))?;
    let word = |key: &str| value[key].as_str().ok_or_else(|| wrong(&format!("it has no {key}")));
    let rule = word("key")?.parse::<KeyRule>().map_err(|error| wrong(&format!("its key: {error}")))?;
    let (engine, plan) = Plan::of_json(&value).map_err(|what| wrong(&what))?;
    let layout = Layout::ALL.into_iter().find(|layout| Some(layout.name()) == value["layout"].as_str());
    let layout = layout.ok_or_else(|| wrong("its layout is none"))?;
    Ok(Kept { rule, engine, layout, value: value["value"].as_u64(), plan })
}

/// An earlier plan.
pub struct Previous {
    name: String,
    value: Value,
}

impl Previous {
    /// Reads its file.
    pub fn open(path: &Path, text: &str) -> Result<Self, Error> {
        let name = path.display().to_string();
        let value = serde_json::from_str(text).map_err(|error| wrong(&name, &error.to_string()))?;
        Ok(Self { name, value })
    }

    /// Its layout, made of the same question as now: hash, type, layout and number of buckets.
    pub fn first(&self, bucketing: Bucketing, copies: u32, asked: &Asked) -> Result<Plan, Error> {
        self.asked(&self.value, bucketing, asked)?;
        let before = self.value["replicas"].as_u64().unwrap_or(1);
        if before != u64::from(copies) {
            let (name, second) = (&self.name, if asked.second.is_some() { " beside its second file" } else { "" });
            return Err(Error::Input(format!("{name} keeps {before} copies of each record, not {copies}{second}")));
        }
        parts(Path::new(&self.name), &self.value, bucketing)
    }

    /// Its second layout, if it has one.
    pub fn second(&self, rule: &KeyRule, bucketing: Bucketing, asked: &Asked) -> Result<Option<Plan>, Error> {
        let Some(second) = self.value.get("second").filter(|second| second.is_object()) else { return Ok(None) };
        if second["key"].as_str() != Some(&rule.to_string()) {
            let before = second["key"].as_str().unwrap_or_default();
            return Err(Error::Input(format!(
                "{} has a second file by {before}, not by {rule}: without --previous it is placed anew",
                self.name
            )));
        }
        self.asked(second, bucketing, asked)?;
        let mut value = second.clone();
        for shared in ["trunkline_plan", "nodes"] {
            value[shared] = self.value[shared].clone();
        }
        parts(Path::new(&self.name), &value, bucketing).map(Some)
    }

    fn asked(&self, layout: &Value, bucketing: Bucketing, asked: &Asked) -> Result<(), Error> {
        let name = &self.name;
        let before = |key: &str| layout[key].as_str().unwrap_or_default().to_owned();
        let questions = [
            ("hash", before("hash"), bucketing.hash().name()),
            ("type", before("key_type"), bucketing.key_type().name()),
            ("layout", before("layout"), asked.layout.name()),
        ];
        if self.value["trunkline_plan"].as_u64() != Some(PLAN_VERSION) {
            return Err(wrong(name, &format!("its trunkline_plan is not {PLAN_VERSION}")));
        }
        let count = layout["buckets"].as_array().ok_or_else(|| wrong(name, "it has no buckets"))?.len();
        if let Some((what, before, now)) = questions.iter().find(|(_, before, now)| before != now) {
            return Err(Error::Input(format!("{name} is a plan by {what} {before}, not by {now}")));
        }
        if !asked.combiner && layout["split"].as_array().is_some_and(|split| !split.is_empty()) {
            let why = "which suits a job that merges partial results: --combiner, or a new plan";
            return Err(Error::Input(format!("{name} splits keys, {why}")));
        }
        if asked.buckets.is_some_and(|buckets| buckets as usize != count) {
            let why = "buckets stay as many when nodes come or go";
            return Err(Error::Input(format!("{name} has {count} buckets; {why}")));
        }
        Ok(())
    }
}

fn wrong(name: &str, what: &str) -> Error {
    Error::Input(format!("{name} is no plan of `trunkline kat plan`: {what}"))
}

/// The plan itself.
fn parts(path: &Path, value: &Value, bucketing: Bucketing) -> Result<Plan, Error> {
    Plan::of_layout(value, bucketing).map_err(|what| wrong(&path.display().to_string(), &what))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
