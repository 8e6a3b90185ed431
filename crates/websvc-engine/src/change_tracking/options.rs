//! The options that shape the markdown of a page. Versions with different options differ although the page is the same.

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use websvc_types::Parser;
use websvc_validate::ScrapePlan;

/// Returns the hash of the options of a plan that shape the markdown. Headers are not among them, because they may be
/// secret; a proxy and a wait do not shape it either.
pub(super) fn options_hash(plan: &ScrapePlan) -> [u8; 32] {
    Sha256::digest(options_text(plan)).into()
}

/// Returns the options as JSON. Its fields are sorted, because their order must not change the hash, which is stored.
fn options_text(plan: &ScrapePlan) -> String {
    let (location, languages) = (plan.location.country, &plan.location.languages);
    let options: [Value; 11] = [
        plan.only_main_content.into(),
        plan.only_clean_content.into(),
        json(&plan.include_tags),
        json(&plan.exclude_tags),
        json(plan.parsers.iter().map(without_pages).collect::<Vec<_>>()),
        plan.remove_base64_images.into(),
        plan.block_ads.into(),
        json(plan.redact_pii.as_ref()),
        plan.mobile.into(),
        json(&plan.actions),
        json((location, languages)),
    ];
    let mut options = Value::from(options.to_vec());
    options.sort_all_objects();
    options.to_string()
}

/// Returns a parser without the options that add a field to the response and leave the markdown as it is.
fn without_pages(parser: &Parser) -> Parser {
    Parser { pages: None, blocks: None, ..parser.clone() }
}

fn json(option: impl Serialize) -> Value {
    serde_json::to_value(option).expect("options are read from JSON, so they can be written as such")
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use websvc_types::ScrapeOptions;
    use websvc_validate::{Policy, read_request};

    use super::*;

    fn hash(options: &Value) -> [u8; 32] {
        options_hash(
            &read_request::<ScrapeOptions>(options.to_string().as_bytes(), &Policy::default()).unwrap().plan,
        )
    }

    #[test]
    fn hash_is_that_of_sorted_fields() {
        let options = json!({ "actions": [{ "type": "wait", "milliseconds": 1 }] }).to_string();
        let plan = read_request::<ScrapeOptions>(options.as_bytes(), &Policy::default()).unwrap().plan;
        let text = options_text(&plan);
        assert!(text.contains(r#"[{"milliseconds":1,"type":"wait"}]"#), "{text}");
    }

    #[test]
    fn hash_depends_on_the_options_that_shape_the_markdown() {
        let plain = hash(&json!({}));
        for (name, value) in [
            ("onlyMainContent", json!(false)),
            ("onlyCleanContent", json!(true)),
            ("includeTags", json!(["main"])),
            ("excludeTags", json!(["main"])),
            ("parsers", json!([])),
            ("parsers", json!([{ "type": "pdf", "pageMarkers": true }])),
            ("removeBase64Images", json!(false)),
            ("blockAds", json!(false)),
            ("redactPII", json!(true)),
            ("mobile", json!(true)),
            ("actions", json!([{ "type": "wait", "milliseconds": 1 }])),
            ("location", json!({ "country": "DE" })),
        ] {
            assert_ne!(hash(&json!({ name: value })), plain, "{name}");
        }
        for (name, value) in [
            ("onlyMainContent", json!(true)),
            ("headers", json!({ "cookie": "a=b" })),
            ("maxAge", json!(1)),
            ("timeout", json!(5_000)),
            ("formats", json!(["html"])),
            ("parsers", json!([{ "type": "pdf", "pages": true, "blocks": true }])),
        ] {
            assert_eq!(hash(&json!({ name: value })), plain, "{name}");
        }
    }
}
