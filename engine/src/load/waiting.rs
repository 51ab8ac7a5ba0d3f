//! Waiting for answers and for due times.

use std::mem::MaybeUninit;

use rustix::event::{Timespec, epoll};
use rustix::io::Errno;

use super::alarm::ALARM;
use super::wire::Wire;
use super::worker::{EVENTS, Worker};

/// A wait that returns sooner than this did not wait: its events were there already.
const NO_WAIT_NS: u64 = 3_000;

impl<W: Wire> Worker<'_, W> {
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
        self.poll(until, now);
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

    /// Collects events. Where there are none it waits for some, at most until a time; where that
    /// has passed, it does not wait.
    pub(super) fn poll(&mut self, until: u64, now: u64) {
        self.events.clear();
        let nothing = Timespec { tv_sec: 0, tv_nsec: 0 };
        let timeout = if until > now { None } else { Some(&nothing) };
        if timeout.is_none() {
            self.alarm.set(until, now).expect("a timer of our own can be set");
        }
        let mut buffer = [MaybeUninit::uninit(); EVENTS];
        match epoll::wait(&self.epoll, &mut buffer, timeout) {
            Ok((events, _)) => {
                for event in events {
                    if event.data.u64() == ALARM {
                        self.alarm.has_rung();
                    } else {
                        self.events.push((event.data.u64(), event.flags));
                    }
                }
            }
            Err(Errno::INTR) => {} // a signal: the loop polls again
            Err(error) => panic!("epoll: {error}"),
        }
    }
}
