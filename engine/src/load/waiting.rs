//! Waiting for answers and for due times.

use std::mem::MaybeUninit;

use rustix::event::{Timespec, epoll};
use rustix::io::Errno;

use super::alarm::ALARM;
use super::clock::preemptions;
use super::wire::Wire;
use super::worker::{EVENTS, Worker};

/// A sleep that ends sooner than this was none: its events were there already.
const NO_WAIT_NS: u64 = 3_000;
const AT_ONCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

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
        let Some(looked) = self.look(until, now) else {
            return; // there was no wait
        };
        let found = !self.events.is_empty();
        if !found {
            self.poll(until, looked);
        }
        let after = shared.clock.now();
        self.polling.waited(after, looked - now, found, after - now);
        if found || self.events.is_empty() || after - now > NO_WAIT_NS {
            self.waited_ns += self.within_window(now, after);
        }
        if timed
            && until > looked
            && self.events.is_empty()
            && let Some(open) = &mut self.open_loop
        {
            open.margin.woke_late_by(after.saturating_sub(until));
        }
    }

    /// Looks for events without sleeping, for as long as that may pay and at most until a time.
    /// Returns when it stopped; nothing where events were there at once.
    fn look(&mut self, until: u64, now: u64) -> Option<u64> {
        if self.polling.sees(now) {
            self.polling.saw(now, preemptions());
        }
        let end = until.min(now + self.polling.length(now));
        let mut at = now;
        while at < end {
            self.collect(Some(&AT_ONCE));
            let found = !self.events.is_empty();
            if found && at == now {
                return None;
            }
            at = self.shared.clock.now();
            if found {
                break;
            }
        }
        self.polled_ns += self.within_window(now, at);
        Some(at)
    }

    /// How much of a time lies in the measured window.
    fn within_window(&self, from: u64, to: u64) -> u64 {
        let window = self.shared.window;
        to.min(window.end).saturating_sub(from.max(window.start))
    }

    /// Collects events. Where there are none it waits for some, at most until a time; where that
    /// has passed, it does not wait.
    pub(super) fn poll(&mut self, until: u64, now: u64) {
        if until <= now {
            return self.collect(Some(&AT_ONCE));
        }
        self.alarm.set(until, now).expect("a timer of our own can be set");
        self.collect(None);
    }

    fn collect(&mut self, timeout: Option<&Timespec>) {
        self.events.clear();
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
