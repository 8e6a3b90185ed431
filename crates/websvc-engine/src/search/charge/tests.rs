//! Tests of the credits of searches and of pages.

use serde_json::{Value, json};
use websvc_scrape::{GeneratedContent, ScrapeError};
use websvc_types::{Metadata, SearchRequest};
use websvc_validate::{FeaturePolicy, Policy, read_request};

use super::*;
use crate::search::find::VerticalHits;
use crate::source::Hit;

fn plan(mut body: Value) -> SearchPlan {
    body["query"] = json!("q");
    let policy = Policy {
        zdr: FeaturePolicy::Allowed,
        anon: FeaturePolicy::Allowed,
        threat: websvc_validate::ThreatPolicy::On,
        ..Policy::default()
    };
    read_request::<SearchRequest>(body.to_string().as_bytes(), &policy).unwrap().plan
}

fn found(hits: usize, scanned: u64) -> SearchHits {
    let verticals = vec![VerticalHits { kind: SourceKind::Web, hits: vec![Hit::default(); hits] }];
    SearchHits { verticals, scanned, ..SearchHits::default() }
}

/// Checks the price of a search with `hits` results and these pages, and that it does not exceed the maximum unless
/// a document has several pages.
#[track_caller]
fn check(body: Value, hits: usize, pages: Vec<PageResult>, expected: u64) {
    let is_long =
        |result: &PageResult| matches!(result, PageResult::Page(page) if page.metadata.num_pages > Some(1));
    let is_long = pages.iter().any(is_long);
    let request = body.to_string();
    let plan = plan(body);
    let mut pages = vec![pages];
    let bill = charge(&Pricing::default(), &plan, &found(hits, 0), &mut pages);
    assert_eq!(bill.total(), expected, "{request}, {hits} hits: {bill:?}");
    let max_credits = max_search_credits(&Pricing::default(), &with_enhanced_proxy(), &plan);
    assert!(is_long || expected <= max_credits, "{request}: {expected} of {max_credits}");
}

fn with_enhanced_proxy() -> ProxyConfig {
    let proxy = websvc_transport::Proxy::new(&"http://proxy.test:8080".parse().unwrap()).unwrap();
    ProxyConfig { enhanced: vec![proxy], ..ProxyConfig::default() }
}

fn page() -> PageResult {
    page_of(Metadata::default())
}

fn redacted(metadata: Metadata) -> PageResult {
    let markdown = Some(String::new());
    PageResult::Page(Box::new(Page { markdown, metadata, is_redacted: true, ..Page::default() }))
}

fn page_of(metadata: Metadata) -> PageResult {
    PageResult::Page(Box::new(Page { markdown: Some(String::new()), metadata, ..Page::default() }))
}

fn enhanced() -> Metadata {
    Metadata { proxy_used: Some(ProxyUsed::Stealth), ..Metadata::default() }
}

fn pdf(read: Option<u32>) -> Metadata {
    let content_type = Some("Application/PDF; charset=binary".to_owned());
    Metadata { num_pages: read, content_type, ..Metadata::default() }
}

fn failure() -> PageResult {
    PageResult::Failed(ScrapeError::Timeout)
}

fn scraping(options: Value) -> Value {
    let mut body = json!({});
    body["scrapeOptions"] = options;
    body["scrapeOptions"]["formats"] = json!(["markdown"]);
    body
}

#[test]
fn results_are_charged_per_started_ten_by_retention() {
    for (enterprise, prices) in
        [(json!([]), [0, 2, 2, 4]), (json!(["anon"]), [0, 2, 2, 4]), (json!(["zdr"]), [0, 10, 10, 20])]
    {
        for (hits, price) in [0, 1, 10, 11].into_iter().zip(prices) {
            check(json!({ "enterprise": enterprise, "limit": 20 }), hits, Vec::new(), price);
        }
    }
}

#[test]
fn pages_through_an_enhanced_proxy_have_their_own_price() {
    for proxy in ["auto", "enhanced"] {
        let body = scraping(json!({ "proxy": proxy }));
        check(body.clone(), 2, vec![page(), failure()], 2 + 1);
        check(body, 2, vec![page_of(enhanced()), page()], 2 + 5 + 1);
    }
}

#[test]
fn scraped_pages_and_lockdown_misses_are_charged() {
    let lockdown = |lockdown: bool| scraping(json!({ "lockdown": lockdown }));
    check(lockdown(false), 3, vec![page(), page(), failure()], 2 + 2);
    check(lockdown(true), 3, vec![page(), failure(), failure()], 2 + 5 + 2);
    check(json!({}), 2, vec![PageResult::NotRequested, PageResult::NotRequested], 2);
}

#[test]
fn redaction_is_charged_for_redacted_pages() {
    let redacting = |redact: bool| scraping(json!({ "redactPII": redact }));
    let page_redacted = || redacted(Metadata::default());
    check(redacting(true), 3, vec![page_redacted(), page_redacted(), failure()], 2 + 2 * (1 + 4));
    check(redacting(true), 2, vec![page_redacted(), page_of(pdf(None))], 2 + (1 + 4) + 1);
    check(redacting(false), 3, vec![page(), page(), failure()], 2 + 2);
}

#[test]
fn pdf_is_charged_by_pages_or_once_as_a_file() {
    check(scraping(json!({})), 1, vec![page_of(pdf(Some(1)))], 2 + 1);
    check(scraping(json!({})), 1, vec![page_of(pdf(Some(7)))], 2 + 7);
    check(scraping(json!({})), 1, vec![page_of(pdf(Some(0)))], 2 + 1);
    check(scraping(json!({ "parsers": [] })), 1, vec![page_of(pdf(None))], 2 + 1);
    let through_proxy = Metadata { num_pages: Some(7), ..enhanced() };
    check(scraping(json!({ "proxy": "enhanced" })), 1, vec![page_of(through_proxy)], 2 + 5 + 6);
}

#[test]
fn min_file_credits_is_the_lowest_price() {
    let min_credits = |scrape, pdf_page, pdf_base64| {
        min_file_credits(&Pricing { scrape, pdf_page, pdf_base64, ..Pricing::default() })
    };
    assert_eq!(
        (min_credits(1, 1, 1), min_credits(3, 2, 4), min_credits(3, 4, 2), min_credits(0, 4, 2)),
        (1, 2, 2, 0)
    );
}

#[test]
fn pages_pdf_pages_and_pdf_files_have_separate_prices() {
    let pricing = Pricing { pdf_page: 3, pdf_base64: 7, scrape: 11, ..Pricing::default() };
    let mut pages = vec![vec![page_of(pdf(Some(2))), page_of(pdf(None)), page()]];
    let bill = charge(&pricing, &plan(scraping(json!({}))), &found(3, 0), &mut pages);
    let lines: Vec<_> = bill.lines().iter().map(|line| (line.kind, line.count, line.credits)).collect();
    let pdfs = [(ChargeKind::PdfPage, 2, 6), (ChargeKind::PdfFile, 1, 7)];
    assert_eq!(lines, [&[(ChargeKind::Results, 1, 2)], &pdfs[..], &[(ChargeKind::Page, 1, 11)]].concat());
}

#[test]
fn page_metadata_has_its_credits() {
    let plain = redacted(Metadata::default());
    let mut pages = vec![vec![plain, redacted(pdf(Some(3))), failure(), redacted(enhanced())]];
    let plan = plan(scraping(json!({ "redactPII": true })));
    charge(&Pricing::default(), &plan, &found(4, 0), &mut pages);
    let of_page = |result: &PageResult| match result {
        PageResult::Page(page) => page.metadata.credits_used,
        PageResult::NotRequested | PageResult::Failed(_) => None,
    };
    let credits: Vec<_> = pages[0].iter().map(of_page).collect();
    assert_eq!(credits, [Some(1 + 4), Some(3 + 4), None, Some(5 + 4)]);
}

#[test]
fn scanned_urls_are_charged_even_without_results() {
    let body = json!({ "threatProtection": { "mode": "normal" }, "limit": 3 });
    let plan = plan(body);
    for (hits, scanned, expected) in [(0, 0, 0), (0, 3, 6), (2, 3, 2 + 6), (3, 3, 2 + 6)] {
        let bill = charge(&Pricing::default(), &plan, &found(hits, scanned), &mut Vec::new());
        assert_eq!(bill.total(), expected, "{hits} hits, {scanned} scanned");
    }
}

#[test]
fn single_page_is_charged_for_its_scans_even_if_it_failed() {
    let plan = plan(scraping(json!({})));
    let plan = plan.scrape.as_ref().unwrap();
    let mut page = Page { markdown: Some(String::new()), ..Page::default() };
    let charged = charge_single_page(&Pricing::default(), plan, Some(&mut page), 3);
    assert_eq!((charged.total(), page.metadata.credits_used), (1 + 3 * 2, Some(7)));
    assert_eq!(charge_single_page(&Pricing::default(), plan, None, 1).total(), 2);
    assert_eq!(charge_single_page(&Pricing::default(), plan, None, 0), Bill::default());
}

#[test]
fn zero_data_retention_costs_extra_for_a_page_that_is_requested_alone() {
    let pricing = Pricing::default();
    for (body, forced, expected) in [
        (json!({}), FeaturePolicy::Allowed, 1),
        (json!({ "zeroDataRetention": true }), FeaturePolicy::Allowed, 1 + 1),
        (json!({}), FeaturePolicy::Forced, 1 + 1),
        (json!({ "redactPII": true, "zeroDataRetention": true }), FeaturePolicy::Allowed, 1 + 4 + 1),
        (json!({ "lockdown": true, "zeroDataRetention": true }), FeaturePolicy::Allowed, 5),
    ] {
        let mut body = body;
        body["url"] = json!("http://a.test/");
        let policy = Policy { zdr: forced, ..Policy::default() };
        let plan =
            read_request::<websvc_types::ScrapeRequest>(body.to_string().as_bytes(), &policy).unwrap().plan;
        let is_redacted = plan.scrape.redact_pii.is_some();
        let mut page = Page { markdown: Some("a".to_owned()), is_redacted, ..Page::default() };
        let bill = charge_single_page(&pricing, &plan.scrape, Some(&mut page), 0);
        assert_eq!((bill.total(), page.metadata.credits_used), (expected, Some(expected)), "{body}");
        let held = max_page_credits(&pricing, &ProxyConfig::default(), &plan.scrape);
        assert_eq!(held, expected, "{body}");
        assert_eq!(max_file_credits(&pricing, &plan.scrape), expected, "{body}");
        let nothing = charge_single_page(&pricing, &plan.scrape, Some(&mut Page::default()), 0);
        assert_eq!(nothing, Bill::default(), "a page without a format is free: {body}");
    }
    // A search has prices of its own.
    let search = plan(json!({ "enterprise": ["zdr"], "scrapeOptions": { "formats": ["markdown"] } }));
    let bill = charge(&pricing, &search, &found(1, 0), &mut vec![vec![page()]]);
    assert_eq!(bill.total(), 10 + 1);
}

#[test]
fn page_without_a_requested_format_is_free() {
    let options = |formats: Value| json!({ "scrapeOptions": { "formats": formats } });
    let markdown = || Page { markdown: Some("a".to_owned()), ..Page::default() };
    for (formats, page, expected) in [
        (json!(["branding", "product"]), Page::default(), 0),
        (json!(["screenshot"]), Page::default(), 0),
        (json!(["markdown", "branding"]), markdown(), 1),
        (json!(["links"]), Page { links: Some(Vec::new()), ..Page::default() }, 1),
    ] {
        let plan = plan(options(formats.clone()));
        let mut page = page;
        let bill = charge_single_page(&Pricing::default(), plan.scrape.as_ref().unwrap(), Some(&mut page), 0);
        assert_eq!((bill.total(), page.metadata.credits_used), (expected, Some(expected)), "{formats}");
    }
}

#[test]
fn changes_cost_extra_only_in_mode_json_and_once_with_the_format_json() {
    let options = |formats: Value| json!({ "scrapeOptions": { "formats": formats } });
    let changes = |modes: Value| json!({ "type": "changeTracking", "modes": modes });
    for (formats, by_model, max_credits, expected) in [
        (json!(["markdown", "changeTracking"]), vec![], 1, 1),
        (json!(["markdown", changes(json!(["git-diff"]))]), vec![], 1, 1),
        (json!(["markdown", changes(json!(["json"]))]), vec!["changeTracking"], 5, 5),
        (json!(["markdown", changes(json!(["json"]))]), vec![], 5, 1),
        (json!(["markdown", "json", changes(json!(["json"]))]), vec!["json", "changeTracking"], 5, 5),
    ] {
        let plan = plan(options(formats.clone()));
        let scrape = plan.scrape.as_ref().unwrap();
        let generated = GeneratedContent { by_model, ..GeneratedContent::default() };
        let mut page = Page { markdown: Some(String::new()), generated, ..Page::default() };
        let bill = charge_single_page(&Pricing::default(), scrape, Some(&mut page), 0);
        let max = max_file_credits(&Pricing::default(), scrape);
        assert_eq!((bill.total(), max), (expected, max_credits), "{formats}");
    }
}

#[test]
fn max_search_credits_include_scans() {
    let pricing = Pricing { search_per_ten: 0, ..Pricing::default() };
    let unchecked = || Policy { threat: websvc_validate::ThreatPolicy::Off, ..Policy::default() };
    let max_credits = |body: Value| max_search_credits(&pricing, &ProxyConfig::default(), &plan(body));
    let three = ["web", "news", "images"];
    assert_eq!(max_credits(json!({ "limit": 3 })), 3 * 2, "the team has it on");
    assert_eq!(
        max_credits(json!({ "limit": 3, "sources": three })),
        3 * 2 * (1 + 1 + 2),
        "the images are scanned, too"
    );
    assert_eq!(max_credits(json!({ "limit": 3, "threatProtection": { "mode": "off" } })), 0);
    let mut body = scraping(json!({ "threatProtection": { "mode": "normal" } }));
    body["limit"] = json!(3);
    assert_eq!(max_credits(body.clone()), 3 * 2 + 3, "a page is scanned with its result");
    body["threatProtection"] = json!({ "mode": "off" });
    assert_eq!(max_credits(body), 3 * 2 + 3, "the pages alone are scanned");
    let free = read_request::<SearchRequest>(br#"{"query": "q", "limit": 3}"#, &unchecked()).unwrap().plan;
    assert_eq!(max_search_credits(&pricing, &ProxyConfig::default(), &free), 0);
}

#[test]
fn search_without_any_cached_page_costs_the_lockdown_misses() {
    let missing = || vec![vec![failure(), failure(), PageResult::NotRequested]];
    let misses = |options: Value| {
        let plan = plan(scraping(options));
        charge_misses(&Pricing::default(), plan.scrape.as_ref().unwrap(), &missing()).total()
    };
    assert_eq!(misses(json!({ "lockdown": true })), 2);
    assert_eq!(misses(json!({ "minAge": 1000 })), 0);
}

#[test]
fn max_search_credits_include_every_source_and_page() {
    let pricing = Pricing { threat_scan: 0, ..Pricing::default() };
    let max_credits = |body: Value| max_search_credits(&pricing, &with_enhanced_proxy(), &plan(body));
    assert_eq!(max_credits(json!({})), 2);
    assert_eq!(max_credits(json!({ "limit": 100 })), 20);
    assert_eq!(max_credits(json!({ "limit": 15, "sources": ["web", "news", "images"] })), 10);
    let mut body = scraping(json!({ "proxy": "auto", "redactPII": true }));
    body["sources"] = json!(["web", "images"]);
    body["limit"] = json!(5);
    assert_eq!(max_credits(body.clone()), 2 + 5 * (5 + 4));
    let direct = max_search_credits(&pricing, &ProxyConfig::default(), &plan(body));
    assert_eq!(direct, 2 + 5 * (1 + 4), "no enhanced proxy is configured");
}
