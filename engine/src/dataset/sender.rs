//! One connection that inserts rows, in either protocol.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::cql::CqlSender;
use super::mysql::MysqlSender;
use super::plan::Plan;
use crate::error::EngineError;
use crate::generators::values::{Drawing, Scope};

/// How often a waiting connection looks up.
pub const CHECK_EVERY: Duration = Duration::from_millis(50);

/// A session that inserts.
pub enum Sender {
    Mysql(MysqlSender),
    Cql(CqlSender),
}

impl Sender {
    /// Inserts rows, taking from them what is there for sure even where the rest fails. Returns
    /// how many were not there yet; of CQL, which does not say, how many were written.
    pub fn insert(
        &mut self,
        plan: &Plan<'_>,
        rows: &mut Vec<i64>,
        (drawing, scope): (&mut Drawing, &mut Scope),
        cancelled: &AtomicBool,
    ) -> Result<u64, EngineError> {
        match self {
            Sender::Mysql(sender) => sender.insert(plan, rows, drawing, scope, cancelled),
            Sender::Cql(sender) => sender.insert(plan, rows, drawing, scope, cancelled),
        }
    }

    /// Leaves as the protocol asks.
    pub fn quit(&mut self) {
        match self {
            Sender::Mysql(sender) => sender.quit(),
            Sender::Cql(_) => {} // it has no farewell
        }
    }
}

/// How long an answer is awaited.
pub struct Patience<'a> {
    deadline: Instant,
    cancelled: &'a AtomicBool,
}

impl<'a> Patience<'a> {
    pub fn new(timeout_ms: u64, cancelled: &'a AtomicBool) -> Self {
        Patience { deadline: Instant::now() + Duration::from_millis(timeout_ms), cancelled }
    }

    /// Nothing has come for a while: whether to wait on.
    pub fn look_up(&self) -> Result<(), EngineError> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(EngineError::new("cancelled", "cancelled"));
        }
        if Instant::now() >= self.deadline {
            let message = "the server does not answer an insert in time";
            return Err(EngineError::new("timeout", message));
        }
        Ok(())
    }
}

/// Nothing has moved yet.
pub fn waits(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}

pub fn lost(error: &io::Error) -> EngineError {
    EngineError::new("connection_lost", format!("the connection is lost: {error}"))
}
