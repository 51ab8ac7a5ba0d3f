//! A connection that inserts rows, many in one statement.

use std::time::Instant;

use super::answer::{Answer, Outcome, refusal};
use super::login::Known;
use super::packets::{self, Binds, COM_QUIT, NO_ROW};
use crate::dataset::inserter::{Batches, Inserter, Rows};
use crate::dataset::order::key_order;
use crate::dataset::patience::{CHECK_EVERY, Patience};
use crate::error::EngineError;
use crate::generators::program::Prepared;
use crate::generators::values::{Kind, Value};
use crate::session::connect::Session;
use crate::spec::Dataset;

/// The protocol's limit for the binds of one statement.
const MOST_BINDS: usize = 65_535;
/// In bytes: a quarter of the smallest default of `max_allowed_packet`, 16 MiB.
const LARGEST_STATEMENT: usize = 4 << 20;

/// A session that inserts.
pub struct MysqlInserter {
    session: Session<Known>,
    rows_per_batch: usize,
    /// For each prepared statement, whether it was executed: its types are sent the first time.
    types_sent: [bool; 2],
    out: Vec<u8>,
    buffer: Vec<u8>,
}

impl Inserter for MysqlInserter {
    type Known = Known;

    /// A batch is one statement: INSERT IGNORE, so that a row that exists stays. Of the two that
    /// are prepared, one has the rows of a whole batch, one those that are left over for the last.
    fn batches(dataset: &Dataset, rows: &mut Rows) -> Batches {
        let most = (MOST_BINDS / rows.values.len()).min(LARGEST_STATEMENT / row_size(rows)).max(1);
        let rows_per_batch = most.min(dataset.rows_per_statement as usize);
        let sizes = [rows_per_batch, dataset.row_count() % rows_per_batch];
        let sizes = sizes.into_iter().filter(|&n| n > 0);
        let prepared = sizes.map(|n| insert_statement(dataset, &rows.values, n)).collect();
        Batches { prepared, rows_per_batch, order: key_order(dataset, rows) }
    }

    fn new(session: Session<Known>, _: &Dataset, _: &Rows, rows_per_batch: usize) -> Self {
        let (out, buffer) = (Vec::new(), vec![0; 16 * 1024]);
        MysqlInserter { session, rows_per_batch, types_sent: [false; 2], out, buffer }
    }

    fn insert(
        &mut self,
        numbers: &mut Vec<i64>,
        rows: &mut Rows,
        patience: &Patience<'_>,
    ) -> Result<u64, EngineError> {
        let size = usize::from(numbers.len() < self.rows_per_batch);
        let send_types = !std::mem::replace(&mut self.types_sent[size], true);
        let binds = Binds { values: &rows.values, rows: numbers, send_types };
        let id = self.session.known.statement_ids[size];
        self.out.clear();
        packets::execute(id, &binds, &mut rows.drawing, &mut rows.scope, &mut self.out);
        match self.exchange(patience)? {
            Outcome::Done { rows } => Ok(rows),
            Outcome::Failed { code, message } => Err(refusal(code, &message)),
        }
    }

    fn quit(&mut self) {
        self.out.clear();
        packets::command(COM_QUIT, b"", &mut self.out);
        let _ = self.session.link.send_all(&self.out, Instant::now() + CHECK_EVERY); // it is over either way
    }
}

impl MysqlInserter {
    /// Sends the statement and reads its answer.
    fn exchange(&mut self, patience: &Patience<'_>) -> Result<Outcome, EngineError> {
        let wait = patience.begin();
        let link = &mut self.session.link;
        wait.send(link, &self.out)?;
        let mut answer = Answer::new(self.session.known.agreed);
        loop {
            let read = wait.receive(link, &mut self.buffer)?;
            if let Some(outcome) = answer.feed(&self.buffer[..read])? {
                return Ok(outcome);
            }
        }
    }
}

/// The bytes of a statement with one row.
fn row_size(rows: &mut Rows) -> usize {
    let mut statement = Vec::new();
    let binds = Binds { values: &rows.values, rows: NO_ROW, send_types: true };
    packets::execute(0, &binds, &mut rows.drawing, &mut rows.scope, &mut statement);
    statement.len()
}

fn insert_statement(dataset: &Dataset, values: &[Value], rows: usize) -> Prepared {
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
    Prepared { sql, kinds: kinds.repeat(rows), returns: Vec::new() }
}
