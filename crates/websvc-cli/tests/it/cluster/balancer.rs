//! A load balancer: forwards each request to the next replica, and to another one if that accepts no connection.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::{HeaderValue, Request, Response, StatusCode, header};
use parking_lot::Mutex;
use tokio::task::JoinHandle;
use websvc_transport::{
    AddressGuard, Body, BodyTimeout, Client, ClientConfig, FetchError, FetchRequest, RedirectPolicy, Server,
    ServerBody, ServerConfig,
};

const MAX_BODY_BYTES: usize = 16 * 1024 * 1024;
const TIMEOUT: Duration = Duration::from_secs(60);

/// A load balancer on loopback, which is stopped when dropped.
pub(super) struct Balancer {
    pub(super) address: String,
    replicas: Arc<Replicas>,
    task: JoinHandle<()>,
}

struct Replicas {
    addresses: Mutex<Vec<String>>,
    next: AtomicUsize,
    /// The number of requests that were sent to another replica after one had got them.
    repeated: AtomicUsize,
    client: Client,
}

impl Balancer {
    pub(super) async fn start() -> Self {
        let client = Client::new(ClientConfig::new(AddressGuard::open())).unwrap();
        let replicas = Arc::new(Replicas {
            addresses: Mutex::default(),
            next: AtomicUsize::new(0),
            repeated: AtomicUsize::new(0),
            client,
        });
        let server = Server::bind(ServerConfig::new("127.0.0.1:0")).await.unwrap();
        let address = format!("http://{}", server.local_addr());
        let handled = Arc::clone(&replicas);
        let task = tokio::spawn(async move {
            let handler = move |request| {
                let replicas = Arc::clone(&handled);
                async move { replicas.forward(request).await }
            };
            // The task is aborted when the balancer is dropped.
            let _ = server.run(handler, std::future::pending()).await;
        });
        Self { address, replicas, task }
    }

    pub(super) fn add(&self, address: &str) {
        self.replicas.addresses.lock().push(address.to_owned());
    }

    /// Returns the number of requests that a removed replica did not answer, and another one did.
    pub(super) fn repeated(&self) -> usize {
        self.replicas.repeated.load(Ordering::Relaxed)
    }

    pub(super) fn remove(&self, address: &str) {
        self.replicas.addresses.lock().retain(|other| other != address);
    }
}

impl Drop for Balancer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Replicas {
    async fn forward(&self, request: Request<ServerBody>) -> Response<Body> {
        let (parts, body) = request.into_parts();
        let body = body.read(MAX_BODY_BYTES, BodyTimeout::default()).await.unwrap();
        let body = bytes::Bytes::from(Vec::from(body));
        let addresses = self.addresses.lock().clone();
        let first = self.next.fetch_add(1, Ordering::Relaxed);
        for offset in 0..addresses.len() {
            let address = &addresses[(first + offset) % addresses.len()];
            let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
            let mut forwarded = FetchRequest::get(format!("{address}{path}").parse().unwrap());
            forwarded.method = parts.method.clone();
            forwarded.timeout = TIMEOUT;
            forwarded.redirects = RedirectPolicy::None;
            forwarded.body = (!body.is_empty()).then(|| body.clone());
            for name in [header::AUTHORIZATION, header::CONTENT_TYPE] {
                if let Some(value) = parts.headers.get(&name) {
                    forwarded.headers.insert(name, value.clone());
                }
            }
            match self.client.fetch(forwarded).await {
                Ok(response) => {
                    let mut forwarded = Response::new(Body::from(response.body));
                    *forwarded.status_mut() = response.status;
                    for name in [header::CONTENT_TYPE, header::RETRY_AFTER, header::LOCATION] {
                        if let Some(value) = response.headers.get(&name) {
                            forwarded.headers_mut().insert(name, value.clone());
                        }
                    }
                    return forwarded;
                }
                Err(FetchError::Connect { .. }) => {}
                // The replica was removed after this request had chosen it, and has closed its idle connection in the
                // meantime, or was killed. A replica that stops answers the requests that it has begun.
                Err(_) if !self.addresses.lock().contains(address) => {
                    self.repeated.fetch_add(1, Ordering::Relaxed);
                }
                Err(error) => return failure(&error.to_string()),
            }
        }
        failure("no replica accepts connections")
    }
}

fn failure(reason: &str) -> Response<Body> {
    let mut response = Response::new(Body::from(format!("{{\"error\":{reason:?}}}")));
    *response.status_mut() = StatusCode::BAD_GATEWAY;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
