//! The databases that servers serve.

use super::TrialError;
use super::process::{Process, finish};
use super::stock::{Stock, program};
use super::tool::{find, postgres};
use crate::link::Namespace;
use nix::unistd::User;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use units::{Bytes, Time};

/// Bytes per row of the databases that are copied whole.
const ROW: u64 = 1_000;
/// `pgbench` asks for a scale of at least its number of clients, whose updates else wait for each other.
const PGBENCH_SCALE: u32 = 16;

impl Stock {
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

    pub(super) fn fill_mariadb(&mut self, size: Bytes, stop: &(dyn Fn() -> bool + Sync)) -> Result<(), TrialError> {
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

    pub(super) fn fill_postgres(&mut self, size: Bytes, stop: &(dyn Fn() -> bool + Sync)) -> Result<(), TrialError> {
        let filling = self.start_postgres(stop)?;
        let (bytes, rows) = (size.get(), size.get().div_ceil(ROW));
        let sql = format!(
            "create table r{bytes} as select i, substring(repeat(md5(i::text), 32), 1, {ROW}) as text from \
             generate_series(1, {rows}) i"
        );
        finish(&mut self.psql(&sql)?)?;
        let copy = File::create(self.at(&format!("{bytes}.copy"))).map_err(TrialError::system("write a copy"))?;
        finish(self.psql(&copy_statement(size))?.stdout(copy))?;
        drop(filling);
        Ok(())
    }

    /// Makes the tables of `pgbench`.
    pub(super) fn fill_pgbench(&mut self, stop: &(dyn Fn() -> bool + Sync)) -> Result<(), TrialError> {
        let filling = self.start_postgres(stop)?;
        let mut pgbench = program("pgbench")?;
        pgbench.arg("-h").arg(self.at("postgres")).args(["-U", "postgres", "-i", "-q", "-I", "dtGvp"]);
        finish(pgbench.args(["-s", &PGBENCH_SCALE.to_string(), "postgres"]))?;
        drop(filling);
        Ok(())
    }

    /// Starts PostgreSQL to fill it, at a socket in its folder.
    fn start_postgres(&mut self, stop: &(dyn Fn() -> bool + Sync)) -> Result<Process, TrialError> {
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
        // The server listens before it has recovered.
        server.until("answer", Time::from_secs(60), stop, || {
            self.psql("select 1").is_ok_and(|mut psql| finish(&mut psql).is_ok())
        })?;
        Ok(server)
    }

    /// `psql` with a statement, at the socket in the server's folder.
    fn psql(&self, sql: &str) -> Result<Command, TrialError> {
        let mut psql = program("psql")?;
        psql.args(["-X", "-q", "-h"]).arg(self.at("postgres")).args(["-U", "postgres", "-d", "postgres", "-c", sql]);
        Ok(psql)
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
