//! Builds requests, in buffers that are used again and again.

use super::frames::{Cursor, HEADER, close, opcode, open};
use super::prepared::{Statement, Type};
use super::token;
use crate::generators::values::{Drawing, Kind, Scope, Value};
use crate::spec::Consistency;

const FLAG_VALUES: u8 = 0x01;
const FLAG_SKIP_METADATA: u8 = 0x02;
/// The length that stands for null.
const NULL: i32 = -1;

/// Where in an EXECUTE the statement's id begins, with its length: after the header.
pub const ID_AT: usize = HEADER;

pub fn startup(out: &mut Vec<u8>) {
    let start = open(0, opcode::STARTUP, out);
    out.extend_from_slice(&1_u16.to_be_bytes());
    string("CQL_VERSION", out);
    string("3.0.0", out);
    close(start, out);
}

/// The answer to AUTHENTICATE: SASL's PLAIN, as Cassandra's PasswordAuthenticator asks for it.
pub fn credentials(user: &str, password: &str, out: &mut Vec<u8>) {
    let start = open(0, opcode::AUTH_RESPONSE, out);
    out.extend_from_slice(&((user.len() + password.len() + 2) as u32).to_be_bytes());
    for part in [user, password] {
        out.push(0);
        out.extend_from_slice(part.as_bytes());
    }
    close(start, out);
}

pub fn query(text: &str, out: &mut Vec<u8>) {
    let start = open(0, opcode::QUERY, out);
    long_string(text, out);
    out.extend_from_slice(&(Consistency::One as u16).to_be_bytes());
    out.push(0);
    close(start, out);
}

pub fn prepare(stream: u16, text: &str, out: &mut Vec<u8>) {
    let start = open(stream, opcode::PREPARE, out);
    long_string(text, out);
    close(start, out);
}

/// Appends the execution of a prepared statement, drawing its binds.
pub fn execute(
    stream: u16,
    (statement, consistency): (&Statement, Consistency),
    values: &[Value],
    drawing: &mut Drawing,
    scope: &mut Scope,
    out: &mut Vec<u8>,
) {
    let start = open(stream, opcode::EXECUTE, out);
    out.extend_from_slice(&(statement.id.len() as u16).to_be_bytes());
    out.extend_from_slice(&statement.id);
    out.extend_from_slice(&(consistency as u16).to_be_bytes());
    if values.is_empty() {
        out.push(FLAG_SKIP_METADATA);
    } else {
        out.push(FLAG_VALUES | FLAG_SKIP_METADATA);
        out.extend_from_slice(&(values.len() as u16).to_be_bytes());
        for (value, kind) in values.iter().zip(&statement.types) {
            bind(value, *kind, drawing, scope, out);
        }
    }
    close(start, out);
}

/// The token of the partition that an execution is for, by the places of the key's binds. None if
/// not all of the key is bound.
pub fn token(packet: &[u8], partition_key: &[u16]) -> Option<i64> {
    let bound = |place: u16| {
        let mut cursor = Cursor(packet.get(HEADER..)?);
        cursor.short_bytes()?; // the statement's id
        cursor.take(2 + 1)?; // consistency and flags
        let binds = cursor.short()?;
        (place < binds).then(|| (0..place).try_for_each(|_| cursor.value().map(drop)))??;
        cursor.value()?
    };
    match partition_key {
        [] => None,
        [only] => bound(*only).map(token::of),
        parts => {
            let mut key = Vec::new();
            for part in parts {
                token::append_part(bound(*part)?, &mut key);
            }
            Some(token::of(&key))
        }
    }
}

/// Appends a copy of an execution on another stream, under the statement's id there.
pub fn execute_elsewhere(packet: &[u8], stream: u16, statement: &Statement, out: &mut Vec<u8>) {
    let start = out.len();
    execute_again(packet, statement, out);
    out[start + 2..start + 4].copy_from_slice(&stream.to_be_bytes());
}

/// Appends a copy of an execution, under the statement's new id.
pub fn execute_again(packet: &[u8], statement: &Statement, out: &mut Vec<u8>) {
    let start = out.len();
    let old = usize::from(u16::from_be_bytes([packet[ID_AT], packet[ID_AT + 1]]));
    out.extend_from_slice(&packet[..ID_AT]);
    out.extend_from_slice(&(statement.id.len() as u16).to_be_bytes());
    out.extend_from_slice(&statement.id);
    out.extend_from_slice(&packet[ID_AT + 2 + old..]);
    close(start, out);
}

fn bind(value: &Value, kind: Type, drawing: &mut Drawing, scope: &mut Scope, out: &mut Vec<u8>) {
    let of = value.kind();
    let Some(value) = value.pick(drawing) else {
        return out.extend_from_slice(&NULL.to_be_bytes());
    };
    match (of, kind) {
        (Kind::Null, _) => out.extend_from_slice(&NULL.to_be_bytes()),
        (Kind::Text, _) => {
            let length_at = out.len();
            out.extend_from_slice(&[0; 4]);
            value.append_text(drawing, scope, out);
            let length = (out.len() - length_at - 4) as u32;
            out[length_at..length_at + 4].copy_from_slice(&length.to_be_bytes());
        }
        (Kind::Double, kind) => real(value.double(drawing), kind, out),
        (Kind::Integer, Type::Double | Type::Float) => {
            real(value.integer(drawing, scope) as f64, kind, out);
        }
        (Kind::Integer, kind) => integer(value.integer(drawing, scope), kind, out),
    }
}

/// A number that does not fit its type is sent in 8 bytes: the server refuses it as invalid.
fn integer(value: i64, kind: Type, out: &mut Vec<u8>) {
    match kind {
        Type::Int if let Ok(value) = i32::try_from(value) => sized(&value.to_be_bytes(), out),
        Type::Smallint if let Ok(value) = i16::try_from(value) => sized(&value.to_be_bytes(), out),
        Type::Tinyint if let Ok(value) = i8::try_from(value) => sized(&value.to_be_bytes(), out),
        _ => sized(&value.to_be_bytes(), out),
    }
}

fn real(value: f64, kind: Type, out: &mut Vec<u8>) {
    match kind {
        Type::Float => sized(&(value as f32).to_be_bytes(), out),
        _ => sized(&value.to_be_bytes(), out),
    }
}

fn sized(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
    out.extend_from_slice(bytes);
}

fn string(text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(&(text.len() as u16).to_be_bytes());
    out.extend_from_slice(text.as_bytes());
}

fn long_string(text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(&(text.len() as u32).to_be_bytes());
    out.extend_from_slice(text.as_bytes());
}
