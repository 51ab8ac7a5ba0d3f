//! What the engine is told: the Rust half of `plimsoll/model/engine.py`.

mod values;

pub use values::{Alphabet, Distribution, Literal, Value};

use serde::Deserialize;

use crate::error::EngineError;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    #[serde(default)]
    pub ca_pem: Option<String>,
    #[serde(default = "yes")]
    pub verify: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    Mysql,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    pub protocol: Protocol,
    pub host: String,
    pub port: u16,
    pub user: String,
    pub password: String,
    pub database: String,
    #[serde(default)]
    pub tls: Option<Tls>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Let {
    pub name: String,
    pub value: Value,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    pub sql: Vec<String>,
    #[serde(default)]
    pub binds: Vec<Value>,
    #[serde(default = "one")]
    pub repeat: u32,
    #[serde(default)]
    pub choose: Option<Value>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operation {
    pub name: String,
    pub weight: f64,
    #[serde(default, rename = "let")]
    pub lets: Vec<Let>,
    #[serde(default)]
    pub transaction: bool,
    pub statements: Vec<Statement>,
    #[serde(default = "one_u64")]
    pub records: u64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeySpace {
    pub name: String,
    #[serde(default)]
    pub first: i64,
    pub records: u64,
    #[serde(default)]
    pub insert_from: Option<i64>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    pub key_spaces: Vec<KeySpace>,
    pub operations: Vec<Operation>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    Constant,
    Poisson,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Loop {
    Closed {},
    Open {
        #[serde(default = "constant")]
        arrivals: Arrivals,
        rate_ops_per_second: f64,
    },
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Load {
    pub target: Target,
    pub workload: Workload,
    pub connections: u32,
    #[serde(default = "one")]
    pub threads: u32,
    #[serde(default = "closed", rename = "loop")]
    pub pacing: Loop,
    #[serde(default)]
    pub warmup_s: f64,
    pub duration_s: f64,
    #[serde(default)]
    pub operations_limit: Option<u64>,
    #[serde(default = "minute_ms")]
    pub timeout_ms: u64,
    #[serde(default = "one_u64")]
    pub seed: u64,
    #[serde(default)]
    pub client_index: u32,
    #[serde(default = "one")]
    pub client_count: u32,
    #[serde(default)]
    pub start_at_epoch_ms: Option<i64>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dataset {
    pub target: Target,
    pub table: String,
    pub columns: Vec<String>,
    pub row: Vec<Value>,
    pub from_row: i64,
    pub to_row: i64,
    #[serde(default = "five_hundred")]
    pub rows_per_statement: u32,
    #[serde(default = "eight")]
    pub connections: u32,
    #[serde(default = "minute_ms")]
    pub timeout_ms: u64,
    #[serde(default = "one_u64")]
    pub seed: u64,
}

impl Load {
    /// Reads and checks a load's description.
    pub fn from_json(json: &str) -> Result<Self, EngineError> {
        let load: Load = parse(json)?;
        load.check()?;
        Ok(load)
    }

    fn check(&self) -> Result<(), EngineError> {
        let finite = |name: &str, value: f64, positive: bool| {
            let fits = value.is_finite() && (0.0..=1e6).contains(&value);
            if fits && (!positive || value > 0.0) {
                return Ok(());
            }
            Err(EngineError::spec(format!(
                "{name} is {value}: allowed are seconds up to 1,000,000"
            )))
        };
        finite("warmup_s", self.warmup_s, false)?;
        finite("duration_s", self.duration_s, true)?;
        range("connections", u64::from(self.connections), 1, 20_000)?;
        range("threads", u64::from(self.threads), 1, 64)?;
        range("timeout_ms", self.timeout_ms, 1, 300_000_000)?;
        if self.client_index >= self.client_count {
            return Err(EngineError::spec(format!(
                "client_index is {}: allowed is less than client_count, {}",
                self.client_index, self.client_count
            )));
        }
        if self.operations_limit == Some(0) {
            return Err(EngineError::spec("operations_limit is 0: allowed is 1 and more"));
        }
        if let Loop::Open { rate_ops_per_second: rate, .. } = self.pacing
            && !(rate.is_finite() && rate > 0.0 && rate <= 1e7)
        {
            return Err(EngineError::spec(format!(
                "rate_ops_per_second is {rate}: allowed is more than 0 and up to 10,000,000"
            )));
        }
        Ok(())
    }
}

impl Dataset {
    /// Reads and checks a dataset's description.
    pub fn from_json(json: &str) -> Result<Self, EngineError> {
        let dataset: Dataset = parse(json)?;
        range("connections", u64::from(dataset.connections), 1, 1_000)?;
        range("rows_per_statement", u64::from(dataset.rows_per_statement), 1, 65_535)?;
        range("timeout_ms", dataset.timeout_ms, 1, 300_000_000)?;
        if dataset.columns.is_empty() || dataset.columns.len() != dataset.row.len() {
            return Err(EngineError::spec(format!(
                "row has {} values for {} columns",
                dataset.row.len(),
                dataset.columns.len()
            )));
        }
        Ok(dataset)
    }
}

/// Reads JSON; an error names the field and the place.
pub fn parse<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, EngineError> {
    serde_json::from_str(json).map_err(|error| EngineError::spec(format!("spec: {error}")))
}

fn range(name: &str, value: u64, low: u64, high: u64) -> Result<(), EngineError> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err(EngineError::spec(format!("{name} is {value}: allowed are {low} to {high}")))
}

fn yes() -> bool {
    true
}
fn one() -> u32 {
    1
}
fn one_u64() -> u64 {
    1
}
fn eight() -> u32 {
    8
}
fn five_hundred() -> u32 {
    500
}
fn minute_ms() -> u64 {
    60_000
}
fn constant() -> Arrivals {
    Arrivals::Constant
}
fn closed() -> Loop {
    Loop::Closed {}
}
