//! Numbers and schemas, against the examples of Avro's specification 1.11.

use avro::{Kind, Logical, NumberError, Schema, Type, long};

/// "Binary Encoding", primitive types: the table of zig-zag numbers, and the ends of 64 bits.
#[test]
fn numbers_are_those_of_the_specification() {
    for (bytes, number) in [
        (&[0x00_u8][..], 0),
        (&[0x01], -1),
        (&[0x02], 1),
        (&[0x03], -2),
        (&[0x04], 2),
        (&[0x7f], -64),
        (&[0x80, 0x01], 64),
        (&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01], i64::MIN),
        (&[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01], i64::MAX),
    ] {
        assert_eq!(long(bytes), Ok((number, bytes.len())));
        assert_eq!(long(&bytes[..bytes.len() - 1]), Err(NumberError::Short));
    }
    assert_eq!(long(&[0xff; 10]), Err(NumberError::Long));
    assert_eq!(long(&[2, 9]), Ok((1, 1)));
}

/// "Complex Types": the list of longs that refers to itself, in a namespace; a logical type.
#[test]
fn a_schema_may_refer_to_itself() {
    let text = br#"{"type": "record", "name": "LongList", "namespace": "a.b", "fields": [
        {"name": "value", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "next", "type": ["null", "LongList"]}]}"#;
    let schema = Schema::parse(text).expect("a schema");
    assert_eq!((&schema.root, schema.named[0].full_name.as_str()), (&Type::Named(0), "a.b.LongList"));
    let Kind::Record(fields) = &schema.named[0].kind else { panic!("no record") };
    assert_eq!(fields[0].1, Type::Long(Logical::Timestamp(1000)));
    assert_eq!(fields[1].1, Type::Union(vec![Type::Null, Type::Named(0)]));
}

#[test]
fn what_is_no_schema_is_shown() {
    for (text, words) in [
        ("{", "no JSON"),
        ("3", "`3` where a type should be"),
        (r#"["null", "Unknown"]"#, "`\"Unknown\"` where a known type should be"),
        (r#"{"type": "fixed", "name": "F", "size": 9999999}"#, "a size of at most a mebibyte"),
    ] {
        let error = Schema::parse(text.as_bytes()).expect_err("refused").to_string();
        assert!(error.contains(words), "{text}: {error}");
    }
}
