//! Histories of jobs: which of their files, laid out by key, would save which of their shuffles.

use super::report;
use crate::emit;
use crate::failure::Failure;
use crate::interrupt::STOP;
use crate::kat_args::KatPlan;
use crate::screen::Screen;
use crate::table::Table;
use ::kat::Jobs;
use runs::Inputs;

/// Says it of all jobs in the histories.
pub fn plan(args: &KatPlan) -> Result<(), Failure> {
    let found = Jobs::of(&args.history, &args.nodes, &Inputs::new(&STOP))?;
    if args.json { emit(&found.json()) } else { emit(&text(&found, &Screen::of_output())) }
}

fn text(found: &Jobs, screen: &Screen) -> String {
    let mut jobs = Table::new(["job", "shuffle", "saved", "pairs a record", "files", "by key"]).of_texts();
    for job in &found.jobs {
        jobs.row([
            job.id.clone(),
            report::bytes(job.shuffle),
            report::bytes(job.saved),
            format!("{:.2}", job.pairs),
            job.files.clone(),
            job.key.as_ref().map_or_else(Clone::clone, |key| key.words.clone()),
        ]);
    }
    let sums = found.by_files();
    if sums.is_empty() {
        let none = "no layout of these jobs' files saves bytes of their shuffles";
        return format!("{}\n{}\n", jobs.shown(screen), screen.wrapped(none, 0));
    }
    let mut files = Table::new(["files", "laid out by", "jobs", "shuffle", "saved"]).of_texts();
    for ((name, key), (count, shuffle, saved)) in sums {
        files.row([
            name.to_owned(),
            key.words.clone(),
            count.to_string(),
            report::bytes(shuffle),
            report::bytes(saved),
        ]);
    }
    format!("{}\n{}", jobs.shown(screen), files.shown(screen))
}
