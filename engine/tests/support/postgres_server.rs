//! The fake server of the PostgreSQL protocol: it prepares everything, and answers commands as a
//! function says.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use super::mysql_server::Gate;
use super::postgres_messages as messages;
use super::serving::{Conversation, Listening};

const SSL_REQUEST: u32 = 80_877_103;

/// What to do with a command (an execution, or a simple query).
pub enum Action {
    Rows,
    Ok,
    /// A SQLSTATE.
    Error(&'static str),
    /// This error, and the session ends.
    Fatal(&'static str),
    /// These bytes, whatever they are, in place of all that answers the command.
    Bytes(Cow<'static, [u8]>),
    /// No answer until the gate opens, then rows.
    Wait(Arc<Gate>),
    Close,
}

/// One command as it arrived.
pub struct Command<'a> {
    pub connection: usize,
    /// Of this connection, from 0.
    pub number: usize,
    /// The statement's text.
    pub text: &'a str,
    /// The Bind that it executes; of a simple query nothing.
    pub bind: &'a [u8],
    /// It came as a simple query.
    pub simple: bool,
}

/// How the client is asked to log in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asks {
    Nothing,
    ClearText,
    Md5,
}

/// The server's side of one connection.
pub struct Talk<Behavior> {
    connection: usize,
    pub asks: Asks,
    /// The type of every parameter.
    pub parameter_type: u32,
    /// What describes a select's rows, and the row that answers it.
    columns: Vec<u8>,
    pub row: Vec<u8>,
    behavior: Behavior,
    logged_in: bool,
    greeted: bool,
    commands: usize,
    statements: HashMap<Vec<u8>, String>,
    /// The statement that is bound, and the Bind.
    bound: (String, Vec<u8>),
    /// b'I', b'T' or b'E'.
    state: u8,
    /// After an error nothing is done until Sync.
    skips: bool,
}

impl<Behavior: FnMut(&Command<'_>) -> Action> Talk<Behavior> {
    pub fn new(connection: usize, behavior: Behavior) -> Self {
        Talk {
            connection,
            asks: Asks::Nothing,
            parameter_type: messages::INT8,
            columns: messages::columns(1),
            row: messages::row(1, 100),
            behavior,
            logged_in: false,
            greeted: false,
            commands: 0,
            statements: HashMap::new(),
            bound: Default::default(),
            state: b'I',
            skips: false,
        }
    }

    /// Answers what comes before the login is over.
    fn log_in(&mut self, body: &[u8], out: &mut Vec<u8>) {
        if body.starts_with(&SSL_REQUEST.to_be_bytes()) {
            out.push(b'N');
            return;
        }
        let asked = !std::mem::replace(&mut self.greeted, true);
        match self.asks {
            Asks::ClearText if asked => out.extend(messages::authentication(3, b"")),
            Asks::Md5 if asked => out.extend(messages::authentication(5, b"salt")),
            _ => {
                self.logged_in = true;
                out.extend(messages::authentication(0, b""));
                out.extend(messages::setting("client_encoding", "UTF8"));
                out.extend(messages::message(b'K', &[0; 8]));
                out.extend(messages::ready(b'I'));
            }
        }
    }

    /// Answers one message; nothing ends the connection.
    fn take(&mut self, tag: u8, body: &[u8], out: &mut Vec<u8>) -> Option<()> {
        match tag {
            b'X' => return None,
            b'S' => {
                self.skips = false;
                out.extend(messages::ready(self.state));
            }
            _ if self.skips => {}
            b'P' => {
                let mut parts = body.split(|&byte| byte == 0);
                let name = parts.next()?.to_vec();
                self.statements.insert(name, String::from_utf8_lossy(parts.next()?).into());
                out.extend(messages::message(b'1', b""));
            }
            b'D' if body.starts_with(b"P") => out.extend_from_slice(&self.columns),
            b'D' => {
                let sql = self.statements.get(body.get(1..body.len() - 1)?)?;
                let types = vec![self.parameter_type; messages::parameters(sql.as_bytes())];
                out.extend(messages::parameter_types(&types));
                out.extend_from_slice(&self.columns);
            }
            b'B' => {
                let name = body.split(|&byte| byte == 0).nth(1)?;
                self.bound = (self.statements.get(name)?.clone(), body.to_vec());
                out.extend(messages::message(b'2', b""));
            }
            b'E' => {
                let (text, bind) = std::mem::take(&mut self.bound);
                self.skips = self.command(&text, &bind, false, out)?;
                self.bound = (text, bind);
            }
            b'Q' => {
                let text = String::from_utf8_lossy(body.strip_suffix(b"\0")?).into_owned();
                self.command(&text, b"", true, out)?;
                out.extend(messages::ready(self.state));
            }
            _ => {} // the data of a COPY
        }
        Some(())
    }

    /// Carries a command out, and says whether it failed; nothing ends the connection.
    fn command(
        &mut self,
        text: &str,
        bind: &[u8],
        simple: bool,
        out: &mut Vec<u8>,
    ) -> Option<bool> {
        let (connection, number) = (self.connection, self.commands);
        self.commands += 1;
        let mut action = (self.behavior)(&Command { connection, number, text, bind, simple });
        if let Action::Wait(gate) = action {
            gate.pass();
            action = Action::Rows;
        }
        match (&action, text) {
            (Action::Error(_), _) if self.state == b'T' => self.state = b'E',
            (Action::Error(_), _) => {}
            (_, "BEGIN") => self.state = b'T',
            (_, "COMMIT" | "ROLLBACK") => self.state = b'I',
            _ => {}
        }
        match action {
            Action::Rows if text.starts_with("SELECT") => {
                if simple {
                    out.extend_from_slice(&self.columns);
                }
                out.extend_from_slice(&self.row);
                out.extend_from_slice(b"C\0\0\0\x0dSELECT 1\0");
            }
            Action::Rows | Action::Ok => {
                let verb = text.split(' ').next().unwrap_or_default();
                out.extend(messages::complete(match verb {
                    "INSERT" => "INSERT 0 1",
                    "UPDATE" => "UPDATE 1",
                    verb => verb,
                }));
            }
            Action::Error(code) => {
                out.extend(messages::error(code));
                return Some(true);
            }
            Action::Fatal(code) => {
                out.extend(messages::report(b'E', "FATAL", code, "as asked"));
                return Some(true);
            }
            Action::Bytes(bytes) => out.extend_from_slice(&bytes),
            Action::Wait(_) => unreachable!("it has waited"),
            Action::Close => return None,
        }
        Some(false)
    }
}

impl<Behavior: FnMut(&Command<'_>) -> Action> Conversation for Talk<Behavior> {
    fn answer(&mut self, input: &[u8], out: &mut Vec<u8>) -> Option<usize> {
        let mut at = 0;
        while let Some((tag, body, length)) =
            messages::whole(&input[at..], self.logged_in || self.greeted)
        {
            if self.logged_in {
                self.take(tag, body, out)?;
            } else {
                self.log_in(body, out);
            }
            at += length;
        }
        Some(at)
    }
}

/// A connection's commands: their texts and Binds.
type Log = Vec<(String, Vec<u8>)>;

/// The server with a thread for each connection, and a log of what it was asked.
pub struct Server {
    pub port: u16,
    listening: Listening,
    log: Arc<Mutex<Vec<Log>>>,
}

impl Server {
    pub fn start(behavior: impl Fn(&Command<'_>) -> Action + Send + Sync + 'static) -> Self {
        Self::asking(Asks::Nothing, behavior)
    }

    pub fn asking(
        asks: Asks,
        behavior: impl Fn(&Command<'_>) -> Action + Send + Sync + 'static,
    ) -> Self {
        let log: Arc<Mutex<Vec<Log>>> = Arc::default();
        let (entries, behavior) = (log.clone(), Arc::new(behavior));
        let listening = Listening::start(move |connection| {
            entries.lock().expect("sound").push(Vec::new());
            let (entries, behavior) = (entries.clone(), behavior.clone());
            let mut talk = Talk::new(connection, move |command: &Command<'_>| {
                let entry = (command.text.to_owned(), command.bind.to_vec());
                entries.lock().expect("sound")[connection].push(entry);
                behavior(command)
            });
            talk.asks = asks;
            talk
        });
        Server { port: listening.port, listening, log }
    }

    /// Refuses new connections from now on.
    pub fn close(&self) {
        self.listening.close();
    }

    /// The commands of each connection.
    pub fn log(&self) -> Vec<Log> {
        self.log.lock().expect("sound").clone()
    }

    /// The texts of all commands.
    pub fn texts(&self) -> Vec<String> {
        self.log().into_iter().flatten().map(|(text, _)| text).collect()
    }
}
