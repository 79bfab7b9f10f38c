//! A schema: what follows what in a record.

use serde_json::{Map, Value};
use std::collections::BTreeMap;
use thiserror::Error;

/// The largest size of a fixed type.
const MOST_FIXED: u64 = 1 << 20;
/// Characters of a wrong part of a schema that a message shows.
const SHOWN: usize = 60;

/// The type of a file's records, and the named types that it refers to.
#[derive(Debug, Default)]
pub struct Schema {
    /// The type of a record.
    pub root: Type,
    /// Types with names, in the order of their definitions.
    pub named: Vec<Named>,
}

/// A type.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Type {
    /// Nothing, in no byte.
    #[default]
    Null,
    /// A byte, 0 or 1.
    Boolean,
    /// A number of 32 bits.
    Int(Logical),
    /// A number of 64 bits.
    Long(Logical),
    /// IEEE 754 in 4 bytes, the lowest first.
    Float,
    /// IEEE 754 in 8 bytes, the lowest first.
    Double,
    /// Bytes behind their length.
    Bytes(Logical),
    /// UTF-8 behind its length.
    Text(Logical),
    /// A list of values of a type.
    Array(Box<Type>),
    /// Values of a type, by texts.
    Map(Box<Type>),
    /// One of several types, whose place stands before the value.
    Union(Vec<Type>),
    /// A type with a name, by its place in [`Schema::named`].
    Named(usize),
}

/// What a primitive type stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Logical {
    /// Nothing beyond its type.
    #[default]
    Plain,
    /// A decimal with so many digits behind the point.
    Decimal(usize),
    /// A UUID.
    Uuid,
    /// Days since 1970.
    Date,
    /// A time of day, so many units a second.
    Time(i64),
    /// Time since 1970, so many units a second.
    Timestamp(i64),
}

/// A type with a name.
#[derive(Debug)]
pub struct Named {
    /// With its namespace.
    pub full_name: String,
    /// What it is.
    pub kind: Kind,
}

/// What a type with a name is.
#[derive(Debug)]
pub enum Kind {
    /// Its definition is being read. It may refer to itself; of a schema that was read none is left so.
    Open,
    /// One of these symbols, by its place.
    Enum(Vec<String>),
    /// So many bytes.
    Fixed(usize, Logical),
    /// Fields in their order.
    Record(Vec<(String, Type)>),
}

/// A schema that cannot be read.
#[derive(Debug, Error)]
pub enum SchemaError {
    /// It is no JSON.
    #[error("the schema is no JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// A part of it is something else than it should be.
    #[error("the schema has `{found}` where {expected} should be")]
    Part {
        /// What should be there.
        expected: String,
        /// The beginning of what is there.
        found: String,
    },
}

impl Schema {
    /// Reads a schema from its JSON.
    ///
    /// # Errors
    ///
    /// If it is no JSON, or no schema.
    pub fn parse(text: &[u8]) -> Result<Self, SchemaError> {
        let json: Value = serde_json::from_slice(text)?;
        let mut reader = Reader { named: Vec::new(), by_name: BTreeMap::new() };
        let root = reader.read(&json, "")?;
        Ok(Self { root, named: reader.named })
    }
}

struct Reader {
    named: Vec<Named>,
    by_name: BTreeMap<String, usize>,
}

fn wrong(expected: &str, found: &Value) -> SchemaError {
    SchemaError::Part { expected: expected.to_owned(), found: found.to_string().chars().take(SHOWN).collect() }
}

impl Reader {
    fn read(&mut self, json: &Value, namespace: &str) -> Result<Type, SchemaError> {
        match json {
            Value::String(name) => self.lookup(name, namespace).ok_or_else(|| wrong("a known type", json)),
            Value::Array(branches) => {
                Ok(Type::Union(branches.iter().map(|branch| self.read(branch, namespace)).collect::<Result<_, _>>()?))
            }
            Value::Object(object) => self.read_object(json, object, namespace),
            _ => Err(wrong("a type", json)),
        }
    }

    fn lookup(&self, name: &str, namespace: &str) -> Option<Type> {
        Some(match name {
            "null" => Type::Null,
            "boolean" => Type::Boolean,
            "int" => Type::Int(Logical::Plain),
            "long" => Type::Long(Logical::Plain),
            "float" => Type::Float,
            "double" => Type::Double,
            "bytes" => Type::Bytes(Logical::Plain),
            "string" => Type::Text(Logical::Plain),
            _ => {
                let known = self.by_name.get(&full_name(name, namespace)).or_else(|| self.by_name.get(name));
                Type::Named(*known?)
            }
        })
    }

    fn read_object(&mut self, json: &Value, object: &Map<String, Value>, namespace: &str) -> Result<Type, SchemaError> {
        let field = |name: &str| object.get(name).ok_or_else(|| wrong(&format!("`{name}`"), json));
        let of = field("type")?;
        match of.as_str() {
            Some("array") => Ok(Type::Array(Box::new(self.read(field("items")?, namespace)?))),
            Some("map") => Ok(Type::Map(Box::new(self.read(field("values")?, namespace)?))),
            Some("enum") => {
                let symbols = field("symbols")?.as_array().ok_or_else(|| wrong("a list of symbols", json))?;
                let symbols = symbols.iter().map(|symbol| symbol.as_str().map(str::to_owned)).collect::<Option<_>>();
                let symbols = symbols.ok_or_else(|| wrong("symbols that are strings", json))?;
                let (index, _) = self.declare(json, object, namespace)?;
                self.named[index].kind = Kind::Enum(symbols);
                Ok(Type::Named(index))
            }
            Some("fixed") => {
                let size = field("size")?.as_u64().filter(|size| *size <= MOST_FIXED);
                let size = size.ok_or_else(|| wrong("a size of at most a mebibyte", json))? as usize;
                let (index, _) = self.declare(json, object, namespace)?;
                self.named[index].kind = Kind::Fixed(size, logical(object));
                Ok(Type::Named(index))
            }
            Some("record" | "error") => {
                let members = field("fields")?.as_array().ok_or_else(|| wrong("a list of fields", json))?;
                let (index, namespace) = self.declare(json, object, namespace)?;
                let mut fields = Vec::new();
                for member in members {
                    let name = member.get("name").and_then(Value::as_str);
                    let name = name.ok_or_else(|| wrong("a field with a name", member))?.to_owned();
                    let of = member.get("type").ok_or_else(|| wrong("a field with a type", member))?;
                    fields.push((name, self.read(of, &namespace)?));
                }
                self.named[index].kind = Kind::Record(fields);
                Ok(Type::Named(index))
            }
            _ => Ok(match self.read(of, namespace)? {
                Type::Int(_) => Type::Int(logical(object)),
                Type::Long(_) => Type::Long(logical(object)),
                Type::Bytes(_) => Type::Bytes(logical(object)),
                Type::Text(_) => Type::Text(logical(object)),
                other => other,
            }),
        }
    }

    /// Registers a named type, so that its own fields may refer to it. Returns its index and namespace.
    fn declare(
        &mut self,
        json: &Value,
        object: &Map<String, Value>,
        namespace: &str,
    ) -> Result<(usize, String), SchemaError> {
        let name = object.get("name").and_then(Value::as_str).ok_or_else(|| wrong("a named type", json))?;
        let namespace = object.get("namespace").and_then(Value::as_str).unwrap_or(namespace);
        let full_name = full_name(name, namespace);
        let namespace = full_name.rsplit_once('.').map_or("", |(space, _)| space).to_owned();
        let index = self.named.len();
        if self.by_name.insert(full_name.clone(), index).is_some() {
            return Err(wrong("each type defined once", json));
        }
        self.named.push(Named { full_name, kind: Kind::Open });
        Ok((index, namespace))
    }
}

fn full_name(name: &str, namespace: &str) -> String {
    if namespace.is_empty() || name.contains('.') { name.to_owned() } else { format!("{namespace}.{name}") }
}

/// One that is not known counts as none, as the specification has it.
fn logical(object: &Map<String, Value>) -> Logical {
    match object.get("logicalType").and_then(Value::as_str).unwrap_or_default() {
        "decimal" => {
            let scale = object.get("scale").and_then(Value::as_u64).unwrap_or(0);
            if scale <= 38 { Logical::Decimal(scale as usize) } else { Logical::Plain }
        }
        "uuid" => Logical::Uuid,
        "date" => Logical::Date,
        "time-millis" => Logical::Time(1000),
        "time-micros" => Logical::Time(1_000_000),
        "timestamp-millis" | "local-timestamp-millis" => Logical::Timestamp(1000),
        "timestamp-micros" | "local-timestamp-micros" => Logical::Timestamp(1_000_000),
        "timestamp-nanos" | "local-timestamp-nanos" => Logical::Timestamp(1_000_000_000),
        _ => Logical::Plain,
    }
}
