//! `/search` with the API of SearXNG, for programs that support it. `GET` has the parameters in the address, `POST` there or
//! in a form.

use http::Request;
use serde_json::{Map, Value, json};
use url::form_urlencoded;
use websvc_store::KeyScope;
use websvc_transport::ServerBody;
use websvc_types::limits::LIMIT_MAX;
use websvc_types::{ImageResult, NewsResult, SearchResponse, Violation, ViolationCode, WebResult};

use super::ok;
use crate::handler::declares_form;
use crate::response::{ApiError, HttpResponse};
use crate::route::{Endpoint, OperationGroup, handler};
use crate::service::RequestContext;

pub(crate) const ENDPOINTS: &[Endpoint] = &[Endpoint::get(
    "/search",
    OperationGroup::Search,
    handler!(|context, request| search(context, request).await),
)
.name("search")
.scope(KeyScope::Search)];

/// The number of results per page.
const PAGE_SIZE: usize = 10;

/// The parameters of a SearXNG request.
#[derive(Debug, PartialEq)]
struct SearxngQuery {
    query: String,
    /// The number of the page, from 1.
    page: usize,
    /// The translated request of version 2.
    fields: Map<String, Value>,
    /// The values without a counterpart in version 2, each with the reason.
    ignored: Vec<(String, &'static str)>,
}

/// Returns whether a `POST /search` is one of SearXNG: a form, or a query in the address.
pub(super) fn is_searxng(request: &Request<ServerBody>) -> bool {
    let parameters = request.uri().query().unwrap_or_default();
    declares_form(request.headers())
        || form_urlencoded::parse(parameters.as_bytes()).any(|(name, _)| name == "q")
}

/// `GET /search?q=...&format=json`, and `POST` with the same parameters.
pub(super) async fn search(
    context: RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let base_url = context.state.base_url(&request);
    let mut parameters = request.uri().query().unwrap_or_default().to_owned();
    if declares_form(request.headers()) {
        parameters.push('&');
        parameters.push_str(&String::from_utf8_lossy(&request.into_body().into_received()));
    }
    let SearxngQuery { query, page, fields, ignored } = parse(&parameters)?;
    let response = super::search(context, base_url, fields).await?;
    Ok(ok(&translate_response(&query, page, response, &ignored)))
}

/// Parses the parameters, and translates them into a request of version 2.
///
/// # Errors
/// 400 for another format than JSON, and for invalid values.
fn parse(parameters: &str) -> Result<SearxngQuery, ApiError> {
    let mut parsed = SearxngQuery { query: String::new(), page: 1, fields: Map::new(), ignored: Vec::new() };
    let (mut format, mut sources) = (String::new(), Vec::new());
    for (name, value) in form_urlencoded::parse(parameters.as_bytes()) {
        match &*name {
            "q" => parsed.query = value.into_owned(),
            "format" => format = value.into_owned(),
            "pageno" => parsed.page = parse_page(&value)?,
            "categories" => {
                for category in value.split(',').map(str::trim).filter(|category| !category.is_empty()) {
                    match category {
                        "general" => sources.push("web"),
                        "images" | "news" => sources.push(if category == "news" { "news" } else { "images" }),
                        other => parsed.ignored.push((other.to_owned(), "this category is not searched")),
                    }
                }
            }
            "language" => parse_language(&value, &mut parsed),
            "time_range" if value.is_empty() => {}
            "time_range" => {
                let tbs = match &*value {
                    "day" => "qdr:d",
                    "week" => "qdr:w",
                    "month" => "qdr:m",
                    "year" => "qdr:y",
                    _ => return Err(invalid("time_range", "must be day, week, month or year")),
                };
                parsed.fields.insert("tbs".to_owned(), json!(tbs));
            }
            "safesearch" => {
                let safe = match &*value {
                    "" | "0" => false,
                    "1" | "2" => true,
                    _ => return Err(invalid("safesearch", "must be 0, 1 or 2")),
                };
                parsed.fields.insert("safe".to_owned(), json!(safe));
            }
            "engines" | "enabled_engines" => {
                for engine in value.split(',').map(str::trim).filter(|engine| !engine.is_empty()) {
                    parsed.ignored.push((engine.to_owned(), "the service chooses the engines"));
                }
            }
            // Other parameters concern only the HTML page of SearXNG.
            _ => {}
        }
    }
    if format != "json" {
        return Err(invalid("format", "must be json"));
    }
    sources.sort_unstable();
    sources.dedup();
    if sources.is_empty() {
        sources.push("web");
    }
    parsed.fields.insert("query".to_owned(), json!(parsed.query));
    parsed.fields.insert("sources".to_owned(), json!(sources));
    let limit = parsed.page.saturating_mul(PAGE_SIZE).min(LIMIT_MAX as usize);
    parsed.fields.insert("limit".to_owned(), json!(limit));
    Ok(parsed)
}

fn parse_page(value: &str) -> Result<usize, ApiError> {
    let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    // A number that does not fit is also a page after the last one.
    let page = is_number.then(|| value.parse().unwrap_or(usize::MAX));
    page.filter(|page| *page >= 1).ok_or_else(|| invalid("pageno", "must be a number from 1"))
}

/// Parses a language. The country of `de-DE` is used; a language without country has no counterpart in version 2.
fn parse_language(value: &str, parsed: &mut SearxngQuery) {
    match value.split_once(['-', '_']) {
        Some((_, country))
            if country.len() == 2 && country.bytes().all(|byte| byte.is_ascii_alphabetic()) =>
        {
            parsed.fields.insert("country".to_owned(), json!(country.to_ascii_uppercase()));
        }
        _ if matches!(value, "" | "all" | "auto") => {}
        _ => parsed.ignored.push((value.to_owned(), "results are not selected by language")),
    }
}

fn invalid(name: &str, rule: &str) -> ApiError {
    let message = format!("{name} {rule}");
    let violation = Violation { path: format!("/{name}"), code: ViolationCode::InvalidFormat, message };
    ApiError::invalid_query(vec![violation])
}

fn translate_response(
    query: &str,
    page: usize,
    response: SearchResponse,
    ignored: &[(String, &'static str)],
) -> Value {
    let SearchResponse { data, warning, .. } = response;
    let first = (page - 1).saturating_mul(PAGE_SIZE);
    let page_of = |results: Vec<Value>| results.into_iter().skip(first).take(PAGE_SIZE);
    let mut results: Vec<Value> = Vec::new();
    results.extend(page_of(data.web.unwrap_or_default().into_iter().map(web).collect()));
    results.extend(page_of(data.news.unwrap_or_default().into_iter().map(news).collect()));
    results.extend(page_of(data.images.unwrap_or_default().into_iter().map(image).collect()));
    for (index, result) in results.iter_mut().enumerate() {
        let position = first + index + 1;
        result["engine"] = json!("websvc");
        result["engines"] = json!(["websvc"]);
        result["positions"] = json!([position]);
        result["score"] = json!(1.0 / position as f64);
    }
    let ignored = ignored.iter().map(|(name, reason)| json!([name, reason]));
    let unresponsive: Vec<Value> = ignored.chain(warning.map(|warning| json!(["websvc", warning]))).collect();
    json!({
        "query": query,
        "number_of_results": results.len(),
        "results": results,
        "answers": [],
        "corrections": [],
        "infoboxes": [],
        "suggestions": [],
        "unresponsive_engines": unresponsive,
    })
}

fn web(result: WebResult) -> Value {
    let WebResult { title, description, url, .. } = result;
    json!({ "url": url, "title": title, "content": description, "category": "general", "template": "default.html" })
}

fn news(result: NewsResult) -> Value {
    let NewsResult { title, snippet, url, date, image_url, .. } = result;
    json!({
        "url": url,
        "title": title,
        "content": snippet,
        "publishedDate": date,
        "thumbnail": image_url,
        "category": "news",
        "template": "default.html",
    })
}

fn image(result: ImageResult) -> Value {
    let ImageResult { title, image_url, image_width, image_height, url, .. } = result;
    let resolution = image_width.zip(image_height).map(|(width, height)| format!("{width} x {height}"));
    json!({
        "url": url,
        "title": title,
        "content": "",
        "img_src": image_url,
        "resolution": resolution,
        "category": "images",
        "template": "images.html",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_translated_into_a_search() {
        let parsed = parse(
            "q=green+tea&format=json&pageno=2&categories=news,general,files&language=de-de&time_range=week\
             &safesearch=1&engines=google&theme=simple",
        )
        .unwrap();
        let expected = json!({
            "query": "green tea",
            "sources": ["news", "web"],
            "limit": 20,
            "country": "DE",
            "tbs": "qdr:w",
            "safe": true,
        });
        assert_eq!((Value::Object(parsed.fields), parsed.page), (expected, 2));
        let ignored: Vec<&str> = parsed.ignored.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(ignored, ["files", "google"]);
        for late in ["99999999999", "20585455429802025994067388141666304000"] {
            let parsed = parse(&format!("q=a&format=json&pageno={late}")).unwrap();
            assert_eq!(parsed.fields["limit"], 100);
        }
    }

    #[test]
    fn invalid_values_are_rejected() {
        for parameters in [
            "q=a",
            "q=a&format=csv",
            "q=a&format=json&pageno=0",
            "q=a&format=json&time_range=hour",
            "q=a&format=json&safesearch=x",
        ] {
            let error = parse(parameters).unwrap_err();
            assert_eq!(error.status(), 400, "{parameters}");
            assert!(error.as_text().starts_with("Invalid query parameter\n"), "{parameters}");
        }
    }

    #[test]
    fn page_contains_its_part_of_the_results() {
        let result =
            |number: usize| WebResult { url: format!("http://a.test/{number}"), ..WebResult::default() };
        let mut response = SearchResponse::default();
        response.data.web = Some((1..=13).map(result).collect());
        let translated = translate_response("a", 2, response, &[]);
        assert_eq!(translated["number_of_results"], 3);
        assert_eq!(translated["results"][0]["url"], "http://a.test/11");
        assert_eq!(translated["results"][0]["positions"], json!([11]));
    }
}
