//! A schema: what follows what in a record, and which columns there are.

use crate::columns::Column;
use placement::KeyType;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The deepest nesting of columns that are listed, and of a schema's text.
const DEEPEST: usize = 24;
/// The most types that are looked at for columns: types that refer to each other have many paths.
const MOST_TYPES: usize = 100_000;

/// The type of a file's records, and the named types that it refers to.
#[derive(Debug, Default)]
pub struct Schema {
    pub root: Type,
    pub named: Vec<Named>,
}

/// A type.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Type {
    #[default]
    Null,
    Boolean,
    Int(Logical),
    Long(Logical),
    Float,
    Double,
    Bytes(Logical),
    Text(Logical),
    Array(Box<Type>),
    Map(Box<Type>),
    Union(Vec<Type>),
    Named(usize),
}

/// What a primitive type stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Logical {
    #[default]
    Plain,
    /// With so many digits behind the point.
    Decimal(usize),
    Uuid,
    Date,
    /// So many a second.
    Time(i64),
    /// So many a second.
    Timestamp(i64),
}

/// A type with a name.
#[derive(Debug)]
pub enum Named {
    /// Its definition is being read. It may refer to itself.
    Open,
    Enum(Vec<String>),
    Fixed(usize, Logical),
    Record(Vec<(String, Type)>),
}

impl Schema {
    /// Reads the schema's JSON; the error says what is wrong with it.
    pub fn parse(text: &[u8]) -> Result<Self, String> {
        let json: Value = serde_json::from_slice(text).map_err(|error| format!("the schema is no JSON: {error}"))?;
        let mut reader = Reader { named: Vec::new(), by_name: BTreeMap::new() };
        let root = reader.read(&json, "")?;
        Ok(Self { root, named: reader.named })
    }

    /// All columns: what records hold that is neither a record, nor a list, nor a map.
    pub fn columns(&self) -> Vec<Column> {
        let (mut columns, mut left) = (Vec::new(), MOST_TYPES);
        self.add_columns(&self.root, "", 0, &mut columns, &mut left);
        columns
    }

    fn add_columns(&self, of: &Type, path: &str, depth: usize, columns: &mut Vec<Column>, left: &mut usize) {
        if depth > DEEPEST || *left == 0 {
            return;
        }
        *left -= 1;
        match of {
            Type::Named(index) if matches!(self.named[*index], Named::Record(_)) => {
                let Named::Record(fields) = &self.named[*index] else { return };
                for (name, field) in fields {
                    let below = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                    self.add_columns(field, &below, depth + 1, columns, left);
                }
            }
            Type::Array(items) | Type::Map(items) => self.add_columns(items, path, depth + 1, columns, left),
            Type::Union(branches) => {
                let mut values = branches.iter().filter(|branch| **branch != Type::Null);
                match (values.next(), values.next()) {
                    (Some(only), None) => self.add_columns(only, path, depth + 1, columns, left),
                    // Values of several types have no one hash.
                    _ => columns.push(Column { path: path.to_owned(), of: None }),
                }
            }
            primitive => columns.push(Column { path: path.to_owned(), of: self.key_type(primitive) }),
        }
    }

    fn key_type(&self, of: &Type) -> Option<KeyType> {
        let logical = |logical: &Logical, plain: KeyType| match logical {
            Logical::Plain => plain,
            Logical::Decimal(_) => KeyType::Decimal,
            Logical::Uuid => KeyType::Uuid,
            Logical::Date => KeyType::Date,
            Logical::Time(_) => KeyType::Time,
            Logical::Timestamp(_) => KeyType::Timestamp,
        };
        Some(match of {
            Type::Boolean => KeyType::Boolean,
            Type::Int(of) => logical(of, KeyType::Int),
            Type::Long(of) => logical(of, KeyType::Long),
            Type::Float => KeyType::Float,
            Type::Double => KeyType::Double,
            Type::Bytes(of) => logical(of, KeyType::Bytes),
            Type::Text(of) => logical(of, KeyType::Text),
            Type::Named(index) => match &self.named[*index] {
                Named::Enum(_) => KeyType::Text,
                Named::Fixed(_, of) => logical(of, KeyType::Bytes),
                Named::Record(_) | Named::Open => return None,
            },
            Type::Null | Type::Array(_) | Type::Map(_) | Type::Union(_) => return None,
        })
    }
}

struct Reader {
    named: Vec<Named>,
    by_name: BTreeMap<String, usize>,
}

impl Reader {
    fn read(&mut self, json: &Value, namespace: &str) -> Result<Type, String> {
        match json {
            Value::String(name) => self.lookup(name, namespace),
            Value::Array(branches) => {
                Ok(Type::Union(branches.iter().map(|branch| self.read(branch, namespace)).collect::<Result<_, _>>()?))
            }
            Value::Object(object) => self.read_object(object, namespace),
            other => Err(format!("`{other}` in the schema is no type")),
        }
    }

    fn lookup(&self, name: &str, namespace: &str) -> Result<Type, String> {
        Ok(match name {
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
                Type::Named(*known.ok_or_else(|| format!("type `{name}` of the schema is not defined before"))?)
            }
        })
    }

    fn read_object(&mut self, object: &Map<String, Value>, namespace: &str) -> Result<Type, String> {
        let field = |name: &str| object.get(name).ok_or_else(|| format!("a type of the schema has no `{name}`"));
        let of = field("type")?;
        match of.as_str() {
            Some("array") => Ok(Type::Array(Box::new(self.read(field("items")?, namespace)?))),
            Some("map") => Ok(Type::Map(Box::new(self.read(field("values")?, namespace)?))),
            Some("enum") => {
                let symbols = field("symbols")?.as_array();
                let symbols = symbols.map(|symbols| symbols.iter().map(|s| s.as_str().map(str::to_owned)).collect());
                let symbols: Option<Vec<String>> = symbols.flatten();
                let symbols = symbols.ok_or("an enum of the schema has no list of symbols")?;
                let (index, _) = self.declare(object, namespace)?;
                self.named[index] = Named::Enum(symbols);
                Ok(Type::Named(index))
            }
            Some("fixed") => {
                let size = field("size")?.as_u64().filter(|size| *size <= 1 << 20);
                let size = size.ok_or("a fixed type of the schema has no size")? as usize;
                let (index, _) = self.declare(object, namespace)?;
                self.named[index] = Named::Fixed(size, logical(object));
                Ok(Type::Named(index))
            }
            Some("record" | "error") => {
                let members = field("fields")?.as_array().ok_or("a record of the schema has no list of fields")?;
                let (index, namespace) = self.declare(object, namespace)?;
                let mut fields = Vec::new();
                for member in members {
                    let name = member.get("name").and_then(Value::as_str).ok_or("a field of the schema has no name")?;
                    let of = member.get("type").ok_or_else(|| format!("field `{name}` of the schema has no type"))?;
                    fields.push((name.to_owned(), self.read(of, &namespace)?));
                }
                self.named[index] = Named::Record(fields);
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
    fn declare(&mut self, object: &Map<String, Value>, namespace: &str) -> Result<(usize, String), String> {
        let name = object.get("name").and_then(Value::as_str).ok_or("a named type of the schema has no name")?;
        let namespace = object.get("namespace").and_then(Value::as_str).unwrap_or(namespace);
        let full_name = full_name(name, namespace);
        let namespace = full_name.rsplit_once('.').map_or("", |(space, _)| space).to_owned();
        let index = self.named.len();
        if self.by_name.insert(full_name.clone(), index).is_some() {
            return Err(format!("type `{full_name}` of the schema is defined twice"));
        }
        self.named.push(Named::Open);
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
