//! A very fast server of CQL's protocol, for measuring clients: it answers every execution with the
//! same row, from memory, without looking at what was bound.
//!
//! Usage: `canned_cql BYTES`; prints its port and serves until it is ended. Every bind is a bigint.

#[path = "../tests/support/mod.rs"]
mod support;

use support::cql_frames::BIGINT;
use support::cql_server::{Action, Talk};
use support::serving::serve_on_one_thread;

fn main() {
    let bytes = std::env::args().nth(1).expect("BYTES is missing").parse().expect("a number");
    let talk = |connection| {
        let mut talk = Talk::new(connection, BIGINT, |_| Action::Rows);
        talk.row_bytes = bytes;
        talk
    };
    serve_on_one_thread(talk).expect("epoll");
}
