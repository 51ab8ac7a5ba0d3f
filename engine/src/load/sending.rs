//! Sending operations: what a thread does when a connection is free and something is due.

use super::connection::State;
use super::open_loop::OpenLoop;
use super::operation::Failure;
use super::worker::Worker;
use crate::histogram;

impl Worker<'_> {
    pub(super) fn all_done(&self) -> bool {
        if self.busy > 0 {
            return false;
        }
        match &self.open_loop {
            Some(open) => open.all_sent(),
            None => self.connections.iter().all(|connection| connection.remaining == 0),
        }
    }

    /// The closed loop's first operations.
    pub(super) fn start_all(&mut self, now: u64) {
        if self.open_loop.is_none() {
            for index in 0..self.connections.len() {
                self.start_next(index, now);
            }
        }
    }

    /// Closed loop: the next operation of a connection, if it may have one.
    pub(super) fn start_next(&mut self, index: usize, now: u64) {
        if now >= self.shared.window.end {
            return;
        }
        let connection = &self.connections[index];
        if connection.state == State::Idle && connection.remaining > 0 && !self.ending {
            self.begin(index, None);
        }
    }

    /// Open loop: sends what is due, as long as connections are idle.
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
            let backlog = open.backlog(now - start + 1);
            if self.shared.window.contains(now) {
                open.backlog_max = open.backlog_max.max(backlog);
            }
        }
    }

    /// The connection that has been idle for the longest.
    pub(super) fn take_idle(&mut self) -> Option<usize> {
        while let Some(index) = self.idle.pop_front() {
            self.connections[index].queued = false;
            if self.connections[index].state == State::Idle {
                return Some(index);
            }
        }
        None
    }

    /// A connection has nothing to do now.
    pub(super) fn rest(&mut self, index: usize) {
        let connection = &mut self.connections[index];
        if self.open_loop.is_some() && !connection.queued {
            connection.queued = true;
            self.idle.push_back(index);
        }
    }

    pub(super) fn begin(&mut self, index: usize, due: Option<u64>) {
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

    pub(super) fn send(&mut self, index: usize) {
        if let Err(error) = self.connections[index].send() {
            let failure =
                Failure { code: "connection_lost".to_owned(), message: error.to_string() };
            self.lose(index, &failure, None);
        }
    }
}
