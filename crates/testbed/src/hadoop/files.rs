//! Where a job's input or output lies: HDFS, or the bucket of the object store.

use super::HadoopError;
use super::hdfs::Hdfs;
use super::running::Running;
use super::store::Bucket;
use std::io::{self, Write};

/// A file system of a running cluster, from outside its jobs.
#[derive(Clone, Debug)]
pub enum Files<'a> {
    /// HDFS, by its web interface.
    Hdfs(Hdfs<'a>),
    /// The store's bucket, from the server's side.
    Bucket(Bucket),
}

impl<'a> Files<'a> {
    /// Of a cluster: the store's bucket, or HDFS.
    pub fn of(cluster: &'a Running, in_store: bool) -> Result<Self, HadoopError> {
        Ok(if in_store { Self::Bucket(Bucket::of(&cluster.layout)?) } else { Self::Hdfs(Hdfs::of(cluster)) })
    }

    /// A path as jobs are told it.
    pub fn told(&self, path: &str) -> String {
        match self {
            Self::Hdfs(_) => path.to_owned(),
            // The first part of a path is the bucket.
            Self::Bucket(_) => format!("s3a:/{path}"),
        }
    }

    /// What it is, in words.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Hdfs(_) => "HDFS",
            Self::Bucket(_) => "the object store",
        }
    }

    /// The files below a folder: their paths and lengths.
    pub fn files(&self, folder: &str) -> Result<Vec<(String, u64)>, HadoopError> {
        match self {
            Self::Hdfs(hdfs) => Ok(hdfs.files(folder)?.into_iter().map(|(path, of)| (path, of.length)).collect()),
            Self::Bucket(bucket) => bucket.files(folder).map_err(failing("list", folder)),
        }
    }

    /// The content of the files of a folder that a job's tasks have written, one after the other.
    pub fn parts(&self, folder: &str) -> Result<Vec<u8>, HadoopError> {
        let mut all = Vec::new();
        for (path, _) in self.files(folder)? {
            if path.rsplit('/').next().is_some_and(|name| name.starts_with("part-")) {
                all.extend(self.read(&path)?);
            }
        }
        Ok(all)
    }

    /// The content of a file.
    pub fn read(&self, path: &str) -> Result<Vec<u8>, HadoopError> {
        match self {
            Self::Hdfs(hdfs) => hdfs.read(path),
            Self::Bucket(bucket) => bucket.read(path).map_err(failing("read", path)),
        }
    }

    /// Writes a file of this length. One that is there is replaced.
    pub fn write(
        &self,
        path: &str,
        length: u64,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()> + Send,
    ) -> Result<(), HadoopError> {
        match self {
            Self::Hdfs(hdfs) => hdfs.write(path, length, |stream| write(stream)),
            Self::Bucket(bucket) => bucket.write(path, write).map_err(failing("write", path)),
        }
    }

    /// Moves a file into a folder, which is made.
    pub fn place(&self, path: &str, folder: &str, name: &str) -> Result<(), HadoopError> {
        let to = format!("{folder}/{name}");
        match self {
            Self::Hdfs(hdfs) => {
                hdfs.write(&format!("{folder}/.made"), 0, |_| Ok(()))?;
                hdfs.rename(path, &to)
            }
            Self::Bucket(bucket) => bucket.rename(path, &to).map_err(failing("write", &to)),
        }
    }

    /// Removes a file or folder, if it is there.
    pub fn delete(&self, path: &str) -> Result<(), HadoopError> {
        match self {
            Self::Hdfs(hdfs) => hdfs.delete(path),
            Self::Bucket(bucket) => bucket.delete(path).map_err(failing("delete", path)),
        }
    }
}

fn failing(what: &str, path: &str) -> impl FnOnce(io::Error) -> HadoopError {
    HadoopError::system(format!("{what} {path} of the object store"))
}
