//! `trunkline kat redistribute`: blocks that stand elsewhere come back to the plan's nodes.
//!
//! HDFS leaves a block that has all of its replicas where it is, also once the node is back that should have had one. So
//! its file is written anew, and takes its place by one rename once it has all replicas. The files are the journal: what
//! stands as planned is left alone, and so the same command goes on.

use super::cluster::{Call, Cluster};
use super::load::probe;
use super::placed::{Placed, few};
use super::verify::of_plan;
use crate::emit;
use crate::failure::Failure;
use crate::interrupt::STOP;
use crate::kat_args::{KatFolder, KatRedistribute};
use crate::progress::ByteMeter;
use std::io::{self, BufRead};
use units::Bytes;

/// What became of the files.
#[derive(Default)]
struct Done {
    /// Files that were tried.
    files: usize,
    /// Files of which fewer blocks stand elsewhere than did, and their bytes.
    moved: usize,
    bytes: u64,
    /// Blocks that are back.
    back: u64,
    /// Files with blocks that still stand elsewhere, and how many.
    left: Vec<String>,
    elsewhere: u64,
}

/// Runs the command.
pub fn redistribute(args: &KatRedistribute) -> Result<(), Failure> {
    let KatFolder { plan, folder, cluster, quiet } = &args.loaded;
    let placed = Placed::open(plan)?;
    let cluster = Cluster::open(cluster)?;
    let folder = folder.trim_end_matches('/');
    let look = cluster.look(folder)?;
    let for_nodes = format!(
        "; it is brought to other nodes by `kat plan --previous` with its own plan, and `kat load NEW hdfs:{folder} --to` a \
         new folder"
    );
    of_plan(&placed, &look, folder, &for_nodes)?;
    let places = placed.by_name();
    let wrong = look.files.iter().filter(|(name, file)| {
        places.get(name.as_str()).is_some_and(|place| file.elsewhere(&placed.nodes_of(*place)) > 0)
    });
    let wrong: Vec<(&str, u64)> = wrong.map(|(name, file)| (name.as_str(), file.length)).collect();
    let (replicas, patience) = (placed.plan.replicas().to_string(), args.patience.to_string());
    // None is as fast as it goes; below a byte a second there is no rate.
    let limit = args.limit.map_or(0, |limit| (limit.as_bps() / 8).max(1)).to_string();
    let arguments = ["redistribute", folder, &replicas, &patience, &limit];
    if wrong.is_empty() {
        // The client begins with what one that was killed has left.
        if look.aside.iter().any(|name| look.files.contains_key(name)) {
            cluster.ask(&arguments)?;
        }
        return emit(&format!("{folder}: each block stands on the plan's nodes already\n"));
    }
    placed.check(&look)?;
    probe(&placed, &cluster, folder, *quiet)?;
    let mut call = cluster.call(&arguments)?;
    let meter = ByteMeter::new(wrong.iter().map(|(_, length)| length).sum(), *quiet);
    let mut done = Done::default();
    let went = each(&mut call, &wrong, &meter, &mut done);
    meter.finish();
    STOP.look()?;
    // Where the client has failed, that is the reason, not that it is not heard any longer.
    call.end_after(went)?;
    if done.files < wrong.len() {
        let short = wrong.len() - done.files;
        return Err(Failure::RealJob(format!("the client ended without a word on {short} of {} files", wrong.len())));
    }
    emit(&format!(
        "{folder}: {} of {} files with blocks elsewhere were written anew, {:.1}; {} blocks are back\n",
        done.moved,
        wrong.len(),
        Bytes::new(done.bytes),
        done.back
    ))?;
    if done.left.is_empty() {
        return Ok(());
    }
    let left: Vec<&str> = done.left.iter().map(String::as_str).collect();
    Err(Failure::RealJob(format!(
        "{} blocks still have replicas elsewhere than on the plan's nodes, which had no room or took none in time: {}. The same \
         command goes on with them",
        done.elsewhere,
        few(&left)
    )))
}

/// Has one file after the other written anew, until the client ends or it is to stop.
fn each(call: &mut Call, files: &[(&str, u64)], meter: &ByteMeter, done: &mut Done) -> io::Result<()> {
    let Some(mut from) = call.output() else { return Ok(()) };
    for (name, length) in files {
        match call.send_now(format!("{name}\n").as_bytes()) {
            // The client has ended: why is for it to say.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            sent => sent?,
        }
        let Some([before, after]) = told(&mut from, meter)? else { return Ok(()) };
        done.files += 1;
        if after < before {
            done.moved += 1;
            done.bytes += length;
            done.back += before - after;
        }
        if after > 0 {
            done.left.push((*name).to_owned());
            done.elsewhere += after;
        }
    }
    Ok(())
}

/// How many blocks of a file stood elsewhere, and how many do now; `None` where no more is said or heard.
fn told(from: &mut impl BufRead, meter: &ByteMeter) -> io::Result<Option<[u64; 2]>> {
    let mut line = String::new();
    loop {
        line.clear();
        if from.read_line(&mut line)? == 0 || STOP.look().is_err() {
            return Ok(None);
        }
        let number = |text: &str| text.parse::<u64>().map_err(|_| io::Error::from(io::ErrorKind::InvalidData));
        match line.trim_end().split('\t').collect::<Vec<_>>().as_slice() {
            ["bytes", more] => meter.add(number(more)?),
            ["file", _, _, before, after] => return Ok(Some([number(before)?, number(after)?])),
            _ => return Err(io::ErrorKind::InvalidData.into()),
        }
    }
}
