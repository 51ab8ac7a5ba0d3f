//! A small server of the protocol's, a thread for each connection, that behaves as it is told.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

use crate::wire::{self, Rows};

/// What to do with a command (an execution, or a text command).
pub enum Action {
    Rows,
    Ok,
    Error(u16),
    /// These bytes, whatever they are.
    Bytes(Vec<u8>),
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

    fn pass(&self) {
        let mut open = self.open.lock().expect("sound");
        while !*open {
            open = self.opened.wait(open).expect("sound");
        }
    }
}

/// One command as it arrived.
pub struct Command {
    pub connection: usize,
    /// Of this connection, from 0.
    pub number: usize,
}

type Behavior = dyn Fn(&Command) -> Action + Send + Sync;

pub struct Server {
    pub port: u16,
    /// All commands of each connection, in the order in which connections were accepted.
    log: Arc<Mutex<Vec<Vec<Vec<u8>>>>>,
    closed: Arc<AtomicBool>,
}

impl Server {
    pub fn start(behavior: impl Fn(&Command) -> Action + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("bound").port();
        let log: Arc<Mutex<Vec<Vec<Vec<u8>>>>> = Arc::default();
        let closed = Arc::new(AtomicBool::new(false));
        let behavior: Arc<Behavior> = Arc::new(behavior);
        let server = Server { port, log: log.clone(), closed: closed.clone() };
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
                let (log, behavior) = (log.clone(), behavior.clone());
                thread::spawn(move || {
                    talk(stream.expect("accepted"), connection, &log, &*behavior)
                });
            }
        });
        server
    }

    /// Refuses new connections from now on.
    pub fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(("127.0.0.1", self.port)); // wakes the listener up
    }

    /// The commands of each connection.
    pub fn log(&self) -> Vec<Vec<Vec<u8>>> {
        self.log.lock().expect("sound").clone()
    }

    /// How many commands there were of a kind.
    pub fn count(&self, of: impl Fn(&[u8]) -> bool) -> u64 {
        self.log().iter().flatten().filter(|payload| of(payload)).count() as u64
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.close();
    }
}

fn talk(
    mut stream: TcpStream,
    connection: usize,
    log: &Mutex<Vec<Vec<Vec<u8>>>>,
    behavior: &Behavior,
) {
    let _ = stream.set_nodelay(true);
    let _ = stream.write_all(&wire::greeting(wire::CAPABILITIES));
    let (mut input, mut buffer) = (Vec::new(), [0; 16_384]);
    let (mut greeted, mut number, mut statements) = (false, 0, 0);
    while let Ok(read @ 1..) = stream.read(&mut buffer) {
        input.extend_from_slice(&buffer[..read]);
        while let Some((payload, length)) = wire::whole(&input) {
            let mut out = Vec::new();
            match payload.first() {
                _ if !greeted => wire::ok(&mut 2, 0, 2, &mut out),
                Some(0x16) => {
                    statements += 1;
                    out = wire::prepared(statements, 1, wire::binds(payload), true);
                }
                Some(0x01) | None => return,
                Some(_) => {
                    log.lock().expect("sound")[connection].push(payload.to_vec());
                    match behavior(&Command { connection, number }) {
                        Action::Rows => rows(&mut out),
                        Action::Ok => wire::ok(&mut 1, 1, 2, &mut out),
                        Action::Error(code) => wire::error(&mut 1, code, "as told", &mut out),
                        Action::Bytes(bytes) => out = bytes,
                        Action::Wait(gate) => {
                            gate.pass();
                            rows(&mut out);
                        }
                        Action::Close => return,
                    }
                    number += 1;
                }
            }
            greeted = true;
            input.drain(..length);
            if stream.write_all(&out).is_err() {
                return;
            }
        }
    }
}

fn rows(out: &mut Vec<u8>) {
    wire::result_set(&mut 1, Rows { columns: 1, rows: 1, value: 100, text: false }, true, 2, out);
}
