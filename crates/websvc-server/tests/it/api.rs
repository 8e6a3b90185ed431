//! A service without a browser or a model on a loopback web, and requests to it with keys of any rights.

use std::ops::Deref;

use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Method};
use serde_json::{Value, json};
use websvc_store::{KeyRights, TeamChange};
use websvc_testkit::TestWeb;
use websvc_transport::{AddressGuard, Client, ClientConfig, FetchRequest};

use crate::server::TestServer;

/// A running service, its loopback web, and a client for it.
pub(crate) struct ApiTest {
    server: TestServer,
    pub(crate) client: Client,
    _web: TestWeb,
}

impl Deref for ApiTest {
    type Target = TestServer;

    fn deref(&self) -> &TestServer {
        &self.server
    }
}

impl ApiTest {
    pub(crate) async fn start(web: TestWeb) -> Self {
        let server = TestServer::start_with(|config| config.guard = web.guard()).await;
        let client = Client::new(ClientConfig::new(AddressGuard::open())).unwrap();
        Self { server, client, _web: web }
    }

    /// Changes a team as another process would.
    pub(crate) fn set_team(&self, team: &str, change: &TeamChange) {
        self.store().set_team(team, change).unwrap();
    }

    /// Creates a key as another process would, and returns its secret.
    pub(crate) fn create_key(&self, team: &str, rights: &KeyRights) -> String {
        self.store().create_key_with(team, "", rights).unwrap().secret.expose().to_owned()
    }

    /// Creates a key of the team `red` that allows these formats.
    pub(crate) fn key_with_formats(&self, formats: &[&str]) -> String {
        let formats = formats.iter().map(|format| (*format).to_owned()).collect();
        self.create_key("red", &KeyRights { formats: Some(formats), ..KeyRights::default() })
    }

    /// Sends a request, without a body if it is null. Returns the status and the body.
    pub(crate) async fn send(&self, key: &str, method: Method, path: &str, body: &Value) -> (u16, Value) {
        let text = if body.is_null() { String::new() } else { body.to_string() };
        self.send_text(key, method, path, "application/json", text).await
    }

    pub(crate) async fn send_text(
        &self,
        key: &str,
        method: Method,
        path: &str,
        content_type: &str,
        body: String,
    ) -> (u16, Value) {
        let url = format!("{}{path}", self.address).parse().unwrap();
        let mut request = FetchRequest { method, ..FetchRequest::get(url) };
        request.headers.insert(AUTHORIZATION, HeaderValue::from_str(&format!("Bearer {key}")).unwrap());
        if !body.is_empty() {
            request.headers.insert(CONTENT_TYPE, HeaderValue::from_str(content_type).unwrap());
            request.body = Some(body.into());
        }
        let response = self.client.fetch(request).await.unwrap();
        let body = serde_json::from_slice(&response.body).unwrap_or(Value::Null);
        (response.status.as_u16(), body)
    }

    pub(crate) async fn post(&self, key: &str, path: &str, body: &Value) -> (u16, Value) {
        self.send(key, Method::POST, path, body).await
    }

    pub(crate) async fn get(&self, key: &str, path: &str) -> Value {
        let (status, body) = self.send(key, Method::GET, path, &Value::Null).await;
        assert_eq!(status, 200, "{path}: {body}");
        body
    }

    /// Calls an MCP tool, and returns the text of its result.
    pub(crate) async fn call_tool(&self, key: &str, name: &str, arguments: &Value) -> String {
        let call = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": { "name": name, "arguments": arguments },
        });
        let url = format!("{}/mcp", self.address).parse().unwrap();
        let mut request = FetchRequest { method: Method::POST, ..FetchRequest::get(url) };
        for (name, value) in [
            (AUTHORIZATION.as_str(), format!("Bearer {key}")),
            (CONTENT_TYPE.as_str(), "application/json".to_owned()),
            ("accept", "application/json, text/event-stream".to_owned()),
        ] {
            request.headers.insert(
                http::HeaderName::from_bytes(name.as_bytes()).unwrap(),
                HeaderValue::from_str(&value).unwrap(),
            );
        }
        request.body = Some(call.to_string().into());
        let response = self.client.fetch(request).await.unwrap();
        String::from_utf8_lossy(&response.body).into_owned()
    }

    pub(crate) async fn stop(self) {
        self.server.shut_down().await;
    }
}
