//! A session in the MySQL protocol: logged in, its statements prepared.

use std::net::TcpStream;
use std::time::Instant;

use super::auth::{handshake, server_error};
use super::connect::{Login, Opener, Session, lost, mind_deadline};
use super::link::Link;
use crate::error::EngineError;
use crate::generators::program::Prepared;
use crate::protocol::packets::{self, COM_STMT_PREPARE};

/// No packet of a login or of a prepared statement's description is larger.
const LARGEST_PACKET: usize = 1 << 20;
/// `ER_SECURE_TRANSPORT_REQUIRED`, of MySQL and of MariaDB.
const TLS_REQUIRED: [&str; 2] = ["3159", "4238"];

/// What is known of a session: the numbers of its prepared statements, and its dialect.
#[derive(Debug, Default)]
pub struct Known {
    pub statement_ids: Vec<u32>,
    pub deprecate_eof: bool,
}

impl Login for Known {
    fn log_in(
        opener: &Opener,
        stream: TcpStream,
        deadline: Instant,
    ) -> Result<Session<Self>, EngineError> {
        let mut channel = Channel { link: Link { stream, tls: None }, sequence: 0, deadline };
        let deprecate_eof = handshake(&mut channel, &opener.target, opener.tls.as_ref())
            .map_err(|error| explain(error, opener.tls.is_some()))?;
        let mut statement_ids = Vec::with_capacity(opener.prepared.len());
        for prepared in &opener.prepared {
            statement_ids.push(prepare(&mut channel, prepared, deprecate_eof)?);
        }
        Ok(Session { link: channel.link, known: Known { statement_ids, deprecate_eof } })
    }
}

/// Adds what to do where the server wants TLS.
fn explain(mut error: EngineError, encrypted: bool) -> EngineError {
    let insecure = error.message.to_ascii_lowercase().contains("insecure transport");
    if !encrypted && (insecure || TLS_REQUIRED.contains(&error.code.as_str())) {
        error.message = format!("the server demands TLS: {}", error.message);
        error.code = "tls_required".to_owned();
    }
    error
}

/// Whole packets over a blocking link, until a deadline.
pub struct Channel {
    pub link: Link,
    sequence: u8,
    deadline: Instant,
}

impl Channel {
    pub fn read_packet(&mut self) -> Result<Vec<u8>, EngineError> {
        self.mind_deadline()?;
        let mut header = [0; 4];
        self.link.receive_exact(&mut header).map_err(lost)?;
        let length = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
        if length > LARGEST_PACKET {
            return Err(EngineError::protocol(format!(
                "a packet of {length} bytes while connecting"
            )));
        }
        self.sequence = header[3].wrapping_add(1);
        let mut packet = vec![0; length];
        self.link.receive_exact(&mut packet).map_err(lost)?;
        Ok(packet)
    }

    pub fn write_packet(&mut self, payload: &[u8]) -> Result<(), EngineError> {
        self.mind_deadline()?;
        let mut bytes = Vec::with_capacity(payload.len() + 4);
        let start = packets::open(&mut bytes);
        bytes.extend_from_slice(payload);
        packets::close_as(&mut bytes, start, self.sequence);
        self.sequence = self.sequence.wrapping_add(1);
        self.link.send_all(&bytes).map_err(lost)
    }

    fn command(&mut self, code: u8, text: &[u8]) -> Result<(), EngineError> {
        self.sequence = 0;
        let mut payload = Vec::with_capacity(text.len() + 1);
        payload.push(code);
        payload.extend_from_slice(text);
        self.write_packet(&payload)
    }

    fn mind_deadline(&self) -> Result<(), EngineError> {
        mind_deadline(&self.link.stream, self.deadline)
    }
}

/// Prepares a statement; returns its number on this connection.
fn prepare(
    channel: &mut Channel,
    prepared: &Prepared,
    deprecate_eof: bool,
) -> Result<u32, EngineError> {
    let what = || format!("cannot prepare {}", prepared.told());
    channel.command(COM_STMT_PREPARE, prepared.sql.as_bytes())?;
    let packet = channel.read_packet()?;
    let &[0, a, b, c, d, columns_low, columns_high, binds_low, binds_high, ..] = packet.as_slice()
    else {
        let error = if packet.first() == Some(&0xff) {
            server_error(&packet)
        } else {
            EngineError::protocol("an unknown answer")
        };
        return Err(error.context(&what()));
    };
    let columns = u16::from_le_bytes([columns_low, columns_high]);
    let binds = u16::from_le_bytes([binds_low, binds_high]);
    for described in [binds, columns] {
        let end = u16::from(described > 0 && !deprecate_eof);
        for _ in 0..described + end {
            channel.read_packet()?;
        }
    }
    if usize::from(binds) != prepared.kinds.len() {
        let given = prepared.kinds.len();
        let message = format!("it takes {binds} binds, {given} are given");
        return Err(EngineError::spec(message).context(&what()));
    }
    Ok(u32::from_le_bytes([a, b, c, d]))
}
