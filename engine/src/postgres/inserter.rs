//! A connection that inserts rows by COPY, a batch at a time.

use std::time::Instant;

use super::answer::{Answer, Outcome};
use super::copy::{Copy, columns, quoted};
use super::login::Known;
use super::request::{self, SYNC, TERMINATE, Template};
use crate::dataset::inserter::{Batches, Inserter, Rows};
use crate::dataset::order::key_order;
use crate::dataset::patience::{CHECK_EVERY, Patience};
use crate::error::EngineError;
use crate::generators::program::Prepared;
use crate::generators::values::Value;
use crate::session::connect::Session;
use crate::session::link::Link;
use crate::spec::Dataset;

/// Rows that are inserted one by one are asked together: so few that their answers never fill what
/// stands between the server and here, which reads them once all is sent.
const ASKED_TOGETHER: usize = 500;
/// In bytes.
const LARGEST_BATCH: usize = 4 << 20;
/// `unique_violation`: one of the rows exists.
const IS_THERE: &str = "23505";

/// A session that inserts. A batch of which a row is there is inserted row by row, so that what is
/// there stays and the rest is added.
pub struct PostgresInserter {
    link: Link,
    copy: Copy,
    /// The insert of one row, and how its executions begin.
    insert: (String, Template),
    answer: Answer,
    out: Vec<u8>,
    buffer: Vec<u8>,
}

impl Inserter for PostgresInserter {
    type Known = Known;

    /// A batch is one COPY. The statement that is prepared is what it falls back to; the types of its
    /// parameters are those of the columns.
    fn batches(dataset: &Dataset, rows: &mut Rows) -> Batches {
        let most = (LARGEST_BATCH / row_size(rows)).max(1);
        Batches {
            prepared: vec![insert_statement(dataset, &rows.values)],
            rows_per_batch: most.min(dataset.rows_per_statement as usize),
            order: key_order(dataset, rows),
        }
    }

    fn new(
        session: Session<Known>,
        dataset: &Dataset,
        rows: &Rows,
        _rows_per_batch: usize,
    ) -> Self {
        let Session { link, known } = session;
        let insert = insert_statement(dataset, &rows.values).sql;
        PostgresInserter {
            link,
            copy: Copy::new(dataset, &known.encodings[0]),
            insert: (insert, Template::new(b"", &known.encodings[0])),
            answer: Answer::of_inserts(),
            out: Vec::new(),
            buffer: vec![0; 16 * 1024],
        }
    }

    fn insert(
        &mut self,
        numbers: &mut Vec<i64>,
        rows: &mut Rows,
        patience: &Patience<'_>,
    ) -> Result<u64, EngineError> {
        self.begin();
        self.answer.expect_command();
        self.copy.append(numbers, rows, &mut self.out);
        match self.exchange(patience)? {
            Outcome::Done { rows } => Ok(rows),
            Outcome::Failed(error) if error.code == IS_THERE => {
                self.insert_each(numbers, rows, patience)
            }
            Outcome::Failed(error) => Err(error.refusal()),
        }
    }

    fn quit(&mut self) {
        let _ = self.link.send_all(&TERMINATE, Instant::now() + CHECK_EVERY); // it is over either way
    }
}

impl PostgresInserter {
    /// Inserts rows one by one, in one transaction: those that are there stay.
    fn insert_each(
        &mut self,
        numbers: &[i64],
        rows: &mut Rows,
        patience: &Patience<'_>,
    ) -> Result<u64, EngineError> {
        let Rows { values, drawing, scope } = rows;
        let mut inserted = 0;
        self.command(b"BEGIN", patience)?;
        for together in numbers.chunks(ASKED_TOGETHER) {
            self.begin();
            let (sql, template) = &self.insert;
            request::parse(b"", sql.as_bytes(), &mut self.out);
            for &number in together {
                drawing.start_row(number);
                self.answer.expect_command();
                template.execute(values, drawing, scope, &mut self.out);
            }
            self.out.extend_from_slice(&SYNC);
            inserted += self.done(patience)?;
        }
        self.command(b"COMMIT", patience)?;
        Ok(inserted)
    }

    fn command(&mut self, sql: &[u8], patience: &Patience<'_>) -> Result<(), EngineError> {
        self.begin();
        self.answer.expect_command();
        request::query(sql, &mut self.out);
        self.done(patience).map(drop)
    }

    fn begin(&mut self) {
        self.out.clear();
        self.answer.await_next();
    }

    /// Sends what is asked, which has to succeed; returns how many rows it added.
    fn done(&mut self, patience: &Patience<'_>) -> Result<u64, EngineError> {
        match self.exchange(patience)? {
            Outcome::Done { rows } => Ok(rows),
            Outcome::Failed(error) => Err(error.refusal()),
        }
    }

    /// Sends what is in `out`, and reads its answer.
    fn exchange(&mut self, patience: &Patience<'_>) -> Result<Outcome, EngineError> {
        let wait = patience.begin();
        wait.send(&mut self.link, &self.out)?;
        loop {
            let read = wait.receive(&mut self.link, &mut self.buffer)?;
            let outcome = self.answer.feed(&self.buffer[..read]);
            let outcome =
                outcome.map_err(|failure| EngineError::new(failure.code, failure.message))?;
            if let Some(outcome) = outcome {
                return Ok(outcome);
            }
        }
    }
}

/// The bytes of a row's values, with about their overhead.
fn row_size(rows: &mut Rows) -> usize {
    let Rows { values, drawing, scope } = rows;
    let mut row = Vec::new();
    for value in &*values {
        value.append_text(drawing, scope, &mut row);
    }
    row.len() + 8 * values.len()
}

fn insert_statement(dataset: &Dataset, values: &[Value]) -> Prepared {
    let places: Vec<String> = (1..=values.len()).map(|place| format!("${place}")).collect();
    let sql = format!(
        "INSERT INTO {} ({}) VALUES ({}) ON CONFLICT DO NOTHING",
        quoted(&dataset.table),
        columns(dataset),
        places.join(", ")
    );
    let kinds = values.iter().map(Value::kind).collect();
    Prepared { sql, kinds, returns: Vec::new() }
}
