//! The open loop: operations fall due whatever the server does.

use super::pacing::{Margin, Schedule};
use super::record::Window;
use crate::histogram::{self, Histogram};

/// The pacing of an open loop, with the backlog and the lateness of its sends.
pub struct OpenLoop {
    pub schedule: Schedule,
    /// Runs ahead of `schedule`: what is due by now, sent or not.
    front: Schedule,
    pub margin: Margin,
    pub limit: u64,
    /// The measured window, in times after the load's start. What falls due after its end belongs to
    /// no load and is not counted.
    window: Window,
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
            window: Window { start: 0, end: u64::MAX },
            due_before_window: 0,
            lateness: histogram::new(),
            backlog_max: 0,
        }
    }

    /// Sets the measured window, in times after the load's start.
    pub fn within(self, window: Window) -> Self {
        OpenLoop { window, ..self }
    }

    /// When the next operation that has not been sent is due, after the start.
    pub fn due(&self) -> Option<u64> {
        (self.schedule.index() < self.limit).then(|| self.schedule.due())
    }

    /// How many operations were due before `at` (a time after the start) and before the window's end
    /// and have not been sent.
    pub fn backlog(&mut self, at: u64) -> u64 {
        let at = at.min(self.window.end); // after a standstill `at` may be beyond it
        while self.front.index() < self.limit && self.front.due() < at {
            self.due_before_window += u64::from(self.front.due() < self.window.start);
            self.front.advance();
        }
        self.front.index().saturating_sub(self.schedule.index())
    }

    /// The window ends, at this time after the start. Returns the backlog, and how many operations of
    /// it fell due in the window.
    pub fn end_window(&mut self, at: u64) -> (u64, u64) {
        let backlog = self.backlog(at);
        (backlog, backlog.min(self.front.index().saturating_sub(self.due_before_window)))
    }

    /// Whether every operation that falls due has been sent.
    pub fn all_sent(&self) -> bool {
        self.schedule.index() >= self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generators::rng::Rng;
    use crate::load::pacing::SECOND;
    use crate::spec::Arrivals;

    #[test]
    fn what_falls_due_after_the_end_is_no_backlog_however_late_one_asks() {
        let schedule = Schedule::new(Arrivals::Constant, 100.0, 0, 1, Rng::for_stream(1, &[]));
        let mut open = OpenLoop::new(schedule, 1e7, u64::MAX)
            .within(Window { start: SECOND, end: 3 * SECOND });
        for _ in 0..90 {
            open.schedule.advance(); // sent; then the machine stands still for four seconds
        }
        assert_eq!(open.backlog(5 * SECOND), 300 - 90);
        assert_eq!(open.end_window(3 * SECOND), (210, 200), "ten of them were due in the warm-up");
    }
}
