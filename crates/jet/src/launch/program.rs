//! Programs that a preloaded library cannot catch, by their files.

use std::env;
use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use object::elf::{FileHeader32, FileHeader64, Machine, PT_INTERP};
use object::read::elf::{FileHeader, ProgramHeader};
use object::{Endianness, FileKind, ReadCache, ReadRef};

use super::shim;

/// Why a program's connections will not be caught.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uncaught {
    /// No dynamic loader, so nothing can be preloaded.
    Static,
    /// Go programs call the kernel themselves.
    Go,
    /// Runs with other rights than its caller: the loader ignores what the caller preloads.
    Privileged,
    /// For another processor or word length than this machine's library.
    OtherMachine,
}

impl fmt::Display for Uncaught {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Static => "is linked statically, so that nothing can be preloaded into it",
            Self::Go => "is a Go program, which calls the kernel without its C library",
            Self::Privileged => {
                "runs with other rights than yours (set-user-ID, set-group-ID or capabilities), for which \
                 the loader preloads nothing"
            }
            Self::OtherMachine => {
                "is for another processor or word length than trunkline, so that its loader cannot load \
                 trunkline's library"
            }
        })
    }
}

/// The file of a program, as a shell finds it.
pub fn find(name: &OsStr) -> Option<PathBuf> {
    if name.as_bytes().contains(&b'/') {
        return Some(name.into());
    }
    let runs = |path: &PathBuf| path.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0);
    env::split_paths(&env::var_os("PATH")?).map(|folder| folder.join(name)).find(runs)
}

/// Why the program in a file will not be caught, if so. For a script its interpreter counts.
pub fn uncaught(path: &Path) -> io::Result<Option<Uncaught>> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    let mut start = Vec::new();
    BufReader::new(&file).take(256).read_until(b'\n', &mut start)?;
    if let Some(rest) = start.strip_prefix(b"#!") {
        let interpreter = rest.trim_ascii().split(u8::is_ascii_whitespace).next().unwrap_or_default();
        return if interpreter.starts_with(b"/") && interpreter != path.as_os_str().as_bytes() {
            of_interpreter(Path::new(OsStr::from_bytes(interpreter)))
        } else {
            Ok(None)
        };
    }
    if !start.starts_with(b"\x7fELF") {
        return Ok(None);
    }
    let own = rustix::process::geteuid().as_raw();
    let set_user = metadata.mode() & 0o4000 != 0 && metadata.uid() != own;
    let set_group = metadata.mode() & 0o2010 == 0o2010 && metadata.gid() != rustix::process::getegid().as_raw();
    let capable = rustix::fs::getxattr(path, c"security.capability", &mut [0_u8; 64][..]).is_ok() && own != 0;
    if set_user || set_group || capable {
        return Ok(Some(Uncaught::Privileged));
    }
    Ok(of_elf(&ReadCache::new(file)))
}

/// An interpreter that is a script again is rare, and the search ends here.
fn of_interpreter(path: &Path) -> io::Result<Option<Uncaught>> {
    let mut magic = [0; 4];
    File::open(path)?.read_exact(&mut magic)?;
    if magic == *b"\x7fELF" { uncaught(path) } else { Ok(None) }
}

/// What an ELF file's headers tell.
#[derive(Debug, PartialEq, Eq)]
struct Elf {
    machine: Machine,
    wide: bool,
    has_loader: bool,
    is_go: bool,
}

fn of_elf<'data>(data: impl ReadRef<'data>) -> Option<Uncaught> {
    // The kernel refuses a broken file.
    let program = read(data)?;
    let own = read(shim::LIBRARY)?;
    if (program.machine, program.wide) != (own.machine, own.wide) {
        Some(Uncaught::OtherMachine)
    } else if program.is_go {
        Some(Uncaught::Go)
    } else {
        (!program.has_loader).then_some(Uncaught::Static)
    }
}

fn read<'data>(data: impl ReadRef<'data>) -> Option<Elf> {
    match FileKind::parse(data).ok()? {
        FileKind::Elf64 => read_as::<FileHeader64<Endianness>>(data, true),
        FileKind::Elf32 => read_as::<FileHeader32<Endianness>>(data, false),
        _ => None,
    }
}

fn read_as<'data, H: FileHeader<Endian = Endianness>>(data: impl ReadRef<'data>, wide: bool) -> Option<Elf> {
    let header = H::parse(data).ok()?;
    let endian = header.endian().ok()?;
    let segments = header.program_headers(endian, data).ok()?;
    // Without sections nothing tells that a program is Go's.
    let is_go = header.sections(endian, data).is_ok_and(|sections| {
        [&b".go.buildinfo"[..], b".note.go.buildid"].iter().any(|name| sections.section_by_name(endian, name).is_some())
    });
    let has_loader = segments.iter().any(|segment| segment.p_type(endian) == PT_INTERP);
    Some(Elf { machine: header.e_machine(endian), wide, has_loader, is_go })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::process::Command;

    /// An ELF header of this machine's kind, without segments or sections.
    fn bare(wide: bool, machine: u16) -> Vec<u8> {
        let (class, length) = if wide { (2, 64) } else { (1, 52) };
        let mut bytes = vec![0; length];
        bytes[..7].copy_from_slice(&[0x7f, b'E', b'L', b'F', class, 1, 1]);
        bytes[16] = 2;
        bytes[18..20].copy_from_slice(&machine.to_le_bytes());
        bytes[20] = 1;
        bytes
    }

    #[test]
    fn a_program_with_a_loader_is_caught() {
        assert_eq!(uncaught(&find("sh".as_ref()).unwrap()).unwrap(), None);
        assert_eq!(uncaught(&env::current_exe().unwrap()).unwrap(), None);
        assert!(find("no-such-program-anywhere".as_ref()).is_none());
    }

    #[test]
    fn other_words_and_static_programs_are_not() {
        let folder = env::temp_dir().join(format!("trunkline-program-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let of = |name: &str, bytes: &[u8]| {
            let path = folder.join(name);
            fs::write(&path, bytes).unwrap();
            uncaught(&path).unwrap()
        };
        let own = read(shim::LIBRARY).unwrap();
        assert_eq!(of("narrow", &bare(!own.wide, 3)), Some(Uncaught::OtherMachine));
        assert_eq!(of("static", &bare(own.wide, own.machine.0)), Some(Uncaught::Static));
        assert_eq!(of("broken", b"\x7fELF"), None);
        assert_eq!(of("script", b"#!/bin/sh\ntrue\n"), None);
        let script = format!("#! {} -x\n", folder.join("static").display());
        assert_eq!(of("static-script", script.as_bytes()), Some(Uncaught::Static));
        let own_interpreter = format!("#!{}\n", folder.join("loop").display());
        assert_eq!(of("loop", own_interpreter.as_bytes()), None, "ends");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn real_static_go_and_privileged_programs() {
        let folder = env::temp_dir().join(format!("trunkline-static-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (source, program) = (folder.join("main.c"), folder.join("main"));
        fs::write(&source, "int main(void) { return 0; }\n").unwrap();
        let built = Command::new("cc").arg("-static").args([&source, Path::new("-o"), &program]).status().unwrap();
        assert!(built.success());
        assert_eq!(uncaught(&program).unwrap(), Some(Uncaught::Static));
        let built = Command::new("cc").args([&source, Path::new("-o"), &program]).status().unwrap();
        assert!(built.success());
        assert_eq!(uncaught(&program).unwrap(), None);
        let go = folder.join("go");
        let section = format!(".go.buildinfo={}", source.display());
        let added = Command::new("objcopy").args(["--add-section", &section]).args([&program, &go]).status().unwrap();
        assert!(added.success());
        assert_eq!(uncaught(&go).unwrap(), Some(Uncaught::Go));
        let mut rights = fs::metadata(&program).unwrap().permissions();
        rights.set_mode(0o4755);
        fs::set_permissions(&program, rights).unwrap();
        // The file's owner runs it: no other rights, so the loader preloads.
        assert_eq!(uncaught(&program).unwrap(), None);
        fs::remove_dir_all(&folder).unwrap();
    }
}
