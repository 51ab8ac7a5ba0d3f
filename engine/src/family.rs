//! The families of databases, told apart by the protocol that they speak. Nothing else in the
//! engine asks which family a target belongs to.

use std::sync::atomic::AtomicBool;

use crate::cql::inserter::CqlInserter;
use crate::cql::wire::CqlWire;
use crate::dataset::inserter::Inserter;
use crate::dataset::{self, Progress};
use crate::error::EngineError;
use crate::load::run::{Listener, run_over};
use crate::load::wire::Wire;
use crate::mysql::inserter::MysqlInserter;
use crate::mysql::wire::MysqlWire;
use crate::postgres::inserter::PostgresInserter;
use crate::postgres::wire::PostgresWire;
use crate::report::{DatasetReport, LoadReport};
use crate::spec::{Dataset, Load, Protocol};

/// What the engine does with a target, compiled for its family.
struct Family {
    run: fn(&Load, &AtomicBool, &mut dyn Listener) -> Result<LoadReport, EngineError>,
    load_rows: fn(&Dataset, &AtomicBool, Progress<'_>) -> Result<DatasetReport, EngineError>,
}

impl Family {
    /// The only place where a protocol is matched: a new one is an arm here.
    fn of(protocol: Protocol) -> Self {
        match protocol {
            Protocol::Mysql => Family::with::<MysqlWire, MysqlInserter>(),
            Protocol::Cql => Family::with::<CqlWire, CqlInserter>(),
            Protocol::Postgres => Family::with::<PostgresWire, PostgresInserter>(),
        }
    }

    fn with<W: Wire, I: Inserter>() -> Self {
        Family { run: run_over::<W>, load_rows: dataset::load_over::<I> }
    }
}

/// Runs a load to its end, its cancellation or an error that keeps it from starting.
pub fn run(
    load: &Load,
    cancelled: &AtomicBool,
    listener: &mut dyn Listener,
) -> Result<LoadReport, EngineError> {
    (Family::of(load.target.protocol).run)(load, cancelled, listener)
}

/// Inserts a dataset's rows; see [`dataset::load_over`].
pub fn load_rows(
    dataset: &Dataset,
    cancelled: &AtomicBool,
    progress: Progress<'_>,
) -> Result<DatasetReport, EngineError> {
    (Family::of(dataset.target.protocol).load_rows)(dataset, cancelled, progress)
}
