//! `trunkline power hdfs`.

use crate::support::{Scratch, code, printed, said};

const CLUSTER: &str = r#"
replication = 3
paths = ["/data", "/logs"]
data = "15 TB"
idle = "7.97 W"
standby = "1.2 W"
[[datanode]]
name = "small"
count = 4
primary = [{ folder = "/disks/a/dn", size = "4 TB" }]
backup = [{ folder = "/disks/b/dn", size = "4 TB" }, { folder = "/disks/c/dn", size = "4 TB" }]
"#;

#[test]
fn hdfs_is_told_which_disks_may_rest() {
    let scratch = Scratch::new("power-hdfs");
    scratch.file("cluster.toml", CLUSTER);
    let output = scratch.trunkline(&["power", "hdfs", "cluster.toml", "--out", "conf"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let text = printed(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    // 2/3 of the disks, of which standby saves (7.97 - 1.2) / 7.97: 0.6667 * 0.8494; 8 disks of 6.77 W.
    for part in [
        "4 DataNodes, 12 disks, 8 of them for further replicas",
        "they hold 16 TB of data; 15 TB are to be there: 16 TB of primary disks, 32 TB of backup disks, which is to be 2 : 1",
        "backup disks are 66.7 % of all; with disks alike it would be (n - 1) / n = 66.7 %",
        "saves 56.6 % of what the disks draw when idle, 54 W",
        "hdfs storagepolicies -setStoragePolicy -path /data -policy WARM",
        "hdfs mover -p /logs",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let site = scratch.read("conf/small.xml");
    let folders = "<value>[DISK]/disks/a/dn,[ARCHIVE]/disks/b/dn,[ARCHIVE]/disks/c/dn</value>";
    assert!(site.contains(folders) && site.contains("ReplicaCachingGetSpaceUsed"), "{site}");
    assert!(scratch.read("conf/namenode.xml").contains("considerStorageType</name>\n    <value>true<"));
}

#[test]
fn a_cluster_that_cannot_rest_is_refused() {
    let scratch = Scratch::new("power-hdfs-wrong");
    for (from, to, message) in [
        ("15 TB", "17 TB", "need 17 TB of primary and 34 TB of backup disks, and there are 16 TB and 32 TB"),
        ("replication = 3", "replication = 1", "without further replicas"),
        ("replication = 3", "replication = 5", "5 replicas are on as many DataNodes: there are 4"),
        ("count = 4", "count = 0", "datanode small: it needs"),
        ("/disks/c", "/disks/b", "is named once"),
        ("/disks/c", "disks/c", "absolute path"),
        ("/disks/c", "/disks/<c>", "absolute path"),
        ("\"4 TB\" }]\nbackup", "\"4\" }]\nbackup", "datanode small, primary /disks/a/dn: "),
        ("standby = \"1.2 W\"\n", "", "idle and standby: both"),
        ("name = \"small\"", "name = \"a b\"", "a datanode's name is \"a b\""),
        ("count = 4", "cuont = 4", "unknown field `cuont`"),
        ("[\"/data\", \"/logs\"]", "[]", "paths: folders of HDFS"),
    ] {
        assert!(CLUSTER.contains(from), "{from}");
        scratch.file("cluster.toml", &CLUSTER.replace(from, to));
        let output = scratch.trunkline(&["power", "hdfs", "cluster.toml", "--out", "conf"]);
        assert!(code(&output) == 2 && said(&output).contains(message), "{to}: {}", said(&output));
        assert!(said(&output).contains("cluster.toml") && !scratch.has("conf"), "{}", said(&output));
    }
}
