//! The server's side of the PostgreSQL protocol, as far as tests and measurements need it.

use plimsoll_engine::generators::rng::Rng;
use plimsoll_engine::postgres::answer::Outcome;
use plimsoll_engine::postgres::errors::ServerError;

pub const INT8: u32 = 20;

/// A message of this kind.
pub fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    [&[tag][..], &(body.len() as u32 + 4).to_be_bytes(), body].concat()
}

/// An authentication request, by its code.
pub fn authentication(code: u32, data: &[u8]) -> Vec<u8> {
    message(b'R', &[&code.to_be_bytes(), data].concat())
}

pub fn setting(name: &str, value: &str) -> Vec<u8> {
    message(b'S', format!("{name}\0{value}\0").as_bytes())
}

/// ReadyForQuery; `state` is b'I', b'T' or b'E'.
pub fn ready(state: u8) -> Vec<u8> {
    message(b'Z', &[state])
}

pub fn complete(tag: &str) -> Vec<u8> {
    message(b'C', format!("{tag}\0").as_bytes())
}

/// An error or a notice, with the fields that the server sends first.
pub fn report(tag: u8, severity: &str, code: &str, text: &str) -> Vec<u8> {
    message(tag, format!("S{severity}\0V{severity}\0C{code}\0M{text}\0\0").as_bytes())
}

pub fn error(code: &str) -> Vec<u8> {
    report(b'E', "ERROR", code, "as asked")
}

pub fn notice() -> Vec<u8> {
    report(b'N', "WARNING", "01000", "take care")
}

/// A row of so many columns, each of so many bytes.
pub fn row(columns: usize, bytes: usize) -> Vec<u8> {
    let column = [&(bytes as u32).to_be_bytes()[..], &vec![b'x'; bytes]].concat();
    message(b'D', &[&(columns as u16).to_be_bytes()[..], &column.repeat(columns)].concat())
}

pub fn parameter_types(oids: &[u32]) -> Vec<u8> {
    let types: Vec<u8> = oids.iter().flat_map(|oid| oid.to_be_bytes()).collect();
    message(b't', &[&(oids.len() as u16).to_be_bytes()[..], &types].concat())
}

/// A RowDescription of columns of text.
pub fn columns(count: usize) -> Vec<u8> {
    let mut body = (count as u16).to_be_bytes().to_vec();
    for _ in 0..count {
        body.extend_from_slice(b"c\0\0\0\0\0\0\0");
        body.extend_from_slice(&25_u32.to_be_bytes());
        body.extend_from_slice(&[0xff; 6]);
        body.extend_from_slice(&[0, 0]);
    }
    message(b'T', &body)
}

/// The whole message at the start of the input, if it is there: its tag (0 for what comes before
/// the login, which has none), its body, and its length with the header.
pub fn whole(input: &[u8], tagged: bool) -> Option<(u8, &[u8], usize)> {
    let (tag, rest) = if tagged { (*input.first()?, &input[1..]) } else { (0, input) };
    let length = u32::from_be_bytes(*rest.first_chunk()?) as usize;
    Some((tag, rest.get(4..length)?, length + usize::from(tagged)))
}

/// How many parameters a statement takes: the largest number after a dollar.
pub fn parameters(sql: &[u8]) -> usize {
    let parts = sql.split(|&byte| byte == b'$').skip(1);
    let number = |part: &[u8]| {
        part.iter()
            .take_while(|byte| byte.is_ascii_digit())
            .fold(0, |number, digit| number * 10 + usize::from(digit - b'0'))
    };
    parts.map(number).max().unwrap_or(0)
}

/// A random answer: how many commands it answers, its bytes, and how it ends.
pub fn draw(rng: &mut Rng) -> (u32, Vec<u8>, Outcome) {
    let (mut out, mut rows) = (Vec::new(), 0);
    let commands = 1 + rng.below(4) as u32;
    for _ in 0..commands {
        out.extend(message(b'2', b""));
        match rng.below(8) {
            0 => {
                let code = ["40001", "40P01", "23505"][rng.below(3) as usize];
                out.extend(error(code));
                out.extend(ready(b"IE"[rng.below(2) as usize]));
                let (code, message) = (code.to_owned(), "as asked".to_owned());
                return (
                    commands,
                    out,
                    Outcome::Failed(Box::new(ServerError { code, message, fatal: false })),
                );
            }
            1 => out.extend([notice(), setting("TimeZone", "UTC"), complete("BEGIN")].concat()),
            2 => {
                let affected = rng.below(100_000);
                rows += affected;
                out.extend(complete(&format!("INSERT 0 {affected}")));
            }
            _ => {
                let count = rng.below(6);
                let bytes = [0, 1, 100, 3_000][rng.below(4) as usize];
                let row = row(1 + rng.below(8) as usize, bytes);
                (0..count).for_each(|_| out.extend(&row));
                rows += count;
                out.extend(complete(&format!("SELECT {count}")));
            }
        }
    }
    out.extend(ready(b"IT"[rng.below(2) as usize]));
    (commands, out, Outcome::Done { rows })
}
