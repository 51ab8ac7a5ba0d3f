//! A connection that inserts rows, one in each statement, with many statements under way.

use super::codes;
use super::frames::{Frame, Reader, opcode};
use super::login::Known;
use super::request;
use crate::dataset::inserter::{Batches, Inserter, Rows};
use crate::dataset::patience::Patience;
use crate::error::{EngineError, Violation};
use crate::generators::program::Prepared;
use crate::generators::values::Value;
use crate::session::connect::Session;
use crate::spec::{Consistency, Dataset};

/// Inserts that are under way on one connection.
const STREAMS: usize = 32;
/// Who counts the rows reads them likewise: of several copies, both have one in common.
const OF_ROWS: Consistency = Consistency::LocalQuorum;

/// A session that inserts. A row that is there is written again with the same values.
pub struct CqlInserter {
    session: Session<Known>,
    reader: Reader,
    out: Vec<u8>,
    buffer: Vec<u8>,
}

/// The rows of one batch that were sent, and what came of them.
struct Sent {
    /// The number of the row on each stream.
    on_stream: Vec<Option<i64>>,
    free: Vec<u16>,
    failed: Vec<i64>,
    /// The first failed row's.
    error: Option<EngineError>,
    written: u64,
}

impl Inserter for CqlInserter {
    type Known = Known;

    fn batches(dataset: &Dataset, rows: &mut Rows) -> Batches {
        let prepared = vec![insert_statement(dataset, &rows.values)];
        let rows_per_batch = dataset.rows_per_statement as usize;
        Batches { prepared, rows_per_batch, order: None }
    }

    fn new(session: Session<Known>, _: &Dataset, _: &Rows, _rows_per_batch: usize) -> Self {
        let (out, buffer) = (Vec::new(), vec![0; 16 * 1024]);
        CqlInserter { session, reader: Reader::default(), out, buffer }
    }

    fn insert(
        &mut self,
        numbers: &mut Vec<i64>,
        rows: &mut Rows,
        patience: &Patience<'_>,
    ) -> Result<u64, EngineError> {
        let mut sent = Sent::nothing();
        while !numbers.is_empty() || sent.free.len() < STREAMS {
            self.out.clear();
            while let Some(&stream) = sent.free.last()
                && let Some(row) = numbers.pop()
            {
                sent.free.pop();
                sent.on_stream[usize::from(stream)] = Some(row);
                let how = (&self.session.known.statements[0], OF_ROWS);
                let Rows { values, drawing, scope } = &mut *rows;
                drawing.start_row(row);
                request::execute(stream, how, values, drawing, scope, &mut self.out);
            }
            if let Err(error) = self.exchange(patience, &mut sent) {
                sent.error = Some(error);
                break;
            }
        }
        numbers.extend(sent.failed.into_iter().chain(sent.on_stream.into_iter().flatten()));
        sent.error.map_or(Ok(sent.written), Err)
    }

    fn quit(&mut self) {} // the protocol has no farewell
}

impl CqlInserter {
    /// Sends what is in `out`, and reads until something is answered.
    fn exchange(&mut self, patience: &Patience<'_>, sent: &mut Sent) -> Result<(), EngineError> {
        let wait = patience.begin();
        let link = &mut self.session.link;
        wait.send(link, &self.out)?;
        let free_before = sent.free.len();
        while sent.free.len() == free_before {
            let read = wait.receive(link, &mut self.buffer)?;
            let mut input = &self.buffer[..read];
            while let Some(frame) = self.reader.next(&mut input)? {
                sent.take(&frame)?;
            }
        }
        Ok(())
    }
}

impl Sent {
    fn nothing() -> Self {
        Sent {
            on_stream: vec![None; STREAMS],
            free: (0..STREAMS as u16).rev().collect(),
            failed: Vec::new(),
            error: None,
            written: 0,
        }
    }

    /// Takes the answer to one insert.
    fn take(&mut self, frame: &Frame<'_>) -> Result<(), Violation> {
        if frame.opcode == opcode::EVENT {
            return Ok(());
        }
        let stream = usize::try_from(frame.stream).ok();
        let row = stream.and_then(|stream| self.on_stream.get_mut(stream)?.take());
        let row = row.ok_or(Violation("an answer to no request"))?;
        self.free.push(frame.stream as u16);
        if frame.opcode == opcode::RESULT {
            self.written += 1;
            return Ok(());
        }
        self.failed.push(row);
        if frame.opcode != opcode::ERROR {
            return Err(Violation("neither a result nor an error"));
        }
        self.error.get_or_insert_with(|| codes::refusal(frame.body()));
        Ok(())
    }
}

/// The insert of one row.
fn insert_statement(dataset: &Dataset, values: &[Value]) -> Prepared {
    let quoted = |name: &String| format!("\"{}\"", name.replace('"', "\"\""));
    let columns: Vec<String> = dataset.columns.iter().map(quoted).collect();
    let sql = format!(
        "INSERT INTO {} ({}) VALUES ({})",
        quoted(&dataset.table),
        columns.join(", "),
        vec!["?"; values.len()].join(", ")
    );
    let kinds = values.iter().map(Value::kind).collect();
    Prepared { sql, kinds, returns: Vec::new() }
}
