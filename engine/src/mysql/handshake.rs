//! The handshake; its packets and authentication plugins come from `mysql_common`.

use mysql_common::auth::plugins::{AuthProc, ChallengeResponsePlugin as _, Context, Response};
use mysql_common::constants::{CapabilityFlags as Flags, MariadbCapabilities as Extended};
use mysql_common::io::ParseBuf;
use mysql_common::packets::{
    AuthPlugin, AuthSwitchRequest, HandshakePacket, HandshakeResponse, SslRequest,
};
use mysql_common::proto::MySerialize;

use super::answer::Agreed;
use super::channel::{Channel, server_error};
use crate::error::EngineError;
use crate::session::connect::Opener;
use crate::session::tls;
use crate::session::trust::Trust;

const UTF8MB4_GENERAL_CI: u8 = 45;
const MAX_PACKET: u32 = 1 << 30;
/// More exchanges than any authentication plugin needs.
const ROUNDS: usize = 16;
/// `caching_sha2_password`: the server has not seen the password yet, and asks for it.
const PERFORM_FULL_AUTHENTICATION: u8 = 0x04;

/// Reads the server's greeting, encrypts where asked, authenticates. Returns what holds for result
/// sets from now on.
pub fn handshake(channel: &mut Channel, opener: &Opener) -> Result<Agreed, EngineError> {
    let Opener { target, tls, trust, .. } = opener;
    let greeting = channel.read_packet()?;
    if greeting.first() == Some(&0xff) {
        return Err(server_error(&greeting));
    }
    let server: HandshakePacket<'_> = ParseBuf(&greeting)
        .parse(())
        .map_err(|_| EngineError::protocol("the server's greeting is not MySQL's"))?;
    let capabilities = capabilities(server.capabilities(), tls.is_some())?;
    let extended = extended(&server);
    if let Some(config) = tls {
        let request = SslRequest::new(capabilities, MAX_PACKET, UTF8MB4_GENERAL_CI)
            .with_mariadb_capabilities(extended);
        channel.write_packet(&serialized(&request))?;
        channel.link.tls = Some(tls::client(config, &target.host)?);
    }
    let mut account =
        Account { password: target.password.as_bytes(), trust: *trust, scramble: server.nonce() };
    let plugin = server.auth_plugin().unwrap_or(AuthPlugin::MysqlNativePassword);
    // a server may propose a plugin that is not known here, and then switch to the account's own
    let plugin = match plugin {
        known @ (AuthPlugin::MysqlNativePassword | AuthPlugin::CachingSha2Password) => known,
        _ => AuthPlugin::MysqlNativePassword,
    };
    let mut procedure = plugin.init().map_err(unsupported)?;
    let first = account.answer(&mut procedure, None)?.unwrap_or_default();
    let response = HandshakeResponse::new(
        Some(first),
        (8, 0, 0),
        Some(target.user.as_bytes()),
        Some(target.database.as_bytes()),
        Some(plugin.borrow()),
        capabilities,
        None,
        MAX_PACKET,
    )
    .with_mariadb_ext_capabilities(extended);
    channel.write_packet(&serialized(&response))?;
    authenticate(channel, &mut account, &mut procedure)?;
    Ok(Agreed {
        deprecate_eof: capabilities.contains(Flags::CLIENT_DEPRECATE_EOF),
        cache_metadata: extended.contains(Extended::MARIADB_CLIENT_CACHE_METADATA),
    })
}

fn capabilities(server: Flags, encrypted: bool) -> Result<Flags, EngineError> {
    let needed = Flags::CLIENT_PROTOCOL_41 | Flags::CLIENT_SECURE_CONNECTION;
    if !server.contains(needed) {
        return Err(EngineError::protocol("the server is too old: it lacks the protocol of 4.1"));
    }
    if encrypted && !server.contains(Flags::CLIENT_SSL) {
        return Err(EngineError::new("tls", "TLS is asked for, and the server has none"));
    }
    let mut supported = needed
        | Flags::CLIENT_LONG_PASSWORD
        | Flags::CLIENT_LONG_FLAG
        // an update then counts the rows that it matches, not those alone that it changes
        | Flags::CLIENT_FOUND_ROWS
        | Flags::CLIENT_TRANSACTIONS
        | Flags::CLIENT_CONNECT_WITH_DB
        | Flags::CLIENT_MULTI_RESULTS
        | Flags::CLIENT_PS_MULTI_RESULTS
        | Flags::CLIENT_PLUGIN_AUTH
        | Flags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA
        | Flags::CLIENT_DEPRECATE_EOF;
    if encrypted {
        supported |= Flags::CLIENT_SSL;
    }
    Ok(supported & server | needed)
}

/// The capabilities of MariaDB beyond MySQL's that are used. MariaDB sends them in bytes that MySQL
/// leaves empty, and is recognized by lacking the first of MySQL's capabilities.
fn extended(server: &HandshakePacket<'_>) -> Extended {
    if server.capabilities().contains(Flags::CLIENT_LONG_PASSWORD) {
        return Extended::empty();
    }
    server.mariadb_ext_capabilities() & Extended::MARIADB_CLIENT_CACHE_METADATA
}

/// Answers the server's challenges until it accepts the login.
fn authenticate(
    channel: &mut Channel,
    account: &mut Account<'_>,
    procedure: &mut AuthProc,
) -> Result<(), EngineError> {
    for _ in 0..ROUNDS {
        let packet = channel.read_packet()?;
        let reply = match packet.first() {
            Some(0x00) => return Ok(()),
            Some(0xff) => return Err(server_error(&packet)),
            Some(0xfe) => {
                let (plugin, scramble) = switched(&packet)?;
                account.scramble = scramble;
                account.require_trust(&plugin)?;
                *procedure = plugin.init().map_err(unsupported)?;
                Some(account.answer(procedure, None)?.unwrap_or_default())
            }
            Some(0x01) => {
                if packet[1..] == [PERFORM_FULL_AUTHENTICATION] {
                    account.trust.require_encrypted()?;
                }
                account.answer(procedure, Some(&packet[1..]))?
            }
            _ => return Err(EngineError::protocol("an unknown packet while logging in")),
        };
        if let Some(reply) = reply {
            channel.write_packet(&reply)?;
        }
    }
    Err(EngineError::protocol("the server never ends the login"))
}

/// The plugin that the server asks for instead, and its challenge. `mysql_common` takes off the
/// zero that terminates the challenge, for the plugins whose challenge has one; of the others
/// every byte counts, since a random challenge may end in a zero.
fn switched(packet: &[u8]) -> Result<(AuthPlugin<'static>, Vec<u8>), EngineError> {
    let switch: AuthSwitchRequest<'_> = ParseBuf(packet)
        .parse(())
        .map_err(|_| EngineError::new("auth", "the server asks for an outdated login"))?;
    Ok((switch.auth_plugin().into_owned(), switch.plugin_data().to_vec()))
}

/// What an authentication plugin is given.
struct Account<'a> {
    password: &'a [u8],
    trust: Trust,
    scramble: Vec<u8>,
}

impl Account<'_> {
    /// Fails if the plugin would send the server more than this connection allows.
    fn require_trust(&self, plugin: &AuthPlugin<'_>) -> Result<(), EngineError> {
        match plugin {
            AuthPlugin::MysqlClearPassword => self.trust.require_verified(),
            AuthPlugin::Sha256Password => self.trust.require_encrypted(),
            AuthPlugin::MysqlOldPassword => {
                Err(EngineError::new("auth", "the server asks for an outdated login"))
            }
            _ => Ok(()),
        }
    }

    /// The plugin's answer to a challenge, or to the server's scramble if there is none.
    fn answer(
        &self,
        procedure: &mut AuthProc,
        challenge: Option<&[u8]>,
    ) -> Result<Option<Vec<u8>>, EngineError> {
        let challenge = challenge.unwrap_or(&self.scramble);
        let response = procedure
            .run(self, challenge)
            .map_err(|error| EngineError::new("auth", format!("the login fails: {error}")))?;
        Ok(match response {
            Response::Next { packet } | Response::Last { packet } => packet,
        })
    }
}

impl Context for &Account<'_> {
    fn pass(&self) -> &[u8] {
        self.password
    }
    fn is_ipc_transport(&self) -> bool {
        false
    }
    fn is_tls_transport(&self) -> bool {
        self.trust > Trust::Open
    }
    fn scramble(&self) -> &[u8] {
        &self.scramble
    }
    fn server_key_pem(&self) -> Option<&[u8]> {
        None
    }
}

fn unsupported(error: impl std::fmt::Display) -> EngineError {
    EngineError::new("auth", format!("the login method of this account: {error}"))
}

fn serialized(packet: &impl MySerialize) -> Vec<u8> {
    let mut bytes = Vec::new();
    packet.serialize(&mut bytes);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_loses_its_terminator_and_nothing_else() {
        let asked = |plugin: &str, challenge: &[u8]| {
            switched(&[b"\xfe", plugin.as_bytes(), b"\0", challenge].concat()).expect("a switch").1
        };
        let scramble = *b"abcdefghijklmnopqrst";
        for plugin in ["mysql_native_password", "caching_sha2_password", "sha256_password"] {
            assert_eq!(asked(plugin, &[&scramble[..], b"\0"].concat()), scramble, "{plugin}");
            assert_eq!(asked(plugin, &scramble), scramble, "{plugin}");
        }
        // 32 bytes without a terminator, any of them a zero: one login in 256 ends in one
        let mut random = [7; 32];
        random[31] = 0;
        assert_eq!(asked("client_ed25519", &random), random);
        assert!(switched(b"\xfe").is_err());
    }
}
