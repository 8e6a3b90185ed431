//! The handle: who may store what for how long, what is found again, and what leaves.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http::Method;
use tokio::task::JoinError;
use websvc_store::{ArtifactRecord, ReserveOutcome, Store};

use crate::error::{ArtifactError, FindError};
use crate::kind::ArtifactKind;
use crate::signed_url::{SignedUrl, UrlSigner, hex};
use crate::storage::{ArtifactSource, ContentInfo, Storage, StorageLocation};

/// A content whose writing began so long ago and never ended was given up by a process that is gone.
const ABANDONED: Duration = Duration::from_secs(600);
/// How often expired artifacts are looked for: their URLs are refused from the second on, this is about room.
const SWEEP_INTERVAL: Duration = Duration::from_secs(60);

/// Configuration of an artifact store.
#[derive(Debug, Clone)]
pub struct ArtifactsConfig {
    /// Location of the contents.
    pub place: StorageLocation,
    /// The most bytes of all contents together; the oldest leave first.
    pub max_bytes: u64,
    /// No artifact lives longer, whatever its kind.
    pub max_age: Duration,
}

impl ArtifactsConfig {
    /// Returns the defaults with a directory: 1 GiB, 24 hours (the life of screenshots, spec section 8).
    #[must_use]
    pub fn in_directory(path: impl Into<std::path::PathBuf>) -> Self {
        Self {
            place: StorageLocation::Directory(path.into()),
            max_bytes: 1 << 30,
            max_age: Duration::from_secs(24 * 3600),
        }
    }
}

/// Retention of the artifacts of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retention {
    /// It may.
    Stored,
    /// It may not: zero data retention, or lockdown. Every [`TeamArtifacts::put`] fails.
    Nothing,
}

/// The artifacts of an installation. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Artifacts(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    store: Store,
    signer: UrlSigner,
    place: Storage,
    max_bytes: u64,
    max_age: Duration,
    /// The last file could not be written.
    is_failing: AtomicBool,
}

/// The right of one request to store artifacts for its team. Cheap to clone.
#[derive(Debug, Clone)]
pub struct TeamArtifacts {
    artifacts: Artifacts,
    team: Arc<str>,
    retention: Retention,
}

/// An artifact that was stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// Its name: 32 hex digits.
    pub id: String,
    /// When it stops to be readable, in seconds since the Unix epoch.
    pub expires_at_s: u64,
    path: String,
}

impl Artifact {
    /// Returns its URL below `base`, such as `https://websvc.test` (with or without a slash at the end).
    #[must_use]
    pub fn url(&self, base: &str) -> String {
        format!("{}{}", base.trim_end_matches('/'), self.path)
    }
}

impl fmt::Display for Artifact {
    /// Writes the name alone: the path is a permission and has no place in a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.id)
    }
}

impl Artifacts {
    /// Opens the shelf. Blocks for a read of the database; no file is touched before there is an artifact.
    ///
    /// # Errors
    /// [`ArtifactError::Store`] when the secret cannot be had, [`ArtifactError::Bucket`] when the settings of the
    /// bucket are wrong.
    pub fn open(store: Store, config: ArtifactsConfig) -> Result<Self, ArtifactError> {
        let ArtifactsConfig { place, max_bytes, max_age } = config;
        let signer = UrlSigner::new(&store.artifact_secret()?);
        let (place, is_failing) = (Storage::open(place)?, AtomicBool::new(false));
        Ok(Self(Arc::new(Shared { store, signer, place, max_bytes, max_age, is_failing })))
    }

    /// Returns whether the last file that was to be kept could be written; true before there is any. The directory or
    /// the bucket is not asked for it.
    #[must_use]
    pub fn may_store(&self) -> bool {
        !self.0.is_failing.load(Ordering::Relaxed)
    }

    /// Returns what a request of `team` stores its artifacts with.
    #[must_use]
    pub fn of(&self, team: &str, retention: Retention) -> TeamArtifacts {
        TeamArtifacts { artifacts: self.clone(), team: team.into(), retention }
    }

    /// Returns the artifact of a signed URL.
    ///
    /// The URL is the permission: without a team (nobody showed a key) it is enough. A caller who does show a key gets
    /// what is of the key's team alone.
    ///
    /// # Errors
    /// [`FindError::NotFound`], [`FindError::Gone`]; [`FindError::Failed`] when it cannot be read.
    pub async fn get(
        &self,
        link: &SignedUrl,
        method: &Method,
        team: Option<&str>,
    ) -> Result<ArtifactSource, FindError> {
        if !self.0.signer.has_signed(link) {
            return Err(FindError::NotFound);
        }
        let remaining_s = link.expires_s.saturating_sub(now_ms() / 1000);
        let (shared, id) = (Arc::clone(&self.0), link.id.clone());
        let record = blocking(move || Ok(shared.store.artifact(&id)?)).await?;
        if let (Some(record), Some(team)) = (&record, team)
            && record.team != team
        {
            return Err(FindError::NotFound);
        }
        let Some(record) = record.filter(|_| remaining_s > 0) else { return Err(FindError::Gone) };
        let named = ContentInfo { id: &link.id, kind: link.kind, bytes: record.bytes };
        self.0.place.find(&named, method, remaining_s).await?.ok_or(FindError::Gone)
    }

    /// Removes what has expired and what writers left behind, and returns how many that were.
    ///
    /// # Errors
    /// [`ArtifactError::Store`]. A content that cannot be removed is logged and tried again the next time.
    pub async fn sweep(&self) -> Result<u64, ArtifactError> {
        let mut removed = 0;
        loop {
            let shared = Arc::clone(&self.0);
            let now_ms = now_ms();
            let abandoned_ms = now_ms.saturating_sub(millis(ABANDONED));
            let leaving =
                blocking(move || Ok(shared.store.take_expired_artifacts(now_ms, abandoned_ms)?)).await?;
            let done = self.remove(leaving).await?;
            removed += done;
            // Nothing is left, or nothing of it can be removed now.
            if done == 0 {
                return Ok(removed);
            }
        }
    }

    /// Sweeps once a minute, for as long as it is polled; dropping it at any moment loses nothing.
    pub async fn sweep_periodically(&self) -> std::convert::Infallible {
        let mut interval = tokio::time::interval(SWEEP_INTERVAL);
        loop {
            interval.tick().await;
            match self.sweep().await {
                Ok(0) => {}
                Ok(removed) => tracing::debug!(removed, "artifacts expired"),
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "artifacts cannot be swept");
                }
            }
        }
    }

    /// Removes contents and then their records, and returns how many succeeded.
    async fn remove(&self, leaving: Vec<ArtifactRecord>) -> Result<u64, ArtifactError> {
        let mut removed = 0;
        for record in leaving {
            let ArtifactRecord { id, kind, .. } = record;
            // A kind that this version does not know is another version's to remove.
            let Some(kind) = ArtifactKind::of_extension(&kind) else { continue };
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
    /// Tells whether anything may be stored, for callers who would rather not make what nobody can keep.
    #[must_use]
    pub fn retention(&self) -> Retention {
        self.retention
    }

    /// Stores an artifact for `life`, or for as long as the configuration allows if that is shorter. Older artifacts
    /// make room for it.
    ///
    /// # Errors
    /// [`ArtifactError`]; then nothing is stored.
    pub async fn put(
        &self,
        kind: ArtifactKind,
        content: Bytes,
        life: Duration,
    ) -> Result<Artifact, ArtifactError> {
        match self.retention {
            Retention::Stored => {}
            Retention::Nothing => return Err(ArtifactError::NothingStored),
        }
        let shared = &self.artifacts.0;
        let now_ms = now_ms();
        let expires_at_s = now_ms.saturating_add(millis(life.min(shared.max_age))).div_ceil(1000);
        let record = ArtifactRecord {
            id: new_id()?,
            team: self.team.to_string(),
            kind: kind.extension().to_owned(),
            bytes: content.len() as u64,
            created_at_ms: now_ms,
            expires_at_ms: expires_at_s.saturating_mul(1000),
        };
        let id = record.id.clone();
        let displaced = shared.reserve(record).await?;
        if !displaced.is_empty() {
            tracing::info!(
                count = displaced.len(),
                "artifacts made room for a newer one before they expired"
            );
            // Those that stay for now are swept later.
            if let Err(error) = self.artifacts.remove(displaced).await {
                tracing::warn!(error = &error as &dyn std::error::Error, "older artifacts cannot be removed");
            }
        }
        let written = shared.write(&id, kind, content).await;
        shared.is_failing.store(written.is_err(), Ordering::Relaxed);
        written?;
        let path = shared.signer.path(&id, kind, expires_at_s);
        Ok(Artifact { id, expires_at_s, path })
    }
}

/// Writes a small file to where artifacts are kept and removes it again.
///
/// # Errors
/// As writing and removing have them.
pub async fn probe(place: StorageLocation) -> Result<(), ArtifactError> {
    let id = new_id()?;
    let content = Bytes::from_static(b"websvc doctor");
    match Storage::open(place)? {
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
                Err(ArtifactError::NoRoom { bytes: record.bytes, max_bytes: shared.max_bytes })
            }
        })
        .await
    }

    /// Writes a content for which there is room, and makes it readable. A failure gives the room back.
    async fn write(
        self: &Arc<Self>,
        id: &str,
        kind: ArtifactKind,
        content: Bytes,
    ) -> Result<(), ArtifactError> {
        let bytes = content.len() as u64;
        let (shared, name) = (Arc::clone(self), id.to_owned());
        match &self.place {
            Storage::Directory(directory) => {
                // In one piece, which a caller who goes away does not break off in the middle.
                let directory = directory.clone();
                blocking(move || {
                    let written = directory.write(&name, kind, &content);
                    let finished = written.and_then(|()| shared.finish(&name, bytes));
                    finished.inspect_err(|_| {
                        let removed = directory.remove(&name, kind);
                        shared.give_up(&name, removed);
                    })
                })
                .await
            }
            Storage::Bucket(bucket) => {
                let written = bucket.write(id, kind, content).await;
                let failed = match written {
                    Ok(()) => match blocking(move || shared.finish(&name, bytes)).await {
                        Ok(()) => return Ok(()),
                        Err(error) => error,
                    },
                    Err(error) => error,
                };
                let removed = bucket.remove(id, kind).await;
                let (shared, name) = (Arc::clone(self), id.to_owned());
                blocking(move || {
                    shared.give_up(&name, removed);
                    Ok(())
                })
                .await?;
                Err(failed)
            }
        }
    }

    fn finish(&self, id: &str, bytes: u64) -> Result<(), ArtifactError> {
        if self.store.publish_artifact(id)? { Ok(()) } else { Err(ArtifactError::TooSlow { bytes }) }
    }

    /// Forgets an artifact that could not be written, if nothing of it is left; else it is swept later.
    fn give_up(&self, id: &str, removed: Result<(), ArtifactError>) {
        let forgotten = removed.and_then(|()| Ok(self.store.remove_artifact(id)?));
        if let Err(error) = forgotten {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                id,
                "the rest of an artifact stays for now"
            );
        }
    }

    async fn remove_content(&self, id: &str, kind: ArtifactKind) -> Result<(), ArtifactError> {
        match &self.place {
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
    Ok(hex(&bytes))
}

fn now_ms() -> u64 {
    millis(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ArtifactError> + Send + 'static,
) -> Result<T, ArtifactError> {
    tokio::task::spawn_blocking(work).await.map_err(|_: JoinError| ArtifactError::Stopping)?
}
