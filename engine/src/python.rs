//! The Python module `plimsoll_engine`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyModule};

use crate::error::EngineError as Failure;
use crate::family;
use crate::fold;
use crate::generators::compile::{compile_formula, compile_row};
use crate::generators::rng::Rng;
use crate::generators::values::{Drawing, Variable};
use crate::histogram;
use crate::load::run::Listener;
use crate::report::SecondReport;
use crate::spec::{self, Dataset, Load};

pyo3::create_exception!(
    plimsoll_engine,
    EngineError,
    PyException,
    "A load that cannot start, in one line; `code` is the server's number or the engine's word."
);

fn raise(py: Python<'_>, failure: &Failure) -> PyErr {
    let error = EngineError::new_err(failure.message.clone());
    if let Err(other) = error.value(py).setattr("code", &failure.code) {
        return other;
    }
    error
}

fn json(py: Python<'_>, value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value)
        .map_err(|error| raise(py, &Failure::new("internal", error.to_string())))
}

/// Ends a load early, from any thread.
#[pyclass(frozen, module = "plimsoll_engine")]
#[derive(Default)]
struct CancelToken {
    cancelled: Arc<AtomicBool>,
}

#[pymethods]
impl CancelToken {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Ends the load; its report says `cancelled`.
    fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}

/// Calls back into Python, and sees whether Ctrl-C was pressed.
struct Callback {
    on_second: Option<Py<PyAny>>,
    raised: Option<PyErr>,
}

impl Callback {
    fn call(&self, py: Python<'_>, seconds: &[SecondReport]) -> PyResult<()> {
        py.check_signals()?;
        if let Some(on_second) = self.on_second.as_ref().filter(|_| !seconds.is_empty()) {
            for second in seconds.chunk_by(|a, b| a.second == b.second) {
                on_second.call1(py, (json(py, &second)?,))?;
            }
        }
        Ok(())
    }
}

impl Listener for Callback {
    fn seconds_passed(&mut self, seconds: &[SecondReport]) -> bool {
        if self.raised.is_none() {
            self.raised = Python::attach(|py| self.call(py, seconds)).err();
        }
        self.raised.is_none()
    }
}

/// Runs a load; see the stub for what it takes and returns.
#[pyfunction]
#[pyo3(signature = (spec_json, on_second=None, cancel=None))]
fn run(
    py: Python<'_>,
    spec_json: &str,
    on_second: Option<Py<PyAny>>,
    cancel: Option<&CancelToken>,
) -> PyResult<String> {
    let load = Load::from_json(spec_json).map_err(|failure| raise(py, &failure))?;
    let cancelled = cancel.map(|token| token.cancelled.clone()).unwrap_or_default();
    let mut callback = Callback { on_second, raised: None };
    let report = py.detach(|| family::run(&load, &cancelled, &mut callback));
    if let Some(raised) = callback.raised {
        return Err(raised);
    }
    json(py, &report.map_err(|failure| raise(py, &failure))?)
}

/// Loads a dataset's rows; see the stub for what it takes and returns.
#[pyfunction]
#[pyo3(signature = (spec_json, on_progress=None, cancel=None))]
fn load_rows(
    py: Python<'_>,
    spec_json: &str,
    on_progress: Option<Py<PyAny>>,
    cancel: Option<&CancelToken>,
) -> PyResult<String> {
    let dataset = Dataset::from_json(spec_json).map_err(|failure| raise(py, &failure))?;
    let cancelled = cancel.map(|token| token.cancelled.clone()).unwrap_or_default();
    let mut raised = None;
    let mut progress = |rows: u64| {
        let called = Python::attach(|py| {
            py.check_signals()?;
            on_progress.as_ref().map_or(Ok(()), |callback| callback.call1(py, (rows,)).map(drop))
        });
        raised = raised.take().or(called.err());
        raised.is_none()
    };
    let report = py.detach(|| family::load_rows(&dataset, &cancelled, &mut progress));
    if let Some(raised) = raised {
        return Err(raised);
    }
    json(py, &report.map_err(|failure| raise(py, &failure))?)
}

/// Adds histograms up without loss.
#[pyfunction]
fn merge_histograms(py: Python<'_>, histograms: Vec<String>) -> PyResult<String> {
    let merged =
        py.detach(|| histogram::merge(&histograms)).map_err(|failure| raise(py, &failure))?;
    Ok(histogram::encode(&merged))
}

/// The sums of what a step's clients measured; see the stub.
#[pyclass(module = "plimsoll_engine")]
#[derive(Default)]
struct Fold(fold::Fold);

#[pymethods]
impl Fold {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Adds a client's file; returns it without its seconds and histograms.
    fn add(&mut self, py: Python<'_>, client_json: &[u8]) -> PyResult<String> {
        py.detach(|| self.0.add(client_json)).map_err(|failure| raise(py, &failure))
    }

    /// Each operation's merged histogram and its summary, as JSON.
    fn operations(&self, py: Python<'_>) -> PyResult<String> {
        json(py, &self.0.operations())
    }

    /// The same for each node of a cluster, by its address.
    fn nodes(&self, py: Python<'_>) -> PyResult<String> {
        json(py, &self.0.nodes())
    }

    /// The sums of each second, as JSON.
    fn seconds(&self, py: Python<'_>, start_epoch_s: u64, step: u64) -> PyResult<String> {
        json(py, &self.0.seconds(start_epoch_s, step))
    }

    /// The median over clients and seconds of each operation's p99.
    fn p99_medians(&self, first: u64, past: u64) -> Vec<(&str, f64)> {
        self.0.p99_medians(first, past)
    }
}

/// The summary of a histogram, as JSON.
#[pyfunction]
fn histogram_summary(py: Python<'_>, text: &str) -> PyResult<String> {
    let histogram = histogram::decode(text).map_err(|failure| raise(py, &failure))?;
    json(py, &histogram::Summary::of(&histogram))
}

/// For each bound, the number of a histogram's values that are at most as large.
#[pyfunction]
fn histogram_counts(py: Python<'_>, text: &str, bounds_us: Vec<u64>) -> PyResult<Vec<u64>> {
    let histogram = histogram::decode(text).map_err(|failure| raise(py, &failure))?;
    Ok(bounds_us.into_iter().map(|bound| histogram.count_between(0, bound)).collect())
}

/// Draws of a value, as a load would bind them.
#[pyfunction]
fn sample<'py>(
    py: Python<'py>,
    value_json: &str,
    key_spaces_json: &str,
    seed: u64,
    n: usize,
) -> PyResult<Bound<'py, PyList>> {
    let prepare = || {
        let value: spec::Value = spec::parse(value_json)?;
        let spaces: Vec<spec::KeySpace> = spec::parse(key_spaces_json)?;
        compile_row(&[value], &spaces)
    };
    let (values, mut scope) = prepare().map_err(|failure| raise(py, &failure))?;
    let mut drawing = Drawing::new(Rng::for_stream(seed, &[]));
    drawing.variables.push(Variable::Null);
    let drawn: Vec<Variable> = py.detach(|| {
        let draw = |_| {
            values[0].keep(0, &mut drawing, &mut scope);
            for (space, ticket) in drawing.issued.drain(..) {
                scope.spaces[space].acknowledge(ticket);
            }
            std::mem::replace(&mut drawing.variables[0], Variable::Null)
        };
        (0..n).map(draw).collect()
    });
    let list = PyList::empty(py);
    for value in drawn {
        match value {
            Variable::Integer(value) => list.append(value)?,
            Variable::Double(value) => list.append(value)?,
            Variable::Boolean(value) => list.append(value)?,
            Variable::Text(value) => list.append(String::from_utf8_lossy(&value))?,
            Variable::Null | Variable::Undefined => list.append(py.None())?,
        }
    }
    Ok(list)
}

/// What a formula computes, again and again, with variables that hold texts.
#[pyfunction]
fn compute<'py>(
    py: Python<'py>,
    formula_json: &str,
    variables_json: &str,
    seed: u64,
    n: usize,
) -> PyResult<Bound<'py, PyList>> {
    let prepare = || {
        let formula: spec::Formula = spec::parse(formula_json)?;
        let variables: Vec<spec::SessionVariable> = spec::parse(variables_json)?;
        compile_formula(&formula, &variables)
    };
    let formula = prepare().map_err(|failure| raise(py, &failure))?;
    let mut drawing = Drawing::new(Rng::for_stream(seed, &[]));
    let list = PyList::empty(py);
    for _ in 0..n {
        match formula.compute(&mut drawing) {
            Ok(spec::Scalar::Boolean(value)) => list.append(value)?,
            Ok(spec::Scalar::Integer(value)) => list.append(value)?,
            Ok(spec::Scalar::Double(value)) => list.append(value)?,
            Ok(spec::Scalar::Null(())) => list.append(py.None())?,
            Err(mistake) => return Err(raise(py, &Failure::spec(mistake))),
        }
    }
    Ok(list)
}

/// Keeps a thread that cannot be started from writing a stack trace: the caller gets the panic as an
/// exception, and names the limit.
fn keep_quiet_without_threads() {
    let told = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panicked| {
        let text = panicked.payload().downcast_ref::<String>();
        if !text.is_some_and(|text| text.contains("failed to spawn thread")) {
            told(panicked);
        }
    }));
}

/// The Python module `plimsoll_engine`.
#[pymodule]
fn plimsoll_engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    keep_quiet_without_threads();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("EngineError", module.py().get_type::<EngineError>())?;
    module.add_class::<CancelToken>()?;
    module.add_class::<Fold>()?;
    module.add_function(wrap_pyfunction!(run, module)?)?;
    module.add_function(wrap_pyfunction!(load_rows, module)?)?;
    module.add_function(wrap_pyfunction!(merge_histograms, module)?)?;
    module.add_function(wrap_pyfunction!(histogram_counts, module)?)?;
    module.add_function(wrap_pyfunction!(histogram_summary, module)?)?;
    module.add_function(wrap_pyfunction!(sample, module)?)?;
    module.add_function(wrap_pyfunction!(compute, module)?)
}
