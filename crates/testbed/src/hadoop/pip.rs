//! Spark's jars from PyPI: pip fetches the archive and checks it against the digest that the project names.

use super::HadoopError;
use super::tools::{find, finish};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// The archive's folder of jars; folders within it are left out.
const JARS: &str = "*/deps/jars/*.jar";
/// Parts of a jar's path in the archive before its name.
const ABOVE: &str = "--strip-components=3";
const PYTHON: &str = "python3";
const PACKAGE: &str = "apt-get install python3-venv";

/// What Python lacks to fetch an archive, if it lacks something.
pub fn lacking() -> Option<HadoopError> {
    let Some(python) = find(PYTHON) else {
        return Some(HadoopError::missing(format!("the program {PYTHON}"), PACKAGE));
    };
    // Debian has the part that makes environments in a package of its own.
    let mut command = Command::new(python);
    command.args(["-c", "import ensurepip, venv"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let has = command.status().is_ok_and(|status| status.success());
    if has {
        find("tar").is_none().then(|| HadoopError::missing("the program tar", "apt-get install tar"))
    } else {
        Some(HadoopError::missing(format!("the module venv of {PYTHON}"), PACKAGE))
    }
}

/// Lets pip fetch the archive that `wanted` names, with `tools` to read its description, and puts the archive's jars
/// into a folder that is not there yet. What else it needs lies in `work`, which is removed.
pub fn fetch(wanted: &str, tools: &str, work: &Path, jars: &Path) -> Result<(), HadoopError> {
    let _ = fs::remove_dir_all(work);
    let fetched = into(wanted, tools, work, jars);
    let _ = fs::remove_dir_all(work);
    fetched
}

fn into(wanted: &str, tools: &str, work: &Path, jars: &Path) -> Result<(), HadoopError> {
    let writing = || HadoopError::system(format!("write into {}", work.display()));
    let [environment, archives] = ["venv", "archives"].map(|name| work.join(name));
    fs::create_dir_all(&archives).map_err(writing())?;
    fs::create_dir_all(jars).map_err(writing())?;
    finish(Command::new(PYTHON).args(["-m", "venv"]).arg(&environment))?;
    for (name, text) in [("wanted.txt", wanted), ("tools.txt", tools)] {
        fs::write(work.join(name), text).map_err(writing())?;
    }
    let pip = |words: &[&str]| {
        let mut command = Command::new(environment.join("bin/pip"));
        command.current_dir(work).args(words).args(["--quiet", "--disable-pip-version-check", "--require-hashes"]);
        finish(&mut command)
    };
    pip(&["install", "--only-binary", ":all:", "--requirement", "tools.txt"])?;
    pip(&["download", "--no-deps", "--no-build-isolation", "--dest", "archives", "--requirement", "wanted.txt"])?;
    let entries = fs::read_dir(&archives).map_err(writing())?;
    for entry in entries.flatten() {
        let mut tar = Command::new("tar");
        tar.arg("--extract").arg("--file").arg(entry.path()).arg("--directory").arg(jars);
        finish(tar.args(["--no-same-owner", ABOVE, "--wildcards", "--no-wildcards-match-slash", JARS]))?;
    }
    Ok(())
}
