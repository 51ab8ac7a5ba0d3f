//! A very fast server of the PostgreSQL protocol, for measuring clients: it answers every execution
//! with the same row, from memory, without looking at what was bound.
//!
//! Usage: `canned_postgres BYTES`; prints its port and serves until it is ended. Every parameter is
//! an integer of 4 bytes.

#[path = "../tests/support/mod.rs"]
mod support;

use support::postgres_messages as messages;
use support::postgres_server::{Action, Talk};
use support::serving::serve_on_one_thread;

const INT4: u32 = 23;

fn main() {
    let bytes = std::env::args().nth(1).expect("BYTES is missing").parse().expect("a number");
    let talk = |connection| {
        let mut talk = Talk::new(connection, |_| Action::Rows);
        talk.parameter_type = INT4;
        talk.row = messages::row(1, bytes);
        talk
    };
    serve_on_one_thread(talk).expect("epoll");
}
