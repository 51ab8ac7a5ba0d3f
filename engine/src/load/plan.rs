//! What each thread of a load gets: its connections, what they draw from, its due times.

use super::connection::Connection;
use super::open_loop::OpenLoop;
use super::pacing::{SECOND, Schedule};
use crate::error::EngineError;
use crate::generators::chooser::Share;
use crate::generators::program::Program;
use crate::generators::rng::Rng;
use crate::generators::values::Scope;
use crate::session::connect::Session;
use crate::spec::{Load, Loop};

/// One thread's part of a load.
pub struct Plan<'a> {
    pub load: &'a Load,
    pub program: &'a Program,
    pub thread: u64,
    pub threads: u64,
}

impl Plan<'_> {
    /// Makes the thread's connections, each with its own stream of random numbers.
    ///
    /// The connections of a thread share its key spaces and counters, so that they read what any
    /// of them inserted. With a limit of operations each connection has its own instead, and a
    /// fixed part of the operations: then what it sends depends on nothing but the spec.
    pub fn connections(
        &self,
        sessions: Vec<(usize, Session)>,
    ) -> Result<(Vec<Connection>, Vec<Scope>), EngineError> {
        let n = u64::from(self.load.connections);
        let mut scopes = Vec::new();
        let mut connections = Vec::new();
        for (index, session) in sessions {
            let index = index as u64;
            let path = [u64::from(self.load.client_index), index];
            let rng = Rng::for_stream(self.load.seed, &path);
            let remaining = match (self.load.operations_limit, &self.load.pacing) {
                (Some(limit), Loop::Closed {}) => limit / n + u64::from(index < limit % n),
                _ => u64::MAX,
            };
            if self.load.operations_limit.is_some() {
                scopes.push(self.scope(index, n)?);
            } else if scopes.is_empty() {
                scopes.push(self.scope(self.thread, self.threads)?);
            }
            let mut connection = Connection::new(rng, scopes.len() - 1, remaining);
            connection.open(session);
            connections.push(connection);
        }
        Ok((connections, scopes))
    }

    /// What holder `index` of `of` in this client draws from.
    fn scope(&self, index: u64, of: u64) -> Result<Scope, EngineError> {
        let clients = u64::from(self.load.client_count);
        let client = u64::from(self.load.client_index);
        let keys = Share { offset: client + clients * index, step: clients * of };
        let counters = Share { offset: index, step: of };
        self.program.scope(keys, counters, self.expected_operations())
    }

    fn expected_operations(&self) -> u64 {
        match (self.load.operations_limit, &self.load.pacing) {
            (Some(limit), _) => limit,
            (None, Loop::Open { rate_ops_per_second, .. }) => {
                (rate_ops_per_second * (self.load.warmup_s + self.load.duration_s)) as u64
            }
            (None, Loop::Closed {}) => 0,
        }
    }

    pub fn open_loop(&self) -> Option<OpenLoop> {
        let Loop::Open { arrivals, rate_ops_per_second: rate } = self.load.pacing else {
            return None;
        };
        let (thread, threads) = (self.thread, self.threads);
        // a stream that no connection has
        let path = [u64::from(self.load.client_index), u64::MAX, thread];
        let rng = Rng::for_stream(self.load.seed, &path);
        let schedule = Schedule::new(arrivals, rate, thread, threads, rng);
        let limit = self
            .load
            .operations_limit
            .map_or(u64::MAX, |limit| limit / threads + u64::from(thread < limit % threads));
        Some(OpenLoop::new(schedule, SECOND as f64 / rate * threads as f64, limit))
    }
}
