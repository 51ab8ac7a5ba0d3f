//! A very fast server of CQL's protocol, for measuring clients: it answers every execution with the
//! same row, from memory, without looking at what was bound.
//!
//! Usage: `canned_cql BYTES`; prints its port and serves until it is ended.

#[path = "../tests/support/cql_server.rs"]
mod cql_server;

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

use rustix::event::epoll::{self, EventData, EventFlags};

const BIGINT: u16 = 2;

fn main() {
    let bytes = std::env::args().nth(1).expect("BYTES is missing").parse().expect("a number");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    println!("{}", listener.local_addr().expect("bound").port());
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).expect("epoll");
    epoll::add(&epoll, &listener, EventData::new_u64(0), EventFlags::IN).expect("epoll");
    let mut connections: Vec<Option<(TcpStream, Vec<u8>)>> = Vec::new();
    let mut events = Vec::with_capacity(256);
    let (mut buffer, mut out) = (vec![0; 65_536], Vec::new());
    loop {
        events.clear();
        epoll::wait(&epoll, rustix::buffer::spare_capacity(&mut events), None).expect("epoll");
        for event in events.drain(..) {
            let Some(index) = (event.data.u64() as usize).checked_sub(1) else {
                let (stream, _) = listener.accept().expect("accepted");
                stream.set_nodelay(true).expect("nodelay");
                let name = EventData::new_u64(connections.len() as u64 + 1);
                epoll::add(&epoll, &stream, name, EventFlags::IN).expect("epoll");
                connections.push(Some((stream, Vec::new())));
                continue;
            };
            let Some((stream, input)) = &mut connections[index] else {
                continue;
            };
            match stream.read(&mut buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Ok(read @ 1..) => {
                    input.extend_from_slice(&buffer[..read]);
                    out.clear();
                    answer(input, bytes, &mut out);
                    stream.write_all(&out).unwrap_or_else(|_| connections[index] = None);
                }
                _ => connections[index] = None,
            }
        }
    }
}

/// Answers the whole requests of the input.
fn answer(input: &mut Vec<u8>, bytes: usize, out: &mut Vec<u8>) {
    let mut at = 0;
    while let Some((stream, opcode, body)) = cql_server::whole(&input[at..]) {
        at += 9 + body.len();
        out.extend(match opcode {
            0x01 => cql_server::frame(stream, cql_server::READY, &[]),
            0x09 => cql_server::prepared(stream, &[5; 16], &[BIGINT]),
            0x0a => cql_server::row(stream, bytes),
            _ => cql_server::void(stream),
        });
    }
    input.drain(..at);
}
