//! An artifact store in a new directory, and functions that write and read artifacts.

use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use http::Method;
use tempfile::TempDir;
use tokio::io::AsyncReadExt;
use websvc_artifacts::{
    Artifact, ArtifactKind, ArtifactSource, Artifacts, ArtifactsConfig, FindError, PREFIX, Retention,
    SignedUrl,
};
use websvc_store::Store;

pub(crate) const DAY: Duration = Duration::from_secs(24 * 3600);

pub(crate) struct Site {
    pub(crate) directory: TempDir,
    pub(crate) store: Store,
    pub(crate) artifacts: Artifacts,
}

impl Site {
    pub(crate) fn new() -> Self {
        Self::with(|config| config)
    }

    pub(crate) fn with(change: impl FnOnce(ArtifactsConfig) -> ArtifactsConfig) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path()).unwrap();
        let config = change(ArtifactsConfig::in_directory(directory.path().join("artifacts")));
        let artifacts = Artifacts::open(store.clone(), config).unwrap();
        Self { directory, store, artifacts }
    }

    pub(crate) async fn put(&self, content: &[u8]) -> Artifact {
        put(&self.artifacts, content).await
    }

    /// Returns the number of artifact records, and their bytes.
    pub(crate) fn totals(&self) -> (u64, u64) {
        let database = rusqlite::Connection::open(self.directory.path().join(Store::FILE_NAME)).unwrap();
        let sql = "SELECT count(*), ifnull(sum(bytes), 0) FROM artifacts";
        database.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
    }

    /// Returns the files of the artifact directory.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(self.directory.path().join("artifacts")) else {
            return Vec::new();
        };
        entries.map(|entry| entry.unwrap().path()).collect()
    }
}

pub(crate) async fn put(artifacts: &Artifacts, content: &[u8]) -> Artifact {
    let content = Bytes::copy_from_slice(content);
    artifacts.for_team("default", Retention::Stored).put(ArtifactKind::Png, content, DAY).await.unwrap()
}

pub(crate) fn signed_url(artifact: &Artifact) -> SignedUrl {
    let url = artifact.url("");
    let (file_name, query) = url.strip_prefix(PREFIX).unwrap().split_once('?').unwrap();
    SignedUrl::parse(file_name, Some(query)).unwrap()
}

/// The outcome of a read: the content, or an error.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Content(Vec<u8>),
    NotFound,
    Gone,
}

pub(crate) async fn read(artifacts: &Artifacts, artifact: &Artifact, team: Option<&str>) -> Outcome {
    match artifacts.get(&signed_url(artifact), &Method::GET, team).await {
        Ok(ArtifactSource::Local(content)) => {
            let bytes = content.bytes;
            let mut read = Vec::new();
            content.into_reader().read_to_end(&mut read).await.unwrap();
            assert_eq!(read.len() as u64, bytes);
            Outcome::Content(read)
        }
        Ok(ArtifactSource::Remote(url)) => panic!("{url}"),
        Err(FindError::NotFound) => Outcome::NotFound,
        Err(FindError::Gone) => Outcome::Gone,
        Err(error) => panic!("{error}"),
    }
}
