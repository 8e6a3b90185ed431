//! A fake of a SearXNG instance, with the behavior of its JSON API.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use url::Url;

use crate::page::Page;
use crate::test_web::ReceivedRequest;

/// The number of results per page.
const PER_PAGE: usize = 10;

/// A fake instance. A test serves [`respond`](Self::respond) at its `/search`.
#[derive(Debug, Clone)]
pub struct FakeSearxng {
    /// The results by category.
    results: BTreeMap<&'static str, Vec<Value>>,
    /// The names of unresponsive engines, and the reasons.
    unresponsive: Vec<Value>,
    is_json_enabled: bool,
    /// The value of `Retry-After`, if all requests are rejected.
    retry_after: Option<&'static str>,
}

impl FakeSearxng {
    /// Creates an instance without results, with the JSON format enabled.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "a test chooses an empty instance explicitly")]
    pub fn new() -> Self {
        Self { results: BTreeMap::new(), unresponsive: Vec::new(), is_json_enabled: true, retry_after: None }
    }

    /// Adds the results of a category: `general`, `images` or `news`.
    #[must_use]
    pub fn results(mut self, category: &'static str, results: Vec<Value>) -> Self {
        self.results.entry(category).or_default().extend(results);
        self
    }

    /// Adds an engine that does not respond, with the reason.
    #[must_use]
    pub fn unresponsive_engine(mut self, name: &str, reason: &str) -> Self {
        self.unresponsive.push(json!([name, reason]));
        self
    }

    /// Disables the JSON format, as the default settings do.
    #[must_use]
    pub fn without_json(mut self) -> Self {
        self.is_json_enabled = false;
        self
    }

    /// Rejects all requests as a rate limiter does, with this `Retry-After`; an empty value is not sent.
    #[must_use]
    pub fn rate_limited(mut self, retry_after: &'static str) -> Self {
        self.retry_after = Some(retry_after);
        self
    }

    /// Responds to a request as the instance would.
    #[must_use]
    pub fn respond(&self, request: &ReceivedRequest) -> Page {
        if let Some(retry_after) = self.retry_after {
            let page = Page::html("<title>Too Many Requests</title>").status(429);
            return if retry_after.is_empty() { page } else { page.header("retry-after", retry_after) };
        }
        let parameters = Parameters::from_url(&request.url);
        match parameters.get("format") {
            "json" if self.is_json_enabled => self.json(&parameters),
            "json" => Page::html("<title>403 Forbidden</title>").status(403),
            // All other values return the HTML page of results.
            _ => Page::html("<title>SearXNG</title>"),
        }
    }

    fn json(&self, parameters: &Parameters) -> Page {
        let reject =
            |error: &str| Page::new("application/json", json!({ "error": error }).to_string()).status(400);
        if parameters.get("q").trim().is_empty() {
            return reject("No query");
        }
        if !["", "day", "week", "month", "year"].contains(&parameters.get("time_range")) {
            return reject("Invalid value \"time_range\"");
        }
        if !["", "0", "1", "2"].contains(&parameters.get("safesearch")) {
            return reject("Invalid value \"safesearch\"");
        }
        let Ok(page @ 1..) = parameters.get("pageno").parse::<usize>() else {
            return reject("Invalid value \"pageno\"");
        };
        let all = self.results.get(parameters.get("categories")).map(Vec::as_slice).unwrap_or_default();
        let results: Vec<&Value> = all.iter().skip((page - 1) * PER_PAGE).take(PER_PAGE).collect();
        let body = json!({
            "query": parameters.get("q"),
            "number_of_results": 0,
            "results": results,
            "answers": [],
            "corrections": [],
            "infoboxes": [],
            "suggestions": [],
            "unresponsive_engines": self.unresponsive,
        });
        Page::new("application/json", body.to_string())
    }
}

/// The parameters of a request.
struct Parameters(BTreeMap<String, String>);

impl Parameters {
    fn from_url(url: &str) -> Self {
        let url = Url::parse(url).expect("requests have valid URLs");
        Self(url.query_pairs().into_owned().collect())
    }

    fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }
}
