//! PostgreSQL's wire: one operation at a time. What an operation asks together (one statement, or a
//! whole transaction) goes out in one write and ends with one Sync.

use std::io;

use super::answer::{Answer, Outcome};
use super::login::{Known, Statement};
use super::request::{self, SYNC, TERMINATE, Template};
use crate::error::{EngineError, Failure};
use crate::generators::values::{Drawing, Scope};
use crate::load::wire::{Answered, Execution, Wire};
use crate::session::connect::Session;
use crate::session::link::Link;
use crate::spec::Load;

pub struct PostgresWire {
    link: Option<Link>,
    statements: Vec<Statement>,
    /// Statements are prepared, not sent as texts.
    prepares: bool,
    /// How the unnamed statement is executed, which takes no values.
    unnamed: Template,
    answer: Answer,
    out: Vec<u8>,
    /// How many bytes of `out` were sent.
    sent: usize,
}

impl PostgresWire {
    /// Makes room for what is asked together, and for its answer.
    #[inline]
    fn make_room(&mut self) {
        if !self.answer.awaited() {
            self.out.clear();
            self.sent = 0;
            self.answer.await_next();
        }
        self.answer.expect_command();
    }
}

impl Wire for PostgresWire {
    type Known = Known;
    const GATHERS: bool = false;

    fn check(_load: &Load) -> Result<(), EngineError> {
        Ok(())
    }

    fn lanes_of(_load: &Load) -> usize {
        1
    }

    fn new(_lanes: usize) -> Self {
        PostgresWire {
            link: None,
            statements: Vec::new(),
            prepares: true,
            unnamed: Template::new(b"", &[]),
            answer: Answer::default(),
            out: Vec::with_capacity(256),
            sent: 0,
        }
    }

    fn open(&mut self, session: Session<Known>) {
        self.close();
        self.link = Some(session.link);
        self.statements = session.known.statements;
        self.prepares = matches!(self.statements.first(), Some(Statement::Prepared(_)));
    }

    fn link(&self) -> Option<&Link> {
        self.link.as_ref()
    }

    fn close(&mut self) {
        self.link = None;
        self.answer.clear();
        self.out.clear();
        self.sent = 0;
    }

    /// Says farewell: the server would log a lost connection otherwise.
    fn quit(&mut self) {
        if self.link.is_some() && !self.answer.awaited() {
            self.out.clear();
            self.sent = 0;
            self.out.extend_from_slice(&TERMINATE);
            let _ = self.send(); // it is over either way
        }
        self.close();
    }

    fn execute(&mut self, execution: &Execution<'_>, drawing: &mut Drawing, scope: &mut Scope) {
        self.make_room();
        match &self.statements[execution.prepared] {
            Statement::Prepared(template) => {
                template.execute(execution.binds, drawing, scope, &mut self.out);
            }
            Statement::Simple(text) => text.query(execution.binds, drawing, scope, &mut self.out),
        }
    }

    /// A transaction's commands are parsed each time: of those that are prepared once,
    /// `pg_stat_statements` counts the first execution alone.
    fn command(&mut self, text: &str) {
        self.make_room();
        if self.prepares {
            request::parse(b"", text.as_bytes(), &mut self.out);
            self.unnamed.execute_bare(&mut self.out);
        } else {
            request::query(text.as_bytes(), &mut self.out);
        }
    }

    fn pipelines(&self) -> bool {
        self.prepares
    }

    fn ask(&mut self) {
        if self.prepares {
            self.out.extend_from_slice(&SYNC);
        }
    }

    fn in_transaction(&self) -> bool {
        self.answer.in_transaction()
    }

    fn send(&mut self) -> io::Result<()> {
        let Some(link) = &mut self.link else {
            return Ok(());
        };
        link.send_from(&self.out, &mut self.sent)
    }

    fn unsent(&self) -> usize {
        let held = usize::from(self.link.as_ref().is_some_and(Link::unsent));
        self.out.len() - self.sent + held
    }

    /// Reads once: a server that talks without end is left to the worker, which sees deadlines.
    fn receive(
        &mut self,
        buffer: &mut [u8],
        drain: bool,
        answers: &mut Vec<Answered>,
    ) -> Result<bool, Failure> {
        let Some(link) = &mut self.link else {
            return Ok(false);
        };
        let read = match link.receive(buffer) {
            Ok(0) => return Err(Failure::connection_lost("the server closed the connection")),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(true),
            Err(error) => return Err(Failure::connection_lost(error)),
        };
        // a full buffer, TLS or a hang-up: there may be more without another event
        let more = read == buffer.len() || link.tls.is_some() || drain;
        match self.answer.feed(&buffer[..read]).map_err(|failure| *failure)? {
            Some(outcome) => {
                answers.push(Answered { slot: 0, failure: failure(outcome) });
                Ok(false)
            }
            None => Ok(more),
        }
    }

    /// Always false: answers come in order, so the next one would come after this one.
    fn abandon(&mut self, _slot: usize) -> bool {
        false
    }
}

fn failure(outcome: Outcome) -> Option<Box<Failure>> {
    match outcome {
        Outcome::Done { .. } => None,
        Outcome::Failed(error) => Some(Box::new(error.failure())),
    }
}
