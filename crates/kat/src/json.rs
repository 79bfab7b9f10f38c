//! What a plan has found, as JSON.

use crate::import_cost;
use crate::plan::Planned;
use crate::second::SecondFile;
use crate::verdict::Verdict;
use serde_json::{Value, json};

/// One object, with fields of the same meaning whatever was found.
pub fn text(found: &Planned) -> String {
    let (profile, plan, saving) = (&found.profile, &found.placed.plan, &found.saving);
    let (pays, why) = match &found.verdict {
        Verdict::Pays(_) => (true, Value::Null),
        Verdict::No(why) => (false, json!(why)),
    };
    let split = plan.split().iter().map(|key| {
        json!({ "key": String::from_utf8_lossy(&key.key), "bucket": key.bucket,
                "bytes": (key.bytes as f64 * found.factor) as u64, "parts": key.parts })
    });
    let pairs = found.pairs.as_ref().map(|pairs| {
        json!({ "native": pairs.native, "first_key": pairs.first, "rarest_key": pairs.rarest, "split": pairs.split })
    });
    let per_record = profile.per_record.counts();
    let per_record = per_record.map(|(least, most, records)| json!({ "keys": [least, most], "records": records }));
    let modified = found.modified().map(|modified| {
        json!({ "records": modified.records, "remote_bytes": modified.exchanged as u64, "due_after": modified.due_after,
                "redistribute": modified.is_due, "redistribute_bytes": modified.moved as u64 })
    });
    let [native, placed] = found.scan_bytes();
    let mut value = json!({
        "schema": 1,
        "files": found.asked.files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>(),
        "format": found.format.to_string(),
        "bytes": found.scanned.bytes,
        "bytes_read": profile.bytes,
        "records_read": profile.records,
        "records_without_key": profile.unkeyed,
        "key": found.rule.to_string(),
        "key_type": plan.bucketing().key_type().name(),
        "engine": found.asked.engine.name(),
        "hash": plan.bucketing().hash().name(),
        "buckets": plan.bucketing().buckets(),
        "nodes": plan.nodes().len(),
        "replicas": plan.replicas(),
        "layout": found.asked.layout.name(),
        "keys_distinct_read": profile.distinct().round() as u64,
        "keys_per_record": profile.keys_per_record(),
        "keys_per_record_most": profile.most_keys,
        "exchange_bytes": (profile.exchange as f64 * found.factor) as u64,
        "remote_bytes_native": saving.native as u64,
        "remote_bytes_by_key": saving.placed as u64,
        "saved_bytes": saving.saved() as i64,
        "saved_share": saving.share(),
        "import_bytes": saving.import as u64,
        "stored_bytes": (profile.stored as f64 * found.factor) as u64,
        "remote_scan_bytes_native": native as u64,
        "remote_scan_bytes_by_key": placed as u64,
        "import": import_cost::json(found),
        "second": found.second.as_ref().map(SecondFile::json),
        "runs_to_break_even": saving.runs,
        "pays": pays,
        "why_not": why,
        "imbalance_by_hash": found.by_hash,
        "imbalance": found.placed.imbalance,
        "moved_bytes": found.asked.previous.as_ref().map(|_| (found.placed.moved as f64 * found.factor) as u64),
        "pairs_read": pairs,
        "split_keys": split.collect::<Vec<_>>(),
    });
    value["keys_per_record_read"] = per_record.collect();
    value["combiner"] = found.asked.combiner.into();
    value["modified"] = json!(modified);
    value["warning"] = json!(found.uneven.as_ref().map(|uneven| &uneven.why));
    value["pays_if_maps_above_bytes_per_s"] = json!(found.uneven.as_ref().and_then(|uneven| uneven.maps_above));
    format!("{value:#}\n")
}
