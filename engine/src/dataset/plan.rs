//! A dataset cut into batches of rows.

use super::inserter::{Inserter, Rows};
use super::patience::CHECK_EVERY;
use crate::error::EngineError;
use crate::generators::compile::compile_row;
use crate::generators::values::Drawing;
use crate::session::connect::{Opener, Session};
use crate::spec::Dataset;

/// What all threads that load a dataset share, and never change.
pub struct Plan<'a> {
    pub dataset: &'a Dataset,
    /// Each thread takes a copy.
    pub rows: Rows,
    opener: Opener,
    row_count: usize,
    rows_per_batch: usize,
    order: Option<Vec<i64>>,
}

impl<'a> Plan<'a> {
    pub fn new<I: Inserter>(dataset: &'a Dataset) -> Result<Self, EngineError> {
        let (values, scope) = compile_row(&dataset.row, &[])?;
        let mut rows = Rows { values, drawing: Drawing::of_rows(dataset.seed), scope };
        let batches = I::batches(dataset, &mut rows);
        Ok(Plan {
            dataset,
            rows,
            opener: Opener::new(dataset.target.clone(), batches.prepared)?,
            row_count: dataset.row_count(),
            rows_per_batch: batches.rows_per_batch,
            order: batches.order,
        })
    }

    pub fn batch_count(&self) -> u64 {
        self.row_count.div_ceil(self.rows_per_batch) as u64
    }

    /// The numbers of a batch's rows.
    pub fn batch(&self, index: u64) -> Vec<i64> {
        let from = index as usize * self.rows_per_batch;
        let to = self.row_count.min(from + self.rows_per_batch);
        match &self.order {
            Some(order) => order[from..to].to_vec(),
            None => (from..to).map(|row| self.dataset.from_row + row as i64).collect(),
        }
    }

    pub fn open<I: Inserter>(&self) -> Result<I, EngineError> {
        let session: Session<I::Known> = self.opener.open()?;
        let timeout = Some(CHECK_EVERY);
        let stream = &session.link.stream;
        stream
            .set_read_timeout(timeout)
            .and_then(|()| stream.set_write_timeout(timeout))
            .map_err(|error| EngineError::new("connection_lost", error.to_string()))?;
        Ok(I::new(session, self.dataset, &self.rows, self.rows_per_batch))
    }
}
