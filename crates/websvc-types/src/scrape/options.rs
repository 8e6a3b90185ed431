//! The options of a scrape (specification, section 2.2).

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{AuditMetadata, Location, Parser, Profile, Proxy, RedactPii, ThreatProtection};
use crate::action::Action;
use crate::compat::{self, JSON_OPTIONS};
use crate::format::Format;
use crate::limits::{
    ACTIONS_MAX, AGE_MAX_MS, MAX_AGE_DEFAULT_MS, SCRAPE_TIMEOUT_DEFAULT_MS, SCRAPE_TIMEOUT_MAX_MS,
    SCRAPE_TIMEOUT_MIN_MS, SELECTOR_MAX_CHARS, WAIT_TOTAL_MAX_MS,
};
use crate::pattern::{HEADER_NAME, HEADER_VALUE, NOT_BLANK};

/// How each page is scraped.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(transform = add_rules)]
pub struct ScrapeOptions {
    /// Formats of each page. Default in a search: none, so no page is scraped; else markdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub formats: Option<Vec<Format>>,
    /// Leaves out headers, navigation, footers and the like, by rules and without a model. Default: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = true))]
    pub only_main_content: Option<bool>,
    /// Beta. An extra pass of a language model over the markdown that removes what is left of boilerplate. Not
    /// for requests of zero data retention. Default: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub only_clean_content: Option<bool>,
    /// Keeps only these: tag names or CSS selectors.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(inner(length(max = SELECTOR_MAX_CHARS), regex(pattern = NOT_BLANK)))]
    pub include_tags: Option<Vec<String>>,
    /// Leaves these out: tag names or CSS selectors.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(inner(length(max = SELECTOR_MAX_CHARS), regex(pattern = NOT_BLANK)))]
    pub exclude_tags: Option<Vec<String>>,
    /// A cached page younger than this, in milliseconds, is returned; an older one is scraped again. Default:
    /// two days, two years under lockdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = AGE_MAX_MS), extend("default" = MAX_AGE_DEFAULT_MS))]
    pub max_age: Option<u64>,
    /// Asks only the cache, for a page at least this old in milliseconds; 1 takes any. Nothing found: 404
    /// SCRAPE_NO_CACHED_DATA.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = AGE_MAX_MS))]
    pub min_age: Option<u64>,
    /// Headers sent with the request, such as cookies.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<BTreeMap<String, Option<String>>>", transform = add_header_patterns)]
    pub headers: Option<BTreeMap<String, String>>,
    /// Waits this long, in milliseconds, before the content is taken, beyond the service's own wait. At
    /// most 60000, with the waits of all actions. Default: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = WAIT_TOTAL_MAX_MS), extend("default" = 0))]
    pub wait_for: Option<u64>,
    /// Emulates a mobile device. Default: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub mobile: Option<bool>,
    /// Accepts certificates that cannot be verified. Default: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = true))]
    pub skip_tls_verification: Option<bool>,
    /// Time for one page in milliseconds, 1000 to 300000. Default: 60000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = SCRAPE_TIMEOUT_MIN_MS, max = SCRAPE_TIMEOUT_MAX_MS), extend("default" = SCRAPE_TIMEOUT_DEFAULT_MS))]
    pub timeout: Option<u64>,
    /// Files that are turned into text. Default: pdf; an empty list returns a PDF as base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parsers: Option<Vec<Parser>>,
    /// Actions of a browser on the page before its content is read, at most 50.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = ACTIONS_MAX))]
    pub actions: Option<Vec<Action>>,
    /// Location that the page is visited from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
    /// Replaces images embedded as base64 in the markdown by a placeholder; the alternative text stays.
    /// Default: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = true))]
    pub remove_base64_images: Option<bool>,
    /// Blocks advertisements and cookie banners. Default: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = true))]
    pub block_ads: Option<bool>,
    /// The way to the page. Default: auto.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "auto"))]
    pub proxy: Option<Proxy>,
    /// Keeps the page in the cache and the index. Requests with headers or actions never do. Default: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = true))]
    pub store_in_cache: Option<bool>,
    /// Serves from the cache only and never contacts the target; counts as zero data retention. Nothing found:
    /// 404 SCRAPE_LOCKDOWN_CACHE_MISS. Default: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub lockdown: Option<bool>,
    /// Removes personal data from the markdown: true for the defaults, or an object. Default: false.
    #[serde(rename = "redactPII", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub redact_pii: Option<RedactPii>,
    /// Browser storage that outlives the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// Overrides the organization's threat protection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threat_protection: Option<ThreatProtection>,
    /// End user of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit_metadata: Option<AuditMetadata>,
    /// Which integration sent the request; any text, only logged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub integration: Option<String>,
    /// Which client sent the request; any text, only logged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
}

/// Adds what attributes cannot say: the options that exclude each other, and the Rust client's place of the options
/// of the format json.
fn add_rules(schema: &mut Schema) {
    let on = json!({ "const": true });
    schema.insert(
        "not".to_owned(),
        json!({
            "required": ["onlyCleanContent", "lockdown"],
            "properties": { "onlyCleanContent": on, "lockdown": on },
        }),
    );
    let description = "The options of the format json, where formats has its bare name.";
    let options = json!([{ "$ref": "#/$defs/Json" }, { "type": "null" }]);
    let property = json!({ "anyOf": options, "deprecated": true, "description": description });
    compat::add_property(schema, JSON_OPTIONS, property);
}

pub(crate) fn add_header_patterns(schema: &mut Schema) {
    schema.insert("propertyNames".to_owned(), json!({ "pattern": HEADER_NAME }));
    if let Some(values) = schema.get_mut("additionalProperties").and_then(|values| values.as_object_mut()) {
        values.insert("pattern".to_owned(), HEADER_VALUE.into());
    }
}
