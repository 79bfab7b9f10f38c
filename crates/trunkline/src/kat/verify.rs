//! `trunkline kat verify`: records against their keys, and blocks against the plan.

use super::cluster::{Cluster, Look};
use super::placed::{Placed, few, shown};
use crate::emit;
use crate::failure::Failure;
use crate::interrupt::STOP;
use crate::kat_args::KatFolder;
use crate::progress::ByteMeter;
use placement::{Hint, Keys, Records, TooLong};
use serde_json::Value;
use std::fmt::Write as _;
use std::io::{self, Read};

const BUFFER: usize = 1 << 16;

/// What was found.
#[derive(Default)]
pub struct Verdict {
    /// Records that were read.
    pub records: u64,
    /// Files of the layout that are there.
    pub files: u64,
    /// Their blocks.
    pub blocks: u64,
    /// What is wrong, in words, the first of each kind.
    pub wrong: Vec<String>,
}

/// Runs the command.
pub fn verify(args: &KatFolder) -> Result<(), Failure> {
    let placed = Placed::open(&args.plan)?;
    let cluster = Cluster::open(&args.cluster)?;
    let folder = args.folder.trim_end_matches('/');
    let verdict = verify_folder(&placed, &cluster, folder, args.quiet)?;
    let judge = if placed.judged_type == "none" { "" } else { "; Hadoop's HashPartitioner agrees" };
    let mut text =
        format!("{folder}: {} records in {} files, {} blocks\n", verdict.records, verdict.files, verdict.blocks);
    if verdict.wrong.is_empty() {
        let _ = writeln!(
            text,
            "each record is in its key's bucket{judge}\neach block has its replicas on the plan's nodes"
        );
        return emit(&text);
    }
    emit(&text)?;
    Err(Failure::RealJob(verdict.wrong.join("\n        ")))
}

/// Looks at all that was loaded into a folder.
pub fn verify_folder(placed: &Placed, cluster: &Cluster, folder: &str, quiet: bool) -> Result<Verdict, Failure> {
    let look = cluster.look(folder)?;
    of_plan(placed, &look, folder, "")?;
    let mut verdict = Verdict { files: look.files.len() as u64, ..Verdict::default() };
    blocks(placed, &look, &mut verdict);
    records(placed, cluster, folder, &look, &mut verdict, quiet)?;
    match read(look.loaded.as_ref()).and_then(|loaded| loaded["stored"].as_u64()) {
        None => verdict.wrong.push("the load has not come to its end: the same `kat load` goes on with it".to_owned()),
        Some(stored) if stored != verdict.records => {
            verdict.wrong.push(format!("{} records stand there, and {stored} were loaded", verdict.records));
        }
        Some(_) => {}
    }
    Ok(verdict)
}

/// An error if the plan is not that by which a folder was loaded, and what may be done then.
pub fn of_plan(placed: &Placed, look: &Look, folder: &str, instead: &str) -> Result<(), Failure> {
    let Some(manifest) = read(look.manifest.as_ref()) else {
        return Err(Failure::Input(format!("{folder} holds nothing that `kat load` has loaded")));
    };
    if placed.is_of(&manifest) {
        return Ok(());
    }
    Err(Failure::Input(format!("{folder} was loaded by another plan{instead}")))
}

fn read(text: Option<&String>) -> Option<Value> {
    serde_json::from_str(text?).ok()
}

/// Files that the plan does not have, blocks elsewhere than on their nodes, blocks with too few replicas.
fn blocks(placed: &Placed, look: &Look, verdict: &mut Verdict) {
    let places = placed.by_name();
    let (mut strange, mut elsewhere, mut few_replicas) = (Vec::new(), Vec::new(), Vec::new());
    let [mut blocks_elsewhere, mut blocks_few] = [0_u64; 2];
    for (name, file) in &look.files {
        verdict.blocks += file.blocks.len() as u64;
        let Some(place) = places.get(name.as_str()) else {
            strange.push(name.as_str());
            continue;
        };
        let nodes = placed.nodes_of(*place);
        let away = file.elsewhere(&nodes);
        let lacking = file.blocks.iter().filter(|hosts| hosts.len() < nodes.len()).count();
        if away > 0 {
            elsewhere.push(name.as_str());
            blocks_elsewhere += away as u64;
        }
        if lacking > 0 {
            few_replicas.push(name.as_str());
            blocks_few += lacking as u64;
        }
    }
    let mut say = |files: &[&str], what: String| {
        if !files.is_empty() {
            verdict.wrong.push(format!("{what}: {}", few(files)));
        }
    };
    say(&strange, "files that the plan has not".to_owned());
    say(&elsewhere, format!("{blocks_elsewhere} blocks have replicas elsewhere than on the plan's nodes"));
    say(&few_replicas, format!("{blocks_few} blocks have fewer replicas than the plan"));
}

/// Records that are in another bucket than their key's.
fn records(
    placed: &Placed,
    cluster: &Cluster,
    folder: &str,
    look: &Look,
    verdict: &mut Verdict,
    quiet: bool,
) -> Result<(), Failure> {
    let places = placed.by_name();
    let mut call = cluster.call(&["read", folder])?;
    let mut judge = cluster.call(&["judge", folder, placed.judged_type])?;
    let Some(mut from) = call.output() else { return Err(Failure::Internal("a client without output".to_owned())) };
    let meter = ByteMeter::new(look.files.values().map(|file| file.length).sum(), quiet);
    let broken = |error: io::Error| Failure::RealJob(format!("{folder} cannot be read to its end: {error}"));
    let rule = placed.written_rule();
    let buckets = placed.plan.bucketing().buckets();
    let (mut keys, mut judged) = (Keys::new(), Ok(()));
    let (mut astray, mut first) = (0_u64, String::new());
    while let Some((name, mut left)) = header(&mut from).map_err(broken)? {
        let place = places.get(name.as_str()).copied();
        let mut cut = Records::new();
        let mut take = |record: &[u8], _: u64| -> Result<(), TooLong> {
            verdict.records += 1;
            rule.keys(record, &mut keys);
            let (Some(place), Some(key)) = (place, keys.iter(record).next()) else { return Ok(()) };
            let own = &placed.plan.parts()[place];
            // Any part of a split key may have its record.
            let is_right = placed.plan.of_key(key) == Some((own.bucket, own.of_key.map(|(split, _)| split)));
            if !is_right {
                astray += 1;
                if first.is_empty() {
                    first = format!("{name} has the record {}", shown(record));
                }
            }
            if judged.is_ok() && placed.judged_type != "none" {
                judged = judge
                    .send(&own.bucket.to_be_bytes())
                    .and_then(|()| judge.send(&buckets.to_be_bytes()))
                    .and_then(|()| judge.send(&(key.len() as u32).to_be_bytes()))
                    .and_then(|()| judge.send(key));
            }
            Ok(())
        };
        let mut buffer = vec![0; BUFFER];
        let too_long = |error: TooLong| Failure::RealJob(format!("{name}: {error}"));
        while left > 0 {
            STOP.look()?;
            let most = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            from.read_exact(&mut buffer[..most]).map_err(broken)?;
            cut.feed(&buffer[..most], &mut take).map_err(too_long)?;
            meter.add(most as u64);
            left -= most as u64;
        }
        cut.end(&mut take).map_err(too_long)?;
    }
    meter.finish();
    call.end()?;
    if astray > 0 {
        verdict.wrong.push(format!("{astray} records are in another bucket than their key's; {first}"));
    }
    match judge.end_after(judged) {
        Ok(_) => {}
        Err(Failure::RealJob(reason)) => verdict.wrong.push(reason),
        Err(other) => return Err(other),
    }
    Ok(())
}

/// The name and the length of the next file; `None` at the end.
fn header(from: &mut impl Read) -> io::Result<Option<(String, u64)>> {
    let mut length = [0; 2];
    if from.read(&mut length[..1])? == 0 {
        return Ok(None);
    }
    from.read_exact(&mut length[1..])?;
    let mut name = vec![0; usize::from(u16::from_be_bytes(length))];
    from.read_exact(&mut name)?;
    let mut bytes = [0; 8];
    from.read_exact(&mut bytes)?;
    let name = String::from_utf8(name).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
    Ok(Some((name, u64::from_be_bytes(bytes))))
}
