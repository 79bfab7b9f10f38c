//! Many jobs in one run: scaled volumes, maps that make their data, and the number of reducers by bytes.

use results::{JobState, RunResult};
use std::ops::ControlFlow;
use units::Bytes;

fn run(text: &str, assignments: &[&str]) -> RunResult {
    let assignments: Vec<String> = assignments.iter().map(ToString::to_string).collect();
    let scenario = sim::parse("test.toml", text, &assignments).unwrap_or_else(|error| panic!("{error:?}"));
    sim::run(&scenario, &mut |_| ControlFlow::Continue(())).unwrap_or_else(|error| panic!("{error}"))
}

const FOUR: &str = r#"
cluster = { workers = 6, generation = "hadoop1" }
hdfs = { block = "8 MiB", replication = 2 }
mapreduce = { bytes-per-reducer = "8 MB", data-scale = 0.25, scheduler = "fair" }
[[job]]
name = "shuffles"
workload = "generic"
input = "160 MB"
map-ratio = 0.5
reduce-ratio = 0.2
[[job]]
name = "maps-write"
workload = "generic"
submit = "5 s"
input = "3 B"
map-ratio = 100
reducers = 0
[[job]]
name = "generates"
workload = "generic"
submit = "6 s"
input = "80 MB"
generated = true
reducers = 0
[[job]]
name = "bursts"
workload = "generic"
submit = "7 s"
input = "400 B"
map-ratio = 1
reduce-ratio = 1e6
"#;

/// A quarter of what stands there moves, whatever whole bytes the inputs are rounded to.
#[test]
fn a_scaled_workload_moves_the_scaled_volumes() {
    for generation in ["yarn", "hadoop1"] {
        let result = run(FOUR, &[&format!("cluster.generation=\"{generation}\"")]);
        let [shuffles, maps_write, generates, bursts] = result.jobs.as_slice() else { panic!("four jobs") };
        for job in &result.jobs {
            assert_eq!(job.state, JobState::Succeeded, "{generation}, {}: {}", job.name, job.reason);
        }
        assert_eq!(shuffles.bytes.map_input, Bytes::from_mb(40));
        // 40 MB in blocks of 8 MiB. 20 MB of map output and 4 MB of output, for each 8 MB a reducer.
        assert_eq!((shuffles.maps, shuffles.reduces), (5, 3));
        // Records of 100 bytes have two more in intermediate files, and each of 5 times 3 partitions 6.
        let shuffled = shuffles.bytes.shuffle_local + shuffles.bytes.shuffle_remote;
        assert_eq!(shuffled, Bytes::new(20_400_000 + 15 * 6));
        let written = shuffles.bytes.written.get() as f64;
        assert!((written / (20_400_000.0 * 0.2) - 1.0).abs() < 1e-6, "{written}");

        // Three bytes become one, and 300 bytes of output 75.
        assert_eq!((maps_write.maps, maps_write.reduces), (1, 0));
        assert_eq!((maps_write.bytes.map_input, maps_write.bytes.written), (Bytes::new(1), Bytes::new(75)));

        // 20 MB are made in blocks of 8 MiB, and nothing is read.
        assert_eq!((generates.maps, generates.reduces), (3, 0));
        assert_eq!(generates.bytes.written, Bytes::from_mb(20));
        assert_eq!(generates.bytes.hdfs_read_local + generates.bytes.hdfs_read_remote, Bytes::ZERO);

        // A record of 100 bytes with its lengths: a million times as much is written, by one reducer for 8 MB of it, but
        // no more than there are workers. That each fetched the end of a partition is nothing that it reduces.
        assert_eq!((bursts.maps, bursts.reduces), (1, 6));
        let written = bursts.bytes.written.get() as f64;
        let fetched = bursts.bytes.shuffle_local + bursts.bytes.shuffle_remote;
        assert_eq!(fetched, Bytes::new(102 + 36));
        assert!((written / 102e6 - 1.0).abs() < 1e-6, "{written}");
    }
}

/// 40 files of 1 MB in one run: read one by one, 40 maps; combined to 10 MB or in a sequence file of blocks of 8 MiB,
/// few. The NameNode holds the job's own files beside them.
#[test]
fn small_files_are_read_as_the_scenario_says() {
    const SMALL: &str = "cluster = { workers = 3 }\nhdfs = { block = \"8 MiB\", replication = 2 }\n\
                         job = { workload = \"generic\", input = \"40 MB\", files = 40 }\n";
    let of = |kind: &str| {
        let result = run(SMALL, &[&format!("job.packing.kind={kind}"), "job.packing.split=10 MB"]);
        let job = &result.jobs[0];
        assert_eq!(job.state, JobState::Succeeded, "{kind}: {}", job.reason);
        (job.maps, result.master.as_ref().expect("it has jobs").namespace)
    };
    let (maps, alone) = of("none");
    assert_eq!(maps, 40);
    assert_eq!(alone.memory, Bytes::new(150 * (alone.files + alone.blocks)));
    let (maps, combined) = of("combine");
    assert_eq!(combined, alone, "the files stay as they are");
    assert!((4..=6).contains(&maps), "{maps} maps of 10 MB");
    // 40,000,000 bytes and 63 for each file are 4.8 blocks.
    let (maps, sequence) = of("sequence-file");
    assert_eq!(maps, 5);
    assert_eq!((alone.files - sequence.files, alone.blocks - sequence.blocks), (39, 35));
    // Two indices and a part file, each of one block.
    let (maps, archive) = of("archive");
    assert_eq!(maps, 40);
    assert_eq!((alone.files - archive.files, alone.blocks - archive.blocks), (37, 37));
}

/// A job of many small files with JVMs that its maps share, and a warning where YARN has none.
#[test]
fn jvms_are_shared_where_the_scenario_says() {
    let time = |tasks: &str| {
        let result = run(FOUR, &["job.0.files=40", &format!("mapreduce.jvm-tasks={tasks}")]);
        assert_eq!(result.jobs[0].state, JobState::Succeeded);
        result.jobs[0].finish.expect("it has ended").as_secs_f64()
    };
    let (new, shared) = (time("1"), time("0"));
    assert!(shared < 0.8 * new, "{shared} s against {new} s");
}
