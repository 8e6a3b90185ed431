//! The artifact store: writes, reads, and the removal of expired artifacts.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use data_encoding::HEXLOWER;
use http::Method;
use tokio::task::JoinError;
use websvc_store::{ArtifactRecord, ReserveOutcome, Store};
use websvc_transport::spawn_blocking;

use crate::bucket::ContentInfo;
use crate::error::{ArtifactError, FindError};
use crate::file_name::FileName;
use crate::kind::ArtifactKind;
use crate::signed_url::{SignedUrl, UrlSigner};
use crate::storage::{ArtifactSource, Storage, StorageLocation};

/// The time after which an unfinished write is considered abandoned, because its process has ended.
const ABANDONED_AFTER: Duration = Duration::from_secs(600);
/// The interval of the removal of expired artifacts, which frees space. Expired URLs are rejected immediately.
const SWEEP_INTERVAL: Duration = Duration::from_secs(60);

/// The configuration of an artifact store.
#[derive(Debug, Clone)]
pub struct ArtifactsConfig {
    /// The location of the contents.
    pub location: StorageLocation,
    /// The maximum total size of the contents. The oldest are evicted first.
    pub max_bytes: u64,
    /// The maximum lifetime of an artifact.
    pub max_age: Duration,
}

impl ArtifactsConfig {
    /// Returns the defaults with a directory: 1 GiB, 24 hours (the lifetime of screenshots, spec section 8).
    #[must_use]
    pub fn in_directory(path: impl Into<std::path::PathBuf>) -> Self {
        Self {
            location: StorageLocation::Directory(path.into()),
            max_bytes: 1 << 30,
            max_age: Duration::from_secs(24 * 3600),
        }
    }
}

/// The permission of a request to store artifacts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retention {
    /// Artifacts are stored.
    Stored,
    /// Nothing is stored: zero data retention or lockdown. Every [`TeamArtifacts::put`] fails.
    Nothing,
}

/// The artifact store. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Artifacts(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    store: Store,
    signer: UrlSigner,
    storage: Storage,
    max_bytes: u64,
    max_age: Duration,
    /// True if the last file could not be written.
    is_failing: AtomicBool,
}

/// The artifact store for the requests of a team. Cheap to clone.
#[derive(Debug, Clone)]
pub struct TeamArtifacts {
    artifacts: Artifacts,
    team: Arc<str>,
    retention: Retention,
}

/// A stored artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// The ID: 32 hex digits.
    pub id: String,
    /// The expiry, in seconds since the Unix epoch.
    pub expires_at_s: u64,
    /// The path and query of the signed URL.
    path: String,
}

impl Artifact {
    /// Returns the signed URL below `base`, such as `https://websvc.test`, with or without a trailing slash.
    #[must_use]
    pub fn url(&self, base: &str) -> String {
        format!("{}{}", base.trim_end_matches('/'), self.path)
    }
}

impl fmt::Display for Artifact {
    /// Writes only the ID. The path is a permission to read the artifact, and must not be logged.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.id)
    }
}

impl Artifacts {
    /// Opens the store. Blocks for a read of the database. Creates no file, and sends no request.
    ///
    /// # Errors
    /// [`ArtifactError::Store`] if the signing secret cannot be read, [`ArtifactError::Bucket`] if the configuration of the
    /// bucket is invalid.
    pub fn open(store: Store, config: ArtifactsConfig) -> Result<Self, ArtifactError> {
        let ArtifactsConfig { location, max_bytes, max_age } = config;
        let signer = UrlSigner::new(&store.artifact_secret()?);
        let (storage, is_failing) = (Storage::open(location)?, AtomicBool::new(false));
        Ok(Self(Arc::new(Shared { store, signer, storage, max_bytes, max_age, is_failing })))
    }

    /// Returns whether the last write succeeded; true before the first write. Does not access the directory or bucket.
    #[must_use]
    pub fn may_store(&self) -> bool {
        !self.0.is_failing.load(Ordering::Relaxed)
    }

    /// Returns the store for a request of `team`.
    #[must_use]
    pub fn for_team(&self, team: &str, retention: Retention) -> TeamArtifacts {
        TeamArtifacts { artifacts: self.clone(), team: team.into(), retention }
    }

    /// Returns the artifact of a signed URL.
    ///
    /// The URL is sufficient for a request without an API key. `team` is the team of the key, if there is one; then the
    /// artifact must belong to this team.
    ///
    /// # Errors
    /// [`FindError::NotFound`], [`FindError::Gone`]; [`FindError::Failed`] if the artifact cannot be read.
    pub async fn get(
        &self,
        url: &SignedUrl,
        method: &Method,
        team: Option<&str>,
    ) -> Result<ArtifactSource, FindError> {
        if !self.0.signer.verify(url) {
            return Err(FindError::NotFound);
        }
        let remaining_s = url.expires_s.saturating_sub(self.0.store.now_ms() / 1000);
        let (shared, id) = (Arc::clone(&self.0), url.id.clone());
        let record = blocking(move || Ok(shared.store.artifact(&id)?)).await?;
        if let (Some(record), Some(team)) = (&record, team)
            && record.team != team
        {
            return Err(FindError::NotFound);
        }
        let Some(record) = record.filter(|_| remaining_s > 0) else { return Err(FindError::Gone) };
        let info = ContentInfo { id: &url.id, kind: url.kind, bytes: record.bytes, name: url.name.as_ref() };
        self.0.storage.find(&info, method, remaining_s).await?.ok_or(FindError::Gone)
    }

    /// Removes expired artifacts and abandoned writes, and returns their number.
    ///
    /// # Errors
    /// [`ArtifactError::Store`]. A content that cannot be removed is logged and retried by the next sweep.
    pub async fn sweep(&self) -> Result<u64, ArtifactError> {
        let mut removed = 0;
        loop {
            let shared = Arc::clone(&self.0);
            let now_ms = shared.store.now_ms();
            let abandoned_ms = now_ms.saturating_sub(millis(ABANDONED_AFTER));
            let expired =
                blocking(move || Ok(shared.store.take_expired_artifacts(now_ms, abandoned_ms)?)).await?;
            let count = self.remove(expired).await?;
            removed += count;
            // Nothing has expired, or none of it can be removed now.
            if count == 0 {
                return Ok(removed);
            }
        }
    }

    /// Sweeps once a minute and never returns. Cancel safe.
    pub async fn sweep_periodically(&self) -> std::convert::Infallible {
        let mut interval = tokio::time::interval(SWEEP_INTERVAL);
        loop {
            interval.tick().await;
            match self.sweep().await {
                Ok(0) => {}
                Ok(removed) => tracing::debug!(removed, "expired artifacts were removed"),
                Err(error) => {
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "expired artifacts cannot be removed"
                    );
                }
            }
        }
    }

    /// Removes contents and their records, and returns the number of removed artifacts.
    async fn remove(&self, records: Vec<ArtifactRecord>) -> Result<u64, ArtifactError> {
        let mut removed = 0;
        for record in records {
            let ArtifactRecord { id, kind, .. } = record;
            // A kind that this version does not know is left to the version that has written it.
            let Some(kind) = ArtifactKind::from_extension(&kind) else { continue };
            match self.0.remove_content(&id, kind).await {
                Ok(()) => {
                    let shared = Arc::clone(&self.0);
                    blocking(move || Ok(shared.store.remove_artifact(&id)?)).await?;
                    removed += 1;
                }
                Err(error) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(error, id, "the content of an artifact cannot be removed");
                }
            }
        }
        Ok(removed)
    }
}

impl TeamArtifacts {
    /// Returns whether artifacts are stored, so that callers can avoid creating them.
    #[must_use]
    pub fn retention(&self) -> Retention {
        self.retention
    }

    /// Returns the same file under another name, which only its URL contains.
    #[must_use]
    pub fn named(&self, artifact: &Artifact, name: &FileName) -> Artifact {
        let Artifact { id, expires_at_s, path: _ } = artifact.clone();
        let path = self.artifacts.0.signer.path(&id, ArtifactKind::File, expires_at_s, Some(name));
        Artifact { id, expires_at_s, path }
    }

    /// Stores an artifact for `ttl`, limited by the configuration. Evicts the oldest artifacts if there is not enough
    /// space.
    ///
    /// # Errors
    /// [`ArtifactError`]. Then nothing is stored.
    pub async fn put(
        &self,
        kind: ArtifactKind,
        content: Bytes,
        ttl: Duration,
    ) -> Result<Artifact, ArtifactError> {
        match self.retention {
            Retention::Stored => {}
            Retention::Nothing => return Err(ArtifactError::NothingStored),
        }
        let shared = &self.artifacts.0;
        let now_ms = shared.store.now_ms();
        let expires_at_s = now_ms.saturating_add(millis(ttl.min(shared.max_age))).div_ceil(1000);
        let record = ArtifactRecord {
            id: new_id()?,
            team: self.team.to_string(),
            kind: kind.extension().to_owned(),
            bytes: content.len() as u64,
            created_at_ms: now_ms,
            expires_at_ms: expires_at_s.saturating_mul(1000),
        };
        let id = record.id.clone();
        let evicted = shared.reserve(record).await?;
        if !evicted.is_empty() {
            tracing::info!(
                count = evicted.len(),
                "evicted artifacts that have not expired, to free space for a newer one"
            );
            // Those that cannot be removed now are removed by a later sweep.
            if let Err(error) = self.artifacts.remove(evicted).await {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "evicted artifacts cannot be removed"
                );
            }
        }
        let result = shared.write(&id, kind, content).await;
        shared.is_failing.store(result.is_err(), Ordering::Relaxed);
        result?;
        let path = shared.signer.path(&id, kind, expires_at_s, None);
        Ok(Artifact { id, expires_at_s, path })
    }
}

/// Tests a location: writes a small file and removes it.
///
/// # Errors
/// [`ArtifactError`] if the file cannot be written or removed.
pub async fn probe(location: StorageLocation) -> Result<(), ArtifactError> {
    let id = new_id()?;
    let content = Bytes::from_static(b"websvc doctor");
    match Storage::open(location)? {
        Storage::Directory(directory) => {
            blocking(move || {
                directory.write(&id, ArtifactKind::Pdf, &content)?;
                directory.remove(&id, ArtifactKind::Pdf)
            })
            .await
        }
        Storage::Bucket(bucket) => {
            bucket.write(&id, ArtifactKind::Pdf, content).await?;
            bucket.remove(&id, ArtifactKind::Pdf).await
        }
    }
}

impl Shared {
    async fn reserve(self: &Arc<Self>, record: ArtifactRecord) -> Result<Vec<ArtifactRecord>, ArtifactError> {
        let shared = Arc::clone(self);
        blocking(move || match shared.store.reserve_artifact(&record, shared.max_bytes)? {
            ReserveOutcome::Reserved { evicted } => Ok(evicted),
            ReserveOutcome::NoSpace { reserved_bytes: _ } => {
                Err(ArtifactError::NoSpace { bytes: record.bytes, max_bytes: shared.max_bytes })
            }
        })
        .await
    }

    /// Writes a content with a reservation, and publishes it. A failure removes the reservation.
    async fn write(
        self: &Arc<Self>,
        id: &str,
        kind: ArtifactKind,
        content: Bytes,
    ) -> Result<(), ArtifactError> {
        let bytes = content.len() as u64;
        let (shared, name) = (Arc::clone(self), id.to_owned());
        match &self.storage {
            Storage::Directory(directory) => {
                // In one blocking task, which is not cancelled when the caller drops the future.
                let directory = directory.clone();
                blocking(move || {
                    let written = directory.write(&name, kind, &content);
                    let published = written.and_then(|()| shared.publish(&name, bytes));
                    published.inspect_err(|_| {
                        let removed = directory.remove(&name, kind);
                        shared.release(&name, removed);
                    })
                })
                .await
            }
            Storage::Bucket(bucket) => {
                let written = bucket.write(id, kind, content).await;
                let error = match written {
                    Ok(()) => match blocking(move || shared.publish(&name, bytes)).await {
                        Ok(()) => return Ok(()),
                        Err(error) => error,
                    },
                    Err(error) => error,
                };
                let removed = bucket.remove(id, kind).await;
                let (shared, name) = (Arc::clone(self), id.to_owned());
                blocking(move || {
                    shared.release(&name, removed);
                    Ok(())
                })
                .await?;
                Err(error)
            }
        }
    }

    /// Makes a written artifact readable. Fails if its reservation was removed as abandoned.
    fn publish(&self, id: &str, bytes: u64) -> Result<(), ArtifactError> {
        if self.store.publish_artifact(id)? { Ok(()) } else { Err(ArtifactError::TooSlow { bytes }) }
    }

    /// Removes the record of an artifact that could not be written. If its content could not be removed, the record stays
    /// for a later sweep.
    fn release(&self, id: &str, removed: Result<(), ArtifactError>) {
        let result = removed.and_then(|()| Ok(self.store.remove_artifact(id)?));
        if let Err(error) = result {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                id,
                "an incomplete artifact cannot be removed now"
            );
        }
    }

    async fn remove_content(&self, id: &str, kind: ArtifactKind) -> Result<(), ArtifactError> {
        match &self.storage {
            Storage::Directory(directory) => {
                let (directory, id) = (directory.clone(), id.to_owned());
                blocking(move || directory.remove(&id, kind)).await
            }
            Storage::Bucket(bucket) => bucket.remove(id, kind).await,
        }
    }
}

fn new_id() -> Result<String, ArtifactError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(ArtifactError::Random)?;
    Ok(HEXLOWER.encode(&bytes))
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ArtifactError> + Send + 'static,
) -> Result<T, ArtifactError> {
    spawn_blocking(work).await.map_err(|_: JoinError| ArtifactError::Stopping)?
}
