//! The timer that ends a wait.

use std::os::fd::OwnedFd;

use rustix::event::Timespec;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};

use super::pacing::SECOND;

/// The name of the timer among the epoll's events.
pub(super) const ALARM: u64 = u64::MAX - 1;
const NEVER: u64 = u64::MAX;

/// A timer among the epoll's events, exact to the nanosecond. The time-out of an epoll's wait is in
/// milliseconds; a wait with nanoseconds needs Linux 5.11, and AWS Lambda's kernel is older.
pub(super) struct Alarm {
    timer: OwnedFd,
    /// In nanoseconds of the load's clock; [`NEVER`] if it is not set.
    rings_at: u64,
}

impl Alarm {
    /// Makes the timer and adds it to an epoll.
    pub(super) fn of(epoll: &OwnedFd) -> Result<Self, Errno> {
        let timer = timerfd_create(
            TimerfdClockId::Monotonic,
            TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK,
        )?;
        epoll::add(epoll, &timer, EventData::new_u64(ALARM), EventFlags::IN | EventFlags::ET)?;
        Ok(Self { timer, rings_at: NEVER })
    }

    /// Sets the time at which it rings. Makes a system call only if the time changes.
    pub(super) fn set(&mut self, until: u64, now: u64) -> Result<(), Errno> {
        if until == self.rings_at {
            return Ok(());
        }
        self.rings_at = until;
        let wait = until.saturating_sub(now).max(1); // 0 would switch it off
        let value = Timespec { tv_sec: (wait / SECOND) as i64, tv_nsec: (wait % SECOND) as i64 };
        let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: value };
        timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &once).map(|_| ())
    }

    /// Silences it after its event, until it is set again.
    pub(super) fn has_rung(&mut self) {
        self.rings_at = NEVER;
    }
}
