pub mod chance;
pub mod matrix;
pub mod recorded;
pub mod streams;
