//! A very fast server of the MySQL protocol, for measuring clients: it answers every execution
//! with the same row, from memory, without looking at the statement's binds.
//!
//! Usage: `canned COLUMNS BYTES_OF_EACH`; prints its port and serves until it is ended. With
//! `canned echo BYTES_ASKED BYTES_ANSWERED` it answers so many bytes with so many instead: the
//! least that any client and server can cost (see `echo.rs`).

use plimsoll_engine::mysql::answer::Agreed;

#[path = "../tests/support/mod.rs"]
mod support;

use support::mysql_packets::{self as packets, Rows};
use support::mysql_server::{Action, Command, EXECUTE, QUERY, Talk};
use support::serving::{Conversation, serve_on_one_thread};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize| -> usize {
        let text = arguments.get(index).unwrap_or_else(|| panic!("argument {index} is missing"));
        text.parse().expect("a number")
    };
    if arguments.first().is_some_and(|first| first == "echo") {
        let (asked, answered) = (number(1), number(2));
        serve_on_one_thread(|_| Echo { asked, answer: vec![b'x'; answered] }).expect("epoll");
    } else {
        serve_rows(number(0), number(1)).expect("epoll");
    }
}

/// Answers with one row of so many columns, each of so many bytes.
fn serve_rows(columns: usize, bytes: usize) -> std::io::Result<()> {
    let rows = |deprecate_eof, text| -> &'static [u8] {
        let mut out = Vec::new();
        let shape = Rows { columns, rows: 1, value: bytes, text, known: false };
        let agreed = Agreed { deprecate_eof, cache_metadata: false };
        packets::result_set(&mut 1, shape, agreed, 2, &mut out);
        out.leak()
    };
    let (with_eof, without_eof, as_text) =
        (rows(false, false), rows(true, false), rows(false, true));
    let behavior = move |command: &Command<'_>| match command.payload[0] {
        EXECUTE if command.agreed.deprecate_eof => Action::Bytes(without_eof.into()),
        EXECUTE => Action::Bytes(with_eof.into()),
        QUERY if !command.agreed.deprecate_eof && command.payload[1..].starts_with(b"SELECT c") => {
            Action::Bytes(as_text.into())
        }
        _ => Action::Ok,
    };
    serve_on_one_thread(|connection| Talk::new(connection, columns as u16, behavior))
}

struct Echo {
    /// In bytes.
    asked: usize,
    answer: Vec<u8>,
}

impl Conversation for Echo {
    fn answer(&mut self, input: &[u8], out: &mut Vec<u8>) -> Option<usize> {
        let times = input.len() / self.asked;
        (0..times).for_each(|_| out.extend_from_slice(&self.answer));
        Some(times * self.asked)
    }
}
