//! PostgreSQL's wire: one operation at a time. What an operation asks together (one statement, or a
//! whole transaction) goes out in one write and ends with one Sync.

use super::answer::{Answer, Outcome};
use super::login::{Known, Statement};
use super::request::{self, SYNC, TERMINATE, Template};
use crate::error::Failure;
use crate::generators::values::{Drawing, Scope};
use crate::load::wire::{Answered, Execution, Kept, Met, Wire};
use crate::session::connect::Session;
use crate::session::link::{BufferedLink, Received};

pub struct PostgresWire {
    link: BufferedLink,
    statements: Vec<Statement>,
    /// Statements are prepared, not sent as texts.
    prepares: bool,
    /// How the unnamed statement is executed, which takes no values.
    unnamed: Template,
    answer: Answer,
}

impl PostgresWire {
    /// Makes room for what is asked together, and for its answer.
    #[inline]
    fn make_room(&mut self) {
        if !self.answer.awaited() {
            self.link.clear();
            self.answer.await_next();
        }
        self.answer.expect_command();
    }
}

impl Wire for PostgresWire {
    type Known = Known;

    fn new(_lanes: usize) -> Self {
        PostgresWire {
            link: BufferedLink::default(),
            statements: Vec::new(),
            prepares: true,
            unnamed: Template::new(b"", &[]),
            answer: Answer::default(),
        }
    }

    fn open(&mut self, session: Session<Known>) {
        self.close();
        self.link.open(session.link);
        self.statements = session.known.statements;
        self.prepares = matches!(
            self.statements.first(),
            Some(Statement::Prepared(_) | Statement::Parsed { .. })
        );
    }

    fn link(&self) -> &BufferedLink {
        &self.link
    }

    fn link_mut(&mut self) -> &mut BufferedLink {
        &mut self.link
    }

    fn close(&mut self) {
        self.link.close();
        self.answer.clear();
    }

    /// Says farewell: the server would log a lost connection otherwise.
    fn quit(&mut self) {
        if !self.answer.awaited() {
            self.link.clear();
            self.link.out.extend_from_slice(&TERMINATE);
            let _ = self.link.send(); // it is over either way
        }
        self.close();
    }

    #[inline(always)] // with what calls it, it is one function of the hot loop
    fn execute(&mut self, execution: &Execution<'_>, drawing: &mut Drawing, scope: &mut Scope) {
        self.make_room();
        self.answer.expect_rows(execution.rows_least);
        if !execution.returns.is_empty() {
            self.answer.keep(execution.returns, execution.row, execution.rows_kept);
        }
        match &self.statements[execution.prepared] {
            Statement::Prepared(template) => {
                template.execute(execution.binds, drawing, scope, &mut self.link.out);
            }
            Statement::Parsed { text, template } => {
                request::parse(b"", text.as_bytes(), &mut self.link.out);
                template.execute(execution.binds, drawing, scope, &mut self.link.out);
            }
            Statement::Simple(text) => {
                text.query(execution.binds, drawing, scope, &mut self.link.out)
            }
        }
    }

    fn kept(&mut self) -> Option<&mut Kept> {
        Some(&mut self.answer.kept)
    }

    /// A transaction's commands are parsed each time: of those that are prepared once,
    /// `pg_stat_statements` counts the first execution alone.
    fn command(&mut self, text: &str) {
        self.make_room();
        if self.prepares {
            request::parse(b"", text.as_bytes(), &mut self.link.out);
            self.unnamed.execute_bare(&mut self.link.out);
        } else {
            request::query(text.as_bytes(), &mut self.link.out);
        }
    }

    fn pipelines(&self) -> bool {
        self.prepares
    }

    fn ask(&mut self) {
        if self.prepares {
            self.link.out.extend_from_slice(&SYNC);
        }
    }

    fn in_transaction(&self) -> bool {
        self.answer.in_transaction()
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
        match self.answer.feed(&buffer[..bytes]).map_err(|failure| *failure)? {
            Some(outcome) => {
                answers.push(Answered { slot: 0, result: result(outcome, self.answer.missing()) });
                Ok(false)
            }
            None => Ok(more),
        }
    }
}

fn result(outcome: Outcome, missing: u64) -> Result<Met, Box<Failure>> {
    match outcome {
        Outcome::Done { rows } => Ok(Met { rows: Some(rows), missing, rolled_back: false }),
        Outcome::Failed(error) => Err(Box::new(error.failure())),
    }
}
