//! Hadoop's properties: those of a job, as its `job_*_conf.xml` and Rumen's `jobProperties` hold them, and those of a
//! cluster's `*-site.xml`.

mod deprecated;
mod xml;

pub use deprecated::{current_name, name_in_hadoop1};

use std::collections::BTreeMap;

/// A property.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Property {
    /// Its value as written, before variables are replaced.
    pub value: String,
    /// Its name as written, which may be a deprecated one.
    pub written: String,
    /// Where the value comes from: `mapred-default.xml`, `yarn-site.xml`, `programmatically`; empty if not recorded.
    pub source: String,
    /// Whether a resource that is read later may not change it.
    pub is_final: bool,
    /// The line of the file, from 1; 0 without a file.
    pub line: u32,
}

impl Property {
    /// Whether nobody has set it: it is Hadoop's default.
    pub fn is_default(&self) -> bool {
        self.source.ends_with("-default.xml")
    }
}

/// Properties by their current names.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Properties(BTreeMap<String, Property>);

/// Most replacements of variables within one value, as in Hadoop's `Configuration`.
const MOST_REPLACED: usize = 20;

/// Longest value with its variables replaced. Those that matter here are numbers and names.
const LONGEST: usize = 1 << 16;

impl Properties {
    /// The property, by its current name.
    pub fn property(&self, name: &str) -> Option<&Property> {
        self.0.get(name)
    }

    /// The value, trimmed, with `${variables}` replaced by other properties' values; `None` if it is empty.
    pub fn get(&self, name: &str) -> Option<String> {
        let mut value = self.0.get(name)?.value.trim().to_owned();
        for _ in 0..MOST_REPLACED {
            let Some((start, end)) = variable(&value) else { break };
            // What no property gives, such as a variable of the environment, stays as it is.
            let Some(other) = self.0.get(current_name(&value[start + 2..end])) else { break };
            if value.len() + other.value.len() > LONGEST {
                break;
            }
            value.replace_range(start..=end, other.value.trim());
        }
        (!value.is_empty()).then_some(value)
    }

    /// Adds a property, under its current name. A final one stays as it is; a current name stays before a deprecated
    /// one of the same resource.
    pub fn enter(&mut self, property: Property) {
        let name = current_name(&property.written).to_owned();
        if let Some(known) = self.0.get(&name)
            && (known.is_final
                || (known.written == name && property.written != name && known.source == property.source))
        {
            return;
        }
        self.0.insert(name, property);
    }

    /// Adds all properties of a resource that is read later.
    pub fn extend(&mut self, later: Self) {
        for property in later.0.into_values() {
            self.enter(property);
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The job whose properties these are: `mapreduce.job.id` if it is there, or the job's part of the path of its
    /// staging folder.
    pub fn job_id(&self) -> Option<String> {
        let id = self.get("mapreduce.job.id").filter(|id| id.starts_with("job_"));
        id.or_else(|| {
            let path = ["mapreduce.job.dir", "mapreduce.job.jar"].into_iter().find_map(|name| self.get(name))?;
            job_id_within(&path).map(str::to_owned)
        })
    }
}

/// The first `job_<digits>_<digits>` within a name or path.
pub fn job_id_within(text: &str) -> Option<&str> {
    text.match_indices("job_").find_map(|(at, _)| {
        let rest = &text[at + 4..];
        let digits = |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let cluster = digits(rest);
        let number = digits(rest[cluster..].strip_prefix('_')?);
        let preceded = text[..at].ends_with(|c: char| c.is_ascii_alphanumeric());
        (cluster > 0 && number > 0 && !preceded).then(|| &text[at..at + 4 + cluster + 1 + number])
    })
}

/// Start and end of the first innermost `${variable}`.
fn variable(value: &str) -> Option<(usize, usize)> {
    let end = value.match_indices('}').map(|(at, _)| at).find(|end| value[..*end].contains("${"))?;
    let start = value[..end].rfind("${")?;
    Some((start, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn properties(pairs: &[(&str, &str)]) -> Properties {
        let mut properties = Properties::default();
        for (name, value) in pairs {
            properties.enter(Property { written: (*name).into(), value: (*value).into(), ..Property::default() });
        }
        properties
    }

    #[test]
    fn variables_are_replaced_as_hadoop_does() {
        let p = properties(&[
            ("a", "1"),
            ("b", "${a}2${a}"),
            ("c", "${c}"),
            ("d", "x${none}y"),
            ("n", "a"),
            ("e", "${${n}}"),
            ("f", "${"),
            ("g", "}${a}"),
        ]);
        let got: Vec<_> = ["b", "d", "e", "f", "g"].map(|name| p.get(name).unwrap()).to_vec();
        assert_eq!(got, ["121", "x${none}y", "1", "${", "}1"]);
        assert_eq!(p.get("c").unwrap(), "${c}", "a value that names itself ends");
    }

    #[test]
    fn variables_that_grow_without_end_are_bounded() {
        let wide = "${a}".repeat(100);
        let p = properties(&[("a", &wide)]);
        assert!(p.get("a").unwrap().len() <= LONGEST);
    }

    #[test]
    fn deprecated_names_stand_for_their_successors() {
        let p = properties(&[("io.sort.mb", "64"), ("mapred.compress.map.output", "true"), ("dfs.block.size", "1024")]);
        let current = ["mapreduce.task.io.sort.mb", "mapreduce.map.output.compress", "dfs.blocksize"];
        assert_eq!(current.map(|name| p.get(name).unwrap()), ["64", "true", "1024"]);
        assert_eq!(p.property("dfs.blocksize").unwrap().written, "dfs.block.size");
    }

    #[test]
    fn a_jobs_identifier_is_found_within_names() {
        for (text, id) in [
            ("job_1795427606570_0001_conf.xml", Some("job_1795427606570_0001")),
            ("/user/root/.staging/job_1795427606570_0001/job.jar", Some("job_1795427606570_0001")),
            ("jobtracker_1240335959557_job_200904211745_0002_geek1_word+count", Some("job_200904211745_0002")),
            ("job_1_2-3-root-job_9_9-4.jhist.gz", Some("job_1_2")),
            ("myjob_1_2", None),
            ("job_12_x", None),
            ("job_", None),
        ] {
            assert_eq!(job_id_within(text), id, "{text}");
        }
    }
}
