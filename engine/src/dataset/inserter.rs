//! The seam between the loading of a dataset (threads, retries, progress) and a family of
//! databases.

use super::patience::Patience;
use crate::error::EngineError;
use crate::generators::program::Prepared;
use crate::generators::values::{Drawing, Scope, Value};
use crate::session::connect::{Login, Session};
use crate::spec::Dataset;

/// Draws the values of a dataset's rows. Each thread has its own.
#[derive(Clone)]
pub struct Rows {
    /// One for each column.
    pub values: Vec<Value>,
    pub drawing: Drawing,
    pub scope: Scope,
}

/// How a family inserts a dataset: in batches of rows, each by one call of [`Inserter::insert`].
pub struct Batches {
    /// The statements that each connection prepares for it.
    pub prepared: Vec<Prepared>,
    /// Rows of each batch but the last, which has the rest.
    pub rows_per_batch: usize,
    /// The numbers of all rows in the order of loading; None if they are loaded in number order.
    pub order: Option<Vec<i64>>,
}

/// A connection that inserts rows.
pub trait Inserter: Sized {
    /// What a login of the family finds out.
    type Known: Login;

    /// Divides a dataset into batches.
    fn batches(dataset: &Dataset, rows: &mut Rows) -> Batches;

    /// Inserts over this session, whose reads and writes return after
    /// [`CHECK_EVERY`](super::patience::CHECK_EVERY) at the latest.
    fn new(
        session: Session<Self::Known>,
        dataset: &Dataset,
        rows: &Rows,
        rows_per_batch: usize,
    ) -> Self;

    /// Inserts the rows of these numbers, and leaves a row that is there as it is, or writes it
    /// again with the same values. Returns how many were not there yet or, where the server does
    /// not say, how many were written.
    ///
    /// After an error `numbers` has all rows but those whose insert was acknowledged; it may be
    /// called again with them, on a new connection.
    fn insert(
        &mut self,
        numbers: &mut Vec<i64>,
        rows: &mut Rows,
        patience: &Patience<'_>,
    ) -> Result<u64, EngineError>;

    /// Ends the session as the protocol demands.
    fn quit(&mut self);
}
