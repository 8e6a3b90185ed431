//! Storage of the contents, in a directory or a bucket.

use std::ops::Range;
use std::path::PathBuf;

use http::Method;
use tokio::fs::File;
use tokio::io::AsyncSeekExt;
use url::Url;
use websvc_transport::Body;

use crate::bucket::{Bucket, ContentInfo, S3Config};
use crate::directory::Directory;
use crate::error::ArtifactError;
use crate::file_name::FileName;
use crate::kind::ArtifactKind;

/// The location of the contents.
#[derive(Debug, Clone)]
pub enum StorageLocation {
    /// A directory.
    Directory(PathBuf),
    /// A bucket of an S3-compatible service.
    S3(Box<S3Config>),
}

/// The storage of the contents.
#[derive(Debug)]
pub(crate) enum Storage {
    Directory(Directory),
    Bucket(Box<Bucket>),
}

/// The source from which an artifact can be read.
#[derive(Debug)]
pub enum ArtifactSource {
    /// A local file.
    Local(Content),
    /// A URL of the storage service. It is valid for a few minutes, and only for the method of the request.
    Remote(Url),
}

/// The content of an artifact, as an open file.
#[derive(Debug)]
pub struct Content {
    /// The ID of the artifact.
    pub id: String,
    /// The kind of the artifact.
    pub kind: ArtifactKind,
    /// The size of the content.
    pub bytes: u64,
    /// The time until the artifact expires, in seconds.
    pub remaining_s: u64,
    /// The name of a file that a page offered.
    pub name: Option<FileName>,
    pub(crate) file: File,
}

impl Content {
    /// Returns the file.
    #[must_use]
    pub fn into_reader(self) -> File {
        self.file
    }

    /// Returns a range of the content as a response body, which is read while it is sent.
    ///
    /// # Errors
    /// [`ArtifactError::Io`] if the file cannot be read.
    pub async fn into_body(self, range: Range<u64>) -> Result<Body, ArtifactError> {
        let Self { id, mut file, .. } = self;
        if range.start > 0 {
            let to_error = |source| ArtifactError::Io { path: PathBuf::from(id), source };
            file.seek(std::io::SeekFrom::Start(range.start)).await.map_err(to_error)?;
        }
        Ok(Body::reader(file, range.end.saturating_sub(range.start)))
    }
}

impl Storage {
    pub(crate) fn open(location: StorageLocation) -> Result<Self, ArtifactError> {
        match location {
            StorageLocation::Directory(path) => Ok(Self::Directory(Directory::new(path))),
            StorageLocation::S3(config) => Ok(Self::Bucket(Box::new(Bucket::open(*config)?))),
        }
    }

    /// Returns the source of an artifact that has a record; `None` if its content is missing.
    pub(crate) async fn find(
        &self,
        info: &ContentInfo<'_>,
        method: &Method,
        remaining_s: u64,
    ) -> Result<Option<ArtifactSource>, ArtifactError> {
        match self {
            Self::Directory(directory) => {
                let ContentInfo { id, kind, bytes, name } = *info;
                let Some(file) = directory.open(id, kind, bytes).await? else { return Ok(None) };
                let (id, name) = (id.to_owned(), name.cloned());
                Ok(Some(ArtifactSource::Local(Content { id, kind, bytes, remaining_s, name, file })))
            }
            Self::Bucket(bucket) => {
                let url = bucket.signed_url(info, method, remaining_s);
                Ok(Some(ArtifactSource::Remote(url)))
            }
        }
    }
}
