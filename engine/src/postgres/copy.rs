//! COPY FROM STDIN: the rows of a batch in binary, or as text where a column has no binary format
//! here.

use super::frames;
use super::request::{self, COPY_DONE};
use super::types::Encoding;
use crate::dataset::inserter::Rows;
use crate::spec::Dataset;

/// What a binary COPY begins with: a signature, no flags, no extension.
const SIGNATURE: &[u8; 19] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
/// A count of columns that says there is no further row.
const END: [u8; 2] = (-1_i16).to_be_bytes();
/// Rows go into messages of about so many bytes.
const ENOUGH_BYTES: usize = 64 * 1024;

/// How batches are copied into a table.
#[derive(Debug)]
pub struct Copy {
    statement: String,
    encodings: Vec<Encoding>,
    binary: bool,
}

impl Copy {
    pub fn new(dataset: &Dataset, encodings: &[Encoding]) -> Self {
        let binary = !encodings.contains(&Encoding::Text);
        let statement = format!(
            "COPY {} ({}) FROM STDIN (FORMAT {})",
            quoted(&dataset.table),
            columns(dataset),
            if binary { "binary" } else { "text" }
        );
        Copy { statement, encodings: encodings.to_vec(), binary }
    }

    /// Appends a whole COPY of the rows of these numbers.
    pub fn append(&self, numbers: &[i64], rows: &mut Rows, out: &mut Vec<u8>) {
        request::query(self.statement.as_bytes(), out);
        let mut message = frames::open(b'd', out);
        if self.binary {
            out.extend_from_slice(SIGNATURE);
        }
        for &number in numbers {
            if out.len() - message > ENOUGH_BYTES {
                frames::close(message, out);
                message = frames::open(b'd', out);
            }
            rows.drawing.start_row(number);
            if self.binary { self.binary_row(rows, out) } else { self.text_row(rows, out) }
        }
        if self.binary {
            out.extend_from_slice(&END);
        }
        frames::close(message, out);
        out.extend_from_slice(&COPY_DONE);
    }

    fn binary_row(&self, Rows { values, drawing, scope }: &mut Rows, out: &mut Vec<u8>) {
        out.extend_from_slice(&(values.len() as u16).to_be_bytes());
        for (value, encoding) in values.iter().zip(&self.encodings) {
            encoding.append(value, drawing, scope, out);
        }
    }

    fn text_row(&self, Rows { values, drawing, scope }: &mut Rows, out: &mut Vec<u8>) {
        let mut text = Vec::new();
        for (index, (value, encoding)) in values.iter().zip(&self.encodings).enumerate() {
            if index > 0 {
                out.push(b'\t');
            }
            text.clear();
            let Some(value) = value.pick(drawing) else {
                out.extend_from_slice(b"\\N");
                continue;
            };
            value.append_text(drawing, scope, &mut text);
            match encoding {
                Encoding::Null => out.extend_from_slice(b"\\N"),
                Encoding::Bytes => {
                    out.extend_from_slice(b"\\\\x");
                    text.iter().for_each(|byte| out.extend(format!("{byte:02x}").bytes()));
                }
                _ => text.iter().for_each(|byte| escape(*byte, out)),
            }
        }
        out.push(b'\n');
    }
}

/// By the documentation of COPY's text format.
fn escape(byte: u8, out: &mut Vec<u8>) {
    let escaped = match byte {
        b'\\' => b'\\',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        plain => return out.push(plain),
    };
    out.extend_from_slice(&[b'\\', escaped]);
}

/// A name as the server writes it: in lower case where it could stand without quotes.
pub fn quoted(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let name = if name.bytes().all(plain) { name.to_ascii_lowercase() } else { name.to_owned() };
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The names of a dataset's columns, as a statement has them.
pub fn columns(dataset: &Dataset) -> String {
    dataset.columns.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ")
}
