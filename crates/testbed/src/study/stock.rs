//! What servers serve: files, databases, keys. They are made on first use, the same in every run.

use super::gateways::make_keys;
use super::office;
use super::process::finish;
use super::tool::find;
use super::{Cell, Tool, TrialError};
use des::RandomStream;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use units::Bytes;

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
        for name in ["www/put", "text", "documents", "git", "logs"] {
            fs::create_dir_all(stock.at(name)).map_err(TrialError::system("make folders for servers"))?;
        }
        // Databases run under users of their own, who must reach their folders.
        fs::set_permissions(folder, fs::Permissions::from_mode(0o711))
            .map_err(TrialError::system("open the folder for servers"))?;
        Ok(stock)
    }

    /// The folder of everything.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The path of a file or folder in the stock.
    pub(super) fn at(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The payload of a cell's program.
    pub(super) fn payload(&self, cell: &Cell) -> Bytes {
        if cell.program.cut().is_some() { self.endless } else { cell.program.size }
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
        if matches!(tool, Tool::Scp | Tool::RclonePut) || tool.works_on_files() {
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
            Tool::GitClone | Tool::GitPush => {
                stock.write_random(size)?;
                stock.make_repository(&stock.served(cell))
            }
            Tool::Redis | Tool::RedisPipelined | Tool::Iperf3 | Tool::Iperf3Both | Tool::Dns => Ok(()),
            Tool::JavaNio | Tool::Go | Tool::Node | Tool::Asyncio | Tool::Websocket => stock.build(tool),
            tool if tool.is_pgbench() => stock.fill_pgbench(stop),
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
}

/// Bytes that the path can carry in a cell that is cut off by time.
fn needed_while_cut(cell: &Cell) -> Option<Bytes> {
    const SPARE_S: f64 = 5.0;
    let time = cell.program.cut()?.as_secs_f64() + 12.0 * cell.path.round_trip().as_secs_f64() + SPARE_S;
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
