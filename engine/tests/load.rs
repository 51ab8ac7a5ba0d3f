//! Whole loads in the MySQL protocol, against the fake server: what is sent, counted and refused.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use plimsoll_engine::report::{Ended, LoadReport};
use serde_json::{Value, json};

use support::loads::{READ, mixed, mysql, run, run_calling, undisturbed};
use support::mysql_packets::{self as packets, Rows};
use support::mysql_server::{Action, EXECUTE, Gate, QUERY, Server};

fn mixed_workload() -> Value {
    mixed(["?", "?"], &json!({"kind": "text", "length": 300}))
}

#[test]
fn the_same_spec_sends_the_same_bytes_on_each_connection() {
    let log = |seed: u64| {
        let server = Server::start(|_| Action::Ok);
        let changes = json!({"connections": 5, "operations_limit": 501, "seed": seed,
                             "workload": mixed_workload()});
        let report = run(mysql(server.port), &changes).expect("it starts");
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
    let report = run(mysql(server.port), &changes).expect("it starts");
    let succeeded: u64 = report.operations.values().map(|operation| operation.succeeded).sum();
    assert_eq!(succeeded, 300);
    assert_eq!(report.statements_sent, server.count(EXECUTE));
    assert_eq!(report.transaction_commands_sent, server.count(QUERY));
    let seconds: u64 = report.seconds.iter().map(|second| second.succeeded).sum();
    assert_eq!(seconds, 300);
}

/// An OK packet with so many rows.
fn ok(rows: u64) -> Action {
    let mut bytes = Vec::new();
    packets::ok(&mut 1, rows, 2, &mut bytes);
    Action::Bytes(bytes.into())
}

#[test]
fn the_rows_that_an_operation_meets_are_counted() {
    // a read of two rows, one of none, and so on
    let server = Server::start(|command| {
        let rows = 2 * usize::from(command.number.is_multiple_of(2));
        let shape = Rows { columns: 1, rows, value: 10, text: false, known: false };
        let mut bytes = Vec::new();
        packets::result_set(&mut 1, shape, command.agreed, 2, &mut bytes);
        Action::Bytes(bytes.into())
    });
    let changes = json!({"connections": 1, "operations_limit": 30});
    let report = run(mysql(server.port), &changes).expect("it starts");
    let read = &report.operations[READ];
    assert_eq!((read.succeeded, read.rows), (30, Some(30)));
}

#[test]
fn a_transaction_meets_the_rows_of_all_its_statements_unless_it_fails() {
    let server = Server::start(|command| match (command.payload[0], command.number % 12) {
        (QUERY, _) => ok(0),
        // BEGIN, three reads, an update that matches five rows, COMMIT
        (_, 4) if command.found_rows => ok(5),
        // the same, with an update that fails, and ROLLBACK
        (_, 10) => Action::Error(1213),
        _ => Action::Rows,
    });
    let mut workload = mixed_workload();
    workload["operations"] = json!([workload["operations"][1]]);
    let changes = json!({"connections": 1, "operations_limit": 10, "workload": workload});
    let report = run(mysql(server.port), &changes).expect("it starts");
    let transfer = &report.operations["transfer"];
    assert_eq!((transfer.succeeded, transfer.rows), (5, Some(5 * (3 + 5))));
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
    let report = run(mysql(server.port), &changes).expect("it starts");
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
        let report = run(mysql(server.port), &json!({"operations_limit": 40, "timeout_ms": 1_000}));
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
fn mariadb_leaves_out_what_it_has_told_and_mysql_never_does() {
    for mariadb in [true, false] {
        let asked = Arc::new(AtomicBool::new(false));
        let cached = asked.clone();
        let server = Server::start_as(mariadb, move |command| {
            cached.fetch_or(command.agreed.cache_metadata, Ordering::SeqCst);
            Action::Rows // its columns are defined in every third answer only, where that was agreed
        });
        let report = run(mysql(server.port), &json!({"operations_limit": 200})).expect("it starts");
        let read = &report.operations[READ];
        assert_eq!((read.succeeded, read.errors.len()), (200, 0));
        assert_eq!(asked.load(Ordering::SeqCst), mariadb);
    }
}

#[test]
fn nonsense_is_an_error_and_the_load_goes_on() {
    let server = Server::start(|command| match command.number {
        3 => Action::Bytes(b"\x05\0\0\x09nonsense".into()),
        7 => Action::Close,
        _ => Action::Rows,
    });
    let changes = json!({"connections": 1, "operations_limit": 30});
    let report = run(mysql(server.port), &changes).expect("it starts");
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
        run_calling(mysql(server.port), &json!({"duration_s": 4}), |seconds| {
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
fn what_cannot_be_sent_is_refused_with_the_field_named() {
    let server = Server::start(|_| Action::Rows);
    let cases = [
        (json!({"conections": 3}), "unknown field `conections`"),
        (json!({"duration_s": 0}), "duration_s is 0"),
        (json!({"poll_us": 1_001}), "poll_us is 1001: allowed are 0 to 1000"),
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
        let error = run(mysql(server.port), &changes).expect_err(expected);
        assert_eq!(error.code, "spec");
        assert!(error.message.contains(expected), "{error}");
    }
    assert!(server.log().is_empty(), "nothing was connected");
}

#[test]
fn a_sequence_begins_where_it_is_told_and_its_connections_share_it() {
    let server = Server::start(|_| Action::Rows);
    let mut workload = mixed_workload();
    workload["operations"] = json!([workload["operations"][2]]);
    let changes = json!({"connections": 2, "operations_limit": 6, "sequence_from": 997,
                         "workload": workload});
    run(mysql(server.port), &changes).expect("it starts");
    let mut keys: Vec<i64> = Vec::new();
    for commands in server.log() {
        for command in commands.iter().filter(|command| command[0] == EXECUTE) {
            let value = command[command.len() - 8..].try_into().expect("8 bytes");
            keys.push(i64::from_le_bytes(value));
        }
    }
    keys.sort_unstable();
    assert_eq!(keys, [0, 1, 2, 997, 998, 999], "past the last row it begins again");
}

#[test]
fn the_columns_of_an_input_go_on_together_on_each_connection() {
    let server = Server::start(|_| Action::Ok);
    let column = |values: [i64; 4]| json!({"kind": "column", "values": values});
    let workload = json!({
        "key_spaces": [],
        "operations": [{"name": "insert", "weight": 1, "statements": [
            {"sql": ["INSERT INTO t VALUES (?, ?)"],
             "binds": [column([1, 2, 3, 4]), column([10, 20, 30, 40])]}]}],
    });
    let changes = json!({"connections": 2, "operations_limit": 8, "sequence_from": 3,
                         "workload": workload});
    run(mysql(server.port), &changes).expect("it starts");
    let mut lines: Vec<(i64, i64)> = Vec::new();
    for commands in server.log() {
        for command in commands.iter().filter(|command| command[0] == EXECUTE) {
            let cells = &command[command.len() - 16..];
            let cell = |at: usize| i64::from_le_bytes(cells[at..at + 8].try_into().expect("8"));
            lines.push((cell(0), cell(8)));
        }
    }
    lines.sort_unstable();
    let twice = |line| [line, line];
    assert_eq!(lines, [(1, 10), (2, 20), (3, 30), (4, 40)].map(twice).concat());
}
