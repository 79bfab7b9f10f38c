//! Names the build by its sources: the BLAKE3 hash of all that results can depend on.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// This crate, `sweep`, which makes rows of runs, and those of the workspace that both stand on.
fn crates(root: &Path) -> io::Result<BTreeSet<String>> {
    let (mut found, mut open) = (BTreeSet::new(), vec!["runs".to_owned(), "sweep".to_owned()]);
    while let Some(name) = open.pop() {
        let manifest = fs::read_to_string(root.join("crates").join(&name).join("Cargo.toml"))?;
        let needed = manifest.split("[dev-dependencies]").next().unwrap_or_default();
        let named = needed.lines().filter_map(|line| line.split([' ', '.', '=']).next());
        open.extend(named.filter(|name| is_crate(root, name) && !found.contains(*name)).map(str::to_owned));
        found.insert(name);
    }
    Ok(found)
}

fn is_crate(root: &Path, name: &str) -> bool {
    !name.is_empty() && root.join("crates").join(name).join("Cargo.toml").is_file()
}

/// The sources in a folder and in those below it: not what editors leave there.
fn files(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files(&path, found)?;
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
    Ok(())
}

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    // The workspace's manifest has the features of what crates stand on.
    let mut found = vec![root.join("Cargo.lock"), root.join("Cargo.toml")];
    for file in &found {
        println!("cargo::rerun-if-changed={}", file.display());
    }
    for name in crates(&root)? {
        let folder = root.join("crates").join(name);
        // Cargo looks at a folder's files, and so at new ones.
        println!("cargo::rerun-if-changed={}", folder.join("src").display());
        println!("cargo::rerun-if-changed={}", folder.join("Cargo.toml").display());
        found.push(folder.join("Cargo.toml"));
        files(&folder.join("src"), &mut found)?;
    }
    // Who installs from a package of the sources may have no lock file.
    found.retain(|path| path.is_file());
    found.sort();
    let mut hasher = blake3::Hasher::new();
    for path in &found {
        let (name, text) = (path.strip_prefix(&root).unwrap_or(path).to_string_lossy(), fs::read(path)?);
        for part in [name.as_bytes(), &text] {
            // The length keeps two neighbours apart.
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
    }
    println!("cargo::rustc-env=TRUNKLINE_BUILD={}", hasher.finalize().to_hex());
    Ok(())
}
