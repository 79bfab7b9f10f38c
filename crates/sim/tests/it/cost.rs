//! What runs cost, against sums by hand.

use results::{RunResult, to_json};
use std::ops::ControlFlow;

const JOB: &str = r#"
cluster = { workers = 3, generation = "hadoop1", master = { preset = "nexus7", price = 0.1 } }
node = { preset = "nexus7", speed = 1.0, price = 0.2, supply = 0.8 }
job = { workload = "wordcount", input = "8 MiB" }
"#;

const TWO_JOBS: &str = r#"
[[job]]
workload = "wordcount"
input = "8 MiB"
[[job]]
workload = "wordcount"
input = "4 MiB"
"#;

fn run(text: &str, sets: &[&str]) -> RunResult {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    let scenario = sim::parse("test", text, &sets).unwrap_or_else(|error| panic!("{error}"));
    sim::run(&scenario, &mut |_| ControlFlow::Continue(())).unwrap_or_else(|error| panic!("{error}"))
}

fn near(found: Option<f64>, expected: f64) {
    let found = found.expect("it is known");
    assert!((found - expected).abs() <= 1e-9 * expected, "{found}, not {expected}");
}

#[test]
fn nodes_are_paid_by_the_hour_of_the_job() {
    let result = run(JOB, &["run.fidelity=flow"]);
    let hours = (result.jobs[0].finish.unwrap() - result.jobs[0].submit).as_secs_f64() / 3600.0;
    let cost = result.cost.as_ref().unwrap();
    near(cost.nodes, 0.7 * hours);
    assert_eq!((cost.energy, cost.requests, cost.currency.as_str()), (None, None, "USD"));
    // An hour that has begun is paid, as clouds once had it.
    let by_hours = run(JOB, &["run.fidelity=flow", "cost.increment=1 h", "cost.currency=EUR"]).cost.unwrap();
    assert!((0.001..1.0).contains(&hours));
    near(by_hours.nodes, 0.7);
    assert_eq!(by_hours.currency, "EUR");
}

/// Of two jobs neither has the run for itself, and what is paid is the run.
#[test]
fn energy_is_paid_at_the_wall() {
    let set = ["run.fidelity=flow", "cost.energy=0.3"];
    let result = run(&JOB.replace("job = { workload = \"wordcount\", input = \"8 MiB\" }", TWO_JOBS), &set);
    let nodes = &result.energy.as_ref().unwrap().nodes;
    let joules = |node: &results::NodeEnergy| node.total().as_joules();
    // The master's own table has no supply: it is all of its power.
    let wall = joules(&nodes[0]) + nodes[1..].iter().map(joules).sum::<f64>() / 0.8;
    let cost = result.cost.as_ref().unwrap();
    near(cost.energy, wall / 3.6e6 * 0.3);
    near(cost.nodes, 0.7 * result.ended_at.as_secs_f64() / 3600.0);
    assert!((cost.total() - cost.energy.unwrap() - cost.nodes.unwrap()).abs() < 1e-12);
}

/// By S3's price list of 2024, us-east-1: 0.005 USD for 1,000 PUT, COPY, POST or LIST, 0.0004 for the rest, DELETE free.
#[test]
fn requests_are_paid_by_kind() {
    let text = r#"
        cluster = { workers = 4 }
        object-store = { s3a = { committer = "file-v2" } }
        cost = { store-writes = 0.005, store-reads = 0.0004 }
        job = { workload = "wordcount", input = "8 MiB", input-store = "object-store", output-store = "object-store" }
    "#;
    let result = run(text, &["run.fidelity=flow"]);
    let store = result.object_store.as_ref().unwrap();
    let count =
        |name: &str| store.requests.iter().find(|(known, _)| *known == name).map_or(0, |(_, count)| *count) as f64;
    let writes: f64 = ["put", "copy", "post", "list"].map(count).iter().sum();
    let reads: f64 = ["get", "head"].map(count).iter().sum();
    assert!(writes > 0.0 && reads > 0.0 && count("delete") > 0.0, "{:?}", store.requests);
    let cost = result.cost.as_ref().unwrap();
    near(cost.requests, writes * 5e-6 + reads * 4e-7);
    assert_eq!((cost.nodes, cost.energy), (None, None));
}

#[test]
fn without_prices_there_is_no_cost() {
    let result = run("job = { workload = \"wordcount\", input = \"8 MiB\" }", &["run.fidelity=flow"]);
    assert_eq!(result.cost, None);
    assert!(!to_json(&result).contains("\"cost\""));
}
