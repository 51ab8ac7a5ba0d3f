//! One lane of a load: its operation, and its own stream of random numbers. Spec and reports call
//! it a connection, as YCSB calls it a thread.

use super::operation::{Next, Running, Sent, Tools};
use super::wire::Wire;
use crate::error::Failure;
use crate::generators::program::Program;
use crate::generators::rng::Rng;
use crate::generators::values::{Drawing, Scope};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Its wire has no session.
    Away,
    Idle,
    Busy,
}

pub struct Lane {
    drawing: Drawing,
    running: Running,
    pub state: State,
    /// Its wire among the thread's, and its place there.
    pub line: usize,
    pub slot: usize,
    /// Index of the scope that it draws from.
    pub scope: usize,
    /// When the running operation was due (open loop) or started.
    pub due: u64,
    /// When the running operation is given up.
    pub deadline: u64,
    /// Operations that it may still start.
    pub remaining: u64,
    /// Whether it stands in the queue of idle lanes.
    pub queued: bool,
}

impl Lane {
    /// A lane that draws from this scope; its place on a wire is given later.
    pub fn new(rng: Rng, scope: usize, remaining: u64) -> Self {
        Lane {
            drawing: Drawing::new(rng),
            running: Running::default(),
            state: State::Away,
            line: 0,
            slot: 0,
            scope,
            due: 0,
            deadline: u64::MAX,
            remaining,
            queued: false,
        }
    }

    /// The operation that runs, by index.
    pub fn operation(&self) -> usize {
        self.running.index
    }

    /// Draws the next operation and appends its first packet.
    pub fn begin<W: Wire>(
        &mut self,
        program: &Program,
        scope: &mut Scope,
        wire: &mut W,
        sent: &mut Sent,
    ) {
        self.state = State::Busy;
        self.remaining -= 1;
        let (slot, drawing) = (self.slot, &mut self.drawing);
        self.running.begin(&mut Tools { program, scope, drawing, wire, slot, sent });
    }

    /// Takes the answer to the last packet, and appends the next one where there is one.
    pub fn answered<W: Wire>(
        &mut self,
        failure: Option<Box<Failure>>,
        program: &Program,
        scope: &mut Scope,
        wire: &mut W,
        sent: &mut Sent,
    ) -> Next {
        let (slot, drawing) = (self.slot, &mut self.drawing);
        self.running.answered(failure, &mut Tools { program, scope, drawing, wire, slot, sent })
    }

    /// The operation is over: the rows that it made are acknowledged, its answer, or its loss,
    /// being known.
    #[inline]
    pub fn end(&mut self, scope: &mut Scope, state: State) {
        for (space, ticket) in self.drawing.issued.drain(..) {
            scope.spaces[space].acknowledge(ticket);
        }
        self.state = state;
        self.deadline = u64::MAX;
    }
}
