//! The programs, as a user types them.

use super::arrival::Arrives;
use super::process::Process;
use super::scene::Scene;
use super::site::SERVER;
use super::stock::{Stock, clean, copy_statement, dump_options, program};
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
    mount: Option<Mount>,
}

/// A mounted file system, which goes with this.
struct Mount {
    #[expect(dead_code, reason = "held for its drop, after the file system is unmounted")]
    process: Process,
    at: PathBuf,
}

impl Drop for Mount {
    fn drop(&mut self) {
        // Lazily: it goes even if the server has gone before.
        if let Some(umount) = find("umount") {
            let _ = Command::new(umount).args(["--lazy", "--"]).arg(&self.at).stderr(Stdio::null()).status();
        }
    }
}

impl Client {
    /// What a cell runs. `prefix` stands before whatever connects.
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
                // Its words are ours: an address, and names of folders that are plain.
                let mut lftp = program("lftp")?;
                lftp.args(["--norc", "-c", &format!("pget -n 16 {url} -o {}", arrived.display())]);
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
            (_, tool @ (Tool::ViOpen | Tool::ViSave)) => {
                return Self::editor(scene, prefix, tool == Tool::ViSave);
            }
        };
        Ok(Self { command: behind(prefix, own), arrives, mount: None })
    }

    /// `ex` on a file system that `sshfs` mounts before it starts: what is measured begins with the editor.
    fn editor(scene: Scene<'_>, prefix: &[OsString], saves: bool) -> Result<Self, TrialError> {
        let Scene { cell, stock, site, work, stop } = scene;
        let (mounted, there, arrived) = (work.join("mounted"), work.join("there"), work.join("arrived"));
        let text = stock.at("text").join(stock.served(cell));
        for folder in [&mounted, &there] {
            fs::create_dir(folder).map_err(TrialError::system("make a folder to mount at"))?;
        }
        let remote = if saves { there.clone() } else { stock.at("text") };
        let mut sshfs = with("sshfs", &["-f", "-F"])?;
        sshfs.arg(ssh_settings(stock, work)?).arg(format!("far:{}", remote.display())).arg(&mounted);
        let before = device(work);
        let mut process = scene.start(&site.app, behind(prefix, sshfs), "sshfs")?;
        process.until("mount", Time::from_secs(60), stop, || device(&mounted).is_some_and(|at| Some(at) != before))?;
        let mount = Mount { process, at: mounted.clone() };
        let mut ex = with("ex", &["-s", "-u", "NONE", "-i", "NONE", "-n"])?;
        let (file, arrives) = if saves {
            ex.args(["-c", "%s/alpha/bravo/", "-c", &format!("w! {}", mounted.join("saved").display())]);
            (text, there.join("saved"))
        } else {
            ex.args(["-c", &format!("w! {}", arrived.display())]);
            (mounted.join(stock.served(cell)), arrived)
        };
        ex.args(["-c", "qa!"]).arg(file).stdout(Stdio::null());
        Ok(Self { command: ex, arrives: Arrives::File(arrives), mount: Some(mount) })
    }

    /// Whether something has to be unmounted before its folder can go.
    pub fn unmount(&mut self) {
        self.mount = None;
    }
}

fn with(name: &'static str, arguments: &[&str]) -> Result<Command, TrialError> {
    let mut command = program(name)?;
    command.args(arguments);
    Ok(command)
}

/// The same behind words that run it.
fn behind(prefix: &[OsString], command: Command) -> Command {
    let Some((first, rest)) = prefix.split_first() else { return command };
    let mut behind = Command::new(first);
    behind.args(rest).arg(command.get_program()).args(command.get_args());
    clean(&mut behind);
    behind
}

fn forget(file: &Path) -> Result<(), TrialError> {
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
