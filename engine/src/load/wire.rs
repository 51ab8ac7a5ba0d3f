//! The seam between the loop (pacing, recording, deadlines, reopening) and a family's protocol.
//!
//! A wire is one connection to the server. It carries one operation at a time for each of its
//! lanes: MySQL's and PostgreSQL's have one lane, CQL's has many, which the protocol's streams keep apart. The loop is
//! compiled for each protocol (monomorphized), so that none pays for the others.

use std::ops::Range;

use super::cluster::Cluster;
use crate::error::{EngineError, Failure};
use crate::generators::lists::List;
use crate::generators::values::{Drawing, Scope, Value, Variable};
use crate::session::connect::{Login, Opener, Session};
use crate::session::link::BufferedLink;
use crate::spec::{Consistency, Load, ReturnedKind, Row};

/// A statement to be carried out, its binds still to be drawn.
pub struct Execution<'a> {
    /// The place on the wire of the lane that sends it.
    pub slot: usize,
    /// Index of the prepared statement in the program.
    pub prepared: usize,
    pub binds: &'a [Value],
    /// CQL only.
    pub consistency: Consistency,
    /// The least number of rows that it has to return, match or insert.
    pub rows_least: u64,
    /// The variables that take the first columns of its first row.
    pub returns: &'a [(usize, ReturnedKind)],
    /// Which row that is instead.
    pub row: Row,
    /// How many rows are kept at most: one for each line of a list.
    pub rows_kept: usize,
}

/// The first columns of rows of a result, in memory that is used again and again.
#[derive(Debug, Default)]
pub struct Kept {
    kinds: Vec<ReturnedKind>,
    values: Vec<Variable>,
    /// How many columns are wanted of the next row.
    wanted: usize,
    row: Row,
    /// How many rows are kept side by side; any others one in the place of the other.
    most: usize,
    /// How many rows have been kept.
    rows: u64,
    /// Where the next row's columns begin.
    at: usize,
}

impl Kept {
    /// Starts the answer to a statement some of whose columns are kept.
    #[cold]
    pub fn begin(&mut self, returns: &[(usize, ReturnedKind)], row: Row, most: usize) {
        self.kinds.clear();
        self.kinds.extend(returns.iter().map(|(_, kind)| *kind));
        let values = returns.len() * most;
        self.values.resize(values.max(self.values.len()), Variable::Null);
        self.wanted = returns.len();
        self.row = row;
        self.most = most;
        self.rows = 0;
        self.at = 0;
    }

    /// Keeps nothing of the next answer.
    #[inline]
    pub fn clear(&mut self) {
        self.wanted = 0;
    }

    /// How many columns of the next row are to be kept.
    #[inline]
    pub fn wanted(&self) -> usize {
        self.wanted
    }

    /// The row is there: no other is kept after the first ones.
    pub fn fill(&mut self) {
        self.rows += 1;
        if self.row == Row::First {
            self.at += self.wanted;
            if self.rows == self.most as u64 {
                self.wanted = 0;
            }
        }
    }

    /// Keeps a null; for a script an empty text, as pgbench does.
    pub fn set_null(&mut self, column: usize) {
        if self.row == Row::First {
            self.values[self.at + column] = Variable::Null;
        } else {
            self.set_text(column, b"");
        }
    }

    /// Keeps a number; returns false if it does not fit.
    pub fn set_integer(&mut self, column: usize, number: i64) {
        match self.kinds[column] {
            ReturnedKind::Integer => self.values[self.at + column] = Variable::Integer(number),
            ReturnedKind::Text => self.set_text(column, number.to_string().as_bytes()),
        }
    }

    /// Keeps a text, or the whole number that it spells; returns false if it spells none.
    pub fn set_digits(&mut self, column: usize, text: &[u8]) -> bool {
        match self.kinds[column] {
            ReturnedKind::Text => self.set_text(column, text),
            ReturnedKind::Integer => {
                let number = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
                let Some(number) = number else {
                    return false;
                };
                self.values[self.at + column] = Variable::Integer(number);
            }
        }
        true
    }

    fn set_text(&mut self, column: usize, text: &[u8]) {
        let value = &mut self.values[self.at + column];
        if let Variable::Text(kept) = value {
            kept.clear();
            kept.extend_from_slice(text);
        } else {
            *value = Variable::Text(text.to_vec());
        }
    }

    /// Hands the row's columns over to variables. Without a first row they are null, without a last
    /// one they stay as they are. Returns how many rows there were if there was to be only one.
    pub fn hand_over(
        &mut self,
        returns: &[(usize, ReturnedKind)],
        variables: &mut [Variable],
    ) -> Result<(), u64> {
        match (self.row, self.rows) {
            (Row::Only, rows) if rows != 1 => return Err(rows),
            (Row::Last, 0) => return Ok(()),
            _ => {}
        }
        for (column, (slot, _)) in returns.iter().enumerate() {
            if self.rows > 0 {
                std::mem::swap(&mut self.values[column], &mut variables[*slot]);
            } else {
                variables[*slot] = Variable::Null;
            }
        }
        Ok(())
    }

    /// Hands each row's columns over to the variables of the line that has its first column as key.
    /// Those of a line without a row are null.
    pub fn hand_over_lines(
        &mut self,
        returns: &[(usize, ReturnedKind)],
        list: &List,
        variables: &mut [Variable],
    ) {
        let columns = returns.len();
        let rows = self.values[..self.rows as usize * columns].chunks_exact_mut(columns);
        let mut found = 0_u128; // a bit for each line that has a row
        for row in rows {
            let Some(line) = list.find(&row[0], variables) else {
                continue;
            };
            found |= 1 << line;
            for (value, (slot, _)) in row.iter_mut().zip(returns).skip(1) {
                std::mem::swap(value, &mut variables[slot + line * list.width]);
            }
        }
        for line in (1..=list.most).filter(|line| found & (1 << line) == 0) {
            for (slot, _) in &returns[1..] {
                variables[slot + line * list.width] = Variable::Null;
            }
        }
    }
}

/// The rows that statements met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Met {
    /// How many were returned, inserted, matched for an update or deleted. None if an answer does not
    /// tell it.
    pub rows: Option<u64>,
    /// Rows missing, summed over the statements: how far each fell short of its least number.
    pub missing: u64,
    /// The operation rolled back on purpose.
    pub rolled_back: bool,
}

impl Met {
    /// The sum over no statement.
    pub const NONE: Met = Met { rows: Some(0), missing: 0, rolled_back: false };

    /// The rows of one statement, given the least number that it has to meet.
    #[inline]
    pub fn of(rows: Option<u64>, least: u64) -> Self {
        let missing = rows.map_or(0, |rows| least.saturating_sub(rows));
        Met { rows, missing, rolled_back: false }
    }

    #[inline]
    pub fn add(&mut self, other: Met) {
        self.rows = self.rows.zip(other.rows).map(|(one, more)| one.saturating_add(more));
        self.missing = self.missing.saturating_add(other.missing);
    }
}

/// The answer to what a lane sent last.
pub struct Answered {
    pub slot: usize,
    /// The rows that its statements met. A failure is in a box, so that the common case moves few
    /// bytes.
    pub result: Result<Met, Box<Failure>>,
}

/// One connection, and what is spoken on it.
pub trait Wire: Sized + Send {
    /// The facts that a login learns of its session.
    type Known: Login;
    /// Whether the requests of several lanes are collected and sent together.
    const GATHERS: bool = false;
    /// Whether a target may have several nodes, each with the rows of its own tokens.
    const ROUTES: bool = false;
    /// Whether every answer tells how many rows its statements met.
    const COUNTS_ROWS: bool = true;

    /// Refuses a load that the protocol cannot carry, before anything is connected.
    fn check(_load: &Load) -> Result<(), EngineError> {
        Ok(())
    }

    /// Asks a target that may have several nodes for those that the load goes to.
    fn cluster(opener: Opener) -> Result<Cluster, EngineError> {
        Ok(Cluster::single(opener))
    }

    /// The most lanes that a load gives to one wire.
    fn lanes_of(_load: &Load) -> usize {
        1
    }

    /// A wire without a session, for so many lanes.
    fn new(lanes: usize) -> Self;

    /// Puts an open session on the wire, in the place of any other.
    fn open(&mut self, session: Session<Self::Known>);

    /// The session's link, with what waits to be sent on it.
    fn link(&self) -> &BufferedLink;

    fn link_mut(&mut self) -> &mut BufferedLink;

    /// Drops the session, even where answers are awaited.
    fn close(&mut self);

    /// Drops the session, after the protocol's farewell where no answer is awaited.
    fn quit(&mut self);

    /// Appends the execution of a prepared statement.
    fn execute(&mut self, execution: &Execution<'_>, drawing: &mut Drawing, scope: &mut Scope);

    /// What the last answer's statement returned. Only a family whose statements return variables
    /// has it.
    fn kept(&mut self) -> Option<&mut Kept> {
        None
    }

    /// Appends a statement without binds. Its answer is that of slot 0.
    fn command(&mut self, text: &str);

    /// Whether a transaction is appended as a whole, before anything of it is answered. All of it then
    /// has one answer.
    fn pipelines(&self) -> bool {
        false
    }

    /// Ends what is appended to be answered together.
    fn ask(&mut self) {}

    /// Whether a transaction may be under way, so that it is to be rolled back after a failure.
    fn in_transaction(&self) -> bool {
        true
    }

    /// Reads once into `buffer`, appends the complete answers, and returns whether there may be more to
    /// read. `drain`: the peer has hung up, so that no event will announce the rest.
    fn receive(
        &mut self,
        buffer: &mut [u8],
        drain: bool,
        answers: &mut Vec<Answered>,
    ) -> Result<bool, Failure>;

    /// The token of the partition that a slot's execution is for; None if it has none.
    fn token(&self, _slot: usize) -> Option<i64> {
        None
    }

    /// Moves a slot's execution, appended last and not sent, to the same slot of another wire.
    fn hand_over(&mut self, slot: usize, _to: &mut Self) {
        unreachable!("slot {slot}: only a protocol that routes has several nodes");
    }

    /// No longer awaits a slot's answer. False if the wire cannot be used any more: without streams
    /// answers come in order, so that of the next request would come after this one.
    fn abandon(&mut self, _slot: usize) -> bool {
        false
    }
}

/// The state of a wire's session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    Open,
    /// The next attempt to open one is due at this time.
    Waiting {
        until: u64,
    },
    /// One is being opened.
    Opening,
}

/// A wire among the others of a thread.
pub struct Line<W> {
    pub wire: W,
    /// Its lanes among the thread's.
    pub lanes: Range<usize>,
    pub standing: Standing,
    /// Attempts to open a session that failed in a row.
    pub attempts: u32,
    /// It is in the worker's list of lines that have something to send.
    pub listed: bool,
}

impl<W: Wire> Line<W> {
    /// Puts an open session on the wire.
    pub fn open(&mut self, session: Session<W::Known>) {
        self.wire.open(session);
        self.standing = Standing::Open;
        self.attempts = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_is_handed_to_the_line_with_its_key() {
        let integer = Variable::Integer;
        let text = |text: &str| Variable::Text(text.as_bytes().to_vec());
        // how many lines, the current line, three lines: a number, a key and a text each
        let list = List {
            count: Value::Integer(3),
            counted: 0,
            least: 1,
            most: 3,
            slot: 1,
            width: 3,
            lets: Vec::new(),
            key: 2,
        };
        let mut variables = vec![integer(3), Variable::Null, Variable::Null, Variable::Null];
        for (number, key) in [(1, 10), (2, 20), (3, 30)] {
            variables.extend([integer(number), integer(key), text("before")]);
        }
        let returns = [(2, ReturnedKind::Integer), (3, ReturnedKind::Text)];
        let mut kept = Kept::default();
        kept.begin(&returns, Row::First, 3);
        for (key, value) in [(30, &b"c"[..]), (99, &b"of no line"[..]), (10, &b"a"[..])] {
            assert_eq!(kept.wanted(), 2);
            kept.set_integer(0, key);
            assert!(kept.set_digits(1, value));
            kept.fill();
        }
        assert_eq!(kept.wanted(), 0, "no more rows are kept than there are lines");
        kept.hand_over_lines(&returns, &list, &mut variables);
        let keys = [5, 8, 11].map(|slot| variables[slot].whole_number());
        assert_eq!(keys, [10, 20, 30]);
        assert_eq!(
            [&variables[6], &variables[9], &variables[12]],
            [&text("a"), &Variable::Null, &text("c")]
        );
    }
}
