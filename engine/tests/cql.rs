//! Whole loads in CQL's protocol, against the fake server.

mod support;

use plimsoll_engine::report::Ended;
use serde_json::{Value, json};

use support::cql_frames as frames;
use support::cql_server::{Action, Server};
use support::loads::{READ, cql, run, text_key};

#[test]
fn the_same_spec_sends_the_same_binds_on_each_stream() {
    let text = json!({"kind": "text", "length": 300});
    let new = json!({"kind": "format", "template": "user{}",
                     "of": [{"kind": "next_key", "key_space": "rows"}]});
    let workload = json!({
        "key_spaces": [{"name": "rows", "records": 1000}],
        "operations": [
            {"name": "insert", "weight": 1, "statements": [
                {"sql": ["INSERT INTO t (a, b) VALUES (?, ?)"], "binds": [new, text]}]},
            {"name": "modify", "weight": 1, "consistency": "LOCAL_QUORUM", "statements": [
                {"sql": ["SELECT c FROM t WHERE id = ?", "SELECT c FROM s WHERE id = ?"],
                 "binds": [text_key()], "repeat": 3},
                {"sql": ["UPDATE t SET c = ? WHERE id = ?"], "binds": [text, text_key()]}]},
        ],
    });
    let log = |seed: u64, per_connection: u64| {
        let server = Server::start(|_| Action::Rows);
        let changes = json!({"connections": 7, "streams_per_connection": per_connection,
                             "operations_limit": 501, "seed": seed, "workload": workload});
        let report = run(cql(server.port), &changes).expect("it starts");
        assert_eq!((report.ended, report.operations_sent), (Ended::Operations, 501));
        let log = server.log();
        assert_eq!(log.iter().map(Vec::len).sum::<usize>() as u64, report.statements_sent);
        assert_eq!(log.len(), 7_usize.div_ceil(per_connection as usize));
        let mut by_stream = Vec::new();
        for log in log {
            for stream in 0..per_connection as i16 {
                let of = log.iter().filter(|(on, _)| *on == stream);
                // the id's length differs from connection to connection
                let tail = |body: &Vec<u8>| body[2 + usize::from(body[1])..].to_vec();
                by_stream.push(of.map(|(_, body)| tail(body)).collect::<Vec<_>>());
            }
        }
        by_stream.retain(|stream| !stream.is_empty());
        by_stream.sort();
        by_stream
    };
    let first = log(1, 7);
    assert_eq!(first.len(), 7);
    let consistencies =
        |level: u8| first.iter().flatten().filter(|body| body[..2] == [0, level]).count() > 0;
    assert!(consistencies(1) && consistencies(6), "ONE, and LOCAL_QUORUM where it is asked for");
    assert_eq!(first, log(1, 7));
    assert_eq!(first, log(1, 3), "however many connections they share");
    assert_ne!(first, log(2, 7));
}

#[test]
fn answers_may_come_in_any_order() {
    // each fifth execution brings the answers to the four before it, the last first
    let server = Server::start(|command| match command.number % 5 {
        4 => Action::Release,
        _ => Action::Hold,
    });
    let changes = json!({"connections": 5, "operations_limit": 500});
    let report = run(cql(server.port), &changes).expect("it starts");
    let read = &report.operations[READ];
    assert_eq!((read.succeeded, read.errors.len()), (500, 0));
    assert_eq!((read.rows, read.rows_missing), (Some(500), Some(0)));
    assert_eq!(report.connection_report.opened, 1);
}

#[test]
fn rows_are_told_of_reads_and_not_of_plain_writes() {
    let statement = |least: u64| {
        json!([{"name": "one", "weight": 1, "statements": [
            {"sql": ["SELECT c FROM t WHERE id = ?"], "binds": [text_key()], "rows_least": least}]}])
    };
    let spaces = json!([{"name": "rows", "records": 1000}]);
    let of = |action: fn(i16) -> Action, least: u64| {
        let server = Server::start(move |command| action(command.stream));
        let workload = json!({"key_spaces": spaces, "operations": statement(least)});
        let changes = json!({"operations_limit": 100, "workload": workload});
        let report = run(cql(server.port), &changes).expect("it starts");
        let one = &report.operations["one"];
        (one.succeeded, one.rows, one.rows_missing)
    };
    let void = |stream| Action::Bytes(frames::void(stream).into());
    assert_eq!(of(|_| Action::Rows, 1), (100, Some(100), Some(0)));
    assert_eq!(of(|_| Action::Rows, 3), (100, Some(100), Some(200)));
    assert_eq!(of(void, 1), (100, None, None), "never 0");
}

#[test]
fn errors_are_counted_by_name_and_the_servers_time_outs_have_their_length() {
    let codes = [0x1100, 0x1200, 0x1001, 0x1000, 0x2200, 0x7777];
    let server = Server::start(move |command| Action::Error(codes[command.number % 6]));
    let report = run(cql(server.port), &json!({"operations_limit": 600})).expect("it starts");
    let read = &report.operations[READ];
    let names = ["write_timeout", "read_timeout", "overloaded", "unavailable", "invalid", "0x7777"];
    let expected = names.map(|name| (name.to_owned(), 100));
    assert_eq!((read.succeeded, &read.errors), (0, &expected.into()));
    let histogram = plimsoll_engine::histogram::decode(&read.histogram).expect("its own");
    assert_eq!(histogram.len(), 200, "those of the two kinds of time-outs");
    assert_eq!(report.error_examples["overloaded"], "as asked");
}

#[test]
fn a_time_out_has_its_full_length_and_a_late_answer_is_nobodys() {
    // two lanes have streams 0 and 1; the third execution is answered only together with one on
    // stream 2, which its lane takes once it has given it up
    let changes = json!({"operations_limit": 100, "timeout_ms": 1_000, "connections": 2});
    let once = || {
        let server = Server::start(|command| match (command.number, command.stream) {
            (2, _) => Action::Hold,
            (_, 2) => Action::Release,
            _ => Action::Rows,
        });
        let report = run(cql(server.port), &changes).expect("it starts");
        (server, report)
    };
    // again, five times at most, where others took as long, since the machine stood still
    let (server, report) = (1..5)
        .map(|_| once())
        .find(|(_, report)| report.operations[READ].errors["timeout"] == 1)
        .unwrap_or_else(once);
    let read = &report.operations[READ];
    assert_eq!(read.errors, [("timeout".to_owned(), 1)].into());
    assert_eq!(read.succeeded, 99, "the late answer is not counted among them");
    assert!(read.latency_us.max >= Some(1_000_000), "{:?}", read.latency_us);
    assert_eq!((report.connection_report.opened, report.connection_report.replaced), (1, 0));
    let log = &server.log()[0];
    let orphaned = log[2].0;
    let second = log.iter().position(|(stream, _)| *stream == 2).expect("another takes its place");
    let between = &log[3..second];
    assert!(between.iter().all(|(stream, _)| *stream != orphaned), "its stream rests");
}

#[test]
fn a_server_that_answers_nothing_has_its_connection_replaced() {
    let server = Server::start(|_| Action::Hold);
    let changes = json!({"operations_limit": 60, "timeout_ms": 40, "connections": 3});
    let report = run(cql(server.port), &changes).expect("it starts");
    let read = &report.operations[READ];
    // 40 orphans on a connection of three, then it goes
    assert!(report.connection_report.replaced >= 1, "{:?}", report.connection_report);
    assert!(read.errors["timeout"] >= 40);
    assert!(server.log().iter().all(|log| log.len() <= 3 + 40 + 3), "orphans are bounded");
    assert_eq!((read.succeeded, read.errors.values().sum::<u64>()), (0, 60));
}

#[test]
fn a_forgotten_statement_is_prepared_again_and_sent_with_the_same_binds() {
    let server = Server::start(|command| match command.number {
        5 => Action::Error(0x2500),
        _ => Action::Rows,
    });
    let changes = json!({"connections": 1, "operations_limit": 20});
    let report = run(cql(server.port), &changes).expect("it starts");
    let read = &report.operations[READ];
    assert_eq!((read.succeeded, read.errors.len()), (20, 0));
    assert_eq!((report.statements_sent, server.prepares().len()), (20, 2));
    let log = &server.log()[0];
    assert_eq!(log.len(), 21);
    let split = |at: usize| log[at].1.split_at(2 + usize::from(log[at].1[1]));
    assert_eq!(split(5).1, split(6).1, "the same binds");
    assert_eq!(split(6).0.len(), split(5).0.len() + 1, "under the new id");
    assert_eq!(split(6).0, split(7).0);
}

#[test]
fn a_server_that_always_forgets_is_an_error() {
    let server = Server::start(|_| Action::Error(0x2500));
    let report = run(cql(server.port), &json!({"operations_limit": 10})).expect("it starts");
    assert_eq!(report.operations[READ].errors, [("unprepared".to_owned(), 10)].into());
}

#[test]
fn nonsense_is_an_error_and_the_load_goes_on() {
    let nonsense: [fn(i16) -> Vec<u8>; 4] = [
        |_| b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(),
        |_| frames::void(77),
        |stream| [frames::void(stream), frames::void(stream)].concat(),
        |stream| frames::frame(stream, 0x42, &[]),
    ];
    for (case, bytes) in nonsense.into_iter().enumerate() {
        let server = Server::start(move |command| match command.number {
            3 => Action::Bytes(bytes(command.stream).into()),
            7 => Action::Close,
            _ => Action::Rows,
        });
        let changes = json!({"connections": 1, "operations_limit": 30});
        let report = run(cql(server.port), &changes).expect("it starts");
        assert_eq!(report.ended, Ended::Operations, "case {case}");
        let read = &report.operations[READ];
        assert_eq!(read.succeeded + read.errors.values().sum::<u64>(), 30, "case {case}");
        let known = ["protocol", "connection_lost"];
        assert!(read.errors.keys().all(|code| known.contains(&code.as_str())), "{:?}", read.errors);
        assert!(report.connection_report.replaced >= 3, "case {case}");
    }
}

#[test]
fn events_are_ignored() {
    let server = Server::start(|command| {
        let event = frames::frame(-1, frames::EVENT, b"\0\x0dSTATUS_CHANGE");
        Action::Bytes([event, frames::row(command.stream, 10)].concat().into())
    });
    let report = run(cql(server.port), &json!({"operations_limit": 50})).expect("it starts");
    assert_eq!(report.operations[READ].succeeded, 50);
}

#[test]
fn a_lost_connection_fails_what_was_on_it_and_is_opened_again() {
    let server = Server::start(|command| match (command.connection, command.number) {
        (0, 20) => Action::Close,
        _ => Action::Rows,
    });
    let changes = json!({"connections": 4, "operations_limit": 400});
    let report = run(cql(server.port), &changes).expect("it starts");
    let read = &report.operations[READ];
    let lost = read.errors["connection_lost"];
    assert!((1..=4).contains(&lost));
    assert_eq!(read.succeeded + lost, 400);
    assert_eq!((report.connection_report.opened, report.connection_report.replaced), (2, 1));
}

#[test]
fn what_cannot_be_sent_is_refused_before_anything_is_sent() {
    let server = Server::start(|_| Action::Rows);
    let operation = |statement: Value, more: Value| {
        let mut operation = json!({"name": "a", "weight": 1, "statements": [statement]});
        operation
            .as_object_mut()
            .expect("an object")
            .extend(more.as_object().expect("an object").clone());
        json!({"workload": {"key_spaces": [], "operations": [operation]}})
    };
    let number = json!({"kind": "literal", "value": 3});
    let cases = [
        (
            operation(json!({"sql": ["SELECT ?"], "binds": [number]}), json!({})),
            "bind 1 is Text: Integer does not fit it",
        ),
        (operation(json!({"sql": ["SELECT ?"]}), json!({})), "takes 1 binds, 0 are given"),
        (
            operation(json!({"sql": ["SELECT 1"]}), json!({"transaction": true})),
            "operation a: CQL has no transactions",
        ),
        (
            operation(json!({"sql": ["SELECT 1"]}), json!({"consistency": "SOME"})),
            "unknown variant `SOME`",
        ),
        (json!({"streams_per_connection": 0}), "streams_per_connection is 0"),
    ];
    for (changes, expected) in cases {
        let error = run(cql(server.port), &changes).expect_err(expected);
        assert_eq!(error.code, "spec");
        assert!(error.message.contains(expected), "{error}");
    }
    assert!(server.log().iter().all(Vec::is_empty));
}
