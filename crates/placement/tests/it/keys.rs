//! Keys are found where the rule says, and nowhere else.

use placement::{Hint, KeyRule, Keys, Records, TooLong};
use proptest::prelude::*;

fn keys(rule: &str, record: &str) -> Vec<String> {
    let rule: KeyRule = rule.parse().expect("a rule");
    let mut keys = Keys::new();
    rule.keys(record.as_bytes(), &mut keys);
    keys.iter(record.as_bytes()).map(|key| String::from_utf8_lossy(key).into_owned()).collect()
}

#[test]
fn each_rule_finds_its_keys() {
    assert_eq!(keys("first-tab", "user\tpage\t3"), ["user"]);
    assert_eq!(keys("first-tab", "\tpage"), [""]);
    assert_eq!(keys("first-tab", "no tab"), [""; 0]);
    assert_eq!(keys("column:1", "a\tb"), ["a"]);
    assert_eq!(keys("column:2", "a\tb"), ["b"]);
    assert_eq!(keys("column:3", "a\tb"), [""; 0]);
    assert_eq!(keys("column:3", "a\tb\t"), [""]);
    assert_eq!(keys("column:2:,", "a,b,c"), ["b"]);
    assert_eq!(keys("column:2:\\t", "a\tb\tc"), ["b"]);
    assert_eq!(keys("column:1::", "a:b"), ["a"]);
    assert_eq!(keys("regex:user=(\\w+)", "x user=ann y user=bob"), ["ann", "bob"]);
    assert_eq!(keys("regex:[0-9]+", "10 of 20"), ["10", "20"]);
    assert_eq!(keys("regex:x*", "abc"), [""; 0]);
    assert_eq!(keys("regex:a:(b)", "a:b"), ["b"]);
    // An empty match that ends where the one before has ended is none.
    assert_eq!(keys("regex:(x*)", "axxb"), ["", "xx", ""]);
    assert_eq!(keys("regex:a|(b)", "aba"), ["b"]);
    assert_eq!(keys("tokens", "  the quick\tfox "), ["the", "quick", "fox"]);
    assert_eq!(keys("line", "all of it"), ["all of it"]);
    // Columns by name, and keys beside a record, are not in its text.
    assert_eq!((keys("column:user.id", "a\tb"), keys("key", "a\tb")), (Vec::new(), Vec::new()));
}

#[test]
fn json_paths_lead_to_values() {
    let record =
        r#"{"user": {"id": 7, "name": "A\u00e4\"b", "user": {"id": 9}}, "tags": ["x", "y"], "ok": true, "n": null}"#;
    assert_eq!(keys("json:$.user.id", record), ["7"]);
    assert_eq!(keys("json:user.name", record), ["Aä\"b"]);
    assert_eq!(keys("json:$.tags[1]", record), ["y"]);
    assert_eq!(keys("json:$.tags[*]", record), ["x", "y"]);
    assert_eq!(keys("json:$['user']['id']", record), ["7"]);
    assert_eq!(keys("json:$.ok", record), ["true"]);
    assert_eq!(keys("json:$.n", record), [""; 0]);
    assert_eq!(keys("json:$.user", record), [""; 0]);
    assert_eq!(keys("json:$.id", record), [""; 0]);
    assert_eq!(keys("json:$.tags[2]", record), [""; 0]);
    // What is no JSON has no key, wherever it goes wrong.
    assert_eq!(keys("json:$.user.id", r#"{"user": {"id": 7}"#), [""; 0]);
    assert_eq!(keys("json:$.a", r#"{"a": 1} {"a": 2}"#), [""; 0]);
    assert_eq!(keys("json:$.a", "plain text"), [""; 0]);
}

#[test]
fn rules_that_name_no_key_say_what_does() {
    for rule in [
        "",
        "colum:2",
        "column:0",
        "column:-1",
        "column:1:ab",
        "regex:(",
        "json:",
        "json:$.a[",
        "json:$.a[x]",
        "json:$a",
        "tokens:2",
    ] {
        let error = rule.parse::<KeyRule>().expect_err(rule).to_string();
        assert!(error.len() > 15, "{rule}: {error}");
    }
}

#[test]
fn a_rule_is_printed_as_it_is_read() {
    for rule in [
        "first-tab",
        "column:2",
        "column:2:,",
        "column:user.id",
        "key",
        "regex:user=(\\w+)",
        "json:$.user.tags[*]",
        "json:$.a[3].b",
        "tokens",
        "line",
    ] {
        assert_eq!(rule.parse::<KeyRule>().expect("a rule").to_string(), rule);
    }
}

#[test]
fn a_stream_without_line_ends_is_no_text() {
    let mut records = Records::new();
    let piece = vec![b'x'; 1 << 20];
    let outcomes: Vec<Result<(), TooLong>> = (0..20).map(|_| records.feed(&piece, |_, _| Ok(()))).collect();
    assert!(outcomes[15].is_ok() && outcomes[16] == Err(TooLong), "{outcomes:?}");
}

proptest! {
    /// Wherever packets end, records are the lines of the whole, and their lengths add up to it.
    #[test]
    fn records_do_not_depend_on_where_packets_end(
        text in "[ab\r\n]{0,60}",
        cuts in prop::collection::vec(0usize..60, 0..6),
    ) {
        let bytes = text.as_bytes();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let (mut records, mut found, mut length) = (Records::new(), Vec::new(), 0);
        for pair in cuts.windows(2) {
            records.feed::<TooLong>(&bytes[pair[0]..pair[1]], |record, bytes| {
                found.push(record.to_vec());
                length += bytes;
                Ok(())
            }).expect("short");
        }
        records
            .end::<TooLong>(|record, bytes| { found.push(record.to_vec()); length += bytes; Ok(()) })
            .expect("short");
        let mut lines: Vec<Vec<u8>> = bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        // What follows the last line end is a line only if it is not empty.
        if lines.last().is_some_and(Vec::is_empty) { lines.pop(); }
        for line in &mut lines { if line.last() == Some(&b'\r') { line.pop(); } }
        prop_assert_eq!(found, lines);
        prop_assert_eq!(length, bytes.len() as u64);
    }

    /// Words are those between the white space of `StringTokenizer`, wherever it stands.
    #[test]
    fn words_stand_between_white_space(text in "[a\u{1}\u{e4}\u{a0} \t\r\u{c}]{0,40}") {
        let words: Vec<String> =
            text.split([' ', '\t', '\n', '\r', '\u{c}']).filter(|word| !word.is_empty()).map(str::to_owned).collect();
        prop_assert_eq!(keys("tokens", &text), words);
    }

    /// No record makes a rule panic.
    #[test]
    fn any_bytes_are_a_record(record in prop::collection::vec(any::<u8>(), 0..80)) {
        for rule in ["first-tab", "column:3:,", "regex:(a|b)+", "json:$.a[*].b", "tokens", "line"] {
            let rule: KeyRule = rule.parse().expect("a rule");
            rule.keys(&record, &mut Keys::new());
        }
    }
}

/// White space, its neighbours, and bytes beyond ASCII.
const BYTES: &[u8] = b" \t\r\n\x0c\x0b\x00\x08\x0e\x1f!az\x7f\x80\xa0\xc3\xff";

proptest! {
    /// Words of any bytes, in lines that end anywhere in a block of 64: those between the bytes that Java's
    /// `StringTokenizer` takes for white space.
    #[test]
    fn tokens_are_what_stands_between_white_space(
        line in prop::collection::vec(prop::sample::select(BYTES), 0..300),
        word in 0..90_usize,
    ) {
        let line = [vec![b'w'; word], line].concat();
        let mut keys = Keys::new();
        "tokens".parse::<KeyRule>().expect("a rule").keys(&line, &mut keys);
        let is_space = |byte: &u8| b" \t\n\r\x0c".contains(byte);
        let expected: Vec<&[u8]> = line.split(is_space).filter(|word| !word.is_empty()).collect();
        prop_assert_eq!(keys.iter(&line).collect::<Vec<_>>(), expected);
    }
}

/// Expressions that begin with a fixed text are searched for by it, others by the library alone: the matches of both
/// are those of its iterators, also where the text stands often and no match begins.
#[test]
fn a_pattern_has_the_matches_of_the_library() {
    const PATTERNS: [&str; 20] = [
        r"ab(\d+)",
        r"ab\d+",
        r"ab(\d)?",
        r"a(b)?",
        r"a(b|c)d",
        r"a([^b]*)b",
        r"aa",
        r"\bab(\w+)\b",
        r"ab$",
        r"ab(\d*)$",
        r"(?i)ab(\d)",
        r"^ab(\d*)",
        r"^(a*)",
        r"^a*",
        r"(?m)^(a+)",
        r"^(ab)?$|^(a+)",
        r"a(b*)(?:c|)",
        r"ab|ac(\d)",
        r"(\d+)",
        r"(\d*)b|",
    ];
    let both = PATTERNS.map(|pattern| {
        let rule: KeyRule = format!("regex:{pattern}").parse().expect("a rule");
        (pattern, rule, regex::bytes::Regex::new(pattern).expect("an expression"))
    });
    let text = prop::collection::vec(prop::sample::select(&b"aaabbc12 \n\xff\xc3\xa9"[..]), 0..60);
    proptest!(|(record in text)| {
        let mut keys = Keys::new();
        for (pattern, rule, regex) in &both {
            let expected: Vec<&[u8]> = if regex.captures_len() > 1 {
                regex.captures_iter(&record).filter_map(|found| found.get(1)).map(|group| group.as_bytes()).collect()
            } else {
                regex.find_iter(&record).map(|found| found.as_bytes()).filter(|found| !found.is_empty()).collect()
            };
            rule.keys(&record, &mut keys);
            prop_assert_eq!(keys.iter(&record).collect::<Vec<_>>(), expected, "{}", pattern);
        }
    });
}
