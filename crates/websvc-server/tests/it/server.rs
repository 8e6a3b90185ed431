//! A service on loopback, with a data directory of its own.

use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName};
use http::{HeaderValue, Method};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use websvc_server::{EmbeddedServer, EmbeddedServerConfig};
use websvc_store::{KeyRights, Store};
use websvc_transport::{AddressGuard, Client, ClientConfig, FetchRequest, FetchResponse};

/// A running service.
pub(crate) struct TestServer {
    pub(crate) directory: TempDir,
    pub(crate) address: String,
    stop: oneshot::Sender<()>,
    running: JoinHandle<()>,
}

impl TestServer {
    pub(crate) async fn start() -> Self {
        Self::start_with(|_| {}).await
    }

    /// Starts a service whose configuration is changed before.
    pub(crate) async fn start_with(change: impl FnOnce(&mut EmbeddedServerConfig)) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut config = EmbeddedServerConfig::new(directory.path());
        change(&mut config);
        let service = EmbeddedServer::bind(config).await.unwrap();
        let address = service.url();
        let (stop, stopped) = oneshot::channel();
        let running = tokio::spawn(async move {
            let stopped = async move { stopped.await.unwrap_or_default() };
            service.run(stopped).await.unwrap();
        });
        Self { directory, address, stop, running }
    }

    pub(crate) fn store(&self) -> Store {
        Store::open(self.directory.path()).unwrap()
    }

    /// Creates a key of a team.
    pub(crate) fn create_key(&self, team: &str) -> String {
        self.store().create_key(team, "").unwrap().secret.expose().to_owned()
    }

    /// Creates an admin key of a team.
    pub(crate) fn create_admin_key(&self, team: &str) -> String {
        let rights = KeyRights { admin: true, ..KeyRights::default() };
        self.store().create_key_with(team, "", &rights).unwrap().secret.expose().to_owned()
    }

    pub(crate) async fn request(
        &self,
        method: Method,
        url: &str,
        headers: &[(HeaderName, &str)],
    ) -> FetchResponse {
        send(method, url, headers, None).await
    }

    /// Sends JSON to a path with a key.
    pub(crate) async fn send_json(
        &self,
        method: Method,
        path: &str,
        key: &str,
        body: &Value,
    ) -> FetchResponse {
        let bearer = format!("Bearer {key}");
        let headers = [(AUTHORIZATION, bearer.as_str()), (CONTENT_TYPE, "application/json")];
        send(method, &format!("{}{path}", self.address), &headers, Some(body.to_string().into())).await
    }

    pub(crate) async fn shut_down(self) {
        self.stop.send(()).unwrap();
        self.running.await.unwrap();
    }
}

/// Sends a request to a URL.
pub(crate) async fn send(
    method: Method,
    url: &str,
    headers: &[(HeaderName, &str)],
    body: Option<bytes::Bytes>,
) -> FetchResponse {
    let client = Client::new(ClientConfig::new(AddressGuard::open())).unwrap();
    let mut request = FetchRequest { method, body, ..FetchRequest::get(url.parse().unwrap()) };
    for (name, value) in headers {
        request.headers.insert(name, HeaderValue::from_str(value).unwrap());
    }
    client.fetch(request).await.unwrap()
}

/// Returns the JSON of a response.
pub(crate) fn json_of(response: &FetchResponse) -> Value {
    serde_json::from_slice(&response.body).unwrap()
}
