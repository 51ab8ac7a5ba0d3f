//! Reads the rows of the system's own tables from answers to QUERY, and counts the rows of an
//! execution.

use super::frames::Cursor;
use super::prepared;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const RESULT_ROWS: i32 = 2;
const GLOBAL_TABLE: i32 = 0x01;
const MORE_PAGES: i32 = 0x02;
const NO_METADATA: i32 = 0x04;

/// One row's values, in the order of the SELECT; None for null.
pub type Row<'a, const N: usize> = [Option<&'a [u8]>; N];

/// Reads a RESULT of rows with N columns. None if it is another kind of answer, or cut short.
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

/// Counts the rows of an execution from its RESULT: those that it returned, or 1 for a conditional
/// write that was applied, else 0. None if the answer has no count: a plain write's has none.
pub fn met(body: &[u8], conditional: bool) -> Option<u64> {
    let mut cursor = Cursor(body);
    if cursor.int()? != RESULT_ROWS {
        return None;
    }
    let flags = cursor.int()?;
    let columns = usize::try_from(cursor.int()?).ok()?;
    if flags & MORE_PAGES != 0 {
        cursor.value()?;
    }
    if flags & NO_METADATA == 0 {
        skip_metadata(&mut cursor, flags & GLOBAL_TABLE != 0, columns)?;
    }
    let rows = u64::try_from(cursor.int()?).ok()?;
    if conditional {
        return Some(u64::from(cursor.value()?? == [1_u8])); // `[applied]`, the first column
    }
    Some(rows)
}

/// Whether a statement is a write with a condition (`IF`), whose answer tells whether it was applied.
pub fn is_conditional(cql: &str) -> bool {
    let mut words = cql.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let select = words.next().is_some_and(|first| first.eq_ignore_ascii_case("SELECT"));
    !select && words.any(|word| word.eq_ignore_ascii_case("IF"))
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

/// A text; None if it is null or not UTF-8.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A RESULT without metadata: its numbers, then a value.
    fn body(numbers: &[i32], value: &[u8]) -> Vec<u8> {
        let mut body: Vec<u8> = numbers.iter().flat_map(|number| number.to_be_bytes()).collect();
        body.extend_from_slice(value);
        body
    }

    #[test]
    fn a_read_tells_its_rows_and_a_plain_write_nothing() {
        assert_eq!(met(&body(&[RESULT_ROWS, NO_METADATA, 11, 1], b""), false), Some(1));
        assert_eq!(met(&body(&[RESULT_ROWS, NO_METADATA, 11, 0], b""), false), Some(0));
        let paged = body(&[RESULT_ROWS, NO_METADATA | MORE_PAGES, 1, 2], b"ab\0\0\0\x07");
        assert_eq!(met(&paged, false), Some(7));
        assert_eq!(met(&body(&[1], b""), false), None);
        assert_eq!(met(&body(&[RESULT_ROWS, NO_METADATA], b""), false), None);
    }

    #[test]
    fn a_conditional_write_met_a_row_if_it_was_applied() {
        for (applied, rows) in [(1, 1), (0, 0)] {
            let answer = body(&[RESULT_ROWS, NO_METADATA, 1, 1, 1], &[applied]);
            assert_eq!(met(&answer, true), Some(rows));
        }
        let with_metadata = [
            &body(&[RESULT_ROWS, GLOBAL_TABLE, 1], b"\0\x01k\0\x01t\0\x09[applied]\0\x04")[..],
            &body(&[1, 1], &[0])[..],
        ]
        .concat();
        assert_eq!(met(&with_metadata, true), Some(0));
    }

    #[test]
    fn a_write_with_if_is_conditional() {
        assert!(is_conditional("INSERT INTO t (a) VALUES (?) IF NOT EXISTS"));
        assert!(is_conditional("update t set a = ? where k = ? if a=?"));
        assert!(!is_conditional("UPDATE t SET iffy = ? WHERE k = ?"));
        assert!(!is_conditional("SELECT \"if\" FROM t WHERE k = ?"));
    }
}
