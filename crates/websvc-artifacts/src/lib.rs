//! Artifacts: files that requests create for their callers, such as screenshots, and that expire.
//!
//! The ID of an artifact is 128 random bits. Its signed URL is the permission to read it until it expires; no other
//! credential is required. The content is in a directory, or in a bucket of an S3-compatible service; the records are in
//! the [`Store`](websvc_store::Store).
//!
//! ```
//! # use std::time::Duration;
//! # use bytes::Bytes;
//! # use websvc_artifacts::{Artifacts, ArtifactsConfig, ArtifactKind, Retention};
//! # use websvc_store::Store;
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! # let dir = tempfile::tempdir()?;
//! let store = Store::open(dir.path())?;
//! let artifacts = Artifacts::open(store, ArtifactsConfig::in_directory(dir.path().join("artifacts")))?;
//! let day = Duration::from_secs(24 * 3600);
//! let screenshot = Bytes::from_static(b"\x89PNG...");
//! let artifact = artifacts.for_team("default", Retention::Stored).put(ArtifactKind::Png, screenshot, day).await?;
//! println!("{}", artifact.url("https://websvc.test"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![deny(missing_docs)]

mod artifacts;
mod bucket;
mod directory;
mod error;
mod file_name;
mod kind;
mod signed_url;
mod storage;

pub use artifacts::{Artifact, Artifacts, ArtifactsConfig, Retention, TeamArtifacts, probe};
pub use bucket::S3Config;
pub use error::{ArtifactError, FindError};
pub use file_name::{FILE_NAME_MAX_CHARS, FileName};
pub use kind::{ArtifactKind, Disposition};
pub use signed_url::{PREFIX, SignedUrl};
pub use storage::{ArtifactSource, Content, StorageLocation};
