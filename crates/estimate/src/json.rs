//! Estimates as JSON.

use crate::{JobEstimate, Span};
use serde_json::{Value, json};

/// What is estimated of a scenario's jobs, as `trunkline estimate --json` prints it. `simulated` has, for those jobs
/// that were simulated, the seconds of maps, of the shuffle after them, of reduces, and of all.
pub fn to_json(scenario: &str, jobs: &[JobEstimate], simulated: &[Option<[f64; 4]>]) -> String {
    let found = |job: usize| simulated.get(job).copied().flatten();
    let jobs: Vec<Value> = jobs.iter().enumerate().map(|(n, job)| of_job(job, found(n))).collect();
    let text = json!({ "schema": "trunkline-estimate/1", "name": scenario, "jobs": jobs });
    format!("{text:#}\n")
}

fn of_job(job: &JobEstimate, simulated: Option<[f64; 4]>) -> Value {
    let span = |span: Span| json!({ "least_s": span.least, "mean_s": span.mean, "most_s": span.most });
    json!({
        "name": job.name,
        "maps": span(job.maps),
        "shuffle": span(job.shuffle),
        "reduces": span(job.reduces),
        "total": span(job.total()),
        "mva_total_s": job.mva,
        "simulated": simulated.map(|[maps, shuffle, reduces, total]|
            json!({ "maps_s": maps, "shuffle_s": shuffle, "reduces_s": reduces, "total_s": total })),
    })
}
