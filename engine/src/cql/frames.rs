//! Frames: a header of 9 bytes, then a body. Of a body that arrives in pieces only the start is kept.

use crate::error::Violation;

pub const HEADER: usize = 9;
/// Bytes of a body's start that are kept if it arrives in pieces: enough for an error's code and
/// message.
pub const PREFIX: usize = 512;
/// The protocol's limit for a frame's body, in bytes.
const LONGEST_BODY: usize = 256 << 20;
const REQUEST: u8 = 0x04;
const RESPONSE: u8 = 0x84;

const FLAG_COMPRESSED: u8 = 0x01;
const FLAG_TRACING: u8 = 0x02;
const FLAG_WARNING: u8 = 0x08;

/// The kinds of frames that a client without compression meets.
pub mod opcode {
    pub const ERROR: u8 = 0x00;
    pub const STARTUP: u8 = 0x01;
    pub const READY: u8 = 0x02;
    pub const AUTHENTICATE: u8 = 0x03;
    pub const QUERY: u8 = 0x07;
    pub const RESULT: u8 = 0x08;
    pub const PREPARE: u8 = 0x09;
    pub const EXECUTE: u8 = 0x0a;
    pub const EVENT: u8 = 0x0c;
    pub const AUTH_CHALLENGE: u8 = 0x0e;
    pub const AUTH_RESPONSE: u8 = 0x0f;
    pub const AUTH_SUCCESS: u8 = 0x10;
}

/// Begins a request: appends its header, and returns where, for [`close`].
pub fn open(stream: u16, opcode: u8, out: &mut Vec<u8>) -> usize {
    let start = out.len();
    let [high, low] = stream.to_be_bytes();
    out.extend_from_slice(&[REQUEST, 0, high, low, opcode, 0, 0, 0, 0]);
    start
}

/// Writes the length of the request that was opened at `start`.
pub fn close(start: usize, out: &mut [u8]) {
    let length = (out.len() - start - HEADER) as u32;
    out[start + 5..start + HEADER].copy_from_slice(&length.to_be_bytes());
}

/// A response: its body is whole, or at least its first [`PREFIX`] bytes.
#[derive(Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    pub stream: i16,
    pub opcode: u8,
    flags: u8,
    body: &'a [u8],
}

impl<'a> Frame<'a> {
    /// The body, without the tracing id and the warnings that its flags announce at its start. Empty
    /// if these are longer than what is kept.
    pub fn body(&self) -> &'a [u8] {
        let mut cursor = Cursor(self.body);
        if self.flags & FLAG_TRACING != 0 {
            cursor.take(16);
        }
        if self.flags & FLAG_WARNING != 0 {
            let warnings = cursor.short().unwrap_or(0);
            for _ in 0..warnings {
                cursor.short_bytes();
            }
        }
        cursor.0
    }
}

/// Reads responses as they arrive.
#[derive(Debug, Default)]
pub struct Reader {
    header: [u8; HEADER],
    header_len: usize,
    /// Body of the current frame still to come.
    left: usize,
    prefix: Vec<u8>,
}

impl Reader {
    /// Forgets a frame that has begun.
    pub fn clear(&mut self) {
        self.header_len = 0;
        self.left = 0;
    }

    /// Takes the next frame from the input. None if all of the input is taken and the frame is not
    /// whole yet.
    pub fn next<'a, 'b: 'a>(
        &'a mut self,
        input: &mut &'b [u8],
    ) -> Result<Option<Frame<'a>>, Violation> {
        if self.header_len == 0
            && let Some((header, rest)) = input.split_first_chunk::<HEADER>()
        {
            let length = check(*header)?;
            if length <= rest.len() {
                let (body, rest) = rest.split_at(length);
                *input = rest;
                return Ok(Some(frame(*header, body)));
            }
        }
        self.piece(input)
    }

    /// Takes a part of a frame that arrives in pieces.
    fn piece<'a, 'b: 'a>(
        &'a mut self,
        input: &mut &'b [u8],
    ) -> Result<Option<Frame<'a>>, Violation> {
        if self.header_len < HEADER {
            let (taken, rest) = input.split_at((HEADER - self.header_len).min(input.len()));
            self.header[self.header_len..self.header_len + taken.len()].copy_from_slice(taken);
            self.header_len += taken.len();
            *input = rest;
            if self.header_len < HEADER {
                return Ok(None);
            }
            self.left = check(self.header)?;
            self.prefix.clear();
        }
        let (taken, rest) = input.split_at(self.left.min(input.len()));
        let room = PREFIX - self.prefix.len();
        self.prefix.extend_from_slice(&taken[..room.min(taken.len())]);
        self.left -= taken.len();
        *input = rest;
        if self.left > 0 {
            return Ok(None);
        }
        self.header_len = 0;
        Ok(Some(frame(self.header, &self.prefix)))
    }
}

/// Checks a response's header. Returns the length of the body, in bytes.
pub fn check(header: [u8; HEADER]) -> Result<usize, Violation> {
    let [version, flags, _, _, _, a, b, c, d] = header;
    if version != RESPONSE {
        return Err(Violation("not a response in version 4 of CQL's protocol"));
    }
    if flags & FLAG_COMPRESSED != 0 {
        return Err(Violation("a compressed response, which nobody asked for"));
    }
    let length = u32::from_be_bytes([a, b, c, d]) as usize;
    if length > LONGEST_BODY {
        return Err(Violation("a response above 256 MiB"));
    }
    Ok(length)
}

pub fn frame(header: [u8; HEADER], body: &[u8]) -> Frame<'_> {
    let [_, flags, high, low, opcode, ..] = header;
    Frame { stream: i16::from_be_bytes([high, low]), opcode, flags, body }
}

/// Reads values in the notations of the protocol's description. None if the bytes end too soon.
pub struct Cursor<'a>(pub &'a [u8]);

impl<'a> Cursor<'a> {
    pub fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let taken = self.0.get(..length);
        self.0 = self.0.get(length..).unwrap_or(&[]);
        taken
    }

    pub fn short(&mut self) -> Option<u16> {
        self.take(2).map(|bytes| u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    pub fn int(&mut self) -> Option<i32> {
        self.take(4).map(|bytes| i32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// A `[short bytes]` or a `[string]`: both are written in the same way.
    pub fn short_bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.short()?;
        self.take(length.into())
    }

    /// A `[bytes]` or a `[value]`: an inner None if it is null.
    pub fn value(&mut self) -> Option<Option<&'a [u8]>> {
        match usize::try_from(self.int()?) {
            Ok(length) => self.take(length).map(Some),
            Err(_) => Some(None),
        }
    }

    /// A `[string]`, or as much of it as has been kept.
    pub fn text_at_hand(&mut self) -> String {
        let length = usize::from(self.short().unwrap_or(0)).min(self.0.len()).min(PREFIX);
        String::from_utf8_lossy(self.take(length).unwrap_or(&[])).into_owned()
    }
}
