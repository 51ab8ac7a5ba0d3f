//! Loads that look for answers before they sleep: they send and count the same as any other.

mod support;

use std::sync::Arc;
use std::time::Duration;

use plimsoll_engine::report::LoadReport;
use serde_json::{Value, json};

use support::loads::{READ, cql, mysql, postgres, run, run_calling, undisturbed};
use support::mysql_server::{Action, Gate, Server};

fn polling(mut load: Value, poll_us: u32) -> Value {
    load["poll_us"] = json!(poll_us);
    load
}

#[test]
fn what_is_sent_and_counted_is_the_same() {
    let log = |poll_us: u32| {
        let server = Server::start(|_| Action::Rows);
        let changes = json!({"operations_limit": 500, "connections": 3});
        let report = run(polling(mysql(server.port), poll_us), &changes).expect("it starts");
        assert_eq!(report.operations[READ].succeeded, 500);
        assert_eq!(report.poll_us, poll_us);
        assert!(poll_us > 0 || report.client.polled_s == 0.0, "{:?}", report.client);
        let mut log = server.log();
        log.sort();
        log
    };
    assert_eq!(log(0), log(1_000));
}

#[test]
fn every_protocol_can_look() {
    let cassandra = support::cql_server::Server::start(|_| support::cql_server::Action::Rows);
    let postgresql =
        support::postgres_server::Server::start(|_| support::postgres_server::Action::Rows);
    let mariadb = Server::start(|_| Action::Rows);
    for load in [cql(cassandra.port), postgres(postgresql.port), mysql(mariadb.port)] {
        // it pauses where others want the processor, at first for less than this
        let report = undisturbed(
            |report| report.client.polled_s > 0.0,
            || run(polling(load.clone(), 1_000), &json!({"duration_s": 0.5})),
        );
        assert!(report.operations[READ].errors.is_empty(), "{:?}", report.operations[READ]);
        assert!(report.client.polled_s > 0.0, "{:?}", report.client);
    }
}

#[test]
fn looking_is_no_work() {
    // nothing is answered for a second, in which it looks and then sleeps
    let idle = |report: &LoadReport| report.client.busy_fraction < Some(0.4);
    let report = undisturbed(idle, || {
        let gate = Arc::new(Gate::default());
        let held = gate.clone();
        let server = Server::start(move |_| Action::Wait(held.clone()));
        run_calling(
            polling(mysql(server.port), 1_000),
            &json!({"operations_limit": 4}),
            |seconds| {
                if !seconds.is_empty() {
                    gate.open();
                }
                true
            },
        )
    });
    let client = &report.client;
    assert!(client.busy_fraction < Some(0.4), "{client:?}");
    assert!(client.polled_s > 0.0, "{client:?}");
    // a look that finds nothing is not made again and again
    assert!(client.polled_s < 0.5, "{client:?}");
}

#[test]
fn an_open_loop_looks_and_sends_in_time() {
    let server = Server::start(|_| Action::Rows);
    let changes = json!({"connections": 4, "operations_limit": 200,
                         "loop": {"kind": "open", "rate_ops_per_second": 1_000.0}});
    let late =
        |report: &LoadReport| report.client.send_lateness_us.as_ref().and_then(|late| late.p50);
    let report = undisturbed(
        |report| late(report) < Some(1_000),
        || run(polling(mysql(server.port), 50), &changes),
    );
    assert_eq!(report.operations[READ].succeeded, 200);
    assert!(late(&report) < Some(1_000), "{:?}", report.client);
}

#[test]
fn a_look_ends_with_the_load() {
    let gate = Arc::new(Gate::default());
    let held = gate.clone();
    let server = Server::start(move |_| Action::Wait(held.clone()));
    let changes = json!({"duration_s": 0.2, "timeout_ms": 100});
    let report = run(polling(mysql(server.port), 1_000), &changes).expect("it starts");
    gate.open();
    assert!(Duration::from_secs_f64(report.window_s) <= Duration::from_millis(200));
    assert!(report.operations[READ].errors["timeout"] >= 2);
}
