//! The rows of an answer to a QUERY, as far as the system's own tables need them.

use super::frames::Cursor;
use super::prepared;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const RESULT_ROWS: i32 = 2;
const GLOBAL_TABLE: i32 = 0x01;
const MORE_PAGES: i32 = 0x02;
const NO_METADATA: i32 = 0x04;

/// One row's values, in the order of the SELECT; null is nothing.
pub type Row<'a, const N: usize> = [Option<&'a [u8]>; N];

/// Reads a RESULT of rows with so many columns. None if it is something else, or cut short.
pub fn read<const N: usize>(body: &[u8]) -> Option<Vec<Row<'_, N>>> {
    let mut cursor = Cursor(body);
    if cursor.int()? != RESULT_ROWS {
        return None;
    }
    let flags = cursor.int()?;
    if cursor.int()? != N as i32 {
        return None;
    }
    if flags & MORE_PAGES != 0 {
        cursor.value()?;
    }
    if flags & NO_METADATA == 0 {
        skip_metadata(&mut cursor, flags & GLOBAL_TABLE != 0, N)?;
    }
    let count = cursor.int()?;
    let mut rows = Vec::new();
    for _ in 0..count {
        let mut row = [None; N];
        for value in &mut row {
            *value = cursor.value()?;
        }
        rows.push(row);
    }
    Some(rows)
}

fn skip_metadata(cursor: &mut Cursor<'_>, global: bool, columns: usize) -> Option<()> {
    if global {
        cursor.short_bytes()?;
        cursor.short_bytes()?;
    }
    for _ in 0..columns {
        if !global {
            cursor.short_bytes()?;
            cursor.short_bytes()?;
        }
        cursor.short_bytes()?;
        prepared::option(cursor, 0)?;
    }
    Some(())
}

/// A text, or nothing where it is null or no text.
pub fn text(value: Option<&[u8]>) -> Option<&str> {
    std::str::from_utf8(value?).ok()
}

/// An `inet`.
pub fn address(value: Option<&[u8]>) -> Option<IpAddr> {
    let value = value?;
    let v4 = value.try_into().map(|bytes: [u8; 4]| IpAddr::V4(Ipv4Addr::from(bytes)));
    let v6 = || value.try_into().map(|bytes: [u8; 16]| Ipv6Addr::from(bytes).to_canonical());
    v4.or_else(|_| v6()).ok()
}

/// An `int`.
pub fn int(value: Option<&[u8]>) -> Option<i32> {
    value?.try_into().map(i32::from_be_bytes).ok()
}

/// The texts of a set, or of a map: its keys and values in turn. `each`: how many an element has.
pub fn texts(value: Option<&[u8]>, each: usize) -> Vec<&str> {
    let mut cursor = Cursor(value.unwrap_or_default());
    let count = usize::try_from(cursor.int().unwrap_or_default()).unwrap_or_default();
    (0..count.saturating_mul(each)).map_while(|_| text(cursor.value()?)).collect()
}
