//! Checks the official Rust SDK against a running service: `rust_sdk ADDRESS [KEY]`.

mod agent;
mod interact;
mod monitor;

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use firecrawl::{Client, FirecrawlError, SearchResultOrDocument};

/// A client that hangs counts as failed.
const TIMEOUT: Duration = Duration::from_secs(120);

const PAGE: &str = "http://tea.test/green.html";

/// The outcome of a check.
type Outcome = Result<(), Box<dyn Error>>;

/// The service under test.
struct Service {
    address: String,
    key: Option<String>,
    /// True if it has a language model.
    has_model: bool,
}

impl Service {
    /// Returns a client with a key.
    fn client(&self, key: Option<&str>) -> Result<Client, FirecrawlError> {
        Client::new_selfhosted(&self.address, key)
    }
}

/// Returns an error that shows a value, if a condition does not hold.
fn ensure(condition: bool, value: &dyn std::fmt::Debug) -> Outcome {
    if condition { Ok(()) } else { Err(format!("unexpected: {value:?}").into()) }
}

/// Returns an error if a call succeeded, or failed for another reason.
fn ensure_failed<T: std::fmt::Debug>(result: Result<T, FirecrawlError>, reason: &str) -> Outcome {
    match result {
        Ok(value) => Err(format!("accepted: {value:?}").into()),
        Err(error) => ensure(error.to_string().contains(reason), &error),
    }
}

async fn check_search(service: &Service) -> Outcome {
    let found = service.client(service.key.as_deref())?.search("green tea water", None).await?;
    match found.data.web.as_deref() {
        Some([SearchResultOrDocument::WebResult(first), ..]) => ensure(first.url == PAGE, first),
        other => Err(format!("no results: {other:?}").into()),
    }
}

async fn check_scrape(service: &Service) -> Outcome {
    let page = service.client(service.key.as_deref())?.scrape(PAGE, None).await?;
    let is_page = page.markdown.as_ref().is_some_and(|markdown| markdown.starts_with("# Green tea"));
    ensure(is_page, &page)
}

/// A wrong key is rejected; without authentication any key is accepted.
async fn check_keys(service: &Service) -> Outcome {
    let found = service.client(Some("fc-wrong"))?.search("tea", None).await;
    match &service.key {
        Some(_) => ensure_failed(found, "Invalid token"),
        None => found.map(drop).map_err(Into::into),
    }
}

/// Returns true if an environment variable is `1`.
fn is_set(variable: &str) -> bool {
    std::env::var(variable).is_ok_and(|value| value == "1")
}

/// Prints the outcome of a check as one line.
async fn report(name: &str, check: impl Future<Output = Outcome>) {
    let outcome = match tokio::time::timeout(TIMEOUT, check).await {
        Ok(outcome) => outcome.map_err(|error| error.to_string()),
        Err(_elapsed) => Err("the client did not finish in time".to_owned()),
    };
    match outcome {
        Ok(()) => println!("ok {name}"),
        Err(reason) => println!("failed {name}: {}", reason.replace('\n', " ")),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(address) = arguments.next() else {
        eprintln!("usage: rust_sdk ADDRESS [KEY]");
        return ExitCode::FAILURE;
    };
    let service = Service { address, key: arguments.next(), has_model: is_set("WEBSVC_MODEL") };
    println!("client firecrawl (Rust) 2.21.8");
    report("search", check_search(&service)).await;
    report("scrape", check_scrape(&service)).await;
    report("monitor", monitor::check(&service)).await;
    if service.has_model {
        report("agent", agent::check(&service)).await;
    } else {
        report("agent without a model", agent::check_without_model(&service)).await;
    }
    if is_set("WEBSVC_SESSIONS") {
        report("interact", interact::check(&service)).await;
    }
    report("keys", check_keys(&service)).await;
    ExitCode::SUCCESS
}
