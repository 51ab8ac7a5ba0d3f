//! One connection in the MySQL protocol that inserts rows, many a statement.

use std::io;
use std::sync::atomic::AtomicBool;

use super::plan::Plan;
use super::sender::{Patience, lost, waits};
use crate::error::EngineError;
use crate::generators::values::{Drawing, Scope};
use crate::protocol::answer::{Answer, Outcome};
use crate::protocol::packets::{self, Binds, COM_QUIT};
use crate::session::connect::Session;
use crate::session::mysql::Known;

/// A session that inserts.
pub struct MysqlSender {
    session: Session<Known>,
    types_sent: [bool; 2],
    out: Vec<u8>,
    buffer: Vec<u8>,
}

impl MysqlSender {
    pub fn new(session: Session<Known>) -> Self {
        MysqlSender { types_sent: [false; 2], out: Vec::new(), buffer: vec![0; 16 * 1024], session }
    }

    /// Inserts the rows of one statement; returns how many were not there yet.
    pub fn insert(
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
        let id = self.session.known.statement_ids[size];
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
        let patience = Patience::new(plan.dataset.timeout_ms, cancelled);
        let mut answer = Answer::new(self.session.known.deprecate_eof);
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
                Err(error) if waits(&error) => patience.look_up()?,
                Err(error) => return Err(lost(&error)),
            }
        }
    }

    /// Leaves as the protocol asks.
    pub fn quit(&mut self) {
        self.out.clear();
        packets::command(COM_QUIT, b"", &mut self.out);
        let _ = self.session.link.send_all(&self.out); // it is over either way
    }
}
