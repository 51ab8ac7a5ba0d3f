//! Records what happens: histograms and counts by operation, of the window and of each second.

use std::collections::BTreeMap;
use std::sync::mpsc::Sender;

use super::pacing::SECOND;
use super::wire::Met;
use crate::error::Failure;
use crate::histogram::{self, Histogram};
use crate::report::{Errors, add_errors, count_error};

/// The measured window, in nanoseconds of the load's clock.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    pub start: u64,
    pub end: u64,
}

impl Window {
    pub fn contains(&self, at: u64) -> bool {
        (self.start..self.end).contains(&at)
    }

    /// The same window in times after `start`, which is before it.
    pub fn after(&self, start: u64) -> Self {
        Window { start: self.start - start, end: self.end - start }
    }
}

/// One operation's results in the window.
#[derive(Debug, Clone)]
pub struct Tally {
    pub succeeded: u64,
    /// The rows that its successful operations returned, matched or inserted.
    pub met: Met,
    /// Successes that rolled back on purpose.
    pub rolled_back: u64,
    /// Tries that were repeated, by the server's code of what undid them.
    pub retries: Errors,
    pub errors: Errors,
    pub latency: Histogram,
    /// The latencies of its statements, of BEGIN and of COMMIT; empty if they are not recorded.
    pub statements: Vec<Histogram>,
}

impl Tally {
    pub fn empty() -> Self {
        Tally {
            succeeded: 0,
            met: Met::NONE,
            rolled_back: 0,
            retries: Errors::new(),
            errors: Errors::new(),
            latency: histogram::new(),
            statements: Vec::new(),
        }
    }

    pub fn add(&mut self, other: &Tally) {
        self.succeeded += other.succeeded;
        self.met.add(other.met);
        self.rolled_back += other.rolled_back;
        add_errors(&mut self.retries, &other.retries);
        add_errors(&mut self.errors, &other.errors);
        self.latency.add(&other.latency).expect("both have the same bounds");
        self.statements
            .resize_with(other.statements.len().max(self.statements.len()), histogram::new);
        for (sum, one) in self.statements.iter_mut().zip(&other.statements) {
            sum.add(one).expect("both have the same bounds");
        }
    }
}

/// One operation's results in one second.
#[derive(Debug)]
pub struct Second {
    pub second: u64,
    pub operation: usize,
    pub succeeded: u64,
    pub errors: u64,
    pub latency: Histogram,
}

/// The seconds that one thread hands over while it runs. All its seconds before `until` have then been
/// handed over.
#[derive(Debug)]
pub struct HandOver {
    pub thread: usize,
    pub until: u64,
    pub seconds: Vec<Second>,
}

/// How many successes are entered in the histograms at a time. Entered singly, each after a wait in
/// which others used the processor's caches, most of their time would go into fetching code and
/// counts from memory.
const TOGETHER: usize = 128;

/// A success that is not in the histograms yet.
#[derive(Debug, Clone, Copy)]
struct Success {
    operation: u32,
    /// Whether it ended in the measured window.
    measured: bool,
    met: Met,
    latency_ns: u64,
}

/// Records what one thread sees.
pub struct Recorder {
    start: u64,
    window: Window,
    pub tallies: Vec<Tally>,
    current: Vec<Option<Second>>,
    /// Successes not entered yet; all are of the current second.
    successes: Vec<Success>,
    /// The second of `current`, counted from the load's start.
    second: u64,
    /// When that second ends.
    second_ends: u64,
    thread: usize,
    /// None after the end: the receiver waits until every sender is gone.
    hand_overs: Option<Sender<HandOver>>,
    pub examples: BTreeMap<String, String>,
    /// Operations that succeeded or failed in the window.
    pub ended: u64,
}

impl Recorder {
    pub fn new(
        operations: usize,
        start: u64,
        window: Window,
        thread: usize,
        hand_overs: Sender<HandOver>,
    ) -> Self {
        Recorder {
            start,
            window,
            tallies: vec![Tally::empty(); operations],
            current: (0..operations).map(|_| None).collect(),
            successes: Vec::with_capacity(TOGETHER),
            second: 0,
            second_ends: start + SECOND,
            thread,
            hand_overs: Some(hand_overs),
            examples: BTreeMap::new(),
            ended: 0,
        }
    }

    /// When [`Recorder::advance`] has to be called next.
    pub fn second_ends(&self) -> u64 {
        self.second_ends
    }

    /// Records an operation that succeeded at a time, and the rows that its statements met.
    pub fn success(&mut self, operation: usize, met: Met, latency_ns: u64, at: u64) {
        self.advance(at);
        let (operation, measured) = (operation as u32, self.window.contains(at));
        self.successes.push(Success { operation, measured, met, latency_ns });
        if self.successes.len() == TOGETHER {
            self.enter();
        }
    }

    /// Enters the successes in the histograms.
    #[inline(never)]
    fn enter(&mut self) {
        let mut successes = std::mem::take(&mut self.successes);
        for Success { operation, measured, met, latency_ns } in successes.drain(..) {
            let operation = operation as usize;
            if measured {
                let tally = &mut self.tallies[operation];
                tally.succeeded += 1;
                tally.met.add(met);
                tally.rolled_back += u64::from(met.rolled_back);
                histogram::record_ns(&mut tally.latency, latency_ns);
                self.ended += 1;
            }
            let second = self.second_of(operation);
            second.succeeded += 1;
            histogram::record_ns(&mut second.latency, latency_ns);
        }
        self.successes = successes;
    }

    /// Records an operation that failed at a time. `latency_ns`: the full length, for a time-out.
    #[cold]
    pub fn failure(
        &mut self,
        operation: usize,
        failure: &Failure,
        latency_ns: Option<u64>,
        at: u64,
    ) {
        self.example(&failure.code, &failure.message);
        self.advance(at);
        if self.window.contains(at) {
            let tally = &mut self.tallies[operation];
            count_error(&mut tally.errors, &failure.code);
            if let Some(ns) = latency_ns {
                histogram::record_ns(&mut tally.latency, ns);
            }
            self.ended += 1;
        }
        let second = self.second_of(operation);
        second.errors += 1;
        if let Some(ns) = latency_ns {
            histogram::record_ns(&mut second.latency, ns);
        }
    }

    /// Records how long a statement took.
    #[cold]
    pub fn statement(&mut self, operation: usize, statement: usize, latency_ns: u64, at: u64) {
        if self.window.contains(at) {
            let statements = &mut self.tallies[operation].statements;
            statements.resize_with(statements.len().max(statement + 1), histogram::new);
            histogram::record_ns(&mut statements[statement], latency_ns);
        }
    }

    /// Counts a try of an operation that is tried again.
    #[cold]
    pub fn retry(&mut self, operation: usize, failure: &Failure, at: u64) {
        self.example(&failure.code, &failure.message);
        if self.window.contains(at) {
            count_error(&mut self.tallies[operation].retries, &failure.code);
        }
    }

    /// Keeps the first message of each code.
    pub fn example(&mut self, code: &str, message: &str) {
        if !self.examples.contains_key(code) && self.examples.len() < 1_000 {
            self.examples.insert(code.to_owned(), message.to_owned());
        }
    }

    /// Hands over the seconds that are past.
    pub fn advance(&mut self, now: u64) {
        if now >= self.second_ends {
            self.next_second(now);
        }
    }

    #[cold]
    fn next_second(&mut self, now: u64) {
        self.enter();
        self.second = (now - self.start) / SECOND;
        self.second_ends = self.start + (self.second + 1) * SECOND;
        self.hand_over(self.second);
    }

    /// Hands over everything: nothing more comes. All seconds until `end` are handed over, also those
    /// in which nothing was answered.
    pub fn finish(&mut self, end: u64) {
        self.enter();
        self.hand_over(end.saturating_sub(self.start).div_ceil(SECOND).max(self.second));
        self.hand_over(u64::MAX);
        self.hand_overs = None;
    }

    fn hand_over(&mut self, until: u64) {
        let seconds = self.current.iter_mut().filter_map(Option::take).collect();
        // it fails only where the receiver is gone, because the load was given up
        if let Some(hand_overs) = &self.hand_overs {
            let _ = hand_overs.send(HandOver { thread: self.thread, until, seconds });
        }
    }

    fn second_of(&mut self, operation: usize) -> &mut Second {
        let second = self.second;
        self.current[operation].get_or_insert_with(|| Second {
            second,
            operation,
            succeeded: 0,
            errors: 0,
            latency: histogram::new(),
        })
    }
}
