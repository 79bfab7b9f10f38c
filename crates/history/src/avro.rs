//! Avro 1.11 data as job histories use it: a schema in JSON, and records in the binary or the JSON encoding.
//!
//! A history is not an Avro container file. After a line with the encoding and a line with the schema the records
//! follow bare, so a datum decoder suffices. It never reads past the input, never recurses deeper than [`MAX_DEPTH`],
//! and holds at most [`MAX_VALUES`] values at a time.

use super::error::{HistoryError, Problem};
use super::json::MOST_TEXT;
use ::avro::{Kind, NumberError, Schema, SchemaError, Type, long};
use serde_json::{Map, Value};

/// Deepest nesting of values; real histories reach 8.
const MAX_DEPTH: u32 = 64;

/// Most values in one record; real ones have about 1,000. A null takes no byte and an empty string one, so the file's
/// length alone would not bound the memory.
pub const MAX_VALUES: u32 = 1 << 18;

/// Longest schema, in bytes; those of Hadoop have up to 40,000.
const MAX_SCHEMA: usize = 4 << 20;

/// The schema from its JSON text at `offset` in the file.
pub fn schema(text: &[u8], offset: usize) -> Result<Schema, HistoryError> {
    if text.len() > MAX_SCHEMA {
        let what = format!("an Avro schema of {} bytes; up to {MAX_SCHEMA} are read", text.len());
        return Err(HistoryError::new(offset, Problem::Limit(what)));
    }
    Schema::parse(text).map_err(|error| match error {
        SchemaError::Json(error) => HistoryError::json(offset, &error),
        SchemaError::Part { expected, found } => {
            HistoryError::malformed(offset, format!("{expected} in the Avro schema"), format!("`{found}`"))
        }
    })
}

// === the binary encoding ===

/// Decodes bare records in sequence, each to plain JSON with unions unwrapped.
pub struct Binary<'a> {
    schema: &'a Schema,
    bytes: &'a [u8],
    at: usize,
    /// Values left to this record.
    budget: u32,
}

impl<'a> Binary<'a> {
    /// Records of `schema` in `bytes` from offset `at`.
    pub fn new(schema: &'a Schema, bytes: &'a [u8], at: usize) -> Self {
        Self { schema, bytes, at, budget: 0 }
    }

    /// The offset of the next record.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// The next record, or `None` at the end of the file.
    pub fn next(&mut self) -> Result<Option<Value>, HistoryError> {
        if self.at >= self.bytes.len() {
            return Ok(None);
        }
        let start = self.at;
        self.budget = MAX_VALUES;
        let record = self.value(&self.schema.root, 0)?;
        if self.at == start {
            return Err(HistoryError::malformed(
                start,
                "records that take at least one byte",
                "a schema of empty ones",
            ));
        }
        Ok(Some(record))
    }

    fn value(&mut self, kind: &Type, depth: u32) -> Result<Value, HistoryError> {
        self.budget = self.budget.checked_sub(1).ok_or_else(|| {
            HistoryError::new(self.at, Problem::Limit(format!("more than {MAX_VALUES} values in one event")))
        })?;
        if depth > MAX_DEPTH {
            let what = format!("values nested deeper than {MAX_DEPTH}");
            return Err(HistoryError::new(self.at, Problem::Limit(what)));
        }
        Ok(match kind {
            Type::Null => Value::Null,
            Type::Boolean => match self.take(1, "a boolean")? {
                [0] => Value::Bool(false),
                [1] => Value::Bool(true),
                other => return Err(HistoryError::malformed(self.at - 1, "a boolean (0 or 1)", format!("{other:?}"))),
            },
            Type::Int(_) => {
                let (start, value) = (self.at, self.long("an int")?);
                let value = i32::try_from(value);
                value.map_err(|_| HistoryError::malformed(start, "an int of 32 bits", "a larger number"))?.into()
            }
            Type::Long(_) => self.long("a long")?.into(),
            // No event that is read has these: they are passed over.
            Type::Float => self.take(4, "a float").map(|_| Value::Null)?,
            Type::Double => self.take(8, "a double").map(|_| Value::Null)?,
            Type::Bytes(_) => {
                let length = self.length("bytes")?;
                self.take(length, "bytes").map(|_| Value::Null)?
            }
            Type::Text(_) => self.text()?.into(),
            Type::Array(items) => {
                let mut list = Vec::new();
                self.blocks(|this| {
                    list.push(this.value(items, depth + 1)?);
                    Ok(())
                })?;
                list.into()
            }
            Type::Map(values) => {
                let mut map = Map::new();
                self.blocks(|this| {
                    let key = this.text()?;
                    map.insert(key, this.value(values, depth + 1)?);
                    Ok(())
                })?;
                map.into()
            }
            Type::Union(branches) => {
                let branch = self.index(branches.len(), "a branch of a union")?;
                self.value(&branches[branch], depth + 1)?
            }
            Type::Named(index) => {
                let schema = self.schema;
                match &schema.named[*index].kind {
                    Kind::Enum(symbols) => symbols[self.index(symbols.len(), "a symbol of an enum")?].clone().into(),
                    Kind::Record(fields) => {
                        let mut record = Map::new();
                        for (name, kind) in fields {
                            record.insert(name.clone(), self.value(kind, depth + 1)?);
                        }
                        record.into()
                    }
                    Kind::Fixed(size, _) => self.take(*size, "a fixed value").map(|_| Value::Null)?,
                    Kind::Open => return Err(HistoryError::malformed(self.at, "a defined type", "an open one")),
                }
            }
        })
    }

    /// Items come in blocks, each with its count, until a count of zero. A negative count is followed by the block's
    /// length in bytes.
    fn blocks(&mut self, mut item: impl FnMut(&mut Self) -> Result<(), HistoryError>) -> Result<(), HistoryError> {
        loop {
            let count = self.long("the count of a block")?;
            if count < 0 {
                self.long("the length of a block")?;
            }
            if count == 0 {
                return Ok(());
            }
            for _ in 0..count.unsigned_abs() {
                item(self)?;
            }
        }
    }

    fn index(&mut self, len: usize, what: &'static str) -> Result<usize, HistoryError> {
        let (start, index) = (self.at, self.long(what)?);
        usize::try_from(index).ok().filter(|i| *i < len).ok_or_else(|| {
            HistoryError::malformed(start, format!("{what} (0 to {})", len.saturating_sub(1)), index.to_string())
        })
    }

    fn length(&mut self, what: &'static str) -> Result<usize, HistoryError> {
        let (start, length) = (self.at, self.long(what)?);
        usize::try_from(length).map_err(|_| HistoryError::malformed(start, what, length.to_string()))
    }

    fn text(&mut self) -> Result<String, HistoryError> {
        let length = self.length("the length of a string")?;
        let at = self.at;
        let bytes = self.take(length, "a string")?;
        if length > MOST_TEXT {
            let what = format!("a text of {length} bytes; up to {MOST_TEXT} are read");
            return Err(HistoryError::new(at, Problem::Limit(what)));
        }
        let text = std::str::from_utf8(bytes).map_err(|_| HistoryError::malformed(at, "UTF-8 text", "other bytes"))?;
        Ok(text.to_owned())
    }

    /// A zigzag base-128 number, lowest digits first.
    fn long(&mut self, what: &'static str) -> Result<i64, HistoryError> {
        match long(self.bytes.get(self.at..).unwrap_or_default()) {
            Ok((value, bytes)) => {
                self.at += bytes;
                Ok(value)
            }
            // Where the byte is missing.
            Err(NumberError::Short) => Err(HistoryError::truncated(self.bytes.len(), what)),
            Err(NumberError::Long) => Err(HistoryError::malformed(self.at, what, "a number of more than 64 bits")),
        }
    }

    fn take(&mut self, length: usize, what: &'static str) -> Result<&'a [u8], HistoryError> {
        let rest = &self.bytes[self.at..];
        let taken = rest.get(..length).ok_or_else(|| HistoryError::truncated(self.at, what))?;
        self.at += length;
        Ok(taken)
    }
}

// === the JSON encoding ===

/// Plain JSON from a record in Avro's JSON encoding, which wraps a union's value in its branch's name. `offset` is
/// where the record starts.
pub fn unwrap_json(schema: &Schema, json: Value, offset: usize) -> Result<Value, HistoryError> {
    Json(schema).unwrap(&schema.root, json, offset)
}

struct Json<'a>(&'a Schema);

impl Json<'_> {
    // Recurses no deeper than `json`, whose depth the JSON parser limits. Each step into the schema takes one into the
    // JSON, except a name, which stands for a record or an enum.
    fn unwrap(&self, kind: &Type, json: Value, offset: usize) -> Result<Value, HistoryError> {
        let mismatch = |expected: &str, found: &Value| {
            let found: String = found.to_string().chars().take(60).collect();
            Err(HistoryError::malformed(offset, expected, format!("`{found}`")))
        };
        Ok(match (kind, json) {
            (Type::Null, json @ Value::Null)
            | (Type::Boolean, json @ Value::Bool(_))
            | (Type::Text(_), json @ Value::String(_)) => json,
            (Type::Int(_) | Type::Long(_), json) if json.is_i64() => json,
            (Type::Float | Type::Double, Value::Number(_)) | (Type::Bytes(_), Value::String(_)) => Value::Null,
            (Type::Array(items), Value::Array(list)) => {
                list.into_iter().map(|item| self.unwrap(items, item, offset)).collect::<Result<Vec<_>, _>>()?.into()
            }
            (Type::Map(values), Value::Object(map)) => {
                let entries = map.into_iter().map(|(key, value)| Ok((key, self.unwrap(values, value, offset)?)));
                entries.collect::<Result<Map<_, _>, HistoryError>>()?.into()
            }
            (Type::Union(branches), Value::Null) if branches.iter().any(|b| matches!(b, Type::Null)) => Value::Null,
            (Type::Union(branches), Value::Object(wrapped)) if wrapped.len() == 1 => {
                let Some((name, value)) = wrapped.into_iter().next() else { return Ok(Value::Null) };
                match branches.iter().find(|b| self.name(b) == name) {
                    Some(branch) => self.unwrap(branch, value, offset)?,
                    None => return mismatch("the name of a branch of a union", &name.into()),
                }
            }
            (Type::Named(index), json) => match (&self.0.named[*index].kind, json) {
                (Kind::Enum(symbols), Value::String(symbol)) if symbols.contains(&symbol) => symbol.into(),
                (Kind::Fixed(..), Value::String(_)) => Value::Null,
                (Kind::Record(fields), Value::Object(mut object)) => {
                    let mut record = Map::new();
                    for (name, kind) in fields {
                        // A missing field is left to the reader of the record: most fields have a default.
                        if let Some(value) = object.remove(name) {
                            record.insert(name.clone(), self.unwrap(kind, value, offset)?);
                        }
                    }
                    record.into()
                }
                (_, json) => return mismatch(&format!("a {}", self.0.named[*index].full_name), &json),
            },
            (kind, json) => return mismatch(&format!("a value of type {}", self.name(kind)), &json),
        })
    }

    /// The branch name of a type in the JSON encoding of a union.
    fn name<'a>(&'a self, kind: &Type) -> &'a str {
        match kind {
            Type::Null => "null",
            Type::Boolean => "boolean",
            Type::Int(_) => "int",
            Type::Long(_) => "long",
            Type::Float => "float",
            Type::Double => "double",
            Type::Bytes(_) => "bytes",
            Type::Text(_) => "string",
            Type::Array(_) => "array",
            Type::Map(_) => "map",
            Type::Union(_) => "union",
            Type::Named(index) => &self.0.named[*index].full_name,
        }
    }
}
