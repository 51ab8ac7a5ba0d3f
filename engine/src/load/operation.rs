//! One operation while it is carried out: which packet comes next.

use super::wire::{Execution, Met, Wire};
use crate::error::Failure;
use crate::generators::program::{Operation, Program, Statement, Step};
use crate::generators::rng::Rng;
use crate::generators::values::{Drawing, Scope, Variable};

/// An operation in progress.
#[derive(Debug, Default)]
pub struct Running {
    /// Its index in the program.
    pub index: usize,
    place: Place,
    /// The rows that its statements have met so far.
    met: Met,
    /// Why it is being rolled back.
    failed: Option<Box<Failure>>,
    /// How often it has been tried, this time included.
    tries: u32,
    /// What its values are drawn from, so that another try draws the same. None if there is one try.
    drawn_from: Option<Rng>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Begin,
    Statement {
        index: usize,
        /// Executions left, this one included.
        left: u32,
    },
    /// A statement of an operation with logic.
    Step {
        /// The index of the step that sent it.
        index: usize,
        /// Executions left, this one included.
        left: u32,
    },
    Commit,
    Rollback,
    /// Everything is sent.
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
    /// It met a deadlock or a serialization failure, and is to be tried again.
    Again(Box<Failure>),
}

/// The servers' codes of deadlocks and serialization failures: MySQL's, MariaDB's (a row that changed
/// since the snapshot) and PostgreSQL's.
const TO_BE_TRIED_AGAIN: [&str; 4] = ["1213", "1020", "40001", "40P01"];

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
    /// Whether several statements are sent before the first of them is answered.
    fn batches(&self) -> bool {
        self.wire.pipelines() && !self.program.one_by_one
    }

    fn query(&mut self, sql: &str) {
        self.sent.transaction_commands += 1;
        self.wire.command(sql);
    }

    /// Appends the execution of an operation's statement.
    fn send(&mut self, operation: &Operation, statement: &Statement) {
        let prepared = statement.choose(self.drawing, self.scope);
        self.sent.statements += 1;
        let execution = Execution {
            slot: self.slot,
            prepared,
            binds: &statement.binds,
            consistency: operation.consistency,
            rows_least: statement.rows_least,
            returns: &statement.returns,
        };
        self.wire.execute(&execution, self.drawing, self.scope);
    }
}

impl Running {
    /// The place of what was sent last among the operation's statements; BEGIN and COMMIT come after
    /// them. None for a rollback.
    pub fn sent_statement(&self, program: &Program) -> Option<usize> {
        let operation = &program.operations[self.index];
        match self.place {
            Place::Statement { index, .. } => Some(index),
            Place::Step { index, .. } => match operation.steps[index] {
                Step::Send { statement } => Some(statement),
                _ => None,
            },
            Place::Begin => Some(operation.statements.len()),
            Place::Commit => Some(operation.statements.len() + 1),
            Place::Rollback | Place::Whole => None,
        }
    }

    /// Draws an operation, and appends its first packet.
    pub fn begin<W: Wire>(&mut self, tools: &mut Tools<'_, W>) {
        let index = tools.program.choose_operation(tools.drawing);
        self.begin_chosen(index, tools);
    }

    /// Draws the operation of this index and appends its first packet.
    #[inline]
    pub fn begin_chosen<W: Wire>(&mut self, index: usize, tools: &mut Tools<'_, W>) {
        self.index = index;
        tools.sent.operations += 1;
        if tools.program.operations[index].max_tries > 1 {
            self.tries = 1;
            self.drawn_from = Some(tools.drawing.rng.clone());
        }
        self.begin_try(tools);
    }

    /// Begins the operation anew after a deadlock or a serialization failure, with the same draws.
    #[cold]
    pub fn again<W: Wire>(&mut self, tools: &mut Tools<'_, W>) {
        self.tries += 1;
        if let Some(rng) = &self.drawn_from {
            tools.drawing.rng = rng.clone();
        }
        self.begin_try(tools);
    }

    #[inline(always)] // most operations have one try
    fn begin_try<W: Wire>(&mut self, tools: &mut Tools<'_, W>) {
        self.met = Met::NONE;
        self.failed = None;
        let operation = &tools.program.operations[self.index];
        operation.begin(tools.drawing, tools.scope);
        if !operation.transaction {
            if operation.steps.is_empty() {
                self.statement(operation, 0, tools);
            } else {
                self.go_on(0, tools);
            }
        } else if operation.steps.is_empty() && tools.batches() {
            self.whole_transaction(operation, tools);
        } else {
            self.place = Place::Begin;
            tools.query("BEGIN");
            if tools.batches() {
                self.go_on(0, tools);
            }
        }
        tools.wire.ask();
    }

    /// Appends a transaction that is sent before anything of it is answered.
    fn whole_transaction<W: Wire>(&mut self, operation: &Operation, tools: &mut Tools<'_, W>) {
        self.place = Place::Whole;
        tools.query("BEGIN");
        for statement in &operation.statements {
            for _ in 0..statement.repeat {
                tools.send(operation, statement);
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
            Place::Begin if operation.steps.is_empty() => self.statement(operation, 0, tools),
            Place::Begin => {
                if !self.go_on(0, tools) {
                    return Next::Succeeded(self.met);
                }
            }
            Place::Step { index, left } => {
                if !self.step_answered(index, left, tools) {
                    return Next::Succeeded(self.met);
                }
            }
            Place::Statement { index, left } if left > 1 => {
                self.place = Place::Statement { index, left: left - 1 };
                tools.send(operation, &operation.statements[index]);
            }
            Place::Statement { index, .. } if index + 1 < operation.statements.len() => {
                self.statement(operation, index + 1, tools);
            }
            Place::Statement { .. } if operation.transaction => {
                self.place = Place::Commit;
                tools.query("COMMIT");
            }
            Place::Statement { .. } | Place::Commit | Place::Whole => {
                return Next::Succeeded(self.met);
            }
            Place::Rollback => match self.failed.take() {
                Some(failure) => return self.give_up(failure, tools),
                None => return Next::Succeeded(Met { rolled_back: true, ..self.met }),
            },
        }
        tools.wire.ask();
        Next::Send
    }

    /// A command has failed: ends the operation, after a rollback if it has begun a transaction.
    fn fail<W: Wire>(&mut self, failure: Box<Failure>, tools: &mut Tools<'_, W>) -> Next {
        let rolled_back = self.failed.is_some();
        let failure = self.failed.take().unwrap_or(failure);
        let begun = self.place != Place::Begin && !rolled_back;
        let transaction = tools.program.operations[self.index].transaction;
        if !(transaction && begun && tools.wire.in_transaction()) {
            return self.give_up(failure, tools);
        }
        self.failed = Some(failure);
        self.place = Place::Rollback;
        tools.query("ROLLBACK");
        tools.wire.ask();
        Next::Send
    }

    /// It has failed and is rolled back: it is over, or tried again.
    #[cold]
    fn give_up<W: Wire>(&self, failure: Box<Failure>, tools: &Tools<'_, W>) -> Next {
        let most = tools.program.operations[self.index].max_tries;
        // tries are counted where there may be several
        if most > 1 && self.tries < most && TO_BE_TRIED_AGAIN.contains(&failure.code.as_str()) {
            return Next::Again(failure);
        }
        Next::Failed(failure)
    }

    // Operations with logic.

    /// Takes the answer to a step's statement. Returns whether something more was appended.
    fn step_answered<W: Wire>(
        &mut self,
        index: usize,
        left: u32,
        tools: &mut Tools<'_, W>,
    ) -> bool {
        let operation = &tools.program.operations[self.index];
        let Step::Send { statement } = operation.steps[index] else {
            unreachable!("only a step that sends is answered");
        };
        let returns = &operation.statements[statement].returns;
        if !returns.is_empty()
            && let Some(kept) = tools.wire.kept()
        {
            kept.hand_over(returns, &mut tools.drawing.variables);
        }
        if left > 1 {
            self.place = Place::Step { index, left: left - 1 };
            tools.send(operation, &operation.statements[statement]);
            return true;
        }
        self.go_on(index + 1, tools)
    }

    /// Takes steps from this one on, until something is appended whose answer decides what comes next:
    /// any statement, or, where requests are batched, one that returns variables. Returns false if the
    /// operation is over.
    fn go_on<W: Wire>(&mut self, mut at: usize, tools: &mut Tools<'_, W>) -> bool {
        let operation = &tools.program.operations[self.index];
        let mut sent = false;
        while let Some(step) = operation.steps.get(at) {
            at += 1;
            match step {
                Step::Send { statement } => {
                    let statement = &operation.statements[*statement];
                    if statement.returns.is_empty() && tools.batches() {
                        (0..statement.repeat).for_each(|_| tools.send(operation, statement));
                        self.place = Place::Step { index: at - 1, left: 1 };
                        sent = true;
                        continue;
                    }
                    self.place = Place::Step { index: at - 1, left: statement.repeat };
                    tools.send(operation, statement);
                    return true;
                }
                Step::Keep { slot, value } => value.keep(*slot, tools.drawing, tools.scope),
                Step::Unless { condition, to } => {
                    if !condition.holds(tools.drawing) {
                        at = *to;
                    }
                }
                Step::GoTo(to) => at = *to,
                Step::Turn { turn, turns, end } => {
                    let number = |slot: usize| match tools.drawing.variables[slot] {
                        Variable::Integer(number) => number,
                        _ => 0,
                    };
                    let (done, turns) = (number(*turn), number(*turns));
                    if done < turns {
                        tools.drawing.variables[*turn] = Variable::Integer(done + 1);
                    } else {
                        at = *end;
                    }
                }
                Step::Rollback => {
                    self.place = Place::Rollback;
                    tools.query("ROLLBACK");
                    return true;
                }
            }
        }
        if operation.transaction {
            self.place = Place::Commit;
            tools.query("COMMIT");
        } else if sent {
            self.place = Place::Whole;
        }
        operation.transaction || sent
    }

    #[inline]
    fn statement<W: Wire>(
        &mut self,
        operation: &Operation,
        index: usize,
        tools: &mut Tools<'_, W>,
    ) {
        let statement = &operation.statements[index];
        self.place = Place::Statement { index, left: statement.repeat };
        tools.send(operation, statement);
    }
}
