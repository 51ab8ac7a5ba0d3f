//! The least that a client can cost: it sends so many bytes on each connection, takes so many in
//! answer, and sends again, on one epoll, without making or reading anything.
//!
//! Usage: `echo PORT CONNECTIONS BYTES_ASKED BYTES_ANSWERED SECONDS`, against `canned echo`.
//! Prints how many times it was answered.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rustix::event::epoll::{self, EventData, EventFlags};

fn main() {
    let numbers: Vec<usize> =
        std::env::args().skip(1).map(|text| text.parse().expect("a number")).collect();
    let [port, connections, asked, answered, seconds] = numbers[..] else {
        panic!("usage: echo PORT CONNECTIONS BYTES_ASKED BYTES_ANSWERED SECONDS");
    };
    println!("{}", run(port as u16, connections, asked, answered, seconds as u64).expect("epoll"));
}

fn run(
    port: u16,
    connections: usize,
    asked: usize,
    answered: usize,
    seconds: u64,
) -> std::io::Result<u64> {
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let question = vec![b'x'; asked];
    let mut streams = Vec::new();
    for index in 0..connections {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        let flags = EventFlags::IN | EventFlags::ET;
        epoll::add(&epoll, &stream, EventData::new_u64(index as u64), flags)?;
        stream.write_all(&question)?;
        streams.push((stream, 0));
    }
    let mut events = Vec::with_capacity(256);
    let mut buffer = vec![0; 65_536];
    let mut count = 0;
    let end = Instant::now() + Duration::from_secs(seconds);
    while Instant::now() < end {
        events.clear();
        epoll::wait(&epoll, rustix::buffer::spare_capacity(&mut events), None)?;
        for event in &events {
            let (stream, got) = &mut streams[event.data.u64() as usize];
            match stream.read(&mut buffer) {
                Ok(read) => *got += read,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
            if *got >= answered {
                *got = 0;
                count += 1;
                stream.write_all(&question)?;
            }
        }
    }
    Ok(count)
}
