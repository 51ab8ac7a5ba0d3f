//! How a value is bound as the type that a statement's parameter has.

use crate::error::EngineError;
use crate::generators::program::Prepared;
use crate::generators::values::{Drawing, Kind, Scope, Value};

/// How one parameter's values are sent. All but `Text` are the type's binary format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    Null,
    Int2,
    Int4,
    Int8,
    Float4,
    Float8,
    /// The bytes of a text, for a type of texts.
    Characters,
    /// The bytes of a text, for `bytea`.
    Bytes,
    /// A text that the server reads as a value of the type.
    Text,
}

/// The object identifiers of types, from PostgreSQL's `pg_type.dat`.
mod oid {
    pub const BYTEA: u32 = 17;
    pub const INT8: u32 = 20;
    pub const INT2: u32 = 21;
    pub const INT4: u32 = 23;
    pub const FLOAT4: u32 = 700;
    pub const FLOAT8: u32 = 701;
    /// name, text, bpchar, varchar
    pub const CHARACTERS: [u32; 4] = [19, 25, 1042, 1043];
    /// bool, "char", oid, json, cidr, unknown, macaddr, inet, date, time, timestamp, timestamptz,
    /// interval, timetz, bit, varbit, numeric, uuid, jsonb
    pub const READ_FROM_TEXT: [u32; 19] = [
        16, 18, 26, 114, 650, 705, 829, 869, 1082, 1083, 1114, 1184, 1186, 1266, 1560, 1562, 1700,
        2950, 3802,
    ];
}

impl Encoding {
    /// None if values of this kind cannot be sent as this type.
    fn of(kind: Kind, oid: u32) -> Option<Self> {
        Some(match (kind, oid) {
            (Kind::Null, _) => Encoding::Null,
            (Kind::Integer, oid::INT2) => Encoding::Int2,
            (Kind::Integer, oid::INT4) => Encoding::Int4,
            (Kind::Integer, oid::INT8) => Encoding::Int8,
            (Kind::Integer | Kind::Double, oid::FLOAT4) => Encoding::Float4,
            (Kind::Integer | Kind::Double, oid::FLOAT8) => Encoding::Float8,
            (_, oid::BYTEA) => Encoding::Bytes,
            (_, oid) if oid::CHARACTERS.contains(&oid) => Encoding::Characters,
            (_, oid::INT2 | oid::INT4 | oid::INT8 | oid::FLOAT4 | oid::FLOAT8) => Encoding::Text,
            (_, oid) if oid::READ_FROM_TEXT.contains(&oid) => Encoding::Text,
            _ => return None,
        })
    }

    /// The format's code in a Bind: 0 is text, 1 is binary.
    pub fn format(self) -> u16 {
        u16::from(self != Encoding::Text)
    }

    /// Draws a value and appends it after its length, as Bind and COPY have it.
    ///
    /// A number beyond its type is sent in its 8 bytes, which the server refuses with an error: no
    /// other number is sent in its place.
    #[inline]
    pub fn append(
        self,
        value: &Value,
        drawing: &mut Drawing,
        scope: &mut Scope,
        out: &mut Vec<u8>,
    ) {
        if value.may_be_null() {
            return self.append_nullable(value, drawing, scope, out);
        }
        self.append_picked(value, drawing, scope, out);
    }

    #[cold]
    fn append_nullable(
        self,
        value: &Value,
        drawing: &mut Drawing,
        scope: &mut Scope,
        out: &mut Vec<u8>,
    ) {
        match value.pick(drawing) {
            Some(picked) => self.append_picked(picked, drawing, scope, out),
            None => Encoding::Null.append_picked(value, drawing, scope, out),
        }
    }

    #[inline(always)]
    fn append_picked(
        self,
        value: &Value,
        drawing: &mut Drawing,
        scope: &mut Scope,
        out: &mut Vec<u8>,
    ) {
        match self {
            Encoding::Int2 | Encoding::Int4 | Encoding::Int8 => {
                integer(self, value.integer(drawing, scope), out);
            }
            Encoding::Characters | Encoding::Bytes | Encoding::Text => {
                let start = out.len();
                out.extend_from_slice(&[0; 4]);
                value.append_text(drawing, scope, out);
                let length = (out.len() - start - 4) as u32;
                out[start..start + 4].copy_from_slice(&length.to_be_bytes());
            }
            Encoding::Float4 => sized(&(number(value, drawing, scope) as f32).to_be_bytes(), out),
            Encoding::Float8 => sized(&number(value, drawing, scope).to_be_bytes(), out),
            Encoding::Null => out.extend_from_slice(&(-1_i32).to_be_bytes()),
        }
    }
}

#[inline]
fn integer(encoding: Encoding, value: i64, out: &mut Vec<u8>) {
    if encoding == Encoding::Int4
        && let Ok(value) = i32::try_from(value)
    {
        sized(&value.to_be_bytes(), out);
    } else if encoding == Encoding::Int2
        && let Ok(value) = i16::try_from(value)
    {
        sized(&value.to_be_bytes(), out);
    } else {
        sized(&value.to_be_bytes(), out);
    }
}

fn number(value: &Value, drawing: &mut Drawing, scope: &mut Scope) -> f64 {
    match value.kind() {
        Kind::Integer => value.integer(drawing, scope) as f64,
        _ => value.double(drawing),
    }
}

#[inline(always)]
fn sized<const N: usize>(bytes: &[u8; N], out: &mut Vec<u8>) {
    let mut field = [0; 12];
    field[3] = N as u8;
    field[4..4 + N].copy_from_slice(bytes);
    out.extend_from_slice(&field[..4 + N]);
}

/// How a statement's binds are sent, by the types that the server names.
pub fn encodings(prepared: &Prepared, oids: &[u32]) -> Result<Vec<Encoding>, EngineError> {
    if oids.len() != prepared.kinds.len() {
        let (takes, given) = (oids.len(), prepared.kinds.len());
        return Err(EngineError::spec(format!("it takes {takes} binds, {given} are given")));
    }
    let pairs = prepared.kinds.iter().zip(oids).enumerate();
    pairs
        .map(|(index, (&kind, &oid))| {
            Encoding::of(kind, oid).ok_or_else(|| {
                EngineError::spec(format!(
                    "${} is of a type that cannot be bound, with the OID {oid}: cast it from a type \
                     that can, as in CAST(${0}::text AS ...)",
                    index + 1
                ))
            })
        })
        .collect()
}
