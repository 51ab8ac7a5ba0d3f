//! One operation while it is carried out: which packet comes next.

use super::wire::{Execution, Met, Wire};
use crate::error::Failure;
use crate::generators::formulas::is_true;
use crate::generators::program::{Each, Operation, Program, Statement, Step};
use crate::generators::rng::Rng;
use crate::generators::values::{Drawing, Scope, Value, Variable};

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
    /// What the variables held before a script that may be tried again: another try begins with that.
    held: Vec<Variable>,
    /// What to do where its beginning has sent nothing.
    instead: Option<Next>,
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
    /// Statements that were sent ahead, or a pause. It goes on with the step of this index.
    Between {
        next: usize,
    },
    /// Statements that were sent ahead of a step that failed.
    Doomed,
    Commit,
    Rollback,
    /// Everything is sent.
    Whole,
}

/// How far steps have been taken.
enum Went {
    /// Something is sent whose answer decides what comes next.
    Sent,
    Over,
    /// It pauses for so long, in nanoseconds.
    Pauses(u64),
    Failed(Box<Failure>),
}

/// What has been sent, over the whole load.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sent {
    pub operations: u64,
    /// Executions that were sent, also those that a server skips after an error.
    pub statements: u64,
    /// BEGIN, COMMIT and ROLLBACK; of a script also what it sends for its transaction or session.
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
    /// It goes on after so long, in nanoseconds.
    Pause(u64),
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
    #[inline]
    fn send(&mut self, operation: &Operation, statement: &Statement) {
        match &statement.each {
            None => {
                let (alternatives, binds) = (&statement.alternatives, &statement.binds);
                self.send_as(operation, statement, alternatives, binds, 1);
            }
            Some(each) => self.send_lines(operation, statement, each),
        }
    }

    /// Appends the execution of a statement a part of which is repeated for each line of a list.
    #[cold]
    fn send_lines(&mut self, operation: &Operation, statement: &Statement, each: &Each) {
        let list = &operation.lists[each.list];
        let lines = list.lines(self.drawing);
        let form = &each.forms[lines - list.least];
        self.send_as(operation, statement, &form.alternatives, &form.binds, lines);
    }

    #[inline(always)] // a statement without lines pays nothing for those
    fn send_as(
        &mut self,
        operation: &Operation,
        statement: &Statement,
        alternatives: &[usize],
        binds: &[Value],
        lines: usize,
    ) {
        let prepared = statement.choose(alternatives, self.drawing, self.scope);
        let statements = u64::from(!statement.uncounted);
        self.sent.statements += statements;
        self.sent.transaction_commands += 1 - statements;
        let execution = Execution {
            slot: self.slot,
            prepared,
            binds,
            consistency: operation.consistency,
            rows_least: statement.rows_least * lines as u64,
            returns: &statement.returns,
            row: statement.row,
            rows_kept: lines,
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
                Step::Send { statement, .. } => Some(statement),
                _ => None,
            },
            Place::Begin => Some(operation.statements.len()),
            Place::Commit => Some(operation.statements.len() + 1),
            Place::Rollback | Place::Whole | Place::Between { .. } | Place::Doomed => None,
        }
    }

    /// Draws an operation and appends its first packet. Returns false if it appended none: then
    /// [`Running::instead`] says what to do.
    pub fn begin<W: Wire>(&mut self, tools: &mut Tools<'_, W>) -> bool {
        let index = tools.program.choose_operation(tools.drawing);
        self.begin_chosen(index, tools)
    }

    /// Draws the operation of this index and appends its first packet, as [`Running::begin`].
    #[inline]
    pub fn begin_chosen<W: Wire>(&mut self, index: usize, tools: &mut Tools<'_, W>) -> bool {
        self.index = index;
        tools.sent.operations += 1;
        let operation = &tools.program.operations[index];
        if operation.max_tries > 1 {
            self.tries = 1;
            self.drawn_from = Some(tools.drawing.rng.clone());
            if operation.own_transactions {
                self.held.clone_from(&tools.drawing.variables);
            }
        }
        self.begin_try(tools)
    }

    /// Begins the operation anew after a deadlock or a serialization failure, with the same draws; as
    /// [`Running::begin`].
    #[cold]
    pub fn again<W: Wire>(&mut self, tools: &mut Tools<'_, W>) -> bool {
        self.tries += 1;
        if let Some(rng) = &self.drawn_from {
            tools.drawing.rng = rng.clone();
        }
        if tools.program.operations[self.index].own_transactions {
            tools.drawing.variables.clone_from(&self.held);
        }
        self.begin_try(tools)
    }

    /// What to do if the beginning has sent nothing.
    #[cold]
    pub fn instead(&mut self) -> Option<Next> {
        self.instead.take()
    }

    #[inline(always)] // most operations have one try
    fn begin_try<W: Wire>(&mut self, tools: &mut Tools<'_, W>) -> bool {
        self.met = Met::NONE;
        self.failed = None;
        let operation = &tools.program.operations[self.index];
        operation.begin(tools.drawing, tools.scope);
        if !operation.transaction {
            if operation.steps.is_empty() {
                self.statement(operation, 0, tools);
            } else {
                return self.begin_steps(tools);
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
        true
    }

    /// Takes the first steps of an operation that no BEGIN precedes.
    fn begin_steps<W: Wire>(&mut self, tools: &mut Tools<'_, W>) -> bool {
        let went = self.go_on(0, tools);
        match self.went(went, tools) {
            Next::Send => true,
            next => {
                self.instead = Some(next);
                false
            }
        }
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
    #[inline(always)]
    pub fn answered<W: Wire>(
        &mut self,
        result: Result<Met, Box<Failure>>,
        tools: &mut Tools<'_, W>,
    ) -> Next {
        match result {
            Ok(met) if tools.program.operations[self.index].single => Next::Succeeded(met),
            result => self.answered_one_of_several(result, tools),
        }
    }

    fn answered_one_of_several<W: Wire>(
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
                let went = self.go_on(0, tools);
                return self.went(went, tools);
            }
            Place::Step { index, left } => {
                let went = self.step_answered(index, left, tools);
                return self.went(went, tools);
            }
            Place::Between { next } => {
                let went = self.go_on(next, tools);
                return self.went(went, tools);
            }
            Place::Doomed => {
                let failure = self.failed.take().expect("what failed is kept");
                return self.fail(failure, tools);
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
        let rolled_back = self.failed.is_some() && self.place == Place::Rollback;
        let failure = self.failed.take().unwrap_or(failure);
        let begun = self.place != Place::Begin && !rolled_back;
        let operation = &tools.program.operations[self.index];
        let transaction = operation.transaction || operation.own_transactions;
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

    /// Goes on after a pause.
    #[cold]
    pub fn resume<W: Wire>(&mut self, tools: &mut Tools<'_, W>) -> Next {
        self.answered(Ok(Met::NONE), tools)
    }

    /// Says what to do after steps were taken.
    fn went<W: Wire>(&mut self, went: Went, tools: &mut Tools<'_, W>) -> Next {
        match went {
            Went::Sent => {
                tools.wire.ask();
                Next::Send
            }
            Went::Over => Next::Succeeded(self.met),
            Went::Pauses(ns) => Next::Pause(ns),
            Went::Failed(failure) => self.fail(failure, tools),
        }
    }

    /// A step could not be taken. What was sent ahead of it is answered first.
    #[cold]
    fn step_failed(&mut self, place: &str, why: &str, sent: bool) -> Went {
        let failure = Box::new(Failure::new("script", format!("{place}: {why}")));
        if !sent {
            return Went::Failed(failure);
        }
        self.failed = Some(failure);
        self.place = Place::Doomed;
        Went::Sent
    }

    /// Takes the answer to a step's statement, and the steps after it.
    fn step_answered<W: Wire>(
        &mut self,
        index: usize,
        left: u32,
        tools: &mut Tools<'_, W>,
    ) -> Went {
        let operation = &tools.program.operations[self.index];
        let Step::Send { statement, .. } = operation.steps[index] else {
            unreachable!("only a step that sends is answered");
        };
        let Statement { returns, each, .. } = &operation.statements[statement];
        if !returns.is_empty()
            && let Some(kept) = tools.wire.kept()
        {
            let variables = &mut tools.drawing.variables;
            if let Some(each) = each {
                kept.hand_over_lines(returns, &operation.lists[each.list], variables);
            } else if let Err(rows) = kept.hand_over(returns, variables) {
                let message = format!("expected one row, got {rows}");
                return Went::Failed(Box::new(Failure::new("script", message)));
            }
        }
        if left > 1 {
            self.place = Place::Step { index, left: left - 1 };
            tools.send(operation, &operation.statements[statement]);
            return Went::Sent;
        }
        self.go_on(index + 1, tools)
    }

    /// Takes steps from this one on, until something is appended whose answer decides what comes next:
    /// any statement, or, where requests are batched, one that is not sent ahead.
    fn go_on<W: Wire>(&mut self, mut at: usize, tools: &mut Tools<'_, W>) -> Went {
        let operation = &tools.program.operations[self.index];
        let mut sent = false;
        while let Some(step) = operation.steps.get(at) {
            at += 1;
            match step {
                Step::Send { statement, ahead } => {
                    let statement = &operation.statements[*statement];
                    if *ahead && tools.batches() {
                        (0..statement.repeat).for_each(|_| tools.send(operation, statement));
                        self.place = Place::Step { index: at - 1, left: 1 };
                        sent = true;
                        continue;
                    }
                    self.place = Place::Step { index: at - 1, left: statement.repeat };
                    tools.send(operation, statement);
                    return Went::Sent;
                }
                Step::Await => {
                    if sent {
                        self.place = Place::Between { next: at };
                        return Went::Sent;
                    }
                }
                Step::Set { slot, of, place } => match of.compute(tools.drawing) {
                    Ok(value) => tools.drawing.variables[*slot] = value.into(),
                    Err(why) => return self.step_failed(place, &why, sent),
                },
                Step::When { condition, to, place } => match condition.compute(tools.drawing) {
                    Ok(value) if is_true(value) => {}
                    Ok(_) => at = *to,
                    Err(why) => return self.step_failed(place, &why, sent),
                },
                Step::Sleep { .. } if sent => {
                    self.place = Place::Between { next: at - 1 };
                    return Went::Sent;
                }
                Step::Sleep { us, times, place } => {
                    let Some(times) = whole_times(*times, &tools.drawing.variables) else {
                        return self.step_failed(place, "the variable is no whole number", sent);
                    };
                    self.place = Place::Between { next: at };
                    return Went::Pauses(us.saturating_mul(times).saturating_mul(1_000));
                }
                Step::Keep { slot, value } => value.keep(*slot, tools.drawing, tools.scope),
                Step::Unless { condition, to } => {
                    if !condition.holds(tools.drawing) {
                        at = *to;
                    }
                }
                Step::GoTo(to) => at = *to,
                Step::Line { list, turn } => {
                    let variables = &mut tools.drawing.variables;
                    let line = variables[*turn].whole_number();
                    operation.lists[*list].swap(line as usize, variables);
                }
                Step::Turn { turn, turns, end } => {
                    let number = |slot: usize| tools.drawing.variables[slot].whole_number();
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
                    return Went::Sent;
                }
            }
        }
        if operation.transaction {
            self.place = Place::Commit;
            tools.query("COMMIT");
            Went::Sent
        } else if sent {
            // the answer tells whether a script ends within a transaction
            let scripted = operation.own_transactions;
            self.place = if scripted { Place::Between { next: at } } else { Place::Whole };
            Went::Sent
        } else if operation.own_transactions && tools.wire.in_transaction() {
            self.step_failed(&operation.name, "it ends within a transaction", sent)
        } else {
            Went::Over
        }
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

/// How often a pause is as long as its unit: the number that a variable's text begins with, as C's
/// `atoi` has it, 1 without a variable, 0 for a negative one. None if it begins with no number.
fn whole_times(variable: Option<usize>, variables: &[Variable]) -> Option<u64> {
    let Some(slot) = variable else {
        return Some(1);
    };
    let mut text = Vec::new();
    variables[slot].append_text(&mut text);
    let text = String::from_utf8_lossy(&text);
    let number = text.trim_start().trim_start_matches('+');
    if number.starts_with('-') {
        return Some(0);
    }
    let digits = number.split(|each: char| !each.is_ascii_digit()).next()?;
    digits.parse().ok()
}
