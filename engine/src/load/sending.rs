//! Sending operations, when a lane is free and an operation is due.

use super::lane::State;
use super::open_loop::OpenLoop;
use super::wire::Wire;
use super::worker::Worker;
use crate::error::Failure;
use crate::histogram;

/// So many bytes are sent at once, without waiting for others to go with them.
const ENOUGH_BYTES: usize = 16 * 1024;

impl<W: Wire> Worker<'_, W> {
    pub(super) fn all_done(&self) -> bool {
        if self.busy > 0 {
            return false;
        }
        match &self.open_loop {
            Some(open) => open.all_sent(),
            None => self.lanes.iter().all(|lane| lane.remaining == 0),
        }
    }

    /// The closed loop's first operations.
    pub(super) fn start_all(&mut self, now: u64) {
        if self.open_loop.is_none() {
            for index in 0..self.lanes.len() {
                self.start_next(index, now);
            }
        }
    }

    /// Closed loop: starts a lane's next operation, if one remains.
    pub(super) fn start_next(&mut self, index: usize, now: u64) {
        if now >= self.shared.window.end {
            return;
        }
        let lane = &self.lanes[index];
        if lane.state == State::Idle && lane.remaining > 0 && !self.ending {
            self.begin(index, None);
        }
    }

    /// Open loop: starts the operations that are due, as long as lanes are idle.
    pub(super) fn send_due(&mut self, mut now: u64) {
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
    pub(super) fn take_idle(&mut self) -> Option<usize> {
        while let Some(index) = self.idle.pop_front() {
            self.lanes[index].queued = false;
            if self.lanes[index].state == State::Idle {
                return Some(index);
            }
        }
        None
    }

    /// A lane has nothing to do now: in an open loop it waits for its turn.
    pub(super) fn rest(&mut self, index: usize) {
        let lane = &mut self.lanes[index];
        if self.open_loop.is_some() && !lane.queued {
            lane.queued = true;
            self.idle.push_back(index);
        }
    }

    /// Starts a lane's operation. `due`: when, in an open loop, it fell due.
    pub(super) fn begin(&mut self, index: usize, due: Option<u64>) {
        let lane = &mut self.lanes[index];
        let (line, scope) = (lane.line, &mut self.scopes[lane.scope]);
        lane.begin(self.shared.program, scope, &mut self.lines[line].wire, &mut self.sent);
        let line = self.route(index);
        let lane = &mut self.lanes[index];
        self.busy += 1;
        let now = self.shared.clock.now();
        lane.due = due.unwrap_or(now);
        lane.deadline = now + self.shared.timeout_ns;
        if let (Some(due), Some(open)) = (due, &mut self.open_loop)
            && self.shared.window.contains(now)
        {
            histogram::record_ns(&mut open.lateness, now.saturating_sub(due));
        }
        self.pass_on(line);
    }

    /// A packet was appended: sends it at once, or gathers it with others.
    pub(super) fn pass_on(&mut self, line: usize) {
        if !W::GATHERS || self.lines[line].wire.link().unsent() > ENOUGH_BYTES {
            self.send(line);
        } else if !std::mem::replace(&mut self.lines[line].listed, true) {
            self.gathered.push(line);
        }
    }

    /// Sends what has been gathered.
    pub(super) fn send_gathered(&mut self) {
        if W::GATHERS {
            while let Some(line) = self.gathered.pop() {
                self.lines[line].listed = false;
                self.send(line);
            }
        }
    }

    /// Sends what a line has appended.
    pub(super) fn send(&mut self, line: usize) {
        if let Err(error) = self.lines[line].wire.link_mut().send() {
            self.lose(line, &Failure::connection_lost(error));
        }
    }
}
