//! LibreOffice: the documents that it opens and saves, and its command lines.

use super::TrialError;
use super::clients::forget;
use super::process::finish;
use super::stock::program;
use des::RandomStream;
use nix::unistd::geteuid;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use units::Bytes;

/// Format of saved documents.
pub const SAVED: &str = "odt";
/// Format in which documents are compared: one file with all text and pictures and no date. A saved document has a date
/// and a random number of its session.
const OPENED: &str = "html:HTML (StarWriter):EmbedImages";
/// Size of a chapter, as saved: a picture and some text.
const CHAPTER: u64 = 1_000_000;
/// The picture's share of a chapter, in per cent: noise, which does not compress.
const PICTURE: u64 = 92;
/// Pixels in a row of the picture, of three bytes each.
const WIDTH: u64 = 624;
/// Words of 64 random bits in a line of text, and the compressed size of such a line.
const WORDS: usize = 16;
const LINE: u64 = 162;
/// Where the program always puts the socket by which another call with the same settings would find it.
const SOCKETS: &str = "/tmp";

/// `soffice` opens a document and saves it to a folder. Everything else that it writes goes to the folder `own`.
pub fn save(own: &Path, document: &Path, to: &Path) -> Result<Command, TrialError> {
    convert(own, SAVED, document, to)
}

/// `soffice` opens a document and writes it in the format of comparisons.
pub fn open(own: &Path, document: &Path, to: &Path) -> Result<Command, TrialError> {
    convert(own, OPENED, document, to)
}

fn convert(own: &Path, format: &str, document: &Path, to: &Path) -> Result<Command, TrialError> {
    let mut soffice = program("soffice")?;
    soffice.env("TMPDIR", own).arg(format!("-env:UserInstallation=file://{}/profile", own.display()));
    soffice.args(["--headless", "--convert-to", format, "--outdir"]).arg(to).arg(document).stdout(Stdio::null());
    Ok(soffice)
}

/// Makes a document in a folder: `NAME.odt` as saved, `NAME.html` as compared.
pub fn make(folder: &Path, name: &str, size: Bytes) -> Result<(), TrialError> {
    clear()?;
    let file = |extension: &str| folder.join(format!("{name}.{extension}"));
    let source = file("rtf");
    let written = || -> io::Result<()> {
        let mut out = BufWriter::with_capacity(1 << 20, File::create(&source)?);
        write(size, &mut out)?;
        out.flush()
    };
    written().map_err(TrialError::system(format!("write {}", source.display())))?;
    finish(&mut save(folder, &source, folder)?)?;
    finish(&mut open(folder, &file(SAVED), folder)?)?;
    // `soffice` exits with zero even if it fails.
    if file("html").is_file() {
        Ok(())
    } else {
        Err(TrialError::Failed(format!("soffice made no document of {}", source.display())))
    }
}

/// Removes the sockets of killed `soffice` processes of this user: those at which nobody listens.
pub fn clear() -> Result<(), TrialError> {
    clear_in(Path::new(SOCKETS))
}

fn clear_in(folder: &Path) -> Result<(), TrialError> {
    let name = format!("OSL_PIPE_{}_SingleOfficeIPC_", geteuid());
    let refused = |error: io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
    let entries = fs::read_dir(folder).map_err(TrialError::system(format!("read {}", folder.display())))?;
    for entry in entries.flatten() {
        let left = entry.file_name().to_string_lossy().starts_with(&name)
            && entry.file_type().is_ok_and(|kind| kind.is_socket())
            && UnixStream::connect(entry.path()).is_err_and(refused);
        if left {
            forget(&entry.path())?;
        }
    }
    Ok(())
}

/// Writes chapters as rich text, the one format with text and pictures that needs no compression, checksum or encoding
/// but hexadecimal.
fn write(size: Bytes, out: &mut impl Write) -> io::Result<()> {
    let mut random = RandomStream::new(1, "testbed/document", 0);
    let mut left = size.get();
    writeln!(out, "{{\\rtf1\\ansi")?;
    while left > 0 {
        let chapter = left.min(CHAPTER);
        left -= chapter;
        let rows = (chapter * PICTURE / 100 / (WIDTH * 3)) as u32;
        // In twips, at 96 pixels per inch.
        let (wide, high) = (WIDTH * 15, rows * 15);
        writeln!(out, "{{\\pict\\dibitmap0\\picw{WIDTH}\\pich{rows}\\picwgoal{wide}\\pichgoal{high}")?;
        // BITMAPINFOHEADER: its length, width, height, planes and bits per pixel; then compression, size, resolution
        // and colours with usual values.
        for field in [40, WIDTH as u32, rows, 1 | 24 << 16, 0, 0, 0, 0, 0, 0] {
            write!(out, "{:08x}", field.swap_bytes())?;
        }
        for _ in 0..u64::from(rows) * WIDTH * 3 / 8 {
            write!(out, "{:016x}", random.next_u64())?;
        }
        writeln!(out, "}}\\par")?;
        for _ in 0..chapter * (100 - PICTURE) / 100 / LINE {
            for _ in 0..WORDS {
                write!(out, "{:016x} ", random.next_u64())?;
            }
            writeln!(out, "\\par")?;
        }
    }
    writeln!(out, "}}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    #[test]
    fn only_sockets_at_which_nobody_listens_are_removed() {
        let folder = std::env::temp_dir().join(format!("testbed-office-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("made");
        let file = |name: &str| folder.join(format!("OSL_PIPE_{}_{name}", geteuid()));
        let (left, used, other) = (file("SingleOfficeIPC_a"), file("SingleOfficeIPC_b"), file("other"));
        drop(UnixListener::bind(&left).expect("bound"));
        let listener = UnixListener::bind(&used).expect("bound");
        drop(UnixListener::bind(&other).expect("bound"));
        let plain = file("SingleOfficeIPC_c");
        fs::write(&plain, "text").expect("written");
        clear_in(&folder).expect("cleared");
        assert_eq!([left, used, other, plain].map(|file| file.exists()), [false, true, true, true]);
        drop(listener);
        fs::remove_dir_all(&folder).expect("removed");
    }

    fn source(size: u64) -> String {
        let mut text = Vec::new();
        write(Bytes::new(size), &mut text).expect("into memory");
        String::from_utf8(text).expect("rich text is ASCII")
    }

    #[test]
    fn a_document_has_a_picture_and_text_in_each_chapter_and_is_the_same_every_time() {
        let text = source(2_500_000);
        assert_eq!(text, source(2_500_000));
        let opened = text.matches('{').count();
        assert_eq!((opened, text.matches('}').count()), (1 + 3, 1 + 3));
        let mut bytes = 0;
        for (picture, rows) in text.split("{\\pict").skip(1).zip([491, 491, 245]) {
            assert!(picture.contains(&format!("\\pich{rows}\\")), "{}", &picture[..80]);
            let hex = picture.lines().nth(1).and_then(|line| line.strip_suffix("}\\par")).expect("in a line");
            // Width and height are little-endian and follow the header's length.
            assert!(
                hex.starts_with(&format!("2800000070020000{:08x}01001800", u32::swap_bytes(rows))),
                "{}",
                &hex[..80]
            );
            assert_eq!(hex.len() as u64, 2 * (40 + 3 * WIDTH * u64::from(rows)));
            bytes += hex.len() as u64 / 2;
        }
        // Information in hexadecimal digits and a blank: 64 bits in 17 bytes; compressed, a little more than that.
        let lines = text.lines().filter(|line| line.ends_with(" \\par")).count() as u64;
        let least = bytes + lines * WORDS as u64 * 8;
        assert!(least < 2_500_000 && least > 2_400_000, "{least}");
        assert!(source(64_000).matches("\\pict").count() == 1);
    }
}
