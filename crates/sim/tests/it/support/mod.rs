pub mod recorded;
pub mod streams;
