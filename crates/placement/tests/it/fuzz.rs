//! Fuzzing: any text is a key expression or is refused, and an expression finds keys in any bytes. `scripts/fuzz
//! placement expressions 300` looks for inputs that break it; what it has found is in `__fuzz__` and is replayed here.

use placement::{Hint, KeyRule, Keys};

/// The first byte says how long the expression is; behind it is the record.
#[test]
fn expressions() {
    let rules: Vec<KeyRule> = [
        "first-tab",
        "column:2",
        "column:3:,",
        "tokens",
        "line",
        "json:$.a[*]",
        "regex:([a-z]+)=",
        "regex:(x*)",
        "regex:a|(b?)",
        "regex:ab?(c*)",
    ]
    .iter()
    .map(|text| text.parse().expect("a rule"))
    .collect();
    let mut keys = Keys::new();
    bolero::check!().with_max_len(600).for_each(|input: &[u8]| {
        let Some((length, rest)) = input.split_first() else { return };
        let (expression, record) = rest.split_at(rest.len().min(usize::from(*length)));
        if let Ok(text) = std::str::from_utf8(expression) {
            match text.parse::<KeyRule>() {
                Ok(rule) => {
                    // What a plan writes down is the same rule.
                    let said = rule.to_string();
                    let again: KeyRule = said.parse().unwrap_or_else(|error| panic!("`{said}` of `{text}`: {error}"));
                    assert_eq!(said, again.to_string());
                    assert_eq!(found(&rule, record, &mut keys), found(&again, record, &mut Keys::new()), "{text}");
                }
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
        for rule in &rules {
            let found = found(rule, record, &mut keys);
            if let Some(expected) = plainly(rule, record) {
                assert_eq!(found, expected, "{rule}");
            }
        }
    });
}

fn found(rule: &KeyRule, record: &[u8], keys: &mut Keys) -> Vec<Vec<u8>> {
    rule.keys(record, keys);
    keys.iter(record).map(<[u8]>::to_vec).collect()
}

/// The keys by the standard library's ways of splitting, and by the iterators of regular expressions.
fn plainly(rule: &KeyRule, record: &[u8]) -> Option<Vec<Vec<u8>>> {
    let space = |byte: &u8| b" \t\n\r\x0c".contains(byte);
    Some(match rule {
        KeyRule::FirstTab if record.contains(&b'\t') => vec![record.split(|byte| *byte == b'\t').next()?.to_vec()],
        KeyRule::FirstTab => Vec::new(),
        KeyRule::Column { index, delimiter } => {
            record.split(|byte| byte == delimiter).nth(*index).map(<[u8]>::to_vec).into_iter().collect()
        }
        KeyRule::Tokens => record.split(space).filter(|word| !word.is_empty()).map(<[u8]>::to_vec).collect(),
        KeyRule::Line => vec![record.to_vec()],
        // The rules here have a group each.
        KeyRule::Regex(pattern) => pattern
            .regex()
            .captures_iter(record)
            .filter_map(|found| found.get(1))
            .map(|group| group.as_bytes().to_vec())
            .collect(),
        _ => return None,
    })
}
