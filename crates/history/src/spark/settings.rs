//! Properties of a log that stand for keys of a scenario, by the one table of both.

use super::Application;
use scenario::key::Section;
use scenario::{Spark, SparkProperty};

/// A property by its name, or by one that it had before.
pub fn property<'a>(of: &'a Application, name: &str) -> Option<&'a str> {
    // Those of exclusion are of before Spark 3.1, that of memory of before 2.3 (`SparkConf.configsWithAlternatives`).
    let before = match name {
        "spark.excludeOnFailure.killExcludedExecutors" => "spark.blacklist.killBlacklistedExecutors".to_owned(),
        "spark.scheduler.executorTaskExcludeOnFailureTime" => "spark.scheduler.executorTaskBlacklistTime".to_owned(),
        "spark.executor.memoryOverhead" => "spark.yarn.executor.memoryOverhead".to_owned(),
        _ => name.replace("excludeOnFailure", "blacklist"),
    };
    of.property(name).or_else(|| of.property(&before)).map(str::trim)
}

/// Sets the keys that are wanted to what a log has of their properties, in place of a cluster's, and says what of these
/// is not understood.
pub fn take(of: &Application, spark: &mut Spark, notes: &mut Vec<String>, is_wanted: impl Fn(&SparkProperty) -> bool) {
    for wanted in SparkProperty::ALL.iter().filter(|wanted| is_wanted(wanted)) {
        if let Some(value) = property(of, wanted.name)
            && !wanted.take(spark, value)
        {
            let name = wanted.name;
            notes.push(format!("`{name}` is not understood (\"{value}\"); the default is assumed"));
        }
    }
    spark.clamp();
}
