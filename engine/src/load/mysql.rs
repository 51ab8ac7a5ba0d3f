//! MySQL's wire: one operation at a time, one packet, then its answer.

use std::io;

use super::operation::Failure;
use super::wire::{Answered, Execution, Wire};
use crate::generators::values::{Drawing, Scope};
use crate::protocol::answer::{Answer, Outcome};
use crate::protocol::frames::Violation;
use crate::protocol::packets::{self, Binds, COM_QUIT, NO_ROW};
use crate::session::connect::Session;
use crate::session::link::Link;
use crate::session::mysql::Known;
use crate::spec::Load;

pub struct MysqlWire {
    link: Option<Link>,
    statement_ids: Vec<u32>,
    /// Of each statement: its types went along with an execution before.
    types_sent: Vec<bool>,
    answer: Answer,
    /// A packet was sent and its answer is not complete.
    awaits: bool,
    out: Vec<u8>,
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

    fn lanes_of(_load: &Load) -> usize {
        1
    }

    fn new(_lanes: usize) -> Self {
        MysqlWire {
            link: None,
            statement_ids: Vec::new(),
            types_sent: Vec::new(),
            answer: Answer::new(true),
            awaits: false,
            out: Vec::with_capacity(256),
            sent: 0,
        }
    }

    fn open(&mut self, session: Session<Known>) {
        self.close();
        self.link = Some(session.link);
        self.types_sent = vec![false; session.known.statement_ids.len()];
        self.statement_ids = session.known.statement_ids;
        self.answer = Answer::new(session.known.deprecate_eof);
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

    /// The server counts no aborted client then.
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
        let send_types = !std::mem::replace(&mut self.types_sent[execution.prepared], true);
        let binds = Binds { values: execution.binds, rows: NO_ROW, send_types };
        let id = self.statement_ids[execution.prepared];
        packets::execute(id, &binds, drawing, scope, &mut self.out);
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

    /// Stops at the end of an answer, or when nothing more is there.
    fn receive(
        &mut self,
        buffer: &mut [u8],
        drain: bool,
        answers: &mut Vec<Answered>,
    ) -> Result<bool, Failure> {
        loop {
            let Some(link) = &mut self.link else {
                return Ok(false);
            };
            let read = match link.receive(buffer) {
                Ok(0) => return lost("the server closed the connection"),
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return lost(error),
            };
            if !self.awaits {
                return lost("the server spoke without being asked");
            }
            // a full buffer, TLS or a hang-up: there may be more without another event
            let more = read == buffer.len() || link.tls.is_some() || drain;
            match self.answer.feed(&buffer[..read]) {
                Err(Violation(what)) => return Err(Failure::new("protocol", what)),
                Ok(Some(outcome)) => {
                    self.awaits = false;
                    answers.push(Answered { slot: 0, failure: failure(outcome) });
                    return Ok(false);
                }
                Ok(None) if more => {}
                Ok(None) => return Ok(false),
            }
        }
    }

    /// Answers come in order: without this one there is none to the next packet.
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

fn lost<T>(why: impl ToString) -> Result<T, Failure> {
    Err(Failure::new("connection_lost", why))
}
