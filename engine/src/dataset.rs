//! Filling a table: many rows a statement, several connections, restartable.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::EngineError;
use crate::generators::program::{Prepared, compile_row};
use crate::generators::values::{Drawing, Kind, Scope, Value};
use crate::load::record::count;
use crate::protocol::answer::{Answer, Outcome};
use crate::protocol::packets::{self, Binds, COM_QUIT, NO_ROW};
use crate::report::{DatasetReport, Errors};
use crate::session::connect::{Opener, Session};
use crate::spec::Dataset;

/// The protocol's limit for the binds of one statement.
const MOST_BINDS: usize = 65_535;
/// A quarter of the smallest default of `max_allowed_packet`, 16 MiB.
const LARGEST_STATEMENT: usize = 4 << 20;
/// How often a statement is tried, on a new connection each time.
const TRIES: u32 = 5;
const CHECK_EVERY: Duration = Duration::from_millis(50);

/// Loads a dataset. `progress` hears now and then how many rows are done; answering false cancels.
///
/// Statements are INSERT IGNORE: a row that exists stays, so that a repeated load completes what
/// an interrupted one began. A statement that fails is counted and tried again; the fifth failure
/// ends the load with the error.
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

/// A dataset cut into statements.
struct Plan<'a> {
    dataset: &'a Dataset,
    opener: Opener,
    values: Vec<Value>,
    scope: Scope,
    order: Vec<i64>,
    rows_per_statement: usize,
}

impl<'a> Plan<'a> {
    fn new(dataset: &'a Dataset) -> Result<Self, EngineError> {
        let (values, mut scope) = compile_row(&dataset.row, &[])?;
        let mut drawing = Drawing::of_rows(dataset.seed);
        let order = load_order(dataset, &values, &mut drawing, &mut scope);
        let mut sample = Vec::new();
        let binds = Binds { values: &values, rows: NO_ROW, send_types: true };
        packets::execute(0, &binds, &mut drawing, &mut scope, &mut sample);
        let most = (MOST_BINDS / values.len()).min(LARGEST_STATEMENT / sample.len()).max(1);
        let rows_per_statement = (dataset.rows_per_statement as usize).min(most);
        let last = order.len() % rows_per_statement;
        let sizes = [rows_per_statement, last];
        let prepared = sizes.into_iter().filter(|&n| n > 0).map(|n| prepare(dataset, &values, n));
        let timeout = Duration::from_millis(dataset.timeout_ms);
        let opener = Opener::new(dataset.target.clone(), prepared.collect(), timeout)?;
        Ok(Plan { dataset, opener, values, scope, order, rows_per_statement })
    }

    fn statements(&self) -> u64 {
        self.order.len().div_ceil(self.rows_per_statement) as u64
    }

    /// The rows of a statement.
    fn rows(&self, statement: u64) -> &[i64] {
        let from = statement as usize * self.rows_per_statement;
        &self.order[from..self.order.len().min(from + self.rows_per_statement)]
    }

    fn open(&self) -> Result<Sender, EngineError> {
        let session = self.opener.open()?;
        let timeout = Some(CHECK_EVERY);
        let stream = &session.link.stream;
        stream
            .set_read_timeout(timeout)
            .and_then(|()| stream.set_write_timeout(timeout))
            .map_err(|error| EngineError::new("connection_lost", error.to_string()))?;
        Ok(Sender { types_sent: [false; 2], out: Vec::new(), buffer: vec![0; 16 * 1024], session })
    }
}

/// Orders the rows by the text of their first column, which is the key in every workload of ours.
///
/// A hashed key, as YCSB has it, would put each row at a random place of the table: once the table
/// is larger than the server's memory, each row would cost a page read and a page written. In key
/// order each page is filled once. Numbers grow with the rows: they are in order already.
fn load_order(
    dataset: &Dataset,
    values: &[Value],
    drawing: &mut Drawing,
    scope: &mut Scope,
) -> Vec<i64> {
    let rows = dataset.from_row..dataset.to_row;
    let Some(key) = values.first().filter(|value| value.kind() == Kind::Text) else {
        return rows.collect();
    };
    let mut keyed: Vec<(Vec<u8>, i64)> = rows
        .map(|row| {
            let mut text = Vec::new();
            drawing.start_row(row);
            key.append_text(drawing, scope, &mut text);
            (text, row)
        })
        .collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, row)| row).collect()
}

fn prepare(dataset: &Dataset, values: &[Value], rows: usize) -> Prepared {
    let quoted = |name: &String| format!("`{}`", name.replace('`', "``"));
    let columns: Vec<String> = dataset.columns.iter().map(quoted).collect();
    let row = format!("({})", vec!["?"; values.len()].join(","));
    let sql = format!(
        "INSERT IGNORE INTO {} ({}) VALUES {}",
        quoted(&dataset.table),
        columns.join(","),
        vec![row; rows].join(",")
    );
    let kinds: Vec<Kind> = values.iter().map(Value::kind).collect();
    Prepared { sql, kinds: kinds.repeat(rows) }
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
            if let Err(error) = self.insert(&mut sender, rows, &mut drawing, &mut scope) {
                self.report().failed.get_or_insert(error);
            }
            self.done.fetch_add(rows.len() as u64, Ordering::Relaxed);
        }
        if let Some(mut sender) = sender {
            sender.quit();
        }
    }

    /// Inserts the rows of one statement, on a new connection where the last one was lost.
    fn insert(
        &self,
        sender: &mut Option<Sender>,
        rows: &[i64],
        drawing: &mut Drawing,
        scope: &mut Scope,
    ) -> Result<(), EngineError> {
        let mut tries = 0;
        loop {
            let opened = match sender.take() {
                Some(open) => Ok(open),
                None => self.plan.open(),
            };
            let inserted = opened.and_then(|mut open| {
                self.report().rows_sent += rows.len() as u64;
                let inserted = open.insert(self.plan, rows, drawing, scope, self.cancelled)?;
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
            count(&mut self.report().errors, &error.code);
            tries += 1;
            if tries == TRIES || error.code == "spec" || self.cancelled.load(Ordering::Relaxed) {
                return Err(error.context(&format!("loading {}", self.plan.dataset.table)));
            }
            thread::sleep(Duration::from_millis(50 << tries));
        }
    }
}

/// A session that inserts.
struct Sender {
    session: Session,
    types_sent: [bool; 2],
    out: Vec<u8>,
    buffer: Vec<u8>,
}

impl Sender {
    fn insert(
        &mut self,
        plan: &Plan<'_>,
        rows: &[i64],
        drawing: &mut Drawing,
        scope: &mut Scope,
        cancelled: &AtomicBool,
    ) -> Result<u64, EngineError> {
        let size = usize::from(rows.len() < plan.rows_per_statement);
        let send_types = !std::mem::replace(&mut self.types_sent[size], true);
        let binds = Binds { values: &plan.values, rows, send_types };
        self.out.clear();
        let id = self.session.statement_ids[size];
        packets::execute(id, &binds, drawing, scope, &mut self.out);
        match self.exchange(plan, cancelled)? {
            Outcome::Done { affected_rows, .. } => Ok(affected_rows),
            Outcome::Failed { code, message } => {
                Err(EngineError::new(code.to_string(), format!("{message} (error {code})")))
            }
        }
    }

    /// Sends the statement and reads its answer, looking up now and then.
    fn exchange(
        &mut self,
        plan: &Plan<'_>,
        cancelled: &AtomicBool,
    ) -> Result<Outcome, EngineError> {
        let deadline = Instant::now() + Duration::from_millis(plan.dataset.timeout_ms);
        let mut answer = Answer::new(self.session.deprecate_eof);
        let mut sent = 0;
        loop {
            let link = &mut self.session.link;
            let sending = sent < self.out.len() || link.unsent();
            let moved = if sending {
                link.send(&self.out[sent..]).inspect(|taken| sent += taken)
            } else {
                link.receive(&mut self.buffer)
            };
            match moved {
                Ok(0) if !sending => return Err(lost(&io::ErrorKind::UnexpectedEof.into())),
                Ok(read) if !sending => {
                    let outcome = answer.feed(&self.buffer[..read]);
                    let outcome =
                        outcome.map_err(|violation| EngineError::protocol(violation.0))?;
                    if let Some(outcome) = outcome {
                        return Ok(outcome);
                    }
                }
                Ok(_) => {}
                Err(error) if waits(&error) => {
                    if cancelled.load(Ordering::Relaxed) {
                        return Err(EngineError::new("cancelled", "cancelled"));
                    }
                    if Instant::now() >= deadline {
                        let message = "the server does not answer an insert in time";
                        return Err(EngineError::new("timeout", message));
                    }
                }
                Err(error) => return Err(lost(&error)),
            }
        }
    }

    fn quit(&mut self) {
        self.out.clear();
        packets::command(COM_QUIT, b"", &mut self.out);
        let _ = self.session.link.send_all(&self.out); // it is over either way
    }
}

/// Nothing has moved yet.
fn waits(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}

fn lost(error: &io::Error) -> EngineError {
    EngineError::new("connection_lost", format!("the connection is lost: {error}"))
}
