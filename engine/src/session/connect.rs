//! Opening a session: TCP, then the protocol's own login. Blocking, within a time limit.

use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::ClientConfig;

use super::link::Link;
use super::tls;
use super::trust::Trust;
use crate::error::EngineError;
use crate::generators::program::Prepared;
use crate::spec::Target;

/// Opens sessions with one target.
#[derive(Clone)]
pub struct Opener {
    pub(crate) target: Target,
    /// The address of one of the target's nodes; None if the target's host is meant. TLS knows it by
    /// the host's name.
    at: Option<SocketAddr>,
    pub(crate) tls: Option<Arc<ClientConfig>>,
    pub(crate) trust: Trust,
    pub(crate) prepared: Vec<Prepared>,
}

/// An open session: its link, and what its login learned.
pub struct Session<K> {
    pub link: Link,
    pub known: K,
}

/// A protocol's login. The type that implements it is what the login learns of the session: the
/// numbers of its prepared statements, for example.
pub trait Login: Sized + Send + 'static {
    /// Greets, authenticates and prepares the opener's statements. Fails at the deadline.
    fn log_in(
        opener: &Opener,
        stream: TcpStream,
        deadline: Instant,
    ) -> Result<Session<Self>, EngineError>;
}

impl Opener {
    pub fn new(target: Target, prepared: Vec<Prepared>) -> Result<Self, EngineError> {
        let tls = target.tls.as_ref().map(tls::configure).transpose()?;
        let trust = Trust::of(target.tls.as_ref());
        Ok(Opener { target, at: None, tls, trust, prepared })
    }

    /// How to open a session with one node of the same target.
    #[must_use]
    pub fn at(&self, node: SocketAddr) -> Self {
        Opener { at: Some(node), ..self.clone() }
    }

    /// The address that it connects to, for messages.
    pub fn address(&self) -> String {
        let Target { host, port, .. } = &self.target;
        self.at.map_or_else(|| format!("{host}:{port}"), |node| node.to_string())
    }

    /// Opens a session, within the target's limit for all of it from the server's address on: not
    /// for each step, which a server can make as many of as it likes. A panic while the handshake is read is an error like any other: the crate
    /// that reads MySQL's gets bytes that any server may choose.
    pub fn open<K: Login>(&self) -> Result<Session<K>, EngineError> {
        let deadline = Instant::now() + Duration::from_millis(self.target.login_timeout_ms.into());
        let open = || K::log_in(self, self.reach(deadline)?, deadline);
        catch_unwind(AssertUnwindSafe(open))
            .unwrap_or_else(|_| Err(EngineError::protocol("the handshake cannot be read")))
    }

    pub(crate) fn reach(&self, deadline: Instant) -> Result<TcpStream, EngineError> {
        let Target { host, port, .. } = &self.target;
        let addresses: Vec<SocketAddr> = match self.at {
            Some(node) => vec![node],
            None => (host.as_str(), *port)
                .to_socket_addrs()
                .map_err(|error| {
                    EngineError::new("dns", format!("{host} has no address: {error}"))
                })?
                .collect(),
        };
        let mut last = EngineError::new("dns", format!("{host} has no address"));
        for address in addresses {
            let left = deadline.saturating_duration_since(Instant::now());
            // no time at all is refused as an argument
            match TcpStream::connect_timeout(&address, left.max(Duration::from_millis(1))) {
                Ok(stream) => {
                    stream.set_nodelay(true).map_err(lost)?;
                    return Ok(stream);
                }
                Err(error) => {
                    let doing = format!("cannot connect to {}: {error}", self.address());
                    last = EngineError::new(why_not_reached(error.kind()), doing);
                }
            }
        }
        Err(last)
    }
}

/// The code of an error of connecting.
fn why_not_reached(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::TimedOut => "connect_timeout",
        // The server had taken the connection, and closed it before this thread came to look: the
        // same as at the login, which it would not have begun. Who is not there refuses.
        io::ErrorKind::ConnectionReset => "connection_lost",
        _ => "connect",
    }
}

/// The error of a read or a write during a login.
pub(crate) fn lost(error: io::Error) -> EngineError {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            EngineError::new("connect_timeout", "the server does not end the login in time")
        }
        io::ErrorKind::Other | io::ErrorKind::InvalidData => {
            EngineError::new("tls", format!("TLS: {error}"))
        }
        _ => EngineError::new("connection_lost", format!("the connection is lost: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener};
    use std::thread;

    use rustix::net::sockopt::set_socket_linger;

    use super::*;

    fn opener(port: u16) -> Opener {
        let target = serde_json::json!({
            "protocol": "cql", "host": "127.0.0.1", "port": port, "user": "", "password": "",
            "database": "k",
        });
        Opener::new(serde_json::from_value(target).unwrap(), Vec::new()).unwrap()
    }

    /// As a full Cassandra node does: it takes a connection and resets it, before the client's thread
    /// has come to look at it or after.
    #[test]
    fn a_connection_that_is_reset_at_once_is_lost_not_refused() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            for taken in listener.incoming() {
                set_socket_linger(taken.unwrap(), Some(Duration::ZERO)).unwrap();
            }
        });
        let codes: Vec<String> = thread::scope(|scope| {
            let openers: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        let opener = opener(port);
                        let tries = (0..200).map(|_| {
                            let deadline = Instant::now() + Duration::from_secs(60);
                            opener.reach(deadline).err().map(|error| error.code)
                        });
                        tries.flatten().collect::<Vec<String>>()
                    })
                })
                .collect();
            openers.into_iter().flat_map(|opener| opener.join().unwrap()).collect()
        });
        assert!(codes.iter().all(|code| code == "connection_lost"), "{codes:?}");
    }

    #[test]
    fn who_is_not_there_refuses() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let deadline = Instant::now() + Duration::from_secs(60);
        assert_eq!(opener(port).reach(deadline).unwrap_err().code, "connect");
    }
}
