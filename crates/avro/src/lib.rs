//! Avro's schemas (specification 1.11) and the numbers of its binary encoding. Job histories are records behind a
//! schema, container files are blocks of them: who reads either walks its bytes along a [`Schema`].

mod number;
mod schema;

pub use number::{NumberError, long};
pub use schema::{Kind, Logical, Named, Schema, SchemaError, Type};
