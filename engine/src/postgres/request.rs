//! Builds the messages of a client, in buffers that are used again and again.

use super::frames;
use super::types::Encoding;
use crate::generators::values::{Drawing, Scope, Value};

/// Sync: what was asked before it is answered together.
pub const SYNC: [u8; 5] = [b'S', 0, 0, 0, 4];
pub const TERMINATE: [u8; 5] = [b'X', 0, 0, 0, 4];
pub const COPY_DONE: [u8; 5] = [b'c', 0, 0, 0, 4];

/// The end of a Bind: all results in binary.
const BOUND: [u8; 4] = [0, 1, 0, 1];
/// The end of a Bind whose results are texts, and an Execute of all rows.
const BOUND_AS_TEXT: [u8; 2] = [0, 0];
const BOUND_AS_TEXT_AND_EXECUTE: [u8; 12] = [0, 0, b'E', 0, 0, 0, 9, 0, 0, 0, 0, 0];
/// That, then an Execute of all rows.
const BOUND_AND_EXECUTE: [u8; 14] = [0, 1, 0, 1, b'E', 0, 0, 0, 9, 0, 0, 0, 0, 0];

/// Appends a simple query.
pub fn query(sql: &[u8], out: &mut Vec<u8>) {
    let start = frames::open(b'Q', out);
    frames::text(sql, out);
    frames::close(start, out);
}

/// Appends a Parse: prepares a statement under a name, with the types of its parameters open.
pub fn parse(name: &[u8], sql: &[u8], out: &mut Vec<u8>) {
    let start = frames::open(b'P', out);
    frames::text(name, out);
    frames::text(sql, out);
    out.extend_from_slice(&[0, 0]);
    frames::close(start, out);
}

/// Appends a Describe of a prepared statement.
pub fn describe(name: &[u8], out: &mut Vec<u8>) {
    let start = frames::open(b'D', out);
    out.push(b'S');
    frames::text(name, out);
    frames::close(start, out);
}

/// How every execution of a prepared statement begins, up to its values: made once, then copied.
#[derive(Debug, Clone)]
pub struct Template {
    head: Vec<u8>,
    encodings: Box<[Encoding]>,
    /// Its results are wanted as texts.
    as_text: bool,
}

impl Template {
    pub fn new(name: &[u8], encodings: &[Encoding]) -> Self {
        let mut head = Vec::new();
        frames::open(b'B', &mut head);
        frames::text(b"", &mut head); // the portal
        frames::text(name, &mut head);
        let count = encodings.len() as u16;
        if encodings.iter().all(|encoding| encoding.format() == 1) {
            head.extend_from_slice(&[0, 1, 0, 1]); // one format, for all
        } else {
            head.extend_from_slice(&count.to_be_bytes());
            for encoding in encodings {
                head.extend_from_slice(&encoding.format().to_be_bytes());
            }
        }
        head.extend_from_slice(&count.to_be_bytes());
        Template { head, encodings: encodings.into(), as_text: false }
    }

    /// The same, with results as texts if they are kept.
    #[must_use]
    pub fn with_texts(self, as_text: bool) -> Self {
        Template { as_text, ..self }
    }

    /// Appends Bind and Execute, drawing the values.
    #[inline]
    pub fn execute(
        &self,
        values: &[Value],
        drawing: &mut Drawing,
        scope: &mut Scope,
        out: &mut Vec<u8>,
    ) {
        let start = out.len() + 1;
        out.extend_from_slice(&self.head);
        for (value, encoding) in values.iter().zip(&self.encodings) {
            encoding.append(value, drawing, scope, out);
        }
        if self.as_text {
            let length = (out.len() + BOUND_AS_TEXT.len() - start) as u32;
            out[start..start + 4].copy_from_slice(&length.to_be_bytes());
            return out.extend_from_slice(&BOUND_AS_TEXT_AND_EXECUTE);
        }
        end_execution(start, out);
    }

    /// Appends Bind and Execute of a statement without parameters.
    pub fn execute_bare(&self, out: &mut Vec<u8>) {
        let start = out.len() + 1;
        out.extend_from_slice(&self.head);
        end_execution(start, out);
    }
}

#[inline(always)]
fn end_execution(start: usize, out: &mut Vec<u8>) {
    let length = (out.len() + BOUND.len() - start) as u32;
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
    out.extend_from_slice(&BOUND_AND_EXECUTE);
}
