//! SCRAM-SHA-256, bound to the TLS connection where that can be.
//!
//! The exchange is the crate `postgres-protocol`'s, which refuses more than 100,000 iterations. The
//! binding is `tls-server-end-point` (RFC 5929): a digest of the server's certificate, so that
//! nobody in between can pass the proof on.

use postgres_protocol::authentication::sasl::{
    ChannelBinding, SCRAM_SHA_256, SCRAM_SHA_256_PLUS, ScramSha256,
};
use ring::digest::{Algorithm, SHA256, SHA384, SHA512, digest};

use super::channel::Channel;
use super::frames;
use crate::error::EngineError;
use crate::session::link::Link;

const CONTINUE: u32 = 11;
const FINAL: u32 = 12;

/// Proves that the client knows the password, and has the server prove it too. `mechanisms`: what
/// the server offers, each with a zero after it.
pub fn authenticate(
    channel: &mut Channel,
    mechanisms: &[u8],
    password: &str,
) -> Result<(), EngineError> {
    let offers = |name: &str| mechanisms.split(|&byte| byte == 0).any(|one| one == name.as_bytes());
    let bound = end_point(&channel.link);
    let (mechanism, binding) = match bound {
        Some(digest) if offers(SCRAM_SHA_256_PLUS) => {
            (SCRAM_SHA_256_PLUS, ChannelBinding::tls_server_end_point(digest))
        }
        // the server learns that the client could have bound it: one that had offered it refuses
        Some(_) => (SCRAM_SHA_256, ChannelBinding::unrequested()),
        None => (SCRAM_SHA_256, ChannelBinding::unsupported()),
    };
    if !offers(mechanism) {
        return Err(EngineError::new("auth", "the server offers no login by SCRAM-SHA-256"));
    }
    let mut scram = ScramSha256::new(password.as_bytes(), binding);
    let start = frames::open(b'p', &mut channel.out);
    frames::text(mechanism.as_bytes(), &mut channel.out);
    channel.out.extend_from_slice(&(scram.message().len() as u32).to_be_bytes());
    channel.out.extend_from_slice(scram.message());
    frames::close(start, &mut channel.out);
    channel.send()?;
    let fails = |error| EngineError::new("auth", format!("the login by SCRAM fails: {error}"));
    scram.update(expect(channel, CONTINUE)?).map_err(fails)?;
    let start = frames::open(b'p', &mut channel.out);
    channel.out.extend_from_slice(scram.message());
    frames::close(start, &mut channel.out);
    channel.send()?;
    scram.finish(expect(channel, FINAL)?).map_err(fails)
}

/// The next step of the exchange, which has to be this one.
fn expect(channel: &mut Channel, step: u32) -> Result<&[u8], EngineError> {
    let body = channel.expect(frames::tag::AUTHENTICATION)?;
    match body.split_first_chunk() {
        Some((code, data)) if u32::from_be_bytes(*code) == step => Ok(data),
        _ => Err(EngineError::new("auth", "the server breaks the login by SCRAM off")),
    }
}

/// The digest of the server's certificate. None without TLS, or if the certificate's signature names
/// no digest (Ed25519's, for example).
fn end_point(link: &Link) -> Option<Vec<u8>> {
    let certificate = link.tls.as_ref()?.peer_certificates()?.first()?;
    let algorithm = signature_digest(certificate)?;
    Some(digest(algorithm, certificate).as_ref().to_vec())
}

/// The digest that a certificate's signature is made with; SHA-256 where that is MD5 or SHA-1.
fn signature_digest(certificate: &[u8]) -> Option<&'static Algorithm> {
    let (_, fields, _) = der(certificate)?;
    let (_, _, rest) = der(fields)?; // what is signed
    let (_, algorithm, _) = der(rest)?;
    let (0x06, identifier, parameters) = der(algorithm)? else { return None };
    match identifier {
        RSA_PSS => digest_of(pss_digest(parameters)),
        [rsa @ .., last] if rsa == RSA => match last {
            4 | 5 | 11 => Some(&SHA256),
            12 => Some(&SHA384),
            13 => Some(&SHA512),
            _ => None,
        },
        [ecdsa @ .., last] if ecdsa == ECDSA_SHA2 => match last {
            2 => Some(&SHA256),
            3 => Some(&SHA384),
            4 => Some(&SHA512),
            _ => None,
        },
        _ => None,
    }
}

/// 1.2.840.113549.1.1: with MD5 4, SHA-1 5, SHA-256 11, SHA-384 12, SHA-512 13, PSS 10 (RFC 8017).
const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1];
const RSA_PSS: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 10];
/// 1.2.840.10045.4.3: with SHA-256 2, SHA-384 3, SHA-512 4 (RFC 5758).
const ECDSA_SHA2: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3];
/// 2.16.840.1.101.3.4.2: SHA-256 1, SHA-384 2, SHA-512 3 (RFC 5754).
const SHA2: &[u8] = &[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2];

/// The identifier of the digest in the parameters of an RSA-PSS signature.
fn pss_digest(parameters: &[u8]) -> Option<&[u8]> {
    let (0x30, parameters, _) = der(parameters)? else { return None };
    let (0xa0, hash, _) = der(parameters)? else { return None };
    let (0x30, hash, _) = der(hash)? else { return None };
    let (0x06, identifier, _) = der(hash)? else { return None };
    Some(identifier)
}

fn digest_of(identifier: Option<&[u8]>) -> Option<&'static Algorithm> {
    match identifier?.strip_prefix(SHA2)? {
        [1] => Some(&SHA256),
        [2] => Some(&SHA384),
        [3] => Some(&SHA512),
        _ => None,
    }
}

/// The element of DER at the start: its tag, what it holds, and what follows it.
fn der(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&[tag, first], mut rest) = bytes.split_first_chunk()?;
    let mut length = usize::from(first);
    if first & 0x80 != 0 {
        let (size, after) = rest.split_at_checked(usize::from(first & 0x7f))?;
        if size.len() > 4 {
            return None;
        }
        length = size.iter().fold(0, |length, byte| length << 8 | usize::from(*byte));
        rest = after;
    }
    let (held, after) = rest.split_at_checked(length)?;
    Some((tag, held, after))
}
