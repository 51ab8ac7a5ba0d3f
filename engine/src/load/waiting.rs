//! Waiting for answers and for due times.

use std::mem::MaybeUninit;

use rustix::event::Timespec;
use rustix::event::epoll;

use super::pacing::SECOND;
use super::worker::{EVENTS, Worker};

/// A wait that returns sooner did not wait: it found events that were there already.
const NO_WAIT_NS: u64 = 3_000;

impl Worker<'_> {
    /// Waits for events, until something else is due. Before an operation's due time it wakes
    /// early and spins, since a sleeping thread wakes late.
    pub(super) fn wait(&mut self, now: u64) {
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

    pub(super) fn poll(&mut self, timeout_ns: u64) {
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
}
