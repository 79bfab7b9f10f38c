//! Keys that stand for properties of Spark, beside what Spark 4.1.1's own entries make of the same texts.

use scenario::{Spark, SparkAllocation, SparkExclusion, SparkProperty, SparkYarn};
use std::collections::BTreeSet;

/// Name, text, and what Spark makes of it in the unit that it counts in: written by `Settings.java` beside it.
const SETTINGS: &str = include_str!("../spark/settings.tsv");

/// An application with all tables that may be left out.
fn whole() -> Spark {
    Spark {
        dynamic_allocation: Some(SparkAllocation::default()),
        exclude_on_failure: Some(SparkExclusion::default()),
        yarn: Some(SparkYarn::default()),
        ..Spark::default()
    }
}

fn property(name: &str) -> &'static SparkProperty {
    SparkProperty::ALL.iter().find(|property| property.name == name).expect("a property of the table")
}

fn rows() -> impl Iterator<Item = [&'static str; 3]> {
    SETTINGS.lines().map(|line| {
        let fields: Vec<&str> = line.split('\t').collect();
        fields.try_into().expect("three fields")
    })
}

#[test]
fn each_property_is_spark_s_own() {
    let known: BTreeSet<&str> = rows().map(|[name, ..]| name).collect();
    let ours: BTreeSet<&str> = SparkProperty::ALL.iter().map(|property| property.name).collect();
    assert_eq!(known, ours);
    assert_eq!(ours.len(), SparkProperty::ALL.len(), "a name is there once");
    let keys: BTreeSet<String> = SparkProperty::ALL.iter().map(SparkProperty::key).collect();
    assert_eq!(keys.len(), SparkProperty::ALL.len(), "a key is there once");
}

/// What is written without a value is Spark's own default, and none where Spark has none or no bound.
#[test]
fn defaults_are_spark_s_own() {
    for [name, _, value] in rows().filter(|[_, text, _]| *text == "-") {
        let written = property(name).written(&whole());
        let written = written.as_deref().map(|written| written.trim_end_matches(|c: char| c.is_ascii_alphabetic()));
        match (value, written) {
            // What another property says, or who reads it.
            ("none", _) | ("2147483647" | "9223372036854775807", None) => {}
            ("true" | "false", _) => assert_eq!(property(name).written(&whole()).as_deref(), Some(value), "{name}"),
            (value, written) => {
                let number = |text: &str| text.parse::<f64>().expect("a number");
                assert_eq!(written.map(number), Some(number(value)), "{name}");
            }
        }
    }
}

/// A text is read as Spark reads it, and written so that Spark reads the same.
#[test]
fn texts_are_read_as_spark_reads_them() {
    for [name, text, value] in rows().filter(|[_, text, _]| *text != "-") {
        let mut spark = whole();
        assert!(property(name).take(&mut spark, text), "{name} {text}");
        let written = property(name).written(&spark).expect("it is said");
        assert_eq!(written.trim_end_matches(|c: char| c.is_ascii_alphabetic()), value, "{name} {text}: {written}");
        assert_eq!(property(name).cut_off(&spark), None, "{name} {text}");
        let mut again = whole();
        assert!(property(name).take(&mut again, &written) && again == spark, "{name} {text}: {written}");
    }
}

#[test]
fn what_is_no_value_is_not_understood() {
    for (name, text) in [
        ("spark.locality.wait", "soon"),
        ("spark.reducer.maxSizeInFlight", "48 parsecs"),
        ("spark.speculation", "yes"),
        ("spark.speculation.multiplier", "NaN"),
        ("spark.dynamicAllocation.minExecutors", "-1"),
    ] {
        let mut spark = whole();
        assert!(!property(name).take(&mut spark, text) && spark == whole(), "{name} {text}");
    }
}

/// A part of the unit in which Spark counts would be cut off: 500 ms of whole seconds are none.
#[test]
fn what_spark_would_cut_off_is_known() {
    let mut spark = whole();
    spark.dynamic_allocation.as_mut().expect("it is there").scheduler_backlog_timeout = units::Time::from_ms(1_500);
    spark.reducer_max_size_in_flight = units::Bytes::new(1_000_000);
    let cut: Vec<_> = SparkProperty::ALL.iter().filter_map(|of| Some((of.key(), of.cut_off(&spark)?))).collect();
    let words = |is: [&str; 3]| is.map(str::to_owned);
    assert_eq!(
        cut,
        [
            ("spark.reducer-max-size-in-flight".to_owned(), words(["1 MB", "1 MiB", "1 MiB"])),
            ("spark.dynamic-allocation.scheduler-backlog-timeout".to_owned(), words(["1500 ms", "2 s", "1 s"])),
        ]
    );
}
