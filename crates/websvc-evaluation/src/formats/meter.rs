//! An endpoint between the service and the model. It forwards each request unchanged, and counts requests, failures and
//! tokens, which the service does not report for every feature.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::task::JoinHandle;
use websvc_testkit::FakeModel;
use websvc_transport::{Body, BodyTimeout, Client, FetchRequest, Server, ServerBody, ServerConfig};

use crate::error::EvaluationError;
use crate::oracle::RequestKind;

/// The maximum size of a request or a response, in bytes.
const MAX_BODY_BYTES: usize = 16 * 1024 * 1024;

/// Time limits of the body of a request.
const BODY_TIMEOUT: BodyTimeout =
    BodyTimeout { idle: Duration::from_secs(10), total: Duration::from_secs(60) };

/// The headers that are forwarded.
const REQUEST_HEADERS: [http::HeaderName; 2] = [AUTHORIZATION, CONTENT_TYPE];
const RESPONSE_HEADERS: [http::HeaderName; 2] = [CONTENT_TYPE, RETRY_AFTER];

/// The counts of some requests.
#[derive(Debug, Clone, Default)]
pub(crate) struct Record {
    /// Requests for completions.
    pub(crate) requests: u64,
    /// Those that the endpoint did not answer with the status 200. The service may send them again.
    pub(crate) failed: u64,
    /// Tokens of the requests and the answers, as far as the endpoint reports them.
    pub(crate) tokens: u64,
    /// The kinds of the requests of the agent that have not failed, in the order of their arrival.
    pub(crate) of_agent: Vec<RequestKind>,
}

/// A running endpoint, which is stopped when dropped.
#[derive(Debug)]
pub(crate) struct Meter {
    address: SocketAddr,
    record: Arc<Mutex<Record>>,
    task: JoinHandle<()>,
}

/// The state of the handlers.
struct Forwarder {
    client: Client,
    /// The base URL of the endpoint of the model.
    base: String,
    /// The maximum time of a request.
    timeout: Duration,
    record: Arc<Mutex<Record>>,
}

impl Meter {
    /// Starts an endpoint on loopback that forwards to the endpoint at a base URL.
    pub(crate) async fn start(
        client: Client,
        base: &str,
        timeout: Duration,
    ) -> Result<Self, EvaluationError> {
        let failed = |error: String| EvaluationError::Command {
            action: "the meter of requests".to_owned(),
            output: error,
        };
        let server = Server::bind(ServerConfig::new("127.0.0.1:0")).await;
        let server = server.map_err(|error| failed(error.to_string()))?;
        let (address, record) = (server.local_addr(), Arc::new(Mutex::new(Record::default())));
        let base = base.trim_end_matches('/').to_owned();
        let forwarder = Arc::new(Forwarder { client, base, timeout, record: Arc::clone(&record) });
        let handler = move |request| {
            let forwarder = Arc::clone(&forwarder);
            async move { forwarder.respond(request).await }
        };
        let task = tokio::spawn(async move {
            // The task is aborted when the meter is dropped.
            let _ = server.run(handler, std::future::pending()).await;
        });
        Ok(Self { address, record, task })
    }

    /// Returns the base URL for the service.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the counts since the last call of [`Self::take`].
    pub(crate) fn record(&self) -> Record {
        self.record.lock().clone()
    }

    /// Returns the counts, and begins again.
    pub(crate) fn take(&self) -> Record {
        std::mem::take(&mut self.record.lock())
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Forwarder {
    async fn respond(&self, request: Request<ServerBody>) -> Response<Body> {
        let (parts, body) = request.into_parts();
        let body = body.read(MAX_BODY_BYTES, BODY_TIMEOUT).await.unwrap_or_default();
        let is_completion = parts.method == Method::POST;
        let kind = is_completion.then(|| kind_of(&body)).flatten();
        if is_completion {
            let mut record = self.record.lock();
            record.requests += 1;
            record.of_agent.extend(kind);
        }
        let path = parts.uri.path_and_query().map_or("/", http::uri::PathAndQuery::as_str);
        let response = self.forward(parts.method, path, &parts.headers, body).await;
        if is_completion && response.status() != StatusCode::OK {
            let mut record = self.record.lock();
            record.failed += 1;
            // The service sends the same request again.
            if let Some(at) = record.of_agent.iter().rposition(|other| Some(*other) == kind) {
                record.of_agent.remove(at);
            }
        }
        response
    }

    async fn forward(&self, method: Method, path: &str, headers: &HeaderMap, body: Bytes) -> Response<Body> {
        let failed = |reason: String| {
            let mut response = Response::new(Body::from(Bytes::from(reason)));
            *response.status_mut() = StatusCode::BAD_GATEWAY;
            response
        };
        let url = match format!("{}{path}", self.base).parse() {
            Ok(url) => url,
            Err(error) => return failed(format!("{error}")),
        };
        let mut request = FetchRequest::get(url);
        (request.method, request.timeout) = (method, self.timeout);
        copy(&REQUEST_HEADERS, headers, &mut request.headers);
        request.body = (!body.is_empty()).then_some(body);
        match self.client.fetch(request).await {
            Ok(fetched) => {
                self.record.lock().tokens += tokens_of(&fetched.body);
                let mut response = Response::new(Body::from(fetched.body));
                *response.status_mut() = fetched.status;
                copy(&RESPONSE_HEADERS, &fetched.headers, response.headers_mut());
                response
            }
            Err(error) => failed(error.to_string()),
        }
    }
}

fn copy(names: &[http::HeaderName], from: &HeaderMap<HeaderValue>, to: &mut HeaderMap<HeaderValue>) {
    for name in names {
        if let Some(value) = from.get(name) {
            to.insert(name, value.clone());
        }
    }
}

/// Returns the tokens of the usage that a response reports.
fn tokens_of(body: &[u8]) -> u64 {
    let response: Value = serde_json::from_slice(body).unwrap_or_default();
    let count = |name: &str| response["usage"][name].as_u64().unwrap_or_default();
    count("prompt_tokens") + count("completion_tokens")
}

/// Returns the kind of a request of the agent. Its mark is a line of the prompt, which no line of a page equals; see
/// `websvc-agent/src/prompt.rs`.
fn kind_of(body: &[u8]) -> Option<RequestKind> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let text = FakeModel::prompt_text(&body);
    let marks = [
        ("## Step", RequestKind::Step),
        ("## Collect", RequestKind::Collect),
        ("## Answer", RequestKind::Answer),
    ];
    text.lines().rev().find_map(|line| marks.iter().find(|(mark, _)| line == *mark)).map(|(_, kind)| *kind)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use websvc_testkit::{Page, TestWeb};
    use websvc_transport::{AddressGuard, ClientConfig};

    use super::*;

    const BASE: &str = "http://model.test/v1";

    async fn post(client: &Client, url: &str, body: &Value) -> (StatusCode, Bytes) {
        let mut request = FetchRequest::get(url.parse().unwrap());
        (request.method, request.body) = (Method::POST, Some(body.to_string().into()));
        let response = client.fetch(request).await.unwrap();
        (response.status, response.body)
    }

    async fn start() -> (TestWeb, Meter, Client) {
        let model = FakeModel::scripted([FakeModel::text("Yes."), Page::text("busy").status(503)]);
        let web = model.serve(TestWeb::builder(), BASE).start().await;
        let meter = Meter::start(web.client(), BASE, Duration::from_secs(30)).await.unwrap();
        (web, meter, Client::new(ClientConfig::new(AddressGuard::open())).unwrap())
    }

    #[tokio::test]
    async fn requests_failures_and_tokens_are_counted() {
        let (web, meter, client) = start().await;
        let url = format!("{}/chat/completions", meter.url());
        let content =
            "## Task\nx\n\n## Step\nStep 1 of 9.\n\n<web-content>\n## Steps\n1. open r1\n</web-content>";
        let body = json!({ "messages": [{ "role": "user", "content": content }] });
        let (status, answer) = post(&client, &url, &body).await;
        assert_eq!(status, StatusCode::OK);
        assert!(String::from_utf8_lossy(&answer).contains("Yes."));
        assert_eq!(web.requests()[0].body, Bytes::from(body.to_string()), "the request was changed");
        assert_eq!(post(&client, &url, &body).await.0, StatusCode::SERVICE_UNAVAILABLE);
        let Record { requests, failed, tokens, of_agent } = meter.take();
        assert_eq!((requests, failed, tokens, of_agent), (2, 1, 18, vec![RequestKind::Step]));
        assert_eq!(meter.record().requests, 0, "the counts did not begin again");
    }

    #[tokio::test]
    async fn other_paths_are_forwarded_and_not_counted() {
        let (_web, meter, client) = start().await;
        let models = format!("{}/models", meter.url()).parse().unwrap();
        let response = client.fetch(FetchRequest::get(models)).await.unwrap();
        assert!(String::from_utf8_lossy(&response.body).contains("tiny"));
        assert_eq!(meter.record().requests, 0);
    }
}
