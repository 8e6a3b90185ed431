//! `GET /search` as SearXNG answers it, for programs that know that interface.

use http::Request;
use serde_json::{Map, Value, json};
use url::form_urlencoded;
use websvc_transport::ServerBody;
use websvc_types::limits::LIMIT_MAX;
use websvc_types::{ErrorCode, ImageResult, NewsResult, SearchResponse, Violation, ViolationCode, WebResult};

use super::ok;
use crate::response::{ApiError, HttpResponse};
use crate::service::RequestContext;

/// Results of one page.
const PAGE: usize = 10;

/// What is asked, in the words of SearXNG.
#[derive(Debug, PartialEq)]
struct SearxngQuery {
    query: String,
    /// From 1.
    page: usize,
    /// The request of version 2.
    fields: Map<String, Value>,
    /// What has no counterpart, each with why.
    ignored: Vec<(String, &'static str)>,
}

/// `GET /search?q=...&format=json`.
pub(super) async fn search(
    context: RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let origin = context.origin.of(request.body().peer_addr().ip(), request.uri(), request.headers());
    let SearxngQuery { query, page, fields, ignored } = read(request.uri().query().unwrap_or_default())?;
    let response = super::search(context, origin, fields).await?;
    Ok(ok(&answer(&query, page, response, &ignored)))
}

/// Reads the parameters.
///
/// # Errors
/// 400 for a format other than JSON, and for values that are none.
fn read(parameters: &str) -> Result<SearxngQuery, ApiError> {
    let mut asked = SearxngQuery { query: String::new(), page: 1, fields: Map::new(), ignored: Vec::new() };
    let (mut format, mut sources) = (String::new(), Vec::new());
    for (name, value) in form_urlencoded::parse(parameters.as_bytes()) {
        match &*name {
            "q" => asked.query = value.into_owned(),
            "format" => format = value.into_owned(),
            "pageno" => asked.page = page(&value)?,
            "categories" => {
                for category in value.split(',').map(str::trim).filter(|category| !category.is_empty()) {
                    match category {
                        "general" => sources.push("web"),
                        "images" | "news" => sources.push(if category == "news" { "news" } else { "images" }),
                        other => asked.ignored.push((other.to_owned(), "this category is not searched")),
                    }
                }
            }
            "language" => language(&value, &mut asked),
            "time_range" if value.is_empty() => {}
            "time_range" => {
                let tbs = match &*value {
                    "day" => "qdr:d",
                    "week" => "qdr:w",
                    "month" => "qdr:m",
                    "year" => "qdr:y",
                    _ => return Err(refused("time_range", "must be day, week, month or year")),
                };
                asked.fields.insert("tbs".to_owned(), json!(tbs));
            }
            "safesearch" => {
                let safe = match &*value {
                    "" | "0" => false,
                    "1" | "2" => true,
                    _ => return Err(refused("safesearch", "must be 0, 1 or 2")),
                };
                asked.fields.insert("safe".to_owned(), json!(safe));
            }
            "engines" | "enabled_engines" => {
                for engine in value.split(',').map(str::trim).filter(|engine| !engine.is_empty()) {
                    asked.ignored.push((engine.to_owned(), "engines are those of this service"));
                }
            }
            // How a page of SearXNG looks, which is not asked for.
            _ => {}
        }
    }
    if format != "json" {
        return Err(refused("format", "must be json"));
    }
    sources.sort_unstable();
    sources.dedup();
    if sources.is_empty() {
        sources.push("web");
    }
    asked.fields.insert("query".to_owned(), json!(asked.query));
    asked.fields.insert("sources".to_owned(), json!(sources));
    asked.fields.insert("limit".to_owned(), json!(asked.page.saturating_mul(PAGE).min(LIMIT_MAX as usize)));
    Ok(asked)
}

fn page(value: &str) -> Result<usize, ApiError> {
    let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    // A number that is too large for us is a page behind the last one, too.
    let page = is_number.then(|| value.parse().unwrap_or(usize::MAX));
    page.filter(|page| *page >= 1).ok_or_else(|| refused("pageno", "must be a number from 1"))
}

/// Reads a language: `de-DE` has a country, which decides; a language alone has no counterpart.
fn language(value: &str, asked: &mut SearxngQuery) {
    match value.split_once(['-', '_']) {
        Some((_, country))
            if country.len() == 2 && country.bytes().all(|sign| sign.is_ascii_alphabetic()) =>
        {
            asked.fields.insert("country".to_owned(), json!(country.to_ascii_uppercase()));
        }
        _ if matches!(value, "" | "all" | "auto") => {}
        _ => asked.ignored.push((value.to_owned(), "results are not chosen by their language")),
    }
}

fn refused(name: &str, rule: &str) -> ApiError {
    let message = format!("{name} {rule}");
    let violation = Violation { path: format!("/{name}"), code: ViolationCode::InvalidFormat, message };
    ApiError::invalid(ErrorCode::BadRequest, vec![violation])
}

fn answer(query: &str, page: usize, response: SearchResponse, ignored: &[(String, &'static str)]) -> Value {
    let SearchResponse { data, warning, .. } = response;
    let first = (page - 1).saturating_mul(PAGE);
    let of_page = |results: Vec<Value>| results.into_iter().skip(first).take(PAGE);
    let mut results: Vec<Value> = Vec::new();
    results.extend(of_page(data.web.unwrap_or_default().into_iter().map(web).collect()));
    results.extend(of_page(data.news.unwrap_or_default().into_iter().map(news).collect()));
    results.extend(of_page(data.images.unwrap_or_default().into_iter().map(image).collect()));
    for (at, result) in results.iter_mut().enumerate() {
        result["engine"] = json!("websvc");
        result["engines"] = json!(["websvc"]);
        result["positions"] = json!([first + at + 1]);
        result["score"] = json!(1.0 / (first + at + 1) as f64);
    }
    let said = ignored.iter().map(|(name, why)| json!([name, why]));
    let unresponsive: Vec<Value> = said.chain(warning.map(|warning| json!(["websvc", warning]))).collect();
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
    fn parameters_become_a_search() {
        let asked = read(
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
        assert_eq!((Value::Object(asked.fields), asked.page), (expected, 2));
        let ignored: Vec<&str> = asked.ignored.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(ignored, ["files", "google"]);
        for late in ["99999999999", "20585455429802025994067388141666304000"] {
            let asked = read(&format!("q=a&format=json&pageno={late}")).unwrap();
            assert_eq!(asked.fields["limit"], 100);
        }
    }

    #[test]
    fn values_that_are_none_are_refused() {
        for parameters in [
            "q=a",
            "q=a&format=csv",
            "q=a&format=json&pageno=0",
            "q=a&format=json&time_range=hour",
            "q=a&format=json&safesearch=x",
        ] {
            assert_eq!(read(parameters).unwrap_err().status(), 400, "{parameters}");
        }
    }

    #[test]
    fn a_page_has_its_part_of_the_results() {
        let result =
            |number: usize| WebResult { url: format!("http://a.test/{number}"), ..WebResult::default() };
        let mut response = SearchResponse::default();
        response.data.web = Some((1..=13).map(result).collect());
        let answer = answer("a", 2, response, &[]);
        assert_eq!(answer["number_of_results"], 3);
        assert_eq!(answer["results"][0]["url"], "http://a.test/11");
        assert_eq!(answer["results"][0]["positions"], json!([11]));
    }
}
