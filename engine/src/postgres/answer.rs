//! Reads what the server says as it arrives: messages are walked, rows never kept.
//!
//! The formats are those of the documentation's chapter "Frontend/Backend Protocol". Everything that
//! was asked up to a Sync, or by a simple query, has one answer, which ReadyForQuery ends.

use super::errors::ServerError;
use super::frames::{Message, Partial, tag, whole};
use crate::error::{Failure, Violation};
use crate::load::wire::Kept;
use crate::spec::{ReturnedKind, Row};

/// How the commands that share an answer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// `rows`: how many rows it returned, inserted, updated or deleted, by the server's command tags.
    Done {
        rows: u64,
    },
    Failed(Box<ServerError>),
}

/// Reads one answer after the other. [`Answer::await_next`] begins the next one.
#[derive(Debug, Default)]
pub struct Answer {
    /// Whether ReadyForQuery is still to come.
    awaited: bool,
    /// Commands that are not completed yet.
    commands: u32,
    /// For each command, in their order, the least number of rows that it has to meet.
    least: Vec<u64>,
    rows: u64,
    /// Rows missing, summed over the commands: how far each fell short of its least number.
    missing: u64,
    /// The first error.
    failed: Option<Box<ServerError>>,
    /// Whether answers to COPY FROM STDIN are expected.
    copies: bool,
    in_transaction: bool,
    /// The current message, if it does not arrive in one piece.
    partial: Partial,
    /// The columns of the result's first row that are kept.
    pub kept: Kept,
}

impl Answer {
    /// Reads the answers to inserts, COPY FROM STDIN among them.
    pub fn of_inserts() -> Self {
        Answer { copies: true, ..Answer::default() }
    }

    /// Starts over, for a new connection on which nothing has been asked.
    pub fn clear(&mut self) {
        self.partial.clear();
        self.await_next();
        self.awaited = false;
        self.in_transaction = false;
    }

    /// Starts the answer to what is asked now; a message that has begun goes on.
    #[inline]
    pub fn await_next(&mut self) {
        self.awaited = true;
        self.commands = 0;
        self.least.clear();
        self.rows = 0;
        self.missing = 0;
        self.failed = None;
        self.kept.clear();
    }

    /// Rows of what is asked, up to `most`, are to be kept, as far as they have these columns. They
    /// come as texts.
    #[cold]
    pub fn keep(&mut self, returns: &[(usize, ReturnedKind)], row: Row, most: usize) {
        self.kept.begin(returns, row, most);
        self.partial.keep_rows();
    }

    /// Takes a row: a number of columns, then each one's length and text.
    #[cold]
    fn keep_row(&mut self, body: &[u8]) -> Result<(), Violation> {
        const SHORT: Violation = Violation("a row that is short, or too long to be kept");
        let (_, mut rest) = body.split_first_chunk::<2>().ok_or(SHORT)?;
        for index in 0..self.kept.wanted() {
            let (length, after) = rest.split_first_chunk::<4>().ok_or(SHORT)?;
            rest = after;
            let Ok(length) = usize::try_from(i32::from_be_bytes(*length)) else {
                self.kept.set_null(index);
                continue;
            };
            let (text, after) = rest.split_at_checked(length).ok_or(SHORT)?;
            if !self.kept.set_digits(index, text) {
                return Err(Violation("a column is no whole number"));
            }
            rest = after;
        }
        self.kept.fill();
        Ok(())
    }

    pub fn awaited(&self) -> bool {
        self.awaited
    }

    /// Adds a command to what is asked.
    #[inline]
    pub fn expect_command(&mut self) {
        self.commands += 1;
        self.least.push(0);
    }

    /// Sets the least number of rows that the last command has to meet.
    #[inline]
    pub fn expect_rows(&mut self, least: u64) {
        if let Some(last) = self.least.last_mut() {
            *last = least;
        }
    }

    /// Rows missing in the last answer: how far its commands fell short of their least numbers.
    pub fn missing(&self) -> u64 {
        self.missing
    }

    /// Whether the last answer left a transaction open, failed or not.
    pub fn in_transaction(&self) -> bool {
        self.in_transaction
    }

    /// Takes bytes as they arrive, and returns how what was asked ended once the answer is complete.
    /// An error means that the connection cannot be used any more.
    #[inline]
    pub fn feed(&mut self, mut input: &[u8]) -> Result<Option<Outcome>, Box<Failure>> {
        let mut outcome = None;
        while !input.is_empty() {
            let whole = if self.partial.active() { Ok(None) } else { whole(input) };
            let ended = match whole {
                Ok(Some((message, rest))) => {
                    input = rest;
                    match self.message(message) {
                        // what is complete has succeeded or failed before the session ended
                        Err(end) if outcome.is_some() && end.code != "protocol" => {
                            return Ok(outcome);
                        }
                        ended => ended?,
                    }
                }
                Ok(None) => self.piece(&mut input)?,
                Err(violation) => return Err(boxed(violation)),
            };
            if ended.is_some() {
                outcome = ended;
            }
        }
        Ok(outcome)
    }

    /// Takes a part of a message that arrives in pieces.
    #[cold]
    fn piece(&mut self, input: &mut &[u8]) -> Result<Option<Outcome>, Box<Failure>> {
        let mut partial = std::mem::take(&mut self.partial);
        let outcome = match partial.take(input) {
            Ok(Some(message)) => self.message(message),
            Ok(None) => Ok(None),
            Err(violation) => Err(boxed(violation)),
        };
        self.partial = partial;
        outcome
    }

    #[inline(always)]
    fn message(&mut self, message: Message<'_>) -> Result<Option<Outcome>, Box<Failure>> {
        let Message { tag, body } = message;
        match tag {
            tag::DATA_ROW | tag::BIND_COMPLETE if self.awaited => {
                // a statement whose rows are kept is the last of what is asked together
                if self.kept.wanted() > 0 && self.commands == 1 && tag == tag::DATA_ROW {
                    self.keep_row(body).map_err(boxed)?;
                }
            }
            tag::COMMAND_COMPLETE if self.awaited => {
                if self.commands == 0 {
                    return violated("more answers than requests");
                }
                let rows = tagged_rows(body);
                let least = self.least[self.least.len() - self.commands as usize];
                self.commands -= 1;
                self.rows = self.rows.saturating_add(rows);
                self.missing = self.missing.saturating_add(least.saturating_sub(rows));
            }
            tag::READY if self.awaited => return self.ready(body).map(Some),
            _ => self.seldom(message)?,
        }
        Ok(None)
    }

    #[inline(always)]
    fn ready(&mut self, body: &[u8]) -> Result<Outcome, Box<Failure>> {
        self.in_transaction = match body {
            b"I" => false,
            b"T" | b"E" => true,
            _ => return violated("an unknown state of the transaction"),
        };
        self.awaited = false;
        if let Some(error) = self.failed.take() {
            return Ok(Outcome::Failed(error));
        }
        if self.commands > 0 {
            return violated("fewer answers than requests");
        }
        Ok(Outcome::Done { rows: self.rows })
    }

    /// Handles messages that seldom come, or never should.
    #[cold]
    fn seldom(&mut self, Message { tag, body }: Message<'_>) -> Result<(), Box<Failure>> {
        match tag {
            tag::ERROR => {
                let error = ServerError::read(body).map_err(boxed)?;
                if error.fatal {
                    return Err(Box::new(error.failure()));
                }
                if !self.awaited {
                    return violated("an error that answers nothing");
                }
                self.failed.get_or_insert(Box::new(error));
                Ok(())
            }
            _ if tag::unasked(tag) => Ok(()),
            _ if !self.awaited => violated("the server spoke without being asked"),
            tag::PARSE_COMPLETE | tag::ROW_DESCRIPTION | tag::NO_DATA => Ok(()),
            tag::COPY_IN if self.copies => Ok(()),
            tag::EMPTY_QUERY => violated("a statement without a command"),
            b'G' | b'H' | b'W' => violated("the statement is a COPY, which no operation may be"),
            _ => violated("an unknown message"),
        }
    }
}

#[cold]
fn boxed(violation: Violation) -> Box<Failure> {
    Box::new(violation.into())
}

#[cold]
fn violated<T>(what: &'static str) -> Result<T, Box<Failure>> {
    Err(boxed(Violation(what)))
}

/// The number at the end of a command tag ("INSERT 0 3", "SELECT 100"); 0 if there is none ("BEGIN").
#[inline]
fn tagged_rows(tag: &[u8]) -> u64 {
    let digits = tag.strip_suffix(&[0]).unwrap_or(tag).iter().rev();
    let (mut rows, mut place) = (0_u64, 1_u64);
    for &digit in digits.take_while(|byte| byte.is_ascii_digit()) {
        rows = rows.saturating_add(place.saturating_mul(u64::from(digit - b'0')));
        place = place.saturating_mul(10);
    }
    rows
}
