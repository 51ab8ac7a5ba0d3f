//! One lane of a load: its operation, and its own stream of random numbers. The spec and reports
//! call it a connection; YCSB calls it a thread.

use super::operation::{Next, Running, Sent, Tools};
use super::wire::{Met, Wire};
use crate::error::Failure;
use crate::generators::program::Program;
use crate::generators::rng::Rng;
use crate::generators::values::{Drawing, Scope, Variable};

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
    /// The index of its line among the thread's.
    pub line: usize,
    /// Its place on that line's wire.
    pub slot: usize,
    /// The index of the scope that it draws from.
    pub scope: usize,
    /// When the running operation was due (open loop) or started.
    pub due: u64,
    /// When the running operation is given up.
    pub deadline: u64,
    /// Operations that it may still start.
    pub remaining: u64,
    /// Whether it is in the queue of idle lanes, or of those that pause.
    pub queued: bool,
    /// The next operation, if it was chosen before a pause.
    chosen: Option<usize>,
    /// When the running operation goes on after a pause; 0 if it does not pause.
    pub resumes_at: u64,
    /// How an operation ended that had sent nothing.
    pub ended: Option<Next>,
    /// When what was sent last was sent, if the latency of statements is recorded.
    pub statement_sent: u64,
}

impl Lane {
    /// A lane that draws from this scope; its place on a wire is given later. `variables`: those that
    /// it keeps from operation to operation.
    pub fn new(rng: Rng, variables: Vec<Variable>, scope: usize, remaining: u64) -> Self {
        let mut drawing = Drawing::new(rng);
        drawing.variables = variables;
        Lane {
            drawing,
            running: Running::default(),
            state: State::Away,
            line: 0,
            slot: 0,
            scope,
            due: 0,
            deadline: u64::MAX,
            remaining,
            queued: false,
            chosen: None,
            resumes_at: 0,
            ended: None,
            statement_sent: 0,
        }
    }

    /// The index of the running operation.
    pub fn operation(&self) -> usize {
        self.running.index
    }

    /// Draws the next operation and appends its first packet. Returns false if it appended none: then
    /// [`Lane::instead`] says what to do.
    pub fn begin<W: Wire>(
        &mut self,
        program: &Program,
        scope: &mut Scope,
        wire: &mut W,
        sent: &mut Sent,
    ) -> bool {
        self.state = State::Busy;
        self.remaining -= 1;
        let (slot, drawing) = (self.slot, &mut self.drawing);
        let tools = &mut Tools { program, scope, drawing, wire, slot, sent };
        match self.chosen.take() {
            Some(index) => self.running.begin_chosen(index, tools),
            None => self.running.begin(tools),
        }
    }

    /// What to do if the beginning of an operation has sent nothing.
    #[cold]
    pub fn instead(&mut self) -> Option<Next> {
        self.running.instead()
    }

    /// The place of the statement that was sent last.
    pub fn sent_statement(&self, program: &Program) -> Option<usize> {
        self.running.sent_statement(program)
    }

    /// Chooses the next operation and returns how long to pause before it, in nanoseconds: the last
    /// one's think time, exponential and at most ten times its mean (TPC-C, clause 5.2.5.4), then
    /// the next one's keying time.
    pub fn pause(&mut self, program: &Program, first: bool) -> u64 {
        let mean_s = if first { 0.0 } else { program.operations[self.running.index].think_s };
        let think_s = (-self.drawing.rng.unit_above_zero().ln() * mean_s).min(10.0 * mean_s);
        let next = program.choose_operation(&mut self.drawing);
        self.chosen = Some(next);
        ((think_s + program.operations[next].keying_s) * 1e9) as u64
    }

    /// Begins the operation anew after a deadlock or a serialization failure; as [`Lane::begin`].
    #[cold]
    pub fn again<W: Wire>(
        &mut self,
        program: &Program,
        scope: &mut Scope,
        wire: &mut W,
        sent: &mut Sent,
    ) -> bool {
        let (slot, drawing) = (self.slot, &mut self.drawing);
        self.running.again(&mut Tools { program, scope, drawing, wire, slot, sent })
    }

    /// Goes on after a pause: appends the next packet where there is one.
    #[cold]
    pub fn resume<W: Wire>(
        &mut self,
        program: &Program,
        scope: &mut Scope,
        wire: &mut W,
        sent: &mut Sent,
    ) -> Next {
        if let Some(next) = self.ended.take() {
            return next;
        }
        let (slot, drawing) = (self.slot, &mut self.drawing);
        self.running.resume(&mut Tools { program, scope, drawing, wire, slot, sent })
    }

    /// Takes the answer to the last packet, and appends the next one if there is one.
    pub fn answered<W: Wire>(
        &mut self,
        result: Result<Met, Box<Failure>>,
        program: &Program,
        scope: &mut Scope,
        wire: &mut W,
        sent: &mut Sent,
    ) -> Next {
        let (slot, drawing) = (self.slot, &mut self.drawing);
        self.running.answered(result, &mut Tools { program, scope, drawing, wire, slot, sent })
    }

    /// Ends the operation, answered or lost, and acknowledges the rows that it issued.
    #[inline]
    pub fn end(&mut self, scope: &mut Scope, state: State) {
        for (space, ticket) in self.drawing.issued.drain(..) {
            scope.spaces[space].acknowledge(ticket);
        }
        self.state = state;
        self.deadline = u64::MAX;
        self.resumes_at = 0;
    }
}
