//! Section 2.1: request of a search.

use std::time::Duration;

use serde_json::json;
use websvc_types::Category::{self, Github, Pdf, Research};
use websvc_types::ViolationCode::*;
use websvc_validate::SourceKind::{self, Images, News, Web};
use websvc_validate::{DomainFilter, RetentionMode, SearchPlan};

use crate::conformance::json::Raw;
use crate::conformance::row::{Row, body, everything, row, search, threat};

pub(super) fn rows() -> Vec<Row> {
    vec![
        query(),
        limit(),
        sources(),
        categories(),
        include_domains(),
        exclude_domains(),
        tbs(),
        location(),
        country(),
        safe(),
        timeout(),
        ignore_invalid_urls(),
        highlights(),
        enterprise(),
        scrape_options(),
        threat_protection(),
        client_keys(),
    ]
}

fn query() -> Row {
    row(
        "2.1 query",
        "required text, at most 500 characters (Unicode scalar values), with the operators of 2.5",
    )
    .at(body())
    .bad_in(json!({}), &[("/query", Missing)])
    .at(search("query"))
    .ok("q")
    .ok("q".repeat(500))
    .ok("\u{1d11e}".repeat(500))
    .ok("e\u{301}".repeat(250))
    .bad("q".repeat(501), TooLong)
    .bad("\u{1d11e}".repeat(501), TooLong)
    .bad("", TooShort)
    .bad(" \t\n", TooShort)
    .bad(Raw("null"), Missing)
    .bad(7, InvalidType)
    .bad(json!(["q"]), InvalidType)
    .tested("websvc-cli", "query_of_500_characters_is_accepted")
}

fn limit() -> Row {
    row("2.1 limit", "integer from 1 to 100, per source; default 10")
        .at(search("limit"))
        .default(|plan| plan.limit, 10)
        .ok(1)
        .ok(100)
        .reads(2.0, |plan| plan.limit, 2)
        .reads(Raw("1e1"), |plan| plan.limit, 10)
        .bad(0, TooSmall)
        .bad(-1, TooSmall)
        .bad(Raw("-0.0"), TooSmall)
        .bad(Raw("-9223372036854775809"), TooSmall)
        .bad(101, TooBig)
        .bad(Raw("18446744073709551616"), TooBig)
        .bad(1e300, TooBig)
        .malformed(Raw("1e400"))
        .malformed(Raw("NaN"))
        .bad(1.5, InvalidType)
        .bad("10", InvalidType)
        .bad(true, InvalidType)
        .bad(json!([10]), InvalidType)
}

fn kinds(plan: &SearchPlan) -> Vec<SourceKind> {
    plan.sources.iter().map(|source| source.kind).collect()
}

/// Returns whether the last source has a time filter, and its location.
fn last_source(plan: &SearchPlan) -> (bool, Option<String>) {
    let source = plan.sources.last().expect("there is a source");
    (source.tbs.is_some(), source.location.clone())
}

fn sources() -> Row {
    row(
        "2.1 sources",
        "objects with type web, images or news, or the bare names, also mixed; default web; each with \
         its own tbs and location",
    )
    .at(search("sources"))
    .default(kinds, vec![Web])
    .reads(json!([]), kinds, vec![Web])
    .reads(json!(["web", { "type": "images" }, "news"]), kinds, vec![Web, Images, News])
    .reads(json!([{ "type": "web" }, "web"]), kinds, vec![Web])
    .reads(
        json!([{ "type": "web", "tbs": "qdr:d", "location": "Rome" }]),
        last_source,
        (true, Some("Rome".into())),
    )
    .reads(json!([{ "type": "web", "tbs": null, "location": null }]), last_source, (false, None))
    .reads(json!([{ "type": "news", "tbs": "", "location": "" }]), last_source, (false, None))
    .warns(json!([{ "type": "web", "tb": "qdr:d" }]), "did you mean tbs?")
    .ok(json!(["web", "alexandria"]))
    .warns(json!(["alexandria"]), "sources[0]: alexandria is not available")
    .bad_in(json!(["wbe"]), &[("/0", UnknownValue)])
    .bad_in(json!(["Web"]), &[("/0", UnknownValue)])
    .bad_in(json!(["web", { "type": "video" }]), &[("/1/type", UnknownValue)])
    .bad_in(json!([{ "tbs": "qdr:d" }]), &[("/0/type", Missing)])
    .bad_in(json!([{ "type": null }]), &[("/0/type", Missing)])
    .bad_in(json!([{ "type": 1 }]), &[("/0/type", InvalidType)])
    .bad_in(json!([null]), &[("/0", InvalidType)])
    .bad_in(json!([{ "type": "web", "tbs": "qdr:x" }]), &[("/0/tbs", InvalidFormat)])
    .bad_in(
        json!([{ "type": "web", "tbs": 1, "location": [] }]),
        &[("/0/location", InvalidType), ("/0/tbs", InvalidType)],
    )
    .bad_in(json!(["web", { "type": "web", "tbs": "qdr:d" }]), &[("/1", Conflict)])
    .bad("web", InvalidType)
    .tested("websvc-types", "response_has_only_the_requested_sources")
    .tested("websvc-cli", "search_without_results_has_an_empty_list_per_source")
    .tested("websvc-cli", "every_source_has_its_own_result_shape")
    .tested("websvc-cli", "image_sizes_and_source_time_filter_results")
}

fn categories() -> Row {
    let read = |plan: &SearchPlan| plan.categories.clone();
    row(
        "2.1 categories",
        "objects with type github, research or pdf, or the bare names, also mixed; default none",
    )
    .at(search("categories"))
    .default(read, Vec::<Category>::new())
    .reads(json!(["github", { "type": "research" }, "pdf"]), read, vec![Github, Research, Pdf])
    .reads(json!(["pdf", { "type": "pdf" }]), read, vec![Pdf])
    .warns(json!([{ "type": "pdf", "mode": 1 }]), "mode")
    .warns(json!(["developer"]), "developer is not available")
    .warns(json!([{ "type": "gov" }]), "gov is not available")
    .bad_in(json!(["githib"]), &[("/0", UnknownValue)])
    .bad_in(json!([{}]), &[("/0/type", Missing)])
    .bad_in(json!([{ "type": "papers" }]), &[("/0/type", UnknownValue)])
    .bad_in(json!([1]), &[("/0", InvalidType)])
    .bad("github", InvalidType)
    .tested("websvc-engine", "restriction_of_several_categories_is_an_or")
    .tested("websvc-engine", "restriction_without_categories_is_empty")
}

fn domains(plan: &SearchPlan) -> DomainFilter {
    plan.domains.clone()
}

fn include(host: &str) -> DomainFilter {
    DomainFilter::Include(vec![host.to_owned()])
}

fn include_domains() -> Row {
    row(
        "2.1 includeDomains",
        "hostnames (IDNA) without protocol, port and path; at most 1000 (not specified); cannot be combined \
         with excludeDomains",
    )
    .at(search("includeDomains"))
    .default(domains, DomainFilter::Any)
    .reads(json!([]), domains, DomainFilter::Any)
    .reads(json!(["example.com"]), domains, include("example.com"))
    .reads(json!([" Docs.Example.COM. "]), domains, include("docs.example.com"))
    .reads(json!(["b\u{fc}cher.example"]), domains, include("xn--bcher-kva.example"))
    .reads(json!(["xn--bcher-kva.example"]), domains, include("xn--bcher-kva.example"))
    .reads(json!(["\u{4f8b}\u{3048}.\u{30c6}\u{30b9}\u{30c8}"]), domains, include("xn--r8jz45g.xn--zckzah"))
    .reads(json!(["stra\u{df}e.example"]), domains, include("xn--strae-oqa.example"))
    .reads(json!(["a.example", "A.example"]), domains, include("a.example"))
    .ok(json!([format!("{}.example", "a".repeat(63))]))
    .ok(vec!["a.example".to_owned(); 1000])
    .bad(vec!["a.example".to_owned(); 1001], TooLong)
    .bad_in(json!([format!("{}.example", "a".repeat(64))]), &[("/0", InvalidFormat)])
    .bad_in(json!(["https://example.com"]), &[("/0", InvalidFormat)])
    .bad_in(json!(["//example.com"]), &[("/0", InvalidFormat)])
    .bad_in(json!(["example.com:443"]), &[("/0", InvalidFormat)])
    .bad_in(json!(["example.com/docs"]), &[("/0", InvalidFormat)])
    .bad_in(json!(["example.com?q"]), &[("/0", InvalidFormat)])
    .bad_in(json!(["user@example.com"]), &[("/0", InvalidFormat)])
    .bad_in(json!(["*.example.com"]), &[("/0", InvalidFormat)])
    .bad_in(json!(["exa mple.com"]), &[("/0", InvalidFormat)])
    .bad_in(json!(["a..example"]), &[("/0", InvalidFormat)])
    .bad_in(json!(["-a.example"]), &[("/0", InvalidFormat)])
    .bad_in(json!(["xn--\u{fc}.example"]), &[("/0", InvalidFormat)])
    .bad_in(json!(["[::1]"]), &[("/0", InvalidFormat)])
    .bad_in(json!(["ok.example", ""]), &[("/1", InvalidFormat)])
    .bad_in(json!(["ok.example", null, 7]), &[("/1", InvalidType), ("/2", InvalidType)])
    .bad("example.com", InvalidType)
    .at(body())
    .bad_in(
        json!({ "query": "q", "includeDomains": ["a.example"], "excludeDomains": ["b.example"] }),
        &[("/excludeDomains", Conflict)],
    )
    .reads(
        json!({ "query": "q", "includeDomains": ["a.example"], "excludeDomains": [] }),
        domains,
        include("a.example"),
    )
    .tested("websvc-index", "domain_filters_include_subdomains")
}

fn exclude_domains() -> Row {
    let excluded = DomainFilter::Exclude(vec!["b.example".to_owned()]);
    row("2.1 excludeDomains", "as includeDomains; cannot be combined with it; an empty list counts as absent")
        .at(search("excludeDomains"))
        .default(domains, DomainFilter::Any)
        .reads(json!(["B.example"]), domains, excluded.clone())
        .ok(vec!["a.example".to_owned(); 1000])
        .bad(vec!["a.example".to_owned(); 1001], TooLong)
        .bad_in(json!(["http://b.example/"]), &[("/0", InvalidFormat)])
        .bad_in(json!([{}]), &[("/0", InvalidType)])
        .at(body())
        .reads(
            json!({ "query": "q", "includeDomains": [], "excludeDomains": ["b.example"] }),
            domains,
            excluded,
        )
}

fn tbs() -> Row {
    let has_tbs = |plan: &SearchPlan| plan.sources[0].tbs.is_some();
    row("2.1 tbs", "time filter, see 2.4; an empty text counts as absent")
        .at(search("tbs"))
        .default(has_tbs, false)
        .reads("", has_tbs, false)
        .reads("qdr:d", has_tbs, true)
        .bad("qdr:x", InvalidFormat)
        .bad(1, InvalidType)
}

fn location() -> Row {
    let read = |plan: &SearchPlan| plan.location.clone();
    row(
        "2.1 location",
        "text, `<city>,<region>,<country name>` or a country name; an empty text counts as absent",
    )
    .at(search("location"))
    .default(read, None)
    .reads("", read, None)
    .reads(" ", read, None)
    .reads("Germany", read, Some("Germany".to_owned()))
    .reads(
        "San Francisco,California,United States",
        read,
        Some("San Francisco,California,United States".to_owned()),
    )
    .bad(json!({ "country": "DE" }), InvalidType)
    .tested("websvc-cli", "location_ranks_local_pages_first")
}

fn country() -> Row {
    let read = |plan: &SearchPlan| plan.country.to_owned();
    let code = |code: &str| code.to_owned();
    row("2.1 country", "ISO 3166-1 alpha-2 code in any case, or UK, which the specification uses; default US")
        .at(search("country"))
        .default(read, code("US"))
        .reads("", read, code("US"))
        .reads("US", read, code("US"))
        .reads("DE", read, code("DE"))
        .reads("FR", read, code("FR"))
        .reads("JP", read, code("JP"))
        .reads("UK", read, code("GB"))
        .reads("CA", read, code("CA"))
        .reads("de", read, code("DE"))
        .reads("AX", read, code("AX"))
        .reads("ZW", read, code("ZW"))
        .bad("XX", UnknownValue)
        .bad("ZZ", UnknownValue)
        .bad("AN", UnknownValue)
        .bad("EU", UnknownValue)
        .bad("USA", UnknownValue)
        .bad("U", UnknownValue)
        .bad("Germany", UnknownValue)
        .bad(49, InvalidType)
        .tested("websvc-index", "pages_of_the_searchers_country_rank_first_among_equals")
        .tested("websvc-cli", "location_ranks_local_pages_first")
}

fn safe() -> Row {
    row("2.1 safe", "true or false; no filter if absent")
        .at(search("safe"))
        .default(|plan| plan.safe, false)
        .reads(true, |plan| plan.safe, true)
        .reads(false, |plan| plan.safe, false)
        .bad("true", InvalidType)
        .bad(1, InvalidType)
        .tested("websvc-index", "safe_search_excludes_explicit_pages_and_their_images")
        .tested("websvc-index", "several_listed_words_make_a_page_explicit_but_a_single_one_does_not")
        .tested("websvc-cli", "safe_search_omits_explicit_pages")
}

fn timeout() -> Row {
    let seconds = |plan: &SearchPlan| plan.timeout;
    row(
        "2.1 timeout",
        "integer, milliseconds for the search; default 60000; 1 to 300000; less than 1000 counts as 1000 (not specified)",
    )
    .at(search("timeout"))
    .default(seconds, Duration::from_secs(60))
    .reads(1, seconds, Duration::from_secs(1))
    .reads(1001, seconds, Duration::from_millis(1001))
    .reads(60000.0, seconds, Duration::from_secs(60))
    .reads(300_000, seconds, Duration::from_secs(300))
    .bad(300_001, TooBig)
    .bad(0, TooSmall)
    .bad(-1, TooSmall)
    .bad(1000.5, InvalidType)
    .bad("60000", InvalidType)
    .tested("websvc-cli", "slow_pages_do_not_delay_the_response")
}

fn ignore_invalid_urls() -> Row {
    row(
        "2.1 ignoreInvalidURLs",
        "true or false, default false; also spelled ignoreInvalidUrls, as in the Rust client",
    )
    .at(search("ignoreInvalidURLs"))
    .default(|plan| plan.ignore_invalid_urls, false)
    .reads(true, |plan| plan.ignore_invalid_urls, true)
    .bad("yes", InvalidType)
    .at(search("ignoreInvalidUrls"))
    .reads(true, |plan| plan.ignore_invalid_urls, true)
    .tested("websvc-cli", "ignore_invalid_urls_omits_unfetchable_results")
}

fn highlights() -> Row {
    row(
        "2.1 highlights",
        "true or false, default true: descriptions are passages that match the query, otherwise those of the page",
    )
    .at(search("highlights"))
    .default(|plan| plan.highlights, true)
    .reads(false, |plan| plan.highlights, false)
    .bad(0, InvalidType)
    .tested("websvc-index", "snippet_is_the_passage_with_the_query_words_at_any_depth")
    .tested("websvc-index", "snippet_is_the_page_description_on_request_or_without_a_passage")
}

fn enterprise() -> Row {
    row(
        "2.1 enterprise",
        "list of anon and zdr, which must be enabled for the team; `default`, which JavaScript clients \
         send, means neither",
    )
    .at(search("enterprise"))
    .forbidden(json!(["zdr"]))
    .forbidden(json!(["anon"]))
    .by(everything())
    .default(|plan| plan.retention, RetentionMode::Normal)
    .reads(json!([]), |plan| plan.retention, RetentionMode::Normal)
    .reads(json!(["default"]), |plan| plan.retention, RetentionMode::Normal)
    .reads(json!(["anon"]), |plan| plan.retention, RetentionMode::Anonymous)
    .reads(json!(["zdr"]), |plan| plan.retention, RetentionMode::Zero)
    .reads(json!(["anon", "zdr"]), |plan| plan.retention, RetentionMode::Zero)
    .bad_in(json!(["zdr", "none"]), &[("/1", UnknownValue)])
    .bad_in(json!([{ "type": "zdr" }]), &[("/0", InvalidType)])
    .bad("zdr", InvalidType)
    .tested("websvc-validate", "retention_is_the_strictest_of_request_and_policy")
    .tested("websvc-cli", "options_that_may_not_be_ignored_are_rejected")
    .tested("websvc-cli", "zero_retention_request_leaves_no_data")
    .tested("websvc-cli", "anonymous_request_data_names_no_team_or_key")
}

fn scrape_options() -> Row {
    let scraped = |plan: &SearchPlan| plan.scrape.is_some();
    row("2.1 scrapeOptions", "object, see 2.2; default {}, which scrapes no page")
        .at(search("scrapeOptions"))
        .default(scraped, false)
        .reads(json!({}), scraped, false)
        .reads(json!({ "formats": ["links"] }), scraped, true)
        .warns(json!({ "format": ["links"] }), "did you mean formats?")
        .bad("markdown", InvalidType)
        .bad(json!(["markdown"]), InvalidType)
        .bad_in(json!({ "timeout": 999 }), &[("/timeout", TooSmall)])
}

fn threat_protection() -> Row {
    row("2.1 threatProtection", "object, see 2.3; needs threat protection to be enabled for the team")
        .at(search("threatProtection"))
        .forbidden(json!({}))
        .by(everything())
        .default(|plan| plan.threat.is_some(), false)
        .ok(json!({}))
        .bad(true, InvalidType)
        .at(threat("mod"))
        .warns("off", "did you mean mode?")
        .tested("websvc-validate", "absent_threat_values_are_those_of_the_team")
        .tested("websvc-cli", "blocked_results_are_removed_and_scans_charged")
}

fn client_keys() -> Row {
    row(
        "2.1 other keys",
        "ignored, and named in warning with a suggestion of a known name; those of official clients are \
         ignored without a warning",
    )
    .at(search("origin"))
    .ok("python-sdk@4.55.0")
    .at(search("integration"))
    .ok("_e2e-test")
    .at(search("domainTools"))
    .ok(true)
    .at(search("toolDetail"))
    .ok("compact")
    .at(search("lang"))
    .ok("en")
    .at(search("filter"))
    .ok("x")
    .at(search("asyncScraping"))
    .ok(false)
    .at(search("__agentInterop"))
    .ok(json!({}))
    .at(search("limits"))
    .warns(3, "\"limits\" was ignored; did you mean limit?")
    .at(search("qwertyuiop"))
    .warns(json!({ "deep": [] }), "\"qwertyuiop\" was ignored")
    .tested("websvc-validate", "python_client_request_is_accepted_without_warnings")
    .tested("websvc-validate", "javascript_client_request_is_accepted_without_warnings")
    .tested("websvc-validate", "command_line_and_n8n_requests_are_accepted_without_warnings")
    .tested("websvc-validate", "mcp_server_categories_are_ignored_with_a_warning")
    .tested("websvc-validate", "rust_client_spellings_are_accepted")
    .tested("websvc-cli", "unknown_key_is_named_in_the_warning")
}
