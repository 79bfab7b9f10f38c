//! A plan as `trunkline kat plan -o` keeps it, read again. `docs/reference/plan.md` has its fields.

use crate::hash::{Bucketing, Engine, Hash};
use crate::nodes::Node;
use crate::plan::{Part, Plan, SplitKey};
use crate::value::KeyType;
use serde_json::Value;

/// The version of a plan's text.
pub const PLAN_VERSION: u64 = 1;

impl Plan {
    /// A plan's first layout, and for whom it is.
    ///
    /// # Errors
    ///
    /// What of it is no plan's.
    pub fn of_json(value: &Value) -> Result<(Engine, Self), String> {
        let engine = Engine::ALL.into_iter().find(|engine| Some(engine.name()) == value["engine"].as_str());
        let engine = engine.ok_or("its engine is none")?;
        let hash = Hash::ALL.into_iter().find(|hash| Some(hash.name()) == value["hash"].as_str());
        let key_type = KeyType::ALL.into_iter().find(|of| Some(of.name()) == value["key_type"].as_str());
        let (Some(hash), Some(key_type)) = (hash, key_type) else {
            return Err("its hash or its key_type is none".to_owned());
        };
        let buckets = value["buckets"].as_array().map_or(0, Vec::len);
        let buckets = u32::try_from(buckets).ok().filter(|count| (1..=1_000_000).contains(count));
        let buckets = buckets.ok_or("it has no buckets, or more than a million")?;
        let bucketing = Bucketing::new(engine, Some(hash), key_type, buckets).map_err(|error| error.to_string())?;
        Ok((engine, Self::of_layout(value, bucketing)?))
    }

    /// A layout of a plan: its nodes, buckets and split keys.
    ///
    /// # Errors
    ///
    /// What of it is no plan's.
    pub fn of_layout(value: &Value, bucketing: Bucketing) -> Result<Self, String> {
        if value["trunkline_plan"].as_u64() != Some(PLAN_VERSION) {
            return Err(format!("its trunkline_plan is not {PLAN_VERSION}"));
        }
        let buckets = value["buckets"].as_array().ok_or("it has no buckets")?;
        let count = buckets.len() as u32;
        let nodes: Vec<Node> =
            serde_json::from_value(value["nodes"].clone()).map_err(|error| format!("its nodes: {error}"))?;
        if nodes.is_empty() || nodes.iter().any(|node| !(0.001..=1000.0).contains(&node.weight)) {
            return Err("it has no nodes, or one whose weight is none".to_owned());
        }
        let part = |value: &Value, bucket: u32, of_key: Option<(u32, u32)>| -> Result<Part, String> {
            let bytes = value["bytes"].as_u64().ok_or("a bucket has no bytes")?;
            let group = value["nodes"].as_array().ok_or("a bucket has no nodes")?;
            let group: Option<Vec<u32>> = group
                .iter()
                .map(|node| node.as_u64().filter(|node| *node < nodes.len() as u64).map(|node| node as u32))
                .collect();
            let group = group.filter(|group| !group.is_empty()).ok_or("a bucket is on a node that is none")?;
            Ok(Part { bucket, of_key, bytes, group })
        };
        let mut parts =
            (0..).zip(buckets).map(|(bucket, value)| part(value, bucket, None)).collect::<Result<Vec<_>, _>>()?;
        let mut split = Vec::new();
        for (number, value) in (0..).zip(value["split"].as_array().ok_or("it has no list of split keys")?) {
            let key = value["key"].as_str().and_then(unhex).ok_or("a split key has no key")?;
            let bucket = value["bucket"].as_u64().filter(|bucket| *bucket < u64::from(count));
            let bucket = bucket.ok_or("a split key is in no bucket")? as u32;
            let of_key = value["parts"].as_array().filter(|parts| !parts.is_empty());
            let of_key = of_key.ok_or("a split key has no parts")?;
            for (place, value) in (0..).zip(of_key) {
                parts.push(part(value, bucket, Some((number, place)))?);
            }
            let bytes = value["bytes"].as_u64().unwrap_or(0);
            split.push(SplitKey { key, bucket, bytes, parts: of_key.len() as u32 });
        }
        let replicas = value["replicas"].as_u64().unwrap_or(1).clamp(1, 16) as usize;
        Ok(Self::of_parts(bucketing.with_buckets(count), nodes, replicas, split, parts))
    }
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.is_ascii() {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}
