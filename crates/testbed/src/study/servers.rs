//! The servers, in the server's namespace.

use super::benchmarks;
use super::hadoop;
use super::process::Process;
use super::repositories::git;
use super::scene::Scene;
use super::site::SERVER;
use super::stock::{clean, program};
use super::tool::find;
use super::{Tool, TrialError, Way};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

impl Tool {
    /// Whether the payload goes to the server.
    pub(super) const fn uploads(self) -> bool {
        matches!(
            self,
            Self::Put
                | Self::ViSave
                | Self::Soffice
                | Self::GitPush
                | Self::RclonePut
                | Self::HdfsPut
                | Self::Iperf3
                | Self::Iperf3Both
        )
    }

    /// Whether the payload comes from the server.
    pub(super) const fn downloads(self) -> bool {
        !matches!(self, Self::Put | Self::ViSave | Self::GitPush | Self::RclonePut | Self::HdfsPut | Self::Iperf3)
    }

    /// How many times the payload crosses the path.
    pub(super) const fn crossings(self) -> u64 {
        self.uploads() as u64 + self.downloads() as u64
    }

    /// Whether the tool works on files, local or mounted.
    pub(super) const fn works_on_files(self) -> bool {
        matches!(self, Self::ViOpen | Self::ViSave | Self::Soffice)
    }

    /// The kind of stock that the server serves.
    pub(super) const fn stock(self) -> &'static str {
        match self {
            Self::Mysqldump => "database of MariaDB",
            Self::Copy => "database of PostgreSQL",
            Self::Ffmpeg => "video",
            Self::ViOpen | Self::ViSave => "text",
            Self::Soffice => "document",
            Self::GitClone | Self::GitPush => "repository",
            Self::PgbenchSelect | Self::PgbenchTpcb | Self::PgbenchSelectNew | Self::PgbenchTpcbNew => {
                "tables of pgbench"
            }
            Self::JavaNio => "program in Java",
            Self::Go => "program in Go",
            Self::Node | Self::Asyncio | Self::Websocket => "script",
            Self::Redis | Self::RedisPipelined | Self::Iperf3 | Self::Iperf3Both | Self::Dns => "nothing",
            Self::Curl
            | Self::Wget
            | Self::Put
            | Self::Rsync
            | Self::Scp
            | Self::RcloneGet
            | Self::RclonePut
            | Self::HdfsPut
            | Self::Http2 => "file",
        }
    }
}

/// The port of rclone's WebDAV server.
pub const WEBDAV: u16 = 8_080;

/// Starts the servers of a cell's program, and waits until they accept connections.
pub fn serve(scene: Scene<'_>) -> Result<Vec<Process>, TrialError> {
    let Scene { cell, stock, site, work, stop } = scene;
    let write = |name: &str, text: String| {
        let file = work.join(name);
        fs::write(&file, text).map_err(TrialError::system(format!("write {}", file.display())))?;
        Ok::<_, TrialError>(file)
    };
    let (command, port) = match cell.program.tool {
        Tool::Curl | Tool::Wget | Tool::Put | Tool::Ffmpeg => {
            let file = write("nginx.conf", nginx(&stock.at("www")))?;
            let mut command = program("nginx")?;
            command.arg("-p").arg(work).arg("-c").arg(file).args(["-e", "stderr"]);
            (command, 80)
        }
        Tool::Rsync => {
            let text = format!(
                "use chroot = no\nreverse lookup = no\nuid = 0\ngid = 0\n[stock]\npath = {}\nread only = yes\n",
                stock.at("www").display()
            );
            let mut command = program("rsync")?;
            command.args(["--daemon", "--no-detach", "--port=873"]).arg(format!("--address={SERVER}"));
            command.arg(format!("--config={}", write("rsyncd.conf", text)?.display()));
            (command, 873)
        }
        Tool::GitClone | Tool::GitPush => {
            let mut git = git(None)?;
            git.args(["daemon", "--export-all", "--enable=receive-pack", "--reuseaddr", "--port=9418"]);
            git.arg(format!("--listen={SERVER}")).arg(format!("--base-path={}", stock.folder().display()));
            (git, 9_418)
        }
        Tool::RcloneGet => {
            let mut rclone = program("rclone")?;
            rclone.args(["--config=", "serve", "webdav", "--read-only"]).arg(stock.at("www"));
            rclone.arg(format!("--addr={SERVER}:{WEBDAV}"));
            (rclone, WEBDAV)
        }
        Tool::Scp | Tool::RclonePut | Tool::ViOpen | Tool::ViSave | Tool::Soffice => {
            let file = write("sshd.conf", sshd(&stock.at("ssh-host"), &stock.at("ssh-authorized")))?;
            let mut command = program("sshd")?;
            command.args(["-D", "-e", "-f"]).arg(file);
            (command, 22)
        }
        Tool::Mysqldump => {
            let mut command = stock.mariadbd();
            command.arg(format!("--bind-address={SERVER}")).arg("--port=3306");
            (command, 3306)
        }
        Tool::Copy => {
            let mut command = stock.postgres()?;
            command.args(["-h", &SERVER.to_string(), "-p", "5432"]);
            (command, 5432)
        }
        Tool::HdfsPut => return hadoop::serve(scene),
        _ => benchmarks::server(scene)?,
    };
    let mut command = if cell.way == Way::Mptcp { multipath(&command) } else { command };
    command.stdout(Stdio::null());
    let mut process = scene.start(&site.srv, command, "server")?;
    process.until_it_listens(&site.srv, port, stop)?;
    benchmarks::load(scene)?;
    Ok(vec![process])
}

/// The command under `mptcpize`, which makes its sockets use MPTCP.
fn multipath(command: &Command) -> Command {
    use std::os::unix::process::CommandExt;
    let mut under = Command::new(find("mptcpize").unwrap_or_default());
    under.arg("run").arg(command.get_program()).args(command.get_args());
    clean(&mut under);
    if let Some(folder) = command.get_current_dir() {
        under.current_dir(folder);
        // PostgreSQL refuses to run as root. The owner of its folder is its user.
        if let Ok(owner) = fs::metadata(folder) {
            use std::os::unix::fs::MetadataExt;
            under.uid(owner.uid()).gid(owner.gid());
        }
    }
    under
}

fn nginx(root: &Path) -> String {
    format!(
        "daemon off;\nuser root;\nworker_processes 1;\npid nginx.pid;\nerror_log stderr;\n\
         events {{ worker_connections 1024; }}\n\
         http {{\n  access_log off;\n  sendfile on;\n  client_max_body_size 0;\n  client_body_temp_path body;\n\
         \x20 server {{\n    listen {SERVER}:80;\n    root {};\n    location /put/ {{ dav_methods PUT; }}\n  }}\n}}\n",
        root.display()
    )
}

fn sshd(host_key: &Path, authorized: &Path) -> String {
    format!(
        "Port 22\nListenAddress {SERVER}\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nStrictModes no\nUsePAM no\n\
         PermitRootLogin prohibit-password\nPasswordAuthentication no\nUseDNS no\nSubsystem sftp internal-sftp\n",
        host_key.display(),
        authorized.display()
    )
}
