//! The handshake: TLS where asked, the startup, the login.

use postgres_protocol::authentication::md5_hash;

use super::channel::Channel;
use super::frames::{self, tag};
use super::scram;
use crate::error::EngineError;
use crate::session::connect::Opener;
use crate::session::tls;

const PROTOCOL_3_0: u32 = 3 << 16;
const SSL_REQUEST: u32 = 80_877_103;

/// What a server asks for while logging in.
mod method {
    pub const OK: u32 = 0;
    pub const CLEAR_TEXT: u32 = 3;
    pub const MD5: u32 = 5;
    pub const SASL: u32 = 10;
}

/// Encrypts where asked, authenticates, and reads until the server is ready.
pub fn handshake(channel: &mut Channel, opener: &Opener) -> Result<(), EngineError> {
    if let Some(config) = &opener.tls {
        request_tls(channel)?;
        channel.link.tls = Some(tls::client(config, &opener.target.host)?);
    }
    start(channel, opener)?;
    authenticate(channel, opener)?;
    channel.expect(tag::READY).map(drop)
}

/// Reads one byte of the answer: whatever an attacker put behind it, in clear, becomes a broken TLS
/// handshake. The text of an error is not shown, since anybody may have written it.
fn request_tls(channel: &mut Channel) -> Result<(), EngineError> {
    channel.out.extend_from_slice(&8_u32.to_be_bytes());
    channel.out.extend_from_slice(&SSL_REQUEST.to_be_bytes());
    channel.send()?;
    match channel.read_byte()? {
        b'S' => Ok(()),
        b'N' => Err(EngineError::new("tls", "TLS is asked for, and the server has none")),
        b'E' => Err(EngineError::new("tls", "TLS is asked for, and the server answers an error")),
        _ => Err(EngineError::protocol("the server's answer is not PostgreSQL's")),
    }
}

fn start(channel: &mut Channel, opener: &Opener) -> Result<(), EngineError> {
    let target = &opener.target;
    let named = [
        ("user", target.user.as_str()),
        ("database", &target.database),
        ("application_name", "plimsoll"),
    ];
    let settings =
        target.session_settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let start = channel.out.len();
    channel.out.extend_from_slice(&[0; 4]);
    channel.out.extend_from_slice(&PROTOCOL_3_0.to_be_bytes());
    for (name, value) in named.into_iter().chain(settings) {
        if value.contains('\0') {
            return Err(EngineError::spec(format!("{name} has a character of code 0")));
        }
        frames::text(name.as_bytes(), &mut channel.out);
        frames::text(value.as_bytes(), &mut channel.out);
    }
    channel.out.push(0);
    frames::close(start, &mut channel.out);
    channel.send()
}

/// Answers what the server asks for, by the rules of [`Trust`](crate::session::trust::Trust), until it
/// accepts the login.
fn authenticate(channel: &mut Channel, opener: &Opener) -> Result<(), EngineError> {
    let target = &opener.target;
    let body = channel.expect(tag::AUTHENTICATION)?.to_vec();
    let (code, data) = body.split_first_chunk().ok_or_else(cut_short)?;
    match u32::from_be_bytes(*code) {
        method::OK => return Ok(()),
        method::SASL => scram::authenticate(channel, data, &target.password)?,
        method::CLEAR_TEXT => {
            opener.trust.require_verified()?;
            password(channel, &target.password)?;
        }
        method::MD5 => {
            if !target.allow_md5 {
                let message = "the server asks for an md5 login, which is broken: give the account \
                               a SCRAM-SHA-256 password, or set allow_md5";
                return Err(EngineError::new("auth", message));
            }
            let salt = *data.first_chunk().ok_or_else(cut_short)?;
            let hash = md5_hash(target.user.as_bytes(), target.password.as_bytes(), salt);
            password(channel, &hash)?;
        }
        other => {
            let message = format!("the login method of this account is not known here: {other}");
            return Err(EngineError::new("auth", message));
        }
    }
    let accepted = channel.expect(tag::AUTHENTICATION)?;
    if accepted == method::OK.to_be_bytes() {
        return Ok(());
    }
    Err(EngineError::new("auth", "the server asks for a second login"))
}

fn password(channel: &mut Channel, text: &str) -> Result<(), EngineError> {
    let start = frames::open(b'p', &mut channel.out);
    frames::text(text.as_bytes(), &mut channel.out);
    frames::close(start, &mut channel.out);
    channel.send()
}

fn cut_short() -> EngineError {
    EngineError::protocol("a request for a login that is cut short")
}
