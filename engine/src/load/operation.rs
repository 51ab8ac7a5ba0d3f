//! One operation while it is carried out: which packet comes next.

use super::wire::{Execution, Met, Wire};
use crate::error::Failure;
use crate::generators::program::Program;
use crate::generators::values::{Drawing, Scope};

/// An operation that is under way.
#[derive(Debug, Default)]
pub struct Running {
    /// Its index in the program.
    pub index: usize,
    place: Place,
    /// The rows that its statements have met so far.
    met: Met,
    /// Why it is being rolled back.
    failed: Option<Box<Failure>>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Begin,
    Statement {
        index: usize,
        /// How often it is still to be executed, this time included.
        left: u32,
    },
    Commit,
    Rollback,
    /// All of a transaction is sent.
    Whole,
}

/// What has been sent, over the whole load.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sent {
    pub operations: u64,
    /// Executions that were sent, also those that a server skips after an error.
    pub statements: u64,
    /// BEGIN, COMMIT and ROLLBACK.
    pub transaction_commands: u64,
}

/// What to do after an answer.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    /// A packet has been appended: send it.
    Send,
    /// With the rows that its statements met.
    Succeeded(Met),
    Failed(Box<Failure>),
}

/// What an operation's steps use.
pub struct Tools<'a, W> {
    pub program: &'a Program,
    pub scope: &'a mut Scope,
    pub drawing: &'a mut Drawing,
    pub wire: &'a mut W,
    /// The lane's place on the wire.
    pub slot: usize,
    pub sent: &'a mut Sent,
}

impl<W: Wire> Tools<'_, W> {
    fn query(&mut self, sql: &str) {
        self.sent.transaction_commands += 1;
        self.wire.command(sql);
    }
}

impl Running {
    /// Draws an operation and appends its first packet.
    pub fn begin<W: Wire>(&mut self, tools: &mut Tools<'_, W>) {
        self.index = tools.program.choose_operation(&mut tools.drawing.rng);
        self.met = Met::NONE;
        self.failed = None;
        tools.sent.operations += 1;
        let operation = &tools.program.operations[self.index];
        operation.begin(tools.drawing, tools.scope);
        if !operation.transaction {
            self.statement(0, tools);
        } else if tools.wire.pipelines() {
            self.whole_transaction(tools);
        } else {
            self.place = Place::Begin;
            tools.query("BEGIN");
        }
        tools.wire.ask();
    }

    /// Appends a transaction that is sent before anything of it is answered.
    fn whole_transaction<W: Wire>(&mut self, tools: &mut Tools<'_, W>) {
        self.place = Place::Whole;
        tools.query("BEGIN");
        for (index, statement) in tools.program.operations[self.index].statements.iter().enumerate()
        {
            for _ in 0..statement.repeat {
                self.send_statement(index, tools);
            }
        }
        tools.query("COMMIT");
    }

    /// Takes the answer to the last packet: appends the next one, or the operation is over.
    pub fn answered<W: Wire>(
        &mut self,
        result: Result<Met, Box<Failure>>,
        tools: &mut Tools<'_, W>,
    ) -> Next {
        let operation = &tools.program.operations[self.index];
        match result {
            Ok(met) => self.met.add(met),
            Err(failure) => return self.fail(failure, tools),
        }
        match self.place {
            Place::Begin => self.statement(0, tools),
            Place::Statement { index, left } if left > 1 => {
                self.place = Place::Statement { index, left: left - 1 };
                self.send_statement(index, tools);
            }
            Place::Statement { index, .. } if index + 1 < operation.statements.len() => {
                self.statement(index + 1, tools);
            }
            Place::Statement { .. } if operation.transaction => {
                self.place = Place::Commit;
                tools.query("COMMIT");
            }
            Place::Statement { .. } | Place::Commit | Place::Whole => {
                return Next::Succeeded(self.met);
            }
            Place::Rollback => {
                return Next::Failed(self.failed.take().expect("a rollback has its reason"));
            }
        }
        tools.wire.ask();
        Next::Send
    }

    /// A command has failed: ends the operation, after a rollback if it has begun a transaction.
    fn fail<W: Wire>(&mut self, failure: Box<Failure>, tools: &mut Tools<'_, W>) -> Next {
        let failure = self.failed.take().unwrap_or(failure);
        let begun = !matches!(self.place, Place::Begin | Place::Rollback);
        let transaction = tools.program.operations[self.index].transaction;
        if !(transaction && begun && tools.wire.in_transaction()) {
            return Next::Failed(failure);
        }
        self.failed = Some(failure);
        self.place = Place::Rollback;
        tools.query("ROLLBACK");
        tools.wire.ask();
        Next::Send
    }

    fn statement<W: Wire>(&mut self, index: usize, tools: &mut Tools<'_, W>) {
        let left = tools.program.operations[self.index].statements[index].repeat;
        self.place = Place::Statement { index, left };
        self.send_statement(index, tools);
    }

    fn send_statement<W: Wire>(&self, index: usize, tools: &mut Tools<'_, W>) {
        let operation = &tools.program.operations[self.index];
        let statement = &operation.statements[index];
        let prepared = statement.choose(tools.drawing, tools.scope);
        tools.sent.statements += 1;
        let execution = Execution {
            slot: tools.slot,
            prepared,
            binds: &statement.binds,
            consistency: operation.consistency,
            rows_least: statement.rows_least,
        };
        tools.wire.execute(&execution, tools.drawing, tools.scope);
    }
}
