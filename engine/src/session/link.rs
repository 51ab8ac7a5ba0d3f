//! A TCP connection, with TLS or without; blocking while it is set up, then not.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rustix::net::{RecvFlags, SendFlags, recv, send};
use rustls::ClientConnection;

use crate::error::Failure;

/// The stream under a session.
pub struct Link {
    pub stream: TcpStream,
    pub tls: Option<Box<ClientConnection>>,
}

impl Link {
    /// Reads what has arrived into `buffer`. 0 is the end of the stream.
    #[inline]
    pub fn receive(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.tls {
            // the system calls themselves: the C library's functions are points where a thread can
            // be cancelled, which costs time in each call
            None => Ok(recv(&self.stream, buffer, RecvFlags::empty())?.1),
            Some(tls) => receive_tls(tls, &mut self.stream, buffer),
        }
    }

    /// Sends from the start of `bytes`; returns how many were taken (by the kernel, or by TLS).
    #[inline]
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.tls {
            None => Ok(send(&self.stream, bytes, SendFlags::NOSIGNAL)?),
            Some(tls) => send_tls(tls, &mut self.stream, bytes),
        }
    }

    /// Whether bytes that `send` took still wait for the kernel.
    pub fn unsent(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.wants_write())
    }

    /// Fills the buffer, blocking; an error at the deadline, however little each read brings.
    pub fn receive_exact(&mut self, mut buffer: &mut [u8], deadline: Instant) -> io::Result<()> {
        while !buffer.is_empty() {
            let mut stream = Until { stream: &self.stream, deadline };
            let received = match &mut self.tls {
                None => stream.read(buffer),
                Some(tls) => receive_tls(tls, &mut stream, buffer),
            };
            match received {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(n) => buffer = &mut buffer[n..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Sends it all, blocking; an error at the deadline.
    pub fn send_all(&mut self, mut bytes: &[u8], deadline: Instant) -> io::Result<()> {
        while !bytes.is_empty() || self.unsent() {
            let mut stream = Until { stream: &self.stream, deadline };
            let sent = match &mut self.tls {
                None => stream.write(bytes),
                Some(tls) => send_tls(tls, &mut stream, bytes),
            };
            match sent {
                Ok(n) => bytes = &bytes[n..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// A non-blocking link and the bytes that wait to be sent on it. While it has no link, before a session
/// is opened and after it is closed, it sends and receives nothing.
#[derive(Default)]
pub struct BufferedLink {
    link: Option<Link>,
    /// What is to be sent is appended here.
    pub out: Vec<u8>,
    /// How many bytes of `out` were sent.
    sent: usize,
}

/// What one read brought.
pub struct Received {
    /// How many bytes were read; 0 if none had arrived.
    pub bytes: usize,
    /// Whether there may be more to read that no event will announce.
    pub more: bool,
}

impl BufferedLink {
    /// Uses this link from now on; drops the one before and what was not sent on it.
    pub fn open(&mut self, link: Link) {
        self.close();
        self.link = Some(link);
    }

    /// Drops the link and what was not sent.
    pub fn close(&mut self) {
        self.link = None;
        self.clear();
    }

    /// Drops what was not sent.
    #[inline]
    pub fn clear(&mut self) {
        self.out.clear();
        self.sent = 0;
    }

    /// The link's stream; None if it has no link.
    pub fn stream(&self) -> Option<&TcpStream> {
        self.link.as_ref().map(|link| &link.stream)
    }

    /// Sends as much as the kernel takes now; the rest stays.
    pub fn send(&mut self) -> io::Result<()> {
        let Some(link) = &mut self.link else {
            return Ok(());
        };
        while self.sent < self.out.len() || link.unsent() {
            match link.send(&self.out[self.sent..]) {
                Ok(taken) => self.sent += taken,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.clear();
        Ok(())
    }

    /// How many bytes still wait to be sent; those that TLS holds count as one.
    pub fn unsent(&self) -> usize {
        let held = usize::from(self.link.as_ref().is_some_and(Link::unsent));
        self.out.len() - self.sent + held
    }

    /// Reads once into `buffer`: the caller decides whether to read on, so that a server that talks
    /// without end keeps no deadline from being seen. `drain`: the peer has hung up, so that no event
    /// will announce the rest. An error means that the connection is lost.
    #[inline]
    pub fn receive(&mut self, buffer: &mut [u8], drain: bool) -> Result<Received, Failure> {
        let Some(link) = &mut self.link else {
            return Ok(Received { bytes: 0, more: false });
        };
        match link.receive(buffer) {
            Ok(0) => Err(Failure::connection_lost("the server closed the connection")),
            Ok(bytes) => {
                // a full buffer, TLS or a hang-up: there may be more without another event
                let more = bytes == buffer.len() || link.tls.is_some() || drain;
                Ok(Received { bytes, more })
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                Ok(Received { bytes: 0, more: false })
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                Ok(Received { bytes: 0, more: true })
            }
            Err(error) => Err(Failure::connection_lost(error)),
        }
    }
}

/// A stream each of whose reads and writes waits for what is left until a deadline.
struct Until<'a> {
    stream: &'a TcpStream,
    deadline: Instant,
}

impl Until<'_> {
    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(Some(left)) }
    }
}

impl Read for Until<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(buffer)
    }
}

impl Write for Until<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn receive_tls(
    tls: &mut ClientConnection,
    stream: &mut (impl Read + Write),
    buffer: &mut [u8],
) -> io::Result<usize> {
    loop {
        match tls.reader().read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            done => return done,
        }
        if tls.read_tls(stream)? == 0 {
            return Ok(0);
        }
        let processed = tls.process_new_packets();
        // TLS may have something to answer: a handshake message, or an alert that names an error
        let flushed = flush(tls, stream);
        processed.map_err(io::Error::other)?;
        flushed?;
    }
}

fn send_tls(
    tls: &mut ClientConnection,
    stream: &mut impl Write,
    bytes: &[u8],
) -> io::Result<usize> {
    if !flush(tls, stream)? {
        return Err(io::ErrorKind::WouldBlock.into());
    }
    if bytes.is_empty() {
        return Ok(0);
    }
    let taken = tls.writer().write(bytes)?;
    flush(tls, stream)?;
    Ok(taken)
}

/// Gives the kernel what TLS has ready; returns whether the kernel took all of it.
fn flush(tls: &mut ClientConnection, stream: &mut impl Write) -> io::Result<bool> {
    while tls.wants_write() {
        match tls.write_tls(stream) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}
