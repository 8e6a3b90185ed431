//! Uses the client in a web service, which responds to `GET /links?q=...` with links from a search, and with a suitable
//! error if the search fails.
//!
//! ```sh
//! cargo run -p websvc --example client_in_service                          # starts its own search service
//! cargo run -p websvc --example client_in_service http://127.0.0.1:3002 KEY
//! ```
//!
//! The web service is built on `websvc-transport`. Any other HTTP server works as well.

#![expect(clippy::print_stdout, reason = "an example prints its results")]

use std::env;
use std::error::Error;
use std::time::Duration;

use http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use http::{Request, Response, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;
use url::{Url, form_urlencoded};
use websvc::server::{EmbeddedServer, EmbeddedServerConfig};
use websvc::types::index::{IndexDocument, IndexUploadRequest};
use websvc::{Client, ClientError, RetryPolicy};
use websvc_transport::{
    AddressGuard, Body, Client as HttpClient, ClientConfig, FetchRequest, Server, ServerBody, ServerConfig,
};

/// The web service, shared by all requests.
#[derive(Clone)]
struct Links {
    search: Client,
}

impl Links {
    fn new(base: Url, key: String) -> Result<Self, ClientError> {
        // A user waits for the links: an error after two seconds is better than links after sixty.
        let search = Client::builder(base)
            .key(key)
            .timeout(Duration::from_secs(2))
            .retry(RetryPolicy { attempts: 2, ..RetryPolicy::default() })
            .user_agent("links/1.0")
            .build()?;
        Ok(Self { search })
    }

    async fn respond(self, request: Request<ServerBody>) -> Response<Body> {
        let Some(query) = query(&request) else {
            return json_response(
                StatusCode::BAD_REQUEST,
                &json!({ "error": "the parameter q is required" }),
            );
        };
        match self.search.search(query).limit(3).send().await {
            Ok(response) => {
                let results = response.data.web.unwrap_or_default();
                let links: Vec<_> = results
                    .iter()
                    .map(|result| json!({ "title": result.title, "url": result.url }))
                    .collect();
                json_response(StatusCode::OK, &json!({ "links": links }))
            }
            Err(error) => error_response(&error),
        }
    }
}

/// Returns the response to a failed search: invalid query, timeout, or temporary failure.
fn error_response(error: &ClientError) -> Response<Body> {
    match error {
        ClientError::Api(error) if error.status == StatusCode::BAD_REQUEST => {
            let rules: Vec<&str> = error.details.iter().map(|violation| violation.message.as_str()).collect();
            json_response(StatusCode::BAD_REQUEST, &json!({ "error": rules.join("; ") }))
        }
        error if error.is_timeout() => {
            json_response(StatusCode::GATEWAY_TIMEOUT, &json!({ "error": "the search timed out" }))
        }
        error => {
            let body = json!({ "error": "the search failed, try again later" });
            let mut response = json_response(StatusCode::SERVICE_UNAVAILABLE, &body);
            if let Some(delay) = error.retry_after() {
                response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(delay.as_secs()));
            }
            response
        }
    }
}

fn query(request: &Request<ServerBody>) -> Option<String> {
    let query = request.uri().query()?;
    form_urlencoded::parse(query.as_bytes())
        .find(|(name, _)| name == "q")
        .map(|(_, value)| value.into_owned())
}

fn json_response(status: StatusCode, body: &Value) -> Response<Body> {
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let (base, key, _directory) = match arguments.next() {
        Some(base) => (base.parse()?, arguments.next().unwrap_or_default(), None),
        None => {
            let (base, key, directory) = search_service().await?;
            (base, key, Some(directory))
        }
    };
    let links = Links::new(base, key)?;

    let server = Server::bind(ServerConfig::new("127.0.0.1:0")).await?;
    let address = format!("http://{}", server.local_addr());
    println!("the web service listens at {address}");
    let handler = move |request| links.clone().respond(request);
    // A real service would run until a signal; this one ends after three requests.
    tokio::select! {
        ended = server.run(handler, std::future::pending()) => { ended?; }
        sent = send_requests(&address) => sent?,
    }
    Ok(())
}

/// Sends the requests of a client to the web service: a valid one, one without a query, one with a too long query.
async fn send_requests(address: &str) -> Result<(), Box<dyn Error>> {
    let http = HttpClient::new(ClientConfig::new(AddressGuard::open()))?;
    let too_long = format!("/links?q={}", "x".repeat(501));
    for path in ["/links?q=run+awaitables", "/links", too_long.as_str()] {
        let response = http.fetch(FetchRequest::get(format!("{address}{path}").parse()?)).await?;
        println!("{:.24}: {} {}", path, response.status.as_u16(), String::from_utf8_lossy(&response.body));
    }
    Ok(())
}

/// Starts a search service with one document, which ends with this program.
async fn search_service() -> Result<(Url, String, TempDir), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let service = EmbeddedServer::bind(EmbeddedServerConfig::new(directory.path())).await?;
    let key = service.create_key("default", "links").await?;
    let base: Url = service.url().parse()?;
    tokio::spawn(service.run(std::future::pending()));

    let search = Client::builder(base.clone()).key(key.as_str()).build()?;
    let document = IndexDocument {
        url: "https://docs.example/asyncio".to_owned(),
        title: "asyncio".to_owned(),
        body: "gather runs awaitables together and returns their results in order.".to_owned(),
        ..IndexDocument::default()
    };
    search.add_documents(&IndexUploadRequest { documents: vec![document] }).await?;
    while search.index_stats().await?.documents == 0 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok((base, key, directory))
}
