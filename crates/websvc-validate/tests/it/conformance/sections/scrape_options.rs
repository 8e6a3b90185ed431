//! Section 2.2: scrape options that are not objects.

use std::time::Duration;

use serde_json::json;
use websvc_types::ViolationCode::*;
use websvc_types::{Format, Parser, ParserKind, Proxy};
use websvc_validate::{ScrapePlan, SearchPlan};

use crate::conformance::json::Raw;
use crate::conformance::row::{Row, inside, option, page, row, scrape, search, typed};

pub(super) fn rows() -> Vec<Row> {
    vec![
        formats(),
        flag("2.2 onlyMainContent", "onlyMainContent", "default true", |plan| plan.only_main_content, true)
            .tested("websvc-extract", "article_is_without_navigation_sidebar_and_footer")
            .tested("websvc-extract", "full_scope_has_all_visible_text"),
        only_clean_content(),
        tags("2.2 includeTags", "includeTags", "elements to keep: tag names and CSS selectors of at most 2000 characters (not specified), without states", |plan| page(plan).include_tags.clone())
            .tested("websvc-extract", "include_tags_accept_selectors_and_write_nothing_twice"),
        tags("2.2 excludeTags", "excludeTags", "elements to remove: tag names and CSS selectors of at most 2000 characters (not specified), without states", |plan| page(plan).exclude_tags.clone())
            .tested("websvc-extract", "exclude_tags_override_include_tags"),
        max_age(),
        min_age(),
        wait_for(),
        flag("2.2 mobile", "mobile", "default false", |plan| plan.mobile, false)
            .tested("websvc-cli", "mobile_and_block_ads_options_apply")
            .tested("websvc-browser", "mobile_device_has_small_touch_screen"),
        flag(
            "2.2 skipTlsVerification",
            "skipTlsVerification",
            "default true; a bad certificate is accepted, with a warning",
            |plan| plan.skip_tls_verification,
            true,
        )
        .tested("websvc-transport", "unknown_issuer_is_an_error_or_a_warning"),
        timeout(),
        parsers(),
        flag(
            "2.2 removeBase64Images",
            "removeBase64Images",
            "default true; only in markdown, the alternative text stays",
            |plan| plan.remove_base64_images,
            true,
        )
        .tested("websvc-extract", "embedded_images_are_replaced_or_kept_in_markdown"),
        flag("2.2 blockAds", "blockAds", "default true", |plan| plan.block_ads, true)
            .tested("websvc-cli", "mobile_and_block_ads_options_apply"),
        proxy(),
        store_in_cache(),
        lockdown(),
        other_keys(),
    ]
}

/// Returns the row of a boolean field.
fn flag(
    name: &'static str,
    field: &str,
    rule: &'static str,
    read: fn(&ScrapePlan) -> bool,
    default: bool,
) -> Row {
    row(name, rule)
        .at(scrape(field))
        .default(move |plan| read(page(plan)), default)
        .reads(!default, move |plan| read(page(plan)), !default)
        .bad("true", InvalidType)
        .bad(1, InvalidType)
}

fn formats() -> Row {
    let names = |plan: &SearchPlan| {
        let formats =
            plan.scrape.as_ref().map(|scrape| scrape.formats.iter().map(Format::name).collect::<Vec<_>>());
        formats.unwrap_or_default()
    };
    row(
        "2.2 formats",
        "names of formats or objects of 2.2.1, also mixed; default markdown for a scrape, none for a \
         search (4.1 rule 2)",
    )
    .at(search("scrapeOptions"))
    .reads(json!({ "formats": null }), names, vec![])
    .at(scrape("formats"))
    .reads(json!([]), names, vec![])
    .reads(json!(["markdown", { "type": "html" }, "links"]), names, vec!["markdown", "html", "links"])
    .reads(json!(["html", { "type": "html" }]), names, vec!["html"])
    .bad_in(json!(["rawhtml"]), &[("/0", UnknownValue)])
    .warns(json!(["attributes"]), "formats[0]: attributes is not available")
    .reads(json!(["rawBase64", { "type": "rawBase64" }]), names, vec!["rawBase64"])
    .bad_in(json!([{ "type": "extract" }]), &[("/0/type", UnknownValue)])
    .bad_in(
        json!([{}, { "type": 1 }, 7, null]),
        &[("/0/type", Missing), ("/1/type", InvalidType), ("/2", InvalidType), ("/3", InvalidType)],
    )
    .bad_in(json!(["screenshot", { "type": "screenshot", "fullPage": true }]), &[("/1", Conflict)])
    .bad("markdown", InvalidType)
    .tested("websvc-validate", "scrape_options_have_their_defaults")
    .tested("websvc-cli", "results_have_the_requested_formats")
}

fn only_clean_content() -> Row {
    let read = |plan: &SearchPlan| page(plan).only_clean_content;
    row(
        "2.2 onlyCleanContent",
        "default false; can be combined with onlyMainContent; without effect under zero data retention, with a warning",
    )
    .at(scrape("onlyCleanContent"))
    .default(read, false)
    .reads(true, read, true)
    .bad("yes", InvalidType)
    .at(search("scrapeOptions"))
    .ok(json!({ "formats": ["markdown"], "onlyCleanContent": true, "onlyMainContent": true }))
    .ok(json!({ "formats": ["markdown"], "onlyCleanContent": false, "lockdown": true }))
    .warns(
        json!({ "formats": ["markdown"], "onlyCleanContent": true, "lockdown": true }),
        "onlyCleanContent has no effect with zero data retention",
    )
    .tested("websvc-validate", "zero_retention_turns_clean_content_off_with_a_warning")
    .tested("websvc-cli", "clean_content_omits_boilerplate_passages")
}

fn tags(name: &'static str, field: &str, rule: &'static str, read: fn(&SearchPlan) -> Vec<String>) -> Row {
    let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
    row(name, rule)
        .at(scrape(field))
        .default(read, vec![])
        .reads(json!([]), read, vec![])
        .reads(json!(["main", "#content", ".a > b"]), read, texts(&["main", "#content", ".a > b"]))
        .ok(json!(["article:not(.ad) p:nth-child(2n+1)", "[data-x=\"y\"]", "h1, h2"]))
        .bad_in(json!(["main", "", " "]), &[("/1", TooShort), ("/2", TooShort)])
        .ok(json!(["p".repeat(2000)]))
        .bad_in(json!(["p".repeat(2001)]), &[("/0", TooLong)])
        .bad_in(json!(["p:hover"]), &[("/0", InvalidFormat)])
        .bad_in(json!(["div["]), &[("/0", InvalidFormat)])
        .bad_in(json!(["a >"]), &[("/0", InvalidFormat)])
        .bad_in(json!(["p", "..a"]), &[("/1", InvalidFormat)])
        .bad_in(json!(["<div>"]), &[("/0", InvalidFormat)])
        .bad_in(json!([1, null]), &[("/0", InvalidType), ("/1", InvalidType)])
        .bad("main", InvalidType)
}

fn max_age() -> Row {
    let read = |plan: &SearchPlan| page(plan).max_age;
    row("2.2 maxAge", "integer, milliseconds; default 172800000 (two days); at most 2^53 - 1 (not specified)")
        .at(scrape("maxAge"))
        .default(read, Duration::from_millis(172_800_000))
        .reads(0, read, Duration::ZERO)
        .reads(Raw("-0.0"), read, Duration::ZERO)
        .reads(3_600_000.0, read, Duration::from_secs(3600))
        .ok(9_007_199_254_740_991_u64)
        .bad(9_007_199_254_740_992_u64, TooBig)
        .bad(-1, TooSmall)
        .bad(1e20, TooBig)
        .bad(0.5, InvalidType)
        .bad("1d", InvalidType)
        .tested("websvc-scrape", "max_age_decides_between_cache_and_fetch")
        .tested("websvc-cli", "second_search_is_served_from_the_cache")
}

fn min_age() -> Row {
    let read = |plan: &SearchPlan| page(plan).min_age;
    row(
        "2.2 minAge",
        "integer, milliseconds; uses only the cache; 1 accepts any cached page; no page is \
         SCRAPE_NO_CACHED_DATA",
    )
    .at(scrape("minAge"))
    .default(read, None)
    .reads(1, read, Some(Duration::from_millis(1)))
    .ok(9_007_199_254_740_991_u64)
    .bad(9_007_199_254_740_992_u64, TooBig)
    .bad(-1, TooSmall)
    .bad(1.5, InvalidType)
    .bad(false, InvalidType)
    .tested("websvc-scrape", "min_age_never_fetches")
    .tested("websvc-cli", "min_age_and_lockdown_use_only_the_cache")
}

fn wait_for() -> Row {
    let read = |plan: &SearchPlan| page(plan).wait_for;
    row(
        "2.2 waitFor",
        "integer, milliseconds; default 0; at most 60000 (not specified), and at most half of an explicit timeout",
    )
    .at(scrape("waitFor"))
    .default(read, Duration::ZERO)
    .reads(0, read, Duration::ZERO)
    .reads(60_000, read, Duration::from_secs(60))
    .bad(60_001, TooBig)
    .bad(-1, TooSmall)
    .bad("1s", InvalidType)
    .tested("websvc-validate", "wait_for_above_half_of_the_timeout_is_rejected")
    .tested("websvc-cli", "rendered_page_reaches_no_address_that_the_guard_refuses")
    .tested("websvc-cli", "missing_browser_is_reported_in_warnings_and_errors")
}

fn timeout() -> Row {
    let read = |plan: &SearchPlan| page(plan).timeout;
    row("2.2 timeout", "integer, milliseconds, from 1000 to 300000; default 60000")
        .at(scrape("timeout"))
        .default(read, Duration::from_secs(60))
        .reads(1000, read, Duration::from_secs(1))
        .reads(1000.0, read, Duration::from_secs(1))
        .reads(300_000, read, Duration::from_secs(300))
        .bad(999, TooSmall)
        .bad(0, TooSmall)
        .bad(-5000, TooSmall)
        .bad(300_001, TooBig)
        .bad(1000.5, InvalidType)
        .bad("1000", InvalidType)
}

fn parsers() -> Row {
    let read = |plan: &SearchPlan| page(plan).parsers.clone();
    let modes = |mode: &str| json!([typed("pdf", "mode", mode)]);
    let pdf = || json!([{ "type": "pdf" }]);
    row(
        "2.2 parsers",
        "pdf as a name or an object with mode fast, auto or ocr, maxPages from 1 to 10000, and no \
         other property but those of official clients: pages, pageMarkers, blocks; default [pdf]",
    )
    .at(scrape("parsers"))
    .default(read, vec![Parser::new(ParserKind::Pdf)])
    .becomes(json!([]), read, json!([]))
    .becomes(json!(["pdf"]), read, pdf())
    .becomes(pdf(), read, pdf())
    .becomes(json!([{ "type": "pdf", "mode": null, "maxPages": null }]), read, pdf())
    .becomes(modes("fast"), read, modes("fast"))
    .becomes(modes("auto"), read, modes("auto"))
    .becomes(modes("ocr"), read, modes("ocr"))
    .becomes(json!([typed("pdf", "maxPages", 3.0)]), read, json!([typed("pdf", "maxPages", 3)]))
    .bad_in(json!([typed("pdf", "mode", "slow")]), &[("/0/mode", UnknownValue)])
    .becomes(json!([typed("pdf", "pages", true)]), read, json!([typed("pdf", "pages", true)]))
    .becomes(json!([typed("pdf", "pageMarkdown", true)]), read, json!([typed("pdf", "pages", true)]))
    .becomes(json!([typed("pdf", "pageMarkers", false)]), read, json!([typed("pdf", "pageMarkers", false)]))
    .bad_in(json!([typed("pdf", "pages", 1)]), &[("/0/pages", InvalidType)])
    .becomes(json!([typed("pdf", "blocks", true)]), read, json!([typed("pdf", "blocks", true)]))
    .bad_in(json!([typed("pdf", "page", 1)]), &[("/0/page", UnknownField)])
    .bad_in(json!([{ "mode": "fast" }]), &[("/0/type", Missing)])
    .warns(json!(["pdf", "image"]), "parsers[1]: image is not available and was ignored")
    .warns(json!([{ "type": "image" }]), "parsers[0]: image is not available and was ignored")
    .bad_in(json!(["docx"]), &[("/0", UnknownValue)])
    .bad_in(json!([{ "type": "docx" }]), &[("/0/type", UnknownValue)])
    .bad_in(json!(["pdf", typed("pdf", "maxPages", 1)]), &[("/1", Conflict)])
    .bad_in(json!([true]), &[("/0", InvalidType)])
    .bad("pdf", InvalidType)
    .at(option("parsers", "pdf", "maxPages"))
    .ok(1)
    .ok(10_000)
    .bad(0, TooSmall)
    .bad(10_001, TooBig)
    .bad(-1, TooSmall)
    .bad(1.5, InvalidType)
    .bad("3", InvalidType)
    .tested("websvc-cli", "pdf_has_markdown_and_page_counts")
    .tested("websvc-cli", "pdf_is_charged_per_page_and_unparsed_as_one_page")
    .tested("websvc-cli", "missing_tesseract_is_a_warning_for_scans_and_an_error_in_ocr_mode")
    .tested("websvc-cli", "scanned_pages_are_recognised_with_tesseract")
}

fn proxy() -> Row {
    let read = |plan: &SearchPlan| page(plan).proxy;
    row("2.2 proxy", "basic, enhanced or auto; default auto; stealth is an older name of enhanced")
        .at(scrape("proxy"))
        .default(read, Proxy::Auto)
        .reads("basic", read, Proxy::Basic)
        .reads("enhanced", read, Proxy::Enhanced)
        .reads("stealth", read, Proxy::Enhanced)
        .reads("auto", read, Proxy::Auto)
        .bad("fast", UnknownValue)
        .bad("Basic", UnknownValue)
        .bad(true, InvalidType)
        .tested("websvc-scrape", "auto_uses_the_enhanced_tier_if_the_basic_one_is_rejected")
        .tested("websvc-scrape", "basic_and_enhanced_use_only_their_own_tier")
}

fn store_in_cache() -> Row {
    let read = |plan: &SearchPlan| page(plan).store_in_cache;
    row(
        "2.2 storeInCache",
        "default true; false with headers, actions, profile, lockdown, zero or anonymized data retention",
    )
    .at(scrape("storeInCache"))
    .default(read, true)
    .reads(false, read, false)
    .bad("no", InvalidType)
    .at(search("scrapeOptions"))
    .reads(json!({ "formats": ["links"], "storeInCache": true, "headers": { "cookie": "a=b" } }), read, false)
    .reads(json!({ "formats": ["links"], "storeInCache": true, "headers": {} }), read, true)
    .reads(
        json!({ "formats": ["links"], "storeInCache": true, "actions": [{ "type": "scrape" }] }),
        read,
        false,
    )
    .reads(json!({ "formats": ["links"], "storeInCache": true, "profile": { "name": "p" } }), read, false)
    .reads(json!({ "formats": ["links"], "storeInCache": true, "lockdown": true }), read, false)
    .tested("websvc-validate", "personal_pages_are_not_stored")
    .tested("websvc-cli", "scrape_command_prints_the_page_and_indexes_it")
}

fn lockdown() -> Row {
    let years = Duration::from_secs(2 * 365 * 86_400);
    let read = |plan: &SearchPlan| (page(plan).lockdown, page(plan).max_age);
    row(
        "2.2 lockdown",
        "default false; uses only the cache; a miss is SCRAPE_LOCKDOWN_CACHE_MISS; maxAge defaults \
         to two years",
    )
    .at(scrape("lockdown"))
    .default(|plan| page(plan).lockdown, false)
    .reads(true, read, (true, years))
    .bad("on", InvalidType)
    .at(search("scrapeOptions"))
    .reads(
        json!({ "formats": ["links"], "lockdown": true, "maxAge": 5 }),
        read,
        (true, Duration::from_millis(5)),
    )
    // The official Python client always sends this value, so it counts as absent.
    .reads(json!({ "formats": ["links"], "lockdown": true, "maxAge": 14_400_000 }), read, (true, years))
    .tested("websvc-scrape", "lockdown_never_fetches")
    .tested("websvc-cli", "min_age_and_lockdown_use_only_the_cache")
    .tested("websvc-cli", "lockdown_request_is_written_nowhere")
}

fn other_keys() -> Row {
    row(
        "2.2 other keys",
        "ignored, and named in warning; those of official clients are ignored without a warning, except for a check that is not made",
    )
    .at(scrape("fastMode"))
    .ok(false)
    .at(scrape("useMock"))
    .ok("x")
    .at(scrape("checkPromptInjection"))
    .ok(false)
    .warns(true, "checkPromptInjection is not available and was ignored")
    .at(scrape("__experimental_x"))
    .ok(1)
    .at(scrape("integration"))
    .ok("x")
    .at(scrape("timeOut"))
    .warns(1, "scrapeOptions: the unknown field \"timeOut\" was ignored; did you mean timeout?")
    .at(inside("location", "town"))
    .warns("Rome", "location: the unknown field \"town\" was ignored")
}
