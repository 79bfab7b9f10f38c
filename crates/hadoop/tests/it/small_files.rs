//! Many small files: what they are to the NameNode and to a job, and what the remedies of Yang 2012, 3.3.2, make of
//! them.

use crate::jobs::{MIB, config, finish, job_time, plain, succeeded, with_workload};
use crate::support::{Spec, World};
use hadoop::hdfs::Objects;
use hadoop::mapreduce::{Archive, Generation, JobInput, JobSpec, Packing};
use hadoop::record::{Locality, Records, TaskKind};
use hadoop::workload::Workload;
use units::Bytes;

const MB: u64 = 1_000_000;

/// A job without output over so many files, in blocks of 128 MB.
fn over(files: &[u64], packing: Packing) -> JobSpec {
    let files = files.iter().copied().map(Bytes::new).collect();
    let workload = Workload { map_ratio: 0.0, ..plain(0.01) };
    JobSpec { input: JobInput::Files(files), packing, ..with_workload(workload, 0, 0) }
}

fn world(job: JobSpec) -> World {
    let mut config = config(Generation::Yarn, vec![job]);
    config.hdfs.block_size = Bytes::new(128 * MB);
    // Else the first node takes what is on all of them.
    config.yarn.containers_per_heartbeat = 1;
    World::new(config, Spec::new(4, 2), 1)
}

/// What the NameNode has before the job begins.
fn objects(files: &[u64], packing: Packing) -> Objects {
    world(over(files, packing)).cluster.hdfs().namespace().objects()
}

fn run(files: &[u64], packing: Packing) -> Records {
    finish(&mut world(over(files, packing)))
}

const ARCHIVE: Archive = Archive { part: Bytes::from_mib(2_048), block: Bytes::from_mib(512), changed: 0.0 };

/// Cloudera's documentation ("Disk space versus namespace"): a file of 192 MB is three objects and 450 bytes, one of
/// 128 MB two and 300 bytes, 128 files of 1 MB are 256 and 38,400 bytes.
#[test]
fn objects_of_the_namenode_are_those_of_the_documentation() {
    let counts = |files: &[u64]| {
        let objects = objects(files, Packing::None);
        (objects.files + objects.blocks, objects.memory().get())
    };
    assert_eq!(counts(&[192 * MB]), (3, 450));
    assert_eq!(counts(&[128 * MB]), (2, 300));
    assert_eq!(counts(&[MB; 128]), (256, 38_400));
}

/// An archive is two indices and a part file, of one block each; a sequence file of 128 MB and the records' heads is a
/// file of two blocks. An input format that combines leaves the files as they are.
#[test]
fn remedies_leave_the_namenode_less() {
    let of = |packing| objects(&[MB; 128], packing);
    assert_eq!(of(Packing::Archive(ARCHIVE)), Objects { files: 3, blocks: 3 });
    assert_eq!(of(Packing::SequenceFile), Objects { files: 1, blocks: 2 });
    assert_eq!(of(Packing::Combined { split: Bytes::new(64 * MB) }), Objects { files: 128, blocks: 128 });
    // An archive of which a tenth was changed has one part file more, not a tenth more files.
    let changed = Packing::Archive(Archive { changed: 0.1, ..ARCHIVE });
    assert_eq!(of(changed), Objects { files: 4, blocks: 4 });
}

/// Without a remedy, and in an archive, each file has a map; combined to 32 MB, as many as 32 MB go into what a node
/// has.
#[test]
fn each_small_file_has_a_map_unless_they_are_combined() {
    let maps = |packing| run(&[MB; 128], packing).jobs[0].maps;
    assert_eq!(maps(Packing::None), 128);
    assert_eq!(maps(Packing::Archive(ARCHIVE)), 128);
    assert_eq!(maps(Packing::Combined { split: Bytes::new(32 * MB) }), 4);
    assert_eq!(maps(Packing::SequenceFile), 2, "a block each");
}

/// A file of 200 bytes in an archive of 300: its map reads the index, 300 lines of 100 bytes, and the master index, one
/// line of 40 bytes, to find it.
#[test]
fn a_map_reads_the_whole_index_of_an_archive() {
    let files = [200; 300];
    let read = |packing| {
        let records = run(&files, packing);
        let maps = succeeded(&records, TaskKind::Map);
        assert_eq!(maps.iter().map(|map| map.bytes.input.get()).sum::<u64>(), 300 * 200);
        maps.iter().map(|map| (map.bytes.read_node + map.bytes.read_rack + map.bytes.read_remote).get()).sum::<u64>()
    };
    assert_eq!(read(Packing::None), 300 * 200);
    assert_eq!(read(Packing::Archive(ARCHIVE)), 300 * (200 + 300 * 100 + 40));
    // Half of the files changed: as many lines more.
    let changed = Archive { changed: 0.5, ..ARCHIVE };
    assert_eq!(read(Packing::Archive(changed)), 300 * (200 + 450 * 100 + 40));
}

/// 128 maps of 1 MB start 128 JVMs of 1.2 s of a core, less than a fifth as many maps as many JVMs, on the 16 cores of
/// four workers. All their bytes are on their nodes.
#[test]
fn combined_files_take_a_fraction_of_the_time_and_stay_local() {
    let files = [MB; 128];
    let alone = run(&files, Packing::None);
    let combined = run(&files, Packing::Combined { split: Bytes::new(8 * MB) });
    let jvms = |records: &Records| succeeded(records, TaskKind::Map).len() as f64 * 1.2 / 16.0;
    let saved = job_time(&alone) - job_time(&combined);
    assert!(jvms(&combined) < 0.2 * jvms(&alone) && saved > jvms(&alone) - jvms(&combined), "{saved} s");
    // But what is left of each of the four nodes, which a rack combines.
    let maps = succeeded(&combined, TaskKind::Map);
    let whole = maps.iter().filter(|map| map.locality == Some(Locality::Node) && map.bytes.input.get() == 8 * MB);
    let far = whole.filter(|map| map.bytes.read_rack + map.bytes.read_remote > Bytes::ZERO).count();
    assert!(far <= 4, "{far} maps");
    let local = succeeded(&combined, TaskKind::Map).iter().filter(|m| m.locality == Some(Locality::Node)).count();
    assert!(local >= 12, "{local} of 16 maps are local");
}

/// Blocks of 122 MiB are cut in halves of 61, which are shorter than a split of 64 MiB: a full split has two of them,
/// or one and smaller parts, so 303 MiB are 3 splits (of less than 125 MiB) to 5 (four of at least 64, and the rest).
#[test]
fn large_and_small_files_are_combined_together() {
    let records = run(&[300 * MIB, MIB, MIB, MIB], Packing::Combined { split: Bytes::from_mib(64) });
    let maps = succeeded(&records, TaskKind::Map);
    assert_eq!(maps.iter().map(|map| map.bytes.input.get()).sum::<u64>(), 303 * MIB);
    assert!(maps.iter().all(|map| map.bytes.input <= Bytes::from_mib(128)));
    assert!((3..=5).contains(&maps.len()), "{} maps", maps.len());
}
