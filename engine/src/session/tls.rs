//! TLS towards the target, by rustls.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore, SignatureScheme,
};

use crate::error::EngineError;
use crate::spec::Tls;

/// The configuration that all connections of a load share.
pub fn configure(tls: &Tls) -> Result<Arc<ClientConfig>, EngineError> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| EngineError::new("tls", format!("TLS: {error}")))?;
    let config = if tls.verify {
        builder.with_root_certificates(roots(tls.ca_pem.as_deref())?).with_no_client_auth()
    } else {
        let verifier = Arc::new(Unverified(provider));
        builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()
    };
    Ok(Arc::new(config))
}

/// One connection's TLS, towards a server of this name.
pub fn client(
    config: &Arc<ClientConfig>,
    host: &str,
) -> Result<Box<ClientConnection>, EngineError> {
    let name = ServerName::try_from(host.to_owned())
        .map_err(|_| EngineError::new("tls", format!("TLS: {host:?} is no server name")))?;
    let client = ClientConnection::new(config.clone(), name)
        .map_err(|error| EngineError::new("tls", format!("TLS: {error}")))?;
    Ok(Box::new(client))
}

/// The authorities to trust: those of `ca_pem`, or the system's.
fn roots(ca_pem: Option<&str>) -> Result<RootCertStore, EngineError> {
    let mut store = RootCertStore::empty();
    let Some(pem) = ca_pem else {
        store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if store.is_empty() {
            let message =
                "TLS: the system has no certificate roots; give the authority's certificate";
            return Err(EngineError::new("tls", message));
        }
        return Ok(store);
    };
    for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
        let certificate = certificate
            .map_err(|error| EngineError::new("tls", format!("TLS: ca_pem: {error}")))?;
        store
            .add(certificate)
            .map_err(|error| EngineError::new("tls", format!("TLS: ca_pem: {error}")))?;
    }
    if store.is_empty() {
        return Err(EngineError::new("tls", "TLS: ca_pem holds no certificate"));
    }
    Ok(store)
}

/// Accepts any certificate (`verify: false`): the link is encrypted, but the server may be another.
#[derive(Debug)]
struct Unverified(Arc<CryptoProvider>);

impl ServerCertVerifier for Unverified {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
