//! Whole packets over a blocking link, while a session is opened.

use std::net::TcpStream;
use std::time::Instant;

use super::answer::{Outcome, failed, refusal};
use super::packets;
use crate::error::EngineError;
use crate::session::connect::lost;
use crate::session::link::Link;

/// No packet of a login or of a prepared statement's description is larger.
const LARGEST_PACKET: usize = 1 << 20;
/// What an error packet begins with.
const ERROR: u8 = 0xff;

/// Sends and receives packets one by one, until a deadline.
pub struct Channel {
    pub link: Link,
    /// The number of the next packet in the current exchange.
    sequence: u8,
    deadline: Instant,
}

impl Channel {
    pub fn new(stream: TcpStream, deadline: Instant) -> Self {
        Channel { link: Link { stream, tls: None }, sequence: 0, deadline }
    }

    /// A packet's payload.
    pub fn read_packet(&mut self) -> Result<Vec<u8>, EngineError> {
        let mut header = [0; 4];
        self.link.receive_exact(&mut header, self.deadline).map_err(lost)?;
        let length = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
        if length > LARGEST_PACKET {
            return Err(EngineError::protocol(format!(
                "a packet of {length} bytes while connecting"
            )));
        }
        let mut packet = vec![0; length];
        self.link.receive_exact(&mut packet, self.deadline).map_err(lost)?;
        // a server that ends tells so as if nothing had been said before
        if header[3] != self.sequence && packet.first() != Some(&ERROR) {
            return Err(EngineError::protocol("a packet out of sequence while connecting"));
        }
        self.sequence = header[3].wrapping_add(1);
        Ok(packet)
    }

    pub fn write_packet(&mut self, payload: &[u8]) -> Result<(), EngineError> {
        let mut bytes = Vec::with_capacity(payload.len() + 4);
        let start = packets::open(&mut bytes);
        bytes.extend_from_slice(payload);
        packets::close_as(&mut bytes, start, self.sequence);
        self.sequence = self.sequence.wrapping_add(1);
        self.link.send_all(&bytes, self.deadline).map_err(lost)
    }

    /// Begins an exchange with a command of one byte and a text.
    pub fn command(&mut self, code: u8, text: &[u8]) -> Result<(), EngineError> {
        self.sequence = 0;
        let mut payload = Vec::with_capacity(text.len() + 1);
        payload.push(code);
        payload.extend_from_slice(text);
        self.write_packet(&payload)
    }
}

/// The server's error in an error packet.
pub fn server_error(packet: &[u8]) -> EngineError {
    match failed(packet) {
        Ok(Outcome::Failed { code, message }) => refusal(code, &message),
        _ => EngineError::protocol("an error packet that is cut short"),
    }
}
