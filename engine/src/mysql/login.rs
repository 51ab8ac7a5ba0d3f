//! Opens a session: logs in, sets what the load relies on, prepares statements.

use std::net::TcpStream;
use std::time::Instant;

use super::answer::{Agreed, Column};
use super::channel::{Channel, server_error};
use super::handshake::handshake;
use super::packets::{COM_QUERY, COM_STMT_PREPARE};
use crate::error::EngineError;
use crate::generators::program::Prepared;
use crate::session::connect::{Login, Opener, Session};

/// `ER_SECURE_TRANSPORT_REQUIRED`, of MySQL and of MariaDB.
const TLS_REQUIRED: [&str; 2] = ["3159", "4238"];

/// What a login learns of its session.
#[derive(Debug, Default)]
pub struct Known {
    /// The numbers of its prepared statements on this connection.
    pub statement_ids: Vec<u32>,
    /// The types of their results' columns, if some are kept.
    pub columns: Vec<Vec<Column>>,
    pub agreed: Agreed,
}

impl Login for Known {
    fn log_in(
        opener: &Opener,
        stream: TcpStream,
        deadline: Instant,
    ) -> Result<Session<Self>, EngineError> {
        let mut channel = Channel::new(stream, deadline);
        let agreed = handshake(&mut channel, opener)
            .map_err(|error| explain(error, opener.tls.is_some()))?;
        apply_settings(&mut channel, &opener.target.session_settings)?;
        let mut known = Known { agreed, ..Known::default() };
        for prepared in &opener.prepared {
            let (id, columns) = prepare(&mut channel, prepared, agreed)?;
            known.statement_ids.push(id);
            known.columns.push(columns);
        }
        Ok(Session { link: channel.link, known })
    }
}

/// Explains the error if the server demands TLS.
fn explain(mut error: EngineError, encrypted: bool) -> EngineError {
    let insecure = error.message.to_ascii_lowercase().contains("insecure transport");
    if !encrypted && (insecure || TLS_REQUIRED.contains(&error.code.as_str())) {
        error.message = format!("the server demands TLS: {}", error.message);
        error.code = "tls_required".to_owned();
    }
    error
}

/// Sets the session's variables, whatever the server's defaults are: with autocommit off, for
/// example, no update would ever be committed.
fn apply_settings(channel: &mut Channel, settings: &[(String, String)]) -> Result<(), EngineError> {
    if settings.is_empty() {
        return Ok(());
    }
    let assignments: Vec<_> =
        settings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let sql = format!("SET {}", assignments.join(", "));
    channel.command(COM_QUERY, sql.as_bytes())?;
    let packet = channel.read_packet()?;
    match packet.first() {
        Some(0x00) => Ok(()),
        Some(0xff) => Err(server_error(&packet).context(&format!("the server refuses {sql}"))),
        _ => Err(EngineError::protocol("an unknown answer while connecting")),
    }
}

/// Whether a statement calls a procedure.
fn is_call(sql: &str) -> bool {
    sql.split_whitespace().next().is_some_and(|word| word.eq_ignore_ascii_case("CALL"))
}

/// Prepares a statement; returns its number on this connection, and the types of its result's
/// columns if some are kept.
fn prepare(
    channel: &mut Channel,
    prepared: &Prepared,
    agreed: Agreed,
) -> Result<(u32, Vec<Column>), EngineError> {
    let doing = || format!("cannot prepare {}", prepared.excerpt());
    channel.command(COM_STMT_PREPARE, prepared.sql.as_bytes())?;
    let packet = channel.read_packet()?;
    let &[0, a, b, c, d, columns_low, columns_high, binds_low, binds_high, ..] = packet.as_slice()
    else {
        let error = if packet.first() == Some(&0xff) {
            server_error(&packet)
        } else {
            EngineError::protocol("an unknown answer")
        };
        return Err(error.context(&doing()));
    };
    let columns = u16::from_le_bytes([columns_low, columns_high]);
    let binds = u16::from_le_bytes([binds_low, binds_high]);
    let mut types = Vec::new();
    for (of_result, described) in [(false, binds), (true, columns)] {
        for _ in 0..described {
            let packet = channel.read_packet()?;
            if of_result && !prepared.returns.is_empty() {
                types.push(Column::read(&packet)?);
            }
        }
        if described > 0 && !agreed.deprecate_eof {
            channel.read_packet()?;
        }
    }
    // what a procedure returns is known with its results alone, which bring their columns
    let calls = columns == 0 && is_call(&prepared.sql);
    let kept = if calls { 0 } else { prepared.returns.len() };
    if kept > usize::from(columns) {
        let message = format!("it returns {columns} columns, of which {kept} are to be kept");
        return Err(EngineError::spec(message).context(&doing()));
    }
    if let Some(index) = types[..kept].iter().position(|column| !column.can_be_kept()) {
        let message =
            format!("column {} is of a type that cannot be kept: cast it to a text", index + 1);
        return Err(EngineError::spec(message).context(&doing()));
    }
    if usize::from(binds) != prepared.kinds.len() {
        let given = prepared.kinds.len();
        let message = format!("it takes {binds} binds, {given} are given");
        return Err(EngineError::spec(message).context(&doing()));
    }
    Ok((u32::from_le_bytes([a, b, c, d]), types))
}
