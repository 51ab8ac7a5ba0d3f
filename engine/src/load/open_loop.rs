//! The open loop: operations fall due whatever the server does.

use super::pacing::{Margin, Schedule};
use crate::histogram::{self, Histogram};

/// The pacing of an open loop, and what it shows.
pub struct OpenLoop {
    pub schedule: Schedule,
    /// Runs ahead of `schedule`: what is due by now, sent or not.
    front: Schedule,
    pub margin: Margin,
    pub limit: u64,
    due_before_window: u64,
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
            due_before_window: 0,
            lateness: histogram::new(),
            backlog_max: 0,
        }
    }

    /// When the next operation that has not been sent is due, after the start.
    pub fn due(&self) -> Option<u64> {
        (self.schedule.index() < self.limit).then(|| self.schedule.due())
    }

    /// What was due before `at` (after the start) and has not been sent.
    pub fn backlog(&mut self, at: u64) -> u64 {
        while self.front.index() < self.limit && self.front.due() < at {
            self.front.advance();
        }
        self.front.index().saturating_sub(self.schedule.index())
    }

    /// The window starts, at this time after the start.
    pub fn start_window(&mut self, at: u64) {
        self.backlog(at);
        self.due_before_window = self.front.index();
    }

    /// The window ends, at this time after the start: the backlog, and how many operations of it
    /// fell due in the window.
    pub fn end_window(&mut self, at: u64) -> (u64, u64) {
        let backlog = self.backlog(at);
        (backlog, backlog.min(self.front.index().saturating_sub(self.due_before_window)))
    }

    /// Whether every operation that falls due has been sent.
    pub fn all_sent(&self) -> bool {
        self.schedule.index() >= self.limit
    }
}
