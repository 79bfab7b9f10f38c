//! The programs that a study runs, and the Debian packages that provide them.

use super::{Cell, TrialError, Way};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// An unmodified program and what it does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tool {
    /// `curl`, a download by HTTP.
    Curl,
    /// `wget`, a download by HTTP.
    Wget,
    /// `curl -T`, an upload by HTTP PUT, as to WebHDFS or an object store.
    Put,
    /// `rsync` from its daemon.
    Rsync,
    /// `scp` from the server.
    Scp,
    /// `mysqldump` of a database.
    Mysqldump,
    /// PostgreSQL's `COPY ... TO STDOUT`.
    Copy,
    /// `ffmpeg` decoding a video that it reads by HTTP.
    Ffmpeg,
    /// `ex`, the vi editor, opens a document on an `sshfs` mount.
    ViOpen,
    /// `ex` saves a document on an `sshfs` mount.
    ViSave,
    /// `soffice`, LibreOffice's writer, opens a document on an `sshfs` mount and saves it there as another.
    Soffice,
}

/// Folders of programs, also those outside a user's PATH.
const FOLDERS: [&str; 6] = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// The file of a program.
pub(super) fn find(program: &str) -> Option<PathBuf> {
    FOLDERS.iter().map(|folder| Path::new(folder).join(program)).find(|file| file.is_file())
}

/// A program of the newest PostgreSQL version installed.
pub(super) fn postgres(program: &str) -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let mut versions: Vec<u32> = versions.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
    versions.sort_unstable();
    let file = |version: &u32| PathBuf::from(format!("/usr/lib/postgresql/{version}/bin/{program}"));
    versions.iter().rev().map(file).find(|file| file.is_file())
}

impl Tool {
    /// The programs that the tool needs, with their Debian packages.
    fn needs(self) -> &'static [(&'static str, &'static str)] {
        const NGINX: (&str, &str) = ("nginx", "nginx-light");
        const SSH: [(&str, &str); 3] =
            [("sshd", "openssh-server"), ("ssh", "openssh-client"), ("ssh-keygen", "openssh-client")];
        const SSHFS: [(&str, &str); 2] = [("sshfs", "sshfs"), ("fusermount3", "fuse3")];
        match self {
            Self::Curl | Self::Put => &[NGINX, ("curl", "curl")],
            Self::Wget => &[NGINX, ("wget", "wget")],
            Self::Rsync => &[("rsync", "rsync")],
            Self::Scp => &[SSH[0], SSH[1], SSH[2], ("scp", "openssh-client")],
            Self::Mysqldump => &[
                ("mariadbd", "mariadb-server"),
                ("mariadb-install-db", "mariadb-server"),
                ("mysqldump", "mariadb-client"),
                ("mysql", "mariadb-client"),
            ],
            Self::Copy => &[("postgres", "postgresql"), ("initdb", "postgresql"), ("psql", "postgresql-client")],
            Self::Ffmpeg => &[NGINX, ("ffmpeg", "ffmpeg")],
            Self::ViOpen | Self::ViSave => &[SSH[0], SSH[1], SSH[2], SSHFS[0], SSHFS[1], ("ex", "vim")],
            Self::Soffice => &[SSH[0], SSH[1], SSH[2], SSHFS[0], SSHFS[1], ("soffice", "libreoffice-writer-nogui")],
        }
    }
}

impl Way {
    fn needs(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Jet | Self::Paper => &[("nft", "nftables")],
            Self::Mptcp => &[("mptcpize", "mptcpize")],
            Self::Aria2 => &[("aria2c", "aria2")],
            Self::Lftp => &[("lftp", "lftp")],
            Self::Plain | Self::JetRun | Self::Bbr | Self::Local => &[],
        }
    }
}

/// The first program that a cell needs and that is not installed.
pub fn missing(cell: &Cell) -> Option<TrialError> {
    let there = |program: &str| match program {
        "postgres" | "initdb" => postgres(program).is_some(),
        program => find(program).is_some(),
    };
    let mut needs = cell.program.tool.needs().iter().chain(cell.way.needs());
    let (program, package) = needs.find(|(program, _)| !there(program))?;
    Some(TrialError::Missing { program, package })
}
