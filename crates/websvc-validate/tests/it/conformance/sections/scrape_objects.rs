//! Section 2.2: scrape options that are objects.

use std::collections::BTreeMap;

use serde_json::json;

use websvc_types::ViolationCode::*;
use websvc_validate::SearchPlan;

use crate::conformance::row::{Row, everything, inside, page, row, scrape};

pub(super) fn rows() -> Vec<Row> {
    vec![headers(), actions(), location(), redact_pii(), profile(), threat_protection(), audit_metadata()]
}

fn headers() -> Row {
    let read = |plan: &SearchPlan| page(plan).headers.clone();
    let single = |name: &str, value: &str| BTreeMap::from([(name.to_owned(), value.to_owned())]);
    row(
        "2.2 headers",
        "names and values valid in HTTP; not those of the connection and of cloud metadata \
         services; at most 65536 bytes (not specified)",
    )
    .at(scrape("headers"))
    .default(read, BTreeMap::new())
    .reads(json!({}), read, BTreeMap::new())
    .reads(json!({ "User-Agent": "x y" }), read, single("user-agent", "x y"))
    .reads(json!({ "Cookie": "a=b; c=d" }), read, single("cookie", "a=b; c=d"))
    .reads(json!({ "x-tab": "a\tb" }), read, single("x-tab", "a\tb"))
    .reads(json!({ "x-empty": "" }), read, single("x-empty", ""))
    .reads(json!({ "x": "na\u{ef}ve" }), read, single("x", "na\u{ef}ve"))
    .reads(json!({ "Cookie": null }), read, BTreeMap::new())
    .ok(json!({ "x": "v".repeat(65_535) }))
    .bad(json!({ "x": "v".repeat(65_536) }), TooLong)
    .bad_in(json!({ "": "x" }), &[("/", InvalidFormat)])
    .bad_in(json!({ "two words": "x" }), &[("/two words", InvalidFormat)])
    .bad_in(json!({ "x:": "x" }), &[("/x:", InvalidFormat)])
    .bad_in(json!({ "na\u{ef}ve": "x" }), &[("/na\u{ef}ve", InvalidFormat)])
    .bad_in(json!({ "a/b": "x" }), &[("/a~1b", InvalidFormat)])
    .bad_in(json!({ "x": "a\r\nInjected: 1" }), &[("/x", InvalidFormat)])
    .bad_in(json!({ "x": "a\u{0}b" }), &[("/x", InvalidFormat)])
    .bad_in(json!({ "x": "a\u{7f}" }), &[("/x", InvalidFormat)])
    .bad_in(json!({ "Host": "x" }), &[("/Host", NotSupported)])
    .bad_in(json!({ "content-length": "1" }), &[("/content-length", NotSupported)])
    .bad_in(json!({ "Transfer-Encoding": "chunked" }), &[("/Transfer-Encoding", NotSupported)])
    .bad_in(json!({ "Connection": "close" }), &[("/Connection", NotSupported)])
    .bad_in(json!({ "Proxy-Authorization": "x" }), &[("/Proxy-Authorization", NotSupported)])
    .bad_in(json!({ "Metadata-Flavor": "Google" }), &[("/Metadata-Flavor", NotSupported)])
    .bad_in(json!({ "X-aws-ec2-metadata-token": "x" }), &[("/X-aws-ec2-metadata-token", NotSupported)])
    .bad_in(json!({ "A": "x", "a": "x" }), &[("/a", Conflict)])
    .bad_in(json!({ "x": 1, "y": ["z"] }), &[("/x", InvalidType), ("/y", InvalidType)])
    .bad(json!(["x: y"]), InvalidType)
    .bad("x: y", InvalidType)
    .tested("websvc-validate", "header_message_does_not_contain_the_value")
    .tested("websvc-transport", "framing_and_metadata_headers_are_refused")
}

fn actions() -> Row {
    let read = |plan: &SearchPlan| page(plan).actions.len();
    let scrapes = |count: usize| vec![json!({ "type": "scrape" }); count];
    let waits = |ms: [u64; 2]| json!(ms.map(|ms| json!({ "type": "wait", "milliseconds": ms })));
    row(
        "2.2 actions",
        "actions of 2.2.2, each with its type; at most 50, with waits of at most 60000 ms in total (not specified)",
    )
    .at(scrape("actions"))
    .default(read, 0)
    .reads(json!([]), read, 0)
    .reads(scrapes(50), read, 50)
    .bad(scrapes(51), TooLong)
    .ok(waits([30_000, 30_000]))
    .bad(waits([30_000, 30_001]), TooBig)
    .bad_in(json!([{ "selector": "a" }]), &[("/0/type", Missing)])
    .bad_in(
        json!([{ "type": "swipe" }, { "type": null }]),
        &[("/0/type", UnknownValue), ("/1/type", Missing)],
    )
    .bad_in(json!(["scrape", null]), &[("/0", InvalidType), ("/1", InvalidType)])
    .bad(json!({ "type": "scrape" }), InvalidType)
    .tested("websvc-cli", "options_that_may_not_be_ignored_are_rejected")
    .tested("websvc-cli", "every_action_type_has_its_effect")
}

fn location() -> Row {
    let country = |plan: &SearchPlan| page(plan).location.country.to_owned();
    let languages = |plan: &SearchPlan| page(plan).location.languages.clone();
    let tags = |tags: &[&str]| tags.iter().map(|&tag| tag.to_owned()).collect::<Vec<_>>();
    row(
        "2.2 location",
        "country: two letters in any case, ISO 3166-1 alpha-2, default US; languages: BCP 47 tags, \
         at most 20 (not specified), default those of the country; city: without effect",
    )
    .at(scrape("location"))
    .default(country, "US".to_owned())
    .reads(json!({}), country, "US".to_owned())
    .bad("DE", InvalidType)
    .at(inside("location", "country"))
    .reads("DE", country, "DE".to_owned())
    .reads("SS", country, "SS".to_owned())
    .reads("UK", country, "GB".to_owned())
    .reads("de", country, "DE".to_owned())
    .reads("De", country, "DE".to_owned())
    .reads("", country, "US".to_owned())
    .bad("XX", UnknownValue)
    .bad("DEU", UnknownValue)
    .bad("D", UnknownValue)
    .bad("D1", UnknownValue)
    .bad(" DE", UnknownValue)
    .bad(1, InvalidType)
    .at(scrape("location"))
    .reads(json!({ "country": "DE", "city": "Berlin" }), country, "DE".to_owned())
    .warns(json!({ "city": "Berlin" }), "city was ignored")
    .at(inside("location", "languages"))
    .reads(json!([]), languages, vec![])
    .reads(json!(["pt_BR", "en", "pt-BR"]), languages, tags(&["pt-BR", "en"]))
    .ok(json!(["zh-Hant-TW", "de-CH-1901", "sl-rozaj-biske-1994", "es-419", "gsw"]))
    .ok(json!(["en-a-bbb-x-a-ccc", "de-DE-u-co-phonebk", "X-whatever", "zh-cmn-Hans-CN"]))
    .ok(vec!["en".to_owned(); 20])
    .bad(vec!["en".to_owned(); 21], TooLong)
    .bad_in(json!(["en", ""]), &[("/1", InvalidFormat)])
    .bad_in(json!(["e"]), &[("/0", InvalidFormat)])
    .bad_in(json!(["english language"]), &[("/0", InvalidFormat)])
    .bad_in(json!(["en-"]), &[("/0", InvalidFormat)])
    .bad_in(json!(["en--US"]), &[("/0", InvalidFormat)])
    .bad_in(json!(["en-US-DE"]), &[("/0", InvalidFormat)])
    .bad_in(json!(["en-a"]), &[("/0", InvalidFormat)])
    .bad_in(json!(["en-x"]), &[("/0", InvalidFormat)])
    .bad_in(json!([" en"]), &[("/0", InvalidFormat)])
    .bad_in(json!(["en-US-Latn"]), &[("/0", InvalidFormat)])
    .bad_in(json!(["en-abcdefghi"]), &[("/0", InvalidFormat)])
    .bad_in(json!(["419"]), &[("/0", InvalidFormat)])
    .bad_in(json!(["english"]), &[("/0", InvalidFormat)])
    .bad_in(json!([1, null]), &[("/0", InvalidType), ("/1", InvalidType)])
    .bad("en", InvalidType)
    .tested("websvc-scrape", "country_has_its_own_proxies_and_cached_copies")
    .tested("websvc-cli", "location_emulates_time_zone_and_language")
}

fn redact_pii() -> Row {
    let read = |plan: &SearchPlan| page(plan).redact_pii.is_some();
    row("2.2 redactPII", "true for the defaults, or an object of 2.2.3; default false")
        .at(scrape("redactPII"))
        .default(read, false)
        .reads(false, read, false)
        .reads(true, read, true)
        .reads(json!({}), read, true)
        .bad("true", InvalidType)
        .bad(1, InvalidType)
        .bad(json!([]), InvalidType)
        .tested("websvc-cli", "redact_pii_removes_personal_data_from_the_markdown")
}

fn profile() -> Row {
    let read = |plan: &SearchPlan| page(plan).profile.clone();
    let read_only = || json!({ "name": "p", "saveChanges": false });

    row("2.2 profile", "name of 1 to 128 characters, required; saveChanges default true")
        .at(scrape("profile"))
        .default(read, None)
        .becomes(json!({ "name": "p" }), read, json!({ "name": "p" }))
        .becomes(json!({ "name": "p", "saveChanges": null }), read, json!({ "name": "p" }))
        .becomes(read_only(), read, read_only())
        .warns(json!({ "name": "p", "save": false }), "profile: the unknown field \"save\" was ignored")
        .bad_in(json!({}), &[("/name", Missing)])
        .bad_in(
            json!({ "name": null, "saveChanges": 1 }),
            &[("/name", Missing), ("/saveChanges", InvalidType)],
        )
        .bad_in(json!({ "name": 1 }), &[("/name", InvalidType)])
        .bad("p", InvalidType)
        .at(inside("profile", "name"))
        .ok("p")
        .ok("\u{1d11e}".repeat(128))
        .bad("\u{1d11e}".repeat(129), TooLong)
        .bad("", TooShort)
        .tested("websvc-types", "defaults_match_the_specification")
        .tested("websvc-validate", "profile_conflicts_with_zero_and_anonymous_retention")
        .tested("websvc-cli", "profile_is_visible_to_its_team_and_name_only")
        .tested("websvc-cli", "profile_has_one_writer_and_many_readers")
}

fn threat_protection() -> Row {
    row("2.2 threatProtection", "object, see 2.3; replaces that of the search for the pages")
        .at(scrape("threatProtection"))
        .forbidden(json!({}))
        .by(everything())
        .default(|plan| page(plan).threat.is_some(), false)
        .reads(json!({}), |plan| page(plan).threat.is_some(), true)
        .bad("off", InvalidType)
        .bad_in(
            json!({ "mode": "on", "riskScoreThreshold": 101 }),
            &[("/mode", UnknownValue), ("/riskScoreThreshold", TooBig)],
        )
        .tested("websvc-validate", "threat_protection_of_scrape_options_replaces_that_of_the_search")
        .tested("websvc-cli", "scrape_rules_override_search_rules_and_apply_to_cached_pages")
        .tested("websvc-cli", "page_redirecting_to_a_blocked_url_fails_and_is_not_stored")
}

fn audit_metadata() -> Row {
    let read = |plan: &SearchPlan| page(plan).audit.as_ref().map(|audit| audit.username.clone());
    row("2.2 auditMetadata", "username of at most 1024 characters, required; no other property")
        .at(scrape("auditMetadata"))
        .default(read, None)
        .reads(json!({ "username": "u" }), read, Some("u".to_owned()))
        .reads(json!({ "username": "" }), read, Some(String::new()))
        .bad_in(json!({}), &[("/username", Missing)])
        .bad_in(json!({ "user": "u" }), &[("/user", UnknownField), ("/username", Missing)])
        .bad_in(json!({ "username": "u", "name": null }), &[("/name", UnknownField)])
        .bad_in(json!({ "username": 1 }), &[("/username", InvalidType)])
        .bad("u", InvalidType)
        .at(inside("auditMetadata", "username"))
        .ok("\u{1d11e}".repeat(1024))
        .bad("\u{1d11e}".repeat(1025), TooLong)
        .tested("websvc-cli", "every_request_of_a_team_has_an_event")
}
