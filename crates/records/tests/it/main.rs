//! Records of real files.

mod avro;
mod fuzz;
mod parquet;
mod sequence;
mod support;
mod text;
