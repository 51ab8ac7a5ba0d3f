//! Each second of a step's load, all clients together.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::error::EngineError;
use crate::report::SecondReport;

const KEPT_BITS: u32 = 8;
/// More than any second of a client has. Thousands of them add up to less than 2^53, the most that
/// every reader of JSON reads exactly.
const COUNT_MOST: u64 = 1 << 40;
/// More buckets than a histogram has (`histogram::buckets`).
const BUCKETS_MOST: usize = 256;
/// More seconds than a load lasts: 11 days.
const SECOND_MOST: u64 = 1_000_000;

/// Each operation's seconds, in the order in which the operations were first seen.
#[derive(Default)]
pub struct Seconds(Vec<(String, BTreeMap<u64, Second>)>);

/// One operation in one second.
#[derive(Default)]
struct Second {
    succeeded: u64,
    errors: u64,
    max_us: Option<u64>,
    buckets: BTreeMap<u64, u64>,
    /// How many clients had this p99, in microseconds, rounded.
    p99s: BTreeMap<u64, u64>,
}

/// One operation in one second of all clients (`SecondTotals`).
#[derive(Debug, Serialize)]
pub struct SecondSum<'a> {
    pub epoch_s: u64,
    pub step: u64,
    pub operation: &'a str,
    pub succeeded: u64,
    pub errors: u64,
    pub max_us: Option<u64>,
    pub buckets: &'a BTreeMap<u64, u64>,
}

/// Refuses a second that no client has.
pub fn check(second: &SecondReport) -> Result<(), EngineError> {
    let times = [second.p50_us, second.p99_us, second.max_us].into_iter().flatten();
    let counts = second.buckets.iter().flat_map(|(&upper, &count)| [upper, count]);
    let most = times.chain(counts).chain([second.succeeded, second.errors]).max();
    let possible = most <= Some(COUNT_MOST)
        && second.second <= SECOND_MOST
        && second.buckets.len() <= BUCKETS_MOST
        && !second.buckets.contains_key(&0);
    if !possible {
        return Err(EngineError::new("client", "seconds: no second has so many"));
    }
    Ok(())
}

impl Seconds {
    /// How many operations have seconds.
    pub fn operations(&self) -> usize {
        self.0.len()
    }

    /// How many seconds of operations there are.
    pub fn len(&self) -> usize {
        self.0.iter().map(|(_, seconds)| seconds.len()).sum()
    }

    /// Adds a second of a client.
    pub fn add(&mut self, of_client: SecondReport) {
        let known = self.0.iter().position(|(name, _)| *name == of_client.operation);
        let place = known.unwrap_or_else(|| {
            self.0.push((of_client.operation, BTreeMap::new()));
            self.0.len() - 1
        });
        let sum = self.0[place].1.entry(of_client.second).or_default();
        sum.succeeded = sum.succeeded.saturating_add(of_client.succeeded);
        sum.errors = sum.errors.saturating_add(of_client.errors);
        sum.max_us = sum.max_us.max(of_client.max_us);
        for (upper, count) in of_client.buckets {
            let counted = sum.buckets.entry(upper).or_default();
            *counted = counted.saturating_add(count);
        }
        if let Some(p99) = of_client.p99_us {
            *sum.p99s.entry(rounded(p99)).or_default() += 1;
        }
    }

    /// Every second in which a client was, by time and operation, of a step whose load began then.
    pub fn rows(&self, start_epoch_s: u64, step: u64) -> Vec<SecondSum<'_>> {
        let mut rows = Vec::new();
        for (operation, seconds) in &self.0 {
            rows.extend(seconds.iter().map(|(second, sum)| SecondSum {
                epoch_s: start_epoch_s.saturating_add(*second),
                step,
                operation,
                succeeded: sum.succeeded,
                errors: sum.errors,
                max_us: sum.max_us,
                buckets: &sum.buckets,
            }));
        }
        rows.sort_by_key(|row| (row.epoch_s, row.operation));
        rows
    }

    /// The median of the clients' p99s of each second from `first` to before `past`, by operation,
    /// in microseconds; without operations that have none.
    pub fn p99_medians(&self, first: u64, past: u64) -> Vec<(&str, f64)> {
        let mut medians = Vec::new();
        for (operation, seconds) in &self.0 {
            let mut p99s: BTreeMap<u64, u64> = BTreeMap::new();
            for sum in seconds.range(first..past.max(first)).map(|(_, sum)| sum) {
                for (&p99, clients) in &sum.p99s {
                    *p99s.entry(p99).or_default() += clients;
                }
            }
            medians.extend(median(&p99s).map(|median| (operation.as_str(), median)));
        }
        medians
    }
}

/// A p99 within 0.4 %: halves of a window differ by more before anybody asks, and of thousands of
/// clients each second of each operation keeps as many as differ.
fn rounded(us: u64) -> u64 {
    let shift = (u64::BITS - us.leading_zeros()).saturating_sub(KEPT_BITS);
    ((us >> shift) << shift) + ((1 << shift) >> 1)
}

/// The median of values that are there so many times each; between the two middle ones their mean.
fn median(counts: &BTreeMap<u64, u64>) -> Option<f64> {
    let total: u64 = counts.values().sum();
    let at = |rank: u64| {
        let mut below = 0;
        counts.iter().find_map(|(&value, &count)| {
            below += count;
            (below > rank).then_some(value)
        })
    };
    let (lower, upper) = (at(total.checked_sub(1)? / 2)?, at(total / 2)?);
    Some((lower as f64 + upper as f64) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(p99_us: u64) -> SecondReport {
        SecondReport {
            second: 3,
            operation: "read".to_owned(),
            succeeded: 1,
            errors: 0,
            p50_us: None,
            p99_us: Some(p99_us),
            max_us: None,
            buckets: BTreeMap::new(),
        }
    }

    #[test]
    fn what_is_kept_of_p99s_does_not_grow_with_the_clients() {
        let mut seconds = Seconds::default();
        (0..10_000).for_each(|client| seconds.add(second(8_192 + client)));
        let kept = &seconds.0[0].1[&3].p99s;
        assert!(kept.len() < 200, "{}", kept.len());
        assert_eq!(kept.values().sum::<u64>(), 10_000);
        let (_, median) = seconds.p99_medians(0, 9)[0];
        assert!((median / 13_192.0 - 1.0).abs() < 0.004, "{median}");
    }

    #[test]
    fn a_p99_is_rounded_by_less_than_half_a_percent() {
        for us in [0, 1, 127, 255, 256, 257, 1_000, 99_999, 300_000_000, u64::MAX] {
            let error = rounded(us).abs_diff(us) as f64 / us.max(1) as f64;
            assert!(error < 0.004, "{us}: {}", rounded(us));
        }
    }
}
