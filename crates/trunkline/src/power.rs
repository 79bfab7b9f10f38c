//! `trunkline power`: what rest of the disks would save (`plan`), and the daemon that puts them to rest.

use crate::args::{Power, PowerPlan};
use crate::emit;
use crate::failure::Failure;
use crate::interrupt::STOP;
use crate::screen::Screen;
use crate::table::Table;
use crate::{power_daemon, power_hdfs};
use history::swim;
use runs::{Error, Inputs};
use scenario::StoragePlan;
use serde_json::{Value, json};
use sim::storage_plan::{PlanJob, PolicyDay, Requests, check, requests, run};
use std::fmt::Write as _;
use storage::power::{Cause, Drive};

/// Runs a command of `trunkline power`.
pub fn power(command: &Power) -> Result<(), Failure> {
    match command {
        Power::Plan(plan) => self::plan(plan),
        Power::Hdfs(args) => power_hdfs::hdfs(args),
        Power::Daemon(args) => power_daemon::daemon(args),
        Power::Status(args) => power_daemon::status(args),
        Power::Tell(args) => power_daemon::tell(args),
    }
}

fn plan(args: &PowerPlan) -> Result<(), Failure> {
    let inputs = Inputs::new(&STOP);
    let bytes = inputs.unpacked(&args.workload)?;
    let file = args.workload.display();
    if !swim::is_swim(&bytes) {
        let expected = "a workload of SWIM: lines of a job, its submission and gap in seconds, bytes of input, shuffle, \
                        output, between tabs";
        return Err(Failure::Input(format!("{file} is not {expected}")));
    }
    let jobs = swim::read(&bytes).map_err(|error| Failure::Input(format!("{file}: {error}")))?;
    let text = inputs.text(&args.storage)?;
    let plan = StoragePlan::parse(&args.storage.to_string_lossy(), &text, check).map_err(Error::Scenario)?;
    let jobs: Vec<PlanJob> =
        jobs.iter().map(|job| PlanJob { at: job.submit, input: job.input, output: job.output }).collect();
    let requests = requests(&plan, &jobs).map_err(Failure::Input)?;
    let mut days = Vec::new();
    for power in &plan.power {
        STOP.look().map_err(|_| Failure::Runs(Error::Interrupted))?;
        days.push(run(&plan, power, &requests).map_err(Failure::Internal)?);
    }
    if args.json {
        return emit(&format!("{:#}\n", figures(&plan, &requests, &days)));
    }
    emit(&shown(&plan, &requests, &days, &Screen::of_output()))
}

/// A policy in a few words: its name, and how deep disks may rest.
fn name(day: &PolicyDay) -> String {
    let power = &day.power;
    let (policy, primaries, backups) = (power.policy.word(), power.primaries.word(), power.backups.word());
    if power.policy == scenario::PowerPolicy::AlwaysOn {
        return policy.to_owned();
    }
    format!("{policy}, backups {backups}, primaries {primaries}")
}

fn percent(part: f64) -> String {
    let shown = format!("{:.1}", 100.0 * part);
    format!("{} %", if shown == "-0.0" { "0.0" } else { &shown })
}

/// Starts by cause, most frequent first.
fn causes(day: &PolicyDay) -> Vec<(&'static str, u32)> {
    let mut found: Vec<_> = day.causes().into_iter().enumerate().filter(|(_, starts)| *starts > 0).collect();
    found.sort_by_key(|(kind, starts)| (std::cmp::Reverse(*starts), *kind));
    found.into_iter().map(|(kind, starts)| (Cause::kind_name(kind), starts)).collect()
}

fn shown(plan: &StoragePlan, requests: &Requests, days: &[PolicyDay], screen: &Screen) -> String {
    let mut text = String::new();
    let disks = plan.nodes * (plan.primary_disks + plan.backup_disks);
    let heading = format!(
        "{} disks of {} nodes for {:.1} h: {} requests, {:.2} TB read by {} jobs, {:.2} TB written.",
        disks,
        plan.nodes,
        requests.end.as_secs_f64() / 3_600.0,
        requests.accesses.len(),
        requests.read.get() as f64 / 1e12,
        requests.readers,
        requests.written.get() as f64 / 1e12,
    );
    let assumed = format!(
        "Assumed: {} of {} files are read, popular as Zipf {} has it (seed {}); each job reads its file from the \
         beginning, {} blocks of a node at a time, the next after {} s.",
        requests.files,
        plan.files.map_or(requests.readers, |files| files as usize),
        plan.zipf,
        plan.seed,
        plan.slots,
        plan.block_time.as_secs_f64(),
    );
    for sentence in [heading, assumed] {
        text.push_str(&screen.wrapped(&sentence, 0));
        text.push('\n');
    }
    text.push('\n');
    let heads = ["policy", "kWh", "saved", "of oracle", "ceiling", "starts/day", "most", "p50 s", "p99 s"];
    let mut table = Table::new(heads).optional(&[7, 6, 4]);
    for day in days {
        let (mean, most) = day.starts(requests.end);
        table.row([
            name(day),
            format!("{:.2}", day.energy.as_joules() / 3.6e6),
            percent(day.saved()),
            day.of_oracle().map_or_else(|| "-".to_owned(), percent),
            percent(day.ceiling_of_depths),
            format!("{mean:.2}"),
            most.to_string(),
            format!("{:.2}", day.wait(0.5).as_secs_f64()),
            format!("{:.2}", day.wait(0.99).as_secs_f64()),
        ]);
    }
    text.push_str(&table.shown(screen));
    text.push('\n');
    for (number, day) in days.iter().enumerate() {
        let causes: Vec<_> = causes(day).iter().map(|(cause, starts)| format!("{starts} {cause}")).collect();
        let mut line = format!(
            "{}. {}: standby of the backups alone can save {} at most; heads parked {:.1} times per disk and day",
            number + 1,
            name(day),
            percent(day.ceiling),
            day.loads(requests.end)
        );
        if !causes.is_empty() {
            let _ = write!(line, "; starts: {}", causes.join(", "));
        }
        if day.day.offloaded > 0 {
            let _ = write!(line, "; {} copies were off-loaded", day.day.offloaded);
        }
        if day.day.unserved > 0 {
            let _ = write!(line, "; {} requests were not served", day.day.unserved);
        }
        if day.power.drive.as_deref().and_then(Drive::named).is_some_and(|drive| !drive.real) {
            line.push_str("; no drive draws what this table prints: no verdict may rest on it");
        }
        line.push('.');
        text.push_str(&screen.wrapped(&line, 3));
        text.push('\n');
    }
    for line in ceilings_of_codes(days) {
        text.push_str(&screen.wrapped(&line, 0));
        text.push('\n');
    }
    text
}

/// What standby could save under erasure codes, once for each kind of backup disk.
fn ceilings_of_codes(days: &[PolicyDay]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for day in days.iter().filter(|day| !day.ceilings_of_codes.is_empty()) {
        let codes = day.ceilings_of_codes.iter().map(|(code, most)| format!("{} {}", code.word(), percent(*most)));
        let line = format!(
            "With an erasure code in place of replicas, on disks as the backups of policy {}, standby can save at most {}, \
             if parity has disks of its own. HDFS gives it none.",
            day.power.policy.word(),
            codes.collect::<Vec<_>>().join(", ")
        );
        let same = |other: &&PolicyDay| other.ceilings_of_codes == day.ceilings_of_codes;
        if days.iter().find(same).is_some_and(|first| std::ptr::eq(first, day)) {
            lines.push(line);
        }
    }
    lines
}

fn figures(plan: &StoragePlan, requests: &Requests, days: &[PolicyDay]) -> Value {
    let policies = days.iter().map(|day| {
        let (mean, most) = day.starts(requests.end);
        json!({
            "policy": day.power.policy.word(),
            "primaries": day.power.primaries.word(),
            "backups": day.power.backups.word(),
            "energy_j": day.energy.as_joules(),
            "always_on_j": day.always_on.as_joules(),
            "oracle_j": day.least.as_joules(),
            "saved": day.saved(),
            "share_of_oracle": day.of_oracle(),
            "ceiling": day.ceiling_of_depths,
            "ceiling_standby_of_backups": day.ceiling,
            "ceiling_standby_of_parity": day
                .ceilings_of_codes
                .iter()
                .map(|(code, most)| (code.word(), *most))
                .collect::<std::collections::BTreeMap<_, _>>(),
            "starts_per_disk_day": mean,
            "starts_most_in_24_h": most,
            "loads_per_disk_day": day.loads(requests.end),
            "wait_p50_s": day.wait(0.5).as_secs_f64(),
            "wait_p99_s": day.wait(0.99).as_secs_f64(),
            "wait_max_s": day.wait(1.0).as_secs_f64(),
            "gears_most": day.day.gears_most,
            "offloaded": day.day.offloaded,
            "unserved": day.day.unserved,
            "starts_by_cause": causes(day).into_iter().collect::<std::collections::BTreeMap<_, _>>(),
        })
    });
    json!({
        "disks": plan.nodes * (plan.primary_disks + plan.backup_disks),
        "end_s": requests.end.as_secs_f64(),
        "requests": requests.accesses.len(),
        "read_bytes": requests.read.get(),
        "written_bytes": requests.written.get(),
        "policies": policies.collect::<Vec<_>>(),
    })
}
