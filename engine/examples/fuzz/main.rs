//! `make fuzz`: broken answers of a server, for a minute, against everything that reads them.
//!
//! Most rounds feed the parsers of answers, MySQL's and CQL's in turn; the others play a whole
//! server, from its greeting on, to a client that connects. Each round is made from a seed: a round that panics, or
//! that holds more memory than it may, prints its seed and ends the run with exit code 1.
//! Usage: `fuzz [SECONDS] [SEED OF A SINGLE ROUND]`.

#[path = "../../tests/support/answers.rs"]
mod answers;
mod cql;
#[path = "../../tests/support/cql_server.rs"]
mod cql_server;
mod mysql;
#[path = "../../tests/support/wire.rs"]
mod wire;

use std::alloc::{GlobalAlloc, Layout, System};
use std::net::{TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use plimsoll_engine::family::run;
use plimsoll_engine::load::run::Listener;
use plimsoll_engine::report::SecondReport;
use plimsoll_engine::spec::Load;

/// What reading one answer may hold, however long it is.
const MOST_HELD: usize = 64 * 1024;

/// The system's allocator, with a count of what is held.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: every call goes to the system's allocator unchanged; only counts are added
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(held, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let seconds = arguments.next().map_or(60, |text| text.parse().expect("SECONDS"));
    let single: Option<u64> = arguments.next().map(|text| text.parse().expect("SEED"));
    let clock = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
    let first = single.unwrap_or(clock.as_nanos() as u64);
    println!("rounds from seed {first}");
    let servers = [serve(mysql::talk), serve(cql::talk)];
    let end = Instant::now() + Duration::from_secs(seconds);
    let (mut parsed, mut played) = (0_u64, 0_u64);
    for seed in first.. {
        let family = seed as usize % 2;
        if seed % 2_000 < 2 {
            check(seed, || play(seed, ["mysql", "cql"][family], &servers[family]));
            played += 1;
        } else {
            check(seed, || [mysql::parse, cql::parse][family](seed));
            parsed += 1;
        }
        if single.is_some() || Instant::now() >= end {
            break;
        }
    }
    println!("{parsed} answers read and {played} servers played: no panic, memory bounded");
}

fn check(seed: u64, round: impl FnOnce()) {
    if catch_unwind(AssertUnwindSafe(round)).is_err() {
        eprintln!("seed {seed} fails; repeat it with: fuzz 1 {seed}");
        std::process::exit(1);
    }
}

/// Reads an answer, and looks at how much was held meanwhile.
fn bounded(read: impl FnOnce()) {
    let before = HELD.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    read();
    let held = MOST.load(Ordering::Relaxed).saturating_sub(before);
    assert!(held <= MOST_HELD, "{held} bytes were held");
}

/// A server that answers connection after connection with what it is told.
struct Server {
    port: u16,
    scripts: Sender<u64>,
}

fn serve(talk: fn(TcpStream, u64, u64)) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("bound").port();
    let (scripts, told) = channel();
    thread::spawn(move || {
        let mut seed = 0;
        for (connection, stream) in listener.incoming().enumerate() {
            while let Ok(newer) = told.try_recv() {
                seed = newer;
            }
            if let Ok(stream) = stream {
                thread::spawn(move || talk(stream, seed, connection as u64));
            }
        }
    });
    Server { port, scripts }
}

struct Deaf;

impl Listener for Deaf {
    fn hear(&mut self, _seconds: &[SecondReport]) -> bool {
        true
    }
}

/// A short load against a server that talks nonsense: it must end, whatever it hears.
fn play(seed: u64, protocol: &str, server: &Server) {
    server.scripts.send(seed).expect("the server lives");
    let load = Load::from_json(&format!(
        r#"{{"target": {{"protocol": "{protocol}", "host": "127.0.0.1", "port": {}, "user": "u",
            "password": "p", "database": "d"}}, "connections": 2, "duration_s": 0.2,
            "timeout_ms": 100, "workload": {{"key_spaces": [{{"name": "k", "records": 10}}],
            "operations": [{{"name": "read", "weight": 1, "statements": [{{"sql": ["SELECT ?"],
            "binds": [{{"kind": "key", "key_space": "k"}}]}}]}}]}}}}"#,
        server.port
    ));
    let started = Instant::now();
    let _ = run(&load.expect("a sound load"), &AtomicBool::new(false), &mut Deaf);
    assert!(started.elapsed() < Duration::from_secs(30), "the load hung");
}
