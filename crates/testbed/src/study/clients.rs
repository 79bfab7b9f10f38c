//! The client programs, as a user types them.

use super::arrival::Arrives;
use super::benchmarks;
use super::databases::{copy_statement, dump_options};
use super::hadoop;
use super::office;
use super::process::{Process, finish};
use super::repositories::{self, BRANCH, git};
use super::scene::Scene;
use super::servers::WEBDAV;
use super::site::SERVER;
use super::stock::{Stock, clean, program};
use super::tool::find;
use super::{Tool, TrialError, Way};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use units::Time;

/// A program ready to start.
pub struct Client {
    pub command: Command,
    pub arrives: Arrives,
    /// The command that converts what was saved to a form that can be compared.
    pub opens: Option<Command>,
    mount: Option<Mount>,
}

/// A mounted file system. Dropping it unmounts.
struct Mount {
    #[expect(dead_code, reason = "held for its drop, after the file system is unmounted")]
    process: Process,
    at: PathBuf,
}

impl Mount {
    /// Mounts a folder of the server by `sshfs`.
    fn new(scene: Scene<'_>, prefix: &[OsString], remote: &Path) -> Result<Self, TrialError> {
        let Scene { stock, site, work, stop, .. } = scene;
        let at = work.join("mounted");
        fs::create_dir(&at).map_err(TrialError::system("make a folder to mount at"))?;
        let mut sshfs = with("sshfs", &["-f", "-F"])?;
        sshfs.arg(ssh_settings(stock, work)?).arg(format!("far:{}", remote.display())).arg(&at);
        let before = device(work);
        let mut process = scene.start(&site.app, behind(prefix, sshfs), "sshfs")?;
        process.until("mount", Time::from_secs(60), stop, || device(&at).is_some_and(|at| Some(at) != before))?;
        Ok(Self { process, at })
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // A lazy unmount succeeds even if the server is already gone.
        if let Some(umount) = find("umount") {
            let _ = Command::new(umount).args(["--lazy", "--"]).arg(&self.at).stderr(Stdio::null()).status();
        }
    }
}

impl Client {
    /// The commands of a cell. `prefix` precedes the command that connects.
    pub fn of(scene: Scene<'_>, prefix: &[OsString]) -> Result<Self, TrialError> {
        let Scene { cell, stock, work, .. } = scene;
        let arrived = work.join("arrived");
        let served = stock.served(cell);
        let url = format!("http://{SERVER}/{served}");
        let size = stock.payload(cell);
        let (own, arrives) = match (cell.way, cell.program.tool) {
            (Way::Aria2, _) => {
                let mut aria2 = program("aria2c")?;
                aria2.args([
                    "--no-conf",
                    "--quiet",
                    "-x16",
                    "-s16",
                    "-k1M",
                    "--file-allocation=none",
                    "--disk-cache=0",
                ]);
                aria2.arg("-d").arg(work).args(["-o", "arrived", &url]);
                (aria2, Arrives::Parts(arrived))
            }
            (Way::Lftp, _) => {
                // No quoting is needed: the words are our own, an address and plain folder names.
                let mut lftp = program("lftp")?;
                // Otherwise the whole file has its blocks from the start, and progress cannot be seen.
                let what = format!("set file:use-fallocate no; pget -n 16 {url} -o {}", arrived.display());
                lftp.args(["--norc", "-c", &what]);
                (lftp, Arrives::Parts(arrived))
            }
            (_, Tool::Curl) => (with("curl", &["-q", "-sS", &url])?, Arrives::Stdout),
            (_, Tool::Wget) => (with("wget", &["--no-config", "-q", "-O", "-", &url])?, Arrives::Stdout),
            (_, Tool::Put) => {
                let mut curl = with("curl", &["-q", "-sS", "--fail", "-T"])?;
                curl.arg(stock.original(cell)).arg(format!("http://{SERVER}/put/arrived")).stdout(Stdio::null());
                let there = stock.at("www/put/arrived");
                forget(&there)?;
                (curl, Arrives::File(there))
            }
            (_, Tool::Rsync) => {
                let mut rsync = with("rsync", &["--whole-file", "--inplace"])?;
                rsync.arg(format!("rsync://{SERVER}/stock/{served}")).arg(&arrived);
                (rsync, Arrives::File(arrived))
            }
            (_, Tool::Scp) => {
                let mut scp = with("scp", &["-q", "-F"])?;
                scp.arg(ssh_settings(stock, work)?);
                scp.arg(format!("far:{}", stock.original(cell).display())).arg(&arrived);
                (scp, Arrives::File(arrived))
            }
            (_, Tool::Mysqldump) => {
                let mut dump = with("mysqldump", &["--no-defaults", "--port=3306", "--user=study"])?;
                dump.arg(format!("--host={SERVER}")).args(dump_options(size));
                (dump, Arrives::Stdout)
            }
            (_, Tool::Copy) => {
                let mut psql = with("psql", &["-X", "-q", "-U", "postgres", "-d", "postgres", "-p", "5432"])?;
                psql.args(["-h", &SERVER.to_string(), "-c", &copy_statement(size)]);
                (psql, Arrives::Stdout)
            }
            (_, Tool::Ffmpeg) => {
                (with("ffmpeg", &["-nostdin", "-v", "error", "-i", &url, "-f", "md5", "-"])?, Arrives::Answer)
            }
            (_, Tool::ViOpen | Tool::ViSave | Tool::Soffice) => return Self::on_files(scene, prefix),
            (_, Tool::GitClone) => {
                let (mut git, clone) = (git(None)?, work.join("clone"));
                git.args(["clone", "-q", &format!("git://{SERVER}/git/{served}").replace(".bin", ".git")]).arg(&clone);
                (git, Arrives::File(clone.join(&served)))
            }
            (_, Tool::GitPush) => return Self::push(scene, prefix),
            (_, Tool::RcloneGet) => {
                let mut rclone = with("rclone", &["--config=", "copyto"])?;
                rclone.arg(format!("--webdav-url=http://{SERVER}:{WEBDAV}"));
                rclone.arg(format!(":webdav:{served}")).arg(&arrived);
                (rclone, Arrives::File(arrived))
            }
            (_, Tool::RclonePut) => {
                let mut rclone = with("rclone", &["--config=", "copyto", "--sftp-user=root"])?;
                rclone.arg(format!("--sftp-host={SERVER}"));
                rclone.arg(format!("--sftp-key-file={}", stock.at("ssh-user").display()));
                rclone.arg(stock.original(cell)).arg(format!(":sftp:{}", arrived.display()));
                (rclone, Arrives::File(arrived))
            }
            (_, Tool::HdfsPut) => {
                let put = hadoop::put(work, &stock.original(cell))?;
                let opens = Some(hadoop::take_block(work, &arrived)?);
                return Ok(Self {
                    command: behind(prefix, put),
                    arrives: Arrives::Opened(arrived),
                    opens,
                    mount: None,
                });
            }
            _ => (benchmarks::client(scene)?, Arrives::Report),
        };
        Ok(Self { command: behind(prefix, own), arrives, opens: None, mount: None })
    }

    /// `git push` to an empty repository, whose branch is then checked out.
    fn push(scene: Scene<'_>, prefix: &[OsString]) -> Result<Self, TrialError> {
        let Scene { cell, stock, work, .. } = scene;
        let (served, there, out) = (stock.served(cell), work.join("there.git"), work.join("out"));
        repositories::empty(&there)?;
        fs::create_dir(&out).map_err(TrialError::system("make a folder to check out"))?;
        let cell_folder = work.file_name().unwrap_or_default().to_string_lossy();
        let mut push = git(Some(&stock.at("git").join(&served).with_extension("git")))?;
        push.args(["push", "-q", &format!("git://{SERVER}/{cell_folder}/there.git"), BRANCH]);
        let mut opens = git(Some(&there))?;
        opens.arg("--work-tree").arg(&out).args(["checkout", "-q", "-f", BRANCH]);
        let arrives = Arrives::Opened(out.join(served));
        Ok(Self { command: behind(prefix, push), arrives, opens: Some(opens), mount: None })
    }

    /// A program that works on the server's files, mounted by `sshfs` beforehand. The measurement starts with the
    /// program.
    fn on_files(scene: Scene<'_>, prefix: &[OsString]) -> Result<Self, TrialError> {
        let Scene { cell, stock, work, .. } = scene;
        let there = work.join("there");
        fs::create_dir(&there).map_err(TrialError::system("make a folder for files"))?;
        let remote = if cell.program.tool == Tool::ViOpen { stock.at("text") } else { there.clone() };
        let (mount, at) = if cell.way == Way::Local {
            (None, remote)
        } else {
            let mount = Mount::new(scene, prefix, &remote)?;
            let at = mount.at.clone();
            (Some(mount), at)
        };
        let client = match cell.program.tool {
            Tool::Soffice => Self::office(scene, &there, &at)?,
            tool => Self::editor(scene, &there, &at, tool == Tool::ViSave)?,
        };
        Ok(Self { mount, ..client })
    }

    /// `ex`, which reads a file on one side and writes it on the other. The server's folder `there` is mounted here
    /// `at`.
    fn editor(scene: Scene<'_>, there: &Path, at: &Path, saves: bool) -> Result<Self, TrialError> {
        let Scene { cell, stock, work, .. } = scene;
        let (served, arrived) = (stock.served(cell), work.join("arrived"));
        let mut ex = with("ex", &["-s", "-u", "NONE", "-i", "NONE", "-n"])?;
        let (file, arrives) = if saves {
            ex.args(["-c", "%s/alpha/bravo/", "-c", &format!("w! {}", at.join("saved").display())]);
            (stock.at("text").join(served), there.join("saved"))
        } else {
            ex.args(["-c", &format!("w! {}", arrived.display())]);
            (at.join(served), arrived)
        };
        ex.args(["-c", "qa!"]).arg(file).stdout(Stdio::null());
        Ok(Self { command: ex, arrives: Arrives::File(arrives), opens: None, mount: None })
    }

    /// `soffice`, which opens a document of the server and saves it. It has done so on a local document before, so its
    /// first start is not measured.
    fn office(scene: Scene<'_>, there: &Path, at: &Path) -> Result<Self, TrialError> {
        let Scene { cell, stock, work, .. } = scene;
        let (own, served) = (work.join("office"), stock.served(cell));
        for folder in [&own, &there.join("saved")] {
            fs::create_dir(folder).map_err(TrialError::system("make a folder for documents"))?;
        }
        let document = stock.at("documents").join(&served);
        finish(&mut office::save(&own, &document, &own)?)?;
        fs::hard_link(&document, there.join(&served)).map_err(TrialError::system("link a document"))?;
        Ok(Self {
            command: office::save(&own, &at.join(&served), &at.join("saved"))?,
            opens: Some(office::open(&own, &there.join("saved").join(&served), &own)?),
            arrives: Arrives::Opened(own.join(served).with_extension("html")),
            mount: None,
        })
    }

    /// Unmounts what is mounted, so that its folder can be removed.
    pub fn unmount(&mut self) {
        self.mount = None;
    }
}

fn with(name: &'static str, arguments: &[&str]) -> Result<Command, TrialError> {
    let mut command = program(name)?;
    command.args(arguments);
    Ok(command)
}

/// The command, preceded by the words of `prefix`.
fn behind(prefix: &[OsString], command: Command) -> Command {
    let Some((first, rest)) = prefix.split_first() else { return command };
    let mut behind = Command::new(first);
    behind.args(rest).arg(command.get_program()).args(command.get_args());
    clean(&mut behind);
    behind
}

/// Removes a file if it exists.
pub fn forget(file: &Path) -> Result<(), TrialError> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(TrialError::system(format!("remove {}", file.display()))(error))
        }
        _ => Ok(()),
    }
}

fn device(folder: &Path) -> Option<u64> {
    fs::metadata(folder).ok().map(|metadata| metadata.dev())
}

fn ssh_settings(stock: &Stock, work: &Path) -> Result<PathBuf, TrialError> {
    let file = work.join("ssh.conf");
    let text = format!(
        "Host far\nHostName {SERVER}\nUser root\nIdentityFile {}\nIdentitiesOnly yes\nStrictHostKeyChecking no\n\
         UserKnownHostsFile /dev/null\nGlobalKnownHostsFile /dev/null\nLogLevel ERROR\nBatchMode yes\nCompression no\n",
        stock.at("ssh-user").display()
    );
    fs::write(&file, text).map_err(TrialError::system("write ssh's settings"))?;
    Ok(file)
}
