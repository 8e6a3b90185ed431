//! Section 2.2.3: removal of personal data.

use serde_json::json;
use websvc_types::RedactEntity::{Email, Financial, Location, Person, Phone, Secret};
use websvc_types::RedactOptions;
use websvc_types::ViolationCode::*;
use websvc_validate::SearchPlan;

use crate::conformance::row::{Row, inside, page, row, scrape};

pub(super) fn rows() -> Vec<Row> {
    vec![mode(), entities(), replace_style(), other_properties()]
}

fn read(plan: &SearchPlan) -> RedactOptions {
    page(plan).redact_pii.clone().unwrap_or_default()
}

fn mode() -> Row {
    row("2.2.3 mode", "accurate, aggressive or fast; default accurate")
        .at(inside("redactPII", "mode"))
        .becomes("accurate", read, json!({ "mode": "accurate" }))
        .becomes("aggressive", read, json!({ "mode": "aggressive" }))
        .becomes("fast", read, json!({ "mode": "fast" }))
        .ok(json!(null))
        .bad("slow", UnknownValue)
        .bad(1, InvalidType)
        .tested("websvc-types", "defaults_match_the_specification")
        .tested("websvc-redact", "aggressive_finds_more_and_is_less_precise")
        .tested("websvc-cli", "redact_pii_removes_personal_data_from_the_markdown")
        .tested("websvc-cli", "aggressive_uses_model_and_rules_and_fast_the_rules_alone")
}

fn entities() -> Row {
    let entities = |plan: &SearchPlan| read(plan).entities;
    let all = json!(["PERSON", "EMAIL", "PHONE", "LOCATION", "FINANCIAL", "SECRET"]);
    row(
        "2.2.3 entities",
        "list of PERSON, EMAIL, PHONE, LOCATION, FINANCIAL and SECRET; default all; an empty list means all",
    )
    .at(inside("redactPII", "entities"))
    .reads(all, entities, Some(vec![Person, Email, Phone, Location, Financial, Secret]))
    .reads(json!([]), entities, None)
    .reads(json!(null), entities, None)
    .bad_in(json!(["EMAIL", "email"]), &[("/1", UnknownValue)])
    .bad_in(json!(["NAME", 1]), &[("/0", UnknownValue), ("/1", InvalidType)])
    .bad("EMAIL", InvalidType)
    .tested("websvc-scrape", "style_mode_and_entities_of_the_request_apply")
}

fn replace_style() -> Row {
    row("2.2.3 replaceStyle", "tag, mask or remove; default tag")
        .at(inside("redactPII", "replaceStyle"))
        .becomes("tag", read, json!({ "replaceStyle": "tag" }))
        .becomes("mask", read, json!({ "replaceStyle": "mask" }))
        .becomes("remove", read, json!({ "replaceStyle": "remove" }))
        .ok(json!(null))
        .bad("hide", UnknownValue)
        .bad(true, InvalidType)
        .tested("websvc-types", "defaults_match_the_specification")
        .tested("websvc-redact", "styles_are_a_tag_as_many_stars_or_nothing")
}

fn other_properties() -> Row {
    row("2.2.3 other properties", "rejected, with a suggestion of a known name")
        .at(scrape("redactPII"))
        .bad_in(json!({ "mod": "fast" }), &[("/mod", UnknownField)])
        .bad_in(json!({ "type": null, "mode": "fast" }), &[("/type", UnknownField)])
        .tested("websvc-cli", "every_rule_violation_is_reported")
}
