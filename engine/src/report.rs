//! The engine's answers: the Rust half of `plimsoll/model/engine/answered.py`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::histogram::Summary;

/// How many errors there were, by code.
pub type Errors = BTreeMap<String, u64>;

/// Counts one more error; allocates only for a code's first.
pub fn count_error(errors: &mut Errors, code: &str) {
    match errors.get_mut(code) {
        Some(n) => *n += 1,
        None => {
            errors.insert(code.to_owned(), 1);
        }
    }
}

pub fn add_errors(to: &mut Errors, from: &Errors) {
    for (code, n) in from {
        *to.entry(code.clone()).or_default() += n;
    }
}

#[derive(Debug, Serialize)]
pub struct OperationReport {
    pub succeeded: u64,
    pub records: u64,
    pub rows: Option<u64>,
    pub rows_missing: Option<u64>,
    pub rolled_back: u64,
    pub retries: Errors,
    pub errors: Errors,
    pub latency_us: Summary,
    pub histogram: String,
    pub statements: Vec<StatementReport>,
}

/// What one statement of an operation did in the window.
#[derive(Debug, Serialize)]
pub struct StatementReport {
    pub sql: String,
    pub executed: u64,
    pub latency_us: Summary,
}

/// What one node of several did in the window.
#[derive(Debug, Serialize)]
pub struct NodeReport {
    pub address: String,
    pub ring_share: f64,
    pub succeeded: u64,
    pub errors: Errors,
    pub latency_us: Summary,
    pub histogram: String,
    pub statements_sent: u64,
    pub taken_over: u64,
    pub lost: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecondReport {
    pub second: u64,
    pub operation: String,
    pub succeeded: u64,
    pub errors: u64,
    pub p50_us: Option<u64>,
    pub p99_us: Option<u64>,
    pub max_us: Option<u64>,
    pub buckets: BTreeMap<u64, u64>,
}

#[derive(Debug, Serialize)]
pub struct SelfReport {
    pub cpu_user_s: f64,
    pub cpu_system_s: f64,
    pub polled_s: f64,
    pub cpu_us_per_operation: Option<f64>,
    pub busy_fraction: Option<f64>,
    pub processor_wait_s: Option<f64>,
    pub send_lateness_us: Option<Summary>,
    pub backlog_max: Option<u64>,
    pub backlog_end: Option<u64>,
    pub unsent: Option<u64>,
    pub unanswered: u64,
    pub oldest_unanswered_us: Option<u64>,
}

#[derive(Debug, Default, Serialize)]
pub struct ConnectionReport {
    pub opened: u64,
    pub replaced: u64,
    pub failed: Errors,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    Duration,
    Operations,
    Cancelled,
}

#[derive(Debug, Serialize)]
pub struct LoadReport {
    pub engine_version: &'static str,
    pub window_start_epoch_ms: i64,
    pub window_end_epoch_ms: i64,
    pub window_s: f64,
    pub late_start_ms: u64,
    pub connections: u32,
    pub threads: u32,
    pub poll_us: u32,
    pub rate_ops_per_second: Option<f64>,
    pub operations: BTreeMap<String, OperationReport>,
    pub nodes: Vec<NodeReport>,
    pub seconds: Vec<SecondReport>,
    pub client: SelfReport,
    pub connection_report: ConnectionReport,
    pub error_examples: BTreeMap<String, String>,
    pub statements_sent: u64,
    pub transaction_commands_sent: u64,
    pub operations_sent: u64,
    pub ended: Ended,
}

#[derive(Debug, Default, Serialize)]
pub struct DatasetReport {
    pub rows_sent: u64,
    pub rows_inserted: u64,
    pub errors: Errors,
}
