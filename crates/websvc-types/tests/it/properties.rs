//! Property tests: requests round-trip through JSON, and no input makes deserialization panic.

use proptest::collection::{btree_map, vec};
use proptest::option::of;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use websvc_types::{
    Action, AuditMetadata, Category, Format, Location, Parser, ParserKind, ParserMode, Profile, Proxy,
    RedactEntity, RedactMode, RedactOptions, RedactPii, ReplaceStyle, RetentionOption, ScrapeOptions, Source,
    SourceKind, ThreatFailurePolicy, ThreatMode, ThreatProtection, Viewport,
};
use websvc_types::{SearchRequest, action, format};

fn text() -> impl Strategy<Value = String> {
    "\\PC{0,12}"
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    vec(text(), 0..3)
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
        prop::sample::select(Format::NAMES).prop_map(Value::from),
    ];
    let key = prop_oneof![
        text(),
        prop::sample::select(vec![
            "query",
            "limit",
            "sources",
            "categories",
            "scrapeOptions",
            "formats",
            "actions",
            "type",
            "schema",
            "redactPII",
            "parsers",
            "viewport",
            "location",
            "headers",
            "threatProtection",
        ])
        .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(5, 60, 8, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::from),
            btree_map(key.clone(), inner, 0..8).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn json_schema() -> impl Strategy<Value = Map<String, Value>> {
    text().prop_map(|name| {
        let schema = json!({ "type": "object", "properties": { name: { "type": "string" } } });
        schema.as_object().cloned().unwrap_or_default()
    })
}

fn screenshot() -> impl Strategy<Value = format::Screenshot> {
    (of(any::<bool>()), of(any::<u8>()), of((any::<u32>(), any::<u32>()))).prop_map(
        |(full_page, quality, size)| {
            let viewport = size.map(|(width, height)| Viewport { width, height });
            format::Screenshot { full_page, quality, viewport }
        },
    )
}

fn any_format() -> impl Strategy<Value = Format> {
    prop_oneof![
        prop::sample::select(vec![
            "markdown", "summary", "html", "rawHtml", "links", "images", "branding", "product", "menu",
            "audio", "video"
        ])
        .prop_map(|name| serde_json::from_value(json!(name)).expect("the name is known")),
        screenshot().prop_map(Format::Screenshot),
        (of(json_schema()), of(text()))
            .prop_map(|(schema, prompt)| Format::Json(format::Json { schema, prompt })),
        (
            of(vec(prop::sample::select(vec![format::ChangeMode::GitDiff, format::ChangeMode::Json]), 0..3)),
            of(json_schema()),
            of(text()),
            of(text())
        )
            .prop_map(|(modes, schema, prompt, tag)| {
                Format::ChangeTracking(format::ChangeTracking { modes, schema, prompt, tag })
            }),
        text().prop_map(|question| Format::Question(format::Question { question })),
        text().prop_map(|query| Format::Highlights(format::Highlights { query })),
    ]
}

fn any_action() -> impl Strategy<Value = Action> {
    let direction = prop::sample::select(vec![action::Direction::Up, action::Direction::Down]);
    let paper = prop::sample::select(vec![action::PaperFormat::A4, action::PaperFormat::Letter]);
    prop_oneof![
        (of(any::<u64>()), of(text()))
            .prop_map(|(milliseconds, selector)| Action::Wait(action::Wait { milliseconds, selector })),
        screenshot().prop_map(Action::Screenshot),
        (text(), of(any::<bool>()))
            .prop_map(|(selector, all)| Action::Click(action::Click { selector, all })),
        text().prop_map(|text| Action::Write(action::Write { text })),
        text().prop_map(|key| Action::Press(action::Press { key })),
        (of(direction), of(text()))
            .prop_map(|(direction, selector)| Action::Scroll(action::Scroll { direction, selector })),
        Just(Action::Scrape(action::Scrape::default())),
        text().prop_map(|script| Action::ExecuteJavascript(action::ExecuteJavascript { script })),
        (of(paper), of(any::<bool>()), of((1..400_u32).prop_map(|quarters| f64::from(quarters) / 4.0)))
            .prop_map(|(format, landscape, scale)| Action::Pdf(action::Pdf { format, landscape, scale })),
    ]
}

fn threat() -> impl Strategy<Value = ThreatProtection> {
    let mode = prop::sample::select(vec![ThreatMode::Off, ThreatMode::Normal]);
    let policy = prop::sample::select(vec![ThreatFailurePolicy::Open, ThreatFailurePolicy::Closed]);
    (of(mode), of(any::<u8>()), of(texts()), of(texts()), of(texts()), of(policy)).prop_map(
        |(mode, risk_score_threshold, blacklist, whitelist, blocked_tlds, failure_policy)| ThreatProtection {
            mode,
            risk_score_threshold,
            blacklist,
            whitelist,
            blocked_tlds,
            failure_policy,
        },
    )
}

fn redact() -> impl Strategy<Value = RedactPii> {
    let mode = prop::sample::select(vec![RedactMode::Accurate, RedactMode::Aggressive, RedactMode::Fast]);
    let entities = vec(prop::sample::select(vec![RedactEntity::Person, RedactEntity::Secret]), 0..3);
    let style = prop::sample::select(vec![ReplaceStyle::Tag, ReplaceStyle::Mask, ReplaceStyle::Remove]);
    prop_oneof![
        Just(RedactPii::Off),
        (of(mode), of(entities), of(style)).prop_map(|(mode, entities, replace_style)| {
            RedactPii::On(RedactOptions { mode, entities, replace_style })
        }),
    ]
}

fn parser() -> impl Strategy<Value = Parser> {
    let mode = prop::sample::select(vec![ParserMode::Fast, ParserMode::Auto, ParserMode::Ocr]);
    let flags = (of(any::<bool>()), of(any::<bool>()), of(any::<bool>()));
    (of(mode), of(any::<u32>()), flags).prop_map(|(mode, max_pages, (pages, page_markers, blocks))| Parser {
        mode,
        max_pages,
        pages,
        page_markers,
        blocks,
        ..Parser::new(ParserKind::Pdf)
    })
}

fn scrape_options() -> impl Strategy<Value = ScrapeOptions> {
    let flags = prop::array::uniform8(of(any::<bool>()));
    let numbers = prop::array::uniform4(of(any::<u64>()));
    let location = (of(text()), of(texts()), of(text())).prop_map(|(country, languages, city)| Location {
        country,
        languages,
        city,
    });
    let profile = (text(), of(any::<bool>())).prop_map(|(name, save_changes)| Profile { name, save_changes });
    let lists = (
        of(vec(any_format(), 0..4)),
        of(vec(any_action(), 0..4)),
        of(vec(parser(), 0..2)),
        of(texts()),
        of(texts()),
    );
    let objects = (of(location), of(profile), of(redact()), of(threat()), of(text()));
    let rest = (
        of(btree_map(text(), text(), 0..3)),
        of(prop::sample::select(vec![Proxy::Basic, Proxy::Enhanced, Proxy::Auto])),
        of(text()),
        of(text()),
    );
    (flags, numbers, lists, objects, rest).prop_map(|(flags, numbers, lists, objects, rest)| {
        let [
            only_main_content,
            only_clean_content,
            mobile,
            skip_tls_verification,
            remove_base64_images,
            block_ads,
            store_in_cache,
            lockdown,
        ] = flags;
        let [max_age, min_age, wait_for, timeout] = numbers;
        let (formats, actions, parsers, include_tags, exclude_tags) = lists;
        let (location, profile, redact_pii, threat_protection, username) = objects;
        let (headers, proxy, integration, origin) = rest;
        ScrapeOptions {
            formats,
            only_main_content,
            only_clean_content,
            include_tags,
            exclude_tags,
            max_age,
            min_age,
            headers,
            wait_for,
            mobile,
            skip_tls_verification,
            timeout,
            parsers,
            actions,
            location,
            remove_base64_images,
            block_ads,
            proxy,
            store_in_cache,
            lockdown,
            redact_pii,
            profile,
            threat_protection,
            audit_metadata: username.map(|username| AuditMetadata { username }),
            integration,
            origin,
        }
    })
}

fn search_request() -> impl Strategy<Value = SearchRequest> {
    let kind = prop::sample::select(vec![SourceKind::Web, SourceKind::Images, SourceKind::News]);
    let source =
        (kind, of(text()), of(text())).prop_map(|(kind, tbs, location)| Source { kind, tbs, location });
    let category = prop::sample::select(vec![Category::Github, Category::Research, Category::Pdf]);
    let enterprise =
        prop::sample::select(vec![RetentionOption::Anon, RetentionOption::Zdr, RetentionOption::Default]);
    let lists =
        (of(vec(source, 0..3)), of(vec(category, 0..3)), of(vec(enterprise, 0..3)), of(texts()), of(texts()));
    let words = (of(text()), of(text()), of(text()), of(text()), of(text()));
    let flags = prop::array::uniform3(of(any::<bool>()));
    (text(), of(any::<u32>()), of(any::<u64>()), lists, words, flags, of(scrape_options()), of(threat()))
        .prop_map(|(query, limit, timeout, lists, words, flags, scrape_options, threat_protection)| {
            let (sources, categories, enterprise, include_domains, exclude_domains) = lists;
            let (tbs, location, country, origin, integration) = words;
            let [safe, ignore_invalid_urls, highlights] = flags;
            SearchRequest {
                query,
                limit,
                sources,
                categories,
                include_domains,
                exclude_domains,
                tbs,
                location,
                country,
                safe,
                timeout,
                ignore_invalid_urls,
                highlights,
                enterprise,
                scrape_options,
                threat_protection,
                origin,
                integration,
            }
        })
}

proptest! {
    #[test]
    fn search_request_round_trips(request in search_request()) {
        let text = serde_json::to_string(&request).unwrap();
        prop_assert_eq!(&serde_json::from_str::<SearchRequest>(&text).unwrap(), &request);
        // Also through a `Value`, which the validator reads from.
        let tree: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(&serde_json::from_value::<SearchRequest>(tree).unwrap(), &request);
    }

    #[test]
    fn arbitrary_json_does_not_panic(value in any_json()) {
        let read = serde_json::from_value::<SearchRequest>(value);
        if let Ok(request) = read {
            prop_assert!(serde_json::to_string(&request).is_ok());
        }
    }

    #[test]
    fn arbitrary_scrape_options_do_not_panic(options in any_json()) {
        let _ = serde_json::from_value::<SearchRequest>(json!({ "query": "q", "scrapeOptions": options }));
    }
}
