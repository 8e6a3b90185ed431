//! The server's certificate, reloaded when its files change.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use parking_lot::Mutex;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use super::provider;
use crate::error::ServerError;
use crate::server::TlsFiles;

/// Minimum time between two checks of the files.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// An acceptor whose certificate is reloaded when its files change.
pub(crate) struct ReloadingAcceptor {
    files: TlsFiles,
    state: Mutex<State>,
}

struct State {
    acceptor: TlsAcceptor,
    seen: FileStamp,
    checked_at: Instant,
}

/// Modification times and sizes that identify one version of the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileStamp([Option<(SystemTime, u64)>; 2]);

impl FileStamp {
    fn from_files(files: &TlsFiles) -> Self {
        let stamp = |path: &Path| {
            let metadata = std::fs::metadata(path).ok()?;
            Some((metadata.modified().ok()?, metadata.len()))
        };
        Self([stamp(&files.cert), stamp(&files.key)])
    }
}

impl ReloadingAcceptor {
    /// Reads the files.
    pub(crate) fn load(files: TlsFiles) -> Result<Self, ServerError> {
        let seen = FileStamp::from_files(&files);
        let acceptor = read(&files)?;
        let state = Mutex::new(State { acceptor, seen, checked_at: Instant::now() });
        Ok(Self { files, state })
    }

    /// Returns the acceptor for the current files, or for their last valid version.
    pub(crate) async fn current(self: &Arc<Self>) -> TlsAcceptor {
        let (acceptor, is_due) = {
            let mut state = self.state.lock();
            let is_due = state.checked_at.elapsed() >= CHECK_INTERVAL;
            if is_due {
                // Set before the check, so that only one of many concurrent handshakes checks the files.
                state.checked_at = Instant::now();
            }
            (state.acceptor.clone(), is_due)
        };
        if !is_due {
            return acceptor;
        }
        let this = Arc::clone(self);
        tokio::task::spawn_blocking(move || this.check()).await.unwrap_or(acceptor)
    }

    fn check(&self) -> TlsAcceptor {
        let stamp = FileStamp::from_files(&self.files);
        if self.state.lock().seen == stamp {
            return self.state.lock().acceptor.clone();
        }
        let result = read(&self.files);
        let mut state = self.state.lock();
        state.seen = stamp;
        match result {
            Ok(acceptor) => {
                tracing::info!(cert = %self.files.cert.display(), "reloaded TLS certificate");
                state.acceptor = acceptor;
            }
            Err(error) => {
                let cause = std::error::Error::source(&error).map(ToString::to_string);
                tracing::warn!(%error, cause, "could not reload the TLS certificate; the old one stays in use");
            }
        }
        state.acceptor.clone()
    }
}

impl fmt::Debug for ReloadingAcceptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReloadingAcceptor").field("files", &self.files).finish_non_exhaustive()
    }
}

pub(super) fn read(files: &TlsFiles) -> Result<TlsAcceptor, ServerError> {
    build(files).map_err(|source| ServerError::Tls {
        cert: files.cert.clone(),
        key: files.key.clone(),
        source,
    })
}

fn build(files: &TlsFiles) -> Result<TlsAcceptor, Box<dyn std::error::Error + Send + Sync>> {
    let chain = CertificateDer::pem_file_iter(&files.cert)?.collect::<Result<Vec<_>, _>>()?;
    let key = PrivateKeyDer::from_pem_file(&files.key)?;
    let mut config = ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
