//! The fake server of CQL's native protocol: it logs everybody in, prepares everything, and answers
//! executions as a function says.

use std::borrow::Cow;
use std::sync::{Arc, Mutex};

use super::cql_frames::{self as frames, HEADER};
use super::serving::{Conversation, Listening};

/// What to do with an execution.
pub enum Action {
    Rows,
    Error(i32),
    /// These bytes, whatever they are.
    Bytes(Cow<'static, [u8]>),
    /// No answer for now; a later [`Action::Release`] brings it.
    Hold,
    /// The answers to all that are held, the last first, and to this one.
    Release,
    /// The same, and then the connection is broken off.
    ReleaseAndBreak,
    Close,
}

/// One execution as it arrived.
pub struct Command<'a> {
    pub connection: usize,
    /// Of this connection, from 0.
    pub number: usize,
    pub stream: i16,
    pub body: &'a [u8],
}

/// The texts of the statements that were prepared.
type Prepares = Arc<Mutex<Vec<String>>>;

/// The server's side of one connection.
pub struct Talk<Behavior> {
    connection: usize,
    /// The type of every bind.
    pub bind_type: u16,
    pub row_bytes: usize,
    /// Whether it asks for user and password.
    pub authenticates: bool,
    behavior: Behavior,
    prepares: Prepares,
    /// Of this connection.
    prepared: usize,
    executions: usize,
    held: Vec<i16>,
    broken: bool,
}

impl<Behavior: FnMut(&Command<'_>) -> Action> Talk<Behavior> {
    pub fn new(connection: usize, bind_type: u16, behavior: Behavior) -> Self {
        Talk {
            connection,
            bind_type,
            row_bytes: 100,
            authenticates: false,
            behavior,
            prepares: Arc::default(),
            prepared: 0,
            executions: 0,
            held: Vec::new(),
            broken: false,
        }
    }

    fn prepare(&mut self, stream: i16, body: &[u8]) -> Vec<u8> {
        let text = String::from_utf8(body[4..].to_vec()).expect("a statement");
        let types = vec![self.bind_type; text.matches('?').count()];
        self.prepares.lock().expect("sound").push(text);
        self.prepared += 1;
        // an id of another length each time, and on each connection
        let id = vec![7; 16 + (self.connection + self.prepared) % 16];
        frames::prepared(stream, &id, &types)
    }

    /// Answers an execution; nothing ends the connection.
    fn execute(&mut self, stream: i16, body: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let (connection, number) = (self.connection, self.executions);
        self.executions += 1;
        let bytes = self.row_bytes;
        let row = |stream| frames::row(stream, bytes);
        let action = (self.behavior)(&Command { connection, number, stream, body });
        self.broken = matches!(action, Action::ReleaseAndBreak);
        match action {
            Action::Rows => out.extend(row(stream)),
            Action::Error(code) => out.extend(frames::error(stream, code, "as asked")),
            Action::Bytes(bytes) => out.extend_from_slice(&bytes),
            Action::Hold => self.held.push(stream),
            Action::Release | Action::ReleaseAndBreak => {
                out.extend(self.held.drain(..).rev().flat_map(row));
                out.extend(row(stream));
            }
            Action::Close => return None,
        }
        Some(())
    }
}

impl<Behavior: FnMut(&Command<'_>) -> Action> Conversation for Talk<Behavior> {
    fn answer(&mut self, input: &[u8], out: &mut Vec<u8>) -> Option<usize> {
        let mut at = 0;
        while let Some((stream, opcode, body)) = frames::whole(&input[at..]) {
            match opcode {
                frames::STARTUP if self.authenticates => {
                    out.extend(frames::frame(stream, frames::AUTHENTICATE, b"\0\x04Some"));
                }
                frames::STARTUP => out.extend(frames::frame(stream, frames::READY, &[])),
                frames::AUTH_RESPONSE => {
                    out.extend(frames::frame(stream, frames::AUTH_SUCCESS, &[0xff; 4]));
                }
                frames::QUERY => out.extend(frames::void(stream)),
                frames::PREPARE => out.extend(self.prepare(stream, body)),
                frames::EXECUTE => self.execute(stream, body, out)?,
                other => panic!("opcode {other}"),
            }
            at += HEADER + body.len();
        }
        Some(at)
    }

    fn breaks_off(&self) -> bool {
        self.broken
    }
}

/// A connection's executions: stream and body.
type Log = Vec<(i16, Vec<u8>)>;

/// The server with a thread for each connection, and a log of what it was asked.
pub struct Server {
    pub port: u16,
    _listening: Listening,
    /// In the order in which connections were accepted.
    log: Arc<Mutex<Vec<Log>>>,
    prepares: Prepares,
}

impl Server {
    pub fn start(behavior: impl Fn(&Command<'_>) -> Action + Send + Sync + 'static) -> Self {
        let (log, prepares) = (Arc::<Mutex<Vec<Log>>>::default(), Prepares::default());
        let (entries, texts, behavior) = (log.clone(), prepares.clone(), Arc::new(behavior));
        let listening = Listening::start(move |connection| {
            entries.lock().expect("sound").push(Vec::new());
            let (entries, behavior) = (entries.clone(), behavior.clone());
            let behavior = move |command: &Command<'_>| {
                let action = behavior(command);
                let entry = (command.stream, command.body.to_vec());
                entries.lock().expect("sound")[connection].push(entry);
                action
            };
            Talk { prepares: texts.clone(), ..Talk::new(connection, frames::VARCHAR, behavior) }
        });
        Server { port: listening.port, _listening: listening, log, prepares }
    }

    /// The executions of each connection.
    pub fn log(&self) -> Vec<Log> {
        self.log.lock().expect("sound").clone()
    }

    /// The statements that were prepared, on any connection.
    pub fn prepares(&self) -> Vec<String> {
        self.prepares.lock().expect("sound").clone()
    }
}
