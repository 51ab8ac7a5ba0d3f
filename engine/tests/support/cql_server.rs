//! A small server of CQL's native protocol, a thread for each connection, that behaves as it is
//! told; and the server's frames.

#![allow(dead_code, reason = "each program that includes this uses a part of it")]

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

pub const ERROR: u8 = 0x00;
pub const READY: u8 = 0x02;
pub const RESULT: u8 = 0x08;
pub const EVENT: u8 = 0x0c;
const STARTUP: u8 = 0x01;
const QUERY: u8 = 0x07;
const PREPARE: u8 = 0x09;
const EXECUTE: u8 = 0x0a;
const VARCHAR: u16 = 0x0d;

/// A response.
pub fn frame(stream: i16, opcode: u8, body: &[u8]) -> Vec<u8> {
    let mut out = vec![0x84, 0];
    out.extend_from_slice(&stream.to_be_bytes());
    out.push(opcode);
    out.extend_from_slice(&(body.len() as u32).to_be_bytes());
    out.extend_from_slice(body);
    out
}

pub fn void(stream: i16) -> Vec<u8> {
    frame(stream, RESULT, &1_i32.to_be_bytes())
}

/// One row of one column, without metadata.
pub fn row(stream: i16, bytes: usize) -> Vec<u8> {
    let mut body = Vec::new();
    for number in [2, 4, 1, 1, bytes as i32] {
        body.extend_from_slice(&number.to_be_bytes());
    }
    body.resize(body.len() + bytes, b'x');
    frame(stream, RESULT, &body)
}

pub fn error(stream: i16, code: i32, message: &str) -> Vec<u8> {
    let mut body = code.to_be_bytes().to_vec();
    string(message, &mut body);
    frame(stream, ERROR, &body)
}

/// The answer to PREPARE: so many binds of these types.
pub fn prepared(stream: i16, id: &[u8], types: &[u16]) -> Vec<u8> {
    let mut body = 4_i32.to_be_bytes().to_vec();
    body.extend_from_slice(&(id.len() as u16).to_be_bytes());
    body.extend_from_slice(id);
    for number in [1, types.len() as i32, 0] {
        body.extend_from_slice(&number.to_be_bytes());
    }
    string("k", &mut body);
    string("t", &mut body);
    for kind in types {
        string("column", &mut body);
        body.extend_from_slice(&kind.to_be_bytes());
    }
    frame(stream, RESULT, &body)
}

fn string(text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(&(text.len() as u16).to_be_bytes());
    out.extend_from_slice(text.as_bytes());
}

/// What to do with an execution.
pub enum Action {
    Rows,
    Error(i32),
    /// These bytes, whatever they are.
    Bytes(Vec<u8>),
    /// No answer for now; a later [`Action::Release`] brings it.
    Hold,
    /// The answers to all that are held, the last first, and to this one.
    Release,
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

type Behavior = dyn Fn(&Command<'_>) -> Action + Send + Sync;
/// A connection's executions: stream and body.
type Log = Vec<(i16, Vec<u8>)>;

pub struct Server {
    pub port: u16,
    log: Arc<Mutex<Vec<Log>>>,
    prepares: Arc<Mutex<Vec<String>>>,
    closed: Arc<AtomicBool>,
}

impl Server {
    pub fn start(behavior: impl Fn(&Command<'_>) -> Action + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let server = Server {
            port: listener.local_addr().expect("bound").port(),
            log: Arc::default(),
            prepares: Arc::default(),
            closed: Arc::default(),
        };
        let (log, prepares, closed) =
            (server.log.clone(), server.prepares.clone(), server.closed.clone());
        let behavior: Arc<Behavior> = Arc::new(behavior);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if closed.load(Ordering::SeqCst) {
                    return;
                }
                let connection = {
                    let mut log = log.lock().expect("sound");
                    log.push(Vec::new());
                    log.len() - 1
                };
                let (log, prepares, behavior) = (log.clone(), prepares.clone(), behavior.clone());
                let talk = Talk { connection, log, prepares, behavior, held: Vec::new() };
                thread::spawn(move || talk.run(stream.expect("accepted")));
            }
        });
        server
    }

    /// Refuses new connections from now on.
    pub fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(("127.0.0.1", self.port)); // wakes the listener up
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

impl Drop for Server {
    fn drop(&mut self) {
        self.close();
    }
}

struct Talk {
    connection: usize,
    log: Arc<Mutex<Vec<Log>>>,
    prepares: Arc<Mutex<Vec<String>>>,
    behavior: Arc<Behavior>,
    held: Vec<i16>,
}

impl Talk {
    fn run(mut self, mut socket: TcpStream) {
        let _ = socket.set_nodelay(true);
        let (mut input, mut buffer, mut number) = (Vec::new(), [0; 16_384], 0);
        while let Ok(read @ 1..) = socket.read(&mut buffer) {
            input.extend_from_slice(&buffer[..read]);
            let mut out = Vec::new();
            while let Some((stream, opcode, body)) = whole(&input) {
                let length = 9 + body.len();
                let body = body.to_vec();
                input.drain(..length);
                match opcode {
                    STARTUP => out.extend(frame(stream, READY, &[])),
                    QUERY => out.extend(void(stream)),
                    PREPARE => out.extend(self.prepare(stream, &body)),
                    EXECUTE => match self.execute(stream, body, number) {
                        Some(answer) => {
                            out.extend(answer);
                            number += 1;
                        }
                        None => return,
                    },
                    other => panic!("opcode {other}"),
                }
            }
            if socket.write_all(&out).is_err() {
                return;
            }
        }
    }

    fn prepare(&self, stream: i16, body: &[u8]) -> Vec<u8> {
        let text = String::from_utf8(body[4..].to_vec()).expect("a statement");
        let binds = vec![VARCHAR; text.matches('?').count()];
        let mut prepares = self.prepares.lock().expect("sound");
        prepares.push(text);
        // an id of another length each time
        prepared(stream, &vec![7; 16 + prepares.len()], &binds)
    }

    fn execute(&mut self, stream: i16, body: Vec<u8>, number: usize) -> Option<Vec<u8>> {
        let connection = self.connection;
        let action = (self.behavior)(&Command { connection, number, stream, body: &body });
        self.log.lock().expect("sound")[connection].push((stream, body));
        Some(match action {
            Action::Rows => row(stream, 100),
            Action::Error(code) => error(stream, code, "as told"),
            Action::Bytes(bytes) => bytes,
            Action::Hold => {
                self.held.push(stream);
                Vec::new()
            }
            Action::Release => {
                let held = std::mem::take(&mut self.held);
                let held = held.into_iter().rev().flat_map(|stream| row(stream, 100));
                held.chain(row(stream, 100)).collect()
            }
            Action::Close => return None,
        })
    }
}

pub fn whole(input: &[u8]) -> Option<(i16, u8, &[u8])> {
    let header = input.get(..9)?;
    let length = u32::from_be_bytes([header[5], header[6], header[7], header[8]]) as usize;
    let body = input.get(9..9 + length)?;
    Some((i16::from_be_bytes([header[2], header[3]]), header[4], body))
}
