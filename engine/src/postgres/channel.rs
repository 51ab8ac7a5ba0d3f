//! Whole messages over a blocking link, while a session is opened.

use std::net::TcpStream;
use std::time::Instant;

use super::errors::ServerError;
use super::frames::{HEADER, Message, body_length, tag};
use crate::error::EngineError;
use crate::session::connect::lost;
use crate::session::link::Link;

/// No message of a login or of a prepared statement's description is larger, in bytes.
const LARGEST_BODY: usize = 1 << 20;
/// More notices, settings and keys than a server tells while a session is opened.
const MOST_UNASKED: usize = 1_000;

/// Sends and receives messages one by one, until a deadline.
pub struct Channel {
    pub link: Link,
    pub out: Vec<u8>,
    deadline: Instant,
    body: Vec<u8>,
    unasked: usize,
}

impl Channel {
    pub fn new(stream: TcpStream, deadline: Instant) -> Self {
        let link = Link { stream, tls: None };
        Channel { link, out: Vec::new(), deadline, body: Vec::new(), unasked: 0 }
    }

    /// Sends what is in `out`.
    pub fn send(&mut self) -> Result<(), EngineError> {
        self.link.send_all(&self.out, self.deadline).map_err(lost)?;
        self.out.clear();
        Ok(())
    }

    /// Reads one byte, and nothing that may come after it.
    pub fn read_byte(&mut self) -> Result<u8, EngineError> {
        let mut byte = [0];
        self.link.receive_exact(&mut byte, self.deadline).map_err(lost)?;
        Ok(byte[0])
    }

    /// The next message that was asked for: not a notice, a setting or the key to cancel a statement
    /// with. An error is an error.
    pub fn read(&mut self) -> Result<Message<'_>, EngineError> {
        loop {
            let mut header = [0; HEADER];
            self.link.receive_exact(&mut header, self.deadline).map_err(lost)?;
            let length = body_length(header)?;
            if length > LARGEST_BODY {
                return Err(EngineError::protocol(format!(
                    "a message of {length} bytes while connecting"
                )));
            }
            self.body.resize(length, 0);
            self.link.receive_exact(&mut self.body, self.deadline).map_err(lost)?;
            match header[0] {
                tag::ERROR => return Err(ServerError::read(&self.body)?.refusal()),
                tag if tag::unasked(tag) || tag == tag::KEY_DATA => {
                    self.unasked += 1;
                    if self.unasked > MOST_UNASKED {
                        let message = "the server talks without end while connecting";
                        return Err(EngineError::protocol(message));
                    }
                    if tag == tag::PARAMETER_STATUS {
                        check_setting(&self.body)?;
                    }
                }
                tag => return Ok(Message { tag, body: &self.body }),
            }
        }
    }

    /// Reads a message that has to be of this kind.
    pub fn expect(&mut self, expected: u8) -> Result<&[u8], EngineError> {
        let message = self.read()?;
        if message.tag == expected {
            return Ok(message.body);
        }
        Err(EngineError::protocol("an unknown message while connecting"))
    }
}

/// Checks the one setting that matters: in another encoding a text's bytes would mean something else.
fn check_setting(body: &[u8]) -> Result<(), EngineError> {
    let mut parts = body.split(|&byte| byte == 0);
    match (parts.next(), parts.next()) {
        (Some(b"client_encoding"), Some(encoding)) if encoding != b"UTF8" => {
            let encoding = String::from_utf8_lossy(encoding);
            Err(EngineError::protocol(format!("client_encoding is {encoding}: needed is UTF8")))
        }
        _ => Ok(()),
    }
}
