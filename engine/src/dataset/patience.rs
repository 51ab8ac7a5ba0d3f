//! Waiting for a server while rows are inserted.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::error::EngineError;
use crate::session::link::Link;

/// The longest that a read or a write of a connection waits at a time: how soon it sees that the
/// caller has cancelled.
pub const CHECK_EVERY: Duration = Duration::from_millis(50);

/// How long a connection waits for the server, and what ends the wait sooner.
pub struct Patience<'a> {
    pub timeout: Duration,
    pub cancelled: &'a AtomicBool,
}

/// One wait, which began when this was made.
pub struct Wait<'a> {
    deadline: Instant,
    cancelled: &'a AtomicBool,
}

impl Patience<'_> {
    pub fn begin(&self) -> Wait<'_> {
        Wait { deadline: Instant::now() + self.timeout, cancelled: self.cancelled }
    }
}

impl Wait<'_> {
    /// Sends all of these bytes.
    pub fn send(&self, link: &mut Link, bytes: &[u8]) -> Result<(), EngineError> {
        let mut sent = 0;
        while sent < bytes.len() || link.unsent() {
            match link.send(&bytes[sent..]) {
                Ok(taken) => sent += taken,
                Err(error) => self.go_on_after(&error)?,
            }
        }
        Ok(())
    }

    /// Receives some bytes into `buffer`, and returns how many: 1 or more.
    pub fn receive(&self, link: &mut Link, buffer: &mut [u8]) -> Result<usize, EngineError> {
        loop {
            self.check()?; // each time: a server that sends without end meets the deadline too
            match link.receive(buffer) {
                Ok(0) => return Err(lost(&io::ErrorKind::UnexpectedEof.into())),
                Ok(read) => return Ok(read),
                Err(error) => self.go_on_after(&error)?,
            }
        }
    }

    /// Fails unless this error only means that nothing has arrived yet, and waiting may go on.
    fn go_on_after(&self, error: &io::Error) -> Result<(), EngineError> {
        use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
        if !matches!(error.kind(), Interrupted | TimedOut | WouldBlock) {
            return Err(lost(error));
        }
        self.check()
    }

    /// Fails if the caller has cancelled, or the deadline has passed.
    fn check(&self) -> Result<(), EngineError> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(EngineError::new("cancelled", "cancelled"));
        }
        if Instant::now() >= self.deadline {
            let message = "the server does not answer an insert in time";
            return Err(EngineError::new("timeout", message));
        }
        Ok(())
    }
}

fn lost(error: &io::Error) -> EngineError {
    EngineError::new("connection_lost", format!("the connection is lost: {error}"))
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};
    use std::thread;

    use super::*;

    #[test]
    fn a_server_that_talks_without_end_is_waited_for_no_longer_than_one_that_is_silent() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("bound");
        let talking = thread::spawn(move || {
            let (mut client, _) = listener.accept().expect("a client");
            while client.write_all(&[b'N'; 4096]).is_ok() {}
        });
        let stream = TcpStream::connect(address).expect("listens");
        let mut link = Link { stream, tls: None };
        let cancelled = AtomicBool::new(false);
        let short = Patience { timeout: Duration::from_millis(50), cancelled: &cancelled };
        let wait = short.begin();
        let error = loop {
            if let Err(error) = wait.receive(&mut link, &mut [0; 4096]) {
                break error;
            }
        };
        assert_eq!(error.code, "timeout");
        cancelled.store(true, Ordering::Relaxed);
        let long = Patience { timeout: Duration::from_secs(60), cancelled: &cancelled };
        let error = long.begin().receive(&mut link, &mut [0; 4096]).expect_err("cancelled");
        assert_eq!(error.code, "cancelled");
        drop(link);
        talking.join().expect("ends with its client");
    }
}
