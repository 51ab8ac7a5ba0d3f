//! What the clients of a step measured, added up one client at a time: what is kept grows with the
//! seconds and the latencies that there were, not with the number of clients.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use crate::error::EngineError;
use crate::histogram::{self, Histogram, Summary};
use crate::report::SecondReport;

/// The fields of an object, each as its text.
type Fields<'a> = BTreeMap<String, &'a RawValue>;

/// The sums of all clients so far.
#[derive(Default)]
pub struct Fold {
    histograms: BTreeMap<String, Histogram>,
    /// Each operation's seconds, in the order in which the operations were first seen.
    seconds: Vec<(String, BTreeMap<u64, Second>)>,
}

/// One operation in one second.
#[derive(Default)]
struct Second {
    succeeded: u64,
    errors: u64,
    max_us: Option<u64>,
    buckets: BTreeMap<u64, u64>,
    /// How many clients had this p99, in microseconds; a histogram tells apart some 20,000.
    p99s: BTreeMap<u64, u64>,
}

/// One operation over the window of all clients.
#[derive(Debug, Serialize)]
pub struct OperationSum {
    pub latency_us: Summary,
    pub histogram: String,
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

impl Fold {
    /// Adds a client's file (`ClientResult`). Returns it without its seconds and histograms, which
    /// are most of it. A file that cannot be read adds nothing.
    pub fn add(&mut self, client: &[u8]) -> Result<String, EngineError> {
        let file: Fields = parsed(client)?;
        let report: Fields = read(&file, "report")?;
        let mut operations: BTreeMap<String, Fields> = read(&report, "operations")?;
        let seconds: Vec<SecondReport> = read(&report, "seconds")?;
        let mut histograms = Vec::new();
        for (name, operation) in &operations {
            let text: String = read(operation, "histogram")?;
            // into bounds of our own: a histogram above them is refused before any is added
            histograms.push((name, histogram::merge(&[text])?));
        }
        for (name, histogram) in histograms {
            let sum = self.histograms.entry(name.clone()).or_insert_with(histogram::new);
            sum.add(&histogram).expect("both have the same bounds");
        }
        for second in seconds {
            self.add_second(second);
        }
        let (no_text, no_list) = (raw(&"")?, raw(&[(); 0])?);
        for operation in operations.values_mut() {
            operation.insert("histogram".to_owned(), &no_text);
        }
        let operations = raw(&operations)?;
        let report = with(report, &[("operations", &*operations), ("seconds", &*no_list)])?;
        Ok(with(file, &[("report", &*report)])?.get().to_owned())
    }

    fn add_second(&mut self, of_client: SecondReport) {
        let known = self.seconds.iter().position(|(name, _)| *name == of_client.operation);
        let place = known.unwrap_or_else(|| {
            self.seconds.push((of_client.operation, BTreeMap::new()));
            self.seconds.len() - 1
        });
        let sum = self.seconds[place].1.entry(of_client.second).or_default();
        sum.succeeded = sum.succeeded.saturating_add(of_client.succeeded);
        sum.errors = sum.errors.saturating_add(of_client.errors);
        sum.max_us = sum.max_us.max(of_client.max_us);
        for (upper, count) in of_client.buckets {
            let counted = sum.buckets.entry(upper).or_default();
            *counted = counted.saturating_add(count);
        }
        if let Some(p99) = of_client.p99_us {
            *sum.p99s.entry(p99).or_default() += 1;
        }
    }

    /// Each operation's merged histogram.
    pub fn operations(&self) -> BTreeMap<&str, OperationSum> {
        let sum = |merged| OperationSum {
            latency_us: Summary::of(merged),
            histogram: histogram::encode(merged),
        };
        self.histograms.iter().map(|(name, merged)| (name.as_str(), sum(merged))).collect()
    }

    /// Every second in which a client was, by time and operation, of a step whose load began then.
    pub fn seconds(&self, start_epoch_s: u64, step: u64) -> Vec<SecondSum<'_>> {
        let mut rows = Vec::new();
        for (operation, seconds) in &self.seconds {
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
        for (operation, seconds) in &self.seconds {
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

fn parsed<'a, T: Deserialize<'a>>(text: &'a [u8]) -> Result<T, EngineError> {
    serde_json::from_slice(text).map_err(|error| EngineError::new("client", error.to_string()))
}

fn read<'a, T: Deserialize<'a>>(fields: &Fields<'a>, name: &str) -> Result<T, EngineError> {
    let missing = || EngineError::new("client", format!("`{name}` is missing"));
    let text: &'a RawValue = fields.get(name).copied().ok_or_else(missing)?;
    parsed(text.get().as_bytes()).map_err(|error| error.context(name))
}

fn raw(value: &impl Serialize) -> Result<Box<RawValue>, EngineError> {
    to_raw_value(value).map_err(|error| EngineError::new("internal", error.to_string()))
}

/// The same object with some of its fields changed.
fn with<'a>(
    mut fields: Fields<'a>,
    changed: &[(&str, &'a RawValue)],
) -> Result<Box<RawValue>, EngineError> {
    for &(name, value) in changed {
        fields.insert(name.to_owned(), value);
    }
    raw(&fields)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn client(latencies_us: &[u64], p99s: &[u64]) -> Value {
        let mut histogram = histogram::new();
        for &us in latencies_us {
            histogram.record(us).expect("in range");
        }
        let seconds: Vec<Value> = p99s
            .iter()
            .enumerate()
            .map(|(second, p99)| {
                json!({"second": second, "operation": "read", "succeeded": 3, "errors": 1,
                    "p50_us": 1, "p99_us": p99, "max_us": p99, "buckets": {"128": 3}})
            })
            .collect();
        let read = json!({"succeeded": 3, "histogram": histogram::encode(&histogram)});
        json!({"client": 7, "report": {"operations": {"read": read}, "seconds": seconds}})
    }

    fn folded(clients: &[Value]) -> Fold {
        let mut fold = Fold::default();
        for client in clients {
            fold.add(client.to_string().as_bytes()).expect("it is a client's file");
        }
        fold
    }

    #[test]
    fn what_is_left_of_a_file_is_all_but_its_seconds_and_histograms() {
        let rest = Fold::default().add(client(&[5], &[9]).to_string().as_bytes()).expect("a file");
        let rest: Value = serde_json::from_str(&rest).expect("it is JSON");
        let read = json!({"succeeded": 3, "histogram": ""});
        let report = json!({"operations": {"read": read}, "seconds": []});
        assert_eq!(rest, json!({"client": 7, "report": report}));
    }

    #[test]
    fn histograms_and_seconds_are_added_up() {
        let fold = folded(&[client(&[100; 99], &[20, 30]), client(&[10_000; 11], &[40])]);
        let operations = fold.operations();
        assert_eq!(operations["read"].latency_us.p50, Some(100));
        let merged = histogram::decode(&operations["read"].histogram).expect("a histogram");
        assert_eq!(merged.len(), 110);
        let rows = fold.seconds(1_000, 4);
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[0].epoch_s, rows[1].epoch_s, rows[0].step), (1_000, 1_001, 4));
        assert_eq!((rows[0].succeeded, rows[0].errors), (6, 2));
        assert_eq!((rows[0].max_us, rows[1].max_us), (Some(40), Some(30)));
        assert_eq!(rows[0].buckets, &BTreeMap::from([(128, 6)]));
    }

    #[test]
    fn the_median_is_of_every_clients_second_in_the_range() {
        let fold = folded(&[client(&[], &[20, 30, 90]), client(&[], &[40, 50])]);
        assert_eq!(fold.p99_medians(0, 2), [("read", 35.0)]);
        assert_eq!(fold.p99_medians(1, 3), [("read", 50.0)]);
        assert!(fold.p99_medians(3, 9).is_empty() && fold.p99_medians(2, 1).is_empty());
    }

    #[test]
    fn a_file_that_cannot_be_read_says_where_and_adds_nothing() {
        let whole = client(&[1], &[1]).to_string();
        let mut broken = client(&[1], &[1]);
        broken["report"]["operations"]["read"]["histogram"] = json!("aGVsbG8=");
        let mut negative = client(&[1], &[1]);
        negative["report"]["seconds"][0]["succeeded"] = json!(-1);
        let mut fold = Fold::default();
        for (text, said) in [
            (whole[..whole.len() / 2].to_owned(), "EOF"),
            ("{}".to_owned(), "`report` is missing"),
            (r#"{"report": 1}"#.to_owned(), "report: invalid type"),
            (broken.to_string(), "no histogram"),
            (negative.to_string(), "seconds: invalid value"),
        ] {
            let error = fold.add(text.as_bytes()).expect_err(said);
            assert!(error.message.contains(said), "{error}");
        }
        assert!(fold.seconds(0, 1).is_empty() && fold.operations().is_empty());
    }
}
