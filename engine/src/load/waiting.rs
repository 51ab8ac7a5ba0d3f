//! Waiting for the events of a thread's connections, asleep or busy-polling.

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::Timespec;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;

use super::alarm::{ALARM, Alarm};
use super::clock::{Clock, preemptions};
use super::polling::Polling;
use super::record::Window;
use crate::error::EngineError;

/// Events that one poll returns at most.
const EVENTS: usize = 256;
/// A shorter sleep does not count as one: its events were there already.
const NO_WAIT_NS: u64 = 3_000;
const AT_ONCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// An epoll with its timer. Times are of the load's clock.
pub struct Waiter {
    clock: Clock,
    /// The window in which waits are measured.
    window: Window,
    epoll: OwnedFd,
    alarm: Alarm,
    polling: Polling,
    /// The events of the last poll: the name of the source, and the flags. Whoever handles them clears
    /// them.
    pub events: Vec<(u64, EventFlags)>,
    /// Time without work, asleep or busy-polling.
    pub waited_ns: u64,
    /// The part of it spent busy-polling.
    pub polled_ns: u64,
}

impl Waiter {
    /// Returns a waiter that busy-polls for at most `poll_us` before it sleeps.
    pub fn new(clock: Clock, window: Window, poll_us: u32) -> Result<Self, EngineError> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(system_error)?;
        let alarm = Alarm::of(&epoll).map_err(system_error)?;
        Ok(Waiter {
            clock,
            window,
            epoll,
            alarm,
            polling: Polling::new(poll_us),
            events: Vec::with_capacity(EVENTS),
            waited_ns: 0,
            polled_ns: 0,
        })
    }

    /// Adds a source of events, which have this name.
    pub fn add(&self, source: impl AsFd, name: u64, flags: EventFlags) -> Result<(), EngineError> {
        epoll::add(&self.epoll, source, EventData::new_u64(name), flags).map_err(system_error)
    }

    /// Waits for events, at most until a time. Returns how late it woke, in nanoseconds; None if it
    /// did not sleep until that time.
    pub fn wait(&mut self, until: u64, now: u64) -> Option<u64> {
        let stopped = self.busy_poll(until, now)?;
        let found = !self.events.is_empty();
        if !found {
            self.poll(until, stopped);
        }
        let after = self.clock.now();
        self.polling.waited(after, stopped - now, found, after - now);
        if found || self.events.is_empty() || after - now > NO_WAIT_NS {
            self.waited_ns += self.within_window(now, after);
        }
        (until > stopped && self.events.is_empty()).then(|| after.saturating_sub(until))
    }

    /// Busy-polls for as long as that may pay, and at most until a time. Returns when it stopped; None
    /// if events were there at once.
    fn busy_poll(&mut self, until: u64, now: u64) -> Option<u64> {
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
            at = self.clock.now();
            if found {
                break;
            }
        }
        self.polled_ns += self.within_window(now, at);
        Some(at)
    }

    /// How much of a time lies in the measured window.
    fn within_window(&self, from: u64, to: u64) -> u64 {
        to.min(self.window.end).saturating_sub(from.max(self.window.start))
    }

    /// Collects events. If there are none it sleeps, at most until a time.
    pub fn poll(&mut self, until: u64, now: u64) {
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

fn system_error(error: Errno) -> EngineError {
    EngineError::new("system", format!("epoll: {error}"))
}
