//! Section 2.2.1: formats.

use serde_json::{Value, json};
use websvc_types::Format;
use websvc_types::ViolationCode::*;
use websvc_validate::SearchPlan;

use crate::conformance::row::{Row, item, option, page, row, typed};

pub(super) fn rows() -> Vec<Row> {
    vec![
        bare("2.2.1 markdown", "markdown").tested("websvc-cli", "results_have_the_requested_formats"),
        bare("2.2.1 summary", "summary").tested("websvc-cli", "summary_answer_and_highlights_are_generated"),
        bare("2.2.1 html", "html").tested("websvc-extract", "html_has_no_scripts_styles_and_handlers"),
        bare("2.2.1 rawHtml", "rawHtml").tested("websvc-cli", "results_have_the_requested_formats"),
        bare("2.2.1 links", "links").tested("websvc-extract", "links_are_absolute_and_unique"),
        bare("2.2.1 images", "images").tested("websvc-extract", "images_come_from_icons_styles_and_srcsets"),
        screenshot(),
        json_format().tested("websvc-cli", "json_format_extracts_data_by_its_schema"),
        change_tracking(),
        bare("2.2.1 branding", "branding")
            .tested("websvc-cli", "design_has_the_colors_fonts_sizes_and_buttons_of_the_page")
            .tested("websvc-cli", "missing_browser_leaves_branding_out_with_a_warning"),
        bare("2.2.1 product", "product").tested("websvc-cli", "product_of_json_ld_has_its_price_and_stock"),
        bare("2.2.1 menu", "menu").tested("websvc-cli", "menu_with_nested_sections_has_unique_ids"),
        bare("2.2.1 audio", "audio")
            .tested("websvc-cli", "downloaded_media_are_served_by_signed_urls_for_an_hour")
            .tested("websvc-cli", "real_tools_download_the_media_of_pages"),
        bare("2.2.1 video", "video")
            .tested("websvc-cli", "downloaded_media_are_served_by_signed_urls_for_an_hour")
            .tested("websvc-cli", "without_tools_pages_have_a_warning_and_their_videos"),
        with_text("2.2.1 question", "question", "question")
            .tested("websvc-cli", "summary_answer_and_highlights_are_generated"),
        with_text("2.2.1 highlights", "highlights", "query")
            .tested("websvc-cli", "missing_model_selects_highlights_by_words_and_omits_other_formats"),
        schemas(),
    ]
}

fn formats(plan: &SearchPlan) -> Vec<Format> {
    page(plan).formats.clone()
}

/// Returns the row of a format without options.
fn bare(name: &'static str, format: &str) -> Row {
    let names = |plan: &SearchPlan| formats(plan).iter().map(Format::name).collect::<Vec<_>>();
    let static_name = Format::NAMES.iter().find(|name| **name == format).expect("the format exists");
    row(name, "its name, or an object with `type`; no options")
        .at(item("formats"))
        .reads(format, names, vec![*static_name])
        .reads(json!({ "type": format }), names, vec![*static_name])
        .warns(typed(format, "newer", 1), "formats[0]: the unknown field \"newer\" was ignored")
}

fn screenshot() -> Row {
    let size = |width: i64, height: i64| json!({ "width": width, "height": height });
    row(
        "2.2.1 screenshot",
        "fullPage, default false; quality from 1 to 100; viewport with width and height in pixels, \
         both required and positive, at most 7680 x 4320 (not specified)",
    )
    .at(item("formats"))
    .ok("screenshot")
    .ok(json!({ "type": "screenshot", "fullPage": null, "quality": null, "viewport": null }))
    .ok(json!({ "type": "screenshot", "fullPage": true, "quality": 80, "viewport": size(800, 600) }))
    .warns(typed("screenshot", "fullpage", true), "did you mean fullPage?")
    .at(option("formats", "screenshot", "fullPage"))
    .bad(1, InvalidType)
    .at(option("formats", "screenshot", "quality"))
    .ok(1)
    .ok(100)
    .ok(80.0)
    .bad(0, TooSmall)
    .bad(101, TooBig)
    .bad(256, TooBig)
    .bad(-1, TooSmall)
    .bad(0.5, InvalidType)
    .bad("80", InvalidType)
    .at(option("formats", "screenshot", "viewport"))
    .ok(size(1, 1))
    .ok(size(7680, 4320))
    .bad_in(size(0, 0), &[("/height", TooSmall), ("/width", TooSmall)])
    .bad_in(size(-1, 600), &[("/width", TooSmall)])
    .bad_in(size(7681, 4321), &[("/height", TooBig), ("/width", TooBig)])
    .bad_in(json!({ "width": 800 }), &[("/height", Missing)])
    .bad_in(json!({ "height": 600 }), &[("/width", Missing)])
    .bad_in(json!({}), &[("/height", Missing), ("/width", Missing)])
    .bad_in(json!({ "width": "800", "height": 600.5 }), &[("/height", InvalidType), ("/width", InvalidType)])
    .bad(json!([800, 600]), InvalidType)
    .tested("websvc-types", "defaults_match_the_specification")
    .tested("websvc-cli", "unavailable_options_are_named_in_the_warning")
    .tested("websvc-cli", "screenshot_is_served_at_its_url")
}

fn prompt_cases(row: Row, kind: &str) -> Row {
    // Changes are those of the markdown.
    let field = |name: &str| option("formats", kind, name).with_markdown();
    row.at(field("prompt"))
        .ok("")
        .ok("\u{1d11e}".repeat(10_000))
        .bad("\u{1d11e}".repeat(10_001), TooLong)
        .bad(1, InvalidType)
        .at(field("schema"))
        .ok(json!({}))
        .bad(json!([]), InvalidType)
        .bad(true, InvalidType)
        .bad("{}", InvalidType)
}

fn json_format() -> Row {
    let full = || json!({ "type": "json", "prompt": "p", "schema": { "type": "object", "title": "T" } });
    let row = row(
        "2.2.1 json",
        "schema, an object that is a JSON Schema; prompt, at most 10000 characters (not specified)",
    )
    .at(item("formats"))
    .ok("json")
    .ok(json!({ "type": "json", "schema": null, "prompt": null }))
    .becomes(full(), formats, json!([full()]));
    prompt_cases(row, "json").tested("websvc-validate", "rust_client_spellings_are_accepted")
}

fn change_tracking() -> Row {
    let row = row(
        "2.2.1 changeTracking",
        "needs markdown in the same list; modes: git-diff and json; schema and prompt as in json; tag: a text or null, at \
         most 256 characters (not specified)",
    )
    .at(item("formats"))
    .bad("changeTracking", Conflict)
    .at(item("formats").with_markdown())
    .ok("changeTracking")
    .ok(json!({ "type": "changeTracking", "modes": null, "schema": null, "prompt": null, "tag": null }))
    .at(option("formats", "changeTracking", "modes").with_markdown())
    .ok(json!([]))
    .ok(json!(["git-diff", "json"]))
    .bad_in(json!(["json", "git"]), &[("/1", UnknownValue)])
    .bad("json", InvalidType)
    .at(option("formats", "changeTracking", "tag").with_markdown())
    .ok("branch")
    .ok("\u{1d11e}".repeat(256))
    .bad("\u{1d11e}".repeat(257), TooLong)
    .bad(1, InvalidType);
    prompt_cases(row, "changeTracking")
        .tested("websvc-cli", "page_is_new_then_same_then_changed_whatever_max_age_says")
        .tested("websvc-cli", "git_diff_shows_the_changed_lines_with_their_numbers")
        .tested("websvc-cli", "histories_of_tags_and_teams_are_independent")
        .tested("websvc-cli", "json_mode_returns_the_fields_that_differ")
}

/// Returns the row of a format with a required text.
fn with_text(name: &'static str, kind: &str, field: &str) -> Row {
    let below = format!("/{field}");
    row(name, "its text is required: 1 (not specified) to 10000 characters")
        .at(item("formats"))
        .bad_in(kind, &[(&below, Missing)])
        .bad_in(json!({ "type": kind }), &[(&below, Missing)])
        .bad_in(typed(kind, field, Value::Null), &[(&below, Missing)])
        .warns(json!({ "type": kind, field: "why?", "x": 1 }), "\"x\" was ignored")
        .at(option("formats", kind, field))
        .ok("?")
        .ok("\u{1d11e}".repeat(10_000))
        .bad("\u{1d11e}".repeat(10_001), TooLong)
        .bad("", TooShort)
        .bad(json!({}), InvalidType)
}

fn schemas() -> Row {
    let not = |levels: usize| (0..levels).fold(json!({}), |inner, _| json!({ "not": inner }));
    row(
        "2.2.1 schema",
        "a valid JSON Schema of any draft from 4 on; references and identifiers stay within the \
         document; at most 262144 bytes and 64 levels; with references followed, at most 50000 parts and 512 levels; at most 1000 parts \
         that are targets of references, and 100 regular expressions (not specified)",
    )
    .at(option("formats", "json", "schema"))
    .ok(json!({ "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object" }))
    .ok(json!({ "$schema": "http://json-schema.org/draft-07/schema#", "type": ["string", "null"] }))
    .ok(json!({ "$defs": { "a": { "type": "string" } }, "properties": { "b": { "$ref": "#/$defs/a" } } }))
    .ok(json!({ "definitions": { "a b": {} }, "items": { "$ref": "#/definitions/a%20b" } }))
    .ok(json!({ "$defs": { "n": { "$dynamicAnchor": "node" } }, "$dynamicRef": "#node" }))
    .ok(json!({ "properties": { "$ref": { "type": "string" }, "required": true }, "required": [] }))
    .ok(json!({ "const": { "$ref": "http://x.example", "type": 5 } }))
    .ok(json!({ "enum": [{ "$id": "http://x.example" }], "minimum": 1.5, "exclusiveMinimum": true }))
    .ok(json!({ "dependencies": { "a": ["b"], "c": {} }, "dependentRequired": { "a": ["b"] } }))
    .ok(json!({ "nullable": true, "x-note": { "type": "anything" } }))
    .bad_in(json!({ "$ref": "http://169.254.169.254/latest" }), &[("/$ref", NotSupported)])
    .bad_in(json!({ "$ref": "file:///etc/passwd" }), &[("/$ref", NotSupported)])
    .bad_in(json!({ "$ref": "other.json#/a" }), &[("/$ref", NotSupported)])
    .bad_in(json!({ "$dynamicRef": "x#node" }), &[("/$dynamicRef", NotSupported)])
    .bad_in(json!({ "$recursiveRef": "x#" }), &[("/$recursiveRef", NotSupported)])
    .bad_in(json!({ "$id": "https://x.example/a" }), &[("/$id", NotSupported)])
    .bad_in(json!({ "$schema": "https://x.example/a" }), &[("/$schema", NotSupported)])
    .bad_in(json!({ "items": { "anyOf": [{}, { "$ref": "x" }] } }), &[("/items/anyOf/1/$ref", NotSupported)])
    .bad_in(json!({ "x-note": { "$ref": "x" } }), &[("/x-note/$ref", NotSupported)])
    .bad_in(json!({ "$ref": 1 }), &[("/$ref", InvalidType)])
    .bad_in(json!({ "$ref": "#/$defs/missing" }), &[("/$ref", InvalidFormat)])
    .bad_in(json!({ "$ref": "#missing" }), &[("/$ref", InvalidFormat)])
    .bad_in(json!({ "$ref": "#/%zz" }), &[("/$ref", InvalidFormat)])
    .bad_in(json!({ "dependentRequired": { "a": "b" } }), &[("/dependentRequired/a", InvalidType)])
    .bad_in(json!({ "type": "strin" }), &[("/type", UnknownValue)])
    .bad_in(json!({ "type": ["string", "strin", 1] }), &[("/type/1", UnknownValue), ("/type/2", InvalidType)])
    .bad_in(json!({ "type": [] }), &[("/type", TooShort)])
    .bad_in(json!({ "type": 5 }), &[("/type", InvalidType)])
    .bad_in(json!({ "properties": [] }), &[("/properties", InvalidType)])
    .bad_in(json!({ "properties": { "a": "string" } }), &[("/properties/a", InvalidType)])
    .bad_in(
        json!({ "properties": { "a": { "required": true } } }),
        &[("/properties/a/required", InvalidType)],
    )
    .bad_in(json!({ "required": ["a", 1] }), &[("/required/1", InvalidType)])
    .bad_in(json!({ "required": ["a", "a"] }), &[("/required/1", Conflict)])
    .bad_in(json!({ "items": 1 }), &[("/items", InvalidType)])
    .bad_in(json!({ "items": [] }), &[("/items", TooShort)])
    .bad_in(json!({ "anyOf": [] }), &[("/anyOf", TooShort)])
    .bad_in(json!({ "allOf": {} }), &[("/allOf", InvalidType)])
    .bad_in(json!({ "oneOf": [{}, 1] }), &[("/oneOf/1", InvalidType)])
    .bad_in(json!({ "enum": "a" }), &[("/enum", InvalidType)])
    .bad_in(json!({ "minLength": -1 }), &[("/minLength", TooSmall)])
    .bad_in(json!({ "maxItems": 1.5 }), &[("/maxItems", InvalidType)])
    .bad_in(json!({ "minimum": "1" }), &[("/minimum", InvalidType)])
    .bad_in(json!({ "multipleOf": 0 }), &[("/multipleOf", TooSmall)])
    .bad_in(
        json!({ "pattern": 1, "title": 2, "uniqueItems": "x" }),
        &[("/pattern", InvalidType), ("/title", InvalidType), ("/uniqueItems", InvalidType)],
    )
    .ok(not(64))
    .bad_in(not(65), &[(&"/not".repeat(65), TooLong)])
    .at(option("formats", "changeTracking", "schema").with_markdown())
    .bad_in(json!({ "$ref": "x", "type": 1 }), &[("/$ref", NotSupported), ("/type", InvalidType)])
    .tested("websvc-validate", "references_are_checked_in_all_subschemas")
    .tested("websvc-validate", "property_names_and_data_are_not_checked_as_keywords")
    .tested("websvc-validate", "multiplying_references_are_rejected")
}
