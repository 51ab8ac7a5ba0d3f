//! Reads a command's answer as it arrives. Rows are counted and not kept.
//!
//! The formats are those of the MySQL client/server protocol ("Text and binary result sets",
//! "Generic response packets"), with or without CLIENT_DEPRECATE_EOF, and MariaDB's ("Result set
//! packets" of its documentation), with or without MARIADB_CLIENT_CACHE_METADATA.

use super::frames::{FULL_FRAME, PREFIX, Partial, length_encoded, whole_packet};
use crate::error::{EngineError, Violation};
use crate::load::wire::Kept;
use crate::spec::{ReturnedKind, Row};

/// A table has at most 4,096 columns, a result of several tables at most 65,535.
const MOST_COLUMNS: u64 = 65_535;

const MORE_RESULTS: u16 = 0x0008;
/// Bytes of a row's start that can be kept if it arrives in pieces.
const MOST_KEPT: usize = 64 * 1024;

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// `rows`: how many rows it returned, inserted, matched for an update or deleted.
    Done {
        rows: u64,
    },
    Failed {
        code: u16,
        message: String,
    },
}

/// What client and server have agreed on for result sets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Agreed {
    /// The server sends no EOF packets (CLIENT_DEPRECATE_EOF).
    pub deprecate_eof: bool,
    /// The number of columns comes with a byte that says whether their definitions follow: the server
    /// leaves out those that it has sent before (MARIADB_CLIENT_CACHE_METADATA).
    pub cache_metadata: bool,
}

/// What the next packet is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expect {
    /// The first packet of a result.
    First,
    Columns {
        left: u64,
    },
    EndOfColumns,
    Rows,
}

/// Reads one answer; [`Answer::reset`] makes it ready for the next command's.
#[derive(Debug)]
pub struct Answer {
    agreed: Agreed,
    expect: Expect,
    /// The number of the next packet.
    sequence: u8,
    rows: u64,
    /// The current packet, if it does not arrive in one piece.
    partial: Partial,
    /// The columns of the result's first row that are kept.
    pub kept: Kept,
    /// The types of the result's columns, if some are kept.
    columns: Vec<Column>,
}

/// The type of a result's column, as a definition has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    code: u8,
    unsigned: bool,
}

impl Column {
    /// From a column's definition, which ends in 12 bytes of fixed meaning.
    pub fn read(definition: &[u8]) -> Result<Self, Violation> {
        const UNSIGNED: u8 = 0x20;
        match definition.last_chunk::<12>() {
            Some(&[_, _, _, _, _, _, code, flags, ..]) => {
                Ok(Column { code, unsigned: flags & UNSIGNED != 0 })
            }
            None => Err(Violation("a short definition of a column")),
        }
    }

    /// Whether values of this type can become variables: not times, bits and shapes.
    pub fn can_be_kept(self) -> bool {
        !matches!(self.code, 4 | 5 | 7 | 10 | 11 | 12 | 16 | 255)
    }

    /// Keeps the value that stands first in a row's rest, and returns what follows it.
    fn keep<'a>(
        self,
        index: usize,
        rest: &'a [u8],
        kept: &mut Kept,
    ) -> Result<&'a [u8], Violation> {
        const SHORT: Violation = Violation("a row that is short, or too long to be kept");
        let size = match self.code {
            1 => 1,      // TINYINT
            2 | 13 => 2, // SMALLINT, YEAR
            3 | 9 => 4,  // INT, MEDIUMINT
            8 => 8,      // BIGINT
            _ => {
                let (length, rest) = length_encoded(rest)?;
                let (text, rest) = rest.split_at_checked(length as usize).ok_or(SHORT)?;
                let fits = self.can_be_kept() && kept.set_digits(index, text);
                return if fits { Ok(rest) } else { Err(Violation("a column is no whole number")) };
            }
        };
        let (bytes, rest) = rest.split_at_checked(size).ok_or(SHORT)?;
        let negative = !self.unsigned && bytes[size - 1] & 0x80 != 0;
        let mut number = if negative { [0xff; 8] } else { [0; 8] };
        number[..size].copy_from_slice(bytes);
        kept.set_integer(index, i64::from_le_bytes(number));
        Ok(rest)
    }
}

impl Answer {
    pub fn new(agreed: Agreed) -> Self {
        Answer {
            agreed,
            expect: Expect::First,
            sequence: 1,
            rows: 0,
            partial: Partial::default(),
            kept: Kept::default(),
            columns: Vec::new(),
        }
    }

    /// Makes it ready for the answer to the next command.
    pub fn reset(&mut self) {
        self.expect = Expect::First;
        self.sequence = 1;
        self.rows = 0;
        self.partial.clear();
        self.kept.clear();
    }

    /// The next answer's first rows, up to `most`, are to be kept, as far as they have these columns:
    /// `columns` is what the server said of them when the statement was prepared.
    #[cold]
    pub fn keep(&mut self, returns: &[(usize, ReturnedKind)], most: usize, columns: &[Column]) {
        self.kept.begin(returns, Row::First, most);
        self.columns.clear();
        self.columns.extend_from_slice(columns);
        self.partial.keep(MOST_KEPT);
    }

    /// Takes a row, in the binary protocol: a byte, the bits of nulls from the third on, values.
    #[cold]
    fn keep_row(&mut self, payload: &[u8]) -> Result<(), Violation> {
        let nulls = (self.columns.len() + 2).div_ceil(8);
        let (nulls, mut rest) = payload[1..]
            .split_at_checked(nulls)
            .ok_or(Violation("a row that is short, or too long to be kept"))?;
        for index in 0..self.kept.wanted() {
            let column = self.columns.get(index).ok_or(Violation("a result of few columns"))?;
            if nulls[(index + 2) / 8] & (1 << ((index + 2) % 8)) != 0 {
                self.kept.set_null(index);
            } else {
                rest = column.keep(index, rest, &mut self.kept)?;
            }
        }
        self.kept.fill();
        Ok(())
    }

    /// Takes bytes as they arrive, and returns how the command ended once the answer is complete.
    /// Bytes after it are a violation, since the server speaks only when asked.
    pub fn feed(&mut self, mut input: &[u8]) -> Result<Option<Outcome>, Violation> {
        while !input.is_empty() {
            let outcome = match whole_packet(input) {
                Some((header, payload, rest)) if !self.partial.active() => {
                    self.check_sequence(header)?;
                    input = rest;
                    self.packet(payload, payload.len() as u64)?
                }
                _ => self.piece(&mut input)?,
            };
            if let Some(outcome) = outcome {
                if !input.is_empty() {
                    return Err(Violation("bytes after the answer"));
                }
                return Ok(Some(outcome));
            }
        }
        Ok(None)
    }

    fn check_sequence(&mut self, number: u8) -> Result<(), Violation> {
        if number != self.sequence {
            return Err(Violation("packets out of order"));
        }
        self.sequence = self.sequence.wrapping_add(1);
        Ok(())
    }

    /// Takes a part of a packet that arrives in pieces, or of more than one frame.
    #[cold]
    fn piece(&mut self, input: &mut &[u8]) -> Result<Option<Outcome>, Violation> {
        if let Some(number) = self.partial.take_header(input)? {
            self.check_sequence(number)?;
        }
        if !self.partial.take_payload(input) {
            return Ok(None);
        }
        let (prefix, length) = self.partial.finish();
        let outcome = self.packet(&prefix, length);
        self.partial.reuse(prefix);
        outcome
    }

    /// Takes one packet of this length. `payload` is all of it, or at least its first [`PREFIX`]
    /// bytes.
    #[inline(always)]
    fn packet(&mut self, payload: &[u8], length: u64) -> Result<Option<Outcome>, Violation> {
        let Some(&first) = payload.first() else {
            return Err(Violation("an empty packet"));
        };
        match self.expect {
            Expect::Columns { left } => {
                if self.kept.wanted() > 0 {
                    self.columns.push(Column::read(payload)?);
                }
                self.expect = match left {
                    1 => self.after_columns(),
                    left => Expect::Columns { left: left - 1 },
                };
                Ok(None)
            }
            Expect::Rows => match first {
                0x00 => {
                    if self.kept.wanted() > 0 {
                        self.keep_row(payload)?;
                    }
                    self.rows = self.rows.saturating_add(1);
                    Ok(None)
                }
                0xff => failed(payload).map(Some),
                0xfe if length < FULL_FRAME as u64 => self.end_of_rows(payload),
                _ => Err(Violation("neither a row nor the end of the rows")),
            },
            Expect::EndOfColumns => match first {
                0xfe => {
                    self.expect = Expect::Rows;
                    Ok(None)
                }
                0xff => failed(payload).map(Some),
                _ => Err(Violation("no end of the columns")),
            },
            Expect::First => match first {
                0x00 => self.ok(payload),
                0xff => failed(payload).map(Some),
                0xfb => Err(Violation("the server asks for a file")),
                _ => {
                    let (columns, rest) = length_encoded(payload)?;
                    if columns == 0 || columns > MOST_COLUMNS {
                        return Err(Violation("an impossible number of columns"));
                    }
                    self.expect = match (self.agreed.cache_metadata, rest) {
                        (false, []) | (true, [1]) => {
                            self.columns.clear();
                            Expect::Columns { left: columns }
                        }
                        (true, [0]) => self.after_columns(),
                        _ => return Err(Violation("no number of columns")),
                    };
                    Ok(None)
                }
            },
        }
    }

    fn after_columns(&self) -> Expect {
        if self.agreed.deprecate_eof { Expect::Rows } else { Expect::EndOfColumns }
    }

    fn end_of_rows(&mut self, payload: &[u8]) -> Result<Option<Outcome>, Violation> {
        if self.agreed.deprecate_eof {
            return self.ok(payload);
        }
        let status = payload.get(3..5).ok_or(Violation("a short end of rows"))?;
        self.result_ended(u16::from_le_bytes([status[0], status[1]]))
    }

    fn ok(&mut self, payload: &[u8]) -> Result<Option<Outcome>, Violation> {
        let (affected_rows, rest) = length_encoded(&payload[1..])?;
        let (_last_insert_id, rest) = length_encoded(rest)?;
        let &[low, high, _, _, ..] = rest else {
            return Err(Violation("a short OK packet"));
        };
        self.rows = self.rows.saturating_add(affected_rows);
        self.result_ended(u16::from_le_bytes([low, high]))
    }

    fn result_ended(&mut self, status: u16) -> Result<Option<Outcome>, Violation> {
        if status & MORE_RESULTS != 0 {
            self.expect = Expect::First;
            return Ok(None);
        }
        Ok(Some(Outcome::Done { rows: self.rows }))
    }
}

/// An error packet's code and message.
#[cold]
pub fn failed(payload: &[u8]) -> Result<Outcome, Violation> {
    let &[_, low, high, ref rest @ ..] = payload else {
        return Err(Violation("a short error packet"));
    };
    // '#' and five characters of SQL state come before the message
    let message = if rest.first() == Some(&b'#') { rest.get(6..).unwrap_or(&[]) } else { rest };
    let message = String::from_utf8_lossy(&message[..message.len().min(PREFIX)]).into_owned();
    Ok(Outcome::Failed { code: u16::from_le_bytes([low, high]), message })
}

/// Makes the engine's error of a server's, while a session is opened or rows are inserted.
pub fn refusal(code: u16, message: &str) -> EngineError {
    EngineError::new(code.to_string(), format!("{message} (error {code})"))
}
