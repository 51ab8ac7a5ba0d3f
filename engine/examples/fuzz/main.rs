//! `make fuzz`: broken answers of a server, for a minute, against everything that reads them.
//!
//! Most rounds feed the parsers of answers, one family's after the other; the others play a whole
//! server, from its greeting on, to a client that connects. Each round is made from a seed: a round
//! that panics, or that holds more memory than it may, prints its seed and ends the run with exit
//! code 1. Usage: `fuzz [SECONDS] [SEED OF A SINGLE ROUND]`.

mod cql;
mod mysql;
mod postgres;
#[path = "../../tests/support/mod.rs"]
mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

use plimsoll_engine::generators::rng::Rng;
use serde_json::{Value, json};

use support::serving::{Conversation, Listening};
use support::{answers, loads};

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
    let end = Instant::now() + Duration::from_secs(seconds);
    let (mut parsed, mut played, mut operations) = (0_u64, 0_u64, 0_u64);
    for seed in first.. {
        let family = seed as usize % 3;
        if seed % 3_000 < 3 {
            operations += check(seed, || [play_mysql, play_cql, play_postgres][family](seed));
            played += 1;
        } else {
            check(seed, || [mysql::parse, cql::parse, postgres::parse][family](seed));
            parsed += 1;
        }
        if single.is_some() || Instant::now() >= end {
            break;
        }
    }
    println!(
        "{parsed} answers read, {played} servers played to {operations} operations: no panic, \
         memory bounded"
    );
}

fn check<T>(seed: u64, round: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(round)).unwrap_or_else(|_| {
        eprintln!("seed {seed} fails; repeat it with: fuzz 1 {seed}");
        std::process::exit(1)
    })
}

/// Reads an answer, and looks at how much was held meanwhile.
fn bounded(read: impl FnOnce()) {
    let before = HELD.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    read();
    let held = MOST.load(Ordering::Relaxed).saturating_sub(before);
    assert!(held <= MOST_HELD, "{held} bytes were held");
}

/// A server's answers, damaged from a step on that the seed chooses.
struct Damaged<C> {
    conversation: C,
    rng: Rng,
    /// Steps until the first damage.
    sound: u64,
}

impl<C: Conversation> Damaged<C> {
    fn new(mut rng: Rng, conversation: C) -> Self {
        Damaged { conversation, sound: rng.below(8), rng }
    }

    /// Damages what one step says, where it is time to.
    fn pass(&mut self, bytes: &mut Vec<u8>) {
        match self.sound.checked_sub(1) {
            Some(left) => self.sound = left,
            None => answers::damage(&mut self.rng, bytes),
        }
    }
}

impl<C: Conversation> Conversation for Damaged<C> {
    fn greeting(&mut self) -> Vec<u8> {
        let mut bytes = self.conversation.greeting();
        if !bytes.is_empty() {
            self.pass(&mut bytes);
        }
        bytes
    }

    fn answer(&mut self, input: &[u8], out: &mut Vec<u8>) -> Option<usize> {
        let length = self.conversation.answer(input, out)?;
        self.pass(out);
        (self.rng.below(40) > 0).then_some(length)
    }

    fn patience(&self) -> Option<Duration> {
        Some(Duration::from_millis(200))
    }
}

/// A stream of random numbers for one of the two that play a connection of this round.
fn stream(seed: u64, part: u64, connection: usize) -> Rng {
    Rng::for_stream(seed, &[part, connection as u64])
}

fn play_mysql(seed: u64) -> u64 {
    play(loads::mysql, move |n| {
        Damaged::new(stream(seed, 0, n), mysql::talk(stream(seed, 1, n), n))
    })
}

fn play_cql(seed: u64) -> u64 {
    play(loads::cql, move |n| Damaged::new(stream(seed, 0, n), cql::talk(stream(seed, 1, n), n)))
}

fn play_postgres(seed: u64) -> u64 {
    let load = [loads::postgres, loads::simple_postgres][seed as usize / 3 % 2];
    play(load, move |n| Damaged::new(stream(seed, 0, n), postgres::talk(stream(seed, 1, n), n)))
}

/// A short load against a server that talks nonsense: it must end, whatever it hears.
/// Returns how many operations it sent: none where it could not connect.
fn play<C: Conversation + Send + 'static>(
    load: fn(u16) -> Value,
    converse: impl FnMut(usize) -> C + Send + 'static,
) -> u64 {
    let server = Listening::start(converse);
    let started = Instant::now();
    let report = loads::run(load(server.port), &json!({"duration_s": 0.2, "timeout_ms": 100}));
    assert!(started.elapsed() < Duration::from_secs(30), "the load hung");
    report.map_or(0, |report| report.operations_sent)
}
