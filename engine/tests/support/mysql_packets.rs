//! The server's side of the MySQL protocol, as far as tests and measurements need it.

use plimsoll_engine::mysql::answer::Agreed;

pub const PROTOCOL_41: u32 = 0x0000_0200;
pub const SECURE_CONNECTION: u32 = 0x0000_8000;
pub const PLUGIN_AUTH: u32 = 0x0008_0000;
pub const DEPRECATE_EOF: u32 = 0x0100_0000;
const FOUND_ROWS: u32 = 0x0000_0002;
const CONNECT_WITH_DB: u32 = 0x0000_0008;
const TRANSACTIONS: u32 = 0x0000_2000;
const MULTI_RESULTS: u32 = 0x0002_0000;
const PS_MULTI_RESULTS: u32 = 0x0004_0000;
/// Set by MySQL alone; MariaDB tells its extended capabilities instead.
const LONG_PASSWORD: u32 = 0x0000_0001;
const CACHE_METADATA: u32 = 0x0000_0010;
const FULL_FRAME: usize = 0xff_ffff;

/// Everything that a modern server without TLS offers.
pub const CAPABILITIES: u32 = PROTOCOL_41
    | SECURE_CONNECTION
    | PLUGIN_AUTH
    | DEPRECATE_EOF
    | FOUND_ROWS
    | CONNECT_WITH_DB
    | TRANSACTIONS
    | MULTI_RESULTS
    | PS_MULTI_RESULTS
    | LONG_PASSWORD;

/// Appends a packet, in as many frames as it needs.
pub fn packet(sequence: &mut u8, payload: &[u8], out: &mut Vec<u8>) {
    let mut rest = payload;
    loop {
        let (now, later) = rest.split_at(rest.len().min(FULL_FRAME));
        out.extend_from_slice(&(now.len() as u32).to_le_bytes()[..3]);
        out.push(*sequence);
        *sequence = sequence.wrapping_add(1);
        out.extend_from_slice(now);
        if now.len() < FULL_FRAME {
            return;
        }
        rest = later;
    }
}

pub fn length_encoded(value: u64, out: &mut Vec<u8>) {
    match value {
        0..=0xfa => out.push(value as u8),
        0xfb..=0xffff => {
            out.push(0xfc);
            out.extend_from_slice(&(value as u16).to_le_bytes());
        }
        0x1_0000..=0xff_ffff => {
            out.push(0xfd);
            out.extend_from_slice(&(value as u32).to_le_bytes()[..3]);
        }
        _ => {
            out.push(0xfe);
            out.extend_from_slice(&value.to_le_bytes());
        }
    }
}

/// The first packet of a connection: mysql_native_password, a fixed scramble. `mariadb`: it offers
/// to leave out definitions of columns, as MariaDB does.
pub fn greeting(capabilities: u32, mariadb: bool) -> Vec<u8> {
    let (capabilities, extended) =
        if mariadb { (capabilities & !LONG_PASSWORD, CACHE_METADATA) } else { (capabilities, 0) };
    let mut payload = vec![10];
    payload.extend_from_slice(b"8.0.0-canned\0");
    payload.extend_from_slice(&1_u32.to_le_bytes());
    payload.extend_from_slice(b"abcdefgh\0");
    payload.extend_from_slice(&capabilities.to_le_bytes()[..2]);
    payload.push(45);
    payload.extend_from_slice(&2_u16.to_le_bytes());
    payload.extend_from_slice(&capabilities.to_le_bytes()[2..]);
    payload.push(21);
    payload.extend_from_slice(&[0; 6]);
    payload.extend_from_slice(&extended.to_le_bytes());
    payload.extend_from_slice(b"ijklmnopqrst\0");
    payload.extend_from_slice(b"mysql_native_password\0");
    let mut out = Vec::new();
    packet(&mut 0, &payload, &mut out);
    out
}

pub fn ok_payload(header: u8, affected_rows: u64, status: u16) -> Vec<u8> {
    let mut payload = vec![header];
    length_encoded(affected_rows, &mut payload);
    length_encoded(0, &mut payload);
    payload.extend_from_slice(&status.to_le_bytes());
    payload.extend_from_slice(&[0, 0]);
    payload
}

pub fn ok(sequence: &mut u8, affected_rows: u64, status: u16, out: &mut Vec<u8>) {
    packet(sequence, &ok_payload(0, affected_rows, status), out);
}

pub fn eof(sequence: &mut u8, status: u16, out: &mut Vec<u8>) {
    let [low, high] = status.to_le_bytes();
    packet(sequence, &[0xfe, 0, 0, low, high], out);
}

pub fn error(sequence: &mut u8, code: u16, message: &str, out: &mut Vec<u8>) {
    let mut payload = vec![0xff];
    payload.extend_from_slice(&code.to_le_bytes());
    payload.extend_from_slice(b"#HY000");
    payload.extend_from_slice(message.as_bytes());
    packet(sequence, &payload, out);
}

/// The definition of a VARCHAR column.
fn column(name: &str) -> Vec<u8> {
    let mut payload = Vec::new();
    for text in ["def", "db", "t", "t", name, name] {
        length_encoded(text.len() as u64, &mut payload);
        payload.extend_from_slice(text.as_bytes());
    }
    payload.extend_from_slice(&[0x0c, 45, 0, 0xff, 0, 0, 0, 0xfd, 0, 0, 0, 0, 0]);
    payload
}

/// The answer to COM_STMT_PREPARE.
pub fn prepared(id: u32, columns: u16, binds: u16, agreed: Agreed) -> Vec<u8> {
    let mut payload = vec![0];
    payload.extend_from_slice(&id.to_le_bytes());
    payload.extend_from_slice(&columns.to_le_bytes());
    payload.extend_from_slice(&binds.to_le_bytes());
    payload.extend_from_slice(&[0, 0, 0]);
    let (mut out, mut sequence) = (Vec::new(), 1);
    packet(&mut sequence, &payload, &mut out);
    for described in [binds, columns] {
        for _ in 0..described {
            packet(&mut sequence, &column("?"), &mut out);
        }
        if described > 0 && !agreed.deprecate_eof {
            eof(&mut sequence, 2, &mut out);
        }
    }
    out
}

/// What a result set holds.
#[derive(Debug, Clone, Copy)]
pub struct Rows {
    pub columns: usize,
    pub rows: usize,
    /// Bytes of each value.
    pub value: usize,
    /// In the text protocol, as queries are answered.
    pub text: bool,
    /// The columns are not defined again, where that was agreed on.
    pub known: bool,
}

/// Appends a result set.
pub fn result_set(sequence: &mut u8, shape: Rows, agreed: Agreed, status: u16, out: &mut Vec<u8>) {
    let mut count = Vec::new();
    length_encoded(shape.columns as u64, &mut count);
    let known = shape.known && agreed.cache_metadata;
    if agreed.cache_metadata {
        count.push(u8::from(!known));
    }
    packet(sequence, &count, out);
    for index in 0..if known { 0 } else { shape.columns } {
        packet(sequence, &column(&format!("field{index}")), out);
    }
    if !agreed.deprecate_eof {
        eof(sequence, status, out);
    }
    let bitmap = 1 + (shape.columns + 2).div_ceil(8);
    let mut row = if shape.text { Vec::new() } else { vec![0; bitmap] };
    for _ in 0..shape.columns {
        length_encoded(shape.value as u64, &mut row);
        row.resize(row.len() + shape.value, b'x');
    }
    for _ in 0..shape.rows {
        packet(sequence, &row, out);
    }
    if agreed.deprecate_eof {
        packet(sequence, &ok_payload(0xfe, 0, status), out);
    } else {
        eof(sequence, status, out);
    }
}

/// What a client agrees to in its handshake response (its payload).
pub fn agreed(payload: &[u8]) -> Agreed {
    Agreed {
        deprecate_eof: flags(payload, 0) & DEPRECATE_EOF != 0,
        // the last four of the reserved bytes, after capabilities, packet size and character set
        cache_metadata: flags(payload, 0) & LONG_PASSWORD == 0
            && flags(payload, 28) & CACHE_METADATA != 0,
    }
}

/// Whether a client's handshake response (its payload) asks for the rows that an update matches.
pub fn asks_for_found_rows(payload: &[u8]) -> bool {
    flags(payload, 0) & FOUND_ROWS != 0
}

fn flags(payload: &[u8], at: usize) -> u32 {
    let bytes = payload.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
    bytes.map_or(0, u32::from_le_bytes)
}

/// How many binds a statement takes.
pub fn binds(sql: &[u8]) -> u16 {
    sql.iter().filter(|&&byte| byte == b'?').count() as u16
}

/// The whole packet at the start of the input, if it is there: its payload and its length with
/// the header.
pub fn whole(input: &[u8]) -> Option<(&[u8], usize)> {
    let &[a, b, c, _, ref rest @ ..] = input else {
        return None;
    };
    let length = u32::from_le_bytes([a, b, c, 0]) as usize;
    rest.get(..length).map(|payload| (payload, length + 4))
}
