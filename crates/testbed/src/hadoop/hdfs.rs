//! HDFS by its web interface (WebHDFS): no JVM is started for it.

use super::HadoopError;
use super::http::{Answer, Request, ask, encoded};
use super::running::Running;
use super::settings::NAME_NODE_HTTP;
use serde_json::Value;
use std::io;
use std::net::{Ipv4Addr, TcpStream};

/// HDFS of a running cluster, for a client on its master.
#[derive(Clone, Copy, Debug)]
pub struct Hdfs<'a> {
    cluster: &'a Running,
}

/// A file or folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Its name within its folder.
    pub name: String,
    /// Whether it is a folder.
    pub is_folder: bool,
    /// Bytes of a file.
    pub length: u64,
}

impl<'a> Hdfs<'a> {
    /// Of a cluster.
    pub const fn of(cluster: &'a Running) -> Self {
        Self { cluster }
    }

    /// What a folder holds, by name, or the file itself; `None` if there is neither.
    pub fn list(self, path: &str) -> Result<Option<Vec<Entry>>, HadoopError> {
        let answer = self.name_node("GET", path, "LISTSTATUS", "")?;
        if answer.status == 404 {
            return Ok(None);
        }
        let value = json(path, &answer)?;
        let odd = || failed(path, &answer);
        let all = value["FileStatuses"]["FileStatus"].as_array().ok_or_else(odd)?;
        let entry = |entry: &Value| {
            Some(Entry {
                name: entry["pathSuffix"].as_str()?.to_owned(),
                is_folder: entry["type"].as_str()? == "DIRECTORY",
                length: entry["length"].as_u64()?,
            })
        };
        let mut entries = all.iter().map(entry).collect::<Option<Vec<_>>>().ok_or_else(odd)?;
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Some(entries))
    }

    /// The files below a folder, with their paths.
    pub fn files(self, folder: &str) -> Result<Vec<(String, Entry)>, HadoopError> {
        let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
        while let Some(folder) = folders.pop() {
            for entry in self.list(&folder)?.unwrap_or_default() {
                let path = format!("{folder}/{}", entry.name);
                if entry.is_folder { folders.push(path) } else { files.push((path, entry)) }
            }
        }
        files.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(files)
    }

    /// The content of a file.
    pub fn read(self, path: &str) -> Result<Vec<u8>, HadoopError> {
        let answer = self.name_node("GET", path, "OPEN", "")?;
        if answer.status == 200 {
            return Ok(answer.body);
        }
        let (to, there) = self.redirected(path, &answer)?;
        let answer = ask(self.cluster.master(), to, Request::new("GET", &there), |_| Ok(()));
        let answer = answer.map_err(HadoopError::system(format!("read {path} from HDFS")))?;
        if answer.status == 200 { Ok(answer.body) } else { Err(failed(path, &answer)) }
    }

    /// Writes a file of this length. One that is there is replaced.
    pub fn write(
        self,
        path: &str,
        length: u64,
        write: impl FnOnce(&mut TcpStream) -> io::Result<()> + Send,
    ) -> Result<(), HadoopError> {
        let answer = self.name_node("PUT", path, "CREATE", "&overwrite=true")?;
        let (to, there) = self.redirected(path, &answer)?;
        let request = Request { length, ..Request::new("PUT", &there) };
        let answer = ask(self.cluster.master(), to, request, write);
        let answer = answer.map_err(HadoopError::system(format!("write {path} into HDFS")))?;
        if answer.status == 201 { Ok(()) } else { Err(failed(path, &answer)) }
    }

    /// Moves a file.
    pub fn rename(self, path: &str, to: &str) -> Result<(), HadoopError> {
        let answer = self.name_node("PUT", path, "RENAME", &format!("&destination={}", encoded(to)))?;
        if json(path, &answer)?["boolean"] == true { Ok(()) } else { Err(failed(path, &answer)) }
    }

    /// Removes a file or folder, if it is there.
    pub fn delete(self, path: &str) -> Result<(), HadoopError> {
        let answer = self.name_node("DELETE", path, "DELETE", "&recursive=true")?;
        json(path, &answer).map(|_| ())
    }

    fn name_node(self, method: &str, path: &str, operation: &str, more: &str) -> Result<Answer, HadoopError> {
        let user = &self.cluster.user;
        let there = format!("/webhdfs/v1{}?op={operation}&user.name={user}{more}", encoded(path));
        let to = (self.cluster.master_address(), NAME_NODE_HTTP);
        ask(self.cluster.master(), to, Request::new(method, &there), |_| Ok(()))
            .map_err(HadoopError::system("ask the NameNode"))
    }

    /// The DataNode, and the path there, to which the NameNode redirects.
    fn redirected(self, path: &str, answer: &Answer) -> Result<((Ipv4Addr, u16), String), HadoopError> {
        let parts = answer.location.as_deref().and_then(|location| {
            let (authority, there) = location.strip_prefix("http://")?.split_once('/')?;
            let (name, port) = authority.split_once(':')?;
            let address = self.cluster.address(name).or_else(|| name.parse().ok())?;
            Some(((address, port.parse().ok()?), format!("/{there}")))
        });
        parts.ok_or_else(|| failed(path, answer))
    }
}

fn json(path: &str, answer: &Answer) -> Result<Value, HadoopError> {
    let value = serde_json::from_slice(&answer.body).ok().filter(|_| answer.status == 200);
    value.ok_or_else(|| failed(path, answer))
}

fn failed(path: &str, answer: &Answer) -> HadoopError {
    let said = String::from_utf8_lossy(&answer.body);
    let said = serde_json::from_str::<Value>(&said)
        .ok()
        .and_then(|value| Some(value["RemoteException"]["message"].as_str()?.lines().next()?.to_owned()))
        .unwrap_or_else(|| said.chars().take(200).collect());
    HadoopError::Failed(format!("HDFS, {path}: status {}: {said}", answer.status))
}
