//! Configurations of jobs and of clusters become settings.

use crate::samples::{folder, load};
use history::import::{ClusterError, Codec, Settings, Sources, Uber, cluster, import};
use history::{Properties, Property};
use scenario::{JobCodec, Scenario};
use std::fs;

fn settings(file: &str) -> Settings {
    let properties = Properties::read(&load(file), "").unwrap_or_else(|e| panic!("{file}: {e}"));
    Settings::of_job(&properties).unwrap_or_else(|e| panic!("{file}: {e}"))
}

fn keys(settings: &Settings) -> Vec<(&str, &str)> {
    let mut keys: Vec<_> = settings.keys.iter().map(|(key, value, _)| (*key, value.as_str())).collect();
    keys.sort_unstable();
    keys
}

#[test]
fn a_jobs_configuration_becomes_keys() {
    let settings = settings("job_1700000000000_0007_conf.xml");
    assert_eq!(
        keys(&settings),
        [
            ("hdfs.block", "\"67108864 B\""),
            ("hdfs.replication", "2"),
            // No container is asked for: its size follows from the last -Xmx, 800 MB by 0.8 (MAPREDUCE-5785).
            ("mapreduce.map-memory", "\"1000 MiB\""),
            // The cluster set this one; the default of 8192 MB for its nodes says nothing of them.
            ("mapreduce.minimum-allocation", "\"256 MiB\""),
            ("mapreduce.reduce-memory", "\"2048 MiB\""),
            ("mapreduce.speculative", "false"),
            ("mapreduce.task-timeout", "\"300000 ms\""),
        ]
    );
    assert_eq!(settings.map_compression, Some(Codec::Known(JobCodec::Snappy)));
    assert_eq!(settings.output_compression, Some(Codec::Known(JobCodec::None)));
    assert_eq!(settings.combiner.as_deref(), Some("org.example.Count$Combine"));
    assert_eq!(settings.uber, Some(Uber { enabled: true, maps: 9, reduces: 1, bytes: None }));
}

#[test]
fn names_of_hadoop_1_stand_for_their_successors() {
    let settings = settings("job_201307011200_0003_conf.xml");
    assert_eq!(
        keys(&settings),
        [
            ("hdfs.block", "\"134217728 B\""),
            ("mapreduce.io-sort", "\"256 MiB\""),
            // -1: no limit.
            ("mapreduce.jvm-tasks", "0"),
            ("mapreduce.map-slots", "7"),
            ("mapreduce.reduce-heap", "\"512 MiB\""),
            ("mapreduce.slowstart", "0.80"),
            ("mapreduce.speculative", "true"),
        ]
    );
    let io_sort = settings.keys.iter().find(|(key, ..)| *key == "mapreduce.io-sort").unwrap();
    assert_eq!(io_sort.2, "io.sort.mb", "the comment names what the file names");
    assert_eq!(settings.map_compression, Some(Codec::Known(JobCodec::Lzo)));
    assert_eq!(settings.output_compression, Some(Codec::Known(JobCodec::Deflate)), "DefaultCodec");
}

#[test]
fn numbers_as_java_writes_them_are_numbers() {
    let mut properties = Properties::default();
    for (written, value) in [
        ("mapreduce.map.sort.spill.percent", "0.75f"),
        ("dfs.heartbeat.interval", "3000ms"),
        ("dfs.client.socket-timeout", "2m"),
        ("mapreduce.task.timeout", "-1"),
        ("mapreduce.job.jvm.numtasks", "2147483647"),
        ("mapreduce.map.speculative", "TRUE"),
        ("mapreduce.output.fileoutputformat.compress", "true"),
        ("mapreduce.output.fileoutputformat.compression.codec", "org.apache.hadoop.io.compress.BZip2Codec"),
    ] {
        properties.enter(Property { written: written.into(), value: value.into(), ..Property::default() });
    }
    let settings = Settings::of_job(&properties).unwrap();
    assert_eq!(
        keys(&settings),
        [
            ("hdfs.heartbeat", "\"3000 ms\""),
            ("hdfs.socket-timeout", "\"120000 ms\""),
            ("mapreduce.jvm-tasks", "0"),
            ("mapreduce.speculative", "true"),
            ("mapreduce.spill-percent", "0.75"),
        ]
    );
    assert_eq!(settings.output_compression, Some(Codec::Known(JobCodec::Bzip2)), "by its name of Hadoop 0.21");
}

#[test]
fn the_run_precedes_the_jobs_configuration() {
    let run = "[configuration]\n\"dfs.replication\" = \"3\"\n\"mapreduce.map.output.compress\" = \"false\"\n";
    let both = Settings::parse(run).unwrap().before(settings("job_1700000000000_0007_conf.xml"));
    let keys = keys(&both);
    assert!(keys.contains(&("hdfs.replication", "3")) && keys.contains(&("hdfs.block", "\"67108864 B\"")), "{keys:?}");
    assert_eq!(keys.iter().filter(|(key, _)| *key == "hdfs.replication").count(), 1);
    assert_eq!(
        (both.map_compression, both.output_compression),
        (Some(Codec::Known(JobCodec::None)), Some(Codec::Known(JobCodec::None)))
    );
}

#[test]
fn a_wrong_value_is_named_with_its_line() {
    let text = String::from_utf8(load("job_1700000000000_0007_conf.xml")).unwrap().replace(">300000<", ">five<");
    let properties = Properties::read(text.as_bytes(), "").unwrap();
    let error = Settings::of_job(&properties).unwrap_err().to_string();
    assert_eq!(error, "line 9: `mapreduce.task.timeout` is \"five\", expected a number of milliseconds");
}

#[test]
fn entities_do_not_grow_and_depth_has_an_end() {
    let laughs = "<!DOCTYPE c [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;\">]><configuration><property><name>&b;</name>\
                  </property></configuration>";
    let error = Properties::read(laughs.as_bytes(), "").unwrap_err().to_string();
    assert!(error.contains("(line 1): expected a configuration without a document type"), "{error}");
    let deep = format!("<configuration>{}", "<property>".repeat(200_000));
    assert!(Properties::read(deep.as_bytes(), "").is_err());
    let deep = format!("<configuration>{}{}</configuration>", "<a>".repeat(100_000), "</a>".repeat(100_000));
    let _ = Properties::read(deep.as_bytes(), "");
    for (text, words) in [
        ("<configuration><property><value>1</value></property></configuration>", "a property with a `<name>`"),
        ("<configuration>\n<property>", "the file ends within XML"),
        ("<html/>", "Hadoop's `<configuration>`"),
        ("<configuration>\n<property></name></property></configuration>", "(line 2): expected XML"),
        ("<configuration><xi:include xmlns:xi=\"x\" href=\"other.xml\"/></configuration>", "`other.xml`"),
    ] {
        let error = Properties::read(text.as_bytes(), "").expect_err(text).to_string();
        assert!(error.contains(words), "{text}: {error}");
    }
}

// === clusters ===

fn described(name: &str) -> (String, Scenario) {
    let place = folder().join(name);
    let text = cluster(name, |file| {
        let file = file.rsplit('/').next().unwrap_or(file);
        Ok(fs::read(place.join(file)).ok())
    });
    let text = text.unwrap_or_else(|e| panic!("{name}: {e}"));
    let scenario = Scenario::parse(name, &text, &[]).unwrap_or_else(|e| panic!("{text}\n{e}"));
    (text, scenario)
}

#[test]
fn a_cluster_is_described_by_its_folder() {
    let (text, scenario) = described("conf");
    assert_eq!((scenario.cluster.workers, scenario.hdfs.replication, scenario.network.racks), (4, 2, 2));
    assert_eq!(scenario.hdfs.block, units::Bytes::from_mib(256));
    assert_eq!(scenario.hdfs.heartbeat, units::Time::from_secs(5));
    assert_eq!(scenario.mapreduce.io_sort, units::Bytes::from_mib(200), "mapred-site.xml's is final");
    assert_eq!((scenario.mapreduce.node_vcores, scenario.mapreduce.slowstart), (16, 0.8));
    assert_eq!(scenario.mapreduce.scheduler, scenario::Scheduler::Fair);
    // node1 and node2 are in rack 1, node3 and node10 in rack 2, in the order of their numbers.
    let racks: Vec<_> = scenario.nodes().iter().skip(1).map(|node| node.rack).collect();
    assert_eq!(racks, [1, 1, 2, 2]);
    for line in [
        "# Hosts: node1.example.org is worker-1, node2.example.org is worker-2, node3.example.org is worker-3, \
         node10.example.org is worker-4.",
        "node-memory = \"16384 MiB\"  # yarn.nodemanager.resource.memory-mb",
        "generation = \"yarn\"  # mapreduce.framework.name",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert!(text.contains("# Not known, the machines: ") && text.contains("# Not known, the network: "), "{text}");
}

/// Hadoop ships a capacity-scheduler.xml, which says nothing where the scheduler is another.
#[test]
fn the_schedulers_own_file_says_how_it_schedules() {
    let with = |class: &str| {
        let property =
            |name: &str, value: &str| format!("<property><name>{name}</name><value>{value}</value></property>");
        let of = |properties: String| format!("<configuration>{properties}</configuration>").into_bytes();
        let text = cluster("conf", |file| {
            Ok(match file {
                "yarn-site.xml" => Some(of(property("yarn.resourcemanager.scheduler.class", class))),
                "capacity-scheduler.xml" => {
                    Some(of(property("yarn.scheduler.capacity.schedule-asynchronously.enable", "true")
                        + &property("yarn.scheduler.capacity.node-locality-delay", "7")
                        + &property("yarn.scheduler.capacity.per-node-heartbeat.maximum-container-assignments", "-1")))
                }
                _ => None,
            })
        });
        let text = text.unwrap_or_else(|e| panic!("{class}: {e}"));
        let scenario = Scenario::parse("conf", &text, &[]).unwrap_or_else(|e| panic!("{text}\n{e}"));
        let of = &scenario.mapreduce;
        (of.asynchronous, of.locality_delay, of.containers_per_heartbeat)
    };
    assert_eq!(
        with("org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler"),
        (true, 7, Some(0))
    );
    assert_eq!(with("org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FairScheduler"), (false, 40, None));
}

/// `FairScheduler.shouldContinueAssigning`: one container, or half of what is free, or a number where that is switched off.
/// Another scheduler does not read these properties.
#[test]
fn the_fair_scheduler_says_how_many_containers_a_heartbeat_gets() {
    let with = |class: &str, further: &[(&str, &str)]| {
        let property =
            |name: &str, value: &str| format!("<property><name>{name}</name><value>{value}</value></property>");
        let class = format!("org.apache.hadoop.yarn.server.resourcemanager.scheduler.{class}");
        let mut text = property("yarn.resourcemanager.scheduler.class", &class);
        text.extend(further.iter().map(|(name, value)| property(&format!("yarn.scheduler.fair.{name}"), value)));
        let text = format!("<configuration>{text}</configuration>").into_bytes();
        let text = cluster("conf", |file| Ok((file == "yarn-site.xml").then(|| text.clone())))?;
        let scenario = Scenario::parse("conf", &text, &[]).unwrap_or_else(|e| panic!("{text}\n{e}"));
        let of = &scenario.mapreduce;
        Ok::<_, ClusterError>((of.half_per_heartbeat, of.containers_per_heartbeat))
    };
    let fair = |further: &[(&str, &str)]| with("fair.FairScheduler", further).unwrap();
    let multiple = ("assignmultiple", "true");
    assert_eq!(fair(&[]), (false, None));
    assert_eq!(fair(&[("assignmultiple", "false"), ("max.assign", "3")]), (false, None));
    assert_eq!(fair(&[multiple, ("max.assign", "3")]), (true, None), "the half goes first");
    assert_eq!(fair(&[multiple, ("dynamic.max.assign", "false"), ("max.assign", "3")]), (false, Some(3)));
    assert_eq!(fair(&[multiple, ("dynamic.max.assign", "false"), ("max.assign", "-1")]), (false, Some(0)));
    assert_eq!(fair(&[multiple, ("dynamic.max.assign", "false")]), (false, Some(0)));
    assert_eq!(fair(&[multiple, ("dynamic.max.assign", "false"), ("max.assign", "2147483647")]), (false, Some(0)));
    assert_eq!(with("capacity.CapacityScheduler", &[multiple]).unwrap(), (false, None));
    // A job's own configuration holds what its cluster had.
    let mut properties = Properties::default();
    for (written, value) in [
        ("yarn.resourcemanager.scheduler.class", "a.FairScheduler"),
        ("yarn.scheduler.fair.assignmultiple", "true"),
        ("yarn.scheduler.capacity.node-locality-delay", "7"),
        ("yarn.scheduler.capacity.per-node-heartbeat.multiple-assignments-enabled", "false"),
    ] {
        properties.enter(Property { written: written.into(), value: value.into(), ..Property::default() });
    }
    let of_job = Settings::of_job(&properties).unwrap();
    assert_eq!(keys(&of_job), [("mapreduce.half-per-heartbeat", "true"), ("mapreduce.scheduler", "\"fair\"")]);
    let error = with("fair.FairScheduler", &[("max.assign", "few")]).unwrap_err().to_string();
    assert!(error.contains("`yarn.scheduler.fair.max.assign` is \"few\", expected a whole number"), "{error}");
}

#[test]
fn a_cluster_of_hadoop_1_has_slots() {
    let (text, scenario) = described("conf-hadoop1");
    assert_eq!(scenario.cluster.generation, scenario::Generation::Hadoop1);
    assert_eq!((scenario.mapreduce.map_slots, scenario.mapreduce.parallel_copies), (7, 20));
    assert!(text.contains("map-slots = 7  # mapred.tasktracker.map.tasks.maximum"), "{text}");
    assert_eq!((scenario.cluster.workers, scenario.hdfs.replication), (2, 2), "three replicas need three hosts");
}

/// A cluster of a JobTracker whose Hadoop ships files of YARN, too: what these say of a heartbeat's containers is left
/// out, of the cluster and of its jobs.
#[test]
fn what_heartbeats_of_yarn_are_given_is_not_for_hadoop_1() {
    let of = |properties: &[(&str, &str)]| {
        let each = properties
            .iter()
            .map(|(name, value)| format!("<property><name>{name}</name><value>{value}</value></property>"));
        format!("<configuration>{}</configuration>", each.collect::<String>()).into_bytes()
    };
    let of_capacity = [
        ("yarn.scheduler.capacity.per-node-heartbeat.maximum-container-assignments", "7"),
        ("yarn.scheduler.capacity.per-node-heartbeat.maximum-offswitch-assignments", "3"),
    ];
    let of_fair =
        [("yarn.resourcemanager.scheduler.class", "a.FairScheduler"), ("yarn.scheduler.fair.assignmultiple", "true")];
    for (further, words) in [
        (&of_capacity[..], &["containers-per-heartbeat = 7", "off-switch-per-heartbeat = 3"][..]),
        (&of_fair, &["half-per-heartbeat = true"]),
    ] {
        for (framework, is_yarn) in [("yarn", true), ("classic", false)] {
            let text = cluster("conf", |file| {
                let mapred = || of(&[("mapreduce.framework.name", framework)]);
                let files = [("mapred-site.xml", mapred()), ("yarn-site.xml", of(further))];
                Ok(files.into_iter().find(|(name, _)| *name == file).map(|(_, bytes)| bytes))
            });
            let text = text.unwrap_or_else(|e| panic!("{framework}: {e}"));
            assert!(words.iter().all(|word| text.contains(word) == is_yarn), "{framework}\n{text}");
        }
        let mut properties = Properties::default();
        for (written, value) in further {
            properties.enter(Property { written: (*written).into(), value: (*value).into(), ..Property::default() });
        }
        let settings = Settings::of_job(&properties).unwrap();
        assert_eq!(settings.keys.iter().filter(|(key, ..)| key.ends_with("-per-heartbeat")).count(), words.len());
        for (sample, is_yarn) in [("failed-0.23.9.jhist", true), ("foreign.rumen.json", false)] {
            let bytes = fs::read(folder().join(sample)).unwrap();
            let job = history::read(&bytes).unwrap().1.remove(0);
            let sources = Sources { settings: Some(settings.clone()), ..Sources::default() };
            let text = import(&job, &sources).unwrap_or_else(|e| panic!("{sample}: {e}")).to_toml();
            assert!(words.iter().all(|word| text.contains(word) == is_yarn), "{sample}\n{text}");
        }
    }
}

#[test]
fn a_cluster_that_cannot_be_read_says_which_file() {
    let error = cluster("empty", |_| Ok(None)).unwrap_err().to_string();
    assert!(error.contains("empty has none of core-site.xml"), "{error}");
    let with = |file: &'static str, text: &'static str| {
        cluster("c", move |name| match name {
            "core-site.xml" => Ok(Some(
                b"<configuration><property><name>net.topology.table.file.name</name><value>t</value></property>\
                  </configuration>"
                    .to_vec(),
            )),
            name if name == file => Ok(Some(text.as_bytes().to_vec())),
            _ => Ok(None),
        })
    };
    let error = with("t", "a /rack1\nb\n").unwrap_err().to_string();
    assert_eq!(error, "t: line 2: expected a host and its rack, two words");
    let error = with(
        "hdfs-site.xml",
        "<configuration>\n<property><name>dfs.replication</name><value>x</value></property>\n</configuration>",
    )
    .unwrap_err();
    assert_eq!(error.to_string(), "hdfs-site.xml: line 2: `dfs.replication` is \"x\", expected a number");
    let text = with("workers", "a b\n").unwrap();
    assert!(
        text.contains("# Not known, the racks: net.topology.table.file.name names t, which is not there."),
        "{text}"
    );
}
