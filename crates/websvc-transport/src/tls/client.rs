//! Trust anchors of the client, and the configurations with and without verification.

use std::io;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio::sync::OnceCell;

use super::provider;
use crate::error::ClientBuildError;

/// The trust anchors: those of a file, and the system's, which are read at the first TLS connection.
#[derive(Debug, Default)]
pub(crate) struct TrustStore {
    extra: Vec<CertificateDer<'static>>,
    ready: OnceCell<Ready>,
}

#[derive(Debug)]
struct Ready {
    roots: Arc<RootCertStore>,
    verifying: Arc<ClientConfig>,
}

/// Reason why a certificate is not valid, set during the handshake of a connection without verification.
pub(crate) type CertificateProblem = Arc<OnceLock<String>>;

impl TrustStore {
    /// Reads the additional trust anchors.
    pub(crate) fn load(ca_file: Option<&Path>) -> Result<Self, ClientBuildError> {
        let Some(path) = ca_file else { return Ok(Self::default()) };
        let failed = |source| ClientBuildError::CaFile { path: path.to_owned(), source };
        let extra = CertificateDer::pem_file_iter(path)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| failed(error.into()))?;
        // `add` refuses a certificate that cannot be a trust anchor: better now than at the first connection.
        let mut store = RootCertStore::empty();
        for certificate in &extra {
            store.add(certificate.clone()).map_err(|error| failed(error.into()))?;
        }
        if store.is_empty() {
            return Err(failed("it holds no certificate".into()));
        }
        Ok(Self { extra, ready: OnceCell::new() })
    }

    /// Returns a configuration that verifies certificates.
    pub(crate) async fn verified_config(&self) -> io::Result<Arc<ClientConfig>> {
        Ok(Arc::clone(&self.ready().await?.verifying))
    }

    /// Returns a configuration that verifies certificates and offers only HTTP/1.1.
    pub(crate) async fn for_http1(&self) -> io::Result<Arc<ClientConfig>> {
        self.for_protocols(vec![b"http/1.1".to_vec()]).await
    }

    /// Returns a configuration that verifies certificates and offers no protocol, for servers that do not speak HTTP.
    pub(crate) async fn config_without_alpn(&self) -> io::Result<Arc<ClientConfig>> {
        self.for_protocols(Vec::new()).await
    }

    async fn for_protocols(&self, protocols: Vec<Vec<u8>>) -> io::Result<Arc<ClientConfig>> {
        let mut config = ClientConfig::clone(&self.ready().await?.verifying);
        config.alpn_protocols = protocols;
        Ok(Arc::new(config))
    }

    /// Returns a configuration for one connection that accepts any certificate, and the cell for the problem of the
    /// certificate.
    pub(crate) async fn insecure_config(&self) -> io::Result<(Arc<ClientConfig>, CertificateProblem)> {
        let ready = self.ready().await?;
        let problem = CertificateProblem::default();
        let roots = Arc::clone(&ready.roots);
        // There is no verifier without trust anchors. Then no certificate can be verified.
        let verifier = WebPkiServerVerifier::builder_with_provider(roots, provider()).build().ok();
        let accept_any = AcceptAnyVerifier { verifier, problem: Arc::clone(&problem) };
        let mut config = ClientConfig::clone(&ready.verifying);
        config.dangerous().set_certificate_verifier(Arc::new(accept_any));
        // A resumed session has no certificate, so its problem could not be reported.
        config.resumption = Resumption::disabled();
        Ok((Arc::new(config), problem))
    }

    async fn ready(&self) -> io::Result<&Ready> {
        self.ready.get_or_try_init(|| self.read_system()).await
    }

    async fn read_system(&self) -> io::Result<Ready> {
        let loaded = tokio::task::spawn_blocking(rustls_native_certs::load_native_certs).await?;
        for error in &loaded.errors {
            tracing::warn!(%error, "cannot read some of the system's trust anchors");
        }
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(loaded.certs);
        roots.add_parsable_certificates(self.extra.iter().cloned());
        if roots.is_empty() {
            tracing::warn!("no trust anchors found: every https fetch will fail verification");
        }
        let roots = Arc::new(roots);
        let mut config = ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_root_certificates(Arc::clone(&roots))
            .with_no_client_auth();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Ready { roots, verifying: Arc::new(config) })
    }
}

/// A verifier that accepts every certificate and records why it is not valid.
#[derive(Debug)]
struct AcceptAnyVerifier {
    verifier: Option<Arc<WebPkiServerVerifier>>,
    problem: CertificateProblem,
}

impl ServerCertVerifier for AcceptAnyVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let verdict = match &self.verifier {
            Some(verifier) => {
                verifier.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
            }
            None => Err(CertificateError::UnknownIssuer.into()),
        };
        if let Err(error) = verdict {
            // There is one verification per connection, so the cell is not set yet.
            let _ = self.problem.set(reason(&error));
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls12_signature(
            message,
            cert,
            dss,
            &provider().signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(
            message,
            cert,
            dss,
            &provider().signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        provider().signature_verification_algorithms.supported_schemes()
    }
}

/// Returns the reason why a handshake failed, in words that callers may see.
pub(crate) fn public_reason(error: &io::Error) -> String {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(error) => reason(error),
        None => "the connection ended during the handshake".to_owned(),
    }
}

fn reason(error: &rustls::Error) -> String {
    let text = match error {
        rustls::Error::InvalidCertificate(error) => match error {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                "the certificate has expired"
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                "the certificate is not valid yet"
            }
            CertificateError::UnknownIssuer => "the certificate's issuer is not trusted",
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                "the certificate is for another host"
            }
            CertificateError::Revoked => "the certificate was revoked",
            _ => "the certificate is not valid",
        },
        rustls::Error::AlertReceived(_) => "the server refused the handshake",
        rustls::Error::InvalidMessage(_) => "the server does not speak TLS",
        _ => "the TLS handshake failed",
    };
    text.to_owned()
}
