//! Decides which secrets a server may be sent, for every family. Its Python half is
//! `plimsoll/databases/connecting.py`.
//!
//! A proof that the client knows the password may go to anybody. The password itself, in clear or
//! under a key that the server has named, goes where nobody else reads it:
//!
//! | connection | proofs | MySQL's SHA-2 logins, which ask for the password | plugins in clear text |
//! |---|---|---|---|
//! | without TLS | yes | no | no |
//! | TLS towards whoever answers (`require`) | yes | yes | no |
//! | TLS towards a verified server (`verify`) | yes | yes | yes |
//!
//! CQL knows no other login than user and password in clear: there, connecting without TLS says it.

use crate::error::EngineError;
use crate::spec::Tls;

/// How far a connection keeps what is said on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trust {
    /// Anybody on the way can read it.
    Open,
    /// Only whoever answers can read it.
    Encrypted,
    /// Only the server that the certificate names can read it.
    Verified,
}

impl Trust {
    pub fn of(tls: Option<&Tls>) -> Self {
        match tls {
            None => Trust::Open,
            Some(tls) if tls.verify => Trust::Verified,
            Some(_) => Trust::Encrypted,
        }
    }

    /// Fails unless a login that asks for the password may have it.
    pub fn require_encrypted(self) -> Result<(), EngineError> {
        self.require(Trust::Encrypted, "use TLS")
    }

    /// Fails unless a plugin that sends clear text may have the password.
    pub fn require_verified(self) -> Result<(), EngineError> {
        self.require(Trust::Verified, "use TLS that verifies the server")
    }

    fn require(self, least: Trust, remedy: &str) -> Result<(), EngineError> {
        if self >= least {
            return Ok(());
        }
        let message = format!("the server asks for the password itself: {remedy}");
        Err(EngineError::new("tls_required", message))
    }
}
