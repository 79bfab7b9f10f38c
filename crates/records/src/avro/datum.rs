//! One record in Avro's binary encoding: the values at a path become keys, all others are passed over.

use crate::cursor::Cursor;
use crate::parquet_file::unscaled;
use ::avro::{Kind, Logical, Schema, Type};
use placement::{Keys, Value, write_decimal};

/// The deepest nesting of values.
const DEEPEST: u32 = 64;

/// Reads records of a schema.
pub struct Datum<'a> {
    schema: &'a Schema,
    /// Values that the block may still have: one of a list may take no byte, so their bytes alone bound nothing.
    budget: u64,
}

impl<'a> Datum<'a> {
    pub const fn new(schema: &'a Schema) -> Self {
        Self { schema, budget: 0 }
    }

    /// A block of so many bytes begins.
    pub fn begin_block(&mut self, bytes: usize) {
        self.budget = (1 << 22) + 8 * bytes as u64;
    }

    /// Reads one record. `None` if the bytes do not have its schema.
    pub fn record(&mut self, cursor: &mut Cursor<'_>, path: &[&str], keys: &mut Keys) -> Option<()> {
        let schema = self.schema;
        self.value(cursor, &schema.root, Some(path), keys, 0)
    }

    /// Reads a value. `path` is what is left of the path to the keys, `None` beside it.
    fn value(
        &mut self,
        cursor: &mut Cursor<'_>,
        of: &Type,
        path: Option<&[&str]>,
        keys: &mut Keys,
        depth: u32,
    ) -> Option<()> {
        self.budget = self.budget.checked_sub(1)?;
        if depth > DEEPEST {
            return None;
        }
        let is_key = path.is_some_and(<[_]>::is_empty);
        let mut found = |value: Value<'_>| {
            if is_key {
                keys.push_with(|text| value.write(text));
            }
        };
        match of {
            Type::Null => {}
            Type::Boolean => match cursor.array()? {
                [byte @ 0..=1] => found(Value::Boolean(byte == 1)),
                _ => return None,
            },
            Type::Int(logical) => {
                let value = i32::try_from(cursor.avro_long()?).ok()?;
                found(match logical {
                    Logical::Date => Value::Date(value),
                    Logical::Time(a_second) => time(i64::from(value), *a_second)?,
                    _ => Value::Int(value),
                });
            }
            Type::Long(logical) => {
                let value = cursor.avro_long()?;
                found(match logical {
                    Logical::Time(a_second) => time(value, *a_second)?,
                    Logical::Timestamp(a_second) => Value::timestamp(value, *a_second),
                    _ => Value::Long(value),
                });
            }
            Type::Float => found(Value::Float(f32::from_le_bytes(cursor.array()?))),
            Type::Double => found(Value::Double(f64::from_le_bytes(cursor.array()?))),
            Type::Bytes(logical) => bytes(cursor.avro_bytes()?, *logical, is_key, keys)?,
            Type::Text(_) => found(Value::Text(cursor.avro_bytes()?)),
            Type::Array(items) => {
                self.blocks(cursor, path.is_none(), |this, cursor| this.value(cursor, items, path, keys, depth + 1))?;
            }
            Type::Map(values) => self.blocks(cursor, path.is_none(), |this, cursor| {
                cursor.avro_bytes()?;
                this.value(cursor, values, path, keys, depth + 1)
            })?,
            Type::Union(branches) => {
                let branch = usize::try_from(cursor.avro_long()?).ok()?;
                self.value(cursor, branches.get(branch)?, path, keys, depth + 1)?;
            }
            Type::Named(index) => {
                let schema = self.schema;
                match &schema.named[*index].kind {
                    Kind::Enum(symbols) => {
                        let symbol = usize::try_from(cursor.avro_long()?).ok()?;
                        found(Value::Text(symbols.get(symbol)?.as_bytes()));
                    }
                    Kind::Fixed(size, logical) => bytes(cursor.take(*size)?, *logical, is_key, keys)?,
                    Kind::Record(fields) => {
                        for (name, field) in fields {
                            let below = match path {
                                Some([first, rest @ ..]) if first == name => Some(rest),
                                _ => None,
                            };
                            self.value(cursor, field, below, keys, depth + 1)?;
                        }
                    }
                    Kind::Open => return None,
                }
            }
        }
        Some(())
    }

    /// Items come in blocks, each with its count, until a count of zero. A negative count is followed by the block's
    /// length, by which a block without keys is passed over.
    fn blocks<'c>(
        &mut self,
        cursor: &mut Cursor<'c>,
        pass: bool,
        mut item: impl FnMut(&mut Self, &mut Cursor<'c>) -> Option<()>,
    ) -> Option<()> {
        loop {
            let count = cursor.avro_long()?;
            if count == 0 {
                return Some(());
            }
            if count < 0 {
                let length = usize::try_from(cursor.avro_long()?).ok()?;
                if pass {
                    cursor.take(length)?;
                    continue;
                }
            }
            for _ in 0..count.unsigned_abs() {
                item(self, cursor)?;
            }
        }
    }
}

/// A time of day, which is below a day.
fn time(value: i64, a_second: i64) -> Option<Value<'static>> {
    (0..86_400 * a_second).contains(&value).then(|| Value::Time(value * (1_000_000_000 / a_second)))
}

fn bytes(bytes: &[u8], logical: Logical, is_key: bool, keys: &mut Keys) -> Option<()> {
    if !is_key {
        return Some(());
    }
    match logical {
        Logical::Decimal(scale) => {
            let value = unscaled(bytes)?;
            keys.push_with(|text| write_decimal(value, scale, text));
        }
        Logical::Uuid => {
            let value = Value::Uuid(bytes.try_into().ok()?);
            keys.push_with(|text| value.write(text));
        }
        _ => keys.push(bytes),
    }
    Some(())
}
