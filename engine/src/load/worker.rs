//! One thread of a load: its connections on one epoll, in a closed or an open loop.

use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::Timespec;
use rustix::event::epoll::{self, EventData, EventFlags};

use super::clock::{Clock, Cpu};
use super::connection::{Connection, Progress, State};
use super::operation::{Failure, Sent};
use super::pacing::{Margin, SECOND, Schedule};
use super::record::{Recorder, Window, count};
use super::reopen::Reopener;
use crate::error::EngineError;
use crate::generators::program::Program;
use crate::generators::rng::Rng;
use crate::generators::values::Scope;
use crate::histogram::{self, Histogram};
use crate::report::ConnectionReport;

const EVENTS: usize = 256;
const BUFFER: usize = 64 * 1024;
/// The name of the reopener's bell among the epoll's events.
const BELL: u64 = u64::MAX;
/// A wait that returns sooner did not wait: it found events that were there already.
const NO_WAIT_NS: u64 = 3_000;
/// How long the answers to what is under way are awaited after the end.
const DRAIN_NS: u64 = 2 * SECOND;
const FIRST_BACK_OFF_NS: u64 = 10_000_000;
const LONGEST_BACK_OFF_NS: u64 = SECOND;

/// The pacing of an open loop, and what it shows.
pub struct OpenLoop {
    pub schedule: Schedule,
    /// Runs ahead of `schedule`: what is due by now, sent or not.
    front: Schedule,
    margin: Margin,
    limit: u64,
    /// Operations due before the window.
    due_before_window: Option<u64>,
    pub lateness: Histogram,
    pub backlog_max: u64,
}

impl OpenLoop {
    /// `limit`: how many operations fall due at all.
    pub fn new(schedule: Schedule, interval_ns: f64, limit: u64) -> Self {
        OpenLoop {
            front: schedule.clone(),
            schedule,
            margin: Margin::new(interval_ns),
            limit,
            due_before_window: None,
            lateness: histogram::new(),
            backlog_max: 0,
        }
    }

    /// When the next operation that has not been sent is due, after the start.
    fn due(&self) -> Option<u64> {
        (self.schedule.index() < self.limit).then(|| self.schedule.due())
    }

    /// Counts what is due by `at` (after the start) and not sent.
    fn backlog(&mut self, at: u64) -> u64 {
        while self.front.index() < self.limit && self.front.due() <= at {
            self.front.advance();
        }
        self.front.index().saturating_sub(self.schedule.index())
    }
}

/// What all threads of a load share.
pub struct Shared<'a> {
    pub program: &'a Program,
    pub clock: Clock,
    pub start: u64,
    pub window: Window,
    pub timeout_ns: u64,
    pub cancelled: &'a AtomicBool,
}

/// What a thread answers.
pub struct Finished {
    pub recorder: Recorder,
    pub connections: ConnectionReport,
    pub sent: Sent,
    pub cpu: Cpu,
    pub waited_ns: u64,
    pub open_loop: Option<OpenLoop>,
    pub backlog_end: u64,
    pub unsent: u64,
    pub unanswered: u64,
    pub oldest_unanswered_ns: Option<u64>,
    /// When the window ended, and whether all operations were done by then.
    pub end: u64,
    pub all_done: bool,
}

pub struct Worker<'a> {
    pub shared: &'a Shared<'a>,
    pub connections: Vec<Connection>,
    pub scopes: Vec<Scope>,
    pub open_loop: Option<OpenLoop>,
    pub recorder: Recorder,
    pub reopener: Reopener,
    pub report: ConnectionReport,
    epoll: OwnedFd,
    /// What the last poll found: whose, and what.
    events: Vec<(u64, EventFlags)>,
    buffer: Vec<u8>,
    idle: VecDeque<usize>,
    busy: usize,
    next_scan: u64,
    scan_every: u64,
    jitter: Rng,
    cpu_at_start: Option<Cpu>,
    waited_ns: u64,
    sent: Sent,
    last_answer: u64,
    ending: bool,
}

impl<'a> Worker<'a> {
    pub fn new(
        shared: &'a Shared<'a>,
        connections: Vec<Connection>,
        scopes: Vec<Scope>,
        open_loop: Option<OpenLoop>,
        recorder: Recorder,
        reopener: Reopener,
    ) -> Result<Self, EngineError> {
        let system = |error| EngineError::new("system", format!("epoll: {error}"));
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(system)?;
        epoll::add(&epoll, reopener.bell(), EventData::new_u64(BELL), EventFlags::IN)
            .map_err(system)?;
        let mut worker = Worker {
            shared,
            connections,
            scopes,
            open_loop,
            recorder,
            reopener,
            report: ConnectionReport::default(),
            epoll,
            events: Vec::with_capacity(EVENTS),
            buffer: vec![0; BUFFER],
            idle: VecDeque::new(),
            busy: 0,
            next_scan: 0,
            scan_every: (shared.timeout_ns / 50).clamp(1_000_000, 50_000_000),
            jitter: Rng::for_stream(shared.clock.now(), &[]),
            cpu_at_start: None,
            waited_ns: 0,
            sent: Sent::default(),
            last_answer: 0,
            ending: false,
        };
        for index in 0..worker.connections.len() {
            worker.watch(index)?;
            worker.report.opened += 1;
            worker.rest(index);
        }
        Ok(worker)
    }

    /// Runs the load to its end.
    pub fn run(mut self) -> Finished {
        // a timer may otherwise fire up to 50 us late; a kernel that refuses only costs precision
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let mut started = false;
        loop {
            let now = self.shared.clock.now();
            if self.cpu_at_start.is_none() && now >= self.shared.window.start {
                self.cpu_at_start = Some(Cpu::now());
                let start = self.shared.window.start - self.shared.start;
                if let Some(open) = &mut self.open_loop {
                    open.backlog(start);
                    open.due_before_window = Some(open.front.index());
                }
            }
            if now >= self.shared.window.end || self.shared.cancelled.load(Ordering::Relaxed) {
                return self.finish(now, false);
            }
            if now >= self.next_scan {
                self.scan(now);
            }
            if now >= self.shared.start {
                self.recorder.turn(now);
                if !started {
                    started = true;
                    self.start_all();
                }
                self.send_due(now);
                if self.all_done() {
                    let end = self.last_answer + 1;
                    return self.finish(end, true);
                }
            }
            self.wait(now);
            self.handle_events();
        }
    }

    fn all_done(&self) -> bool {
        if self.busy > 0 {
            return false;
        }
        match &self.open_loop {
            Some(open) => open.schedule.index() >= open.limit,
            None => self.connections.iter().all(|connection| connection.remaining == 0),
        }
    }

    /// The closed loop's first operations.
    fn start_all(&mut self) {
        if self.open_loop.is_none() {
            for index in 0..self.connections.len() {
                self.start_next(index);
            }
        }
    }

    /// Closed loop: the next operation of a connection, if it may have one.
    fn start_next(&mut self, index: usize) {
        let connection = &self.connections[index];
        if connection.state == State::Idle && connection.remaining > 0 && !self.ending {
            self.begin(index, None);
        }
    }

    /// Open loop: sends what is due, as long as connections are idle.
    fn send_due(&mut self, mut now: u64) {
        let start = self.shared.start;
        if now < start || self.ending {
            return;
        }
        let Some(open) = &mut self.open_loop else {
            return;
        };
        let backlog = open.backlog(now - start);
        if backlog == 0 {
            return;
        }
        while let Some(due) = self.open_loop.as_ref().and_then(OpenLoop::due) {
            if start + due > now {
                break;
            }
            let Some(index) = self.take_idle() else {
                break;
            };
            if let Some(open) = &mut self.open_loop {
                open.schedule.advance();
            }
            self.begin(index, Some(start + due));
            now = self.shared.clock.now();
        }
        if let Some(open) = &mut self.open_loop {
            let backlog = open.backlog(now - start);
            if self.shared.window.contains(now) {
                open.backlog_max = open.backlog_max.max(backlog);
            }
        }
    }

    /// The connection that has been idle for the longest.
    fn take_idle(&mut self) -> Option<usize> {
        while let Some(index) = self.idle.pop_front() {
            self.connections[index].queued = false;
            if self.connections[index].state == State::Idle {
                return Some(index);
            }
        }
        None
    }

    /// A connection has nothing to do now.
    fn rest(&mut self, index: usize) {
        let connection = &mut self.connections[index];
        if self.open_loop.is_some() && !connection.queued {
            connection.queued = true;
            self.idle.push_back(index);
        }
    }

    fn begin(&mut self, index: usize, due: Option<u64>) {
        let connection = &mut self.connections[index];
        connection.begin(self.shared.program, &mut self.scopes[connection.scope], &mut self.sent);
        self.busy += 1;
        let now = self.shared.clock.now();
        connection.due = due.unwrap_or(now);
        connection.deadline = now + self.shared.timeout_ns;
        if let (Some(due), Some(open)) = (due, &mut self.open_loop)
            && self.shared.window.contains(now)
        {
            histogram::record_ns(&mut open.lateness, now.saturating_sub(due));
        }
        self.send(index);
    }

    fn send(&mut self, index: usize) {
        if let Err(error) = self.connections[index].send() {
            let failure =
                Failure { code: "connection_lost".to_owned(), message: error.to_string() };
            self.lose(index, &failure, None);
        }
    }

    fn handle_events(&mut self) {
        for at in 0..self.events.len() {
            let (data, flags) = self.events[at];
            if data == BELL {
                while let Some((index, session)) = self.reopener.result() {
                    self.reopened(index, session);
                }
                continue;
            }
            let index = data as usize;
            if self.connections[index].link().is_none() {
                continue;
            }
            if self.connections[index].sending() {
                self.send(index);
            }
            let hung_up = flags.intersects(EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR);
            if hung_up || flags.contains(EventFlags::IN) {
                self.receive(index, hung_up);
            }
        }
        self.events.clear();
    }

    fn receive(&mut self, index: usize, hung_up: bool) {
        let connection = &mut self.connections[index];
        let scope = &mut self.scopes[connection.scope];
        let progress = connection.receive(
            &mut self.buffer,
            hung_up,
            self.shared.program,
            scope,
            &mut self.sent,
        );
        match progress {
            Progress::Waiting => {}
            Progress::Send => {
                self.send(index);
            }
            Progress::Succeeded => {
                let now = self.shared.clock.now();
                if !self.ending {
                    let latency = now.saturating_sub(self.connections[index].due);
                    let operation = self.connections[index].operation();
                    self.recorder.success(operation, latency, now);
                }
                self.end_operation(index, now);
            }
            Progress::Failed(failure) => {
                let now = self.shared.clock.now();
                if !self.ending {
                    let operation = self.connections[index].operation();
                    self.recorder.failure(operation, &failure.code, None, now);
                    self.recorder.example(&failure.code, &failure.message);
                }
                self.end_operation(index, now);
            }
            Progress::Lost(failure) => self.lose(index, &failure, None),
        }
    }

    fn end_operation(&mut self, index: usize, now: u64) {
        let connection = &mut self.connections[index];
        connection.acknowledge(&mut self.scopes[connection.scope]);
        connection.state = State::Idle;
        connection.deadline = u64::MAX;
        self.busy -= 1;
        self.last_answer = now;
        if self.open_loop.is_some() {
            self.rest(index);
            self.send_due(now);
        } else {
            self.start_next(index);
        }
    }

    /// A connection is of no more use: its operation failed, and it is to be replaced.
    /// `latency_ns`: what a time-out is recorded at.
    fn lose(&mut self, index: usize, failure: &Failure, latency_ns: Option<u64>) {
        let now = self.shared.clock.now();
        let connection = &mut self.connections[index];
        connection.acknowledge(&mut self.scopes[connection.scope]);
        connection.close();
        if connection.state == State::Busy {
            self.busy -= 1;
            self.last_answer = now;
            if !self.ending {
                let operation = connection.operation();
                self.recorder.failure(operation, &failure.code, latency_ns, now);
                self.recorder.example(&failure.code, &failure.message);
            }
        }
        connection.deadline = u64::MAX;
        connection.state = State::Waiting { until: now };
        self.next_scan = self.next_scan.min(now);
    }

    /// Gives up what takes too long, and asks for the connections that are missing.
    fn scan(&mut self, now: u64) {
        self.next_scan = now + self.scan_every;
        for index in 0..self.connections.len() {
            let connection = &mut self.connections[index];
            match connection.state {
                State::Busy if connection.deadline <= now => {
                    // at its full length, however late this scan came to see it
                    let latency = connection.deadline - connection.due;
                    let message =
                        format!("no answer within {} ms", self.shared.timeout_ns / 1_000_000);
                    let failure = Failure { code: "timeout".to_owned(), message };
                    self.lose(index, &failure, Some(latency));
                }
                State::Waiting { until } if until <= now && !self.ending => {
                    connection.state = State::Opening;
                    self.reopener.request(index);
                }
                _ => {}
            }
        }
    }

    fn reopened(
        &mut self,
        index: usize,
        session: Result<crate::session::connect::Session, EngineError>,
    ) {
        let now = self.shared.clock.now();
        let opened = session.and_then(|session| {
            self.connections[index].open(session);
            self.watch(index)
        });
        match opened {
            Ok(()) => {
                self.report.opened += 1;
                self.report.replaced += 1;
                self.rest(index);
                if self.open_loop.is_some() {
                    self.send_due(now);
                } else if now >= self.shared.start {
                    self.start_next(index);
                }
            }
            Err(error) => {
                count(&mut self.report.failed, &error.code);
                self.recorder.example(&error.code, &error.message);
                let connection = &mut self.connections[index];
                connection.close();
                let back_off = FIRST_BACK_OFF_NS << connection.attempts.min(10);
                connection.attempts += 1;
                let back_off = back_off.min(LONGEST_BACK_OFF_NS);
                // between half and all of it, so that the attempts of many connections spread
                let until = now + back_off / 2 + self.jitter.below(back_off / 2 + 1);
                connection.state = State::Waiting { until };
            }
        }
    }

    /// Makes a new session's socket non-blocking and has epoll tell of it.
    fn watch(&mut self, index: usize) -> Result<(), EngineError> {
        let system = |what: &str, error: &dyn std::fmt::Display| {
            EngineError::new("system", format!("{what}: {error}"))
        };
        let link = self.connections[index].link().expect("the session has just been opened");
        link.stream.set_nonblocking(true).map_err(|error| system("socket", &error))?;
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        epoll::add(&self.epoll, &link.stream, EventData::new_u64(index as u64), flags)
            .map_err(|error| system("epoll", &error))
    }

    /// Waits for events, until something else is due. Before an operation's due time it wakes
    /// early and spins, since a sleeping thread wakes late.
    fn wait(&mut self, now: u64) {
        let shared = self.shared;
        let mut until = self.next_scan.min(shared.window.end);
        if now < shared.window.start {
            until = until.min(shared.window.start);
        }
        until =
            until.min(if now < shared.start { shared.start } else { self.recorder.second_ends() });
        let mut timed = false;
        if now >= shared.start
            && !self.ending
            && let Some(open) = &self.open_loop
            && let Some(due) = open.due()
            && !self.idle.is_empty()
        {
            let wake = (shared.start + due).saturating_sub(open.margin.ns());
            if wake < until {
                until = wake;
                timed = true;
            }
        }
        let timeout = until.saturating_sub(now);
        self.poll(timeout);
        let after = shared.clock.now();
        let took = after.saturating_sub(now);
        if self.events.is_empty() || took > NO_WAIT_NS {
            let from = now.max(shared.window.start);
            self.waited_ns += after.min(shared.window.end).saturating_sub(from);
        }
        if timed
            && timeout > 0
            && self.events.is_empty()
            && let Some(open) = &mut self.open_loop
        {
            open.margin.woke_late_by(after.saturating_sub(until));
        }
    }

    fn poll(&mut self, timeout_ns: u64) {
        let timeout = Timespec {
            tv_sec: (timeout_ns / SECOND) as i64,
            tv_nsec: (timeout_ns % SECOND) as i64,
        };
        self.events.clear();
        let mut found = [MaybeUninit::uninit(); EVENTS];
        // only a signal interrupts it; the loop comes round again
        if let Ok((found, _)) = epoll::wait(&self.epoll, &mut found, Some(&timeout)) {
            self.events.extend(found.iter().map(|event| (event.data.u64(), event.flags)));
        }
    }

    /// The load is over: awaits what is under way, leaves politely, and sums up.
    fn finish(mut self, end: u64, all_done: bool) -> Finished {
        let cpu = Cpu::now().since(self.cpu_at_start.unwrap_or_else(Cpu::now));
        let shared = self.shared;
        let end = end.min(shared.window.end);
        self.ending = true;
        let backlog_end = self
            .open_loop
            .as_mut()
            .map_or(0, |open| open.backlog(end.saturating_sub(shared.start)));
        let due_in_window = self.open_loop.as_ref().map_or(0, |open| {
            open.front.index() - open.due_before_window.unwrap_or(open.front.index())
        });
        let unsent_due =
            self.open_loop.as_ref().and_then(OpenLoop::due).map(|due| shared.start + due);
        let busy = self.connections.iter().filter(|connection| connection.state == State::Busy);
        let oldest = busy.map(|connection| connection.due).chain(unsent_due).min();
        let unanswered = self.busy as u64;
        let give_up = self.shared.clock.now() + DRAIN_NS.min(shared.timeout_ns);
        while self.busy > 0 {
            let now = shared.clock.now();
            if now >= give_up {
                break;
            }
            self.poll(give_up - now);
            self.handle_events();
        }
        self.connections.iter_mut().for_each(Connection::quit);
        self.recorder.finish();
        Finished {
            recorder: self.recorder,
            connections: self.report,
            sent: self.sent,
            cpu,
            waited_ns: self.waited_ns,
            open_loop: self.open_loop,
            backlog_end,
            unsent: backlog_end.min(due_in_window),
            unanswered,
            oldest_unanswered_ns: oldest.filter(|&due| due < end).map(|due| end - due),
            end,
            all_done,
        }
    }
}
