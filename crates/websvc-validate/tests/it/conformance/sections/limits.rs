//! Section 8: limits and prices.

use std::time::Duration;

use websvc_types::ViolationCode::*;
use websvc_validate::SearchPlan;

use crate::conformance::row::{Row, everything, inside, option, page, row, scrape, search, threat};

/// A character of four bytes, because lengths count characters, not bytes.
const CLEF: &str = "\u{1d11e}";

pub(super) fn rows() -> Vec<Row> {
    let mut rows = vec![
        text("8 query length", "at most 500 characters", search("query"), 500),
        row("8 limit", "1 to 100, default 10, per source")
            .at(search("limit"))
            .default(|plan| plan.limit, 10)
            .bad(0, TooSmall)
            .ok(1)
            .ok(100)
            .bad(101, TooBig),
        row("8 search timeout", "default 60000 ms")
            .at(search("timeout"))
            .default(|plan| plan.timeout, Duration::from_millis(60_000)),
        row("8 scrapeOptions.timeout", "1000 to 300000 ms, default 60000")
            .at(scrape("timeout"))
            .default(|plan| page(plan).timeout, Duration::from_millis(60_000))
            .bad(999, TooSmall)
            .ok(1000)
            .ok(300_000)
            .bad(300_001, TooBig),
        max_age(),
        row("8 parsers maxPages", "1 to 10000")
            .at(option("parsers", "pdf", "maxPages"))
            .bad(0, TooSmall)
            .ok(1)
            .ok(10_000)
            .bad(10_001, TooBig),
        text("8 profile.name length", "1 to 128 characters", inside("profile", "name"), 128)
            .bad("", TooShort)
            .ok("p"),
        text(
            "8 auditMetadata.username length",
            "at most 1024 characters",
            inside("auditMetadata", "username"),
            1024,
        ),
        text(
            "8 question length",
            "at most 10000 characters",
            option("formats", "question", "question"),
            10_000,
        ),
        text(
            "8 highlights query length",
            "at most 10000 characters",
            option("formats", "highlights", "query"),
            10_000,
        ),
        list("8 blacklist", "blacklist"),
        list("8 whitelist", "whitelist"),
        list("8 blockedTlds", "blockedTlds"),
        row("8 riskScoreThreshold", "0 to 100")
            .by(everything())
            .at(threat("riskScoreThreshold"))
            .bad(-1, TooSmall)
            .ok(0)
            .ok(100)
            .bad(101, TooBig),
        row("8 screenshot URL lifetime", "24 hours")
            .tested("websvc-artifacts", "expired_artifact_is_gone_before_and_after_the_sweep"),
        row("8 audio and video signed URL lifetime", "1 hour")
            .tested("websvc-cli", "downloaded_media_are_served_by_signed_urls_for_an_hour"),
    ];
    rows.extend(prices());
    rows
}

fn text(name: &'static str, rule: &'static str, place: crate::conformance::row::Place, max: usize) -> Row {
    row(name, rule)
        .at(place)
        .ok("x".repeat(max))
        .bad("x".repeat(max + 1), TooLong)
        .ok(CLEF.repeat(max))
        .bad(CLEF.repeat(max + 1), TooLong)
}

fn list(name: &'static str, field: &str) -> Row {
    row(name, "at most 1000 items")
        .by(everything())
        .at(threat(field))
        .ok(vec!["example".to_owned(); 1000])
        .bad(vec!["example".to_owned(); 1001], TooLong)
}

fn max_age() -> Row {
    let read = |plan: &SearchPlan| page(plan).max_age;
    row("8 maxAge", "default 172800000 ms; two years under lockdown")
        .at(scrape("maxAge"))
        .default(read, Duration::from_millis(172_800_000))
        .at(scrape("lockdown"))
        .reads(true, read, Duration::from_secs(2 * 365 * 86_400))
        .reads(false, read, Duration::from_millis(172_800_000))
}

fn prices() -> Vec<Row> {
    vec![
        row(
            "8 price of a search",
            "2 per 10 results, rounded up, 0 without results; 1 per scraped page (not specified)",
        )
        .tested("websvc-cli", "results_have_the_requested_formats")
        .tested("websvc-cli", "search_without_results_has_an_empty_list_per_source"),
        row("8 price of zdr", "10 per 10 results")
            .tested("websvc-engine", "results_are_charged_per_started_ten_by_retention")
            .tested("websvc-cli", "requests_without_retention_are_charged_and_not_recorded"),
        row("8 price of anon", "2 per 10 results")
            .tested("websvc-engine", "results_are_charged_per_started_ten_by_retention")
            .tested("websvc-cli", "requests_without_retention_are_charged_and_not_recorded"),
        row("8 price of proxy enhanced", "up to 5 per request")
            .tested("websvc-engine", "pages_through_an_enhanced_proxy_have_their_own_price"),
        row("8 price of proxy auto", "5 if the enhanced retry succeeds, otherwise the regular price")
            .tested("websvc-engine", "pages_through_an_enhanced_proxy_have_their_own_price")
            .tested("websvc-cli", "enhanced_retry_is_reported_and_charged"),
        row("8 price of PDF parsing", "1 per page")
            .tested("websvc-cli", "pdf_is_charged_per_page_and_unparsed_as_one_page"),
        row("8 price of PDF as base64", "1 per PDF")
            .tested("websvc-cli", "pdf_is_charged_per_page_and_unparsed_as_one_page"),
        row("8 price of lockdown", "5 per hit, 1 per miss")
            .tested("websvc-cli", "min_age_and_lockdown_use_only_the_cache")
            .tested("websvc-engine", "scraped_pages_and_lockdown_misses_are_charged")
            .tested("websvc-engine", "search_without_any_cached_page_costs_the_lockdown_misses"),
        row("8 price of threat protection", "2 additional credits per scanned URL")
            .tested("websvc-engine", "scanned_urls_are_charged_even_without_results")
            .tested("websvc-cli", "blocked_results_are_removed_and_scans_charged"),
        row("8 429", "if the limits of the plan are exceeded")
            .tested("websvc-server", "request_above_the_total_concurrency_is_rejected_until_another_one_ends")
            .tested("websvc-server", "concurrent_requests_are_limited_by_team_and_by_key")
            .tested("websvc-cli", "team_over_its_concurrency_is_rejected"),
    ]
}
