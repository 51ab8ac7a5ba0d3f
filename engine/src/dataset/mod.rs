//! Filling a table: many rows a statement, several connections, restartable.

mod cql;
mod mysql;
mod plan;
mod sender;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use self::plan::Plan;
use self::sender::{CHECK_EVERY, Sender};
use crate::error::EngineError;
use crate::generators::values::{Drawing, Scope};
use crate::load::record::count;
use crate::report::{DatasetReport, Errors};
use crate::spec::Dataset;

/// How often a statement is tried, on a new connection each time.
const TRIES: u32 = 5;

/// Loads a dataset. `progress` hears now and then how many rows are done; answering false cancels.
///
/// Statements are INSERT IGNORE: a row that exists stays, so that a repeated load completes what
/// an interrupted one began. CQL writes such a row again, with the same values. What fails is
/// counted and tried again; the fifth failure ends the load with the error.
pub fn load(
    dataset: &Dataset,
    cancelled: &AtomicBool,
    progress: &mut dyn FnMut(u64) -> bool,
) -> Result<DatasetReport, EngineError> {
    let plan = Plan::new(dataset)?;
    let connections = u64::from(dataset.connections).min(plan.statements()).max(1);
    let share = Share {
        plan: &plan,
        cancelled,
        next: AtomicU64::new(0),
        done: AtomicU64::new(0),
        report: Mutex::default(),
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..connections).map(|_| scope.spawn(|| share.work())).collect();
        while !threads.iter().all(thread::ScopedJoinHandle::is_finished) {
            thread::park_timeout(CHECK_EVERY);
            if !progress(share.done.load(Ordering::Relaxed)) {
                cancelled.store(true, Ordering::Relaxed);
            }
        }
    });
    let report = share.report.into_inner().unwrap_or_else(PoisonError::into_inner);
    match report.failed {
        Some(error) => Err(error),
        None if cancelled.load(Ordering::Relaxed) => {
            Err(EngineError::new("cancelled", "cancelled: repeat it to complete the rows"))
        }
        None => Ok(DatasetReport {
            rows_sent: report.rows_sent,
            rows_inserted: report.rows_inserted,
            errors: report.errors,
        }),
    }
}

/// What the threads share.
struct Share<'a> {
    plan: &'a Plan<'a>,
    cancelled: &'a AtomicBool,
    next: AtomicU64,
    done: AtomicU64,
    report: Mutex<Progress>,
}

#[derive(Default)]
struct Progress {
    rows_sent: u64,
    rows_inserted: u64,
    errors: Errors,
    failed: Option<EngineError>,
}

impl Share<'_> {
    fn report(&self) -> MutexGuard<'_, Progress> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends statements until none is left.
    fn work(&self) {
        let mut sender = None;
        let mut scope = self.plan.scope.clone();
        let mut drawing = Drawing::of_rows(self.plan.dataset.seed);
        while !self.cancelled.load(Ordering::Relaxed) && self.report().failed.is_none() {
            let statement = self.next.fetch_add(1, Ordering::Relaxed);
            if statement >= self.plan.statements() {
                break;
            }
            let rows = self.plan.rows(statement);
            let n = rows.len() as u64;
            if let Err(error) = self.insert(&mut sender, rows, (&mut drawing, &mut scope)) {
                self.report().failed.get_or_insert(error);
            }
            self.done.fetch_add(n, Ordering::Relaxed);
        }
        if let Some(mut sender) = sender {
            sender.quit();
        }
    }

    /// Inserts the rows of one statement, on a new connection where the last one was lost.
    fn insert(
        &self,
        sender: &mut Option<Sender>,
        mut rows: Vec<i64>,
        (drawing, scope): (&mut Drawing, &mut Scope),
    ) -> Result<(), EngineError> {
        let mut tries = 0;
        loop {
            let opened = match sender.take() {
                Some(open) => Ok(open),
                None => self.plan.open(),
            };
            let before = rows.len() as u64;
            let inserted = opened.and_then(|mut open| {
                self.report().rows_sent += before;
                let inserted =
                    open.insert(self.plan, &mut rows, (drawing, scope), self.cancelled)?;
                *sender = Some(open);
                Ok(inserted)
            });
            let error = match inserted {
                Ok(inserted) => {
                    self.report().rows_inserted += inserted;
                    return Ok(());
                }
                Err(error) => error,
            };
            self.report().rows_inserted += before - rows.len() as u64;
            count(&mut self.report().errors, &error.code);
            tries += 1;
            if tries == TRIES || error.code == "spec" || self.cancelled.load(Ordering::Relaxed) {
                return Err(error.context(&format!("loading {}", self.plan.dataset.table)));
            }
            thread::sleep(Duration::from_millis(50 << tries));
        }
    }
}
