//! One thread of a load: lanes on wires, in a closed or an open loop, with one epoll.

use std::collections::VecDeque;
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::epoll::{self, EventData, EventFlags};

use super::alarm::Alarm;
use super::clock::{Clock, Cpu};
use super::cluster::{NodeTally, Router};
use super::lane::{Lane, State};
use super::open_loop::OpenLoop;
use super::operation::Sent;
use super::pacing::SECOND;
use super::polling::Polling;
use super::record::{Recorder, Window};
use super::reopen::Reopener;
use super::wire::{Answered, Line, Wire};
use crate::error::EngineError;
use crate::generators::program::Program;
use crate::generators::rng::Rng;
use crate::generators::values::Scope;
use crate::report::ConnectionReport;

pub(super) const EVENTS: usize = 256;
/// In bytes.
const BUFFER: usize = 64 * 1024;
/// The name of the reopener's bell among the epoll's events.
pub(super) const BELL: u64 = u64::MAX;
/// How long after the end the answers to what was sent are awaited.
const DRAIN_NS: u64 = 2 * SECOND;
/// How much of [`DRAIN_NS`] one wait may use up, however long it takes: while the whole machine
/// stands still no answer can come.
const DRAIN_STEP_NS: u64 = SECOND / 20;

/// What all threads of a load share. Times are of the load's clock.
pub struct Shared<'a> {
    pub program: &'a Program,
    pub clock: Clock,
    pub start: u64,
    pub window: Window,
    pub timeout_ns: u64,
    pub poll_us: u32,
    pub cancelled: &'a AtomicBool,
}

/// What a thread returns at its end.
pub struct Finished {
    pub recorder: Recorder,
    /// Of a target with several nodes.
    pub nodes: Vec<NodeTally>,
    pub connections: ConnectionReport,
    pub sent: Sent,
    pub cpu: Cpu,
    /// Without work: asleep, or looking for answers.
    pub waited_ns: u64,
    /// Of it: looking for answers.
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

/// A thread's state; `sending`, `events` and `waiting` hold what it does.
pub struct Worker<'a, W: Wire> {
    pub(super) shared: &'a Shared<'a>,
    pub(super) lanes: Vec<Lane>,
    /// Where there are several nodes, those of the same lanes to each of them lie together.
    pub(super) lines: Vec<Line<W>>,
    pub(super) router: Option<Router>,
    pub(super) scopes: Vec<Scope>,
    pub(super) open_loop: Option<OpenLoop>,
    pub(super) recorder: Recorder,
    pub(super) reopener: Reopener<W::Known>,
    pub(super) report: ConnectionReport,
    pub(super) epoll: OwnedFd,
    pub(super) alarm: Alarm,
    pub(super) polling: Polling,
    /// The events of the last poll: the line's index or another name, and the flags.
    pub(super) events: Vec<(u64, EventFlags)>,
    pub(super) buffer: Vec<u8>,
    /// Answers that were read together.
    pub(super) answers: Vec<Answered>,
    /// Lines that have gathered something to send.
    pub(super) gathered: Vec<usize>,
    /// Open loop: lanes without an operation, the longest idle first.
    pub(super) idle: VecDeque<usize>,
    pub(super) busy: usize,
    pub(super) next_scan: u64,
    /// When to leave what a server still has to say unread, until the next look at it.
    pub(super) reads_until: u64,
    pub(super) scan_every: u64,
    pub(super) jitter: Rng,
    pub(super) cpu_at_start: Option<Cpu>,
    pub(super) waited_ns: u64,
    pub(super) polled_ns: u64,
    pub(super) sent: Sent,
    pub(super) last_answer: u64,
    /// Operations that were answered after the window's end.
    pub(super) late_answers: u64,
    /// When the oldest of them was due.
    pub(super) oldest_late_due: u64,
    /// The window is over: nothing is sent or recorded any more.
    pub(super) ending: bool,
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
        let system = |error| EngineError::new("system", format!("epoll: {error}"));
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(system)?;
        epoll::add(&epoll, reopener.bell(), EventData::new_u64(BELL), EventFlags::IN)
            .map_err(system)?;
        let alarm = Alarm::of(&epoll).map_err(system)?;
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
            epoll,
            alarm,
            polling: Polling::new(shared.poll_us),
            events: Vec::with_capacity(EVENTS),
            buffer: vec![0; BUFFER],
            answers: Vec::new(),
            gathered: Vec::new(),
            idle: VecDeque::new(),
            busy: 0,
            next_scan: 0,
            reads_until: shared.window.end,
            scan_every: (shared.timeout_ns / 50).clamp(1_000_000, 50_000_000),
            jitter: Rng::for_stream(shared.clock.now(), &[]),
            cpu_at_start: None,
            waited_ns: 0,
            polled_ns: 0,
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

    /// The load is over: waits for the answers to what was sent, closes the connections, sums up.
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
        let mut patience = DRAIN_NS.min(shared.timeout_ns);
        while self.busy > 0 && patience > 0 {
            let now = shared.clock.now();
            let step = DRAIN_STEP_NS.min(patience);
            self.reads_until = now + step;
            for line in 0..self.lines.len() {
                self.receive(line, false); // what was left unread, which no event announces again
            }
            if self.busy > 0 {
                self.poll(now + step, now);
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
            waited_ns: self.waited_ns,
            polled_ns: self.polled_ns,
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
}
