//! Opening a session: TCP, login, prepared statements. Blocking, within a time limit.

use std::io;
use std::net::{TcpStream, ToSocketAddrs as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::ClientConfig;

use super::auth::{handshake, server_error};
use super::link::Link;
use super::tls;
use crate::error::EngineError;
use crate::generators::program::Prepared;
use crate::protocol::packets::{self, COM_STMT_PREPARE};
use crate::spec::Target;

/// No packet of a login or of a prepared statement's description is larger.
const LARGEST_PACKET: usize = 1 << 20;
/// The longest that one attempt to connect may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// `ER_SECURE_TRANSPORT_REQUIRED`, of MySQL and of MariaDB.
const TLS_REQUIRED: [&str; 2] = ["3159", "4238"];

/// How to open a session, again and again.
pub struct Opener {
    target: Target,
    tls: Option<Arc<ClientConfig>>,
    prepared: Vec<Prepared>,
    patience: Duration,
}

/// An open session: its link and the numbers of its prepared statements.
pub struct Session {
    pub link: Link,
    pub statement_ids: Vec<u32>,
    pub deprecate_eof: bool,
}

impl Opener {
    pub fn new(
        target: Target,
        prepared: Vec<Prepared>,
        timeout: Duration,
    ) -> Result<Self, EngineError> {
        let tls = target.tls.as_ref().map(tls::configure).transpose()?;
        Ok(Opener {
            target,
            tls,
            prepared,
            patience: timeout.clamp(Duration::from_secs(1), PATIENCE),
        })
    }

    /// Opens a session, or says in one line why not. A panic in what reads the handshake (a crate,
    /// on bytes that a server may choose) is an error like another.
    pub fn open(&self) -> Result<Session, EngineError> {
        catch_unwind(AssertUnwindSafe(|| self.try_open()))
            .unwrap_or_else(|_| Err(EngineError::protocol("the handshake cannot be read")))
    }

    fn try_open(&self) -> Result<Session, EngineError> {
        let deadline = Instant::now() + self.patience;
        let stream = self.reach()?;
        let mut channel = Channel { link: Link { stream, tls: None }, sequence: 0, deadline };
        let deprecate_eof = handshake(&mut channel, &self.target, self.tls.as_ref())
            .map_err(|error| self.explain(error))?;
        let mut statement_ids = Vec::with_capacity(self.prepared.len());
        for prepared in &self.prepared {
            statement_ids.push(prepare(&mut channel, prepared, deprecate_eof)?);
        }
        Ok(Session { link: channel.link, statement_ids, deprecate_eof })
    }

    fn reach(&self) -> Result<TcpStream, EngineError> {
        let Target { host, port, .. } = &self.target;
        let addresses = (host.as_str(), *port)
            .to_socket_addrs()
            .map_err(|error| EngineError::new("dns", format!("{host} has no address: {error}")))?;
        let mut last = EngineError::new("dns", format!("{host} has no address"));
        for address in addresses {
            match TcpStream::connect_timeout(&address, self.patience) {
                Ok(stream) => {
                    stream.set_nodelay(true).map_err(lost)?;
                    return Ok(stream);
                }
                Err(error) => {
                    let code = if error.kind() == io::ErrorKind::TimedOut {
                        "connect_timeout"
                    } else {
                        "connect"
                    };
                    last =
                        EngineError::new(code, format!("cannot connect to {host}:{port}: {error}"));
                }
            }
        }
        Err(last)
    }

    /// Adds what to do where the server wants TLS.
    fn explain(&self, mut error: EngineError) -> EngineError {
        let insecure = error.message.to_ascii_lowercase().contains("insecure transport");
        if self.tls.is_none() && (insecure || TLS_REQUIRED.contains(&error.code.as_str())) {
            error.message = format!("the server demands TLS: {}", error.message);
            error.code = "tls_required".to_owned();
        }
        error
    }
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

    /// Each read and write may take what is left until the deadline.
    fn mind_deadline(&mut self) -> Result<(), EngineError> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(EngineError::new(
                "connect_timeout",
                "the server does not answer the login",
            ));
        }
        self.link.stream.set_read_timeout(Some(left)).map_err(lost)?;
        self.link.stream.set_write_timeout(Some(left)).map_err(lost)
    }
}

/// Prepares a statement; returns its number on this connection.
fn prepare(
    channel: &mut Channel,
    prepared: &Prepared,
    deprecate_eof: bool,
) -> Result<u32, EngineError> {
    let what = || format!("cannot prepare {:?}", prepared.sql);
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

fn lost(error: io::Error) -> EngineError {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            EngineError::new("connect_timeout", "the server does not answer the login")
        }
        io::ErrorKind::Other | io::ErrorKind::InvalidData => {
            EngineError::new("tls", format!("TLS: {error}"))
        }
        _ => EngineError::new("connection_lost", format!("the connection is lost: {error}")),
    }
}
