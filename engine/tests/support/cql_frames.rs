//! The server's side of CQL's protocol, as far as tests and measurements need it.

pub const ERROR: u8 = 0x00;
pub const READY: u8 = 0x02;
pub const RESULT: u8 = 0x08;
pub const EVENT: u8 = 0x0c;
pub const STARTUP: u8 = 0x01;
pub const QUERY: u8 = 0x07;
pub const PREPARE: u8 = 0x09;
pub const EXECUTE: u8 = 0x0a;
pub const AUTHENTICATE: u8 = 0x03;
pub const AUTH_RESPONSE: u8 = 0x0f;
pub const AUTH_SUCCESS: u8 = 0x10;

/// Types of binds, by their numbers.
pub const BIGINT: u16 = 0x02;
pub const INT: u16 = 0x09;
pub const VARCHAR: u16 = 0x0d;
/// The header's length.
pub const HEADER: usize = 9;

/// A response.
pub fn frame(stream: i16, opcode: u8, body: &[u8]) -> Vec<u8> {
    let mut out = vec![0x84, 0];
    out.extend_from_slice(&stream.to_be_bytes());
    out.push(opcode);
    out.extend_from_slice(&(body.len() as u32).to_be_bytes());
    out.extend_from_slice(body);
    out
}

/// The answer to a statement that returns nothing.
pub fn void(stream: i16) -> Vec<u8> {
    frame(stream, RESULT, &1_i32.to_be_bytes())
}

/// One row of one column of so many bytes, without metadata.
pub fn row(stream: i16, bytes: usize) -> Vec<u8> {
    let mut body = Vec::new();
    for number in [2, 4, 1, 1, bytes as i32] {
        body.extend_from_slice(&number.to_be_bytes());
    }
    body.resize(body.len() + bytes, b'x');
    frame(stream, RESULT, &body)
}

pub fn error(stream: i16, code: i32, message: &str) -> Vec<u8> {
    let mut body = code.to_be_bytes().to_vec();
    string(message, &mut body);
    frame(stream, ERROR, &body)
}

/// A row of a table: its values, null or not.
pub type Row = Vec<Option<Vec<u8>>>;

/// Rows of so many columns, with their metadata: texts, but that the third column is a set of them.
pub fn rows(stream: i16, columns: usize, rows: &[Row]) -> Vec<u8> {
    let mut body = Vec::new();
    for number in [2, 1, columns as i32] {
        body.extend_from_slice(&i32::to_be_bytes(number));
    }
    string("system", &mut body);
    string("t", &mut body);
    for column in 0..columns {
        string("column", &mut body);
        if column == 2 {
            body.extend_from_slice(&0x22_u16.to_be_bytes());
        }
        body.extend_from_slice(&VARCHAR.to_be_bytes());
    }
    body.extend_from_slice(&(rows.len() as i32).to_be_bytes());
    for value in rows.iter().flatten() {
        append_value(value.as_deref(), &mut body);
    }
    frame(stream, RESULT, &body)
}

/// The value of a set of texts, or of a map from texts to texts: `each` of them make an element.
pub fn texts(texts: &[String], each: usize) -> Vec<u8> {
    let mut out = ((texts.len() / each) as i32).to_be_bytes().to_vec();
    texts.iter().for_each(|text| append_value(Some(text.as_bytes()), &mut out));
    out
}

fn append_value(value: Option<&[u8]>, out: &mut Vec<u8>) {
    let length = value.map_or(-1, |value| value.len() as i32);
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(value.unwrap_or_default());
}

/// The answer to PREPARE: the statement's id, and the types of its binds, of which the first is the
/// partition's key.
pub fn prepared(stream: i16, id: &[u8], types: &[u16]) -> Vec<u8> {
    let mut body = 4_i32.to_be_bytes().to_vec();
    body.extend_from_slice(&(id.len() as u16).to_be_bytes());
    body.extend_from_slice(id);
    let keys = types.len().min(1);
    for number in [1, types.len() as i32, keys as i32] {
        body.extend_from_slice(&number.to_be_bytes());
    }
    body.resize(body.len() + 2 * keys, 0); // the key is bind 0
    string("k", &mut body);
    string("t", &mut body);
    for kind in types {
        string("column", &mut body);
        body.extend_from_slice(&kind.to_be_bytes());
    }
    frame(stream, RESULT, &body)
}

fn string(text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(&(text.len() as u16).to_be_bytes());
    out.extend_from_slice(text.as_bytes());
}

/// The whole request at the start of the input, if it is there: its stream, opcode and body.
pub fn whole(input: &[u8]) -> Option<(i16, u8, &[u8])> {
    let header = input.get(..HEADER)?;
    let length = u32::from_be_bytes([header[5], header[6], header[7], header[8]]) as usize;
    let body = input.get(HEADER..HEADER + length)?;
    Some((i16::from_be_bytes([header[2], header[3]]), header[4], body))
}
