//! What arrived, compared with what was served.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::PathBuf;
use std::process::ChildStdout;

/// Where the payload arrives.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Arrives {
    /// On standard output.
    Stdout,
    /// Standard output, which has only a result: equal to the original's if all is well.
    Answer,
    /// Nowhere: a benchmark's standard output has its report.
    Report,
    /// In a document. This file has its content in the format of comparisons.
    Opened(PathBuf),
    /// In a file, from its start on.
    File(PathBuf),
    /// In a file, in several parts.
    Parts(PathBuf),
}

/// How far what arrived equals what was sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Compared {
    /// Bytes that arrived.
    pub bytes: u64,
    /// Whether they are all as sent.
    pub same: bool,
}

const BLOCK: usize = 4_096;

impl Arrives {
    /// Bytes written to a file so far.
    pub fn on_disk(&self) -> Option<u64> {
        match self {
            Self::Stdout | Self::Answer | Self::Report | Self::Opened(_) => None,
            Self::File(file) => fs::metadata(file).ok().map(|metadata| metadata.len()),
            // The file has holes where nothing was written yet.
            Self::Parts(file) => fs::metadata(file).ok().map(|metadata| metadata.blocks() * 512),
        }
    }

    /// Compares a file. In a file in parts, a zero in place of another byte has not arrived yet.
    pub fn compare(&self, original: &File) -> io::Result<Compared> {
        let mut compared = Compared { bytes: 0, same: true };
        let (file, in_parts) = match self {
            Self::File(file) | Self::Opened(file) => (file, false),
            Self::Parts(file) => (file, true),
            Self::Stdout | Self::Answer | Self::Report => return Ok(compared),
        };
        let arrived = match File::open(file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(compared),
            arrived => arrived?,
        };
        let length = arrived.metadata()?.len();
        let (mut here, mut there) = ([0; BLOCK], [0; BLOCK]);
        let mut at = 0;
        while at < length {
            let size = (length - at).min(BLOCK as u64) as usize;
            arrived.read_exact_at(&mut here[..size], at)?;
            if is_same(&here[..size], &mut there[..size], original, at)? {
                compared.bytes += size as u64;
            } else {
                let pairs = || here[..size].iter().zip(&there[..size]);
                if !in_parts || pairs().any(|(here, there)| here != there && *here != 0) {
                    return Ok(Compared { same: false, ..compared });
                }
                compared.bytes += pairs().filter(|(here, there)| here == there).count() as u64;
            }
            at += size as u64;
        }
        Ok(compared)
    }
}

/// Reads the output to its end and compares it.
pub fn receive(mut output: ChildStdout, original: &File, record: impl Fn(u64)) -> io::Result<Compared> {
    let (mut here, mut there) = (vec![0; 256 << 10], vec![0; 256 << 10]);
    let mut compared = Compared { bytes: 0, same: true };
    loop {
        let length = match output.read(&mut here) {
            Ok(0) => return Ok(compared),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            length => length?,
        };
        if compared.same {
            record(compared.bytes + length as u64);
            compared.same = is_same(&here[..length], &mut there[..length], original, compared.bytes)?;
            compared.bytes += length as u64;
        }
    }
}

fn is_same(here: &[u8], there: &mut [u8], original: &File, at: u64) -> io::Result<bool> {
    match original.read_exact_at(there, at) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        read => read.map(|()| here == there),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_counted_and_what_differs_is_seen() {
        let folder = std::env::temp_dir().join(format!("testbed-arrival-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("made");
        let original: Vec<u8> = (0..20_000_u32).map(|index| (index % 251 + 1) as u8).collect();
        fs::write(folder.join("original"), &original).expect("written");
        let served = File::open(folder.join("original")).expect("there");
        let arrived = folder.join("arrived");
        let compare = |arrives: &Arrives, bytes: &[u8]| {
            fs::write(&arrived, bytes).expect("written");
            let compared = arrives.compare(&served).expect("read");
            (compared.bytes, compared.same)
        };
        let (file, parts) = (Arrives::File(arrived.clone()), Arrives::Parts(arrived.clone()));
        assert_eq!(compare(&file, &original), (20_000, true));
        assert_eq!(compare(&file, &original[..5_000]), (5_000, true));
        // Parts from 0 and from 10,001 on. 10,001 is not at a block's end.
        let mut holes = original.clone();
        holes[3_000..10_001].fill(0);
        assert_eq!(compare(&parts, &holes), (20_000 - 7_001, true));
        assert!(!compare(&file, &holes).1);
        holes[12_000] ^= 1;
        assert!(!compare(&parts, &holes).1);
        let longer: Vec<u8> = original.iter().copied().chain([1]).collect();
        assert!(!compare(&file, &longer).1 && !compare(&parts, &longer).1);
        fs::remove_dir_all(&folder).expect("removed");
    }
}
