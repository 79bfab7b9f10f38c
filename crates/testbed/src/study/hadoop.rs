//! HDFS with one NameNode and one DataNode, as `hdfs` of a release starts them.

use super::TrialError;
use super::process::{Process, finish};
use super::scene::Scene;
use super::site::{APP, SERVER};
use super::stock::program;
use super::tool::find;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Port of the NameNode's calls.
const NAME_NODE: u16 = 8_020;
/// Folder of the settings, in the cell's.
const SETTINGS: &str = "hadoop";
/// The names that both hosts know, in the cell's folder.
const HOSTS: &str = "hosts";
/// Folder of the DataNode's blocks, in the cell's.
const BLOCKS: &str = "hadoop-data";

/// Starts both, and waits until files can be written.
pub fn serve(scene: Scene<'_>) -> Result<Vec<Process>, TrialError> {
    let Scene { site, work, stop, .. } = scene;
    write_settings(work).map_err(TrialError::system("write Hadoop's settings"))?;
    let format = ["namenode", "-format", "-nonInteractive"];
    finish(hdfs(work)?.args(format))?;
    let daemon = |name: &str| {
        let mut daemon = hdfs(work)?;
        daemon.arg(name).stdout(Stdio::null());
        scene.start(&site.srv, daemon, name)
    };
    let mut name_node = daemon("namenode")?;
    name_node.until_it_listens(&site.srv, NAME_NODE, stop)?;
    let data_node = daemon("datanode")?;
    let mut wait = hdfs(work)?;
    wait.args(["dfsadmin", "-safemode", "wait"]);
    let waited = site.srv.within(move || finish(&mut wait));
    waited.map_err(TrialError::system("enter the server's namespace"))??;
    Ok(vec![name_node, data_node])
}

/// `hdfs dfs -put` of a file.
pub fn put(work: &Path, file: &Path) -> Result<Command, TrialError> {
    let mut put = hdfs(work)?;
    put.args(["dfs", "-put"]).arg(file).arg("/arrived");
    Ok(put)
}

/// The command that takes the only block out of the DataNode's folder, by its usual name.
pub fn take_block(work: &Path, to: &Path) -> Result<Command, TrialError> {
    let mut find = program("find")?;
    find.arg(work.join(BLOCKS)).args(["-name", "blk_*", "!", "-name", "*.meta", "-exec", "cp", "{}"]);
    find.arg(to).arg(";");
    Ok(find)
}

fn hdfs(work: &Path) -> Result<Command, TrialError> {
    let mut hdfs = program("hdfs")?;
    hdfs.env("HADOOP_CONF_DIR", work.join(SETTINGS)).env("HADOOP_LOG_DIR", work).env("HADOOP_USER_NAME", "root");
    // The namespaces have no name service: a question would wait for its time-out.
    hdfs.env("JAVA_TOOL_OPTIONS", format!("-Djdk.net.hosts.file={}", work.join(HOSTS).display()));
    let java = find("java").and_then(|java| java.canonicalize().ok());
    if let Some(home) = java.as_deref().and_then(Path::parent).and_then(Path::parent) {
        hdfs.env("JAVA_HOME", home);
    }
    Ok(hdfs)
}

fn write_settings(work: &Path) -> std::io::Result<()> {
    let folder = work.join(SETTINGS);
    let own = |name: &str| work.join(name).display().to_string();
    let at = |port: u16| format!("{SERVER}:{port}");
    fs::create_dir(&folder)?;
    let own_name = fs::read_to_string("/proc/sys/kernel/hostname")?;
    fs::write(work.join(HOSTS), format!("127.0.0.1 localhost {own_name}{APP} app\n{SERVER} srv\n"))?;
    fs::write(folder.join("core-site.xml"), settings(&[("fs.defaultFS", format!("hdfs://{}", at(NAME_NODE)))]))?;
    let of_hdfs = settings(&[
        ("dfs.replication", "1".to_owned()),
        ("dfs.namenode.name.dir", own("hadoop-name")),
        ("dfs.datanode.data.dir", own(BLOCKS)),
        // Files can be written once the DataNode has come.
        ("dfs.namenode.safemode.min.datanodes", "1".to_owned()),
        ("dfs.namenode.safemode.extension", "0".to_owned()),
        ("dfs.namenode.datanode.registration.ip-hostname-check", "false".to_owned()),
        ("dfs.namenode.http-address", at(9_870)),
        ("dfs.datanode.address", at(9_866)),
        ("dfs.datanode.ipc.address", at(9_867)),
        ("dfs.datanode.http.address", at(9_864)),
    ]);
    fs::write(folder.join("hdfs-site.xml"), of_hdfs)
}

fn settings(properties: &[(&str, String)]) -> String {
    let mut text = "<configuration>\n".to_owned();
    for (name, value) in properties {
        // Writing to a string does not fail.
        let _ = writeln!(text, "  <property><name>{name}</name><value>{value}</value></property>");
    }
    text + "</configuration>\n"
}
