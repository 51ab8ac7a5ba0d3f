//! One connection of a load: its session, its operation, its own stream of random numbers.

use std::io;

use super::operation::{Failure, Next, Running, Sent, Statements, Tools};
use crate::generators::program::Program;
use crate::generators::rng::Rng;
use crate::generators::values::{Drawing, Scope};
use crate::protocol::answer::{Answer, Outcome};
use crate::protocol::frames::Violation;
use crate::protocol::packets::{COM_QUIT, command};
use crate::session::connect::Session;
use crate::session::link::Link;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// No session; the next attempt is due at this time.
    Waiting {
        until: u64,
    },
    /// A session is being opened.
    Opening,
    Idle,
    Busy,
}

pub struct Connection {
    link: Option<Link>,
    statements: Statements,
    answer: Answer,
    drawing: Drawing,
    out: Vec<u8>,
    sent: usize,
    running: Running,
    pub state: State,
    /// Index of the scope that it draws from.
    pub scope: usize,
    /// When the running operation was due (open loop) or started.
    pub due: u64,
    /// When the running operation is given up.
    pub deadline: u64,
    /// Operations that it may still start.
    pub remaining: u64,
    /// Whether it stands in the queue of idle connections.
    pub queued: bool,
    /// Attempts to open a session that failed in a row.
    pub attempts: u32,
}

/// What became of what was read.
pub enum Progress {
    /// The answer is not complete.
    Waiting,
    /// The next packet of the same operation is to be sent.
    Send,
    Succeeded,
    Failed(Failure),
    /// The connection cannot be used further.
    Lost(Failure),
}

impl Connection {
    pub fn new(rng: Rng, scope: usize, remaining: u64) -> Self {
        Connection {
            link: None,
            statements: Statements::default(),
            answer: Answer::new(true),
            drawing: Drawing::new(rng),
            out: Vec::with_capacity(256),
            sent: 0,
            running: Running::default(),
            state: State::Waiting { until: 0 },
            scope,
            due: 0,
            deadline: u64::MAX,
            remaining,
            queued: false,
            attempts: 0,
        }
    }

    pub fn open(&mut self, session: Session) {
        self.link = Some(session.link);
        self.statements = Statements::new(session.statement_ids);
        self.answer = Answer::new(session.deprecate_eof);
        self.state = State::Idle;
        self.attempts = 0;
    }

    pub fn link(&self) -> Option<&Link> {
        self.link.as_ref()
    }

    /// Drops the session, whatever it was doing.
    pub fn close(&mut self) {
        self.link = None;
        self.out.clear();
        self.sent = 0;
    }

    /// Leaves as the protocol asks, so that the server counts no aborted client.
    pub fn quit(&mut self) {
        if self.state == State::Idle {
            self.out.clear();
            self.sent = 0;
            command(COM_QUIT, b"", &mut self.out);
            let _ = self.send(); // it is over either way
        }
        self.close();
    }

    /// The operation that runs, by index.
    pub fn operation(&self) -> usize {
        self.running.index
    }

    /// Draws the next operation and makes its first packet.
    pub fn begin(&mut self, program: &Program, scope: &mut Scope, sent: &mut Sent) {
        self.state = State::Busy;
        self.remaining -= 1;
        self.with_tools(program, scope, sent, |running, tools| running.begin(tools));
    }

    /// Acknowledges the rows that the operation made: its answer, or its loss, is known.
    pub fn acknowledge(&mut self, scope: &mut Scope) {
        for (space, ticket) in self.drawing.issued.drain(..) {
            scope.spaces[space].acknowledge(ticket);
        }
    }

    /// Sends what is left of the current packet; what does not fit goes when there is room.
    pub fn send(&mut self) -> io::Result<()> {
        let Some(link) = &mut self.link else {
            return Ok(());
        };
        while self.sent < self.out.len() || link.unsent() {
            match link.send(&self.out[self.sent..]) {
                Ok(taken) => self.sent += taken,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Whether something still waits to be sent.
    pub fn sending(&self) -> bool {
        self.sent < self.out.len() || self.link.as_ref().is_some_and(Link::unsent)
    }

    /// Reads what has arrived. Stops at the end of an answer, or when nothing more is there.
    pub fn receive(
        &mut self,
        buffer: &mut [u8],
        drain: bool,
        program: &Program,
        scope: &mut Scope,
        sent: &mut Sent,
    ) -> Progress {
        loop {
            let Some(link) = &mut self.link else {
                return Progress::Waiting;
            };
            let read = match link.receive(buffer) {
                Ok(0) => return lost("the server closed the connection"),
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Progress::Waiting;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return lost(error),
            };
            if self.state != State::Busy {
                return lost("the server spoke without being asked");
            }
            // a full buffer, TLS or a hang-up: there may be more without another event
            let more = read == buffer.len() || link.tls.is_some() || drain;
            match self.answer.feed(&buffer[..read]) {
                Err(Violation(what)) => return Progress::Lost(failure("protocol", what)),
                Ok(Some(outcome)) => return self.answered(&outcome, program, scope, sent),
                Ok(None) if more => {}
                Ok(None) => return Progress::Waiting,
            }
        }
    }

    fn answered(
        &mut self,
        outcome: &Outcome,
        program: &Program,
        scope: &mut Scope,
        sent: &mut Sent,
    ) -> Progress {
        let next = self
            .with_tools(program, scope, sent, |running, tools| running.answered(outcome, tools));
        match next {
            Next::Send => Progress::Send,
            Next::Succeeded => Progress::Succeeded,
            Next::Failed(failure) => Progress::Failed(failure),
        }
    }

    fn with_tools<T>(
        &mut self,
        program: &Program,
        scope: &mut Scope,
        sent: &mut Sent,
        act: impl FnOnce(&mut Running, &mut Tools<'_>) -> T,
    ) -> T {
        self.out.clear();
        self.sent = 0;
        self.answer.reset();
        let mut tools = Tools {
            program,
            scope,
            drawing: &mut self.drawing,
            statements: &mut self.statements,
            out: &mut self.out,
            sent,
        };
        act(&mut self.running, &mut tools)
    }
}

fn lost(why: impl ToString) -> Progress {
    Progress::Lost(failure("connection_lost", why))
}

fn failure(code: &str, message: impl ToString) -> Failure {
    Failure { code: code.to_owned(), message: message.to_string() }
}
