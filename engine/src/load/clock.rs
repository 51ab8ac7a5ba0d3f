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

/// The CPU time of this process so far, and the CPU time that it wanted and did not get.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cpu {
    pub user: Duration,
    pub system: Duration,
    /// How long the calling thread was ready to run and had no processor; None if unknown.
    pub waited: Option<Duration>,
    /// CPU time that the hypervisor gave to others while this machine had work; None if unknown.
    pub stolen: Option<Duration>,
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
        Cpu {
            user: duration(usage.ru_utime),
            system: duration(usage.ru_stime),
            // sched-stats.rst of Linux: time on a processor, time in the run queue, in nanoseconds
            waited: number_in("/proc/thread-self/schedstat", 1).map(Duration::from_nanos),
            // proc_stat(5): "cpu", then user, nice, system, idle, iowait, irq, softirq, steal
            stolen: number_in("/proc/stat", 8).map(|ticks| Duration::from_millis(ticks * TICK_MS)),
        }
    }

    pub fn since(&self, earlier: Cpu) -> Self {
        let between = |now: Option<Duration>, then: Option<Duration>| {
            now.zip(then).map(|(now, then)| now.saturating_sub(then))
        };
        Cpu {
            user: self.user.saturating_sub(earlier.user),
            system: self.system.saturating_sub(earlier.system),
            waited: between(self.waited, earlier.waited),
            stolen: between(self.stolen, earlier.stolen),
        }
    }
}

/// How often the calling thread has lost its processor to others while it had work; 0 if unknown.
pub fn preemptions() -> u64 {
    // SAFETY: as above
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage);
        usage
    };
    usage.ru_nivcsw.max(0) as u64
}

/// Linux counts in `/proc` in hundredths of a second, whatever its own tick is.
const TICK_MS: u64 = 10;

/// The number at a place among the words of a file; None if there is none.
fn number_in(file: &str, place: usize) -> Option<u64> {
    std::fs::read_to_string(file).ok()?.split_whitespace().nth(place)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_does_not_tell_is_not_known() {
        assert_eq!(number_in("/proc/none", 1), None);
        assert_eq!(number_in("/proc/self/comm", 8), None);
        let (then, now) = (Cpu::default(), Cpu { waited: Some(Duration::ZERO), ..Cpu::now() });
        assert_eq!(now.since(then).waited, None);
        assert_eq!(now.since(now).waited, Some(Duration::ZERO));
    }
}
