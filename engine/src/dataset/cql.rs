//! One CQL connection that inserts rows: one a statement, many under way.

use std::io;
use std::sync::atomic::AtomicBool;

use super::plan::Plan;
use super::sender::{Patience, lost, waits};
use crate::cql::codes;
use crate::cql::frames::{Frame, Reader, opcode};
use crate::cql::login::Known;
use crate::cql::request;
use crate::error::EngineError;
use crate::generators::values::{Drawing, Scope};
use crate::session::connect::Session;
use crate::spec::Consistency;

/// Inserts that are under way on one connection.
const STREAMS: usize = 32;

/// A session that inserts. A row that is there is written again with the same values.
pub struct CqlSender {
    session: Session<Known>,
    reader: Reader,
    out: Vec<u8>,
    buffer: Vec<u8>,
}

/// What is under way: the row on each stream, and what came of the others.
#[derive(Default)]
struct Batch {
    on_stream: Vec<Option<i64>>,
    free: Vec<u16>,
    failed: Vec<i64>,
    error: Option<EngineError>,
    written: u64,
}

impl CqlSender {
    pub fn new(session: Session<Known>) -> Self {
        let buffer = vec![0; 16 * 1024];
        CqlSender { session, reader: Reader::default(), out: Vec::new(), buffer }
    }

    /// Writes rows; those that were not acknowledged stay in `rows` where it fails.
    pub fn insert(
        &mut self,
        plan: &Plan<'_>,
        rows: &mut Vec<i64>,
        drawing: &mut Drawing,
        scope: &mut Scope,
        cancelled: &AtomicBool,
    ) -> Result<u64, EngineError> {
        let free = (0..STREAMS as u16).rev().collect();
        let mut batch = Batch { on_stream: vec![None; STREAMS], free, ..Batch::default() };
        while !rows.is_empty() || batch.free.len() < STREAMS {
            self.out.clear();
            while let Some(&stream) = batch.free.last()
                && let Some(row) = rows.pop()
            {
                batch.free.pop();
                batch.on_stream[usize::from(stream)] = Some(row);
                let how = (&self.session.known.statements[0], Consistency::One);
                drawing.start_row(row);
                request::execute(stream, how, &plan.values, drawing, scope, &mut self.out);
            }
            if let Err(error) = self.exchange(plan, cancelled, &mut batch) {
                batch.error = Some(error);
                break;
            }
        }
        rows.extend(batch.failed.drain(..).chain(batch.on_stream.into_iter().flatten()));
        match batch.error {
            Some(error) => Err(error),
            None => Ok(batch.written),
        }
    }

    /// Sends what is written, and reads until something is answered.
    fn exchange(
        &mut self,
        plan: &Plan<'_>,
        cancelled: &AtomicBool,
        batch: &mut Batch,
    ) -> Result<(), EngineError> {
        let patience = Patience::new(plan.dataset.timeout_ms, cancelled);
        let link = &mut self.session.link;
        let mut sent = 0;
        while sent < self.out.len() || link.unsent() {
            match link.send(&self.out[sent..]) {
                Ok(taken) => sent += taken,
                Err(error) if waits(&error) => patience.look_up()?,
                Err(error) => return Err(lost(&error)),
            }
        }
        let under_way = batch.free.len();
        while batch.free.len() == under_way {
            let read = match link.receive(&mut self.buffer) {
                Ok(0) => return Err(lost(&io::ErrorKind::UnexpectedEof.into())),
                Ok(read) => read,
                Err(error) if waits(&error) => {
                    patience.look_up()?;
                    continue;
                }
                Err(error) => return Err(lost(&error)),
            };
            let mut input = &self.buffer[..read];
            while !input.is_empty() {
                let frame = self.reader.next(&mut input);
                match frame.map_err(|violation| EngineError::protocol(violation.0))? {
                    Some(frame) => batch.take(&frame)?,
                    None => break,
                }
            }
        }
        Ok(())
    }
}

impl Batch {
    fn take(&mut self, frame: &Frame<'_>) -> Result<(), EngineError> {
        if frame.opcode == opcode::EVENT {
            return Ok(());
        }
        let stream = usize::try_from(frame.stream).ok();
        let row = stream.and_then(|stream| self.on_stream.get_mut(stream)?.take());
        let row = row.ok_or_else(|| EngineError::protocol("an answer to no request"))?;
        self.free.push(frame.stream as u16);
        match frame.opcode {
            opcode::RESULT => self.written += 1,
            opcode::ERROR => {
                let (code, message) = codes::error(frame.body());
                let name = codes::name(code);
                self.failed.push(row);
                self.error
                    .get_or_insert(EngineError::new(name.clone(), format!("{message} ({name})")));
            }
            _ => return Err(EngineError::protocol("neither a result nor an error")),
        }
        Ok(())
    }
}
