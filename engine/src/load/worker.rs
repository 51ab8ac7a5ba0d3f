//! One thread of a load: lanes on wires, in a closed or an open loop.
//!
//! [`Worker::run`] is the loop. Each turn starts the operations that are due, sends what they appended,
//! waits for events, and takes the answers. A closed loop starts a lane's next operation as soon as the
//! last one is answered; an open loop starts each at its due time, on the lane that has been idle for
//! the longest.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::epoll::EventFlags;

use super::clock::{Clock, Cpu};
use super::cluster::{NodeTally, Router};
use super::lane::{Lane, State};
use super::open_loop::OpenLoop;
use super::operation::{Next, Sent};
use super::pacing::SECOND;
use super::record::{Recorder, Window};
use super::reopen::Reopener;
use super::waiting::Waiter;
use super::wire::{Answered, Line, Met, Standing, Wire};
use crate::error::{EngineError, Failure};
use crate::generators::program::Program;
use crate::generators::rng::Rng;
use crate::generators::values::Scope;
use crate::histogram;
use crate::report::{ConnectionReport, count_error};
use crate::session::connect::Session;

/// In bytes.
const BUFFER: usize = 64 * 1024;
/// From so many bytes on, what a line has collected is sent at once.
const ENOUGH_BYTES: usize = 16 * 1024;
/// The name of the reopener's bell among the events; a line's name is its index.
const BELL: u64 = u64::MAX;
/// How long outstanding answers are awaited after the end, in nanoseconds.
const DRAIN_NS: u64 = 2 * SECOND;
/// How much of [`DRAIN_NS`] one wait may use up, however long it takes: while the whole machine
/// stands still no answer can come.
const DRAIN_STEP_NS: u64 = SECOND / 20;
const FIRST_BACK_OFF_NS: u64 = 10_000_000;
const LONGEST_BACK_OFF_NS: u64 = SECOND;

/// What all threads of a load share. Times are of the load's clock.
pub struct Shared<'a> {
    pub program: &'a Program,
    pub clock: Clock,
    pub start: u64,
    pub window: Window,
    pub timeout_ns: u64,
    pub poll_us: u32,
    /// Whether the latency of each statement is recorded.
    pub statement_latencies: bool,
    pub cancelled: &'a AtomicBool,
}

/// What a thread returns at its end.
pub struct Finished {
    pub recorder: Recorder,
    /// What each node did; empty if the target has one node.
    pub nodes: Vec<NodeTally>,
    pub connections: ConnectionReport,
    pub sent: Sent,
    pub cpu: Cpu,
    /// Time without work, asleep or busy-polling.
    pub waited_ns: u64,
    /// The part of it spent busy-polling.
    pub polled_ns: u64,
    pub open_loop: Option<OpenLoop>,
    pub backlog_end: u64,
    pub unsent: u64,
    pub unanswered: u64,
    pub oldest_unanswered_ns: Option<u64>,
    /// When the window ended.
    pub end: u64,
    /// Whether all operations were done by then.
    pub all_done: bool,
}

/// A thread's state.
pub struct Worker<'a, W: Wire> {
    shared: &'a Shared<'a>,
    lanes: Vec<Lane>,
    /// If there are several nodes, those of the same lanes to each of them lie together.
    lines: Vec<Line<W>>,
    router: Option<Router>,
    scopes: Vec<Scope>,
    open_loop: Option<OpenLoop>,
    recorder: Recorder,
    reopener: Reopener<W::Known>,
    report: ConnectionReport,
    waiter: Waiter,
    buffer: Vec<u8>,
    /// Answers that were read together.
    answers: Vec<Answered>,
    /// Lines that have collected something to send.
    gathered: Vec<usize>,
    /// Open loop: lanes without an operation, the longest idle first.
    idle: VecDeque<usize>,
    /// Lanes that pause, with when they go on: before their next operation in a closed loop, or within
    /// the running one.
    paused: BinaryHeap<Reverse<(u64, usize)>>,
    resting: BinaryHeap<Reverse<(u64, usize)>>,
    pauses: bool,
    /// How many lanes await an answer.
    busy: usize,
    /// When to look for time-outs, and for sessions to open again.
    next_scan: u64,
    scan_every: u64,
    /// When to leave what a server still has to say unread, until the next look at it.
    reads_until: u64,
    jitter: Rng,
    cpu_at_start: Option<Cpu>,
    sent: Sent,
    last_answer: u64,
    /// Operations that were answered after the window's end.
    late_answers: u64,
    /// When the oldest of them was due.
    oldest_late_due: u64,
    /// The window is over: nothing is sent or recorded any more.
    ending: bool,
}

impl<'a, W: Wire> Worker<'a, W> {
    pub fn new(
        shared: &'a Shared<'a>,
        (lanes, scopes): (Vec<Lane>, Vec<Scope>),
        (lines, router): (Vec<Line<W>>, Option<Router>),
        open_loop: Option<OpenLoop>,
        recorder: Recorder,
        reopener: Reopener<W::Known>,
    ) -> Result<Self, EngineError> {
        let waiter = Waiter::new(shared.clock, shared.window, shared.poll_us)?;
        waiter.add(reopener.bell(), BELL, EventFlags::IN)?;
        let mut worker = Worker {
            shared,
            lanes,
            lines,
            router,
            scopes,
            open_loop: open_loop.map(|open| open.within(shared.window.after(shared.start))),
            recorder,
            reopener,
            report: ConnectionReport::default(),
            waiter,
            buffer: vec![0; BUFFER],
            answers: Vec::new(),
            gathered: Vec::new(),
            idle: VecDeque::new(),
            paused: BinaryHeap::new(),
            resting: BinaryHeap::new(),
            pauses: shared.program.pauses(),
            busy: 0,
            next_scan: 0,
            scan_every: (shared.timeout_ns / 50).clamp(1_000_000, 50_000_000),
            reads_until: shared.window.end,
            jitter: Rng::for_stream(shared.clock.now(), &[]),
            cpu_at_start: None,
            sent: Sent::default(),
            last_answer: 0,
            late_answers: 0,
            oldest_late_due: u64::MAX,
            ending: false,
        };
        for line in 0..worker.lines.len() {
            worker.watch(line)?;
            worker.report.opened += 1;
            for index in worker.lines[line].lanes.clone() {
                let lane = &mut worker.lanes[index];
                (lane.line, lane.slot) = (line, index - worker.lines[line].lanes.start);
                lane.state = State::Idle;
                worker.rest(index);
            }
        }
        Ok(worker)
    }

    /// Runs the load to its end.
    pub fn run(mut self) -> Finished {
        // a timer may otherwise fire up to 50 us late; where the kernel refuses, it does
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let mut started = false;
        loop {
            let now = self.shared.clock.now();
            if self.cpu_at_start.is_none() && now >= self.shared.window.start {
                self.cpu_at_start = Some(Cpu::now());
            }
            if now >= self.shared.window.end || self.shared.cancelled.load(Ordering::Relaxed) {
                return self.finish(now, false);
            }
            if now >= self.next_scan {
                self.scan(now);
            }
            if now >= self.shared.start {
                self.recorder.advance(now);
                if !started {
                    started = true;
                    self.start_all(now);
                }
                self.send_due(now);
                self.end_pauses(now);
                self.resume_all(now);
                if self.all_done() {
                    let end = self.last_answer + 1;
                    return self.finish(end, true);
                }
            }
            self.send_gathered();
            self.wait(now);
            self.handle_events();
        }
    }

    /// Ends the load: waits for outstanding answers, closes the connections, sums up.
    fn finish(mut self, end: u64, all_done: bool) -> Finished {
        let cpu = Cpu::now().since(self.cpu_at_start.unwrap_or_else(Cpu::now));
        let shared = self.shared;
        let end = end.min(shared.window.end);
        self.ending = true;
        let after_start = end.saturating_sub(shared.start);
        let (backlog_end, unsent) =
            self.open_loop.as_mut().map_or((0, 0), |open| open.end_window(after_start));
        let oldest = self.oldest_due().min(self.oldest_late_due);
        let unanswered = self.busy as u64 + self.late_answers;
        // no answer is awaited of operations that pause
        self.busy -= self.lanes.iter().filter(|lane| lane.resumes_at > 0).count();
        let mut patience = DRAIN_NS.min(shared.timeout_ns);
        while self.busy > 0 && patience > 0 {
            let now = shared.clock.now();
            let step = DRAIN_STEP_NS.min(patience);
            self.reads_until = now + step;
            for line in 0..self.lines.len() {
                self.receive(line, false); // what was left unread, which no event announces again
            }
            if self.busy > 0 {
                self.waiter.poll(now + step, now);
                self.handle_events();
            }
            patience -= (shared.clock.now() - now).min(step);
        }
        self.lines.iter_mut().for_each(|line| line.wire.quit());
        self.recorder.finish(if end < shared.window.end { 0 } else { end });
        Finished {
            recorder: self.recorder,
            nodes: self.router.map_or_else(Vec::new, |router| router.nodes),
            connections: self.report,
            sent: self.sent,
            cpu,
            waited_ns: self.waiter.waited_ns,
            polled_ns: self.waiter.polled_ns,
            open_loop: self.open_loop,
            backlog_end,
            unsent,
            unanswered,
            oldest_unanswered_ns: (oldest < end).then(|| end - oldest),
            end,
            all_done,
        }
    }

    /// When the oldest operation without an answer was due, sent or not.
    fn oldest_due(&self) -> u64 {
        let busy = self.lanes.iter().filter(|lane| lane.state == State::Busy);
        let unsent = self.open_loop.as_ref().and_then(OpenLoop::due);
        let unsent = unsent.map(|due| self.shared.start + due);
        busy.map(|lane| lane.due).chain(unsent).min().unwrap_or(u64::MAX)
    }

    // Sending, when a lane is free and an operation is due.

    /// Whether every operation of the load is sent and answered.
    fn all_done(&self) -> bool {
        if self.busy > 0 {
            return false;
        }
        match &self.open_loop {
            Some(open) => open.all_sent(),
            None => self.lanes.iter().all(|lane| lane.remaining == 0),
        }
    }

    /// The closed loop's first operations.
    fn start_all(&mut self, now: u64) {
        if self.open_loop.is_none() {
            for index in 0..self.lanes.len() {
                self.start_next(index, now);
            }
        }
    }

    /// Closed loop: starts a lane's next operation, if one remains.
    fn start_next(&mut self, index: usize, now: u64) {
        if now >= self.shared.window.end {
            return;
        }
        let lane = &self.lanes[index];
        if lane.state == State::Idle && lane.remaining > 0 && !self.ending {
            if self.pauses {
                self.pause(index, now);
            } else {
                self.begin(index, None);
            }
        }
    }

    /// Has a lane pause before its next operation.
    fn pause(&mut self, index: usize, now: u64) {
        let lane = &mut self.lanes[index];
        if !std::mem::replace(&mut lane.queued, true) {
            let first = lane.due == 0;
            let until = now + lane.pause(self.shared.program, first);
            self.paused.push(Reverse((until, index)));
        }
    }

    /// Starts the operations whose pauses are over.
    fn end_pauses(&mut self, now: u64) {
        while let Some(&Reverse((until, index))) = self.paused.peek()
            && until <= now
            && !self.ending
        {
            self.paused.pop();
            self.lanes[index].queued = false;
            if self.lanes[index].state == State::Idle {
                self.begin(index, None);
            }
        }
    }

    /// Has a lane's operation pause. Its time-out begins when it goes on.
    #[cold]
    fn pause_within(&mut self, index: usize, ns: u64) {
        let lane = &mut self.lanes[index];
        lane.resumes_at = self.shared.clock.now().saturating_add(ns);
        lane.deadline = lane.deadline.saturating_add(ns);
        self.resting.push(Reverse((lane.resumes_at, index)));
    }

    /// Has operations go on whose pauses are over.
    fn resume_all(&mut self, now: u64) {
        while let Some(&Reverse((until, index))) = self.resting.peek()
            && until <= now
            && !self.ending
        {
            self.resting.pop();
            let lane = &mut self.lanes[index];
            if lane.resumes_at != until {
                continue; // the operation that paused was given up
            }
            lane.resumes_at = 0;
            lane.statement_sent = now;
            let (scope, wire) = (&mut self.scopes[lane.scope], &mut self.lines[lane.line].wire);
            let next = lane.resume(self.shared.program, scope, wire, &mut self.sent);
            self.take_next(index, next);
        }
    }

    /// The beginning of a lane's operation has sent nothing: it pauses. One that is over already, which
    /// only a mistake in a script can cause, ends a little later: no loop spins on it.
    #[cold]
    fn begun_without_sending(&mut self, index: usize) {
        const LATER_NS: u64 = 1_000_000;
        match self.lanes[index].instead() {
            Some(Next::Pause(ns)) => self.pause_within(index, ns),
            next => {
                self.lanes[index].ended = next;
                self.pause_within(index, LATER_NS);
            }
        }
    }

    /// Open loop: starts the operations that are due, as long as lanes are idle.
    fn send_due(&mut self, mut now: u64) {
        let start = self.shared.start;
        if now < start || now >= self.shared.window.end || self.ending {
            return;
        }
        let Some(open) = &mut self.open_loop else {
            return;
        };
        if open.backlog(now - start + 1) == 0 {
            return;
        }
        while let Some(due) = self.open_loop.as_ref().and_then(OpenLoop::due) {
            if start + due > now || now >= self.shared.window.end {
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
            let backlog = open.backlog(now - start + 1);
            if self.shared.window.contains(now) {
                open.backlog_max = open.backlog_max.max(backlog);
            }
        }
    }

    /// The lane that has been idle for the longest.
    fn take_idle(&mut self) -> Option<usize> {
        while let Some(index) = self.idle.pop_front() {
            self.lanes[index].queued = false;
            if self.lanes[index].state == State::Idle {
                return Some(index);
            }
        }
        None
    }

    /// Notes that a lane has nothing to do; in an open loop it waits for its turn.
    fn rest(&mut self, index: usize) {
        let lane = &mut self.lanes[index];
        if self.open_loop.is_some() && !lane.queued {
            lane.queued = true;
            self.idle.push_back(index);
        }
    }

    /// Starts a lane's operation. `due`: when, in an open loop, it fell due.
    fn begin(&mut self, index: usize, due: Option<u64>) {
        let lane = &mut self.lanes[index];
        let (line, scope) = (lane.line, &mut self.scopes[lane.scope]);
        let wire = &mut self.lines[line].wire;
        let begun = lane.begin(self.shared.program, scope, wire, &mut self.sent);
        let line = self.route(index);
        let lane = &mut self.lanes[index];
        self.busy += 1;
        let now = self.shared.clock.now();
        lane.due = due.unwrap_or(now);
        lane.statement_sent = now;
        lane.deadline = now + self.shared.timeout_ns;
        if let (Some(due), Some(open)) = (due, &mut self.open_loop)
            && self.shared.window.contains(now)
        {
            histogram::record_ns(&mut open.lateness, now.saturating_sub(due));
        }
        if !begun {
            return self.begun_without_sending(index);
        }
        self.pass_on(line);
    }

    /// Sends a packet that was appended at once, or collects it with others.
    fn pass_on(&mut self, line: usize) {
        if !W::GATHERS || self.lines[line].wire.link().unsent() > ENOUGH_BYTES {
            self.send(line);
        } else if !std::mem::replace(&mut self.lines[line].listed, true) {
            self.gathered.push(line);
        }
    }

    /// Sends what has been collected.
    fn send_gathered(&mut self) {
        if W::GATHERS {
            while let Some(line) = self.gathered.pop() {
                self.lines[line].listed = false;
                self.send(line);
            }
        }
    }

    /// Sends what a line has appended.
    fn send(&mut self, line: usize) {
        if let Err(error) = self.lines[line].wire.link_mut().send() {
            self.lose(line, &Failure::connection_lost(error));
        }
    }

    // Waiting for answers and for due times.

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
        for pauses in [&self.paused, &self.resting] {
            if let Some(&Reverse((due, _))) = pauses.peek() {
                until = until.min(due);
            }
        }
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
        if let Some(late_ns) = self.waiter.wait(until, now)
            && timed
            && let Some(open) = &mut self.open_loop
        {
            open.margin.woke_late_by(late_ns);
        }
    }

    // Answers.

    /// Handles what the last poll brought: sends, receives, and takes new sessions.
    fn handle_events(&mut self) {
        for at in 0..self.waiter.events.len() {
            let (name, flags) = self.waiter.events[at];
            if name == BELL {
                while let Some((line, session)) = self.reopener.result() {
                    self.reopened(line, session);
                }
                continue;
            }
            let line = name as usize;
            if self.lines[line].wire.link().stream().is_none() {
                continue;
            }
            if self.lines[line].wire.link().unsent() > 0 {
                self.send(line);
            }
            let hung_up = flags.intersects(EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR);
            if hung_up || flags.contains(EventFlags::IN) {
                self.receive(line, hung_up);
            }
            self.send_gathered();
        }
        self.waiter.events.clear();
    }

    /// Reads what has arrived on a line and takes its answers. `hung_up`: no event will announce more.
    fn receive(&mut self, line: usize, hung_up: bool) {
        let mut answers = std::mem::take(&mut self.answers);
        loop {
            let wire = &mut self.lines[line].wire;
            let received = wire.receive(&mut self.buffer, hung_up, &mut answers);
            let first = self.lines[line].lanes.start;
            for answer in answers.drain(..) {
                self.lane_answered(line, first + answer.slot, answer);
            }
            match received {
                Ok(true) if self.reads_on() => {}
                Ok(_) => break,
                Err(failure) => {
                    self.lose(line, &failure);
                    break;
                }
            }
        }
        self.answers = answers;
    }

    /// Whether to read more of what a server does not stop to say: it keeps no deadline from being
    /// seen, nor the end of the load.
    fn reads_on(&mut self) -> bool {
        let now = self.shared.clock.now();
        if now >= self.next_scan {
            self.scan(now);
        }
        now < self.reads_until && (self.ending || !self.shared.cancelled.load(Ordering::Relaxed))
    }

    /// Handles a lane's answer: sends its operation's next packet, or ends the operation.
    fn lane_answered(&mut self, line: usize, index: usize, answer: Answered) {
        if self.shared.statement_latencies {
            self.record_statement(line, index, answer.result.is_ok());
        }
        let lane = &mut self.lanes[index];
        if lane.state != State::Busy || lane.line != line {
            return; // late: the lane has moved to another wire since, because this one was lost
        }
        let (scope, wire) = (&mut self.scopes[lane.scope], &mut self.lines[line].wire);
        let next = lane.answered(answer.result, self.shared.program, scope, wire, &mut self.sent);
        self.take_next(index, next);
    }

    #[inline(always)]
    fn take_next(&mut self, index: usize, next: Next) {
        match next {
            Next::Send => {
                let line = self.route(index);
                self.pass_on(line);
            }
            Next::Succeeded(met) => self.operation_answered(index, Ok(met)),
            Next::Failed(failure) => self.operation_answered(index, Err(&failure)),
            Next::Again(failure) => self.try_again(index, &failure),
            Next::Pause(ns) => self.pause_within(index, ns),
        }
    }

    /// Records the latency of what a lane sent last, if it succeeded.
    #[cold]
    fn record_statement(&mut self, line: usize, index: usize, succeeded: bool) {
        let now = self.shared.clock.now();
        let lane = &mut self.lanes[index];
        if lane.state != State::Busy || lane.line != line {
            return;
        }
        let latency = now.saturating_sub(std::mem::replace(&mut lane.statement_sent, now));
        if let (true, Some(statement)) = (succeeded, lane.sent_statement(self.shared.program)) {
            self.recorder.statement(lane.operation(), statement, latency, now);
        }
    }

    /// Counts a try that met a deadlock or a serialization failure, and begins the next.
    #[cold]
    fn try_again(&mut self, index: usize, failure: &Failure) {
        let now = self.shared.clock.now();
        if self.ending || now >= self.shared.window.end || now > self.lanes[index].deadline {
            return self.operation_answered(index, Err(failure));
        }
        let lane = &mut self.lanes[index];
        self.recorder.retry(lane.operation(), failure, now);
        let line = lane.line;
        let (scope, wire) = (&mut self.scopes[lane.scope], &mut self.lines[line].wire);
        if !lane.again(self.shared.program, scope, wire, &mut self.sent) {
            return self.begun_without_sending(index);
        }
        self.pass_on(line);
    }

    /// Records an operation that succeeded or failed. One that is answered after the window's end
    /// counts as unanswered.
    fn operation_answered(&mut self, index: usize, result: Result<Met, &Failure>) {
        let now = self.shared.clock.now();
        let (operation, due) = (self.lanes[index].operation(), self.lanes[index].due);
        if now >= self.shared.window.end && !self.ending {
            self.late_answers += 1;
            self.oldest_late_due = self.oldest_late_due.min(due);
        } else if now > self.lanes[index].deadline {
            self.record_time_out(index, now); // `scan` had not seen yet that it was too late
        } else if !self.ending {
            let latency = now.saturating_sub(due);
            match result {
                Ok(met) => {
                    self.recorder.success(operation, met, latency, now);
                    self.count_success(index, latency, now);
                }
                Err(failure) => {
                    let latency = failure.timed_out.then_some(latency);
                    self.record_failure(index, failure, latency, now);
                }
            }
        }
        self.end_operation(index, now);
    }

    fn end_operation(&mut self, index: usize, now: u64) {
        let lane = &mut self.lanes[index];
        lane.end(&mut self.scopes[lane.scope], State::Idle);
        self.busy -= 1;
        self.last_answer = now;
        self.go_on(index, now);
    }

    /// Has an idle lane rest, or send its next operation.
    fn go_on(&mut self, index: usize, now: u64) {
        if self.open_loop.is_some() {
            self.rest(index);
            self.send_due(now);
        } else if now >= self.shared.start {
            self.start_next(index, now);
        }
    }

    // Lost wires and time-outs.

    /// Fails the operations of a wire that cannot be used any more, and has the wire replaced.
    #[cold]
    fn lose(&mut self, line: usize, failure: &Failure) {
        let now = self.shared.clock.now();
        self.lines[line].wire.close();
        for index in self.lines[line].lanes.clone() {
            if self.lanes[index].line != line {
                continue; // it is at another node
            }
            let busy = self.lanes[index].state == State::Busy;
            if busy && self.lanes[index].deadline <= now {
                self.record_time_out(index, now);
            } else if busy && !self.ending {
                self.record_failure(index, failure, None, now);
            }
            if busy {
                self.busy -= 1;
                self.last_answer = now;
            }
            let lane = &mut self.lanes[index];
            lane.end(&mut self.scopes[lane.scope], State::Away);
        }
        self.lines[line].standing = Standing::Waiting { until: now };
        self.next_scan = self.next_scan.min(now);
        self.go_elsewhere(line, now);
    }

    /// Gives up operations that have timed out, and has missing sessions opened again.
    #[cold]
    fn scan(&mut self, now: u64) {
        self.next_scan = now + self.scan_every;
        for index in 0..self.lanes.len() {
            let lane = &self.lanes[index];
            if lane.state != State::Busy || lane.deadline > now {
                continue;
            }
            let line = lane.line;
            if self.lines[line].wire.abandon(lane.slot) {
                self.record_time_out(index, now);
                self.end_operation(index, now);
            } else {
                let message = "it leaves too many requests without an answer";
                self.lose(line, &Failure::connection_lost(message));
            }
        }
        for index in 0..self.lines.len() {
            let line = &mut self.lines[index];
            if let Standing::Waiting { until } = line.standing
                && until <= now
                && !self.ending
            {
                line.standing = Standing::Opening;
                self.reopener.request(index);
            }
        }
    }

    /// Records a time-out at its full length from the due time, however late it was noticed.
    #[cold]
    fn record_time_out(&mut self, index: usize, now: u64) {
        if self.ending {
            return;
        }
        let lane = &self.lanes[index];
        let latency = lane.deadline - lane.due;
        let message = format!("no answer within {} ms", self.shared.timeout_ns / 1_000_000);
        let failure = Failure::new("timeout", message);
        self.record_failure(index, &failure, Some(latency), now);
    }

    /// Records an operation that failed, also for the node that it went to. `latency_ns`: the
    /// full length, for a time-out.
    #[cold]
    fn record_failure(
        &mut self,
        index: usize,
        failure: &Failure,
        latency_ns: Option<u64>,
        at: u64,
    ) {
        self.recorder.failure(self.lanes[index].operation(), failure, latency_ns, at);
        self.count_for_node(index, Some(failure), latency_ns, at);
    }

    // New sessions in the place of lost ones.

    /// Takes the result of an attempt to replace a wire's session.
    #[cold]
    fn reopened(&mut self, index: usize, session: Result<Session<W::Known>, EngineError>) {
        let now = self.shared.clock.now();
        let opened = session.and_then(|session| {
            self.lines[index].open(session);
            self.watch(index)
        });
        let line = &mut self.lines[index];
        match opened {
            Ok(()) => {
                self.report.opened += 1;
                self.report.replaced += 1;
                for lane in line.lanes.clone() {
                    if self.lanes[lane].state == State::Away {
                        self.lanes[lane].state = State::Idle;
                        self.go_on(lane, now);
                    }
                }
            }
            Err(error) => {
                count_error(&mut self.report.failed, &error.code);
                self.recorder.example(&error.code, &error.message);
                line.wire.close();
                let back_off = FIRST_BACK_OFF_NS << line.attempts.min(10);
                line.attempts += 1;
                let back_off = back_off.min(LONGEST_BACK_OFF_NS);
                // between half and all of it, so that the attempts of many connections spread
                let until = now + back_off / 2 + self.jitter.below(back_off / 2 + 1);
                line.standing = Standing::Waiting { until };
            }
        }
    }

    /// Makes a new session's socket non-blocking, and waits for its events from now on.
    fn watch(&mut self, line: usize) -> Result<(), EngineError> {
        let stream = self.lines[line].wire.link().stream();
        let stream = stream.expect("the session has just been opened");
        stream
            .set_nonblocking(true)
            .map_err(|error| EngineError::new("system", format!("socket: {error}")))?;
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        self.waiter.add(stream, line as u64, flags)
    }

    // The nodes of a target that has several: each lane has a line to every one of them, and a request
    // goes out on that of the node that has its rows.

    /// The line on which what a lane has just appended goes out.
    #[inline]
    fn route(&mut self, index: usize) -> usize {
        let from = self.lanes[index].line;
        if !W::ROUTES || self.router.is_none() {
            return from;
        }
        self.route_among_nodes(index, from)
    }

    fn route_among_nodes(&mut self, index: usize, from: usize) -> usize {
        let Worker { router: Some(router), lines, lanes, .. } = self else {
            return from;
        };
        let lane = &mut lanes[index];
        let slot = lane.slot;
        let first = router.first_line(from);
        let token = lines[from].wire.token(slot);
        let open = |node: usize| lines[first + node].standing == Standing::Open;
        let to = router.choose(token, open).map_or(from, |node| first + node);
        if let Ok([from, to]) = lines.get_disjoint_mut([from, to]) {
            from.wire.hand_over(slot, &mut to.wire);
        }
        lane.line = to;
        to
    }

    /// Handles the loss of a node's connection: its lanes go on with the other nodes, or are away if
    /// no node has a connection.
    #[cold]
    fn go_elsewhere(&mut self, line: usize, now: u64) {
        let Some(router) = &mut self.router else {
            return;
        };
        router.node(line).lost += 1;
        let first = router.first_line(line);
        let same_lanes = &self.lines[first..first + router.nodes.len()];
        let elsewhere = same_lanes.iter().any(|line| line.standing == Standing::Open);
        for index in self.lines[line].lanes.clone() {
            match self.lanes[index].state {
                State::Away if elsewhere => {
                    self.lanes[index].state = State::Idle;
                    self.go_on(index, now);
                }
                State::Idle if !elsewhere => self.lanes[index].state = State::Away,
                _ => {}
            }
        }
    }

    /// Counts an operation's success for the node that it went to.
    #[inline]
    fn count_success(&mut self, index: usize, latency_ns: u64, at: u64) {
        if W::ROUTES && self.router.is_some() {
            self.count_for_node(index, None, Some(latency_ns), at);
        }
    }

    fn count_for_node(
        &mut self,
        index: usize,
        failure: Option<&Failure>,
        latency_ns: Option<u64>,
        at: u64,
    ) {
        let line = self.lanes[index].line;
        if let Some(router) = &mut self.router
            && self.shared.window.contains(at)
        {
            router.count(line, failure, latency_ns);
        }
    }
}
