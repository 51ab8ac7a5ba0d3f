//! The series of seconds, put together from what the threads tell.

use std::collections::BTreeMap;

use super::record::{Second, Turned};
use crate::histogram;
use crate::report::SecondReport;

/// Gathers the threads' seconds; a second is complete once every thread is past it.
pub struct Gatherer {
    operations: Vec<String>,
    past: Vec<u64>,
    waiting: BTreeMap<u64, BTreeMap<usize, Second>>,
    next: u64,
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

    /// Takes what a thread told; returns the seconds that are complete now, every operation in
    /// each, also where nothing was answered.
    pub fn take(&mut self, turned: Turned) -> Vec<SecondReport> {
        self.past[turned.thread] = turned.until;
        if turned.until != u64::MAX {
            self.highest = self.highest.max(turned.until.checked_sub(1));
        }
        for second in turned.seconds {
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
            let Some(found) = known.get(&index) else {
                return empty;
            };
            let latency = &found.latency;
            let at = |quantile| {
                (!latency.is_empty())
                    .then(|| latency.value_at_quantile(quantile).min(latency.max()))
            };
            SecondReport {
                succeeded: found.succeeded,
                errors: found.errors,
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
