//! Opens a session: logs in, prepares statements.

use std::net::TcpStream;
use std::time::Instant;

use super::channel::Channel;
use super::frames::{Message, tag};
use super::handshake::handshake;
use super::literals::Text;
use super::request::{self, SYNC, Template};
use super::types::{Encoding, encodings};
use crate::error::EngineError;
use crate::generators::program::Prepared;
use crate::session::connect::{Login, Opener, Session};
use crate::spec::StatementMode;

/// How a statement is executed on a session.
#[derive(Debug)]
pub enum Statement {
    Prepared(Template),
    /// Parsed for each execution, without a name.
    Parsed {
        text: String,
        template: Template,
    },
    Simple(Text),
}

/// What a login learns of its session.
#[derive(Debug, Default)]
pub struct Known {
    pub statements: Vec<Statement>,
    /// How the binds of each statement are sent.
    pub encodings: Vec<Vec<Encoding>>,
}

impl Login for Known {
    fn log_in(
        opener: &Opener,
        stream: TcpStream,
        deadline: Instant,
    ) -> Result<Session<Self>, EngineError> {
        let mut channel = Channel::new(stream, deadline);
        handshake(&mut channel, opener).map_err(|error| explain(error, opener.tls.is_some()))?;
        let mut known = Known::default();
        for (index, prepared) in opener.prepared.iter().enumerate() {
            let (statement, encodings) = open(&mut channel, opener, index).map_err(|error| {
                error.context(&format!("cannot prepare {}", prepared.excerpt()))
            })?;
            known.statements.push(statement);
            known.encodings.push(encodings);
        }
        Ok(Session { link: channel.link, known })
    }
}

/// Explains the error if the server demands TLS (28000, invalid_authorization_specification).
fn explain(mut error: EngineError, encrypted: bool) -> EngineError {
    let insecure = ["no encryption", "SSL off"].iter().any(|words| error.message.contains(words));
    if !encrypted && error.code == "28000" && insecure {
        error.message = format!("the server demands TLS: {}", error.message);
        error.code = "tls_required".to_owned();
    }
    error
}

/// Makes a statement ready. One that is sent as text is prepared once too, without a name: that
/// finds its errors and the types of its binds.
fn open(
    channel: &mut Channel,
    opener: &Opener,
    index: usize,
) -> Result<(Statement, Vec<Encoding>), EngineError> {
    let prepared = &opener.prepared[index];
    Ok(match opener.target.statement_mode {
        StatementMode::Prepared if is_utility(&prepared.sql) => {
            let encodings = prepare(channel, "", prepared)?;
            let template = Template::new(b"", &encodings);
            let template = template.with_texts(!prepared.returns.is_empty());
            (Statement::Parsed { text: prepared.sql.clone(), template }, encodings)
        }
        StatementMode::Prepared => {
            let name = format!("s{index}");
            let encodings = prepare(channel, &name, prepared)?;
            let template = Template::new(name.as_bytes(), &encodings);
            let template = template.with_texts(!prepared.returns.is_empty());
            (Statement::Prepared(template), encodings)
        }
        StatementMode::Simple => {
            let encodings = prepare(channel, "", prepared)?;
            (Statement::Simple(Text::new(&prepared.sql, &encodings)), encodings)
        }
    })
}

/// Whether a statement is carried out without a plan, as BEGIN is: of those that are prepared once,
/// `pg_stat_statements` counts the first execution alone.
fn is_utility(sql: &str) -> bool {
    const PLANNED: [&str; 8] =
        ["SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "WITH", "VALUES", "TABLE"];
    let end = sql.find(|each: char| !each.is_ascii_alphabetic()).unwrap_or(sql.len());
    end > 0 && !PLANNED.iter().any(|word| word.eq_ignore_ascii_case(&sql[..end]))
}

/// Prepares a statement, under a name or for this once; returns how its binds are sent.
fn prepare(
    channel: &mut Channel,
    name: &str,
    prepared: &Prepared,
) -> Result<Vec<Encoding>, EngineError> {
    if prepared.sql.contains('\0') {
        return Err(EngineError::spec("it has a character of code 0"));
    }
    request::parse(name.as_bytes(), prepared.sql.as_bytes(), &mut channel.out);
    request::describe(name.as_bytes(), &mut channel.out);
    channel.out.extend_from_slice(&SYNC);
    channel.send()?;
    channel.expect(tag::PARSE_COMPLETE)?;
    let types = oids(channel.expect(tag::PARAMETER_TYPES)?)?;
    let Message { tag, body } = channel.read()?;
    let columns = match (tag, body) {
        (tag::ROW_DESCRIPTION, &[high, low, ..]) => usize::from(u16::from_be_bytes([high, low])),
        (tag::NO_DATA, _) => 0,
        _ => return Err(EngineError::protocol("an unknown message while connecting")),
    };
    let kept = prepared.returns.len();
    if kept > columns {
        let message = format!("it returns {columns} columns, of which {kept} are to be kept");
        return Err(EngineError::spec(message));
    }
    channel.expect(tag::READY)?;
    encodings(prepared, &types)
}

/// The types in a ParameterDescription.
fn oids(body: &[u8]) -> Result<Vec<u32>, EngineError> {
    let oids = body.get(2..).unwrap_or(&[]).chunks_exact(4);
    if body.len() < 2 || oids.len() != usize::from(u16::from_be_bytes([body[0], body[1]])) {
        return Err(EngineError::protocol("a description of parameters that is cut short"));
    }
    Ok(oids.map(|oid| u32::from_be_bytes([oid[0], oid[1], oid[2], oid[3]])).collect())
}
