//! Records of real files.

mod avro;
mod fuzz;
mod memory;
mod parquet;
mod sequence;
mod support;
mod text;
