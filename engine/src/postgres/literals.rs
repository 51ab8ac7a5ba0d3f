//! Statements with their values in the text, for the mode `simple`.
//!
//! Each value is a quoted literal without a type: PostgreSQL finds its type from where it stands, by
//! the same rules as a parameter's. One with a backslash is written as `E'...'`, which reads the same
//! whatever `standard_conforming_strings` is.

use super::frames;
use super::types::Encoding;
use crate::generators::values::{Drawing, Scope, Value};

/// A statement's text, cut at its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// What stands before each place, and the place's parameter, from 0.
    places: Vec<(Box<[u8]>, usize)>,
    end: Box<[u8]>,
    encodings: Box<[Encoding]>,
}

impl Text {
    pub fn new(sql: &str, encodings: &[Encoding]) -> Self {
        let sql = sql.as_bytes();
        let (mut places, mut from, mut at) = (Vec::new(), 0, 0);
        while at < sql.len() {
            let length = token(&sql[at..]);
            let digits = sql[at + 1..at + length].iter();
            if sql[at] == b'$' && length > 1 && digits.clone().all(u8::is_ascii_digit) {
                let number = digits.fold(0_usize, |number, digit| {
                    number.saturating_mul(10).saturating_add(usize::from(digit - b'0'))
                });
                places.push((sql[from..at].into(), number.wrapping_sub(1)));
                from = at + length;
            }
            at += length;
        }
        Text { places, end: sql[from..].into(), encodings: encodings.into() }
    }

    /// Appends a simple query, drawing the values: each once, in the order of the parameters.
    pub fn query(
        &self,
        values: &[Value],
        drawing: &mut Drawing,
        scope: &mut Scope,
        out: &mut Vec<u8>,
    ) {
        let pairs = values.iter().zip(&self.encodings);
        let literals: Vec<Vec<u8>> =
            pairs.map(|(value, encoding)| literal(value, *encoding, drawing, scope)).collect();
        let start = frames::open(b'Q', out);
        for (before, parameter) in &self.places {
            out.extend_from_slice(before);
            out.extend_from_slice(literals.get(*parameter).map_or(b" NULL ", Vec::as_slice));
        }
        frames::text(&self.end, out);
        frames::close(start, out);
    }
}

/// Draws a value as a literal. Spaces keep it apart from what stands around it.
fn literal(value: &Value, encoding: Encoding, drawing: &mut Drawing, scope: &mut Scope) -> Vec<u8> {
    let picked = value.pick(drawing).filter(|_| encoding != Encoding::Null);
    let Some(value) = picked else {
        return b" NULL ".to_vec();
    };
    let mut text = Vec::new();
    value.append_text(drawing, scope, &mut text);
    if encoding == Encoding::Bytes {
        let hex: String = text.iter().map(|byte| format!("{byte:02x}")).collect();
        text = [b"\\x", hex.as_bytes()].concat();
    }
    let mut quoted = Vec::with_capacity(text.len() + 8);
    quoted.extend_from_slice(if text.contains(&b'\\') { b" E'" } else { b" '" });
    for byte in text {
        if matches!(byte, b'\'' | b'\\') {
            quoted.push(byte);
        }
        quoted.push(byte);
    }
    quoted.extend_from_slice(b"' ");
    quoted
}

/// The length of what stands at the start: a quoted text, a name, a comment, a parameter, or one
/// byte of anything else. By the rules of the documentation's "Lexical Structure".
fn token(sql: &[u8]) -> usize {
    let in_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 0x80..);
    let run = |from: usize, of: &dyn Fn(&u8) -> bool| {
        from + sql[from..].iter().take_while(|byte| of(byte)).count()
    };
    match sql {
        [b'e' | b'E', b'\'', ..] => 1 + quoted(&sql[1..], true),
        [b'\'' | b'"', ..] => quoted(sql, false),
        [b'-', b'-', ..] => run(2, &|byte| *byte != b'\n'),
        [b'/', b'*', ..] => comment(sql),
        [b'$', b'0'..=b'9', ..] => run(1, &u8::is_ascii_digit),
        [b'$', ..] => dollars(sql),
        [first, ..] if in_name(first) => run(1, &in_name),
        _ => 1,
    }
}

/// A text in quotes, with its quotes; of one that is not closed, all of it.
fn quoted(sql: &[u8], backslashes: bool) -> usize {
    let quote = sql[0];
    let mut at = 1;
    while at < sql.len() {
        match sql[at] {
            b'\\' if backslashes => at += 2,
            byte if byte == quote && sql.get(at + 1) == Some(&quote) => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    sql.len()
}

/// A comment, which may hold others.
fn comment(sql: &[u8]) -> usize {
    let (mut at, mut depth) = (0, 0_u32);
    while at < sql.len() {
        match &sql[at..] {
            [b'/', b'*', ..] => (at, depth) = (at + 2, depth + 1),
            [b'*', b'/', ..] if depth == 1 => return at + 2,
            [b'*', b'/', ..] => (at, depth) = (at + 2, depth - 1),
            _ => at += 1,
        }
    }
    sql.len()
}

/// A text in dollars: `$$...$$` or `$tag$...$tag$`. A dollar that begins none is one byte.
fn dollars(sql: &[u8]) -> usize {
    let in_tag = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | 0x80..);
    let tag = 1 + sql[1..].iter().take_while(|byte| in_tag(byte)).count();
    if sql.get(tag) != Some(&b'$') {
        return 1;
    }
    let (tag, rest) = sql.split_at(tag + 1);
    let end = rest.windows(tag.len()).position(|part| part == tag);
    end.map_or(sql.len(), |end| end + 2 * tag.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generators::rng::Rng;

    fn written(sql: &str, values: &[Value], encodings: &[Encoding]) -> String {
        let mut drawing = Drawing::new(Rng::for_stream(1, &[]));
        let mut scope = Scope { spaces: Vec::new(), choosers: Vec::new() };
        let mut out = Vec::new();
        Text::new(sql, encodings).query(values, &mut drawing, &mut scope, &mut out);
        assert_eq!((out[0], out.last()), (b'Q', Some(&0)));
        let text = &out[5..out.len() - 1];
        assert_eq!(out[1..5], (text.len() as u32 + 5).to_be_bytes());
        String::from_utf8(text.to_vec()).expect("UTF-8")
    }

    #[test]
    fn values_are_quoted_so_that_nothing_in_them_is_sql() {
        let text = |text: &str| Value::Text(text.as_bytes().into());
        let cases = [
            (Value::Integer(-5), Encoding::Int4, "a = '-5' "),
            (Value::Double(0.5), Encoding::Float8, "a = '0.5' "),
            (Value::Null, Encoding::Null, "a = NULL "),
            (text("O'Neil"), Encoding::Characters, "a = 'O''Neil' "),
            (text("a\\' OR 1=1 --"), Encoding::Characters, "a = E'a\\\\'' OR 1=1 --' "),
            (text("a'b"), Encoding::Bytes, "a = E'\\\\x612762' "),
        ];
        for (value, encoding, expected) in cases {
            let expected = expected.replace("a = ", "a =  ");
            let expected = if encoding == Encoding::Null { "a =  NULL ".into() } else { expected };
            assert_eq!(written("a = $1", &[value], &[encoding]), expected);
        }
    }

    #[test]
    fn a_parameter_is_found_wherever_it_stands_and_nowhere_else() {
        let values: Vec<Value> = (1..=12).map(Value::Integer).collect();
        let written = |sql: &str| written(sql, &values, &[Encoding::Int8; 12]);
        assert_eq!(written("$2+$1,$12,$1"), " '2' + '1' , '12' , '1' ");
        for sql in [
            "'$1' \"$1\" 'it''s $1' E'\\'$1'",
            "-- $1",
            "/* $1 /* */ $1 */ x",
            "$$ $1 $$ $a$ $1 $$ $1 $a$",
            "tab$1",
            "'not closed $1",
        ] {
            assert_eq!(written(sql), sql);
        }
        assert_eq!(written("-- $1\n$1"), "-- $1\n '1' ");
        assert_eq!(written("/**/$1$2"), "/**/ '1'  '2' ");
    }
}
