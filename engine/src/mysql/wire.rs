//! MySQL's wire: one operation at a time, which sends a packet and then awaits its answer.

use super::answer::{Agreed, Answer, Column, Outcome};
use super::login::Known;
use super::packets::{self, COM_QUIT, Head};
use crate::error::Failure;
use crate::generators::values::{Drawing, Scope};
use crate::load::wire::{Answered, Execution, Kept, Met, Wire};
use crate::session::connect::Session;
use crate::session::link::{BufferedLink, Received};

pub struct MysqlWire {
    link: BufferedLink,
    /// For each prepared statement its number, and how its executions begin.
    statements: Vec<(u32, Head)>,
    /// For each prepared statement the types of its result's columns.
    columns: Vec<Vec<Column>>,
    answer: Answer,
    /// A packet was sent and its answer is not complete.
    awaits: bool,
    /// The least number of rows that the last statement has to return, match or insert.
    rows_least: u64,
}

impl MysqlWire {
    /// Makes room for the next packet, and for its answer.
    fn next_packet(&mut self, rows_least: u64) {
        self.rows_least = rows_least;
        self.link.clear();
        self.answer.reset();
        self.awaits = true;
    }
}

impl Wire for MysqlWire {
    type Known = Known;

    fn new(_lanes: usize) -> Self {
        MysqlWire {
            link: BufferedLink::default(),
            statements: Vec::new(),
            columns: Vec::new(),
            answer: Answer::new(Agreed::default()),
            awaits: false,
            rows_least: 0,
        }
    }

    fn open(&mut self, session: Session<Known>) {
        self.close();
        self.link.open(session.link);
        let ids = session.known.statement_ids.into_iter();
        self.statements = ids.map(|id| (id, Head::default())).collect();
        self.columns = session.known.columns;
        self.answer = Answer::new(session.known.agreed);
    }

    fn link(&self) -> &BufferedLink {
        &self.link
    }

    fn link_mut(&mut self) -> &mut BufferedLink {
        &mut self.link
    }

    fn close(&mut self) {
        self.link.close();
        self.awaits = false;
    }

    /// Says farewell: the server would count an aborted client otherwise.
    fn quit(&mut self) {
        if !self.awaits {
            self.next_packet(0);
            packets::command(COM_QUIT, b"", &mut self.link.out);
            let _ = self.link.send(); // it is over either way
        }
        self.close();
    }

    #[inline(always)] // with what calls it, it is one function of the hot loop
    fn execute(&mut self, execution: &Execution<'_>, drawing: &mut Drawing, scope: &mut Scope) {
        self.next_packet(execution.rows_least);
        if !execution.returns.is_empty() {
            let columns = &self.columns[execution.prepared];
            self.answer.keep(execution.returns, execution.rows_kept, columns);
        }
        let (id, head) = &mut self.statements[execution.prepared];
        head.execute(*id, execution.binds, drawing, scope, &mut self.link.out);
    }

    fn kept(&mut self) -> Option<&mut Kept> {
        Some(&mut self.answer.kept)
    }

    fn command(&mut self, text: &str) {
        self.next_packet(0);
        packets::query(text.as_bytes(), &mut self.link.out);
    }

    fn receive(
        &mut self,
        buffer: &mut [u8],
        drain: bool,
        answers: &mut Vec<Answered>,
    ) -> Result<bool, Failure> {
        let Received { bytes, more } = self.link.receive(buffer, drain)?;
        if bytes == 0 {
            return Ok(more);
        }
        if !self.awaits {
            return Err(Failure::connection_lost("the server spoke without being asked"));
        }
        match self.answer.feed(&buffer[..bytes])? {
            Some(outcome) => {
                self.awaits = false;
                answers.push(Answered { slot: 0, result: result(outcome, self.rows_least) });
                Ok(false)
            }
            None => Ok(more),
        }
    }
}

fn result(outcome: Outcome, rows_least: u64) -> Result<Met, Box<Failure>> {
    match outcome {
        Outcome::Done { rows } => Ok(Met::of(Some(rows), rows_least)),
        Outcome::Failed { code, message } => Err(Box::new(Failure::new(code.to_string(), message))),
    }
}
