//! Values and their texts.

use placement::{KeyType, Value, write_decimal};
use proptest::prelude::*;

fn text(value: &Value<'_>) -> String {
    let mut text = Vec::new();
    value.write(&mut text);
    String::from_utf8(text).expect("text")
}

/// Days by hand: 1970 is 0, 2000-02-29 is 30 years of 365 days, 7 leap days before it and 59 days of its own year.
#[test]
fn days_are_those_of_the_calendar() {
    for (day, date) in [
        (0, "1970-01-01"),
        (-1, "1969-12-31"),
        (30 * 365 + 7 + 59, "2000-02-29"),
        // Iceberg's specification: 2017-11-16 hashes as 17486 days do.
        (17_486, "2017-11-16"),
        (-719_528, "0000-01-01"),
        (-719_529, "-0001-12-31"),
        (2_932_897, "10000-01-01"),
    ] {
        assert_eq!(text(&Value::Date(day)), date);
        assert_eq!(KeyType::Date.value(date.as_bytes()), Some(Value::Date(day)), "{date}");
    }
}

#[test]
fn timestamps_have_zones_and_parts_of_seconds() {
    let of = |text: &'static str| KeyType::Timestamp.value(text.as_bytes());
    let at = |seconds, nanos| Some(Value::Timestamp { seconds, nanos });
    assert_eq!(of("1970-01-01 00:00:00"), at(0, 0));
    assert_eq!(of("1970-01-02T01:00:00.5+01:00"), at(86_400, 500_000_000));
    assert_eq!(of("1969-12-31T23:59:59.999999999Z"), at(-1, 999_999_999));
    assert_eq!(Value::timestamp(-1, 1_000_000), Value::Timestamp { seconds: -1, nanos: 999_999_000 });
    assert_eq!(text(&Value::timestamp(-1, 1000)), "1969-12-31T23:59:59.999");
}

#[test]
fn decimals_keep_the_digits_of_their_column() {
    let of = |unscaled, scale| {
        let mut text = Vec::new();
        write_decimal(unscaled, scale, &mut text);
        String::from_utf8(text).expect("text")
    };
    assert_eq!([of(1420, 2), of(-5, 3), of(0, 2), of(7, 0)], ["14.20", "-0.005", "0.00", "7"]);
}

proptest! {
    /// The text of a value is that value again.
    #[test]
    fn values_survive_their_text(
        int: i32, long: i64, float: f32, double: f64, nanos in 0..86_400_000_000_000_i64, micros: i64, uuid: [u8; 16], unscaled in -10_i128.pow(38) + 1..10_i128.pow(38), scale in 0..39_usize
    ) {
        for (of, value) in [
            (KeyType::Int, Value::Int(int)),
            (KeyType::Long, Value::Long(long)),
            (KeyType::Date, Value::Date(int)),
            (KeyType::Time, Value::Time(nanos)),
            (KeyType::Timestamp, Value::timestamp(micros, 1_000_000)),
            (KeyType::Uuid, Value::Uuid(uuid)),
        ] {
            let written = text(&value);
            prop_assert_eq!(of.value(written.as_bytes()), Some(value), "{}", written);
        }
        prop_assert!(matches!(KeyType::Float.value(text(&Value::Float(float)).as_bytes()), Some(Value::Float(read)) if read.to_bits() == float.to_bits() || read.is_nan()));
        prop_assert!(matches!(KeyType::Double.value(text(&Value::Double(double)).as_bytes()), Some(Value::Double(read)) if read.to_bits() == double.to_bits() || read.is_nan()));
        let mut decimal = Vec::new();
        write_decimal(unscaled, scale, &mut decimal);
        // A zero before the point may be a digit more than 38.
        if decimal.iter().filter(|byte| byte.is_ascii_digit()).count() <= 38 {
            prop_assert_eq!(KeyType::Decimal.value(&decimal), Some(Value::Decimal(unscaled)));
        }
    }

    /// No text makes a type panic.
    #[test]
    fn any_text_is_a_value_or_none(bytes in prop::collection::vec(any::<u8>(), 0..40), like in "[-+0-9:.TZ ]{0,40}") {
        for of in KeyType::ALL {
            let _ = (of.value(&bytes), of.value(like.as_bytes()));
        }
    }
}
