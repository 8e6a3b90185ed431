//! A stand-in for an instance of SearXNG: the behaviour of its JSON API that callers have to live with.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use url::Url;

use crate::page::Page;
use crate::test_web::ReceivedRequest;

/// The results of one page of one engine, and so of this stand-in.
const PER_PAGE: usize = 10;

/// An instance with the results it has, by category. Serve [`answer`](Self::answer) at its `/search`.
#[derive(Debug, Clone)]
pub struct FakeSearxng {
    results: BTreeMap<&'static str, Vec<Value>>,
    silent: Vec<Value>,
    is_json_enabled: bool,
    retry_after: Option<&'static str>,
}

impl FakeSearxng {
    /// Returns an instance without results that speaks JSON.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "an empty instance is a choice of the test")]
    pub fn new() -> Self {
        Self { results: BTreeMap::new(), silent: Vec::new(), is_json_enabled: true, retry_after: None }
    }

    /// Adds the results of a category: `general`, `images` or `news`.
    #[must_use]
    pub fn results(mut self, category: &'static str, results: Vec<Value>) -> Self {
        self.results.entry(category).or_default().extend(results);
        self
    }

    /// Adds an engine that does not answer, with the reason.
    #[must_use]
    pub fn silent_engine(mut self, name: &str, reason: &str) -> Self {
        self.silent.push(json!([name, reason]));
        self
    }

    /// Leaves `json` out of `search.formats`, as the settings do by default.
    #[must_use]
    pub fn without_json(mut self) -> Self {
        self.is_json_enabled = false;
        self
    }

    /// Lets the limiter refuse every request, with this `Retry-After`; the empty one is not sent.
    #[must_use]
    pub fn limited(mut self, retry_after: &'static str) -> Self {
        self.retry_after = Some(retry_after);
        self
    }

    /// Answers a request as the instance would.
    #[must_use]
    pub fn answer(&self, seen: &ReceivedRequest) -> Page {
        if let Some(retry_after) = self.retry_after {
            let page = Page::html("<title>Too Many Requests</title>").status(429);
            return if retry_after.is_empty() { page } else { page.header("retry-after", retry_after) };
        }
        let asked = Asked::read(&seen.url);
        match asked.get("format") {
            "json" if self.is_json_enabled => self.json(&asked),
            "json" => Page::html("<title>403 Forbidden</title>").status(403),
            // Whatever else is asked for, the page of results for people comes.
            _ => Page::html("<title>SearXNG</title>"),
        }
    }

    fn json(&self, asked: &Asked) -> Page {
        let refuse =
            |error: &str| Page::new("application/json", json!({ "error": error }).to_string()).status(400);
        if asked.get("q").trim().is_empty() {
            return refuse("No query");
        }
        if !["", "day", "week", "month", "year"].contains(&asked.get("time_range")) {
            return refuse("Invalid value \"time_range\"");
        }
        if !["", "0", "1", "2"].contains(&asked.get("safesearch")) {
            return refuse("Invalid value \"safesearch\"");
        }
        let Ok(page @ 1..) = asked.get("pageno").parse::<usize>() else {
            return refuse("Invalid value \"pageno\"");
        };
        let all = self.results.get(asked.get("categories")).map(Vec::as_slice).unwrap_or_default();
        let results: Vec<&Value> = all.iter().skip((page - 1) * PER_PAGE).take(PER_PAGE).collect();
        let body = json!({
            "query": asked.get("q"),
            "number_of_results": 0,
            "results": results,
            "answers": [],
            "corrections": [],
            "infoboxes": [],
            "suggestions": [],
            "unresponsive_engines": self.silent,
        });
        Page::new("application/json", body.to_string())
    }
}

/// The parameters of a request.
struct Asked(BTreeMap<String, String>);

impl Asked {
    fn read(url: &str) -> Self {
        let url = Url::parse(url).expect("the URL of a request");
        Self(url.query_pairs().into_owned().collect())
    }

    fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }
}
