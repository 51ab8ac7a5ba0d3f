//! Adds up what the clients of a step measured, one client at a time. Memory grows with the number
//! of seconds and of different latencies, and not with the number of clients.

mod seconds;

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use self::seconds::{SecondSum, Seconds};
use crate::error::EngineError;
use crate::histogram::{self, Histogram, Summary};
use crate::report::SecondReport;

/// More operations, nodes or fields than any step has: each of the first two takes a histogram.
const MOST: usize = 1_000;
/// More than any step has, counted for each operation: a day of ten operations has 864,000.
const SECONDS_MOST: usize = 1_000_000;

/// An object of at most [`MOST`] fields, by their names.
#[derive(Serialize)]
struct Named<T>(BTreeMap<String, T>);

/// The fields of an object, each as its text.
type Fields<'a> = Named<&'a RawValue>;

/// The sums of all clients so far.
#[derive(Default)]
pub struct Fold {
    histograms: BTreeMap<String, Histogram>,
    /// The sums of each node of a cluster, by its address.
    nodes: BTreeMap<String, Histogram>,
    seconds: Seconds,
}

/// One operation, or one node, over the window of all clients.
#[derive(Debug, Serialize)]
pub struct LatencySum {
    pub latency_us: Summary,
    pub histogram: String,
}

impl Fold {
    /// Adds a client's file (`ClientResult`). Returns it without its seconds and histograms, which
    /// are most of it. A file that cannot be read adds nothing; one with which there are more
    /// operations, nodes or seconds than a step has ends the fold.
    pub fn add(&mut self, client: &[u8]) -> Result<String, EngineError> {
        let file: Fields = parsed(client)?;
        let report: Fields = read(&file, "report")?;
        let mut operations: Named<Fields> = read(&report, "operations")?;
        let mut nodes: Vec<Fields> =
            if report.0.contains_key("nodes") { read(&report, "nodes")? } else { Vec::new() };
        if nodes.len() > MOST {
            return Err(wrong(format!("it has more than {MOST} nodes")));
        }
        let seconds: Vec<SecondReport> = read(&report, "seconds")?;
        seconds.iter().try_for_each(seconds::check)?;
        let mut of_operations = Vec::new();
        for (name, operation) in &operations.0 {
            of_operations.push((name.clone(), own_histogram(operation)?));
        }
        let mut of_nodes = Vec::new();
        for node in &nodes {
            of_nodes.push((read(node, "address")?, own_histogram(node)?));
        }
        add_all(of_operations, &mut self.histograms);
        add_all(of_nodes, &mut self.nodes);
        for second in seconds {
            self.seconds.add(second);
        }
        let named = self.histograms.len().max(self.nodes.len()).max(self.seconds.operations());
        if named > MOST || self.seconds.len() > SECONDS_MOST {
            return Err(wrong(format!(
                "with it the step has more than {MOST} operations or nodes, or more than \
                 {SECONDS_MOST} of their seconds"
            )));
        }
        let (no_text, no_list) = (raw(&"")?, raw(&[(); 0])?);
        for fields in operations.0.values_mut().chain(&mut nodes) {
            fields.0.insert("histogram".to_owned(), &no_text);
        }
        let (operations, nodes) = (raw(&operations)?, raw(&nodes)?);
        let changed = [("operations", &*operations), ("nodes", &*nodes), ("seconds", &*no_list)];
        let report = with(report, &changed)?;
        Ok(with(file, &[("report", &*report)])?.get().to_owned())
    }

    /// Each operation's merged histogram.
    pub fn operations(&self) -> BTreeMap<&str, LatencySum> {
        sums(&self.histograms)
    }

    /// Each node's merged histogram, by its address; empty if the target has one node.
    pub fn nodes(&self) -> BTreeMap<&str, LatencySum> {
        sums(&self.nodes)
    }

    /// Every second in which a client was, by time and operation, of a step whose load began then.
    pub fn seconds(&self, start_epoch_s: u64, step: u64) -> Vec<SecondSum<'_>> {
        self.seconds.rows(start_epoch_s, step)
    }

    /// The median of the clients' p99s of each second from `first` to before `past`, by operation,
    /// in microseconds; without operations that have none.
    pub fn p99_medians(&self, first: u64, past: u64) -> Vec<(&str, f64)> {
        self.seconds.p99_medians(first, past)
    }
}

fn sums(histograms: &BTreeMap<String, Histogram>) -> BTreeMap<&str, LatencySum> {
    let sum = |merged| LatencySum {
        latency_us: Summary::of(merged),
        histogram: histogram::encode(merged),
    };
    histograms.iter().map(|(name, merged)| (name.as_str(), sum(merged))).collect()
}

/// Reads a histogram within the bounds of this module; one beyond them is refused before it is added.
fn own_histogram(fields: &Fields) -> Result<Histogram, EngineError> {
    histogram::merge(&[read(fields, "histogram")?])
}

fn add_all(of_client: Vec<(String, Histogram)>, sums: &mut BTreeMap<String, Histogram>) {
    for (name, histogram) in of_client {
        let sum = sums.entry(name).or_insert_with(histogram::new);
        sum.add(&histogram).expect("both have the same bounds");
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Reader<T> {
            type Value = Named<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Named<T>, A::Error> {
                let mut named = BTreeMap::new();
                while let Some((name, value)) = map.next_entry()? {
                    named.insert(name, value);
                    if named.len() > MOST {
                        return Err(A::Error::custom(format!("more than {MOST} fields")));
                    }
                }
                Ok(Named(named))
            }
        }
        deserializer.deserialize_map(Reader(PhantomData))
    }
}

fn wrong(message: String) -> EngineError {
    EngineError::new("client", message)
}

fn parsed<'a, T: Deserialize<'a>>(text: &'a [u8]) -> Result<T, EngineError> {
    serde_json::from_slice(text).map_err(|error| wrong(error.to_string()))
}

fn read<'a, T: Deserialize<'a>>(fields: &Fields<'a>, name: &str) -> Result<T, EngineError> {
    let missing = || wrong(format!("`{name}` is missing"));
    let text: &'a RawValue = fields.0.get(name).copied().ok_or_else(missing)?;
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
        fields.0.insert(name.to_owned(), value);
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
        let report = json!({"operations": {"read": read}, "nodes": [], "seconds": []});
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
    fn nodes_are_added_up_by_their_addresses() {
        let of_nodes = |each: &[(&str, u64)]| {
            let mut file = client(&[1], &[1]);
            let node = |&(address, us): &(&str, u64)| {
                let mut histogram = histogram::new();
                histogram.record(us).expect("in range");
                json!({"address": address, "lost": 1, "histogram": histogram::encode(&histogram)})
            };
            file["report"]["nodes"] = each.iter().map(node).collect();
            file
        };
        let files = [of_nodes(&[("a", 10), ("b", 20)]), of_nodes(&[("b", 40), ("c", 30)])];
        let mut fold = Fold::default();
        let rest = fold.add(files[0].to_string().as_bytes()).expect("a file");
        let rest: Value = serde_json::from_str(&rest).expect("it is JSON");
        let kept = json!({"address": "b", "lost": 1, "histogram": ""});
        assert_eq!(rest["report"]["nodes"][1], kept);
        fold.add(files[1].to_string().as_bytes()).expect("a file");
        let most = fold.nodes().into_iter().map(|(address, sum)| (address, sum.latency_us.max));
        assert_eq!(most.collect::<Vec<_>>(), [("a", Some(10)), ("b", Some(40)), ("c", Some(30))]);
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
        let mut no_node = client(&[1], &[1]);
        no_node["report"]["nodes"] = json!([{"histogram": histogram::encode(&histogram::new())}]);
        let mut many = client(&[1], &[1]);
        let read = &many["report"]["operations"]["read"];
        let named = (0..=MOST).map(|name| (name.to_string(), read.clone())).collect();
        many["report"]["operations"] = Value::Object(named);
        let changed = |name: &str, value: Value| {
            let mut file = client(&[1], &[1]);
            file["report"]["seconds"][0][name] = value;
            file.to_string()
        };
        let buckets: BTreeMap<u64, u64> = (1..1_000).map(|upper| (upper, 1)).collect();
        let mut fold = Fold::default();
        for (text, said) in [
            (whole[..whole.len() / 2].to_owned(), "EOF"),
            ("{}".to_owned(), "`report` is missing"),
            (r#"{"report": 1}"#.to_owned(), "report: invalid type"),
            (broken.to_string(), "no histogram"),
            (changed("succeeded", json!(-1)), "seconds: invalid value"),
            (changed("succeeded", json!(1_u64 << 60)), "no second has so many"),
            (changed("max_us", json!(1_u64 << 60)), "no second has so many"),
            (changed("buckets", json!({"1": 1_u64 << 60})), "no second has so many"),
            (changed("buckets", json!(buckets)), "no second has so many"),
            (changed("buckets", json!({"0": 1})), "no second has so many"),
            (changed("second", json!(1_u64 << 60)), "no second has so many"),
            (no_node.to_string(), "`address` is missing"),
            (many.to_string(), "operations: more than 1000 fields"),
        ] {
            let error = fold.add(text.as_bytes()).expect_err(said);
            assert!(error.message.contains(said), "{error}");
        }
        assert!(fold.seconds(0, 1).is_empty() && fold.operations().is_empty());
    }

    #[test]
    fn files_that_each_have_few_operations_or_seconds_have_not_too_many_together() {
        let mut fold = Fold::default();
        let named = |name: usize| {
            let mut file = client(&[1], &[1]);
            file["report"]["operations"] = json!({});
            file["report"]["seconds"][0]["operation"] = json!(name.to_string());
            fold.add(file.to_string().as_bytes())
        };
        let all: Result<Vec<String>, EngineError> = (0..=MOST).map(named).collect();
        let message = all.expect_err("too many").message;
        assert!(message.contains("with it the step has more than 1000 operations"), "{message}");
    }
}
