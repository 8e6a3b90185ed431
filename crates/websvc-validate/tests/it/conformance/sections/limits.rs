//! Section 8: limits and prices.

use std::time::Duration;

use websvc_types::ViolationCode::*;
use websvc_validate::SearchPlan;

use crate::conformance::row::{Row, everything, inside, option, page, row, scrape, search, threat};

/// Every character of these texts has four bytes: characters are counted, not bytes.
const CLEF: &str = "\u{1d11e}";

pub(super) fn rows() -> Vec<Row> {
    let mut rows = vec![
        text("8 query length", "500 characters at most", search("query"), 500),
        row("8 limit", "1 to 100, default 10, for each source")
            .at(search("limit"))
            .default(SearchPlan::limit, 10)
            .bad(0, TooSmall)
            .ok(1)
            .ok(100)
            .bad(101, TooBig),
        row("8 search timeout", "default 60000 ms")
            .at(search("timeout"))
            .default(SearchPlan::timeout, Duration::from_millis(60_000)),
        row("8 scrapeOptions.timeout", "1000 to 300000 ms, default 60000")
            .at(scrape("timeout"))
            .default(|plan| page(plan).timeout(), Duration::from_millis(60_000))
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
            "1024 characters at most",
            inside("auditMetadata", "username"),
            1024,
        ),
        text(
            "8 question length",
            "10000 characters at most",
            option("formats", "question", "question"),
            10_000,
        ),
        text(
            "8 highlights query length",
            "10000 characters at most",
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
        row("8 audio and video signed URL lifetime", "1 hour").later("media are extracted"),
    ];
    rows.extend(prices());
    rows
}

fn text(name: &'static str, rule: &'static str, place: crate::conformance::row::Place, most: usize) -> Row {
    row(name, rule)
        .at(place)
        .ok("x".repeat(most))
        .bad("x".repeat(most + 1), TooLong)
        .ok(CLEF.repeat(most))
        .bad(CLEF.repeat(most + 1), TooLong)
}

fn list(name: &'static str, field: &str) -> Row {
    row(name, "1000 items at most")
        .by(everything())
        .at(threat(field))
        .ok(vec!["example".to_owned(); 1000])
        .bad(vec!["example".to_owned(); 1001], TooLong)
}

fn max_age() -> Row {
    let read = |plan: &SearchPlan| page(plan).max_age();
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
            "2 per 10 results, rounded up, none when there are none; 1 per scraped page (our own)",
        )
        .tested("websvc-cli", "results_carry_the_formats_that_were_asked_for")
        .tested("websvc-cli", "nothing_found_is_an_empty_list_of_every_source_that_was_asked"),
        row("8 price of zdr", "10 per 10 results")
            .tested("websvc-engine", "started_tens_of_results_are_charged_by_retention")
            .tested("websvc-cli", "requests_of_which_nothing_may_be_kept_are_charged_and_not_told"),
        row("8 price of anon", "2 per 10 results")
            .tested("websvc-engine", "started_tens_of_results_are_charged_by_retention")
            .tested("websvc-cli", "requests_of_which_nothing_may_be_kept_are_charged_and_not_told"),
        row("8 price of proxy enhanced", "up to 5 per request")
            .tested("websvc-engine", "what_came_through_an_enhanced_proxy_has_its_own_price"),
        row("8 price of proxy auto", "5 when the enhanced retry succeeds, else the regular price")
            .tested("websvc-engine", "what_came_through_an_enhanced_proxy_has_its_own_price")
            .tested("websvc-cli", "an_enhanced_retry_is_told_and_charged"),
        row("8 price of PDF parsing", "1 per page")
            .tested("websvc-cli", "every_page_of_a_pdf_is_charged_and_the_file_itself_is_one_page"),
        row("8 price of PDF as base64", "1 per PDF")
            .tested("websvc-cli", "every_page_of_a_pdf_is_charged_and_the_file_itself_is_one_page"),
        row("8 price of lockdown", "5 per hit, 1 per miss")
            .tested("websvc-cli", "min_age_and_lockdown_ask_only_the_cache")
            .tested("websvc-engine", "pages_are_charged_when_they_were_got_and_misses_of_lockdown_too")
            .tested("websvc-engine", "a_search_whose_pages_are_all_missing_costs_the_misses_of_lockdown"),
        row("8 price of threat protection", "2 more per scanned URL")
            .tested("websvc-engine", "every_scanned_url_is_charged_even_when_nothing_is_left_of_the_results")
            .tested("websvc-cli", "blocked_results_are_removed_counted_and_the_scans_are_charged"),
        row("8 429", "when the limits of the plan are exceeded")
            .tested("websvc-server", "a_request_too_many_is_turned_away_until_another_is_done")
            .tested("websvc-server", "requests_at_a_time_are_bounded_by_team_and_by_key")
            .tested("websvc-cli", "a_team_that_asks_for_too_much_at_a_time_is_told_so"),
    ]
}
