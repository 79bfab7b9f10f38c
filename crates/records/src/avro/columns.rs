//! The columns of a schema.

use crate::columns::Column;
use ::avro::{Kind, Logical, Schema, Type};
use placement::KeyType;

/// The deepest nesting of columns that are listed.
const DEEPEST: usize = 24;
/// The most types that are looked at for columns: types that refer to each other have many paths.
const MOST_TYPES: usize = 100_000;

/// All columns: what records hold that is neither a record, nor a list, nor a map.
pub fn columns(schema: &Schema) -> Vec<Column> {
    let (mut columns, mut left) = (Vec::new(), MOST_TYPES);
    Columns(schema).add_columns(&schema.root, "", 0, &mut columns, &mut left);
    columns
}

struct Columns<'a>(&'a Schema);

impl Columns<'_> {
    fn add_columns(&self, of: &Type, path: &str, depth: usize, columns: &mut Vec<Column>, left: &mut usize) {
        if depth > DEEPEST || *left == 0 {
            return;
        }
        *left -= 1;
        match of {
            Type::Named(index) if matches!(self.0.named[*index].kind, Kind::Record(_)) => {
                let Kind::Record(fields) = &self.0.named[*index].kind else { return };
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
            Type::Named(index) => match &self.0.named[*index].kind {
                Kind::Enum(_) => KeyType::Text,
                Kind::Fixed(_, of) => logical(of, KeyType::Bytes),
                Kind::Record(_) | Kind::Open => return None,
            },
            Type::Null | Type::Array(_) | Type::Map(_) | Type::Union(_) => return None,
        })
    }
}
