//! Storage of the contents, in a directory or a bucket.

use std::ops::Range;
use std::path::PathBuf;

use http::Method;
use tokio::fs::File;
use tokio::io::AsyncSeekExt;
use url::Url;
use websvc_transport::Body;

use crate::bucket::{Bucket, S3Config};
use crate::directory::Directory;
use crate::error::ArtifactError;
use crate::kind::ArtifactKind;

/// Location of the contents.
#[derive(Debug, Clone)]
pub enum StorageLocation {
    /// In a directory of this machine.
    Directory(PathBuf),
    /// In a bucket of an S3-compatible service.
    S3(Box<S3Config>),
}

/// A place that is open.
#[derive(Debug)]
pub(crate) enum Storage {
    Directory(Directory),
    Bucket(Box<Bucket>),
}

/// An artifact that may be read.
#[derive(Debug)]
pub enum ArtifactSource {
    /// It is here.
    Here(Content),
    /// It is at this URL, for a few minutes, to be asked for with the method it was asked for here.
    Elsewhere(Url),
}

/// The content of an artifact, open.
#[derive(Debug)]
pub struct Content {
    /// Its name.
    pub id: String,
    /// Kind of the artifact.
    pub kind: ArtifactKind,
    /// Its size.
    pub bytes: u64,
    /// How long it may still be read, in seconds.
    pub remaining_s: u64,
    pub(crate) file: File,
}

impl Content {
    /// Returns the file, for whoever wants to read it by themselves.
    #[must_use]
    pub fn into_reader(self) -> File {
        self.file
    }

    /// Returns a part of the content, read while it is sent.
    ///
    /// # Errors
    /// [`ArtifactError::Io`] when the file cannot be read.
    pub async fn into_body(self, part: Range<u64>) -> Result<Body, ArtifactError> {
        let Self { id, mut file, .. } = self;
        if part.start > 0 {
            let failed = |source| ArtifactError::Io { path: PathBuf::from(id), source };
            file.seek(std::io::SeekFrom::Start(part.start)).await.map_err(failed)?;
        }
        Ok(Body::reader(file, part.end.saturating_sub(part.start)))
    }
}

impl Storage {
    pub(crate) fn open(place: StorageLocation) -> Result<Self, ArtifactError> {
        match place {
            StorageLocation::Directory(path) => Ok(Self::Directory(Directory::new(path))),
            StorageLocation::S3(config) => Ok(Self::Bucket(Box::new(Bucket::open(*config)?))),
        }
    }

    /// Returns how an artifact is read that is known to be there; `None` when it is not.
    pub(crate) async fn find(
        &self,
        name: &ContentInfo<'_>,
        method: &Method,
        remaining_s: u64,
    ) -> Result<Option<ArtifactSource>, ArtifactError> {
        match self {
            Self::Directory(directory) => {
                let ContentInfo { id, kind, bytes } = *name;
                let Some(file) = directory.open(id, kind, bytes).await? else { return Ok(None) };
                Ok(Some(ArtifactSource::Here(Content { id: id.to_owned(), kind, bytes, remaining_s, file })))
            }
            Self::Bucket(bucket) => {
                let url = bucket.signed_url(name.id, name.kind, method, remaining_s);
                Ok(Some(ArtifactSource::Elsewhere(url)))
            }
        }
    }
}

/// ID, kind and size of a content, without its bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ContentInfo<'a> {
    pub(crate) id: &'a str,
    pub(crate) kind: ArtifactKind,
    pub(crate) bytes: u64,
}
