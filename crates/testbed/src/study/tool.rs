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
    /// `git clone` from `git daemon`.
    GitClone,
    /// `git push` to `git daemon`.
    GitPush,
    /// `rclone` from its WebDAV server.
    RcloneGet,
    /// `rclone` to an SFTP server.
    RclonePut,
    /// `hdfs dfs -put` to a NameNode and a DataNode.
    HdfsPut,
    /// `redis-benchmark`: GET, a command at a time on each connection.
    Redis,
    /// `redis-benchmark`: GET, with pipelining.
    RedisPipelined,
    /// `pgbench -S`: a query per transaction.
    PgbenchSelect,
    /// `pgbench`: TPC-B, seven statements per transaction.
    PgbenchTpcb,
    /// `pgbench -S -C`: a connection for each transaction.
    PgbenchSelectNew,
    /// `pgbench -C`: a connection for each transaction of TPC-B.
    PgbenchTpcbNew,
    /// `h2load` of `nghttpd`: HTTP/2 without TLS.
    Http2,
    /// `iperf3` to the server.
    Iperf3,
    /// `iperf3 --bidir`.
    Iperf3Both,
    /// Requests and answers by Java NIO: one selector at each end.
    JavaNio,
    /// Requests and answers by Go: a goroutine for each connection.
    Go,
    /// HTTP by Node: a connection for each request.
    Node,
    /// Requests and answers by Python's asyncio.
    Asyncio,
    /// `dnsperf` asks `dnsmasq` by UDP.
    Dns,
    /// Requests and answers in messages of a WebSocket, by Python.
    Websocket,
}

/// Folders of programs, also those outside a user's PATH.
const FOLDERS: [&str; 8] = [
    "/usr/local/sbin",
    "/usr/local/bin",
    "/usr/sbin",
    "/usr/bin",
    "/sbin",
    "/bin",
    // Where the archives of Go and Hadoop are unpacked.
    "/usr/local/go/bin",
    "/opt/hadoop/bin",
];

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

/// Python's library of WebSockets.
const WEBSOCKETS: &str = "websockets";

impl Tool {
    /// Whether the tool measures itself, and reports figures. Others move a payload, and are watched.
    pub(super) const fn is_benchmark(self) -> bool {
        self.answers() || self.is_pgbench() || matches!(self, Self::Iperf3 | Self::Iperf3Both | Self::Dns)
    }

    /// Whether a benchmark's requests have answers of a size.
    pub(super) const fn answers(self) -> bool {
        matches!(
            self,
            Self::Redis
                | Self::RedisPipelined
                | Self::Http2
                | Self::JavaNio
                | Self::Go
                | Self::Node
                | Self::Asyncio
                | Self::Websocket
        )
    }

    /// Whether it is `pgbench`.
    pub(super) const fn is_pgbench(self) -> bool {
        matches!(self, Self::PgbenchSelect | Self::PgbenchTpcb | Self::PgbenchSelectNew | Self::PgbenchTpcbNew)
    }

    /// The programs that the tool needs, with their Debian packages.
    fn needs(self) -> &'static [(&'static str, &'static str)] {
        const NGINX: (&str, &str) = ("nginx", "nginx-light");
        const SSH: [(&str, &str); 3] =
            [("sshd", "openssh-server"), ("ssh", "openssh-client"), ("ssh-keygen", "openssh-client")];
        const GIT: (&str, &str) = ("git", "git");
        const RCLONE: (&str, &str) = ("rclone", "rclone");
        const REDIS: [(&str, &str); 3] =
            [("redis-server", "redis-server"), ("redis-benchmark", "redis-tools"), ("redis-cli", "redis-tools")];
        const PGBENCH: [(&str, &str); 4] = [
            ("postgres", "postgresql"),
            ("initdb", "postgresql"),
            ("pgbench", "postgresql"),
            ("psql", "postgresql-client"),
        ];
        const PYTHON: (&str, &str) = ("python3", "python3");
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
            Self::GitClone | Self::GitPush => &[GIT],
            Self::RcloneGet => &[RCLONE],
            Self::RclonePut => &[SSH[0], SSH[2], RCLONE],
            Self::HdfsPut => &[("hdfs", ""), ("java", "default-jre-headless")],
            Self::Redis | Self::RedisPipelined => &REDIS,
            Self::PgbenchSelect | Self::PgbenchTpcb | Self::PgbenchSelectNew | Self::PgbenchTpcbNew => &PGBENCH,
            Self::Http2 => &[("nghttpd", "nghttp2-server"), ("h2load", "nghttp2-client")],
            Self::Iperf3 | Self::Iperf3Both => &[("iperf3", "iperf3")],
            Self::JavaNio => &[("java", "default-jdk-headless"), ("javac", "default-jdk-headless")],
            Self::Go => &[("go", "golang-go")],
            Self::Node => &[("node", "nodejs")],
            Self::Asyncio => &[PYTHON],
            Self::Dns => &[("dnsmasq", "dnsmasq-base"), ("dnsperf", "dnsperf")],
            Self::Websocket => &[PYTHON, (WEBSOCKETS, "python3-websockets")],
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
        "postgres" | "initdb" | "pgbench" => postgres(program).is_some(),
        WEBSOCKETS => Path::new("/usr/lib/python3/dist-packages").join(program).is_dir(),
        program => find(program).is_some(),
    };
    let mut needs = cell.program.tool.needs().iter().chain(cell.way.needs());
    let (program, package) = needs.find(|(program, _)| !there(program))?;
    Some(TrialError::Missing { program, package })
}
