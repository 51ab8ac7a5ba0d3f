//! Time: one monotonic clock for a load, in nanoseconds, and its place on the calendar.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};

use super::pacing::SECOND;

/// A clock that shows nanoseconds since it was made.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    /// What the system's monotonic clock showed when it was made.
    base_ns: u64,
    /// What the calendar showed then, in nanoseconds since 1970.
    base_epoch_ns: i64,
}

impl Clock {
    /// A clock that starts now. The system's two clocks cannot be read at the same moment: of five
    /// tries the one with the shortest time between its reads is kept.
    pub fn start() -> Self {
        let read = || {
            let before = monotonic_ns();
            let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let base_ns = monotonic_ns();
            (base_ns - before, Clock { base_ns, base_epoch_ns: since_epoch.as_nanos() as i64 })
        };
        let tries = std::array::from_fn::<_, 5, _>(|_| read());
        tries.into_iter().min_by_key(|&(apart_ns, _)| apart_ns).expect("there are five").1
    }

    pub fn now(&self) -> u64 {
        monotonic_ns() - self.base_ns
    }

    /// A time of this clock on the calendar, in milliseconds since 1970.
    pub fn epoch_ms(&self, at: u64) -> i64 {
        (self.base_epoch_ns + at as i64).div_euclid(1_000_000)
    }

    /// The clock's time at a moment of the calendar; 0 if that is before the clock was made.
    pub fn at_epoch_ms(&self, epoch_ms: i64) -> u64 {
        epoch_ms.saturating_mul(1_000_000).saturating_sub(self.base_epoch_ns).max(0) as u64
    }
}

/// The system's monotonic clock. `Instant` would do more arithmetic, and the clock is read several
/// times in each operation.
fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * SECOND + now.tv_nsec as u64
}

/// CPU time that the process has used so far.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cpu {
    pub user: Duration,
    pub system: Duration,
}

impl Cpu {
    pub fn now() -> Self {
        // SAFETY: a zeroed rusage is a valid value, and the call writes nothing beyond it
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
            usage
        };
        let duration = |time: libc::timeval| {
            Duration::from_secs(time.tv_sec as u64) + Duration::from_micros(time.tv_usec as u64)
        };
        Cpu { user: duration(usage.ru_utime), system: duration(usage.ru_stime) }
    }

    pub fn since(&self, earlier: Cpu) -> Self {
        Cpu {
            user: self.user.saturating_sub(earlier.user),
            system: self.system.saturating_sub(earlier.system),
        }
    }
}
