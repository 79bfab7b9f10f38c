//! Files as input: bounded, `-` for standard input, and interruptible where a pipe or a terminal lets one wait.

use crate::{Error, Stop};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::cell::Cell;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// The most bytes that are read of one file, device or pipe: 256 MiB. A history of 20,000 tasks has about this size.
pub const MOST_BYTES: usize = history::MAX_BYTES;
/// The path that means standard input.
pub const STANDARD_INPUT: &str = "-";
/// What is no text by its first bytes, and may be given for a scenario, because it is one after `trunkline import`.
const NO_TEXT: [(&[u8], &str); 4] = [
    (b"Avro-Binary", "it is a job's history, of which `trunkline import` makes a scenario"),
    (b"\x1f\x8b", "it is compressed by gzip, which `trunkline import` unpacks"),
    (b"BZh", "it is compressed by bzip2, which `trunkline import` unpacks"),
    (b"\x28\xb5\x2f\xfd", "it is compressed by zstd, which `trunkline import` unpacks"),
];
/// Bytes asked for in one read. More than standard input's own buffer, so that nothing waits in there unseen.
const PIECE: usize = 1 << 16;
/// How long a read waits before it looks whether to stop, in nanoseconds.
const LOOK_NS: i64 = 50_000_000;

/// Reads the input files of a command.
#[derive(Debug)]
pub struct Inputs<'a> {
    /// Asked while a pipe or a terminal has nothing to read.
    stop: &'a Stop,
    /// Standard input was read: there is nothing more in it.
    standard_input_read: Cell<bool>,
}

impl<'a> Inputs<'a> {
    /// Of a command that stops when asked to.
    pub const fn new(stop: &'a Stop) -> Self {
        Self { stop, standard_input_read: Cell::new(false) }
    }

    /// What is asked whether to stop.
    pub const fn stop(&self) -> &'a Stop {
        self.stop
    }

    /// Reads a file whole, or standard input where the path is `-`.
    pub fn bytes(&self, path: &Path) -> Result<Vec<u8>, Error> {
        if is_standard_input(path) {
            if self.standard_input_read.replace(true) {
                return Err(Error::Input("standard input (`-`) is named twice, and can be read once".to_owned()));
            }
            return self.bounded(path, &mut io::stdin().lock(), 0);
        }
        // Without NONBLOCK a named pipe that nobody writes to would be waited for inside open(2), deaf to the wish to
        // stop.
        let flags = rustix::fs::OFlags::NONBLOCK.bits() as i32;
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path);
        let mut file: File = file.map_err(|error| Error::reading(path, &error))?;
        let length = file.metadata().map_or(0, |about| about.len());
        self.bounded(path, &mut file, usize::try_from(length).unwrap_or(MOST_BYTES).min(MOST_BYTES))
    }

    /// Reads a text.
    pub fn text(&self, path: &Path) -> Result<String, Error> {
        String::from_utf8(self.bytes(path)?).map_err(|error| {
            let what = NO_TEXT.iter().find(|(start, _)| error.as_bytes().starts_with(start));
            let what = what.map_or_else(String::new, |(_, what)| format!(": {what}"));
            Error::Input(format!("{} is not text{what}", shown(path)))
        })
    }

    /// Reads all of a source, which is about so long.
    fn bounded(&self, path: &Path, source: &mut (impl Read + AsFd), length: usize) -> Result<Vec<u8>, Error> {
        // All at once: a vector that grows takes up to twice its length.
        let (mut bytes, mut piece) = (Vec::with_capacity(length + 1), vec![0; PIECE]);
        loop {
            self.stop.look()?;
            if !is_ready(source).map_err(|error| Error::reading(path, &error))? {
                continue;
            }
            match source.read(&mut piece) {
                Ok(0) => return Ok(bytes),
                Ok(length) => bytes.extend_from_slice(&piece[..length]),
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
                Err(error) => return Err(Error::reading(path, &error)),
            }
            if bytes.len() > MOST_BYTES {
                let most = MOST_BYTES >> 20;
                return Err(Error::Input(format!(
                    "{} has more than {most} MiB, which is the most that is read",
                    shown(path)
                )));
            }
        }
    }
}

/// Whether a read would return at once; waits a moment for that.
fn is_ready(source: &impl AsFd) -> io::Result<bool> {
    let mut sources = [PollFd::new(source, PollFlags::IN)];
    match poll(&mut sources, Some(&Timespec { tv_sec: 0, tv_nsec: LOOK_NS })) {
        Ok(ready) => Ok(ready > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Whether a path means standard input.
pub(crate) fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == STANDARD_INPUT
}

/// A path for messages.
pub(crate) fn shown(path: &Path) -> String {
    if is_standard_input(path) { "standard input".to_owned() } else { path.display().to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_without_end_is_read_to_the_limit_only() {
        let error = Inputs::new(&Stop::new()).bytes(Path::new("/dev/zero")).expect_err("it has no end");
        assert_eq!(error.to_string(), "/dev/zero has more than 256 MiB, which is the most that is read");
    }

    #[test]
    fn a_named_pipe_without_a_writer_is_left_when_asked_to_stop() {
        let path = std::env::temp_dir().join(format!("trunkline-pipe-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).expect("a named pipe");
        let stop = Stop::new();
        let read = std::thread::scope(|scope| {
            let reader = scope.spawn(|| Inputs::new(&stop).bytes(&path));
            stop.request();
            reader.join().expect("no panic")
        });
        assert!(matches!(read, Err(Error::Interrupted)), "{read:?}");
        std::fs::remove_file(&path).expect("removed");
    }
}
