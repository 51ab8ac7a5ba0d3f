//! What can go wrong: a call that cannot be answered, an operation that failed, a server that
//! breaks its protocol.

use std::fmt;

/// The one error that stops a load before it starts, or a call that cannot be answered.
///
/// It has a code for programs and one line for people. `code` is the server's error number as
/// text ("1045"), its error's name ("unavailable"), or one of the engine's words: "spec", "connect",
/// "connect_timeout", "connection_lost", "dns", "tls", "tls_required", "auth", "protocol",
/// "timeout", "cancelled", "histogram", "client", "script", "system", "internal".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineError {
    pub code: String,
    pub message: String,
}

impl EngineError {
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        let message: String = message.into();
        // a server's words, too, are one line, and nothing that a terminal obeys
        let message = message.replace(char::is_control, " ");
        EngineError { code: code.into(), message }
    }

    /// The load's description asks for something that cannot be done.
    pub fn spec(message: impl Into<String>) -> Self {
        Self::new("spec", message)
    }

    /// The server answered with something that is not its protocol.
    pub fn protocol(message: impl Into<String>) -> Self {
        Self::new("protocol", message)
    }

    /// The same error, with what was being done put in front of its message.
    #[must_use]
    pub fn context(mut self, doing: &str) -> Self {
        self.message = format!("{doing}: {}", self.message);
        self
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for EngineError {}

/// Why one operation of a load failed; the load goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// As in [`EngineError`].
    pub code: String,
    pub message: String,
    /// The server itself gave up waiting. How long it waited is then recorded as a latency, as it
    /// is where the engine gives up.
    pub timed_out: bool,
}

impl Failure {
    pub fn new(code: impl Into<String>, message: impl ToString) -> Self {
        Failure { code: code.into(), message: message.to_string(), timed_out: false }
    }

    /// The connection cannot be used any more.
    pub fn connection_lost(why: impl ToString) -> Self {
        Self::new("connection_lost", why)
    }
}

/// What a server sent breaks its protocol, in this way: the connection cannot be used any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Violation(pub &'static str);

impl From<Violation> for Failure {
    fn from(Violation(what): Violation) -> Self {
        Failure::new("protocol", what)
    }
}

impl From<Violation> for EngineError {
    fn from(Violation(what): Violation) -> Self {
        EngineError::protocol(what)
    }
}
