//! Tests of complete requests of official clients.

use std::time::Duration;

use serde_json::{Value, json};
use websvc_types::ViolationCode::InvalidType;
use websvc_types::job::CrawlRequest;
use websvc_types::{Format, ScrapeRequest, SearchRequest};
use websvc_validate::{
    Checked, FeaturePolicy, Policy, Rejection, SearchPlan, SourceKind, ThreatPolicy, read_request,
};

#[track_caller]
fn accept(body: &Value) -> Checked<SearchPlan> {
    let policy = Policy {
        zdr: FeaturePolicy::Allowed,
        anon: FeaturePolicy::Allowed,
        threat: ThreatPolicy::On,
        ..Policy::default()
    };
    match read_request::<SearchRequest>(body.to_string().as_bytes(), &policy) {
        Ok(checked) => checked,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn python_client_request_is_accepted_without_warnings() {
    let checked = accept(&json!({
        "query": "q", "limit": 5, "timeout": 300_000,
        "sources": [{ "type": "web" }, { "type": "news" }, { "type": "images" }],
        "categories": [{ "type": "github" }, { "type": "research" }, { "type": "pdf" }],
        "tbs": "qdr:w", "location": "Berlin,Berlin,Germany", "country": "DE", "ignoreInvalidURLs": true,
        "includeDomains": ["docs.python.org"], "highlights": false, "enterprise": ["default"],
        "threatProtection": { "mode": "normal", "riskScoreThreshold": 50 },
        "integration": "_e2e-test", "domainTools": true, "toolDetail": "compact",
        "origin": "python-sdk@4.55.0",
        "scrapeOptions": {
            "onlyMainContent": true, "mobile": false, "removeBase64Images": true, "fastMode": false,
            "blockAds": true, "storeInCache": true, "maxAge": 14_400_000, "minAge": 1,
            "includeTags": ["main"], "excludeTags": ["nav"], "waitFor": 100, "skipTlsVerification": false,
            "useMock": "none",
            "redactPII": { "mode": "fast", "entities": ["EMAIL"], "replaceStyle": "mask" },
            "checkPromptInjection": false,
            "threatProtection": { "mode": "off" },
            "auditMetadata": { "username": "u" },
            "formats": [
                "markdown", "html", "rawHtml", "links", "images", "branding", "product", "menu", "audio", "video",
                { "type": "summary" },
                { "type": "json", "prompt": "p", "schema": { "type": "object", "title": "T" } },
                { "type": "screenshot", "fullPage": true, "quality": 80, "viewport": { "width": 800, "height": 600 } },
                { "type": "changeTracking", "modes": ["git-diff"], "tag": null },
                { "type": "question", "question": "why?" },
                { "type": "highlights", "query": "why" },
            ],
            "parsers": ["pdf", { "type": "pdf" }],
            "actions": [
                { "type": "wait", "milliseconds": 100 }, { "type": "wait", "selector": "#a" },
                { "type": "click", "selector": "a", "all": true }, { "type": "write", "text": "t" },
                { "type": "press", "key": "Enter" }, { "type": "scroll", "direction": "down" },
                { "type": "scrape" }, { "type": "executeJavascript", "script": "1" },
                { "type": "pdf", "format": "A4", "landscape": false, "scale": 2.0 },
                { "type": "screenshot", "fullPage": false, "quality": 80 },
            ],
            "headers": { "User-Agent": "x" },
            "location": { "country": "DE", "languages": ["de", "en-US"] },
            "proxy": "stealth", "lockdown": true, "profile": { "name": "p", "saveChanges": true },
            "integration": "x", "domainTools": true, "toolDetail": "full", "timeout": 30_000,
            "onlyCleanContent": false,
        },
    }));
    assert_eq!(checked.warnings, Vec::<String>::new());
    assert_eq!(checked.plan.scrape.as_ref().unwrap().formats.len(), Format::NAMES.len());
    assert_eq!(checked.plan.timeout, Duration::from_secs(300));
}

#[test]
fn javascript_client_request_is_accepted_without_warnings() {
    let checked = accept(&json!({
        "query": "q", "origin": "js-sdk@4.42.0", "limit": 10, "tbs": "", "location": "",
        "includeDomains": ["a.example"], "excludeDomains": [],
        "sources": ["web", { "type": "news", "tbs": "qdr:d", "location": "DE" }],
        "categories": ["github", { "type": "pdf" }], "enterprise": ["default", "anon"],
        "domainTools": false, "toolDetail": "full",
        "scrapeOptions": { "formats": [{ "type": "markdown" }, "links"], "__experimental_x": 1, "__forceFirePDF": true },
    }));
    assert_eq!(checked.warnings, Vec::<String>::new());
}

#[test]
fn command_line_and_n8n_requests_are_accepted_without_warnings() {
    for body in [
        json!({ "query": "q", "integration": "cli", "ignoreInvalidURLs": false, "origin": "js-sdk@4.24.0",
            "sources": [{ "type": "web" }], "scrapeOptions": { "formats": [{ "type": "markdown" }], "onlyMainContent": true } }),
        json!({ "query": "q", "limit": 5, "sources": [{ "type": "web" }], "tbs": "", "location": "", "timeout": 60_000,
            "integration": "n8n", "scrapeOptions": { "formats": [] } }),
    ] {
        assert_eq!(accept(&body).warnings, Vec::<String>::new());
    }
}

#[test]
fn n8n_sends_an_empty_object_for_a_list_that_is_not_filled_in() {
    let policy = Policy::default();
    let scrape =
        json!({ "url": "http://a.test/", "actions": {}, "formats": ["markdown"], "integration": "n8n" });
    let scrape = read_request::<ScrapeRequest>(scrape.to_string().as_bytes(), &policy).unwrap();
    let crawl = json!({ "url": "http://a.test/", "excludePaths": {}, "scrapeOptions": { "formats": {} } });
    let crawl = read_request::<CrawlRequest>(crawl.to_string().as_bytes(), &policy).unwrap();
    assert_eq!((scrape.warnings, crawl.warnings), (vec![], vec![]));
    assert!(scrape.plan.scrape.actions.is_empty());
    assert!(matches!(crawl.plan.scrape.formats.as_slice(), [Format::Markdown(_)]));
}

#[test]
fn mcp_server_categories_are_ignored_with_a_warning() {
    let checked = accept(&json!({
        "query": "q", "limit": 5, "filter": "x", "sources": ["web", "alexandria"],
        "categories": ["research", "developer", { "type": "gov" }], "domainTools": true, "toolDetail": "compact",
        "origin": "mcp-x@3.26.0", "lang": "en", "asyncScraping": false, "__agentInterop": {},
    }));
    assert_eq!(
        checked.warnings,
        [
            "categories[1]: developer is not available and was ignored",
            "categories[2]: gov is not available and was ignored",
        ]
    );
    let kinds: Vec<_> = checked.plan.sources.iter().map(|source| source.kind).collect();
    assert_eq!(kinds, [SourceKind::Web]);
}

#[test]
fn mcp_server_source_is_ignored_with_a_warning_only_if_it_is_the_only_one() {
    let warnings = |sources: Value| accept(&json!({ "query": "q", "sources": sources })).warnings;
    assert_eq!(warnings(json!(["web", "alexandria"])), Vec::<String>::new());
    assert_eq!(warnings(json!([{ "type": "alexandria" }, "images"])), Vec::<String>::new());
    let alone = ["sources[0]: alexandria is not available and was ignored"];
    assert_eq!(warnings(json!(["alexandria"])), alone);
}

#[test]
fn format_query_is_read_as_question() {
    for query in [
        json!({ "type": "query", "prompt": "why?", "mode": "directQuote" }),
        json!({ "mode": null, "prompt": "why?", "type": "query" }),
    ] {
        let checked = accept(&json!({ "query": "q", "scrapeOptions": { "formats": ["markdown", query] } }));
        assert_eq!(checked.warnings, Vec::<String>::new());
        let format = &checked.plan.scrape.as_ref().unwrap().formats[1];
        assert_eq!(serde_json::to_value(format).unwrap(), json!({ "type": "question", "question": "why?" }));
    }
    let body = json!({ "query": "q", "scrapeOptions": { "formats": [{ "type": "query", "prompt": "" }] } });
    assert!(read_request::<SearchRequest>(body.to_string().as_bytes(), &Policy::default()).is_err());
}

#[test]
fn formats_and_parser_options_of_the_hosted_service_are_ignored_with_a_warning() {
    let selectors = json!([{ "selector": "a", "attribute": "href" }]);
    let checked = accept(&json!({ "query": "q", "scrapeOptions": {
        "formats": [
            "markdown", "attributes", "rawBase64", { "type": "attributes", "selectors": selectors },
            { "type": "json", "prompt": "p", "checkPromptInjection": true },
        ],
        "parsers": ["image", { "type": "pdf", "maxPages": 2 }, { "type": "image" }],
    } }));
    let expected = [
        "formats[1]: attributes is not available and was ignored",
        "checkPromptInjection is not available and was ignored",
        "parsers[0]: image is not available and was ignored",
        "parsers[2]: image is not available and was ignored",
    ];
    assert_eq!(checked.warnings, expected);
    let scrape = checked.plan.scrape.as_ref().unwrap();
    let names: Vec<&str> = scrape.formats.iter().map(Format::name).collect();
    let expected = vec!["markdown", "rawBase64", "attributes", "json"];
    assert_eq!((names, scrape.parsers[0].max_pages), (expected, Some(2)));
}

#[test]
fn options_of_the_pages_of_a_pdf_are_read_in_all_spellings() {
    let parser = |options: Value| {
        let mut parser = json!({ "type": "pdf" });
        for (name, value) in options.as_object().unwrap() {
            parser[name] = value.clone();
        }
        let checked = accept(
            &json!({ "query": "q", "scrapeOptions": { "formats": ["markdown"], "parsers": [parser] } }),
        );
        assert_eq!(checked.warnings, Vec::<String>::new(), "{options}");
        let parser = &checked.plan.scrape.as_ref().unwrap().parsers[0];
        (parser.pages, parser.page_markers, parser.blocks)
    };
    let both = json!({ "pages": true, "pageMarkers": true });
    assert_eq!(parser(both), (Some(true), Some(true), None));
    assert_eq!(parser(json!({ "pageMarkdown": true, "blocks": true })), (Some(true), None, Some(true)));
    assert_eq!(
        parser(json!({ "pageMarkdown": false, "pages": true, "blocks": false })),
        (Some(true), None, Some(false))
    );
    assert_eq!(parser(json!({ "pages": null, "pageMarkers": null })), (None, None, None));
}

#[test]
fn location_country_ignores_case_and_city_alone_has_a_warning() {
    let read = |location: Value| {
        let checked = accept(
            &json!({ "query": "q", "scrapeOptions": { "formats": ["markdown"], "location": location } }),
        );
        (checked.plan.scrape.as_ref().unwrap().location.country, checked.warnings)
    };
    assert_eq!(read(json!({ "country": "de", "city": "Berlin" })), ("DE", Vec::new()));
    assert_eq!(read(json!({ "country": "uk" })), ("GB", Vec::new()));
    assert_eq!(read(json!({ "country": "", "city": " " })), ("US", Vec::new()));
    let ignored = "city was ignored: only location.country has an effect";
    assert_eq!(read(json!({ "city": "Berlin" })), ("US", vec![ignored.to_owned()]));
}

#[test]
fn rust_client_spellings_are_accepted() {
    let checked = accept(&json!({
        "query": "q", "origin": "rust-sdk@2.16.0", "ignoreInvalidUrls": true,
        "scrapeOptions": { "formats": ["markdown", "json"], "jsonOptions": { "prompt": "p" } },
    }));
    assert_eq!(checked.warnings, Vec::<String>::new());
    assert!(checked.plan.ignore_invalid_urls);
    let formats = &checked.plan.scrape.as_ref().unwrap().formats;
    assert_eq!(serde_json::to_value(&formats[1]).unwrap(), json!({ "type": "json", "prompt": "p" }));
}

#[test]
fn violations_in_rust_client_spellings_have_the_sent_path() {
    let options = json!({ "formats": ["json"], "jsonOptions": { "prompt": 5 } });
    let body = json!({ "query": "q", "ignoreInvalidUrls": "yes", "scrapeOptions": options });
    let Err(Rejection::Invalid(violations)) =
        read_request::<SearchRequest>(body.to_string().as_bytes(), &Policy::default())
    else {
        panic!("the request breaks two rules");
    };
    let found: Vec<_> = violations.iter().map(|v| (v.path.as_str(), v.code)).collect();
    let expected = [("/ignoreInvalidUrls", InvalidType), ("/scrapeOptions/jsonOptions/prompt", InvalidType)];
    assert_eq!(found, expected);
}

#[test]
fn json_options_without_the_format_json_are_checked_and_ignored_with_a_warning() {
    let body = |prompt: String| {
        let options = json!({ "formats": ["markdown"], "jsonOptions": { "prompt": prompt } });
        json!({ "query": "q", "scrapeOptions": options })
    };
    let warnings = accept(&body("p".repeat(10_000))).warnings;
    assert_eq!(warnings, ["jsonOptions was ignored: formats does not have the bare name json"]);
    let result =
        read_request::<SearchRequest>(body("p".repeat(10_001)).to_string().as_bytes(), &Policy::default());
    let Err(Rejection::Invalid(violations)) = result else { panic!("the prompt is too long") };
    assert_eq!(violations[0].path, "/scrapeOptions/jsonOptions/prompt");
}
