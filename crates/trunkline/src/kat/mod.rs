//! `trunkline kat`: placement by key on real files.

mod cluster;
mod history;
mod import_cost;
mod load;
mod placed;
mod redistribute;
mod report;
mod verify;

use crate::emit;
use crate::failure::Failure;
use crate::interrupt::STOP;
use crate::kat_args::{Kat, KatPlan};
use crate::progress::ByteMeter;
use crate::screen::Screen;
use ::kat::{Asked, Modified, one_of};
use placement::{Engine, Hash, KeyType, Layout};
use runs::{Error, Inputs, write_whole};
use std::path::Path;

#[cfg(feature = "testbed")]
pub use cluster::Cluster;
#[cfg(feature = "testbed")]
pub use load::{Wanted, load_into};
#[cfg(feature = "testbed")]
pub use placed::Placed;
#[cfg(feature = "testbed")]
pub use verify::verify_folder;

/// Runs a command of `kat`.
pub fn kat(command: &Kat) -> Result<(), Failure> {
    match command {
        Kat::Plan(args) if args.history.is_empty() => plan(args),
        Kat::Plan(args) => history::plan(args),
        Kat::Load(args) => load::load(args),
        Kat::Verify(args) => verify::verify(args),
        Kat::Redistribute(args) => redistribute::redistribute(args),
    }
}

fn plan(args: &KatPlan) -> Result<(), Failure> {
    if let Some(output) = &args.output {
        crate::import::writable(Some(output), args.force)?;
    }
    let meter = ByteMeter::of_some(args.quiet);
    let planned = ::kat::plan(asked(args)?, &Inputs::new(&STOP), &|read, all| meter.at(read, all));
    meter.finish();
    let planned = planned?;
    if let Some(output) = &args.output {
        write_whole(output, planned.file().as_bytes())?;
    }
    if args.json { emit(&planned.json()) } else { emit(&report::text(&planned, &Screen::of_output())) }
}

fn asked(args: &KatPlan) -> Result<Asked, Failure> {
    let of_type = |word: &Option<String>| {
        word.as_ref().map(|word| one_of("--type", &KeyType::ALL, KeyType::name, word)).transpose()
    };
    let hash = args.hash.as_ref().map(|word| one_of("--hash", &Hash::ALL, Hash::name, word));
    Ok(Asked {
        files: args.files.clone(),
        key: args.key.clone(),
        key_type: of_type(&args.key_type)?,
        engine: one_of("--engine", &Engine::ALL, Engine::name, &args.engine)?,
        hash: hash.transpose()?,
        nodes: args.nodes.clone(),
        buckets: args.buckets,
        replicas: args.replicas,
        sample: args.sample,
        layout: one_of("--layout", &Layout::ALL, Layout::name, &args.layout)?,
        value: args.value,
        combiner: args.combiner,
        present: args.present,
        second: args.second.clone(),
        second_type: of_type(&args.second_type)?,
        second_copies: args.second_copies,
        modified: args.modified.map(|records| Modified { records, after: args.redistribute_after }),
        rate: args.rate,
        block: args.block,
        previous: args.previous.clone(),
    })
}

/// A file that cannot be read.
fn reading(path: &Path, error: &std::io::Error) -> Failure {
    Failure::Runs(Error::reading(path, error))
}
