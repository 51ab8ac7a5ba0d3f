//! One connection that inserts rows.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::plan::Plan;
use crate::error::EngineError;
use crate::generators::values::{Drawing, Scope};
use crate::protocol::answer::{Answer, Outcome};
use crate::protocol::packets::{self, Binds, COM_QUIT};
use crate::session::connect::Session;

/// How often a waiting connection looks up.
pub const CHECK_EVERY: Duration = Duration::from_millis(50);

/// A session that inserts.
pub struct Sender {
    session: Session,
    types_sent: [bool; 2],
    out: Vec<u8>,
    buffer: Vec<u8>,
}

impl Sender {
    pub fn new(session: Session) -> Self {
        Sender { types_sent: [false; 2], out: Vec::new(), buffer: vec![0; 16 * 1024], session }
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

    /// Leaves as the protocol asks.
    pub fn quit(&mut self) {
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
