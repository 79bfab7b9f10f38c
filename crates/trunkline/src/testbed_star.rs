//! `trunkline testbed link star`: a program among the hosts of a star of links.

use crate::failure::Failure;
use crate::testbed::{code, may_be_rootless, rootless, wait};
use crate::testbed_args::StarRun;
use crate::testbed_hadoop::{links, scenario};
use serde_json::{Value, json};
use std::fs;
use std::process::Command;
use testbed::hadoop::{BASE, Machine};
use testbed::link::{LinkError, Star, StarSettings, lacking};

/// Makes the star, runs the program at one of its hosts, and takes everything down.
pub fn run(args: &StarRun) -> Result<(), Failure> {
    let machine = Machine::look()?;
    let scenario = scenario(&args.star, BASE, &machine)?;
    if !scenario.faults.is_empty() && !args.quiet {
        eprintln!("the scenario's faults are left out: their times count from a job's submission, and there is none");
    }
    let (spokes, links) = links(&scenario, args.star.links)?;
    if let Some(lack) = lacking(links) {
        return Err(lack.into());
    }
    let Some(at) = spokes.iter().position(|spoke| spoke.name() == args.at) else {
        let names: Vec<&str> = spokes.iter().map(testbed::link::Spoke::name).collect();
        let near = units::nearest(&args.at, names.iter().copied()).unwrap_or("master");
        return Err(Failure::Input(format!("there is no host {}: did you mean `{near}`?", args.at)));
    };
    let settings = StarSettings {
        links,
        mtu: scenario.network.mtu.get() as u32,
        control: machine.control(scenario.tcp.control),
        seed: scenario.run.seed,
    };
    let star = match Star::up(&spokes, &settings) {
        Err(LinkError::Missing { capability: "CAP_SYS_ADMIN", .. }) if may_be_rootless() => return rootless(),
        star => star?,
    };
    let mut command = Command::new(&args.program[0]);
    command.args(&args.program[1..]);
    let mut all: Vec<Value> = Vec::new();
    for (number, host) in star.hosts().iter().enumerate() {
        let (address, namespace) = (Star::address(number).to_string(), host.net().path());
        let name = host.name().to_uppercase().replace('-', "_");
        command.env(format!("TRUNKLINE_ADDRESS_{name}"), &address);
        command.env(format!("TRUNKLINE_NAMESPACE_{name}"), &namespace);
        all.push(json!({ "name": host.name(), "address": address, "namespace": namespace }));
    }
    command.env("TRUNKLINE_HOSTS", json!(all).to_string());
    let spawned = star.hosts()[at].spawn(&mut command);
    let child = spawned.map_err(|error| Failure::Input(format!("cannot run {}: {error}", args.program[0])))?;
    let ended = wait(child);
    let report = star.report().map_err(|error| Failure::Output(format!("cannot read the report: {error}")))?;
    drop(star);
    if let Some(report) = report.as_ref().filter(|_| !args.quiet) {
        eprint!("{report}");
    }
    if let Some(file) = &args.report {
        let value = report.map_or(Value::Null, |report| report.to_json());
        fs::write(file, format!("{value:#}\n")).map_err(|error| Failure::writing(file, &error))?;
    }
    match code(ended?) {
        0 => Ok(()),
        code => Err(Failure::Program(code)),
    }
}
