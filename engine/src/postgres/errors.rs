//! The server's errors: five characters of SQLSTATE, and a message.

use super::frames::PREFIX;
use crate::error::{EngineError, Failure, Violation};

/// `query_canceled`: most of all, a statement took longer than the server's `statement_timeout`.
const CANCELED: &str = "57014";

/// `invalid_sql_statement_name` and `duplicate_prepared_statement`: a session lacks a statement that
/// was prepared, or has another client's. A pooler in transaction mode that does not know prepared
/// statements gives each transaction any of its sessions.
const LOST_STATEMENT: [&str; 2] = ["26000", "42P05"];
const WITHOUT_STATEMENTS: &str =
    "; if this is a pooler in transaction mode, add ?statement_mode=simple to the DSN";

/// What an ErrorResponse says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerError {
    /// The SQLSTATE.
    pub code: String,
    pub message: String,
    /// The server ends the session with it.
    pub fatal: bool,
}

impl ServerError {
    /// Reads a body, or as much of it as has been kept.
    #[cold]
    pub fn read(body: &[u8]) -> Result<Self, Violation> {
        let body = &body[..body.len().min(PREFIX)];
        let field = |kind: u8| {
            let fields = body.split(|&byte| byte == 0);
            fields.filter_map(|field| field.split_first()).find(|(first, _)| **first == kind)
        };
        let text = |kind: u8| {
            field(kind).map_or(String::new(), |(_, text)| String::from_utf8_lossy(text).into())
        };
        let code = text(b'C');
        if code.len() != 5 || !code.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err(Violation("an error without its SQLSTATE"));
        }
        // the severity in plain words is not there before 9.6
        let severity = if field(b'V').is_some() { text(b'V') } else { text(b'S') };
        let fatal = matches!(severity.as_str(), "FATAL" | "PANIC");
        Ok(ServerError { code, message: text(b'M'), fatal })
    }

    /// Makes the engine's error of it, while a session is opened or rows are inserted.
    pub fn refusal(&self) -> EngineError {
        let cure = self.cure();
        let message = format!("{} (SQLSTATE {}){cure}", self.message, self.code);
        EngineError::new(self.code.clone(), message)
    }

    /// Why an operation failed. If the server itself canceled it, it counts as a time-out, with
    /// the time that it took.
    pub fn failure(self) -> Failure {
        let timed_out = self.code == CANCELED;
        let message = format!("{}{}", self.message, self.cure());
        Failure { code: self.code, message, timed_out }
    }

    /// A remedy for it; empty if none is known.
    fn cure(&self) -> &'static str {
        if LOST_STATEMENT.contains(&self.code.as_str()) { WITHOUT_STATEMENTS } else { "" }
    }
}
