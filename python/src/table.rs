//! Tables over the Arrow C interface.

use crate::errors::raised;
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchIterator, StringArray};
use arrow_schema::{ArrowError, Field, Schema};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use results::Column;
use runs::Error;
use std::collections::HashMap;
use std::sync::Arc;

/// A table: columns of one length, as the Arrow PyCapsule interface hands them out. Data frames of polars, pandas,
/// pyarrow and DuckDB take it as it is.
#[pyclass(frozen, module = "trunkline._trunkline")]
pub struct Table(RecordBatch);

impl Table {
    /// A table of results.
    pub fn new(table: results::Table) -> PyResult<Self> {
        let about: HashMap<String, String> = table.about().iter().cloned().collect();
        let (mut fields, mut columns) = (Vec::new(), Vec::new());
        for (name, column) in table.into_columns() {
            let nullable = matches!(column, Column::OptionalFloat(_) | Column::OptionalFlag(_));
            let column = array(column);
            fields.push(Field::new(name, column.data_type().clone(), nullable));
            columns.push(column);
        }
        let schema = Schema::new_with_metadata(fields, about);
        RecordBatch::try_new(Arc::new(schema), columns).map(Self).map_err(internal)
    }
}

fn array(column: Column) -> ArrayRef {
    match column {
        Column::Integer(values) => Arc::new(Int64Array::from(values)),
        Column::Float(values) => Arc::new(Float64Array::from(values)),
        Column::OptionalFloat(values) => Arc::new(Float64Array::from(values)),
        Column::Text(values) => Arc::new(StringArray::from(values)),
        Column::Flag(values) => Arc::new(BooleanArray::from(values)),
        Column::OptionalFlag(values) => Arc::new(BooleanArray::from(values)),
    }
}

fn internal(error: ArrowError) -> PyErr {
    Python::attach(|py| raised(py, &Error::Internal(error.to_string())))
}

#[pymethods]
impl Table {
    /// The schema as a capsule of the Arrow C data interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.0.schema().as_ref()).map_err(internal)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// The rows as a capsule of the Arrow C stream interface. Another schema is not made: what is asked for is a wish.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let rows = RecordBatchIterator::new([Ok(self.0.clone())], self.0.schema());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(rows)), c"arrow_array_stream")
    }

    /// How many rows it has.
    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    /// The names of its columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.0.schema().fields().iter().map(|field| field.name().clone()).collect()
    }
}
