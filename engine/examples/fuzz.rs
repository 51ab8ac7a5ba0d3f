//! `make fuzz`: broken answers of a server, for a minute, against everything that reads them.
//!
//! Half of the rounds feed the parser of answers; the others play a whole server, from its
//! greeting on, to a client that connects. Each round is made from a seed: a round that panics, or
//! that holds more memory than it may, prints its seed and ends the run with exit code 1.
//! Usage: `fuzz [SECONDS] [SEED OF A SINGLE ROUND]`.

#[path = "../tests/support/answers.rs"]
mod answers;
#[path = "../tests/support/wire.rs"]
mod wire;

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use plimsoll_engine::generators::rng::Rng;
use plimsoll_engine::load::run::{Listener, run};
use plimsoll_engine::protocol::answer::Answer;
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
    let server = serve();
    let end = Instant::now() + Duration::from_secs(seconds);
    let (mut parsed, mut played) = (0_u64, 0_u64);
    for seed in first.. {
        if seed.is_multiple_of(2_000) {
            check(seed, || play(seed, &server));
            played += 1;
        } else {
            check(seed, || parse(seed));
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

/// Feeds a damaged answer, and damaged ones after it, to one parser.
fn parse(seed: u64) {
    let mut rng = Rng::for_stream(seed, &[]);
    let mut answer = Answer::new(rng.below(2) == 0);
    for _ in 0..4 {
        let (mut bytes, _) = answers::draw(&mut rng, seed.is_multiple_of(2));
        answers::damage(&mut rng, &mut bytes);
        let pieces = answers::pieces(&mut rng, &bytes);
        let before = HELD.load(Ordering::Relaxed);
        MOST.store(before, Ordering::Relaxed);
        for piece in pieces {
            if !matches!(answer.feed(piece), Ok(None)) {
                break;
            }
        }
        let held = MOST.load(Ordering::Relaxed).saturating_sub(before);
        assert!(held <= MOST_HELD, "{held} bytes were held");
        answer.reset();
    }
}

/// A server that answers connection after connection with what it is told.
struct Server {
    port: u16,
    scripts: Sender<u64>,
}

fn serve() -> Server {
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

/// Plays a server's part, with damage from a place on that the seed chooses.
fn talk(mut stream: TcpStream, seed: u64, connection: u64) {
    let mut rng = Rng::for_stream(seed, &[connection]);
    let sound = rng.below(8);
    let mut bytes = wire::greeting(wire::CAPABILITIES);
    let mut buffer = vec![0; 65_536];
    for step in 0.. {
        if step >= sound {
            answers::damage(&mut rng, &mut bytes);
        }
        if stream.write_all(&bytes).is_err() || rng.below(40) == 0 {
            return;
        }
        let _ = stream.set_read_timeout(Some(Duration::from_millis(200)));
        if !matches!(stream.read(&mut buffer), Ok(1..)) {
            return;
        }
        let mut sequence = if step == 0 { 2 } else { 1 };
        bytes = Vec::new();
        match step {
            0 if rng.below(3) == 0 => {
                let plugin = ["caching_sha2_password", "client_ed25519", "sha256_password", "odd"];
                let mut switch = vec![0xfe];
                switch.extend_from_slice(plugin[rng.below(4) as usize].as_bytes());
                switch.push(0);
                switch.extend_from_slice(&b"abcdefghijklmnopqrst\0"[..rng.below(22) as usize]);
                wire::packet(&mut sequence, &switch, &mut bytes);
            }
            0 => wire::ok(&mut sequence, 0, 2, &mut bytes),
            1 => bytes = wire::prepared(1, 1, 1, true),
            _ => (bytes, _) = answers::draw(&mut rng, true),
        }
    }
}

struct Deaf;

impl Listener for Deaf {
    fn hear(&mut self, _seconds: &[SecondReport]) -> bool {
        true
    }
}

/// A short load against a server that talks nonsense: it must end, whatever it hears.
fn play(seed: u64, server: &Server) {
    server.scripts.send(seed).expect("the server lives");
    let load = Load::from_json(&format!(
        r#"{{"target": {{"protocol": "mysql", "host": "127.0.0.1", "port": {}, "user": "u",
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
