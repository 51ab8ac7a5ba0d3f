//! Messages: a byte for the kind, 4 bytes of length (these 4 included), then a body. If a body
//! arrives in pieces only its start is kept, and nothing of a row.

use crate::error::Violation;

pub const HEADER: usize = 5;
/// Bytes of a body's start that are kept if it arrives in pieces: enough for an error's code and
/// message.
pub const PREFIX: usize = 512;
/// Bytes of a wanted row's start that are kept if it arrives in pieces.
const MOST_KEPT: usize = 64 * 1024;
/// The server's own limit for a message, in bytes (its `MaxAllocSize`): 1 GiB.
const LONGEST_BODY: usize = 1 << 30;

/// The kinds of the server's messages that this client meets.
pub mod tag {
    pub const AUTHENTICATION: u8 = b'R';
    pub const BIND_COMPLETE: u8 = b'2';
    pub const COMMAND_COMPLETE: u8 = b'C';
    pub const COPY_IN: u8 = b'G';
    pub const DATA_ROW: u8 = b'D';
    pub const EMPTY_QUERY: u8 = b'I';
    pub const ERROR: u8 = b'E';
    pub const KEY_DATA: u8 = b'K';
    pub const NO_DATA: u8 = b'n';
    pub const NOTICE: u8 = b'N';
    pub const NOTIFICATION: u8 = b'A';
    pub const PARAMETER_STATUS: u8 = b'S';
    pub const PARAMETER_TYPES: u8 = b't';
    pub const PARSE_COMPLETE: u8 = b'1';
    pub const READY: u8 = b'Z';
    pub const ROW_DESCRIPTION: u8 = b'T';

    /// Whether a server may say it at any time, without being asked.
    pub fn unasked(tag: u8) -> bool {
        matches!(tag, NOTICE | NOTIFICATION | PARAMETER_STATUS)
    }
}

/// Begins a message: appends its header, and returns where its length stands, for [`close`].
pub fn open(tag: u8, out: &mut Vec<u8>) -> usize {
    out.extend_from_slice(&[tag, 0, 0, 0, 0]);
    out.len() - 4
}

/// Writes the length of what stands from `start` to the end, as PostgreSQL counts it.
#[inline]
pub fn close(start: usize, out: &mut [u8]) {
    let length = (out.len() - start) as u32;
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
}

/// Appends a text and the zero that ends it.
pub fn text(text: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(text);
    out.push(0);
}

/// The length of a message's body, in bytes, by its header.
#[inline]
pub fn body_length([_, a, b, c, d]: [u8; HEADER]) -> Result<usize, Violation> {
    let length = (u32::from_be_bytes([a, b, c, d]) as usize).wrapping_sub(4);
    if length > LONGEST_BODY {
        return Err(Violation("a message of an impossible length"));
    }
    Ok(length)
}

/// A message: its body is whole, or at least its first [`PREFIX`] bytes (of a row: nothing,
/// unless it is wanted).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message<'a> {
    pub tag: u8,
    pub body: &'a [u8],
}

/// The message at the start of the input, if all of it is there, and what follows it.
#[inline]
pub fn whole(input: &[u8]) -> Result<Option<(Message<'_>, &[u8])>, Violation> {
    let Some((&header, rest)) = input.split_first_chunk::<HEADER>() else {
        return Ok(None);
    };
    let length = body_length(header)?;
    if length > rest.len() {
        return Ok(None);
    }
    let (body, rest) = rest.split_at(length);
    Ok(Some((Message { tag: header[0], body }, rest)))
}

/// A message that arrives in pieces.
#[derive(Debug, Default)]
pub struct Partial {
    header: [u8; HEADER],
    header_len: usize,
    /// Body still to come.
    left: usize,
    prefix: Vec<u8>,
    /// Rows are kept too.
    rows: bool,
}

impl Partial {
    /// Whether a message has begun and not ended.
    #[inline]
    pub fn active(&self) -> bool {
        self.header_len > 0
    }

    /// Takes a part of a message. None if all of the input is taken and the message is not whole yet.
    #[cold]
    pub fn take(&mut self, input: &mut &[u8]) -> Result<Option<Message<'_>>, Violation> {
        if self.header_len < HEADER {
            let (taken, rest) = input.split_at((HEADER - self.header_len).min(input.len()));
            self.header[self.header_len..self.header_len + taken.len()].copy_from_slice(taken);
            self.header_len += taken.len();
            *input = rest;
            if self.header_len < HEADER {
                return Ok(None);
            }
            self.left = body_length(self.header)?;
            self.prefix.clear();
        }
        let (taken, rest) = input.split_at(self.left.min(input.len()));
        let most = match (self.header[0] == tag::DATA_ROW, self.rows) {
            (false, _) => PREFIX,
            (true, true) => MOST_KEPT,
            (true, false) => 0,
        };
        let kept = most.saturating_sub(self.prefix.len());
        self.prefix.extend_from_slice(&taken[..kept.min(taken.len())]);
        self.left -= taken.len();
        *input = rest;
        if self.left > 0 {
            return Ok(None);
        }
        self.header_len = 0;
        Ok(Some(Message { tag: self.header[0], body: &self.prefix }))
    }

    /// Keeps the rows that follow, too.
    pub fn keep_rows(&mut self) {
        self.rows = true;
    }

    pub fn clear(&mut self) {
        self.header_len = 0;
        self.left = 0;
    }
}
