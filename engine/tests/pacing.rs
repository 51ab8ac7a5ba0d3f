//! When operations are sent and which are measured: open loops, windows, late starts.

mod support;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use plimsoll_engine::report::{Ended, LoadReport};
use serde_json::json;

use support::loads::{READ, mysql, run, run_calling, undisturbed};
use support::mysql_server::{Action, Gate, Server};

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
    let report = run_calling(mysql(server.port), &changes, |seconds| {
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
        let report =
            undisturbed(|report| report.operations_sent == 2, || run(mysql(server.port), &changes));
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
fn what_is_done_before_the_window_is_not_measured() {
    let server = Server::start(|_| Action::Rows);
    let report = run(mysql(server.port), &json!({"operations_limit": 10, "warmup_s": 60}))
        .expect("it starts");
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
        run_calling(mysql(server.port), &json!({"operations_limit": 10, "threads": 2}), |seconds| {
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
    let report = run_calling(mysql(server.port), &json!({}), |seconds| seconds.is_empty());
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
        run(mysql(server.port), &changes)
    });
    assert!(report.late_start_ms >= 700);
    // both clocks are read once, so they may differ by a rounded millisecond
    assert!((report.window_end_epoch_ms - (start_at + 3_500)).abs() <= 1);
    assert!(report.window_start_epoch_ms >= start_at + 700);
    assert!(report.window_s <= 2.8);
}
