//! Divides a load between its threads: lanes, what they draw from, due times.

use super::lane::Lane;
use super::open_loop::OpenLoop;
use super::pacing::{SECOND, Schedule};
use super::wire::{Line, Standing, Wire};
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
    /// How many lanes the thread has: it takes every `threads`th one.
    fn count(&self) -> usize {
        let (all, threads) = (u64::from(self.load.connections), self.threads);
        (all / threads + u64::from(self.thread < all % threads)) as usize
    }

    /// How many wires its lanes need, to each node.
    pub fn wires<W: Wire>(&self) -> usize {
        self.count().div_ceil(W::lanes_of(self.load))
    }

    /// Puts the thread's lanes on wires, as many on each as can be, and one to each node.
    pub fn lines<W: Wire>(&self, sessions: Vec<Session<W::Known>>, nodes: usize) -> Vec<Line<W>> {
        let (lanes, wires) = (self.count(), sessions.len() / nodes);
        let line = |(index, session): (usize, Session<W::Known>)| {
            let index = index / nodes;
            let lanes = lanes * index / wires..lanes * (index + 1) / wires;
            let wire = W::new(lanes.len());
            let standing = Standing::Opening;
            let mut line = Line { wire, lanes, standing, attempts: 0, listed: false };
            line.open(session);
            line
        };
        sessions.into_iter().enumerate().map(line).collect()
    }

    /// Makes the thread's lanes, each with its own stream of random numbers.
    ///
    /// The lanes of a thread share its key spaces and counters, so that they read what any of them
    /// inserted. With a limit of operations each lane has its own instead, and a fixed part of the
    /// operations: then what it sends depends on nothing but the spec.
    pub fn lanes(&self) -> Result<(Vec<Lane>, Vec<Scope>), EngineError> {
        let n = u64::from(self.load.connections);
        let mut scopes = Vec::new();
        let mut lanes = Vec::new();
        for index in (self.thread..n).step_by(self.threads as usize) {
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
            let client = u64::from(self.load.client_index) * n + index;
            let variables = self.program.session_variables(client, self.load.seed);
            lanes.push(Lane::new(rng, variables, scopes.len() - 1, remaining));
        }
        Ok((lanes, scopes))
    }

    /// What this client's holder number `index`, of `of`, draws from.
    fn scope(&self, index: u64, of: u64) -> Result<Scope, EngineError> {
        let clients = u64::from(self.load.client_count);
        let client = u64::from(self.load.client_index);
        let keys = Share { offset: client + clients * index, step: clients * of };
        let counters = Share { offset: self.load.sequence_from + index, step: of };
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
        // a stream of random numbers that no lane has
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
