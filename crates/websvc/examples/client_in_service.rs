//! The client in a service: one that answers `GET /links?q=...` with links from a search, and says so when there are
//! none to be had.
//!
//! ```sh
//! cargo run -p websvc --example client_in_service                          # brings its own search
//! cargo run -p websvc --example client_in_service http://127.0.0.1:3002 KEY
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::env;
use std::error::Error;
use std::time::Duration;

use http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use http::{Request, Response, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;
use url::{Url, form_urlencoded};
use websvc::server::{EmbeddedServer, EmbeddedServerConfig};
use websvc::transport::{
    AddressGuard, Body, Client as HttpClient, ClientConfig, FetchRequest, Server, ServerBody, ServerConfig,
};
use websvc::types::index::{IndexDocument, IndexUploadRequest};
use websvc::{Client, ClientError, RetryPolicy};

/// The service: made once, shared by all requests.
#[derive(Clone)]
struct Links {
    search: Client,
}

impl Links {
    fn new(base: Url, key: String) -> Result<Self, ClientError> {
        // Somebody waits for the answer: better none after two seconds than one after sixty.
        let search = Client::builder(base)
            .key(key)
            .timeout(Duration::from_secs(2))
            .retry(RetryPolicy { attempts: 2, ..RetryPolicy::default() })
            .user_agent("links/1.0")
            .build()?;
        Ok(Self { search })
    }

    async fn answer(self, request: Request<ServerBody>) -> Response<Body> {
        let Some(query) = query(&request) else {
            return reply(StatusCode::BAD_REQUEST, &json!({ "error": "ask by ?q=" }));
        };
        match self.search.search(query).limit(3).send().await {
            Ok(found) => {
                let results = found.data.web.unwrap_or_default();
                let links: Vec<_> = results
                    .iter()
                    .map(|result| json!({ "title": result.title, "url": result.url }))
                    .collect();
                reply(StatusCode::OK, &json!({ "links": links }))
            }
            Err(error) => excuse(&error),
        }
    }
}

/// Returns the response to a failed search: invalid request, overload, or internal error.
fn excuse(error: &ClientError) -> Response<Body> {
    match error {
        ClientError::Api(refusal) if refusal.status == StatusCode::BAD_REQUEST => {
            let rules: Vec<&str> =
                refusal.details.iter().map(|violation| violation.message.as_str()).collect();
            reply(StatusCode::BAD_REQUEST, &json!({ "error": rules.join("; ") }))
        }
        error if error.is_timeout() => {
            reply(StatusCode::GATEWAY_TIMEOUT, &json!({ "error": "no links in time" }))
        }
        error => {
            let mut busy = reply(StatusCode::SERVICE_UNAVAILABLE, &json!({ "error": "no links now" }));
            if let Some(wait) = error.retry_after() {
                busy.headers_mut().insert(RETRY_AFTER, HeaderValue::from(wait.as_secs()));
            }
            busy
        }
    }
}

fn query(request: &Request<ServerBody>) -> Option<String> {
    let given = request.uri().query()?;
    form_urlencoded::parse(given.as_bytes())
        .find(|(name, _)| name == "q")
        .map(|(_, query)| query.into_owned())
}

fn reply(status: StatusCode, body: &Value) -> Response<Body> {
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
    println!("the service answers at {address}");
    let handler = move |request| links.clone().answer(request);
    // A service of its own would run until a signal; this one until it has shown what it does.
    tokio::select! {
        ended = server.run(handler, std::future::pending()) => { ended?; }
        asked = ask(&address) => asked?,
    }
    Ok(())
}

/// Asks the service what its callers might.
async fn ask(address: &str) -> Result<(), Box<dyn Error>> {
    let http = HttpClient::new(ClientConfig::new(AddressGuard::open()))?;
    let long = format!("/links?q={}", "x".repeat(501));
    for path in ["/links?q=run+awaitables", "/links", long.as_str()] {
        let answer = http.fetch(FetchRequest::get(format!("{address}{path}").parse()?)).await?;
        println!("{:.24}: {} {}", path, answer.status.as_u16(), String::from_utf8_lossy(&answer.body));
    }
    Ok(())
}

/// Starts a search service that ends with this program, with something to find.
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
