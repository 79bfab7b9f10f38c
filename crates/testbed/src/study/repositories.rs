//! Repositories of git: one to clone from and to push, and one to push to.

use super::TrialError;
use super::process::finish;
use super::stock::{Stock, program};
use std::path::Path;
use std::process::Command;

/// The branch that is cloned and pushed.
pub const BRANCH: &str = "main";
/// Who commits, and when: the same every time.
const IDENTITY: [(&str, &str); 6] = [
    ("GIT_AUTHOR_NAME", "study"),
    ("GIT_AUTHOR_EMAIL", "study@example.invalid"),
    ("GIT_AUTHOR_DATE", "2001-01-01T00:00:00Z"),
    ("GIT_COMMITTER_NAME", "study"),
    ("GIT_COMMITTER_EMAIL", "study@example.invalid"),
    ("GIT_COMMITTER_DATE", "2001-01-01T00:00:00Z"),
];

/// `git` on a repository, without the user's and the system's settings.
pub fn git(repository: Option<&Path>) -> Result<Command, TrialError> {
    let mut git = program("git")?;
    git.env("GIT_CONFIG_NOSYSTEM", "1").envs(IDENTITY);
    if let Some(repository) = repository {
        git.arg("--git-dir").arg(repository);
    }
    Ok(git)
}

/// An empty bare repository.
pub fn empty(at: &Path) -> Result<(), TrialError> {
    finish(git(None)?.args(["init", "-q", "--bare", "-b", BRANCH]).arg(at))?;
    // What is pushed stays a pack, as any push of more than a hundred objects does.
    finish(git(Some(at))?.args(["config", "receive.unpackLimit", "1"]))?;
    Ok(())
}

impl Stock {
    /// Makes a repository with one commit of a file in `www`, packed.
    pub(super) fn make_repository(&mut self, file: &str) -> Result<(), TrialError> {
        let repository = self.at("git").join(file).with_extension("git");
        empty(&repository)?;
        finish(git(Some(&repository))?.arg("--work-tree").arg(self.at("www")).args(["add", file]))?;
        finish(git(Some(&repository))?.arg("--work-tree").arg(self.at("www")).args(["commit", "-q", "-m", file]))?;
        finish(git(Some(&repository))?.args(["repack", "-adq"]))?;
        Ok(())
    }
}
