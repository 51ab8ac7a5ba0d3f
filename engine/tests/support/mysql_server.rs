//! The fake server of the MySQL protocol: it logs everybody in, prepares everything, and answers
//! commands as a function says.

use std::borrow::Cow;
use std::sync::{Arc, Condvar, Mutex};

use plimsoll_engine::mysql::answer::Agreed;

use super::mysql_packets::{self as packets, Rows};
use super::serving::{Conversation, Listening};

pub const EXECUTE: u8 = 0x17;
pub const QUERY: u8 = 0x03;
const QUIT: u8 = 0x01;
const PREPARE: u8 = 0x16;
const CLOSE_STATEMENT: u8 = 0x19;
/// The status that every answer has: each statement commits by itself.
const AUTOCOMMIT: u16 = 2;

/// What to do with a command (an execution, or a text command).
pub enum Action {
    Rows,
    Ok,
    Error(u16),
    /// These bytes, whatever they are.
    Bytes(Cow<'static, [u8]>),
    /// No answer until the gate opens, then rows.
    Wait(Arc<Gate>),
    Close,
}

/// Holds answers back until it is opened.
#[derive(Default)]
pub struct Gate {
    open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    pub fn open(&self) {
        *self.open.lock().expect("sound") = true;
        self.opened.notify_all();
    }

    pub fn pass(&self) {
        let mut open = self.open.lock().expect("sound");
        while !*open {
            open = self.opened.wait(open).expect("sound");
        }
    }
}

/// One command as it arrived.
pub struct Command<'a> {
    pub connection: usize,
    /// Of this connection, from 0.
    pub number: usize,
    /// The command's byte, and what follows it.
    pub payload: &'a [u8],
    pub agreed: Agreed,
    /// The client has asked for the rows that an update matches.
    pub found_rows: bool,
}

/// How far a connection's login has come.
enum Login {
    /// The client's answer to the greeting is awaited.
    Greeted,
    /// Its answer to another authentication plugin is awaited.
    Switched {
        agreed: Agreed,
    },
    Done {
        agreed: Agreed,
    },
}

/// The server's side of one connection.
pub struct Talk<Behavior> {
    connection: usize,
    /// The columns of every result.
    columns: u16,
    /// The packet that asks for another authentication plugin, where the login does.
    switch: Option<Vec<u8>>,
    mariadb: bool,
    behavior: Behavior,
    login: Login,
    found_rows: bool,
    commands: usize,
    statements: u32,
}

impl<Behavior: FnMut(&Command<'_>) -> Action> Talk<Behavior> {
    pub fn new(connection: usize, columns: u16, behavior: Behavior) -> Self {
        Talk {
            connection,
            columns,
            switch: None,
            mariadb: false,
            behavior,
            login: Login::Greeted,
            found_rows: false,
            commands: 0,
            statements: 0,
        }
    }

    /// Asks for another authentication plugin by this packet's payload, and takes any answer.
    pub fn switching(self, payload: Vec<u8>) -> Self {
        Talk { switch: Some(payload), ..self }
    }

    /// Offers what MariaDB does beyond MySQL.
    pub fn offering_as_mariadb(self, mariadb: bool) -> Self {
        Talk { mariadb, ..self }
    }

    /// Answers one packet; nothing ends the connection.
    fn take(&mut self, payload: &[u8], sequence: u8, out: &mut Vec<u8>) -> Option<()> {
        let mut sequence = sequence.wrapping_add(1);
        let agreed = match self.login {
            Login::Done { agreed } => agreed,
            Login::Greeted | Login::Switched { .. } => {
                self.log_in(payload, &mut sequence, out);
                return Some(());
            }
        };
        match *payload.first()? {
            QUIT => return None,
            CLOSE_STATEMENT => {} // has no answer
            PREPARE => {
                self.statements += 1;
                let binds = packets::binds(payload);
                let (id, columns) = (self.statements, self.columns);
                out.extend(packets::prepared(id, columns, binds, agreed));
            }
            _ => {
                let (connection, number) = (self.connection, self.commands);
                self.commands += 1;
                let found_rows = self.found_rows;
                let command = Command { connection, number, payload, agreed, found_rows };
                carry_out((self.behavior)(&command), number, agreed, out)?;
            }
        }
        Some(())
    }

    fn log_in(&mut self, payload: &[u8], sequence: &mut u8, out: &mut Vec<u8>) {
        let agreed = match self.login {
            Login::Greeted => {
                self.found_rows = packets::asks_for_found_rows(payload);
                packets::agreed(payload)
            }
            Login::Switched { agreed } | Login::Done { agreed } => agreed,
        };
        if let Some(switch) = self.switch.take() {
            packets::packet(sequence, &switch, out);
            self.login = Login::Switched { agreed };
        } else {
            packets::ok(sequence, 0, AUTOCOMMIT, out);
            self.login = Login::Done { agreed };
        }
    }
}

impl<Behavior: FnMut(&Command<'_>) -> Action> Conversation for Talk<Behavior> {
    fn greeting(&mut self) -> Vec<u8> {
        packets::greeting(packets::CAPABILITIES, self.mariadb)
    }

    fn answer(&mut self, input: &[u8], out: &mut Vec<u8>) -> Option<usize> {
        let mut at = 0;
        while let Some((payload, length)) = packets::whole(&input[at..]) {
            self.take(payload, input[at + 3], out)?;
            at += length;
        }
        Some(at)
    }
}

fn carry_out(action: Action, number: usize, agreed: Agreed, out: &mut Vec<u8>) -> Option<()> {
    // columns are defined now and then, as after a change of the table
    let known = !number.is_multiple_of(3);
    let row = Rows { columns: 1, rows: 1, value: 100, text: false, known };
    match action {
        Action::Rows => packets::result_set(&mut 1, row, agreed, AUTOCOMMIT, out),
        Action::Ok => packets::ok(&mut 1, 1, AUTOCOMMIT, out),
        Action::Error(code) => packets::error(&mut 1, code, "as asked", out),
        Action::Bytes(bytes) => out.extend_from_slice(&bytes),
        Action::Wait(gate) => {
            gate.pass();
            packets::result_set(&mut 1, row, agreed, AUTOCOMMIT, out);
        }
        Action::Close => return None,
    }
    Some(())
}

/// A connection's commands: their payloads.
type Log = Vec<Vec<u8>>;

/// The server with a thread for each connection, and a log of what it was asked.
pub struct Server {
    pub port: u16,
    listening: Listening,
    /// In the order in which connections were accepted.
    log: Arc<Mutex<Vec<Log>>>,
}

impl Server {
    pub fn start(behavior: impl Fn(&Command<'_>) -> Action + Send + Sync + 'static) -> Self {
        Self::start_as(false, behavior)
    }

    /// A server that offers what MariaDB does beyond MySQL, or not.
    pub fn start_as(
        mariadb: bool,
        behavior: impl Fn(&Command<'_>) -> Action + Send + Sync + 'static,
    ) -> Self {
        let log: Arc<Mutex<Vec<Log>>> = Arc::default();
        let (entries, behavior) = (log.clone(), Arc::new(behavior));
        let listening = Listening::start(move |connection| {
            entries.lock().expect("sound").push(Vec::new());
            let (entries, behavior) = (entries.clone(), behavior.clone());
            Talk::new(connection, 1, move |command: &Command<'_>| {
                entries.lock().expect("sound")[connection].push(command.payload.to_vec());
                behavior(command)
            })
            .offering_as_mariadb(mariadb)
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

    /// How many commands there were of a kind.
    pub fn count(&self, kind: u8) -> u64 {
        self.log().iter().flatten().filter(|payload| payload[0] == kind).count() as u64
    }
}
