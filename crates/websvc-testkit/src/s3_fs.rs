//! A bucket in a directory, served by s3s-fs, an independent implementation of the protocol and its signatures.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::pin::Pin;

use bytes::BytesMut;
use http::{Request, Response, StatusCode};
use http_body::Body as _;
use s3s::auth::SimpleAuth;
use s3s::service::{S3Service, S3ServiceBuilder};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use websvc_transport::{Body, BodyTimeout, Server, ServerBody, ServerConfig};

use crate::FakeS3;

/// The maximum size of an object, in bytes.
const MAX_OBJECT_BYTES: usize = 64 * 1024 * 1024;

/// A running service with one bucket, with the name and keys of [`FakeS3`]. It is stopped when dropped.
#[derive(Debug)]
pub struct S3Fs {
    address: SocketAddr,
    root: TempDir,
    task: JoinHandle<()>,
}

impl S3Fs {
    /// Starts a service on loopback.
    ///
    /// # Panics
    /// If the system has no free port, or no directory can be created.
    pub async fn start() -> Self {
        let root = tempfile::tempdir().expect("a temporary directory can be created");
        std::fs::create_dir(root.path().join(FakeS3::BUCKET)).expect("the directory is writable");
        let files = s3s_fs::FileSystem::new(root.path()).expect("the directory exists");
        let mut service = S3ServiceBuilder::new(files);
        service.set_auth(SimpleAuth::from_single(FakeS3::ACCESS_KEY_ID, FakeS3::SECRET));
        let service = service.build();
        let server = Server::bind(ServerConfig::new("127.0.0.1:0")).await.expect("there is a free port");
        let address = server.local_addr();
        let task = tokio::spawn(async move {
            let handler = move |request| {
                let service = service.clone();
                async move { respond(&service, request).await }
            };
            // The task is aborted when the service is dropped.
            let _ = server.run(handler, std::future::pending()).await;
        });
        Self { address, root, task }
    }

    /// Returns the URL of the service.
    #[must_use]
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the names and contents of the objects, sorted by name.
    ///
    /// # Panics
    /// If the directory cannot be read.
    #[must_use]
    pub fn objects(&self) -> Vec<(String, Vec<u8>)> {
        let bucket = self.root.path().join(FakeS3::BUCKET);
        let mut objects = Vec::new();
        let mut directories = vec![bucket.clone()];
        while let Some(directory) = directories.pop() {
            for path in entries(&directory) {
                if path.is_dir() {
                    directories.push(path);
                } else {
                    let name = path.strip_prefix(&bucket).expect("the path is below the bucket");
                    let content = std::fs::read(&path).expect("the file exists");
                    objects.push((name.to_string_lossy().into_owned(), content));
                }
            }
        }
        objects.sort();
        objects
    }
}

impl Drop for S3Fs {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).expect("the directory exists");
    entries.map(|entry| entry.expect("the entry can be read").path()).collect()
}

async fn respond(service: &S3Service, request: Request<ServerBody>) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let Ok(body) = body.read(MAX_OBJECT_BYTES, BodyTimeout::default()).await else {
        return failure(StatusCode::BAD_REQUEST);
    };
    let Ok(response) = service.call(Request::from_parts(parts, s3s::Body::from(body))).await else {
        return failure(StatusCode::INTERNAL_SERVER_ERROR);
    };
    let (parts, mut body) = response.into_parts();
    let mut content = BytesMut::new();
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let Ok(frame) = frame else { return failure(StatusCode::INTERNAL_SERVER_ERROR) };
        content.extend_from_slice(frame.data_ref().map_or(&[], |data| data));
    }
    Response::from_parts(parts, Body::from(content.freeze()))
}

fn failure(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}
