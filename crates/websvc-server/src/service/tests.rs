//! The door, over HTTP, for every route of the table.

use http::header::AUTHORIZATION;
use http::{HeaderValue, Method, StatusCode};
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use websvc_store::{KeyRights, KeyScope, Store};
use websvc_transport::{AddressGuard, Client, ClientConfig, FetchRequest, FetchResponse, ServerConfig};

use crate::embedded::{EmbeddedServer, EmbeddedServerConfig};
use crate::route::{AccessLevel, ROUTES, Route};

struct Site {
    directory: TempDir,
    address: String,
    client: Client,
    stop: oneshot::Sender<()>,
    running: JoinHandle<()>,
}

impl Site {
    async fn start() -> Self {
        Self::listening("127.0.0.1:0").await
    }

    async fn listening(listen: &str) -> Self {
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

    /// Makes a key as another process would.
    fn key(&self, rights: &KeyRights) -> (String, String) {
        let store = Store::open(self.directory.path()).unwrap();
        let key = store.create_key_with("readers", "", rights).unwrap();
        (key.secret.expose().to_owned(), key.id.to_string())
    }

    async fn ask(&self, route: &Route, authorization: Option<&str>) -> FetchResponse {
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

    async fn end(self) {
        self.stop.send(()).unwrap();
        self.running.await.unwrap();
    }
}

fn routes(access: AccessLevel) -> impl Iterator<Item = &'static Route> {
    ROUTES.iter().filter(move |route| route.access == access)
}

#[tokio::test]
async fn every_route_but_the_public_ones_wants_a_key() {
    let site = Site::start().await;
    let (valid, _) = site.key(&KeyRights::default());
    for route in routes(AccessLevel::Key) {
        let answer = site.ask(route, None).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{route:?}");
        assert_eq!(answer.headers["www-authenticate"], "Bearer", "{route:?}");
        let answer = site.ask(route, Some(&format!("Bearer {valid}"))).await;
        assert_ne!(answer.status, StatusCode::UNAUTHORIZED, "{route:?}");
    }
    for route in routes(AccessLevel::Admin) {
        let answer = site.ask(route, None).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{route:?}");
        let answer = site.ask(route, Some(&format!("Bearer {valid}"))).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{route:?}");
    }
    for route in routes(AccessLevel::Public) {
        let answer = site.ask(route, None).await;
        assert_ne!(answer.status, StatusCode::UNAUTHORIZED, "{route:?}");
    }
    site.end().await;
}

#[tokio::test]
async fn why_a_key_is_not_valid_is_not_told() {
    let site = Site::start().await;
    let (revoked, id) = site.key(&KeyRights::default());
    Store::open(site.directory.path()).unwrap().revoke_key(&id).unwrap();
    let (expired, _) = site.key(&KeyRights { expires_at_ms: Some(1), ..KeyRights::default() });
    for route in routes(AccessLevel::Key) {
        let mut answers = Vec::new();
        for key in [revoked.as_str(), &expired, "fc-00000000000000000000000000000000", "undefined"] {
            let answer = site.ask(route, Some(&format!("Bearer {key}"))).await;
            assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{route:?} {key}");
            answers.push(answer.body);
        }
        assert!(answers.windows(2).all(|two| two[0] == two[1]), "{route:?} {answers:?}");
    }
    site.end().await;
}

#[tokio::test]
async fn a_key_without_the_scope_of_a_route_is_told_which() {
    let site = Site::start().await;
    for scope in KeyScope::ALL {
        let others = KeyScope::ALL.iter().copied().filter(|other| other != scope).collect();
        let (key, _) = site.key(&KeyRights { scopes: Some(others), ..KeyRights::default() });
        for route in routes(AccessLevel::Key) {
            let answer = site.ask(route, Some(&format!("Bearer {key}"))).await;
            let is_refused = answer.status == StatusCode::FORBIDDEN;
            assert_eq!(is_refused, route.operation.scope() == Some(*scope), "{route:?} without {scope}");
            let text = String::from_utf8_lossy(&answer.body);
            assert!(!is_refused || text.contains(&format!("scope \\\"{scope}\\\"")), "{text}");
        }
    }
    site.end().await;
}

#[tokio::test]
async fn metrics_want_a_key_where_others_than_this_machine_may_ask() {
    for (listen, open) in [("127.0.0.1:0", true), ("0.0.0.0:0", false)] {
        let site = Site::listening(listen).await;
        let (key, _) = site.key(&KeyRights::default());
        let route = ROUTES.iter().find(|route| route.path == "/metrics").unwrap();
        let anybody = site.ask(route, None).await;
        let expected = if open { StatusCode::OK } else { StatusCode::UNAUTHORIZED };
        assert_eq!(anybody.status, expected, "{listen}");
        assert_eq!(site.ask(route, Some("Bearer fc-wrong")).await.status, expected, "{listen}");
        assert_eq!(site.ask(route, Some(&format!("Bearer {key}"))).await.status, StatusCode::OK, "{listen}");
        site.end().await;
    }
}
