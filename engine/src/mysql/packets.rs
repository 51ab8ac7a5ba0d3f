//! Builds the packets of commands, in buffers that are used again and again.

use super::frames::FULL_FRAME;
use crate::generators::values::{Drawing, Kind, Scope, Value};

pub const COM_QUIT: u8 = 0x01;
pub const COM_QUERY: u8 = 0x03;
pub const COM_STMT_PREPARE: u8 = 0x16;
const COM_STMT_EXECUTE: u8 = 0x17;

/// Appends a command of one byte and a text: a query, or a statement to prepare.
pub fn command(code: u8, text: &[u8], out: &mut Vec<u8>) {
    let start = open(out);
    out.push(code);
    out.extend_from_slice(text);
    close(out, start);
}

/// Appends a query in the text protocol.
pub fn query(sql: &[u8], out: &mut Vec<u8>) {
    command(COM_QUERY, sql, out);
}

/// How every execution of a statement on a connection begins, up to its values: made once, then
/// copied. The first execution is longer, since the types of the binds go along with it.
#[derive(Debug, Clone, Default)]
pub struct Head(Vec<u8>);

impl Head {
    /// Appends an execution that binds one set of values, drawing them.
    pub fn execute(
        &mut self,
        statement_id: u32,
        values: &[Value],
        drawing: &mut Drawing,
        scope: &mut Scope,
        out: &mut Vec<u8>,
    ) {
        let start = out.len();
        if self.0.is_empty() {
            let kinds = || values.iter().map(Value::kind);
            open_execution(statement_id, kinds, true, out);
            open_execution(statement_id, kinds, false, &mut self.0);
        } else {
            out.extend_from_slice(&self.0);
        }
        for (index, value) in values.iter().enumerate() {
            bind(value, start, index, drawing, scope, out);
        }
        close(out, start);
    }
}

/// What an execution binds.
pub struct Binds<'a> {
    pub values: &'a [Value],
    /// The rows of a multi-row statement, by number: the values are drawn for each.
    pub rows: &'a [i64],
    /// The types go along the first time that a statement is executed on a connection.
    pub send_types: bool,
}

/// One set of values that belong to no row.
pub const NO_ROW: &[i64] = &[0];

/// Appends the execution of a prepared statement, drawing its binds.
pub fn execute(
    statement_id: u32,
    binds: &Binds<'_>,
    drawing: &mut Drawing,
    scope: &mut Scope,
    out: &mut Vec<u8>,
) {
    let start = out.len();
    let kinds = || binds.rows.iter().flat_map(|_| binds.values.iter().map(Value::kind));
    open_execution(statement_id, kinds, binds.send_types, out);
    for (place, &row) in binds.rows.iter().enumerate() {
        drawing.start_row(row);
        for (index, value) in binds.values.iter().enumerate() {
            let index = place * binds.values.len() + index;
            bind(value, start, index, drawing, scope, out);
        }
    }
    close(out, start);
}

/// Appends the execution up to its values; its length is still to be written.
fn open_execution<Kinds: Iterator<Item = Kind>>(
    statement_id: u32,
    kinds: impl Fn() -> Kinds,
    send_types: bool,
    out: &mut Vec<u8>,
) {
    open(out);
    out.push(COM_STMT_EXECUTE);
    out.extend_from_slice(&statement_id.to_le_bytes());
    // flags: no cursor; iterations: always 1
    out.extend_from_slice(&[0, 1, 0, 0, 0]);
    let n = kinds().count();
    if n > 0 {
        let nulls = out.len();
        out.resize(nulls + n.div_ceil(8), 0);
        for (i, _) in kinds().enumerate().filter(|(_, kind)| *kind == Kind::Null) {
            out[nulls + i / 8] |= 1 << (i % 8);
        }
        out.push(u8::from(send_types));
        if send_types {
            kinds().for_each(|kind| out.extend_from_slice(&[type_code(kind), 0]));
        }
    }
}

fn type_code(kind: Kind) -> u8 {
    match kind {
        Kind::Integer => 0x08,
        Kind::Double => 0x05,
        Kind::Text => 0xfd,
        Kind::Null => 0x06,
    }
}

/// Where the bits of null binds stand in an execution's packet: after its header, code, statement,
/// flags and iterations.
const NULLS_AT: usize = 4 + 1 + 4 + 5;

/// Appends the bind of this index in the execution that begins at `start`.
#[inline(always)]
fn bind(
    value: &Value,
    start: usize,
    index: usize,
    drawing: &mut Drawing,
    scope: &mut Scope,
    out: &mut Vec<u8>,
) {
    if value.may_be_null() {
        return bind_nullable(value, start, index, drawing, scope, out);
    }
    bind_as(value.kind(), value, drawing, scope, out);
}

/// Appends a value, or sets its bit among the nulls.
#[cold]
fn bind_nullable(
    value: &Value,
    start: usize,
    index: usize,
    drawing: &mut Drawing,
    scope: &mut Scope,
    out: &mut Vec<u8>,
) {
    match value.pick(drawing) {
        Some(picked) => bind_as(value.kind(), picked, drawing, scope, out),
        None => out[start + NULLS_AT + index / 8] |= 1 << (index % 8),
    }
}

#[inline(always)]
fn bind_as(kind: Kind, value: &Value, drawing: &mut Drawing, scope: &mut Scope, out: &mut Vec<u8>) {
    match kind {
        Kind::Integer => out.extend_from_slice(&value.integer(drawing, scope).to_le_bytes()),
        Kind::Double => out.extend_from_slice(&value.double(drawing).to_le_bytes()),
        Kind::Null => {}
        Kind::Text => bind_text(value, drawing, scope, out),
    }
}

fn bind_text(value: &Value, drawing: &mut Drawing, scope: &mut Scope, out: &mut Vec<u8>) {
    // most texts are short: their length takes one byte; that of a longer text moves it
    let length_at = out.len();
    out.push(0);
    value.append_text(drawing, scope, out);
    let length = out.len() - length_at - 1;
    match length {
        0..=0xfa => out[length_at] = length as u8,
        0xfb..=0xffff => {
            let [a, b] = (length as u16).to_le_bytes();
            out.splice(length_at..=length_at, [0xfc, a, b]);
        }
        _ => {
            let [a, b, c, ..] = (length as u32).to_le_bytes();
            out.splice(length_at..=length_at, [0xfd, a, b, c]);
        }
    }
}

/// Begins a packet: leaves room for its header, and returns where, for [`close`].
pub fn open(out: &mut Vec<u8>) -> usize {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    start
}

/// Writes the header of the packet that was opened at `start`, as sequence 0.
pub fn close(out: &mut Vec<u8>, start: usize) {
    close_as(out, start, 0);
}

/// Writes the headers of the packet that was opened at `start`: one for each 16 MiB.
#[inline]
pub fn close_as(out: &mut Vec<u8>, start: usize, sequence: u8) {
    let length = out.len() - start - 4;
    if length < FULL_FRAME {
        let [a, b, c, _] = (length as u32).to_le_bytes();
        out[start..start + 4].copy_from_slice(&[a, b, c, sequence]);
    } else {
        close_frames(out, start, sequence);
    }
}

#[cold]
fn close_frames(out: &mut Vec<u8>, start: usize, mut sequence: u8) {
    let mut at = start;
    loop {
        let length = (out.len() - at - 4).min(FULL_FRAME);
        let [a, b, c, _] = (length as u32).to_le_bytes();
        out[at..at + 4].copy_from_slice(&[a, b, c, sequence]);
        if length < FULL_FRAME {
            return;
        }
        at += 4 + FULL_FRAME;
        sequence = sequence.wrapping_add(1);
        out.splice(at..at, [0; 4]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generators::rng::Rng;

    #[test]
    fn an_execution_from_a_head_is_the_same_as_one_made_anew_and_has_the_types_once() {
        let text = |length| Value::Text(vec![b'x'; length].into());
        let cases = [
            vec![],
            vec![Value::Integer(-7)],
            vec![Value::Null, Value::Double(0.5), text(3)],
            [vec![text(300), text(70_000)], vec![Value::Null; 9]].concat(),
        ];
        for values in cases {
            let mut drawing = Drawing::new(Rng::for_stream(1, &[]));
            let mut scope = Scope { spaces: Vec::new(), choosers: Vec::new() };
            let mut head = Head::default();
            for send_types in [true, false, false] {
                let (mut made, mut anew) = (b"before".to_vec(), b"before".to_vec());
                head.execute(9, &values, &mut drawing, &mut scope, &mut made);
                let binds = Binds { values: &values, rows: NO_ROW, send_types };
                execute(9, &binds, &mut drawing, &mut scope, &mut anew);
                assert_eq!(made, anew, "{values:?}");
            }
        }
    }
}
