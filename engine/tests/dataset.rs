//! A dataset that is loaded into a server which fails now and then.

mod support;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use plimsoll_engine::family;
use plimsoll_engine::spec::Dataset;
use serde_json::json;

use support::cql_frames as frames;
use support::cql_server::{Action, Server};
use support::loads::target;
use support::mysql_server;

#[test]
fn a_dataset_is_written_row_by_row_and_what_failed_is_written_again() {
    // what follows the statement's id, which differs from connection to connection
    let row = |body: &[u8]| body[2 + usize::from(body[1])..].to_vec();
    let other = AtomicBool::new(false);
    let there = Arc::new(Mutex::new(BTreeSet::new()));
    let written = there.clone();
    let server = Server::start(move |command| {
        other.fetch_or(command.connection == 1, Ordering::SeqCst);
        while command.number == 0 && !other.load(Ordering::SeqCst) {
            thread::yield_now(); // none writes all of it before the other one is there
        }
        let action = match (command.connection, command.number) {
            (0, 10 | 20) => Action::Error(0x1100),
            (1, 30) => Action::Close,
            // neither a result nor an error; by then a new connection sends rows for the first time
            (2, 60) => Action::Bytes(frames::frame(command.stream, 0x42, &[]).into()),
            _ => Action::Rows,
        };
        if matches!(action, Action::Rows) {
            written.lock().expect("sound").insert(row(command.body));
        }
        action
    });
    let spec = json!({
        "target": target("cql", server.port), "table": "t", "columns": ["a", "b"],
        "row": [{"kind": "format", "template": "user{}", "of": [{"kind": "row"}]},
                {"kind": "text", "length": 50}],
        "from_row": 0, "to_row": 1_000, "rows_per_statement": 100, "connections": 2,
    });
    let dataset = Dataset::from_json(&spec.to_string()).expect("sound");
    let report =
        family::load_rows(&dataset, &AtomicBool::new(false), &mut |_| true).expect("loads");
    assert_eq!(report.rows_inserted, 1_000);
    assert!(report.rows_sent > 1_000);
    let codes = ["connection_lost", "protocol", "write_timeout"];
    assert_eq!(report.errors.keys().collect::<Vec<_>>(), codes);
    let log = server.log();
    let mut rows: Vec<Vec<u8>> = log.iter().flatten().map(|(_, body)| row(body)).collect();
    rows.sort_unstable();
    rows.dedup();
    assert_eq!(there.lock().expect("sound").len(), 1_000, "none is left out");
    assert_eq!(rows.len(), 1_000, "a row that is written again has the same values");
    assert!(
        server
            .prepares()
            .iter()
            .all(|text| text == "INSERT INTO \"t\" (\"a\", \"b\") VALUES (?, ?)")
    );
}

#[test]
fn rows_come_by_their_keys_or_by_their_numbers_as_it_is_asked() {
    let keys = |load_order: &str| -> Vec<String> {
        let server = mysql_server::Server::start(|_| mysql_server::Action::Ok);
        let spec = json!({
            "target": target("mysql", server.port), "table": "t", "columns": ["a", "b"],
            "row": [{"kind": "format", "template": "user{}",
                     "of": [{"kind": "fnv_hash", "of": {"kind": "row"}}]},
                    {"kind": "text", "length": 3, "alphabet": "digits"}],
            "from_row": 0, "to_row": 200, "rows_per_statement": 50, "connections": 1,
            "load_order": load_order,
        });
        let dataset = Dataset::from_json(&spec.to_string()).expect("sound");
        family::load_rows(&dataset, &AtomicBool::new(false), &mut |_| true).expect("loads");
        let inserts = server.log().concat().concat();
        let text = String::from_utf8_lossy(&inserts).into_owned();
        let key = |rest: &str| rest.chars().take_while(char::is_ascii_digit).collect();
        text.split("user").skip(1).map(key).collect()
    };
    let (by_key, by_number) = (keys("key"), keys("number"));
    assert_eq!((by_key.len(), by_number.len()), (200, 200));
    assert!(by_key.is_sorted() && !by_number.is_sorted());
    assert_eq!(BTreeSet::from_iter(&by_key), BTreeSet::from_iter(&by_number));
}
