//! Whole loads in the PostgreSQL protocol, against the fake server: what is sent, counted, refused.

mod support;

use std::sync::Arc;

use plimsoll_engine::report::{Ended, LoadReport};
use serde_json::{Value, json};

use support::loads::{READ, mixed, postgres, run, undisturbed};
use support::mysql_server::Gate;
use support::postgres_messages as messages;
use support::postgres_server::{Action, Asks, Server};

fn mixed_workload() -> Value {
    mixed(["$1", "$2"], &json!({"kind": "integer", "low": -5, "high": 5}))
}

fn transfers() -> Value {
    let mut workload = mixed_workload();
    workload["operations"] = json!([workload["operations"][1]]);
    workload
}

/// The target of a plain load, with one field more.
fn target(port: u16, field: &str, value: Value) -> Value {
    let mut target = postgres(port)["target"].clone();
    target[field] = value;
    target
}

#[test]
fn the_same_spec_sends_the_same_bytes_on_each_connection() {
    let log = |seed: u64| {
        let server = Server::start(|_| Action::Rows);
        let changes = json!({"connections": 5, "operations_limit": 501, "seed": seed,
                             "workload": mixed_workload()});
        let report = run(postgres(server.port), &changes).expect("it starts");
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
fn what_is_counted_is_what_the_server_got_in_either_mode() {
    for mode in ["prepared", "simple"] {
        let server = Server::start(|_| Action::Rows);
        let changes = json!({"operations_limit": 300, "threads": 2, "connections": 4,
                             "target": target(server.port, "statement_mode", json!(mode)),
                             "workload": mixed_workload()});
        let report = run(postgres(server.port), &changes).expect("it starts");
        let succeeded: u64 = report.operations.values().map(|operation| operation.succeeded).sum();
        assert_eq!(succeeded, 300);
        let texts = server.texts();
        let commands = texts.iter().filter(|text| ["BEGIN", "COMMIT"].contains(&text.as_str()));
        assert_eq!(report.transaction_commands_sent, commands.clone().count() as u64);
        let statements = texts.len() - commands.count();
        assert_eq!(report.statements_sent, statements as u64, "{mode}");
        assert!(report.transaction_commands_sent > 0);
    }
}

#[test]
fn the_rows_that_an_operation_meets_are_those_of_its_command_tags() {
    for mode in ["prepared", "simple"] {
        let server = Server::start(|command| match command.text {
            text if text.starts_with("UPDATE") => {
                Action::Bytes(messages::complete("UPDATE 21").into())
            }
            text if text.starts_with("SELECT") && command.number.is_multiple_of(2) => {
                Action::Bytes(messages::complete("SELECT 0").into())
            }
            _ => Action::Rows,
        });
        let changes = json!({"connections": 1, "operations_limit": 10, "workload": transfers(),
                             "target": target(server.port, "statement_mode", json!(mode))});
        let report = run(postgres(server.port), &changes).expect("it starts");
        let transfer = &report.operations["transfer"];
        // A transaction is BEGIN (command 0), three reads, an update of 21 rows and COMMIT. The reads
        // with odd numbers, the first and the third, have one row each.
        assert_eq!((transfer.succeeded, transfer.rows), (10, Some(10 * (2 + 21))), "{mode}");
    }
}

#[test]
fn a_simple_query_has_its_values_in_its_text() {
    let server = Server::start(|_| Action::Rows);
    let changes = json!({"connections": 1, "operations_limit": 60, "workload": mixed_workload(),
                         "target": target(server.port, "statement_mode", json!("simple"))});
    run(postgres(server.port), &changes).expect("it starts");
    let texts = server.texts();
    assert!(texts.iter().all(|text| !text.contains('$')));
    assert!(texts.contains(&"SELECT c FROM t WHERE id =  '0' ".to_owned()), "{texts:?}");
}

#[test]
fn a_failed_statement_rolls_its_transaction_back_and_what_follows_it_is_not_done() {
    let server = Server::start(|command| match command.text {
        "SELECT c FROM t WHERE id = $1" | "SELECT c FROM s WHERE id = $1" => Action::Rows,
        "UPDATE t SET c = $1 WHERE id = $2" => Action::Error("40P01"),
        _ => Action::Ok,
    });
    let changes = json!({"connections": 1, "operations_limit": 10, "workload": transfers()});
    let report = run(postgres(server.port), &changes).expect("it starts");
    let texts = server.texts();
    assert_eq!(texts.len(), 60);
    for operation in texts.chunks(6) {
        assert_eq!((&*operation[0], &*operation[5]), ("BEGIN", "ROLLBACK"));
    }
    let transfer = &report.operations["transfer"];
    assert_eq!((transfer.succeeded, &transfer.errors), (0, &[("40P01".to_owned(), 10)].into()));
    assert_eq!(report.error_examples["40P01"], "as asked");
    // BEGIN, COMMIT (which the server skipped) and ROLLBACK
    assert_eq!((report.statements_sent, report.transaction_commands_sent), (40, 30));
}

#[test]
fn a_commit_that_fails_has_ended_the_transaction_already() {
    let server = Server::start(|command| match (command.text, command.number) {
        ("COMMIT", 0..=20) => Action::Bytes(messages::error("40001").into()),
        _ => Action::Rows,
    });
    // the fake server's state after these bytes is as after a COMMIT
    let changes = json!({"connections": 1, "operations_limit": 10, "workload": transfers()});
    let report = run(postgres(server.port), &changes).expect("it starts");
    assert!(server.texts().iter().all(|text| text != "ROLLBACK"));
    let transfer = &report.operations["transfer"];
    assert_eq!((transfer.succeeded, &transfer.errors), (7, &[("40001".to_owned(), 3)].into()));
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
        let changes = json!({"operations_limit": 40, "timeout_ms": 1_000});
        let report = run(postgres(server.port), &changes);
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
fn a_statement_that_the_server_cancels_counts_as_a_time_out_with_its_time() {
    for (code, has_latency) in [("57014", true), ("40001", false)] {
        let server = Server::start(move |_| Action::Error(code));
        let report = run(postgres(server.port), &json!({"operations_limit": 10})).expect("starts");
        let read = &report.operations[READ];
        assert_eq!((read.succeeded, &read.errors), (0, &[(code.to_owned(), 10)].into()));
        assert_eq!(read.latency_us.p50.is_some(), has_latency);
        assert_eq!(report.connection_report.replaced, 0);
    }
}

#[test]
fn a_session_that_the_server_ends_has_failed_by_its_code_and_is_replaced() {
    let server = Server::start(|command| match (command.connection, command.number) {
        (0, 3) => Action::Fatal("57P01"),
        (1, 3) => Action::Close,
        _ => Action::Rows,
    });
    let changes = json!({"connections": 1, "operations_limit": 30});
    let report = run(postgres(server.port), &changes).expect("it starts");
    let read = &report.operations[READ];
    let errors = [("57P01".to_owned(), 1), ("connection_lost".to_owned(), 1)].into();
    assert_eq!((read.succeeded, &read.errors), (28, &errors));
    assert_eq!(report.connection_report.replaced, 2);
}

#[test]
fn nonsense_is_an_error_and_the_load_goes_on() {
    let cases: [(&str, Vec<u8>); 5] = [
        ("a message of an impossible length", b"C\0\0\0\x03".to_vec()),
        ("an unknown message", messages::message(b'?', b"")),
        ("more answers than requests", messages::complete("SELECT 1").repeat(2)),
        ("fewer answers than requests", Vec::new()),
        ("the statement is a COPY, which no operation may be", messages::message(b'G', b"\0\0\0")),
    ];
    for (expected, bytes) in cases {
        let server = Server::start(move |command| match command.number {
            3 => Action::Bytes(bytes.clone().into()),
            _ => Action::Rows,
        });
        let changes = json!({"connections": 1, "operations_limit": 30});
        let report = run(postgres(server.port), &changes).expect("it starts");
        let errors = &report.operations[READ].errors;
        // each connection gets as far as its fourth command
        assert_eq!(errors, &[("protocol".to_owned(), 7)].into(), "{expected}");
        assert_eq!(report.error_examples["protocol"], expected);
    }
}

#[test]
fn what_a_server_says_unasked_is_no_answer() {
    let server = Server::start(|command| match command.number % 2 {
        0 => Action::Rows,
        _ => {
            let row = messages::row(1, 100);
            let done = messages::complete("SELECT 1");
            let said = [messages::notice(), row, messages::setting("a", "b"), done].concat();
            Action::Bytes(said.into())
        }
    });
    let report = run(postgres(server.port), &json!({"operations_limit": 100})).expect("it starts");
    assert_eq!(report.operations[READ].succeeded, 100);
}

#[test]
fn a_login_tells_no_more_than_the_connection_may_hear() {
    let refused = |asks, target: &dyn Fn(u16) -> Value| {
        let server = Server::asking(asks, |_| Action::Rows);
        let changes = json!({"target": target(server.port), "operations_limit": 10});
        run(postgres(server.port), &changes)
    };
    let plain = |port| postgres(port)["target"].clone();
    let error = refused(Asks::ClearText, &plain).expect_err("it is in clear text");
    assert_eq!(error.code, "tls_required");
    let error = refused(Asks::Md5, &plain).expect_err("it is md5");
    assert!(error.message.contains("allow_md5"), "{error}");
    let allowed = |port| target(port, "allow_md5", json!(true));
    refused(Asks::Md5, &allowed).expect("md5 is allowed");
    let tls = |port| target(port, "tls", json!({"verify": false}));
    let error = refused(Asks::Nothing, &tls).expect_err("it has no TLS");
    assert!(error.message.starts_with("TLS is asked for, and the server has none"), "{error}");
}

#[test]
fn what_cannot_be_sent_is_refused_with_the_statement_and_the_type_named() {
    let server = Server::start(|_| Action::Rows);
    let mut workload = postgres(server.port)["workload"].clone();
    workload["operations"][0]["statements"][0]["sql"] = json!(["SELECT $2"]);
    let error = run(postgres(server.port), &json!({"workload": workload})).expect_err("binds");
    assert_eq!(error.code, "spec");
    assert!(error.message.contains("\"SELECT $2\": it takes 2 binds, 1 are given"), "{error}");
    for (field, value) in [("statement_mode", json!("simple")), ("allow_md5", json!(true))] {
        let mut target = target(server.port, field, value);
        target["protocol"] = json!("mysql");
        let error = run(postgres(server.port), &json!({"target": target})).expect_err(field);
        assert!(
            error.message.contains(&format!("{field} is for the protocol postgres")),
            "{error}"
        );
    }
}

/// A workload of one script: its statements, and what is done with them.
fn script(statements: &[&str], steps: &Value) -> Value {
    let statements: Vec<Value> = statements.iter().map(|sql| json!({"sql": [sql]})).collect();
    json!({
        "key_spaces": [],
        "operations": [{"name": "script", "weight": 1, "own_transactions": true,
                        "statements": statements, "steps": steps}],
        "variables": [{"name": "zero", "starts": {"kind": "text", "value": "0"}},
                      {"name": "x", "starts": {"kind": "undefined"}}],
    })
}

#[test]
fn a_pipeline_is_sent_before_anything_of_it_is_answered() {
    for (ahead, sent) in [(true, 2), (false, 1)] {
        let server = Server::start(|_| Action::Error("XX000"));
        let steps = json!([{"kind": "send", "statement": 0, "ahead": ahead},
                           {"kind": "send", "statement": 1, "ahead": ahead},
                           {"kind": "await"}]);
        let changes = json!({"connections": 1, "operations_limit": 10,
                             "workload": script(&["SELECT 1", "SELECT 2"], &steps)});
        let report = run(postgres(server.port), &changes).expect("it starts");
        assert_eq!(report.operations["script"].errors["XX000"], 10);
        assert_eq!(report.statements_sent, 10 * sent);
        assert_eq!(server.texts(), ["SELECT 1"; 10], "what follows an error is skipped");
    }
}

#[test]
fn a_pipeline_needs_prepared_statements() {
    let server = Server::start(|_| Action::Rows);
    let steps = json!([{"kind": "send", "statement": 0, "ahead": true}, {"kind": "await"}]);
    let changes = json!({"target": target(server.port, "statement_mode", json!("simple")),
                         "workload": script(&["SELECT 1"], &steps)});
    let error = run(postgres(server.port), &changes).expect_err("it is refused");
    assert!(error.message.contains("need prepared statements"), "{error}");
}

#[test]
fn a_mistake_in_a_script_ends_it_after_a_rollback() {
    let unset = json!({"kind": "variable", "name": "x"});
    let steps = |first: Value| {
        json!([first, {"kind": "send", "statement": 0},
               {"kind": "set", "name": "x", "of": unset, "place": "a.sql:2"},
               {"kind": "send", "statement": 1}])
    };
    let server = Server::start(|_| Action::Rows);
    let pause = json!({"kind": "sleep", "us": 10, "place": "a.sql:1"});
    let changes = json!({"connections": 1, "operations_limit": 3,
                         "workload": script(&["BEGIN", "COMMIT"], &steps(pause))});
    let report = run(postgres(server.port), &changes).expect("it starts");
    assert_eq!(report.operations["script"].errors["script"], 3);
    assert_eq!(report.error_examples["script"], "a.sql:2: undefined variable \"x\"");
    assert_eq!(server.texts(), ["BEGIN", "ROLLBACK"].repeat(3));
    // one that is certain is refused before anything is sent
    let zero = json!({"kind": "variable", "name": "zero"});
    let one = json!({"kind": "constant", "value": 1});
    let divided = json!({"kind": "call", "function": "divide", "of": [one, zero]});
    let wrong = json!({"kind": "set", "name": "x", "of": divided, "place": "a.sql:1"});
    let changes = json!({"workload": script(&["BEGIN", "COMMIT"], &steps(wrong))});
    let error = run(postgres(server.port), &changes).expect_err("it is refused");
    assert_eq!(error.message, "operation script: a.sql:1: division by zero");
}

#[test]
fn a_script_that_ends_within_its_transaction_has_failed() {
    let server = Server::start(|_| Action::Rows);
    let steps = json!([{"kind": "send", "statement": 0}]);
    let changes = json!({"connections": 1, "operations_limit": 2,
                         "workload": script(&["BEGIN"], &steps)});
    let report = run(postgres(server.port), &changes).expect("it starts");
    assert_eq!(report.operations["script"].errors["script"], 2);
    assert_eq!(server.texts(), ["BEGIN", "ROLLBACK"].repeat(2));
}
