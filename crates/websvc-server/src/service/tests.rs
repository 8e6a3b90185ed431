//! Tests of authentication and authorization over HTTP, for every endpoint of the table.

use http::header::AUTHORIZATION;
use http::{HeaderValue, Method, StatusCode};
use tempfile::TempDir;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use websvc_store::{KeyRights, KeyScope, Store};
use websvc_testkit::until;
use websvc_transport::{AddressGuard, Client, ClientConfig, FetchRequest, FetchResponse, ServerConfig};

use super::Service;
use crate::admission::AdmissionLimits;
use crate::embedded::{EmbeddedServer, EmbeddedServerConfig};
use crate::route::{AccessLevel, Endpoint, RequestBody, endpoints};

/// A running service and a client for it.
struct TestServer {
    directory: TempDir,
    address: String,
    service: Service,
    client: Client,
    stop: oneshot::Sender<()>,
    running: JoinHandle<()>,
}

impl TestServer {
    async fn start() -> Self {
        Self::listen_on("127.0.0.1:0").await
    }

    async fn listen_on(listen: &str) -> Self {
        Self::start_with(listen, AdmissionLimits::default()).await
    }

    async fn start_with(listen: &str, limits: AdmissionLimits) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let config = EmbeddedServerConfig {
            server: ServerConfig::new(listen),
            limits,
            ..EmbeddedServerConfig::new(directory.path())
        };
        let server = EmbeddedServer::bind(config).await.unwrap();
        let (address, service) = (server.url(), server.service().clone());
        let (stop, stopped) = oneshot::channel();
        let running = tokio::spawn(async move {
            let stopped = async move { stopped.await.unwrap_or_default() };
            server.run(stopped).await.unwrap();
        });
        let client = Client::new(ClientConfig::new(AddressGuard::open())).unwrap();
        Self { directory, address, service, client, stop, running }
    }

    /// Creates a key as another process would, and returns its secret and its id.
    fn create_key(&self, rights: &KeyRights) -> (String, String) {
        let store = Store::open(self.directory.path()).unwrap();
        let key = store.create_key_with("readers", "", rights).unwrap();
        (key.secret.expose().to_owned(), key.id.to_string())
    }

    async fn request(&self, endpoint: &Endpoint, authorization: Option<&str>) -> FetchResponse {
        let body = (endpoint.method == Method::POST).then(|| "{}".to_owned());
        self.request_with(endpoint, authorization, body).await
    }

    async fn request_with(
        &self,
        endpoint: &Endpoint,
        authorization: Option<&str>,
        body: Option<String>,
    ) -> FetchResponse {
        let path = endpoint.path.replace("{file}", "a.png");
        let mut request = FetchRequest::get(format!("{}{path}", self.address).parse().unwrap());
        request.method = endpoint.method.clone();
        if let Some(value) = authorization {
            request.headers.insert(AUTHORIZATION, HeaderValue::from_str(value).unwrap());
        }
        request.body = body.map(Into::into);
        self.client.fetch(request).await.unwrap()
    }

    /// Begins a request whose body does not arrive completely.
    async fn begin(&self, path: &str, authorization: &str, media_type: &str) -> TcpStream {
        let address = self.address.strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(address).await.unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: {authorization}\r\n\
             content-type: {media_type}\r\ncontent-length: 100\r\n\r\n{{"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream
    }

    async fn shut_down(self) {
        self.stop.send(()).unwrap();
        self.running.await.unwrap();
    }
}

fn is_team_setting(endpoint: &Endpoint) -> bool {
    ["/v2/team/siem", "/v2/team/siem/test", "/v2/team/threat-protection"].contains(&endpoint.path)
}

fn with_access(access: AccessLevel) -> impl Iterator<Item = &'static Endpoint> {
    endpoints().filter(move |endpoint| endpoint.access == access)
}

#[tokio::test]
async fn every_route_except_public_ones_requires_a_key() {
    let server = TestServer::start().await;
    let (valid, _) = server.create_key(&KeyRights::default());
    for endpoint in with_access(AccessLevel::Key) {
        let response = server.request(endpoint, None).await;
        assert_eq!(response.status, StatusCode::UNAUTHORIZED, "{endpoint:?}");
        assert_eq!(response.headers["www-authenticate"], "Bearer", "{endpoint:?}");
        let response = server.request(endpoint, Some(&format!("Bearer {valid}"))).await;
        assert_ne!(response.status, StatusCode::UNAUTHORIZED, "{endpoint:?}");
    }
    for endpoint in with_access(AccessLevel::Admin) {
        let response = server.request(endpoint, None).await;
        assert_eq!(response.status, StatusCode::UNAUTHORIZED, "{endpoint:?}");
        let response = server.request(endpoint, Some(&format!("Bearer {valid}"))).await;
        assert_eq!(response.status, StatusCode::FORBIDDEN, "{endpoint:?}");
    }
    for endpoint in with_access(AccessLevel::Public) {
        let response = server.request(endpoint, None).await;
        assert_ne!(response.status, StatusCode::UNAUTHORIZED, "{endpoint:?}");
    }
    server.shut_down().await;
}

#[tokio::test]
async fn response_to_an_invalid_key_does_not_reveal_why_it_is_invalid() {
    let server = TestServer::start().await;
    let (revoked, id) = server.create_key(&KeyRights::default());
    Store::open(server.directory.path()).unwrap().revoke_key(&id).unwrap();
    let (expired, _) = server.create_key(&KeyRights { expires_at_ms: Some(1), ..KeyRights::default() });
    for endpoint in with_access(AccessLevel::Key) {
        let mut bodies = Vec::new();
        for key in [revoked.as_str(), &expired, "fc-00000000000000000000000000000000", "undefined"] {
            let response = server.request(endpoint, Some(&format!("Bearer {key}"))).await;
            assert_eq!(response.status, StatusCode::UNAUTHORIZED, "{endpoint:?} {key}");
            bodies.push(response.body);
        }
        assert!(bodies.windows(2).all(|pair| pair[0] == pair[1]), "{endpoint:?} {bodies:?}");
    }
    server.shut_down().await;
}

#[tokio::test]
async fn key_without_the_scope_of_a_route_gets_403_that_names_the_scope() {
    let server = TestServer::start().await;
    for scope in KeyScope::ALL {
        let other_scopes = KeyScope::ALL.iter().copied().filter(|other| other != scope).collect();
        let (key, _) = server.create_key(&KeyRights { scopes: Some(other_scopes), ..KeyRights::default() });
        // The settings of a team need an admin key, whatever its scopes.
        for endpoint in with_access(AccessLevel::Key).filter(|endpoint| !is_team_setting(endpoint)) {
            let response = server.request(endpoint, Some(&format!("Bearer {key}"))).await;
            let is_forbidden = response.status == StatusCode::FORBIDDEN;
            assert_eq!(is_forbidden, endpoint.scope == Some(*scope), "{endpoint:?} without {scope}");
            let text = String::from_utf8_lossy(&response.body);
            assert!(!is_forbidden || text.contains(&format!("scope \\\"{scope}\\\"")), "{text}");
        }
    }
    server.shut_down().await;
}

#[tokio::test]
async fn metrics_require_a_key_unless_the_address_is_loopback() {
    for (listen, is_open) in [("127.0.0.1:0", true), ("0.0.0.0:0", false)] {
        let server = TestServer::listen_on(listen).await;
        let (key, _) = server.create_key(&KeyRights::default());
        let endpoint = endpoints().find(|endpoint| endpoint.path == "/metrics").unwrap();
        let without_key = server.request(endpoint, None).await;
        let expected = if is_open { StatusCode::OK } else { StatusCode::UNAUTHORIZED };
        assert_eq!(without_key.status, expected, "{listen}");
        assert_eq!(server.request(endpoint, Some("Bearer fc-wrong")).await.status, expected, "{listen}");
        let with_key = server.request(endpoint, Some(&format!("Bearer {key}"))).await;
        assert_eq!(with_key.status, StatusCode::OK, "{listen}");
        server.shut_down().await;
    }
}

#[tokio::test]
async fn body_larger_than_its_operation_reads_gets_413_that_names_the_limit() {
    let server = TestServer::start().await;
    let (key, _) = server.create_key(&KeyRights::default());
    let authorization = format!("Bearer {key}");
    let mut checked = 0;
    for endpoint in with_access(AccessLevel::Public).chain(with_access(AccessLevel::Key)) {
        let RequestBody::Whole { max_bytes: max_bytes @ ..=65_536 } = endpoint.body else {
            continue;
        };
        let body = "0".repeat(max_bytes + 1);
        let response = server.request_with(endpoint, Some(&authorization), Some(body)).await;
        assert_eq!(response.status, StatusCode::PAYLOAD_TOO_LARGE, "{endpoint:?}");
        let text = String::from_utf8_lossy(&response.body);
        assert!(text.contains(&format!("larger than {max_bytes} bytes")), "{endpoint:?}: {text}");
        let response = server.request_with(endpoint, Some(&authorization), Some("0".repeat(max_bytes))).await;
        assert_ne!(response.status, StatusCode::PAYLOAD_TOO_LARGE, "{endpoint:?}");
        checked += 1;
    }
    assert!(checked >= 5, "{checked}");
    server.shut_down().await;
}

#[tokio::test]
async fn request_whose_body_arrives_slowly_holds_no_permit() {
    let limits = AdmissionLimits { total_concurrency: 1, queue_len: 0, ..AdmissionLimits::default() };
    let server = TestServer::start_with("127.0.0.1:0", limits).await;
    let (key, _) = server.create_key(&KeyRights::default());
    let authorization = format!("Bearer {key}");
    let mut slow = Vec::new();
    for _ in 0..3 {
        slow.push(server.begin("/v2/search", &authorization, "application/json").await);
        slow.push(server.begin("/v2/parse", &authorization, "multipart/form-data; boundary=b").await);
    }
    let state = server.service.state();
    until("the bodies are arriving", || (state.body_slots.in_use(), state.uploads.in_use()) == (3, 3)).await;
    assert_eq!(state.admission.metrics().in_flight, 0);
    let endpoint = endpoints().find(|endpoint| endpoint.path == "/v2/team/queue-status").unwrap();
    assert_eq!(server.request(endpoint, Some(&authorization)).await.status, StatusCode::OK);
    drop(slow);
    until("the slots are free", || (state.body_slots.in_use(), state.uploads.in_use()) == (0, 0)).await;
    server.shut_down().await;
}
