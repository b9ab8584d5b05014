//! Trusted certificates. The cryptography provider is passed explicitly and not installed for the process: that is not
//! the decision of a library.

use std::sync::{Arc, OnceLock};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme};
use rustls_platform_verifier::Verifier;

use crate::error::FetchError;
use crate::manners::Trust;

/// Returns the TLS configuration.
pub(crate) fn config(trust: &Trust) -> Result<ClientConfig, FetchError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier: Arc<dyn ServerCertVerifier> = match trust {
        Trust::System => Arc::new(WhenNeeded { verifier: OnceLock::new(), provider: Arc::clone(&provider) }),
        Trust::Also(path) => {
            let what = || format!("failed to read the certificates in {}", path.display());
            let certificates: Vec<_> = CertificateDer::pem_file_iter(path)
                .and_then(Iterator::collect)
                .map_err(|error| FetchError::Setup { what: what(), source: Some(error.into()) })?;
            if certificates.is_empty() {
                return Err(FetchError::Setup { what: format!("{}: the file contains none", what()), source: None });
            }
            let verifier = Verifier::new_with_extra_roots(certificates.clone(), Arc::clone(&provider))
                .map_err(|error| FetchError::Setup { what: what(), source: Some(error.into()) })?;
            Arc::new(Known { certificates, verifier })
        }
        Trust::Anyone => {
            tracing::warn!("TLS certificates are not verified; connections can be intercepted");
            Arc::new(Credulous { provider: Arc::clone(&provider) })
        }
    };
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| FetchError::Setup { what: "TLS".to_owned(), source: Some(error.into()) })?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// The system's certificates, read when the first certificate is to be verified: reading takes longer than many a
/// request, and plain HTTP needs none. A small container may have none at all; plain HTTP works there, too.
#[derive(Debug)]
struct WhenNeeded {
    verifier: OnceLock<Result<Verifier, rustls::Error>>,
    provider: Arc<CryptoProvider>,
}

impl WhenNeeded {
    fn verifier(&self) -> Result<&Verifier, rustls::Error> {
        self.verifier.get_or_init(|| Verifier::new(Arc::clone(&self.provider))).as_ref().map_err(Clone::clone)
    }
}

impl ServerCertVerifier for WhenNeeded {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        self.verifier()?.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.verifier()?.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.verifier()?.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// The system's certificates and those of a file. A server that presents a certificate of the file as its own is
/// accepted: most self-signed certificates are authorities, which the verifier rejects as those of servers. The
/// handshake still proves that the server has the key.
#[derive(Debug)]
struct Known {
    certificates: Vec<CertificateDer<'static>>,
    verifier: Verifier,
}

impl ServerCertVerifier for Known {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if self.certificates.iter().any(|known| known == end_entity) {
            rustls::client::verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
            return Ok(ServerCertVerified::assertion());
        }
        self.verifier.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.verifier.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.verifier.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.verifier.supported_verify_schemes()
    }
}

/// A verifier that accepts every certificate.
#[derive(Debug)]
struct Credulous {
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Credulous {
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
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        // Without a verified certificate, the signature proves nothing.
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
