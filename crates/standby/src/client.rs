//! The other end of the socket.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// An answer is waited for so long.
const PATIENCE: Duration = Duration::from_secs(15);
/// The longest answer: a status of hundreds of disks.
const LONGEST: u64 = 16 << 20;

/// Says a line to the daemon and returns its answer.
pub fn ask(socket: &Path, line: &str) -> io::Result<String> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(line.as_bytes())?;
    stream.write_all(b"\n")?;
    let mut answer = String::new();
    BufReader::new(stream.take(LONGEST)).read_line(&mut answer)?;
    if answer.ends_with('\n') { Ok(answer) } else { Err(io::Error::other("the daemon has closed without an answer")) }
}
