//! A bucket in a directory behind s3s-fs, an implementation of the protocol and its signatures that is not ours.

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

/// The largest object it takes.
const MAX_OBJECT: usize = 64 * 1024 * 1024;

/// A running service with one bucket, whose name and keys are those of [`FakeS3`]; it ends when dropped.
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
    /// When no port can be bound, or no directory can be made.
    pub async fn start() -> Self {
        let root = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(root.path().join(FakeS3::BUCKET)).expect("a fresh directory takes another");
        let files = s3s_fs::FileSystem::new(root.path()).expect("the directory is there");
        let mut service = S3ServiceBuilder::new(files);
        service.set_auth(SimpleAuth::from_single(FakeS3::ACCESS_KEY_ID, FakeS3::SECRET));
        let service = service.build();
        let server = Server::bind(ServerConfig::new("127.0.0.1:0")).await.expect("a free port");
        let address = server.local_addr();
        let task = tokio::spawn(async move {
            let handler = move |request| {
                let service = service.clone();
                async move { answer(&service, request).await }
            };
            // It ends by being aborted.
            let _ = server.run(handler, std::future::pending()).await;
        });
        Self { address, root, task }
    }

    /// Returns the URL of the service.
    #[must_use]
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the names and contents of the objects, in their order.
    ///
    /// # Panics
    /// When the directory cannot be read.
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
                    let name = path.strip_prefix(&bucket).expect("it is below the bucket");
                    let content = std::fs::read(&path).expect("it was just listed");
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
    let entries = std::fs::read_dir(directory).expect("it is there");
    entries.map(|entry| entry.expect("it can be read").path()).collect()
}

async fn answer(service: &S3Service, request: Request<ServerBody>) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let Ok(body) = body.read(MAX_OBJECT, BodyTimeout::default()).await else {
        return failure(StatusCode::BAD_REQUEST);
    };
    let Ok(answer) = service.call(Request::from_parts(parts, s3s::Body::from(body))).await else {
        return failure(StatusCode::INTERNAL_SERVER_ERROR);
    };
    let (parts, mut body) = answer.into_parts();
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
