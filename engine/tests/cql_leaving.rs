//! Loads of a cluster whose nodes leave, return, and forget.

mod support;

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use support::cql_cluster::{Behavior, Cluster, EVEN, Tables, measured, served};
use support::cql_server::{Action, Command};
use support::loads::{READ, text_key};

/// Its second node hangs up at its 21st statement, and lets nobody in until it was asked so often.
struct Leaving {
    refuses: usize,
    refused: AtomicUsize,
}

impl Behavior for Leaving {
    fn admits(&self, node: usize, connection: usize) -> bool {
        let away = node == 1 && (1..=self.refuses).contains(&connection);
        self.refused.fetch_add(usize::from(away), Ordering::SeqCst);
        !away
    }

    fn act(&self, node: usize, command: &Command<'_>) -> Action {
        match (node, command.connection, command.number) {
            (1, 0, 20) => Action::Close,
            _ => Action::Rows,
        }
    }
}

fn leaving(refuses: usize) -> Leaving {
    Leaving { refuses, refused: AtomicUsize::new(0) }
}

#[test]
fn others_take_over_from_a_node_that_leaves_until_it_returns() {
    let cluster = Cluster::start(3, Tables::of(&EVEN), leaving(3));
    // the attempts are 10, 20 and 40 ms apart: long before the end of so slow a load
    let changes = json!({"connections": 4, "duration_s": 1.5,
                         "loop": {"kind": "open", "rate_ops_per_second": 2_000}});
    let report = measured(&cluster, &changes);
    let node = &report.nodes[1];
    let failed = node.errors["connection_lost"];
    assert!((1..=4).contains(&failed), "what was under way on it: {failed}");
    assert_eq!(report.operations[READ].errors["connection_lost"], failed);
    assert_eq!(served(&report).iter().sum::<u64>(), report.operations[READ].succeeded);
    assert_eq!((node.lost, node.taken_over), (1, 0));
    assert!(report.nodes[0].taken_over + report.nodes[2].taken_over > 0);
    let connections = &report.connection_report;
    assert_eq!((connections.opened, connections.replaced), (4, 1), "three, and one again");
    assert_eq!(connections.failed.values().sum::<u64>(), 3, "{:?}", connections.failed);
    assert!(node.succeeded > 20, "it has returned");
}

#[test]
fn a_node_that_stays_away_is_asked_ever_less_often() {
    let cluster = Cluster::start(3, Tables::of(&EVEN), leaving(usize::MAX));
    let changes = json!({"connections": 4, "duration_s": 1.5,
                         "loop": {"kind": "open", "rate_ops_per_second": 1_000}});
    let report = measured(&cluster, &changes);
    assert!(report.nodes[1].succeeded <= 20);
    let attempts = report.connection_report.failed.values().sum::<u64>();
    assert!((3..=15).contains(&attempts), "10 ms, then twice as long each: {attempts}");
    assert!(report.operations[READ].succeeded > 1_400);
}

/// Its second node answers once it was asked by all of so many, and breaks off; the first never does.
struct Breaking(usize);

impl Behavior for Breaking {
    fn act(&self, node: usize, command: &Command<'_>) -> Action {
        let last = (node, command.connection, command.number + 1) == (1, 0, self.0);
        if last { Action::ReleaseAndBreak } else { Action::Hold }
    }
}

#[test]
fn what_a_node_said_before_it_left_is_no_other_nodes_answer() {
    let tokens: [&[i64]; 2] = [&[i64::MIN + 1], &[i64::MAX]]; // all rows are the second's
    let cluster = Cluster::start(2, Tables::of(&tokens), Breaking(64));
    // so long that each is sent at once, while answers that came together are taken in
    let mut key = text_key();
    key["template"] = json!("user{}".to_owned() + &"x".repeat(17_000));
    let statement = json!({"sql": ["SELECT c FROM t WHERE id = ?"], "binds": [key]});
    let operation = json!({"name": READ, "weight": 1, "statements": [statement]});
    let changes = json!({"connections": 64, "duration_s": 0.4, "timeout_ms": 200, "workload": {
        "key_spaces": [{"name": "rows", "records": 1_000}], "operations": [operation]}});
    let report = measured(&cluster, &changes);
    assert_eq!((report.nodes[0].succeeded, report.nodes[1].lost), (0, 1));
    assert!(report.nodes[0].taken_over >= 64, "{:?}", report.nodes);
    assert!((1..=64).contains(&report.nodes[1].succeeded));
}

/// All nodes hang up at their 6th statement of the first connection.
struct Falling;

impl Behavior for Falling {
    fn act(&self, _: usize, command: &Command<'_>) -> Action {
        if command.connection < 2 && command.number == 5 { Action::Close } else { Action::Rows }
    }
}

#[test]
fn a_cluster_that_is_away_as_a_whole_is_waited_for() {
    let cluster = Cluster::start(3, Tables::of(&EVEN), Falling);
    let report = measured(&cluster, &json!({"connections": 4, "operations_limit": 400}));
    let read = &report.operations[READ];
    assert_eq!(read.succeeded + read.errors["connection_lost"], 400);
    assert!(report.nodes.iter().all(|node| node.lost >= 1), "{:?}", report.nodes);
}

/// It forgets each statement once.
struct Forgetful;

impl Behavior for Forgetful {
    fn act(&self, _: usize, command: &Command<'_>) -> Action {
        if command.number == 5 { Action::Error(0x2500) } else { Action::Rows }
    }
}

#[test]
fn a_node_that_has_forgotten_a_statement_is_told_it_again() {
    let cluster = Cluster::start(3, Tables::of(&EVEN), Forgetful);
    let report = measured(&cluster, &json!({"connections": 4, "operations_limit": 600}));
    let read = &report.operations[READ];
    assert_eq!((read.succeeded, read.errors.len()), (600, 0));
    for node in 0..3 {
        let (seen, succeeded) = (cluster.seen(node), report.nodes[node].succeeded);
        assert_eq!(seen.executions.len() as u64, succeeded + 1);
    }
}
