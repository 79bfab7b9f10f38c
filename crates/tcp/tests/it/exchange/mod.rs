//! Exchanges in packetdrill's format, played against an endpoint.
//!
//! `tests/exchanges` holds the project's own; each says in its first lines from which source its segments follow. Those
//! that others publish are played from outside the tree:
//!
//!     EXCHANGES=FOLDER cargo test -p tcp --test it exchange::play_a_folder -- --ignored --nocapture
//!
//! prints a line for each script below the folder. `docs/models/tcp-conformance.md` judges what it finds.

mod play;
mod script;

use std::path::{Path, PathBuf};

/// Every script below `folder`, in order of name.
fn scripts(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder is there").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(scripts(&path));
        } else if path.extension().is_some_and(|ending| ending == "pkt") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn verdict(path: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let script = script::parse(&text)?;
    play::play(&script, play::host_config(&script))
}

#[test]
fn every_exchange_goes_as_written() {
    let all = scripts(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/exchanges"));
    assert!(!all.is_empty());
    let wrong: Vec<String> =
        all.iter().filter_map(|path| Some(format!("{}: {}", path.display(), verdict(path).err()?))).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[ignore = "plays the scripts of a folder outside the tree"]
fn play_a_folder() {
    let folder = PathBuf::from(std::env::var_os("EXCHANGES").expect("EXCHANGES names a folder"));
    let all = scripts(&folder);
    let mut agree = 0;
    for path in &all {
        let name = path.strip_prefix(&folder).unwrap_or(path).display();
        match verdict(path) {
            Ok(()) => {
                agree += 1;
                println!("agrees  {name}");
            }
            Err(what) => println!("differs {name}: {what}"),
        }
    }
    println!("{agree} of {} agree", all.len());
}
