//! MySQL's wire: one operation at a time, which sends a packet and then awaits its answer.

use std::io;

use super::answer::{Agreed, Answer, Outcome};
use super::login::Known;
use super::packets::{self, COM_QUIT, Head};
use crate::error::{EngineError, Failure};
use crate::generators::values::{Drawing, Scope};
use crate::load::wire::{Answered, Execution, Wire};
use crate::session::connect::Session;
use crate::session::link::Link;
use crate::spec::Load;

pub struct MysqlWire {
    link: Option<Link>,
    /// For each prepared statement its number, and how its executions begin.
    statements: Vec<(u32, Head)>,
    answer: Answer,
    /// A packet was sent and its answer is not complete.
    awaits: bool,
    out: Vec<u8>,
    /// How many bytes of `out` were sent.
    sent: usize,
}

impl MysqlWire {
    /// Makes room for the next packet, and for its answer.
    fn next_packet(&mut self) {
        self.out.clear();
        self.sent = 0;
        self.answer.reset();
        self.awaits = true;
    }
}

impl Wire for MysqlWire {
    type Known = Known;
    const GATHERS: bool = false;

    fn check(_load: &Load) -> Result<(), EngineError> {
        Ok(())
    }

    fn lanes_of(_load: &Load) -> usize {
        1
    }

    fn new(_lanes: usize) -> Self {
        MysqlWire {
            link: None,
            statements: Vec::new(),
            answer: Answer::new(Agreed::default()),
            awaits: false,
            out: Vec::with_capacity(256),
            sent: 0,
        }
    }

    fn open(&mut self, session: Session<Known>) {
        self.close();
        self.link = Some(session.link);
        let ids = session.known.statement_ids.into_iter();
        self.statements = ids.map(|id| (id, Head::default())).collect();
        self.answer = Answer::new(session.known.agreed);
    }

    fn link(&self) -> Option<&Link> {
        self.link.as_ref()
    }

    fn close(&mut self) {
        self.link = None;
        self.awaits = false;
        self.out.clear();
        self.sent = 0;
    }

    /// Says farewell: the server would count an aborted client otherwise.
    fn quit(&mut self) {
        if self.link.is_some() && !self.awaits {
            self.next_packet();
            packets::command(COM_QUIT, b"", &mut self.out);
            let _ = self.send(); // it is over either way
        }
        self.close();
    }

    fn execute(&mut self, execution: &Execution<'_>, drawing: &mut Drawing, scope: &mut Scope) {
        self.next_packet();
        let (id, head) = &mut self.statements[execution.prepared];
        head.execute(*id, execution.binds, drawing, scope, &mut self.out);
    }

    fn command(&mut self, text: &str) {
        self.next_packet();
        packets::query(text.as_bytes(), &mut self.out);
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
        if !self.awaits {
            return Err(Failure::connection_lost("the server spoke without being asked"));
        }
        // a full buffer, TLS or a hang-up: there may be more without another event
        let more = read == buffer.len() || link.tls.is_some() || drain;
        match self.answer.feed(&buffer[..read])? {
            Some(outcome) => {
                self.awaits = false;
                answers.push(Answered { slot: 0, failure: failure(outcome) });
                Ok(false)
            }
            None => Ok(more),
        }
    }

    /// Always false: answers come in order, so the next packet's would come after this one.
    fn abandon(&mut self, _slot: usize) -> bool {
        false
    }
}

fn failure(outcome: Outcome) -> Option<Box<Failure>> {
    match outcome {
        Outcome::Done { .. } => None,
        Outcome::Failed { code, message } => {
            Some(Box::new(Failure::new(code.to_string(), message)))
        }
    }
}
