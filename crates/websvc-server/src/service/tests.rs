//! Tests of authentication and authorization over HTTP, for every route of the table.

use http::header::AUTHORIZATION;
use http::{HeaderValue, Method, StatusCode};
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use websvc_store::{KeyRights, KeyScope, Store};
use websvc_transport::{AddressGuard, Client, ClientConfig, FetchRequest, FetchResponse, ServerConfig};

use crate::embedded::{EmbeddedServer, EmbeddedServerConfig};
use crate::route::{AccessLevel, Operation, ROUTES, Route};

/// A running service and a client for it.
struct TestServer {
    directory: TempDir,
    address: String,
    client: Client,
    stop: oneshot::Sender<()>,
    running: JoinHandle<()>,
}

impl TestServer {
    async fn start() -> Self {
        Self::listen_on("127.0.0.1:0").await
    }

    async fn listen_on(listen: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let config = EmbeddedServerConfig {
            server: ServerConfig::new(listen),
            ..EmbeddedServerConfig::new(directory.path())
        };
        let service = EmbeddedServer::bind(config).await.unwrap();
        let address = service.url();
        let (stop, stopped) = oneshot::channel();
        let running = tokio::spawn(async move {
            let stopped = async move { stopped.await.unwrap_or_default() };
            service.run(stopped).await.unwrap();
        });
        let client = Client::new(ClientConfig::new(AddressGuard::open())).unwrap();
        Self { directory, address, client, stop, running }
    }

    /// Creates a key as another process would, and returns its secret and its id.
    fn create_key(&self, rights: &KeyRights) -> (String, String) {
        let store = Store::open(self.directory.path()).unwrap();
        let key = store.create_key_with("readers", "", rights).unwrap();
        (key.secret.expose().to_owned(), key.id.to_string())
    }

    async fn request(&self, route: &Route, authorization: Option<&str>) -> FetchResponse {
        let path = route.path.replace("{file}", "a.png");
        let mut request = FetchRequest::get(format!("{}{path}", self.address).parse().unwrap());
        request.method = route.method.clone();
        if let Some(value) = authorization {
            request.headers.insert(AUTHORIZATION, HeaderValue::from_str(value).unwrap());
        }
        if route.method == Method::POST {
            request.body = Some("{}".into());
        }
        self.client.fetch(request).await.unwrap()
    }

    async fn shut_down(self) {
        self.stop.send(()).unwrap();
        self.running.await.unwrap();
    }
}

fn routes(access: AccessLevel) -> impl Iterator<Item = &'static Route> {
    ROUTES.iter().filter(move |route| route.access == access)
}

#[tokio::test]
async fn every_route_except_public_ones_requires_a_key() {
    let server = TestServer::start().await;
    let (valid, _) = server.create_key(&KeyRights::default());
    for route in routes(AccessLevel::Key) {
        let response = server.request(route, None).await;
        assert_eq!(response.status, StatusCode::UNAUTHORIZED, "{route:?}");
        assert_eq!(response.headers["www-authenticate"], "Bearer", "{route:?}");
        let response = server.request(route, Some(&format!("Bearer {valid}"))).await;
        assert_ne!(response.status, StatusCode::UNAUTHORIZED, "{route:?}");
    }
    for route in routes(AccessLevel::Admin) {
        let response = server.request(route, None).await;
        assert_eq!(response.status, StatusCode::UNAUTHORIZED, "{route:?}");
        let response = server.request(route, Some(&format!("Bearer {valid}"))).await;
        assert_eq!(response.status, StatusCode::FORBIDDEN, "{route:?}");
    }
    for route in routes(AccessLevel::Public) {
        let response = server.request(route, None).await;
        assert_ne!(response.status, StatusCode::UNAUTHORIZED, "{route:?}");
    }
    server.shut_down().await;
}

#[tokio::test]
async fn response_to_an_invalid_key_does_not_reveal_why_it_is_invalid() {
    let server = TestServer::start().await;
    let (revoked, id) = server.create_key(&KeyRights::default());
    Store::open(server.directory.path()).unwrap().revoke_key(&id).unwrap();
    let (expired, _) = server.create_key(&KeyRights { expires_at_ms: Some(1), ..KeyRights::default() });
    for route in routes(AccessLevel::Key) {
        let mut bodies = Vec::new();
        for key in [revoked.as_str(), &expired, "fc-00000000000000000000000000000000", "undefined"] {
            let response = server.request(route, Some(&format!("Bearer {key}"))).await;
            assert_eq!(response.status, StatusCode::UNAUTHORIZED, "{route:?} {key}");
            bodies.push(response.body);
        }
        assert!(bodies.windows(2).all(|pair| pair[0] == pair[1]), "{route:?} {bodies:?}");
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
        for route in routes(AccessLevel::Key).filter(|route| !matches!(route.operation, Operation::Team(_))) {
            let response = server.request(route, Some(&format!("Bearer {key}"))).await;
            let is_forbidden = response.status == StatusCode::FORBIDDEN;
            assert_eq!(is_forbidden, route.operation.scope() == Some(*scope), "{route:?} without {scope}");
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
        let route = ROUTES.iter().find(|route| route.path == "/metrics").unwrap();
        let without_key = server.request(route, None).await;
        let expected = if is_open { StatusCode::OK } else { StatusCode::UNAUTHORIZED };
        assert_eq!(without_key.status, expected, "{listen}");
        assert_eq!(server.request(route, Some("Bearer fc-wrong")).await.status, expected, "{listen}");
        let with_key = server.request(route, Some(&format!("Bearer {key}"))).await;
        assert_eq!(with_key.status, StatusCode::OK, "{listen}");
        server.shut_down().await;
    }
}
