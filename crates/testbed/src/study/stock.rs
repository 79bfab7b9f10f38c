//! What servers serve: files, databases, keys. They are made on first use, the same in every run.

use super::gateways::make_keys;
use super::office;
use super::process::{Process, finish};
use super::tool::{find, postgres};
use super::{Cell, Tool, TrialError};
use crate::link::Namespace;
use des::RandomStream;
use nix::unistd::User;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use units::{Bytes, Time};

/// The folder of everything that is served.
pub struct Stock {
    folder: PathBuf,
    /// The `trunkline` whose gateways are measured.
    pub(super) program: PathBuf,
    /// Size of the file for downloads that are cut off by time.
    endless: Bytes,
    /// What was made so far, by name, or why it could not be made.
    made: BTreeMap<String, Result<(), String>>,
}

/// Bytes per row of the databases.
const ROW: u64 = 1_000;

impl Stock {
    /// A stock for these cells, in an existing folder.
    pub fn new<'a>(
        folder: &Path,
        program: &Path,
        cells: impl IntoIterator<Item = &'a Cell>,
    ) -> Result<Self, TrialError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '-' | '_' | '.');
        if !folder.to_str().is_some_and(|name| name.chars().all(plain)) {
            let name = folder.display();
            return Err(TrialError::Failed(format!(
                "{name} cannot hold servers' files: name a folder of letters, digits, /, -, _ and . alone (--scratch)"
            )));
        }
        let endless = cells.into_iter().filter_map(needed_while_cut).max().unwrap_or_default();
        let stock = Self { folder: folder.to_owned(), program: program.to_owned(), endless, made: BTreeMap::new() };
        for name in ["www/put", "text", "documents", "logs"] {
            fs::create_dir_all(stock.at(name)).map_err(TrialError::system("make folders for servers"))?;
        }
        // Databases run under users of their own, who must reach their folders.
        fs::set_permissions(folder, fs::Permissions::from_mode(0o711))
            .map_err(TrialError::system("open the folder for servers"))?;
        Ok(stock)
    }

    /// The path of a file or folder in the stock.
    pub(super) fn at(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The payload of a cell's program.
    pub(super) fn payload(&self, cell: &Cell) -> Bytes {
        if cell.program.time.is_some() { self.endless } else { cell.program.size }
    }

    /// Bytes that have to arrive in a cell. The encoder ends a video with the frame that reaches the size, and the
    /// program decides a document's size.
    pub(super) fn whole(&self, cell: &Cell) -> u64 {
        let (asked, tool) = (self.payload(cell).get(), cell.program.tool);
        let made = match tool {
            Tool::Ffmpeg => Some("www"),
            Tool::Soffice => Some("documents"),
            _ => None,
        };
        let file = made.and_then(|folder| fs::metadata(self.at(folder).join(self.served(cell))).ok());
        file.map_or(asked, |file| file.len()) * tool.crossings()
    }

    /// The server's name of a cell's file.
    pub(super) fn served(&self, cell: &Cell) -> String {
        let size = self.payload(cell).get();
        match cell.program.tool {
            Tool::Ffmpeg => format!("{size}.mkv"),
            Tool::ViOpen | Tool::ViSave => format!("{size}.txt"),
            Tool::Soffice => format!("{size}.{}", office::SAVED),
            _ => format!("{size}.bin"),
        }
    }

    /// The file with the exact bytes that have to arrive.
    pub(super) fn original(&self, cell: &Cell) -> PathBuf {
        let size = self.payload(cell).get();
        match cell.program.tool {
            Tool::Mysqldump => self.at(&format!("{size}.sql")),
            Tool::Copy => self.at(&format!("{size}.copy")),
            Tool::Ffmpeg => self.at(&format!("{size}.md5")),
            Tool::ViOpen => self.at("text").join(self.served(cell)),
            Tool::ViSave => self.at(&format!("{size}.changed")),
            Tool::Soffice => self.at(&format!("documents/{size}.html")),
            _ => self.at("www").join(self.served(cell)),
        }
    }

    /// Makes what a cell needs, once.
    pub(super) fn provide(&mut self, cell: &Cell, stop: &(dyn Fn() -> bool + Sync)) -> Result<(), TrialError> {
        let tool = cell.program.tool;
        if cell.way.has_gateways() {
            self.once("keys of gateways", |stock| make_keys(&stock.program, &stock.at("keys")))?;
        }
        if tool == Tool::Scp || tool.works_on_files() {
            self.once("keys of ssh", Self::make_ssh_keys)?;
        }
        let size = self.payload(cell);
        let what = format!("{} {}", tool.stock(), size.get());
        self.once(&what, |stock| match tool {
            Tool::Mysqldump => stock.fill_mariadb(size, stop),
            Tool::Copy => stock.fill_postgres(size, stop),
            Tool::Ffmpeg => stock.make_video(size),
            Tool::ViOpen | Tool::ViSave => stock.write_text(size),
            Tool::Soffice => office::make(&stock.at("documents"), &size.get().to_string(), size),
            _ => stock.write_random(size),
        })
    }

    fn once(&mut self, what: &str, make: impl FnOnce(&mut Self) -> Result<(), TrialError>) -> Result<(), TrialError> {
        if let Some(made) = self.made.get(what) {
            return made.clone().map_err(TrialError::Failed);
        }
        let made = make(self);
        if !matches!(made, Err(TrialError::Interrupted)) {
            self.made.insert(what.to_owned(), made.as_ref().map_err(ToString::to_string).copied());
        }
        made
    }

    /// Writes bytes that do not compress.
    fn write_random(&mut self, size: Bytes) -> Result<(), TrialError> {
        let mut random = RandomStream::new(1, "testbed/file", 0);
        self.write(&format!("www/{}.bin", size.get()), |out| {
            let mut left = size.get();
            while left > 0 {
                let word = random.next_u64().to_le_bytes();
                let length = left.min(8);
                out.write_all(&word[..length as usize])?;
                left -= length;
            }
            Ok(())
        })
    }

    /// Writes lines of words, and a copy with one word changed in each line.
    fn write_text(&mut self, size: Bytes) -> Result<(), TrialError> {
        let bytes = size.get();
        for (name, word) in [(format!("text/{bytes}.txt"), "alpha"), (format!("{bytes}.changed"), "bravo")] {
            let mut random = RandomStream::new(1, "testbed/text", 0);
            self.write(&name, |out| {
                let mut left = bytes as usize;
                while left > 0 {
                    let mut line = format!("{word} {:016x}{:016x}", random.next_u64(), random.next_u64());
                    // The last line fills up the size, with its line end.
                    line.extend(std::iter::repeat_n(
                        '.',
                        if left < 160 { left } else { 79 }.saturating_sub(line.len() + 1),
                    ));
                    line.truncate(left - 1);
                    line.push('\n');
                    out.write_all(line.as_bytes())?;
                    left -= line.len();
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    fn write(
        &self,
        name: &str,
        content: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
    ) -> Result<(), TrialError> {
        let written = || -> std::io::Result<()> {
            let mut out = BufWriter::with_capacity(1 << 20, File::create(self.at(name))?);
            content(&mut out)?;
            out.flush()
        };
        written().map_err(TrialError::system(format!("write {} to serve it", self.at(name).display())))
    }

    fn make_ssh_keys(&mut self) -> Result<(), TrialError> {
        for name in ["ssh-host", "ssh-user"] {
            let file = self.at(name);
            finish(program("ssh-keygen")?.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(file))?;
        }
        let copied = fs::copy(self.at("ssh-user.pub"), self.at("ssh-authorized"));
        copied.map(|_| ()).map_err(TrialError::system("write ssh's keys"))
    }

    /// Moving noise, so that the file is large and cheap to decode.
    fn make_video(&mut self, size: Bytes) -> Result<(), TrialError> {
        let file = self.at("www").join(format!("{}.mkv", size.get()));
        let input = "testsrc2=size=320x240:rate=25,noise=alls=60:allf=t:all_seed=1";
        finish(
            program("ffmpeg")?
                .args(["-nostdin", "-v", "error", "-f", "lavfi", "-i", input, "-c:v", "mjpeg", "-q:v", "2"])
                .args(["-pix_fmt", "yuvj420p", "-threads", "1", "-fs", &size.get().to_string()])
                .arg(&file),
        )?;
        let sum =
            finish(program("ffmpeg")?.args(["-nostdin", "-v", "error", "-i"]).arg(&file).args(["-f", "md5", "-"]))?;
        fs::write(self.at(&format!("{}.md5", size.get())), sum).map_err(TrialError::system("write the video's sum"))
    }

    /// Makes a folder that a database's user owns.
    fn folder_of(&self, name: &str, user: &str) -> Result<(PathBuf, User), TrialError> {
        let found = User::from_name(user).ok().flatten();
        let user = found.ok_or_else(|| TrialError::Failed(format!("this host has no user {user}")))?;
        let folder = self.at(name);
        let made = || -> std::io::Result<()> {
            fs::create_dir_all(&folder)?;
            fs::set_permissions(&folder, fs::Permissions::from_mode(0o700))?;
            chown(&folder, Some(user.uid.as_raw()), Some(user.gid.as_raw()))
        };
        made().map_err(TrialError::system(format!("make {}", folder.display())))?;
        Ok((folder, user))
    }

    /// The MariaDB server, with the options of every run.
    pub(super) fn mariadbd(&self) -> Command {
        let folder = self.at("mariadb");
        let mut command = Command::new(find("mariadbd").unwrap_or_default());
        command.args(["--no-defaults", "--user=mysql", "--skip-name-resolve", "--skip-log-bin"]);
        command.args(["--innodb-flush-log-at-trx-commit=0", "--innodb-log-file-size=256M"]);
        for option in ["datadir", "tmpdir"] {
            command.arg(format!("--{option}={}", folder.display()));
        }
        command.arg(format!("--socket={}", folder.join("sock").display()));
        command.arg(format!("--pid-file={}", folder.join("pid").display()));
        command.stdout(Stdio::null());
        command
    }

    fn fill_mariadb(&mut self, size: Bytes, stop: &(dyn Fn() -> bool + Sync)) -> Result<(), TrialError> {
        let fresh = !self.at("mariadb").exists();
        let (folder, _) = self.folder_of("mariadb", "mysql")?;
        if fresh {
            let install = format!("--datadir={}", folder.display());
            let options =
                ["--no-defaults", "--user=mysql", "--skip-test-db", "--auth-root-authentication-method=normal"];
            finish(program("mariadb-install-db")?.args(options).arg(install))?;
        }
        let here = Namespace::of_thread()?;
        let mut command = self.mariadbd();
        command.arg("--skip-networking");
        let mut server = Process::start(&here, command, "mariadb-filled", &self.at("logs"))?;
        let socket = format!("--socket={}", folder.join("sock").display());
        server.until("answer", Time::from_secs(60), stop, || folder.join("sock").exists())?;
        let (bytes, rows) = (size.get(), size.get().div_ceil(ROW));
        let sql = format!(
            "create database if not exists d{bytes}; create user if not exists study@'%'; grant all on *.* to \
             study@'%'; \
             use d{bytes}; create table records (id int primary key, text varchar({ROW})); \
             insert into records select seq, substring(repeat(md5(seq), 32), 1, {ROW}) from seq_1_to_{rows}"
        );
        finish(program("mysql")?.args(["--no-defaults", &socket, "--user=root", "-e", &sql]))?;
        let dump = File::create(self.at(&format!("{bytes}.sql"))).map_err(TrialError::system("write a dump"))?;
        finish(
            program("mysqldump")?
                .args(["--no-defaults", &socket, "--user=study"])
                .args(dump_options(size))
                .stdout(dump),
        )?;
        server.end();
        Ok(())
    }

    /// The PostgreSQL server, with the options of every run, as its own user.
    pub(super) fn postgres(&self) -> Result<Command, TrialError> {
        let (folder, user) = self.folder_of("postgres", "postgres")?;
        let mut command = Command::new(postgres("postgres").unwrap_or_default());
        command.uid(user.uid.as_raw()).gid(user.gid.as_raw()).current_dir(&folder);
        command.arg("-D").arg(&folder).arg("-k").arg(&folder);
        command.args(["-c", "fsync=off", "-c", "synchronous_commit=off"]).stdout(Stdio::null());
        Ok(command)
    }

    fn fill_postgres(&mut self, size: Bytes, stop: &(dyn Fn() -> bool + Sync)) -> Result<(), TrialError> {
        let fresh = !self.at("postgres").exists();
        let (folder, user) = self.folder_of("postgres", "postgres")?;
        if fresh {
            let mut initdb = Command::new(postgres("initdb").unwrap_or_default());
            initdb.uid(user.uid.as_raw()).gid(user.gid.as_raw()).current_dir(&folder);
            finish(initdb.args(["--auth=trust", "--no-sync", "--locale=C", "--encoding=UTF8", "-D"]).arg(&folder))?;
            let mut access = File::options()
                .append(true)
                .open(folder.join("pg_hba.conf"))
                .map_err(TrialError::system("let clients into PostgreSQL"))?;
            writeln!(access, "host all all 198.18.0.0/15 trust").map_err(TrialError::system("let clients in"))?;
        }
        let here = Namespace::of_thread()?;
        let mut command = self.postgres()?;
        command.args(["-h", ""]);
        let mut server = Process::start(&here, command, "postgres-filled", &self.at("logs"))?;
        server.until("answer", Time::from_secs(60), stop, || folder.join(".s.PGSQL.5432").exists())?;
        let (bytes, rows) = (size.get(), size.get().div_ceil(ROW));
        let sql = format!(
            "create table r{bytes} as select i, substring(repeat(md5(i::text), 32), 1, {ROW}) as text from \
             generate_series(1, {rows}) i"
        );
        let at = folder.to_string_lossy().into_owned();
        let psql = |sql: &str| -> Result<Command, TrialError> {
            let mut psql = program("psql")?;
            psql.args(["-X", "-q", "-h", &at, "-U", "postgres", "-d", "postgres", "-c", sql]);
            Ok(psql)
        };
        // The server listens before it has recovered.
        server.until("answer", Time::from_secs(60), stop, || {
            psql("select 1").is_ok_and(|mut psql| finish(&mut psql).is_ok())
        })?;
        finish(&mut psql(&sql)?)?;
        let copy = File::create(self.at(&format!("{bytes}.copy"))).map_err(TrialError::system("write a copy"))?;
        finish(psql(&copy_statement(size))?.stdout(copy))?;
        server.end();
        Ok(())
    }
}

/// Options with which the output of `mysqldump` is the same every time.
pub(super) fn dump_options(size: Bytes) -> [String; 3] {
    ["--compact".to_owned(), "--skip-dump-date".to_owned(), format!("d{}", size.get())]
}

/// The statement that copies the whole table.
pub(super) fn copy_statement(size: Bytes) -> String {
    format!("copy r{} to stdout", size.get())
}

/// Bytes that the path can carry in a cell that is cut off by time.
fn needed_while_cut(cell: &Cell) -> Option<Bytes> {
    const SPARE_S: f64 = 5.0;
    let time = cell.program.time?.as_secs_f64() + 12.0 * cell.path.round_trip().as_secs_f64() + SPARE_S;
    let rate_bps = cell.capacity_bps().unwrap_or(1e9);
    Some(Bytes::from_mb((rate_bps / 8e6 * time).ceil() as u64))
}

/// A program without the user's environment.
pub(super) fn program(name: &'static str) -> Result<Command, TrialError> {
    let file = find(name).ok_or_else(|| TrialError::Failed(format!("{name} is not installed")))?;
    let mut command = Command::new(file);
    clean(&mut command);
    Ok(command)
}

/// Replaces the user's environment by a fixed one.
pub(super) fn clean(command: &mut Command) {
    command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("HOME", "/nonexistent").env("LC_ALL", "C");
}
