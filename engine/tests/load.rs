//! Whole loads in the MySQL protocol, against the fake server.

mod support;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};

use plimsoll_engine::error::EngineError;
use plimsoll_engine::family::run;
use plimsoll_engine::load::run::Listener;
use plimsoll_engine::report::{Ended, LoadReport, SecondReport};
use plimsoll_engine::spec::Load;
use serde_json::{Value, json};

use support::mysql_server::{Action, EXECUTE, Gate, QUERY, Server};

const READ: &str = "read";

/// Takes the seconds, and may cancel.
struct Callback<F: FnMut(&[SecondReport]) -> bool>(F);

impl<F: FnMut(&[SecondReport]) -> bool> Listener for Callback<F> {
    fn seconds_passed(&mut self, seconds: &[SecondReport]) -> bool {
        (self.0)(seconds)
    }
}

fn load(server: &Server, changes: &Value) -> Result<LoadReport, EngineError> {
    load_calling(server, changes, |_| true)
}

fn load_calling(
    server: &Server,
    changes: &Value,
    on_seconds: impl FnMut(&[SecondReport]) -> bool,
) -> Result<LoadReport, EngineError> {
    let key = json!({"kind": "key", "key_space": "rows"});
    let read = json!({"sql": ["SELECT c FROM t WHERE id = ?"], "binds": [key]});
    let mut spec = json!({
        "target": {"protocol": "mysql", "host": "127.0.0.1", "port": server.port, "user": "u",
                   "password": "p", "database": "d"},
        "workload": {"key_spaces": [{"name": "rows", "records": 1000}],
                     "operations": [{"name": READ, "weight": 1, "statements": [read]}]},
        "connections": 2, "duration_s": 60, "timeout_ms": 30_000,
    });
    for (name, value) in changes.as_object().expect("an object") {
        spec[name] = value.clone();
    }
    run(&Load::from_json(&spec.to_string())?, &AtomicBool::new(false), &mut Callback(on_seconds))
}

/// Runs a load, five times at most, until it is sound: a machine that stands still spoils it.
fn undisturbed(
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

/// Reads of 3 kinds of keys, inserts, texts; the second operation is a transaction.
fn mixed_workload() -> Value {
    let key =
        |kind: &str| json!({"kind": "key", "key_space": "rows", "distribution": {"kind": kind}});
    let text = json!({"kind": "text", "length": 300});
    let new = json!({"kind": "next_key", "key_space": "rows"});
    json!({
        "key_spaces": [{"name": "rows", "records": 1000}],
        "operations": [
            {"name": "insert", "weight": 1, "statements": [
                {"sql": ["INSERT INTO t VALUES (?, ?)"], "binds": [new, text]}]},
            {"name": "transfer", "weight": 1, "transaction": true, "statements": [
                {"sql": ["SELECT c FROM t WHERE id = ?", "SELECT c FROM s WHERE id = ?"],
                 "binds": [key("latest")], "repeat": 3},
                {"sql": ["UPDATE t SET c = ? WHERE id = ?"], "binds": [text, key("zipfian")]}]},
            {"name": "walk", "weight": 1, "statements": [
                {"sql": ["SELECT c FROM t WHERE id = ?"], "binds": [key("sequential")]}]},
        ],
    })
}

#[test]
fn the_same_spec_sends_the_same_bytes_on_each_connection() {
    let log = |seed: u64| {
        let server = Server::start(|_| Action::Ok);
        let changes = json!({"connections": 5, "operations_limit": 501, "seed": seed,
                             "workload": mixed_workload()});
        let report = load(&server, &changes).expect("it starts");
        assert_eq!((report.ended, report.operations_sent), (Ended::Operations, 501));
        let mut log = server.log();
        log.sort();
        log
    };
    let first = log(1);
    assert_eq!(first.len(), 5);
    assert_eq!(first, log(1));
    assert_ne!(first, log(2));
}

#[test]
fn what_is_counted_is_what_the_server_got() {
    let server = Server::start(|_| Action::Ok);
    let changes = json!({"operations_limit": 300, "threads": 2, "connections": 4,
                         "workload": mixed_workload()});
    let report = load(&server, &changes).expect("it starts");
    let succeeded: u64 = report.operations.values().map(|operation| operation.succeeded).sum();
    assert_eq!(succeeded, 300);
    assert_eq!(report.statements_sent, server.count(EXECUTE));
    assert_eq!(report.transaction_commands_sent, server.count(QUERY));
    let seconds: u64 = report.seconds.iter().map(|second| second.succeeded).sum();
    assert_eq!(seconds, 300);
}

#[test]
fn a_failed_statement_rolls_its_transaction_back() {
    let server = Server::start(|command| match command.number % 6 {
        4 => Action::Error(1213),
        _ => Action::Ok,
    });
    let mut workload = mixed_workload();
    workload["operations"] = json!([workload["operations"][1]]);
    let changes = json!({"connections": 1, "operations_limit": 10, "workload": workload});
    let report = load(&server, &changes).expect("it starts");
    // BEGIN, three reads, the update that fails, ROLLBACK
    let commands = &server.log()[0];
    assert_eq!(commands.len(), 60);
    for operation in commands.chunks(6) {
        assert_eq!((&operation[0][1..], &operation[5][1..]), (&b"BEGIN"[..], &b"ROLLBACK"[..]));
    }
    let transfer = &report.operations["transfer"];
    assert_eq!((transfer.succeeded, &transfer.errors), (0, &[("1213".to_owned(), 10)].into()));
    assert_eq!(transfer.latency_us.p50, None);
    assert_eq!(report.error_examples["1213"], "as asked");
}

#[test]
fn a_time_out_has_its_full_length_and_its_connection_is_replaced() {
    let mut sent = Vec::new();
    let once = |report: &LoadReport| report.operations[READ].errors["timeout"] == 1;
    let report = undisturbed(once, || {
        let gate = Arc::new(Gate::default());
        let held = gate.clone();
        let server = Server::start(move |command| match (command.connection, command.number) {
            (0, 3) => Action::Wait(held.clone()),
            _ => Action::Rows,
        });
        let report = load(&server, &json!({"operations_limit": 40, "timeout_ms": 1_000}));
        gate.open();
        sent = server.log().iter().map(Vec::len).collect();
        report
    });
    let read = &report.operations[READ];
    assert_eq!((read.succeeded, &read.errors), (39, &[("timeout".to_owned(), 1)].into()));
    assert!(read.latency_us.max >= Some(1_000_000), "{:?}", read.latency_us);
    assert_eq!((report.connection_report.opened, report.connection_report.replaced), (3, 1));
    assert_eq!(sent, [4, 20, 16], "the new connection goes on");
}

#[test]
fn an_open_loop_counts_from_the_due_time() {
    let gate = Arc::new(Gate::default());
    let held = gate.clone();
    let server = Server::start(move |command| match command.number {
        0 => Action::Wait(held.clone()),
        _ => Action::Rows,
    });
    // nothing is answered in the first second; then the gate opens
    let changes = json!({"connections": 1, "operations_limit": 300,
                         "loop": {"kind": "open", "rate_ops_per_second": 100.0}});
    let report = load_calling(&server, &changes, |seconds| {
        if !seconds.is_empty() {
            gate.open();
        }
        true
    });
    let report = report.expect("it starts");
    let read = &report.operations[READ];
    assert_eq!(read.succeeded, 300, "no due operation is forgotten");
    // the hundred of the first second waited half a second on average, every one its own time:
    // half of them at least half a second
    let slow: u64 = report
        .seconds
        .iter()
        .flat_map(|second| &second.buckets)
        .filter(|&(&upper_us, _)| upper_us >= 500_000)
        .map(|(_, count)| count)
        .sum();
    assert!(slow >= 50, "{slow}");
    assert!(read.latency_us.max >= Some(990_000), "{:?}", read.latency_us);
    let late = report.client.send_lateness_us.expect("an open loop");
    assert!(late.max >= Some(980_000), "{late:?}");
}

#[test]
fn what_is_due_beyond_capacity_is_counted_and_never_dropped() {
    let gate = Arc::new(Gate::default());
    let held = gate.clone();
    let server = Server::start(move |_| Action::Wait(held.clone()));
    for arrivals in ["constant", "poisson"] {
        let changes = json!({"duration_s": 0.5, "timeout_ms": 100_000, "connections": 2,
            "loop": {"kind": "open", "arrivals": arrivals, "rate_ops_per_second": 100_000.0}});
        let report = undisturbed(|report| report.operations_sent == 2, || load(&server, &changes));
        assert_eq!((report.operations_sent, report.client.unanswered), (2, 2));
        let backlog = report.client.backlog_end.expect("an open loop");
        assert_eq!(report.client.unsent, Some(backlog));
        assert_eq!(report.client.backlog_max, Some(backlog));
        if arrivals == "constant" {
            assert_eq!(backlog, 50_000 - 2);
        }
        assert!(report.client.oldest_unanswered_us > Some(490_000));
    }
    gate.open();
}

#[test]
fn nonsense_is_an_error_and_the_load_goes_on() {
    let server = Server::start(|command| match command.number {
        3 => Action::Bytes(b"\x05\0\0\x09nonsense".into()),
        7 => Action::Close,
        _ => Action::Rows,
    });
    let changes = json!({"connections": 1, "operations_limit": 30});
    let report = load(&server, &changes).expect("it starts");
    assert_eq!(report.ended, Ended::Operations);
    let errors = &report.operations[READ].errors;
    // each connection gets as far as its fourth command
    assert_eq!(errors, &[("protocol".to_owned(), 7)].into());
    assert_eq!(report.operations[READ].succeeded, 23);
}

#[test]
fn a_server_that_is_gone_is_tried_again_until_the_end() {
    let refused = |report: &LoadReport| report.connection_report.failed.contains_key("connect");
    let report = undisturbed(refused, || {
        let server = Server::start(|command| match command.number {
            0 => Action::Rows,
            _ => Action::Close,
        });
        // it refuses connections after the first second
        load_calling(&server, &json!({"duration_s": 4}), |seconds| {
            if !seconds.is_empty() {
                server.close();
            }
            true
        })
    });
    assert_eq!(report.ended, Ended::Duration);
    assert!(report.operations[READ].errors["connection_lost"] >= 2);
    assert!(
        report.connection_report.failed.contains_key("connect"),
        "{:?}",
        report.connection_report
    );
}

#[test]
fn what_is_done_before_the_window_is_not_measured() {
    let server = Server::start(|_| Action::Rows);
    let report =
        load(&server, &json!({"operations_limit": 10, "warmup_s": 60})).expect("it starts");
    assert_eq!((report.ended, report.operations_sent), (Ended::Operations, 10));
    assert_eq!((report.window_s, report.operations[READ].succeeded), (0.0, 0));
    let client = report.client;
    assert_eq!((client.busy_fraction, client.cpu_us_per_operation), (None, None));
}

#[test]
fn a_thread_that_is_done_before_the_others_is_not_busy() {
    let idle = |report: &LoadReport| report.client.busy_fraction < Some(0.4);
    let report = undisturbed(idle, || {
        let gate = Arc::new(Gate::default());
        let held = gate.clone();
        let server = Server::start(move |command| match (command.connection, command.number) {
            (0, 0) => Action::Wait(held.clone()),
            _ => Action::Rows,
        });
        load_calling(&server, &json!({"operations_limit": 10, "threads": 2}), |seconds| {
            if !seconds.is_empty() {
                gate.open(); // it waited for a second
            }
            true
        })
    });
    assert_eq!(report.operations[READ].succeeded, 10);
    // had its time counted to the end, the load would be half busy at least
    assert!(report.client.busy_fraction < Some(0.4), "{:?}", report.client);
}

#[test]
fn the_caller_can_end_it() {
    let server = Server::start(|_| Action::Rows);
    let report = load_calling(&server, &json!({}), |seconds| seconds.is_empty());
    let report = report.expect("it starts");
    assert_eq!(report.ended, Ended::Cancelled);
    assert!(report.window_s < 60.0);
}

#[test]
fn who_is_late_starts_at_once_and_ends_with_the_others() {
    let server = Server::start(|_| Action::Rows);
    let mut start_at = 0;
    let in_time = |report: &LoadReport| report.late_start_ms < 3_000;
    let report = undisturbed(in_time, || {
        let epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
        start_at = (epoch - Duration::from_millis(700)).as_millis() as i64;
        let changes = json!({"start_at_epoch_ms": start_at, "warmup_s": 0.2, "duration_s": 3.3});
        load(&server, &changes)
    });
    assert!(report.late_start_ms >= 700);
    // both clocks are read once, so they may differ by a rounded millisecond
    assert!((report.window_end_epoch_ms - (start_at + 3_500)).abs() <= 1);
    assert!(report.window_start_epoch_ms >= start_at + 700);
    assert!(report.window_s <= 2.8);
}

#[test]
fn what_cannot_be_sent_is_refused_with_the_field_named() {
    let server = Server::start(|_| Action::Rows);
    let cases = [
        (json!({"conections": 3}), "unknown field `conections`"),
        (json!({"duration_s": 0}), "duration_s is 0"),
        (json!({"loop": {"kind": "open", "rate_ops_per_second": 0}}), "rate_ops_per_second is 0"),
        (json!({"loop": {"kind": "closed", "rate": 3}}), "unknown field `rate`"),
        (json!({"workload": {"key_spaces": [], "operations": []}}), "sum to nothing"),
        (
            json!({"workload": {"key_spaces": [], "operations": [{"name": "a", "weight": 1,
                "statements": [{"sql": ["SELECT ?"], "binds": [{"kind": "key", "key_space": "x"}]}]}]}}),
            "operation a: there is no key space x",
        ),
    ];
    for (changes, expected) in cases {
        let error = load(&server, &changes).expect_err(expected);
        assert_eq!(error.code, "spec");
        assert!(error.message.contains(expected), "{error}");
    }
    assert!(server.log().is_empty(), "nothing was connected");
}
