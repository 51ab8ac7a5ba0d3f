//! The server's errors: their numbers, and their names in reports.

use super::frames::Cursor;
use crate::error::{EngineError, Failure};

pub const UNPREPARED: i32 = 0x2500;
const WRITE_TIMEOUT: i32 = 0x1100;
const READ_TIMEOUT: i32 = 0x1200;
pub const INVALID: i32 = 0x2200;

/// An ERROR's number and message.
pub fn error(body: &[u8]) -> (i32, String) {
    let mut cursor = Cursor(body);
    let Some(code) = cursor.int() else {
        return (0, "an error that is cut short".to_owned());
    };
    (code, cursor.text_at_hand())
}

/// Makes the engine's error of a server's, while a session is opened or rows are inserted.
pub fn refusal(body: &[u8]) -> EngineError {
    let (code, message) = error(body);
    let name = name(code);
    EngineError::new(name.clone(), format!("{message} ({name})"))
}

/// Why an operation failed, by the server's error. The coordinator's own time-outs count as
/// time-outs, with the time that they took.
pub fn failure((code, message): (i32, String)) -> Failure {
    let timed_out = matches!(code, WRITE_TIMEOUT | READ_TIMEOUT);
    Failure { code: name(code), message, timed_out }
}

/// An error's name in the protocol's description; its number if it has none.
pub fn name(code: i32) -> String {
    let name = match code {
        0x0000 => "server_error",
        0x000a => "protocol_error",
        0x0100 => "bad_credentials",
        0x1000 => "unavailable",
        0x1001 => "overloaded",
        0x1002 => "is_bootstrapping",
        0x1003 => "truncate_error",
        WRITE_TIMEOUT => "write_timeout",
        READ_TIMEOUT => "read_timeout",
        0x1300 => "read_failure",
        0x1400 => "function_failure",
        0x1500 => "write_failure",
        0x1600 => "cdc_write_failure",
        0x1700 => "cas_write_unknown",
        0x2000 => "syntax_error",
        0x2100 => "unauthorized",
        INVALID => "invalid",
        0x2300 => "config_error",
        0x2400 => "already_exists",
        UNPREPARED => "unprepared",
        _ => return format!("0x{code:04x}"),
    };
    name.to_owned()
}
