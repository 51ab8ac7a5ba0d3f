//! Filling a table: batches of rows, over several connections, restartable.

pub mod inserter;
pub mod order;
pub mod patience;
mod plan;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use self::inserter::{Inserter, Rows};
use self::patience::{CHECK_EVERY, Patience};
use self::plan::Plan;
use crate::error::EngineError;
use crate::report::{DatasetReport, count_error};
use crate::spec::Dataset;

/// How often a batch is tried, on a new connection each time.
const TRIES: u32 = 5;

/// Called every [`CHECK_EVERY`] with the number of rows done; answering false cancels.
pub type Progress<'a> = &'a mut dyn FnMut(u64) -> bool;

/// Loads a dataset in a family's way.
///
/// A repeated load completes what an interrupted one began, and doubles nothing: see
/// [`Inserter::insert`]. What fails is counted and tried again; a batch's fifth failure ends the
/// load with the error.
pub fn load_over<I: Inserter>(
    dataset: &Dataset,
    cancelled: &AtomicBool,
    progress: Progress<'_>,
) -> Result<DatasetReport, EngineError> {
    let plan = Plan::new::<I>(dataset)?;
    let connections = u64::from(dataset.connections).min(plan.batch_count()).max(1);
    let share = Share {
        plan: &plan,
        cancelled,
        next_batch: AtomicU64::new(0),
        rows_done: AtomicU64::new(0),
        result: Mutex::default(),
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..connections).map(|_| scope.spawn(|| share.work::<I>())).collect();
        while !threads.iter().all(thread::ScopedJoinHandle::is_finished) {
            thread::park_timeout(CHECK_EVERY);
            if !progress(share.rows_done.load(Ordering::Relaxed)) {
                cancelled.store(true, Ordering::Relaxed);
            }
        }
    });
    let (report, failed) = share.result.into_inner().unwrap_or_else(PoisonError::into_inner);
    match failed {
        Some(error) => Err(error),
        None if cancelled.load(Ordering::Relaxed) => {
            Err(EngineError::new("cancelled", "cancelled: repeat it to complete the rows"))
        }
        None => Ok(report),
    }
}

/// What the threads share.
struct Share<'a> {
    plan: &'a Plan<'a>,
    cancelled: &'a AtomicBool,
    next_batch: AtomicU64,
    rows_done: AtomicU64,
    /// The progress so far, and the error that ends the load.
    result: Mutex<(DatasetReport, Option<EngineError>)>,
}

impl Share<'_> {
    fn result(&self) -> MutexGuard<'_, (DatasetReport, Option<EngineError>)> {
        self.result.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Inserts batches until none is left.
    fn work<I: Inserter>(&self) {
        let mut inserter: Option<I> = None;
        let mut rows = self.plan.rows.clone();
        while !self.cancelled.load(Ordering::Relaxed) && self.result().1.is_none() {
            let index = self.next_batch.fetch_add(1, Ordering::Relaxed);
            if index >= self.plan.batch_count() {
                break;
            }
            let numbers = self.plan.batch(index);
            let n = numbers.len() as u64;
            if let Err(error) = self.insert(&mut inserter, numbers, &mut rows) {
                self.result().1.get_or_insert(error);
            }
            self.rows_done.fetch_add(n, Ordering::Relaxed);
        }
        if let Some(mut inserter) = inserter {
            inserter.quit();
        }
    }

    /// Inserts a batch, on a new connection if there is none or the last one failed.
    fn insert<I: Inserter>(
        &self,
        inserter: &mut Option<I>,
        mut numbers: Vec<i64>,
        rows: &mut Rows,
    ) -> Result<(), EngineError> {
        let timeout = Duration::from_millis(self.plan.dataset.timeout_ms);
        let patience = Patience { timeout, cancelled: self.cancelled };
        let mut tries = 0;
        loop {
            let opened = match inserter.take() {
                Some(open) => Ok(open),
                None => self.plan.open(),
            };
            let before = numbers.len() as u64;
            let inserted = opened.and_then(|mut open: I| {
                self.result().0.rows_sent += before;
                let inserted = open.insert(&mut numbers, rows, &patience)?;
                *inserter = Some(open);
                Ok(inserted)
            });
            let error = match inserted {
                Ok(inserted) => {
                    self.result().0.rows_inserted += inserted;
                    return Ok(());
                }
                Err(error) => error,
            };
            {
                let report = &mut self.result().0;
                report.rows_inserted += before - numbers.len() as u64;
                count_error(&mut report.errors, &error.code);
            }
            tries += 1;
            if tries == TRIES || error.code == "spec" || self.cancelled.load(Ordering::Relaxed) {
                return Err(error.context(&format!("loading {}", self.plan.dataset.table)));
            }
            thread::sleep(Duration::from_millis(50 << tries));
        }
    }
}
