//! The one error that stops a load before it starts, or a call that cannot be answered.

use std::fmt;

/// A failure with a code for programs and one line for people.
///
/// `code` is the server's error number as text ("1045") or one of ours: "spec", "connect",
/// "connect_timeout", "connection_lost", "dns", "tls", "tls_required", "auth", "protocol",
/// "histogram".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineError {
    pub code: String,
    pub message: String,
}

impl EngineError {
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        let message: String = message.into();
        EngineError { code: code.into(), message: message.replace(['\n', '\r'], " ") }
    }

    /// The load's description asks for something that cannot be done.
    pub fn spec(message: impl Into<String>) -> Self {
        Self::new("spec", message)
    }

    /// The server answered with something that is not its protocol.
    pub fn protocol(message: impl Into<String>) -> Self {
        Self::new("protocol", message)
    }

    /// The same error, saying what was being done.
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
