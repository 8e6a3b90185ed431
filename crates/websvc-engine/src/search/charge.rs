//! Stage 10, charge: the credits of a search (specification, section 8, and the operator's contract).
//!
//! [`max_search_credits`] is the maximum that is held before the search. A document counts as one page there, because
//! its number of pages is unknown before it is read.

use websvc_scrape::{Page, ProxyConfig};
use websvc_types::{Format, Proxy, ProxyUsed, SourceKind};
use websvc_validate::{RetentionMode, ScrapePlan, SearchPlan};

use super::find::SearchHits;
use super::gather::{PageResult, PageResults};
use super::media_charge::{charge_media, max_media_credits};
use super::produced;
use crate::bill::{Bill, ChargeKind};
use crate::change_tracking::has_json_mode;
use crate::pricing::Pricing;

/// The media type of a PDF.
const PDF: &str = "application/pdf";

/// Charges a search: by started tens of results, by page, by scanned URL. Writes the credits of each page into its
/// metadata.
pub(crate) fn charge(
    pricing: &Pricing,
    plan: &SearchPlan,
    found: &SearchHits,
    pages: &mut PageResults,
) -> Bill {
    let mut bill = Bill::default();
    let tens = u64::try_from(found.total().div_ceil(10)).unwrap_or(u64::MAX);
    let (kind, price) = per_ten(pricing, plan.retention());
    bill.add_line(kind, tens, price);
    if let Some(scrape) = plan.scrape() {
        pages.iter_mut().flatten().for_each(|result| charge_page(&mut bill, pricing, scrape, result));
    }
    bill.add_line(ChargeKind::ThreatScan, found.scanned, pricing.threat_scan);
    bill
}

/// Charges a search that failed because none of its pages is cached: the misses of lockdown.
pub(crate) fn charge_misses(pricing: &Pricing, scrape: &ScrapePlan, pages: &PageResults) -> Bill {
    let mut bill = Bill::default();
    if scrape.lockdown() {
        let misses = pages.iter().flatten().filter(|result| matches!(result, PageResult::Failed(_)));
        bill.add_line(ChargeKind::LockdownMiss, misses.count() as u64, pricing.lockdown_miss);
    }
    bill
}

/// Returns the maximum credits of a search with these proxies. Further pages of documents and redirects are not
/// included.
pub(crate) fn max_search_credits(pricing: &Pricing, proxies: &ProxyConfig, plan: &SearchPlan) -> u64 {
    let limit = plan.limit() as u64;
    let results = limit * plan.sources().len() as u64;
    let with_pages =
        plan.sources().iter().filter(|source| source.kind() != SourceKind::Images).count() as u64;
    let (_, price) = per_ten(pricing, plan.retention());
    let mut credits = results.div_ceil(10).saturating_mul(price);
    if let Some(scrape) = plan.scrape() {
        let page = max_content_credits(pricing, proxies, scrape);
        credits = credits.saturating_add((limit * with_pages).saturating_mul(page));
    }
    credits.saturating_add(max_scans(plan, results, limit * with_pages).saturating_mul(pricing.threat_scan))
}

/// Returns the maximum number of URLs that are scanned, without redirects. An image result has two: its page and the
/// image. The page of another result is scanned together with the result.
fn max_scans(plan: &SearchPlan, results: u64, pages: u64) -> u64 {
    if plan.protection().is_some() {
        return results + (results - pages);
    }
    if plan.scrape().is_some_and(|scrape| scrape.protection().is_some()) { pages } else { 0 }
}

pub(super) fn per_ten(pricing: &Pricing, retention: RetentionMode) -> (ChargeKind, u64) {
    match retention {
        RetentionMode::Normal => (ChargeKind::Results, pricing.search_per_ten),
        RetentionMode::Anonymous => (ChargeKind::ResultsAnon, pricing.search_anon_per_ten),
        RetentionMode::Zero => (ChargeKind::ResultsZdr, pricing.search_zdr_per_ten),
    }
}

/// Returns the maximum credits of a single page with these proxies. Further pages of documents and redirects are not
/// included.
pub(crate) fn max_page_credits(pricing: &Pricing, proxies: &ProxyConfig, scrape: &ScrapePlan) -> u64 {
    let scan = if scrape.protection().is_some() { pricing.threat_scan } else { 0 };
    max_content_credits(pricing, proxies, scrape).saturating_add(scan)
}

/// Returns the maximum credits of an uploaded file. Further pages of a document are not included.
pub(crate) fn max_file_credits(pricing: &Pricing, scrape: &ScrapePlan) -> u64 {
    max_content_credits(pricing, &ProxyConfig::default(), scrape)
}

/// Returns the minimum credits of a readable uploaded file.
pub(crate) fn min_file_credits(pricing: &Pricing) -> u64 {
    pricing.scrape.min(pricing.pdf_page).min(pricing.pdf_base64)
}

fn max_content_credits(pricing: &Pricing, proxies: &ProxyConfig, scrape: &ScrapePlan) -> u64 {
    let redaction = if scrape.redact_pii().is_some() { pricing.redact_pii } else { 0 };
    let page = if scrape.lockdown() {
        pricing.lockdown_hit.max(pricing.lockdown_miss)
    } else {
        let ordinary = pricing.scrape.max(pricing.pdf_page).max(pricing.pdf_base64);
        match scrape.proxy() {
            Proxy::Basic => ordinary,
            Proxy::Enhanced | Proxy::Auto if proxies.has_enhanced() => ordinary.max(pricing.scrape_enhanced),
            Proxy::Enhanced | Proxy::Auto => ordinary,
        }
    };
    let has = |name: &str| scrape.formats().iter().any(|format| needs_model(format) && format.name() == name);
    let requested =
        generated_items(pricing).into_iter().filter(|(formats, ..)| formats.iter().any(|name| has(name)));
    let page = page.saturating_add(max_media_credits(pricing, scrape));
    requested.fold(page.saturating_add(redaction), |sum, (.., price)| sum.saturating_add(price))
}

/// Charges a page. A failed page is free, except for a lockdown miss. Redaction is charged only if it was done.
fn charge_page(bill: &mut Bill, pricing: &Pricing, scrape: &ScrapePlan, result: &mut PageResult) {
    match result {
        PageResult::NotRequested => {}
        PageResult::Failed(_) => charge_miss(bill, pricing, scrape),
        PageResult::Page(page) => charge_success(bill, pricing, scrape, page),
    }
}

/// Charges a page that was requested alone, and writes the credits into its metadata. `None` is a failed page.
pub(crate) fn charge_single_page(
    pricing: &Pricing,
    plan: &ScrapePlan,
    page: Option<&mut Page>,
    scanned: u64,
) -> Bill {
    let mut bill = Bill::default();
    bill.add_line(ChargeKind::ThreatScan, scanned, pricing.threat_scan);
    match page {
        Some(page) => {
            charge_success(&mut bill, pricing, plan, page);
            page.metadata.credits_used = Some(bill.total());
        }
        None => charge_miss(&mut bill, pricing, plan),
    }
    bill
}

/// Charges a failed page.
fn charge_miss(bill: &mut Bill, pricing: &Pricing, scrape: &ScrapePlan) {
    if let Some(price) = miss_price(pricing, scrape) {
        bill.add_line(ChargeKind::LockdownMiss, 1, price);
    }
}

/// Returns the price of a failed page, `None` if it is free.
pub(crate) fn miss_price(pricing: &Pricing, scrape: &ScrapePlan) -> Option<u64> {
    scrape.lockdown().then_some(pricing.lockdown_miss)
}

/// Charges a scraped page, and writes the credits into its metadata. A page without any requested format is free.
fn charge_success(bill: &mut Bill, pricing: &Pricing, scrape: &ScrapePlan, page: &mut Page) {
    if !produced::has_any(scrape.formats(), page) {
        page.metadata.credits_used = Some(0);
        return;
    }
    let mut credits = if scrape.lockdown() {
        bill.add_line(ChargeKind::LockdownHit, 1, pricing.lockdown_hit)
    } else {
        charge_content(bill, pricing, page)
    };
    if page.is_redacted {
        credits += bill.add_line(ChargeKind::RedactPii, 1, pricing.redact_pii);
    }
    for (formats, kind, price) in generated_items(pricing) {
        if formats.iter().any(|format| page.generated.by_model.contains(format)) {
            credits += bill.add_line(kind, 1, price);
        }
    }
    credits += charge_media(bill, pricing, page);
    page.metadata.credits_used = Some(credits);
}

/// Returns the formats that a language model generates for a price of their own. Formats with one price are charged once.
fn generated_items(pricing: &Pricing) -> [(&'static [&'static str], ChargeKind, u64); 3] {
    [
        (&["json", "changeTracking"], ChargeKind::Json, pricing.json),
        (&["question"], ChargeKind::Question, pricing.question),
        (&["highlights"], ChargeKind::Highlights, pricing.highlights),
    ]
}

/// Returns whether a language model may generate a format. Changes of a page need one only in mode json.
fn needs_model(format: &Format) -> bool {
    match format {
        Format::ChangeTracking(options) => has_json_mode(options),
        Format::Summary(_) | Format::Json(_) | Format::Question(_) | Format::Highlights(_) => true,
        Format::Markdown(_)
        | Format::Html(_)
        | Format::RawHtml(_)
        | Format::RawBase64(_)
        | Format::Links(_)
        | Format::Images(_)
        | Format::Screenshot(_)
        | Format::Branding(_)
        | Format::Product(_)
        | Format::Menu(_)
        | Format::Audio(_)
        | Format::Video(_)
        | Format::Attributes(_) => false,
    }
}

fn charge_content(bill: &mut Bill, pricing: &Pricing, page: &Page) -> u64 {
    let enhanced = match page.metadata.proxy_used {
        Some(ProxyUsed::Stealth) => true,
        Some(ProxyUsed::Basic) | None => false,
    };
    let media_type = page.metadata.content_type.as_deref().and_then(|value| value.split(';').next());
    let is_pdf = media_type.is_some_and(|value| value.trim().eq_ignore_ascii_case(PDF));
    match (enhanced, page.metadata.num_pages.map(u64::from)) {
        // The price of the enhanced proxy replaces that of the first page.
        (true, read) => {
            bill.add_line(ChargeKind::EnhancedPage, 1, pricing.scrape_enhanced)
                + bill.add_line(ChargeKind::PdfPage, read.unwrap_or(1).saturating_sub(1), pricing.pdf_page)
        }
        (false, Some(read)) => bill.add_line(ChargeKind::PdfPage, read.max(1), pricing.pdf_page),
        (false, None) if is_pdf => bill.add_line(ChargeKind::PdfFile, 1, pricing.pdf_base64),
        (false, None) => bill.add_line(ChargeKind::Page, 1, pricing.scrape),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use websvc_scrape::{GeneratedContent, ScrapeError};
    use websvc_types::Metadata;
    use websvc_validate::{FeaturePolicy, Policy, read_search};

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
        read_search(body.to_string().as_bytes(), &policy).unwrap().plan
    }

    fn found(hits: usize, scanned: u64) -> SearchHits {
        let verticals = vec![VerticalHits { kind: SourceKind::Web, hits: vec![Hit::default(); hits] }];
        SearchHits { verticals, scanned, ..SearchHits::default() }
    }

    /// Checks the price of a search with `hits` results and these pages, and that it does not exceed the maximum unless
    /// a document has several pages.
    #[track_caller]
    fn check(body: Value, hits: usize, pages: Vec<PageResult>, expected: u64) {
        let is_long = |result: &PageResult| matches!(result, PageResult::Page(page) if page.metadata.num_pages > Some(1));
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
        let plan = plan.scrape().unwrap();
        let mut page = Page { markdown: Some(String::new()), ..Page::default() };
        let charged = charge_single_page(&Pricing::default(), plan, Some(&mut page), 3);
        assert_eq!((charged.total(), page.metadata.credits_used), (1 + 3 * 2, Some(7)));
        assert_eq!(charge_single_page(&Pricing::default(), plan, None, 1).total(), 2);
        assert_eq!(charge_single_page(&Pricing::default(), plan, None, 0), Bill::default());
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
            let bill = charge_single_page(&Pricing::default(), plan.scrape().unwrap(), Some(&mut page), 0);
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
            let scrape = plan.scrape().unwrap();
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
        let free = read_search(br#"{"query": "q", "limit": 3}"#, &unchecked()).unwrap().plan;
        assert_eq!(max_search_credits(&pricing, &ProxyConfig::default(), &free), 0);
    }

    #[test]
    fn search_without_any_cached_page_costs_the_lockdown_misses() {
        let missing = || vec![vec![failure(), failure(), PageResult::NotRequested]];
        let misses = |options: Value| {
            let plan = plan(scraping(options));
            charge_misses(&Pricing::default(), plan.scrape().unwrap(), &missing()).total()
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
}
