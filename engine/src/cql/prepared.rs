//! The answer to PREPARE: a statement's id, and the types of its binds.

use super::frames::Cursor;
use crate::error::EngineError;
use crate::generators::values::Kind;

pub const RESULT_PREPARED: i32 = 4;
const GLOBAL_TABLE: i32 = 0x01;
/// No type is nested deeper in any real schema.
const DEEPEST: usize = 32;

/// How a bind is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    Text,
    Bigint,
    Int,
    Smallint,
    Tinyint,
    Double,
    Float,
    /// A type that only null fits here; its number in the protocol.
    Other(u16),
}

/// A prepared statement on one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    pub id: Vec<u8>,
    pub types: Vec<Type>,
    /// Which binds are the partition key, in its order; empty if not all of it is bound.
    pub partition_key: Vec<u16>,
}

impl Type {
    fn of(number: u16) -> Self {
        match number {
            0x01 | 0x03 | 0x0d => Type::Text,          // ascii, blob, varchar
            0x02 | 0x05 | 0x0b | 0x12 => Type::Bigint, // counter, timestamp and time, too
            0x07 => Type::Double,
            0x08 => Type::Float,
            0x09 => Type::Int,
            0x13 => Type::Smallint,
            0x14 => Type::Tinyint,
            other => Type::Other(other),
        }
    }

    /// Whether a value of this kind can be bound.
    pub fn takes(self, kind: Kind) -> bool {
        match self {
            Type::Text => matches!(kind, Kind::Text | Kind::Null),
            Type::Double | Type::Float => {
                matches!(kind, Kind::Double | Kind::Integer | Kind::Null)
            }
            Type::Other(_) => kind == Kind::Null,
            _ => matches!(kind, Kind::Integer | Kind::Null),
        }
    }
}

/// The id alone, from a RESULT that may have been cut off after it.
pub fn id(body: &[u8]) -> Option<&[u8]> {
    let mut cursor = Cursor(body);
    if cursor.int()? != RESULT_PREPARED {
        return None;
    }
    cursor.short_bytes()
}

/// Reads a whole RESULT of kind Prepared.
pub fn read(body: &[u8]) -> Result<Statement, EngineError> {
    let cut_short = || EngineError::protocol("an answer to PREPARE that cannot be read");
    let id = id(body).ok_or_else(cut_short)?;
    let mut cursor = Cursor(&body[4 + 2 + id.len()..]);
    let (types, partition_key) = binds(&mut cursor).ok_or_else(cut_short)?;
    Ok(Statement { id: id.to_vec(), types, partition_key })
}

fn binds(cursor: &mut Cursor<'_>) -> Option<(Vec<Type>, Vec<u16>)> {
    let flags = cursor.int()?;
    let columns = u16::try_from(cursor.int()?).ok()?;
    let keys = u16::try_from(cursor.int()?).ok()?;
    let keys = (0..keys).map(|_| cursor.short()).collect::<Option<_>>()?;
    let global = flags & GLOBAL_TABLE != 0;
    if global {
        cursor.short_bytes()?;
        cursor.short_bytes()?;
    }
    let mut types = Vec::new();
    for _ in 0..columns {
        if !global {
            cursor.short_bytes()?;
            cursor.short_bytes()?;
        }
        cursor.short_bytes()?;
        types.push(Type::of(option(cursor, 0)?));
    }
    Some((types, keys))
}

/// An `[option]`: a type's number. Its inner types are skipped. `depth`: how deep it lies in others.
pub fn option(cursor: &mut Cursor<'_>, depth: usize) -> Option<u16> {
    if depth > DEEPEST {
        return None;
    }
    let number = cursor.short()?;
    let inner = match number {
        0x00 => {
            cursor.short_bytes()?; // a custom type's class
            0
        }
        0x20 | 0x22 => 1, // list, set
        0x21 => 2,        // map
        0x30 => {
            cursor.short_bytes()?;
            cursor.short_bytes()?;
            for _ in 0..cursor.short()? {
                cursor.short_bytes()?;
                option(cursor, depth + 1)?;
            }
            0
        }
        0x31 => cursor.short()?, // tuple
        _ => 0,
    };
    for _ in 0..inner {
        option(cursor, depth + 1)?;
    }
    Some(number)
}
