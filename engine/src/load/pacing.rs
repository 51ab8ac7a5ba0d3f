//! When operations fall due, and when to wake for them.

use crate::generators::rng::Rng;
use crate::spec::Arrivals;

/// A second, in nanoseconds.
pub const SECOND: u64 = 1_000_000_000;

/// The due times of an open loop, in nanoseconds from its start: fixed in advance by rate, kind
/// and seed, whatever the server does. It takes the same few bytes however many are overdue.
#[derive(Debug, Clone)]
pub struct Schedule {
    kind: Arrivals,
    interval_ns: f64,
    /// How many threads there are: of constant arrivals each takes every `step`th, from `offset` on.
    step: u64,
    offset: u64,
    index: u64,
    next_ns: f64,
    rng: Rng,
}

impl Schedule {
    /// The part of thread `thread` of `threads` in a schedule of `rate` operations per second.
    ///
    /// Constant arrivals are due at 0, 1/rate, 2/rate ...; Poisson arrivals after exponential
    /// gaps of mean 1/rate (those of the threads together are a Poisson process again).
    pub fn new(kind: Arrivals, rate: f64, thread: u64, threads: u64, rng: Rng) -> Self {
        let share = match kind {
            Arrivals::Constant => 1.0,
            Arrivals::Poisson => threads as f64,
        };
        let interval_ns = SECOND as f64 / rate * share;
        let mut schedule = Schedule {
            kind,
            interval_ns,
            step: threads,
            offset: thread,
            index: 0,
            next_ns: 0.0,
            rng,
        };
        schedule.next_ns = match kind {
            Arrivals::Constant => interval_ns * thread as f64,
            Arrivals::Poisson => schedule.gap(),
        };
        schedule
    }

    /// When the next operation is due.
    pub fn due(&self) -> u64 {
        self.next_ns as u64
    }

    /// How many operations were due before [`Schedule::due`]'s.
    pub fn index(&self) -> u64 {
        self.index
    }

    /// Passes on to the operation after it.
    pub fn advance(&mut self) {
        self.index += 1;
        self.next_ns = match self.kind {
            // from the index, so that no rounding adds up
            Arrivals::Constant => self.interval_ns * (self.offset + self.index * self.step) as f64,
            Arrivals::Poisson => self.next_ns + self.gap(),
        };
    }

    fn gap(&mut self) -> f64 {
        -self.rng.unit_above_zero().ln() * self.interval_ns
    }
}

/// How long before a due time to wake up and spin. It follows how late the system's timers are.
///
/// A wake-up that is late by more than the margin raises it, by [`Margin::ONE_IN`] steps; any other
/// lowers it by one step. It settles where one wake-up in [`Margin::ONE_IN`] is late by more.
#[derive(Debug, Clone)]
pub struct Margin {
    ns: f64,
    most: f64,
}

impl Margin {
    const ONE_IN: f64 = 50.0;
    const STEP_NS: f64 = 250.0;
    const LEAST_NS: f64 = 2_000.0;
    const MOST_NS: f64 = 150_000.0;
    /// Share of the time between two operations that may be spent on spinning.
    const SHARE: f64 = 0.35;

    /// For operations that are due every `interval_ns` on average.
    pub fn new(interval_ns: f64) -> Self {
        let most = (interval_ns * Self::SHARE).clamp(Self::LEAST_NS, Self::MOST_NS);
        Margin { ns: most.min(60_000.0), most }
    }

    pub fn ns(&self) -> u64 {
        self.ns as u64
    }

    /// Takes how long after the requested time a wake-up came.
    pub fn woke_late_by(&mut self, late_ns: u64) {
        let moved = if late_ns as f64 > self.ns {
            self.ns + Self::STEP_NS * Self::ONE_IN
        } else {
            self.ns - Self::STEP_NS
        };
        self.ns = moved.clamp(Self::LEAST_NS, self.most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dues(mut schedule: Schedule, n: usize) -> Vec<u64> {
        (0..n)
            .map(|_| {
                let due = schedule.due();
                schedule.advance();
                due
            })
            .collect()
    }

    fn rng() -> Rng {
        Rng::for_stream(1, &[])
    }

    #[test]
    fn constant_arrivals_are_evenly_spaced_without_drift() {
        let all = dues(Schedule::new(Arrivals::Constant, 3.0, 0, 1, rng()), 3_000_001);
        assert_eq!(&all[..4], &[0, 333_333_333, 666_666_666, 1_000_000_000]);
        assert_eq!(all[3_000_000], 1_000_000 * SECOND);
    }

    #[test]
    fn threads_divide_constant_arrivals_between_them() {
        let whole = dues(Schedule::new(Arrivals::Constant, 1_000.0, 0, 1, rng()), 30);
        let mut parts: Vec<u64> = (0..3)
            .flat_map(|thread| {
                dues(Schedule::new(Arrivals::Constant, 1_000.0, thread, 3, rng()), 10)
            })
            .collect();
        parts.sort_unstable();
        assert_eq!(parts, whole);
    }

    #[test]
    fn poisson_gaps_have_the_mean_and_deviation_of_the_exponential_distribution() {
        for threads in [1, 4] {
            let rate = 2_000.0 / threads as f64;
            let all = dues(Schedule::new(Arrivals::Poisson, 2_000.0, 0, threads, rng()), 200_001);
            let gaps: Vec<f64> = all.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
            let n = gaps.len() as f64;
            let mean = gaps.iter().sum::<f64>() / n;
            let deviation = (gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / n).sqrt();
            let expected = SECOND as f64 / rate;
            // the mean's own deviation is expected / sqrt(n): 0.22 %
            assert!((mean / expected - 1.0).abs() < 0.011, "{mean}");
            assert!((deviation / expected - 1.0).abs() < 0.02, "{deviation}");
        }
    }

    #[test]
    fn a_schedule_is_repeated_by_its_copy() {
        let schedule = Schedule::new(Arrivals::Poisson, 50.0, 0, 1, rng());
        assert_eq!(dues(schedule.clone(), 100), dues(schedule, 100));
    }

    #[test]
    fn the_margin_settles_above_most_wake_ups_and_within_its_share() {
        let mut margin = Margin::new(500_000.0);
        let mut rng = rng();
        let mut late = || (20_000.0 + 10_000.0 * rng.unit()) as u64;
        for _ in 0..20_000 {
            margin.woke_late_by(late());
        }
        let above = (0..1_000).filter(|_| late() <= margin.ns()).count();
        assert!(above > 850, "{above} of 1000 within {} ns", margin.ns());
        assert!(margin.ns() < 50_000, "{}", margin.ns());
        for _ in 0..100 {
            margin.woke_late_by(1_000_000);
        }
        assert_eq!(margin.ns(), 150_000);
    }
}
