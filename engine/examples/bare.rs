//! The least that a client can cost against a real MySQL server: it logs in as the engine does,
//! then sends one and the same execution on each connection, again and again, on one epoll. It
//! draws no key, reads no answer beyond its length, takes no time and records nothing.
//!
//! Reads a `LoadSpec` of one statement with one integer from standard input, as the engine does;
//! of it, the target, the statement, `connections` and `duration_s` count. Prints how many times
//! it was answered.

use std::io::{ErrorKind, Read as _, Write as _};
use std::time::{Duration, Instant};

use plimsoll_engine::generators::program::Program;
use plimsoll_engine::mysql::login::Known;
use plimsoll_engine::session::connect::{Opener, Session};
use plimsoll_engine::spec::Load;
use rustix::event::epoll::{self, EventData, EventFlags};

const KEY: i64 = 1;
/// An answer is over once nothing has come for so long: this is how its length is learned.
const QUIET: Duration = Duration::from_millis(200);

fn main() {
    let spec = std::io::read_to_string(std::io::stdin()).expect("a spec");
    let load: Load = serde_json::from_str(&spec).expect("a LoadSpec");
    println!("{}", run(&load).expect("a server that answers"));
}

/// COM_STMT_EXECUTE with one LONGLONG. Only the first execution has the type.
fn execution(id: u32, with_type: bool) -> Vec<u8> {
    let mut payload = vec![0x17];
    payload.extend(id.to_le_bytes());
    payload.extend([0, 1, 0, 0, 0, 0, u8::from(with_type)]);
    if with_type {
        payload.extend([8, 0]);
    }
    payload.extend(KEY.to_le_bytes());
    let mut packet = vec![payload.len() as u8, 0, 0, 0];
    packet.extend(payload);
    packet
}

fn run(load: &Load) -> std::io::Result<u64> {
    let program = Program::new(&load.workload).expect("a workload");
    let opener = Opener::new(load.target.clone(), program.prepared).expect("a target");
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let mut streams = Vec::new();
    let mut buffer = vec![0; 65_536];
    let mut answered = 0;
    for index in 0..load.connections {
        let session: Session<Known> = opener.open().expect("a session");
        let id = session.known.statement_ids[0];
        let mut stream = session.link.stream;
        stream.write_all(&execution(id, true))?;
        if answered == 0 {
            stream.set_read_timeout(Some(QUIET))?;
            while let Ok(read) = stream.read(&mut buffer) {
                answered += read;
            }
        } else {
            stream.set_read_timeout(None)?;
            stream.read_exact(&mut buffer[..answered])?;
        }
        stream.set_nonblocking(true)?;
        let flags = EventFlags::IN | EventFlags::ET;
        epoll::add(&epoll, &stream, EventData::new_u64(u64::from(index)), flags)?;
        let question = execution(id, false);
        streams.push((stream, question, 0));
    }
    for (stream, question, _) in &mut streams {
        stream.write_all(question)?;
    }
    let mut events = Vec::with_capacity(256);
    let mut count = 0;
    let end = Instant::now() + Duration::from_secs_f64(load.duration_s);
    while Instant::now() < end {
        events.clear();
        epoll::wait(&epoll, rustix::buffer::spare_capacity(&mut events), None)?;
        for event in &events {
            let (stream, question, got) = &mut streams[event.data.u64() as usize];
            match stream.read(&mut buffer) {
                Ok(read) => *got += read,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
            if *got >= answered {
                *got = 0;
                count += 1;
                stream.write_all(question)?;
            }
        }
    }
    Ok(count)
}
