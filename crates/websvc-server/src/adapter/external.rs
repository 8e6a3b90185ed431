//! The APIs of the "external" search engine and web loader of Open WebUI: `POST /search`, `{query, count}`, answered with a list
//! of results, or for SearXNG; and `POST /load`, `{urls}`, answered with a list of pages.

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http::{Method, Request};
use serde_json::{Map, Value, json};
use websvc_store::KeyScope;
use websvc_transport::ServerBody;
use websvc_types::limits::LOAD_URLS_MAX;
use websvc_types::{ErrorCode, ScrapeResponse, Violation, ViolationCode};

use super::{IncomingRequest, ok, read, searxng};
use crate::blocking::run_blocking;
use crate::response::{ApiError, HttpResponse};
use crate::route::{Endpoint, OperationGroup, RequestBody, handler};
use crate::service::{InternalCaller, InternalRequest, RequestContext, Service};

pub(crate) const ENDPOINTS: &[Endpoint] = &[
    Endpoint::post(
        "/search",
        OperationGroup::Search,
        handler!(|context, request| search(context, request).await),
    )
    .name("search")
    .scope(KeyScope::Search)
    .body(RequestBody::SHORT),
    // Each page is a scrape of its own in audit events.
    Endpoint::post(
        "/load",
        OperationGroup::Scrape,
        handler!(|context, request| load(context, request).await),
    )
    .scope(KeyScope::Scrape)
    .body(RequestBody::OPTIONS),
];

/// The number of pages that a request loads at a time.
const CONCURRENT_PAGES: usize = 8;

/// `POST /search`.
async fn search(context: RequestContext<'_>, request: Request<ServerBody>) -> Result<HttpResponse, ApiError> {
    if searxng::is_searxng(&request) {
        return searxng::search(context, request).await;
    }
    let IncomingRequest { base_url, fields } = read(&context, request).await?;
    check_fields(&fields, &["query", "count"], "POST /search takes query and count, POST /v2/search")?;
    let mut search_fields = Map::new();
    search_fields.extend(fields.get("query").map(|query| ("query".to_owned(), query.clone())));
    search_fields.extend(fields.get("count").map(|count| ("limit".to_owned(), count.clone())));
    let results = super::search(context, base_url, search_fields).await?.data.web.unwrap_or_default();
    let list = results
        .into_iter()
        .map(|result| json!({ "link": result.url, "title": result.title, "snippet": result.description }));
    Ok(ok(&Value::Array(list.collect())))
}

/// `POST /load`: scrapes the pages, and returns those that failed with the reason in place of their content.
async fn load(context: RequestContext<'_>, request: Request<ServerBody>) -> Result<HttpResponse, ApiError> {
    let address = Some(context.state.client_ip(&request));
    let IncomingRequest { base_url, fields } = read(&context, request).await?;
    check_fields(&fields, &["urls"], "POST /load takes urls, POST /v2/batch/scrape")?;
    let urls = urls(&fields)?;
    let (service, caller) = (context.service(), context.caller.clone());
    let caller = InternalCaller { caller, base_url, address };
    let loading: Vec<_> = urls.iter().map(|url| Box::pin(scrape(&service, &caller, url))).collect();
    let pages: Vec<_> = stream::iter(loading).buffered(CONCURRENT_PAGES).collect().await;
    let mut documents = Vec::with_capacity(urls.len());
    let mut is_any_paid = false;
    for (url, page) in urls.iter().zip(&pages) {
        let no_credits = ErrorCode::InsufficientCredits.as_str();
        is_any_paid |= !page.as_ref().is_err_and(|error| error.code() == no_credits);
        documents.push(document(url, page.as_ref()));
    }
    match pages.into_iter().next() {
        Some(Err(error)) if !is_any_paid => Err(error),
        _ => Ok(ok(&Value::Array(documents))),
    }
}

/// Returns the URLs of a request to load pages. The scrape of each checks its URL.
fn urls(fields: &Map<String, Value>) -> Result<Vec<&str>, ApiError> {
    let list =
        fields.get("urls").and_then(Value::as_array).filter(|urls| (1..=LOAD_URLS_MAX).contains(&urls.len()));
    let urls: Option<Vec<&str>> = list.and_then(|urls| urls.iter().map(Value::as_str).collect());
    urls.ok_or_else(|| {
        let message = format!("urls must be a list of 1 to {LOAD_URLS_MAX} URLs, as texts");
        let violation = Violation { path: "/urls".to_owned(), code: ViolationCode::InvalidType, message };
        ApiError::invalid(ErrorCode::BadRequest, vec![violation])
    })
}

/// Scrapes a page as a request of its own, with the defaults of `POST /v2/scrape`.
async fn scrape(service: &Service, caller: &InternalCaller, url: &str) -> Result<ScrapeResponse, ApiError> {
    let body = Bytes::from(json!({ "url": url }).to_string());
    let request = InternalRequest::new(Method::POST, "/v2/scrape").body(body);
    let response = service.handle_internal(caller, request).await?;
    // The page may be megabytes of JSON.
    run_blocking(move || serde_json::from_str(&response))
        .await?
        .map_err(|error| ApiError::internal(&error, "the page could not be read"))
}

/// Returns a page as a document of LangChain. Absent values are left out: vector databases reject `null` in metadata.
fn document(url: &str, page: Result<&ScrapeResponse, &ApiError>) -> Value {
    let mut metadata = json!({ "source": url });
    let mut content = "";
    match page {
        Ok(ScrapeResponse { success: _, data, warning }) => {
            content = data.markdown.as_deref().unwrap_or_default();
            let page = data.metadata.as_ref();
            for (name, value) in [
                ("title", page.and_then(|page| page.title.as_ref())),
                ("description", page.and_then(|page| page.description.as_ref())),
                ("language", page.and_then(|page| page.language.as_ref())),
                ("error", page.and_then(|page| page.error.as_ref())),
                ("warning", warning.as_ref()),
            ] {
                if let Some(value) = value {
                    metadata[name] = json!(value);
                }
            }
        }
        Err(error) => metadata["error"] = json!(format!("{}: {}", error.code(), error.as_text())),
    }
    json!({ "page_content": content, "metadata": metadata })
}

/// Rejects the fields of other APIs, which would be ignored. `operation` names the known fields and a larger operation.
fn check_fields(fields: &Map<String, Value>, known: &[&str], operation: &str) -> Result<(), ApiError> {
    let unknown = fields.keys().filter(|name| !known.contains(&name.as_str()));
    let violations: Vec<Violation> = unknown
        .map(|name| Violation {
            path: format!("/{name}"),
            code: ViolationCode::UnknownField,
            message: format!("{name} is unknown: {operation} has more options"),
        })
        .collect();
    if violations.is_empty() { Ok(()) } else { Err(ApiError::invalid(ErrorCode::BadRequest, violations)) }
}
