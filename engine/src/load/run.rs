//! A whole load: connect, wait for the barrier, send, report.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use super::clock::Clock;
use super::cluster::Cluster;
use super::pacing::SECOND;
use super::plan::Plan;
use super::record::{Recorder, Window};
use super::reopen::Reopener;
use super::seconds::Gatherer;
use super::summary::summarize;
use super::wire::Wire;
use super::worker::{Finished, Shared, Worker};
use crate::error::EngineError;
use crate::generators::program::Program;
use crate::report::{LoadReport, SecondReport};
use crate::session::connect::{Login, Opener, Session};
use crate::spec::Load;

/// Threads that open the first connections.
const OPENERS: usize = 16;
/// How often the caller is asked whether to go on.
const CHECK_EVERY: Duration = Duration::from_millis(50);

/// The caller, while the load runs.
pub trait Listener {
    /// Receives the seconds that are complete now, often none. Returning false cancels the load.
    fn seconds_passed(&mut self, seconds: &[SecondReport]) -> bool;
}

/// Runs a load over a family's wires, to its end, its cancellation or an error that keeps it from
/// starting.
pub fn run_over<W: Wire>(
    load: &Load,
    cancelled: &AtomicBool,
    listener: &mut dyn Listener,
) -> Result<LoadReport, EngineError> {
    W::check(load)?;
    let mut program = Program::new(&load.workload)?;
    program.one_by_one = load.statement_latencies;
    let opener = Opener::new(load.target.clone(), program.prepared.clone())?;
    let cluster = Arc::new(find_cluster::<W>(opener, cancelled, listener)?);
    let clock = Clock::start();
    let threads = u64::from(load.threads.min(load.connections));
    let plans: Vec<Plan<'_>> =
        (0..threads).map(|thread| Plan { load, program: &program, thread, threads }).collect();
    let wires: usize = plans.iter().map(Plan::wires::<W>).sum();
    let sessions = open_all(&cluster, wires * cluster.openers.len(), cancelled, listener)?;
    let times = Times::new(load, &clock);
    let shared = Shared {
        program: &program,
        clock,
        start: times.start,
        window: times.window,
        timeout_ns: load.timeout_ms.saturating_mul(1_000_000),
        poll_us: load.poll_us,
        statement_latencies: load.statement_latencies,
        cancelled,
    };
    let (finished, seconds) = send::<W>(&plans, &shared, &cluster, sessions, listener)?;
    Ok(summarize::<W>(load, &shared, &cluster, times.late_ns / 1_000_000, finished, seconds))
}

/// Finds the nodes of a target: asks the target if its protocol has clusters, else its own address is
/// the only node. The listener can cancel meanwhile.
fn find_cluster<W: Wire>(
    opener: Opener,
    cancelled: &AtomicBool,
    listener: &mut dyn Listener,
) -> Result<Cluster, EngineError> {
    if !W::ROUTES || opener.target.nodes.is_empty() {
        return Ok(Cluster::single(opener));
    }
    thread::scope(|scope| {
        let asking = [scope.spawn(|| W::cluster(opener))];
        attend(&asking, cancelled, listener);
        let [asking] = asking;
        asking.join().unwrap_or_else(|_| Err(EngineError::protocol("its ring cannot be read")))
    })
}

/// When a load starts, and its measured window; in nanoseconds of the load's clock.
struct Times {
    start: u64,
    window: Window,
    /// How long after the barrier it starts.
    late_ns: u64,
}

impl Times {
    /// Counts from the barrier (`start_at_epoch_ms`), or from now if there is none. A client that is late starts at once; its
    /// window begins when it starts, or later, and ends with that of all other clients.
    fn new(load: &Load, clock: &Clock) -> Self {
        let now = clock.now();
        let barrier = load.start_at_epoch_ms.map_or(now, |at| clock.at_epoch_ms(at));
        let late_ns = match load.start_at_epoch_ms {
            Some(at) => ((clock.epoch_ms(now) - at).max(0) as u64) * 1_000_000,
            None => 0,
        };
        let start = barrier.max(now);
        let seconds = |s: f64| (s * SECOND as f64) as i64;
        // where a punctual load would have started, which may be before the clock's zero
        let origin = start as i64 - late_ns as i64;
        let window_start = (origin + seconds(load.warmup_s)).max(start as i64) as u64;
        let window_end = origin + seconds(load.warmup_s) + seconds(load.duration_s);
        let window =
            Window { start: window_start, end: (window_end.max(0) as u64).max(window_start) };
        Times { start, window, late_ns }
    }
}

/// Opens all connections, several at a time; the first failure stops it. They are in the order of the
/// nodes: one to each, and again.
fn open_all<K: Login>(
    cluster: &Cluster,
    n: usize,
    cancelled: &AtomicBool,
    listener: &mut dyn Listener,
) -> Result<Vec<Session<K>>, EngineError> {
    let opened = Mutex::new((Vec::new(), None::<EngineError>));
    let left = Mutex::new(n);
    let lock = || opened.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let work = || {
        loop {
            let index = {
                let mut left = left.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                if *left == 0 || cancelled.load(Ordering::Relaxed) {
                    return;
                }
                *left -= 1;
                *left
            };
            if lock().1.is_some() {
                return;
            }
            match cluster.opener(index).open() {
                Ok(session) => lock().0.push((index, session)),
                Err(error) => {
                    lock().1.get_or_insert(error);
                }
            }
        }
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..OPENERS.min(n)).map(|_| scope.spawn(work)).collect();
        attend(&threads, cancelled, listener);
    });
    let (mut sessions, error) =
        opened.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    match error {
        Some(error) if n > 1 => {
            let message =
                format!("{} ({} of {n} connections were open)", error.message, sessions.len());
            Err(EngineError::new(error.code, message))
        }
        Some(error) => Err(error),
        None if sessions.len() < n => {
            Err(EngineError::new("cancelled", "cancelled before the start"))
        }
        None => {
            sessions.sort_unstable_by_key(|(index, _)| *index);
            Ok(sessions.into_iter().map(|(_, session)| session).collect())
        }
    }
}

/// Waits until threads have ended; the caller is asked meanwhile whether to go on.
fn attend<T>(
    threads: &[thread::ScopedJoinHandle<'_, T>],
    cancelled: &AtomicBool,
    listener: &mut dyn Listener,
) {
    while !threads.iter().all(thread::ScopedJoinHandle::is_finished) {
        if !listener.seconds_passed(&[]) {
            cancelled.store(true, Ordering::Relaxed);
        }
        thread::park_timeout(Duration::from_millis(2));
    }
}

/// Starts the threads, and passes their seconds on until they end.
fn send<W: Wire>(
    plans: &[Plan<'_>],
    shared: &Shared<'_>,
    cluster: &Arc<Cluster>,
    sessions: Vec<Session<W::Known>>,
    listener: &mut dyn Listener,
) -> Result<(Vec<Finished>, Vec<SecondReport>), EngineError> {
    let threads = plans.len();
    let (hand_overs, received) = channel();
    let mut sessions = sessions.into_iter();
    let mut workers = Vec::new();
    for (thread, plan) in plans.iter().enumerate() {
        let operations = shared.program.operations.len();
        let recorder =
            Recorder::new(operations, shared.start, shared.window, thread, hand_overs.clone());
        let nodes = cluster.openers.len();
        let own = sessions.by_ref().take(nodes * plan.wires::<W>()).collect();
        let lines = (plan.lines::<W>(own, nodes), cluster.router());
        let reopener = Reopener::new(cluster.clone())?;
        let (lanes, open_loop) = (plan.lanes()?, plan.open_loop());
        workers.push(Worker::new(shared, lanes, lines, open_loop, recorder, reopener)?);
    }
    drop(hand_overs);
    let names = shared.program.operations.iter().map(|operation| operation.name.clone()).collect();
    let mut gatherer = Gatherer::new(names, threads);
    let mut seconds = Vec::new();
    thread::scope(|scope| {
        let running: Vec<_> =
            workers.into_iter().map(|worker| scope.spawn(move || worker.run())).collect();
        loop {
            let complete = match received.recv_timeout(CHECK_EVERY) {
                Ok(hand_over) => gatherer.take(hand_over),
                Err(RecvTimeoutError::Timeout) => Vec::new(),
                Err(RecvTimeoutError::Disconnected) => break,
            };
            if !listener.seconds_passed(&complete) {
                shared.cancelled.store(true, Ordering::Relaxed);
            }
            seconds.extend(complete);
        }
        let finished: Result<Vec<Finished>, _> =
            running.into_iter().map(|thread| thread.join()).collect();
        finished.map_err(|_| {
            EngineError::new("internal", "a sending thread panicked: a defect of the engine")
        })
    })
    .map(|finished| (finished, seconds))
}
