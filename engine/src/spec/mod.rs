//! What the engine is asked to do: the Rust half of `plimsoll/model/engine/asked.py`, where the fields and
//! their units are described.

mod checks;
mod network;
mod scripts;
mod values;

pub use network::Network;
pub use scripts::{Formula, FormulaFunction, Scalar, SessionValue, SessionVariable};
pub use values::{Alphabet, Distribution, Expression, Function, Literal, Value};

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

/// The wire protocol of a target's server; `family` has the code of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// MySQL and MariaDB.
    Mysql,
    /// Apache Cassandra.
    Cql,
    /// PostgreSQL, and what speaks its protocol.
    Postgres,
}

/// How statements are sent to PostgreSQL.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StatementMode {
    /// Prepared on each connection, then executed with binary values.
    #[default]
    Prepared,
    /// As texts with the values in them, for poolers that keep no prepared statements.
    Simple,
}

/// How many replicas must have answered, by the numbers of CQL's protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[repr(u16)]
pub enum Consistency {
    Any = 0x00,
    One = 0x01,
    Two = 0x02,
    Three = 0x03,
    Quorum = 0x04,
    All = 0x05,
    LocalQuorum = 0x06,
    EachQuorum = 0x07,
    LocalOne = 0x0a,
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
    #[serde(default = "ten_seconds")]
    pub login_timeout_ms: u32,
    /// PostgreSQL only.
    #[serde(default)]
    pub statement_mode: StatementMode,
    /// PostgreSQL only: whether a server may ask for an md5 login, which whoever listens can break.
    #[serde(default)]
    pub allow_md5: bool,
    /// CQL only: where a cluster's nodes may be, on the target's own port. Empty: the load goes to
    /// `host` alone, and nothing is asked for others.
    #[serde(default)]
    pub nodes: Vec<Network>,
    /// What each session sets when it opens, by name: SQL expressions for MySQL, texts for
    /// PostgreSQL's startup message, nothing for CQL.
    #[serde(default)]
    pub session_settings: Vec<(String, String)>,
}

fn ten_seconds() -> u32 {
    10_000
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
    #[serde(default = "one_u32")]
    pub repeat: u32,
    #[serde(default)]
    pub choose: Option<Value>,
    /// The least number of rows that an execution has to return, match or insert.
    #[serde(default)]
    pub rows_least: u64,
    /// The variables that take the first columns of the first row; null if there is no row.
    #[serde(default)]
    pub returns: Vec<Returned>,
    /// Which row that is.
    #[serde(default)]
    pub row: Row,
    /// The part that is repeated for each line of a list. `sql` then has each alternative for the
    /// least number of lines up to the most, and `rows_least` is of one line. The first column that it
    /// returns is the list's key: each row belongs to the line with that key.
    #[serde(default)]
    pub each: Option<Each>,
}

/// The part of a statement that is repeated for each line of a list: the binds [first, end).
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Each {
    pub list: String,
    pub first: usize,
    pub end: usize,
}

/// Lines that an operation draws once, after its `let`: each has variables of its own.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    /// Also the variable with a line's number, from 1.
    pub name: String,
    pub count: Value,
    /// The bounds of `count`.
    pub least: u32,
    pub most: u32,
    #[serde(rename = "let")]
    pub lets: Vec<Let>,
    /// The variable by which lines are sorted, no two alike; None for their number.
    #[serde(default)]
    pub key: Option<String>,
    /// The lines' variables that statements return.
    #[serde(default)]
    pub returned: Vec<Returned>,
}

/// Which row of a result variables take their values from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Row {
    /// The first. Without a row the variables are null.
    #[default]
    First,
    /// The only one: any other number of rows is a failure (pgbench's `\gset`).
    Only,
    /// The last. Without a row the variables stay as they are (pgbench's `\aset`).
    Last,
}

/// A variable that takes a column of a statement's result.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Returned {
    pub name: String,
    pub kind: ReturnedKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReturnedKind {
    Integer,
    Text,
}

/// A part of an operation with logic.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Step {
    /// A statement, by its index.
    Send {
        statement: usize,
        /// Whether the next steps are taken before this one is answered, if the protocol allows it.
        /// If this is not said, they are: on PostgreSQL, after a statement that returns no variables.
        #[serde(default)]
        ahead: Option<bool>,
    },
    If {
        condition: Expression,
        then: Vec<Step>,
        #[serde(default)]
        otherwise: Vec<Step>,
    },
    Repeat {
        times: Value,
        /// The variable with the number of the turn, from 1.
        turn: String,
        /// Drawn in each turn.
        #[serde(default, rename = "let")]
        lets: Vec<Let>,
        steps: Vec<Step>,
    },
    /// Takes steps for each line of a list, with the line's variables.
    Each { list: String, steps: Vec<Step> },
    /// Ends the operation, which has succeeded.
    Rollback {},
    /// Waits for the answers to what was sent ahead.
    Await {},
    /// Computes a variable of the connection. `place` is the command's file and line.
    Set { name: String, of: Formula, place: String },
    /// Takes some steps or others, by whether a formula is true.
    When {
        condition: Formula,
        place: String,
        then: Vec<Step>,
        #[serde(default)]
        otherwise: Vec<Step>,
    },
    /// Waits so many microseconds, times the whole number that a variable begins with.
    Sleep {
        us: u64,
        #[serde(default)]
        times: Option<String>,
        place: String,
    },
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operation {
    pub name: String,
    pub weight: f64,
    #[serde(default, rename = "let")]
    pub lets: Vec<Let>,
    #[serde(default)]
    pub lists: Vec<List>,
    #[serde(default)]
    pub transaction: bool,
    /// Whether its statements begin and end transactions themselves.
    #[serde(default)]
    pub own_transactions: bool,
    pub statements: Vec<Statement>,
    /// The order of the statements, with conditions and loops; empty if each is sent in turn.
    #[serde(default)]
    pub steps: Vec<Step>,
    /// The most tries, if deadlocks or serialization failures undo it.
    #[serde(default = "one_u32")]
    pub max_tries: u32,
    /// Closed loop: the time before it is sent.
    #[serde(default)]
    pub keying_s: f64,
    /// Closed loop: the mean of the exponential time after it.
    #[serde(default)]
    pub think_s: f64,
    #[serde(default = "one_u64")]
    pub records: u64,
    #[serde(default = "consistency_one")]
    pub consistency: Consistency,
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
    #[serde(default)]
    pub mix: Mix,
    #[serde(default)]
    pub variables: Vec<SessionVariable>,
}

/// How the next operation is chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mix {
    /// Each time by the weights.
    #[default]
    Weights,
    /// From a shuffled deck of each connection, with as many cards of an operation as its weight
    /// (TPC-C, clause 5.2.4.2).
    Deck,
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
    #[serde(default = "one_hundred_twenty_eight")]
    pub streams_per_connection: u32,
    #[serde(default = "one_u32")]
    pub threads: u32,
    #[serde(default)]
    pub poll_us: u32,
    #[serde(default = "closed", rename = "loop")]
    pub pacing: Loop,
    #[serde(default)]
    pub warmup_s: f64,
    pub duration_s: f64,
    #[serde(default)]
    pub operations_limit: Option<u64>,
    #[serde(default)]
    pub sequence_from: u64,
    #[serde(default = "minute_ms")]
    pub timeout_ms: u64,
    #[serde(default = "one_u64")]
    pub seed: u64,
    #[serde(default)]
    pub client_index: u32,
    #[serde(default = "one_u32")]
    pub client_count: u32,
    #[serde(default)]
    pub start_at_epoch_ms: Option<i64>,
    /// Whether the latency of each statement is recorded; a transaction is not sent as a whole then.
    #[serde(default)]
    pub statement_latencies: bool,
}

/// In which order rows are loaded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadOrder {
    /// In key order, among the rows of one call. Each page is then filled once.
    #[default]
    Key,
    /// In the order of their numbers, as YCSB does.
    Number,
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
    #[serde(default)]
    pub load_order: LoadOrder,
    #[serde(default = "five_hundred")]
    pub rows_per_statement: u32,
    #[serde(default = "eight")]
    pub connections: u32,
    #[serde(default = "minute_ms")]
    pub timeout_ms: u64,
    #[serde(default = "one_u64")]
    pub seed: u64,
}

/// Reads JSON. An error names the field, and its line and column.
pub fn parse<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, EngineError> {
    serde_json::from_str(json).map_err(|error| EngineError::spec(format!("spec: {error}")))
}

fn yes() -> bool {
    true
}
fn one_u32() -> u32 {
    1
}
fn one_u64() -> u64 {
    1
}
fn one_hundred_twenty_eight() -> u32 {
    128
}
fn consistency_one() -> Consistency {
    Consistency::One
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
