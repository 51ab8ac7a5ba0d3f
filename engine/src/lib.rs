//! The load engine of Plimsoll.

use pyo3::prelude::*;

/// The Python module `plimsoll_engine`.
#[pymodule]
fn plimsoll_engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
