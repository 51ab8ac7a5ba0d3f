//! The series of seconds, put together from what the threads hand over.

use std::collections::BTreeMap;

use super::record::{HandOver, Second};
use crate::histogram;
use crate::report::SecondReport;

/// Adds up the threads' seconds; a second is complete once every thread is past it.
pub struct Gatherer {
    operations: Vec<String>,
    /// The first second that each thread is not past.
    past: Vec<u64>,
    /// By second and operation, added up over the threads.
    waiting: BTreeMap<u64, BTreeMap<usize, Second>>,
    /// The first second that is not complete.
    next: u64,
    /// The last second that any thread handed over.
    highest: Option<u64>,
}

impl Gatherer {
    pub fn new(operations: Vec<String>, threads: usize) -> Self {
        Gatherer {
            operations,
            past: vec![0; threads],
            waiting: BTreeMap::new(),
            next: 0,
            highest: None,
        }
    }

    /// Takes what a thread hands over. Returns the seconds that are complete now, with every
    /// operation in each, also where nothing was answered.
    pub fn take(&mut self, hand_over: HandOver) -> Vec<SecondReport> {
        self.past[hand_over.thread] = hand_over.until;
        if hand_over.until != u64::MAX {
            self.highest = self.highest.max(hand_over.until.checked_sub(1));
        }
        for second in hand_over.seconds {
            self.highest = self.highest.max(Some(second.second));
            let operations = self.waiting.entry(second.second).or_default();
            match operations.get_mut(&second.operation) {
                None => {
                    operations.insert(second.operation, second);
                }
                Some(known) => {
                    known.succeeded += second.succeeded;
                    known.errors += second.errors;
                    known.latency.add(&second.latency).expect("both have the same bounds");
                }
            }
        }
        let until = self.past.iter().copied().min().unwrap_or(0);
        let until = until.min(self.highest.map_or(0, |highest| highest + 1));
        let complete: Vec<u64> = (self.next..until).collect();
        self.next = self.next.max(until);
        complete.into_iter().flat_map(|second| self.report(second)).collect()
    }

    fn report(&mut self, second: u64) -> Vec<SecondReport> {
        let known = self.waiting.remove(&second).unwrap_or_default();
        let of = |(index, name): (usize, &String)| {
            let empty = SecondReport {
                second,
                operation: name.clone(),
                succeeded: 0,
                errors: 0,
                p50_us: None,
                p99_us: None,
                max_us: None,
                buckets: BTreeMap::new(),
            };
            let Some(sum) = known.get(&index) else {
                return empty;
            };
            let latency = &sum.latency;
            let at = |quantile| {
                (!latency.is_empty())
                    .then(|| latency.value_at_quantile(quantile).min(latency.max()))
            };
            SecondReport {
                succeeded: sum.succeeded,
                errors: sum.errors,
                p50_us: at(0.5),
                p99_us: at(0.99),
                max_us: at(1.0),
                buckets: histogram::buckets(latency),
                ..empty
            }
        };
        self.operations.iter().enumerate().map(of).collect()
    }
}
