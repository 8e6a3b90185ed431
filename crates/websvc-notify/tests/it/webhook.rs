//! Delivery attempts: acknowledgment by status, and forbidden destinations.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderValue};
use websvc_notify::webhook::{PostError, SigningSecret, WebhookRequest, post};
use websvc_testkit::{Canary, Coding, Page, TestWeb};
use websvc_transport::{AddressGuard, Client, ClientConfig, Resolve, ResolveFuture};

const URL: &str = "http://hook.test/in";

fn request() -> WebhookRequest {
    let mut headers = HeaderMap::new();
    headers.insert("x-custom", HeaderValue::from_static("1"));
    headers.insert("webhook-id", HeaderValue::from_static("forged"));
    WebhookRequest {
        id: "msg_1".to_owned(),
        sent_at: jiff::Timestamp::now(),
        body: "{}".into(),
        headers,
        timeout: Duration::from_millis(500),
    }
}

async fn send(client: &Client, url: &str) -> Result<u16, PostError> {
    let secret = SigningSecret::new("sixteen--letters").unwrap();
    post(client, url.parse().unwrap(), &secret, request()).await
}

async fn check(page: Page, expected: Result<u16, PostError>) {
    let web = TestWeb::builder().page(URL, page).page("http://hook.test/other", Page::text("")).start().await;
    assert_eq!(send(&web.client(), URL).await, expected);
    let requests = web.requests();
    let urls: Vec<&str> = requests.iter().map(|request| request.url.as_str()).collect();
    assert_eq!(urls, [URL]);
    let headers: Vec<_> = ["x-custom", "webhook-id", "content-type", "accept-encoding"]
        .map(|name| requests[0].header(name))
        .into();
    assert_eq!(headers, [Some("1"), Some("msg_1"), Some("application/json"), Some("identity")]);
}

fn status(status: u16, retry_after_s: Option<u64>) -> Result<u16, PostError> {
    Err(PostError::Status { status, retry_after: retry_after_s.map(Duration::from_secs) })
}

#[tokio::test]
async fn only_a_success_status_acknowledges() {
    check(Page::text("").status(200), Ok(200)).await;
    check(Page::text("").status(204), Ok(204)).await;
    check(Page::redirect(302, "/other"), status(302, None)).await;
    check(Page::redirect(307, "http://127.0.0.1/"), status(307, None)).await;
    check(Page::text("no").status(500), status(500, None)).await;
    check(Page::text("").status(429).header("retry-after", "7"), status(429, Some(7))).await;
    check(Page::text("").status(503).header("retry-after", "soon"), status(503, None)).await;
    check(Page::unresponsive(), Err(PostError::NoResponse("no response in time"))).await;
}

#[tokio::test]
async fn body_of_the_response_is_ignored() {
    let long = || Page::text("taken ".repeat(20_000));
    check(long(), Ok(200)).await;
    check(long().encoded(Coding::Gzip), Ok(200)).await;
    check(Page::text("not gzip").header("content-encoding", "gzip"), Ok(200)).await;
    check(Page::text("x").header("content-encoding", "br, br, br, br, br"), Ok(200)).await;
    check(Page::text("x").header("content-encoding", "unheard-of").status(202), Ok(202)).await;
    check(long().truncated_at(10), Ok(200)).await;
    check(Page::endless("text/plain", "more"), Ok(200)).await;
    // The body takes longer than the timeout of the request.
    check(Page::text("slowly").slow(1, Duration::from_millis(200)), Ok(200)).await;
    check(long().encoded(Coding::Brotli).status(500), status(500, None)).await;
}

/// Resolves every name to one address.
#[derive(Debug)]
struct FixedResolver(IpAddr);

impl Resolve for FixedResolver {
    fn resolve<'a>(&'a self, _name: &'a str) -> ResolveFuture<'a> {
        let address = self.0;
        Box::pin(async move { Ok(vec![address]) })
    }
}

#[tokio::test]
async fn internal_addresses_are_refused_in_every_spelling() {
    let canary = Canary::start().await;
    let port = canary.addr().port();
    let client = Client::new(ClientConfig::new(AddressGuard::public())).unwrap();
    for host in
        ["127.0.0.1", "169.254.169.254", "10.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "localhost"]
    {
        let url = format!("http://{host}:{port}/");
        assert_eq!(send(&client, &url).await, Err(PostError::Forbidden), "{url}");
        assert!(client.refuses(&url.parse().unwrap()), "{url}");
    }
    for address in ["127.0.0.1", "169.254.169.254", "fd00::1"] {
        let resolver = Arc::new(FixedResolver(address.parse().unwrap()));
        let config = ClientConfig { resolver, ..ClientConfig::new(AddressGuard::public()) };
        let client = Client::new(config).unwrap();
        let url = format!("http://rebind.test:{port}/");
        assert_eq!(send(&client, &url).await, Err(PostError::Forbidden), "{address}");
        assert!(
            !client.refuses(&url.parse().unwrap()),
            "the address of a name is not known before its resolution"
        );
    }
    assert_eq!(canary.connections(), 0);
}
