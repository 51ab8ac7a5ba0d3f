//! Opens a session: starts it, authenticates, chooses the keyspace, prepares statements.

use std::io;
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Instant;

use super::codes;
use super::frames::{Frame, HEADER, check, frame, opcode};
use super::prepared::{self, Statement};
use super::request;
use super::rows;
use crate::error::EngineError;
use crate::generators::program::Prepared;
use crate::session::connect::{Login, Opener, Session, lost};
use crate::session::link::Link;
use crate::session::tls;

/// The largest frame of a login or of a prepared statement's description, in bytes.
const LARGEST_BODY: usize = 1 << 20;
/// More events than a server sends while a session is opened.
const MOST_EVENTS: usize = 1_000;

/// What a login learns of its session.
#[derive(Debug, Clone, Default)]
pub struct Known {
    pub statements: Vec<Statement>,
    /// Their texts, with which they are prepared again if the server has forgotten them.
    pub texts: Arc<[String]>,
    /// Which of them are writes with a condition.
    pub conditional: Vec<bool>,
}

impl Login for Known {
    fn log_in(
        opener: &Opener,
        stream: TcpStream,
        deadline: Instant,
    ) -> Result<Session<Self>, EngineError> {
        let mut channel = Channel::start(opener, stream, deadline)?;
        let keyspace = opener.target.database.replace('"', "\"\"");
        request::query(&format!("USE \"{keyspace}\""), &mut channel.out);
        channel.ask()?.expect(opcode::RESULT)?;
        let statements = opener.prepared.iter().map(|statement| prepare(&mut channel, statement));
        let statements = statements.collect::<Result<_, _>>()?;
        let texts: Arc<[String]> =
            opener.prepared.iter().map(|statement| statement.sql.clone()).collect();
        let conditional = texts.iter().map(|text| rows::is_conditional(text)).collect();
        Ok(Session { link: channel.link, known: Known { statements, texts, conditional } })
    }
}

fn authenticate(channel: &mut Channel, user: &str, password: &str) -> Result<(), EngineError> {
    request::startup(&mut channel.out);
    let answer = channel.ask()?;
    if answer.opcode == opcode::READY {
        return Ok(());
    }
    answer.expect(opcode::AUTHENTICATE)?;
    request::credentials(user, password, &mut channel.out);
    let answer = channel.ask()?;
    if answer.opcode == opcode::AUTH_CHALLENGE {
        let message = "the server asks for another login than user and password";
        return Err(EngineError::new("auth", message));
    }
    answer.expect(opcode::AUTH_SUCCESS).map(drop)
}

fn prepare(channel: &mut Channel, wanted: &Prepared) -> Result<Statement, EngineError> {
    let doing = || format!("cannot prepare {}", wanted.excerpt());
    request::prepare(0, &wanted.sql, &mut channel.out);
    let answer = channel.ask()?;
    let statement = answer
        .expect(opcode::RESULT)
        .and_then(prepared::read)
        .map_err(|error| error.context(&doing()))?;
    let (takes, given) = (statement.types.len(), wanted.kinds.len());
    if takes != given {
        let message = format!("it takes {takes} binds, {given} are given");
        return Err(EngineError::spec(message).context(&doing()));
    }
    let mut both = statement.types.iter().zip(&wanted.kinds).enumerate();
    if let Some((index, (kind, given))) = both.find(|(_, (kind, given))| !kind.takes(**given)) {
        let message = format!("bind {} is {kind:?}: {given:?} does not fit it", index + 1);
        return Err(EngineError::spec(message).context(&doing()));
    }
    Ok(statement)
}

/// Requests and their answers over a blocking link, one by one, until a deadline.
pub(super) struct Channel {
    link: Link,
    deadline: Instant,
    pub out: Vec<u8>,
    body: Vec<u8>,
}

impl Channel {
    /// Begins a session, with the target's user.
    pub fn start(
        opener: &Opener,
        stream: TcpStream,
        deadline: Instant,
    ) -> Result<Self, EngineError> {
        let tls = opener.tls.as_ref().map(|tls| tls::client(tls, &opener.target.host));
        let link = Link { stream, tls: tls.transpose()? };
        let mut channel = Channel { link, deadline, out: Vec::new(), body: Vec::new() };
        authenticate(&mut channel, &opener.target.user, &opener.target.password)?;
        Ok(channel)
    }

    /// Sends what has been written to `out`, and awaits the answer.
    pub fn ask(&mut self) -> Result<Frame<'_>, EngineError> {
        self.link.send_all(&self.out, self.deadline).map_err(lost)?;
        self.out.clear();
        for _ in 0..MOST_EVENTS {
            let header = self.read_frame()?;
            if header[4] != opcode::EVENT {
                return Ok(frame(header, &self.body));
            }
        }
        Err(EngineError::protocol("the server sends events and does not answer"))
    }

    fn read_frame(&mut self) -> Result<[u8; HEADER], EngineError> {
        let mut header = [0; HEADER];
        self.receive(&mut header)?;
        let mut readable = header;
        if is_refusal(header) {
            readable[0] = 0x84; // errors are written in the same way in all versions
        }
        let length = check(readable).map_err(|_| not_cql())?;
        if length > LARGEST_BODY {
            let message = format!("an answer of {length} bytes while connecting");
            return Err(EngineError::protocol(message));
        }
        let mut body = std::mem::take(&mut self.body);
        body.resize(length, 0);
        self.receive(&mut body)?;
        self.body = body;
        Ok(header)
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), EngineError> {
        self.link.receive_exact(buffer, self.deadline).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                EngineError::new("connection_lost", "the server closed the connection at the login")
            }
            _ => lost(error),
        })
    }
}

impl<'a> Frame<'a> {
    /// The body of an answer of this kind. An error for any other answer: the server's own, if the
    /// answer is one.
    pub(super) fn expect(&self, opcode: u8) -> Result<&'a [u8], EngineError> {
        if self.opcode == opcode {
            return Ok(self.body());
        }
        if self.opcode == opcode::ERROR {
            return Err(codes::refusal(self.body()));
        }
        Err(not_cql())
    }
}

/// A server that does not speak this version answers with an error in one that it speaks.
fn is_refusal(header: [u8; HEADER]) -> bool {
    (0x81..=0x86).contains(&header[0]) && header[4] == opcode::ERROR
}

fn not_cql() -> EngineError {
    EngineError::protocol("the server does not speak version 4 of CQL's protocol")
}
