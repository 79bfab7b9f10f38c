//! Takes records and keeps them.

use placement::{Hint, KeyRule, KeyType, Keys, ScanError};
use records::{Error, Sample, Sink, Source};
use std::path::{Path, PathBuf};

/// All keys of all records, and their lengths.
pub struct Collected {
    rule: KeyRule,
    pub keys: Vec<Vec<String>>,
    pub bytes: u64,
}

impl Collected {
    pub fn by(rule: KeyRule) -> Self {
        Self { rule, keys: Vec::new(), bytes: 0 }
    }
}

impl Sink for Collected {
    fn record(&mut self, record: &[u8], length: u64) -> Result<(), ScanError> {
        let mut keys = Keys::new();
        self.rule.keys(record, &mut keys);
        self.keys.push(keys.iter(record).map(|key| String::from_utf8_lossy(key).into_owned()).collect());
        self.bytes += length;
        Ok(())
    }
    fn keyed(&mut self, keys: &Keys, length: u64) -> Result<(), ScanError> {
        self.keys.push(keys.iter(&[]).map(|key| String::from_utf8_lossy(key).into_owned()).collect());
        self.bytes += length;
        Ok(())
    }
}

/// A file that an engine has written.
pub fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name)
}

/// What a file has by a rule, and what it says of its bytes.
pub fn scan(path: &Path, rule: Option<&str>, sample: f64) -> Result<(KeyType, Collected, u64), Error> {
    let rule: Option<KeyRule> = rule.map(|rule| rule.parse().expect("a rule"));
    let source = Source::open(path)?;
    let (rule, of) = source.key(rule.as_ref())?;
    let mut collected = Collected::by(rule.clone());
    let bytes = source.scan(&rule, Sample::new(sample), &mut collected, &mut |_| true)?;
    Ok((of, collected, bytes))
}

/// All keys of an engine's file.
pub fn keys(name: &str, rule: Option<&str>) -> (KeyType, Vec<Vec<String>>) {
    let (of, collected, bytes) = scan(&file(name), rule, 1.0).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(collected.bytes, bytes, "{name}");
    (of, collected.keys)
}

/// One key for each record.
pub fn each(records: usize, key: impl Fn(usize) -> String) -> Vec<Vec<String>> {
    (0..records).map(|record| vec![key(record)]).collect()
}

/// A file of these bytes, gone at the end.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(name: &str, bytes: &[u8]) -> Self {
        let path = std::env::temp_dir().join(format!("trunkline-records-{}-{name}", std::process::id()));
        std::fs::write(&path, bytes).expect("written");
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
