//! A very fast server of the MySQL protocol, for measuring clients: it answers every execution
//! with the same row, from memory, without looking at the statement's binds.
//!
//! Usage: `canned COLUMNS BYTES_OF_EACH`; prints its port and serves until it is ended. With
//! `canned echo BYTES_ASKED BYTES_ANSWERED` it answers so many bytes with so many instead: the
//! least that any client and server can cost (see `echo.rs`).

#[path = "../tests/support/wire.rs"]
mod wire;

use std::collections::HashMap;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd as _;

use rustix::event::epoll::{self, EventData, EventFlags};

use wire::Rows;

/// What is sent for each request.
enum Answers {
    /// Rows for executions, with and without EOF packets, and for queries.
    Rows {
        shape: Rows,
        with_eof: Vec<u8>,
        without: Vec<u8>,
        text: Vec<u8>,
    },
    Echo {
        asked: usize,
        answer: Vec<u8>,
    },
}

struct Connection {
    stream: TcpStream,
    input: Vec<u8>,
    deprecate_eof: Option<bool>,
    out: Vec<u8>,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize| -> usize {
        let text = arguments.get(index).unwrap_or_else(|| panic!("argument {index} is missing"));
        text.parse().expect("a number")
    };
    let answers = if arguments.first().is_some_and(|first| first == "echo") {
        Answers::Echo { asked: number(1), answer: vec![b'x'; number(2)] }
    } else {
        let shape = Rows { columns: number(0), rows: 1, value: number(1), text: false };
        let rows = |deprecate_eof, text| {
            let mut out = Vec::new();
            wire::result_set(&mut 1, Rows { text, ..shape }, deprecate_eof, 2, &mut out);
            out
        };
        Answers::Rows {
            shape,
            with_eof: rows(false, false),
            without: rows(true, false),
            text: rows(false, true),
        }
    };
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    println!("{}", listener.local_addr().expect("bound").port());
    serve(&listener, &answers).expect("epoll");
}

fn serve(listener: &TcpListener, answers: &Answers) -> std::io::Result<()> {
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    epoll::add(&epoll, listener, EventData::new_u64(0), EventFlags::IN)?;
    let mut connections: HashMap<u64, Connection> = HashMap::new();
    let mut events = Vec::with_capacity(256);
    let mut buffer = vec![0; 65_536];
    loop {
        events.clear();
        epoll::wait(&epoll, rustix::buffer::spare_capacity(&mut events), None)?;
        for event in &events {
            let id = event.data.u64();
            if id == 0 {
                let connection = accept(listener, answers)?;
                let id = connection.stream.as_raw_fd() as u64;
                let flags = EventFlags::IN | EventFlags::RDHUP | EventFlags::ET;
                epoll::add(&epoll, &connection.stream, EventData::new_u64(id), flags)?;
                connections.insert(id, connection);
            } else if let Some(connection) = connections.get_mut(&id)
                && !connection.talk(answers, &mut buffer)
            {
                connections.remove(&id);
            }
        }
    }
}

fn accept(listener: &TcpListener, answers: &Answers) -> std::io::Result<Connection> {
    let (mut stream, _) = listener.accept()?;
    stream.set_nodelay(true)?;
    if matches!(answers, Answers::Rows { .. }) {
        stream.write_all(&wire::greeting(wire::CAPABILITIES))?;
    }
    stream.set_nonblocking(true)?;
    Ok(Connection { stream, input: Vec::new(), deprecate_eof: None, out: Vec::new() })
}

impl Connection {
    /// Answers what has arrived; returns whether the connection goes on.
    fn talk(&mut self, answers: &Answers, buffer: &mut [u8]) -> bool {
        loop {
            match self.stream.read(buffer) {
                Ok(0) => return false,
                Ok(read) => {
                    self.input.extend_from_slice(&buffer[..read]);
                    let goes_on = match answers {
                        Answers::Echo { asked, answer } => self.echo(*asked, answer),
                        rows @ Answers::Rows { .. } => self.commands(rows),
                    };
                    if !goes_on || self.stream.write_all(&self.out).is_err() {
                        return false;
                    }
                    self.out.clear();
                    if read < buffer.len() {
                        return true;
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return true,
                Err(_) => return false,
            }
        }
    }

    fn echo(&mut self, asked: usize, answer: &[u8]) -> bool {
        while self.input.len() >= asked {
            self.input.drain(..asked);
            self.out.extend_from_slice(answer);
        }
        true
    }

    fn commands(&mut self, answers: &Answers) -> bool {
        let Answers::Rows { shape, with_eof, without, text } = answers else {
            return false;
        };
        let mut at = 0;
        while let Some((payload, length)) = wire::whole(&self.input[at..]) {
            at += length;
            let Some(deprecate_eof) = self.deprecate_eof else {
                let flags = wire::client_capabilities(payload);
                self.deprecate_eof = Some(flags & wire::DEPRECATE_EOF != 0);
                wire::ok(&mut 2, 0, 2, &mut self.out);
                continue;
            };
            match payload.first() {
                Some(0x17) if deprecate_eof => self.out.extend_from_slice(without),
                Some(0x17) => self.out.extend_from_slice(with_eof),
                Some(0x16) => {
                    let columns = shape.columns as u16;
                    let binds = wire::binds(payload);
                    self.out.extend(wire::prepared(1, columns, binds, deprecate_eof));
                }
                Some(0x03) if !deprecate_eof && payload[1..].starts_with(b"SELECT c") => {
                    self.out.extend_from_slice(text);
                }
                Some(0x19) => {}
                Some(0x01) | None => return false,
                _ => wire::ok(&mut 1, 0, 2, &mut self.out),
            }
        }
        self.input.drain(..at);
        true
    }
}
