//! Loads against the fake servers: a plain one of each family, and what a test changes of it.

use std::sync::atomic::AtomicBool;

use plimsoll_engine::error::EngineError;
use plimsoll_engine::family;
use plimsoll_engine::load::run::Listener;
use plimsoll_engine::report::{LoadReport, SecondReport};
use plimsoll_engine::spec::Load;
use serde_json::{Value, json};

/// The operation of a plain load.
pub const READ: &str = "read";

pub fn target(protocol: &str, port: u16) -> Value {
    json!({"protocol": protocol, "host": "127.0.0.1", "port": port, "user": "u", "password": "p",
           "database": "d"})
}

/// A key that is a text, as CQL's fake server takes it.
pub fn text_key() -> Value {
    json!({"kind": "format", "template": "user{}", "of": [{"kind": "key", "key_space": "rows"}]})
}

pub fn mysql(port: u16) -> Value {
    reads(&target("mysql", port), &json!({"kind": "key", "key_space": "rows"}))
}

pub fn cql(port: u16) -> Value {
    reads(&target("cql", port), &text_key())
}

pub fn postgres(port: u16) -> Value {
    let key = json!({"kind": "key", "key_space": "rows"});
    let mut load = reads(&target("postgres", port), &key);
    let sql = &mut load["workload"]["operations"][0]["statements"][0]["sql"];
    *sql = json!(["SELECT c FROM t WHERE id = $1"]);
    load
}

/// As above, by simple queries, with md5 allowed.
pub fn simple_postgres(port: u16) -> Value {
    let mut load = postgres(port);
    (load["target"]["statement_mode"], load["target"]["allow_md5"]) =
        (json!("simple"), json!(true));
    load
}

fn reads(target: &Value, key: &Value) -> Value {
    let read = json!({"sql": ["SELECT c FROM t WHERE id = ?"], "binds": [key]});
    json!({
        "target": target,
        "workload": {"key_spaces": [{"name": "rows", "records": 1000}],
                     "operations": [{"name": READ, "weight": 1, "statements": [read]}]},
        "connections": 2, "duration_s": 60, "timeout_ms": 30_000,
    })
}

/// Inserts, a transaction of four statements, and reads that walk. `binds`: how a statement names its
/// first and its second one; `column`: what is written beside a key.
pub fn mixed([first, second]: [&str; 2], column: &Value) -> Value {
    let key =
        |kind: &str| json!({"kind": "key", "key_space": "rows", "distribution": {"kind": kind}});
    let new = json!({"kind": "next_key", "key_space": "rows"});
    let of = |table: &str| format!("SELECT c FROM {table} WHERE id = {first}");
    json!({
        "key_spaces": [{"name": "rows", "records": 1000}],
        "operations": [
            {"name": "insert", "weight": 1, "statements": [
                {"sql": [format!("INSERT INTO t VALUES ({first}, {second})")],
                 "binds": [new, column]}]},
            {"name": "transfer", "weight": 1, "transaction": true, "statements": [
                {"sql": [of("t"), of("s")], "binds": [key("latest")], "repeat": 3},
                {"sql": [format!("UPDATE t SET c = {first} WHERE id = {second}")],
                 "binds": [column, key("zipfian")]}]},
            {"name": "walk", "weight": 1, "statements": [
                {"sql": [of("t")], "binds": [key("sequential")]}]},
        ],
    })
}

/// Runs a load with these fields changed.
pub fn run(load: Value, changes: &Value) -> Result<LoadReport, EngineError> {
    run_calling(load, changes, |_| true)
}

/// Runs a load with these fields changed; `on_seconds` takes the seconds, and may cancel it.
pub fn run_calling(
    mut load: Value,
    changes: &Value,
    on_seconds: impl FnMut(&[SecondReport]) -> bool,
) -> Result<LoadReport, EngineError> {
    for (name, value) in changes.as_object().expect("an object") {
        load[name] = value.clone();
    }
    let load = Load::from_json(&load.to_string())?;
    family::run(&load, &AtomicBool::new(false), &mut Callback(on_seconds))
}

/// Runs a load, five times at most, until it is sound: a machine that stands still spoils it.
pub fn undisturbed(
    sound: impl Fn(&LoadReport) -> bool,
    mut load: impl FnMut() -> Result<LoadReport, EngineError>,
) -> LoadReport {
    let mut report = load().expect("it starts");
    for _ in 1..5 {
        if sound(&report) {
            break;
        }
        report = load().expect("it starts");
    }
    report
}

struct Callback<F>(F);

impl<F: FnMut(&[SecondReport]) -> bool> Listener for Callback<F> {
    fn seconds_passed(&mut self, seconds: &[SecondReport]) -> bool {
        (self.0)(seconds)
    }
}
