//! Options of a scrape (specification, section 2.2).

use std::collections::BTreeMap;

#[cfg(feature = "schemars")]
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_with_macros::skip_serializing_none;

use super::{AuditMetadata, Location, Parser, Profile, Proxy, RedactPii, ThreatProtection};
use crate::action::Action;
use crate::compat::{self, JSON_OPTIONS};
use crate::format::Format;
use crate::limits::{
    ACTIONS_MAX, AGE_MAX_MS, MAX_AGE_DEFAULT_MS, SCRAPE_TIMEOUT_DEFAULT_MS, SCRAPE_TIMEOUT_MAX_MS,
    SCRAPE_TIMEOUT_MIN_MS, SELECTOR_MAX_CHARS, WAIT_TOTAL_MAX_MS,
};
use crate::pattern::{HEADER_NAME, HEADER_VALUE, NOT_BLANK};

/// Options of scraping a page.
///
/// # Examples
///
/// ```
/// use websvc_types::{Action, Format, ScrapeOptions, action, format};
///
/// let options = ScrapeOptions {
///     formats: Some(vec![Format::markdown()]),
///     max_age: Some(3_600_000), // one hour
///     actions: Some(vec![Action::Click(action::Click { selector: "#more".to_owned(), all: None })]),
///     ..ScrapeOptions::default()
/// };
/// let json = r##"{"formats": ["markdown"], "maxAge": 3600000, "actions": [{"type": "click", "selector": "#more"}]}"##;
/// assert_eq!(serde_json::from_str::<ScrapeOptions>(json)?, options);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schemars", schemars(transform = add_rules))]
pub struct ScrapeOptions {
    /// Formats of the page. Default: markdown; in a search none, so that no page is scraped.
    pub formats: Option<Vec<Format>>,
    /// True removes headers, navigation, footers and the like, by rules, without a language model. Default: true.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = true)))]
    pub only_main_content: Option<bool>,
    /// Beta. True removes the remaining boilerplate from the markdown with a language model. Has no effect
    /// under zero data retention, which includes `lockdown`. Default: false.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = false)))]
    pub only_clean_content: Option<bool>,
    /// Keeps only these elements: tag names or CSS selectors, each at most 2000 characters.
    #[cfg_attr(feature = "schemars", schemars(inner(length(max = SELECTOR_MAX_CHARS), regex(pattern = NOT_BLANK))))]
    pub include_tags: Option<Vec<String>>,
    /// Removes these elements: tag names or CSS selectors, each at most 2000 characters.
    #[cfg_attr(feature = "schemars", schemars(inner(length(max = SELECTOR_MAX_CHARS), regex(pattern = NOT_BLANK))))]
    pub exclude_tags: Option<Vec<String>>,
    /// Maximum age of a cached page, in milliseconds; an older page is fetched again, and 0 always fetches. Default:
    /// two days, or two years under `lockdown`.
    #[cfg_attr(feature = "schemars", schemars(range(max = AGE_MAX_MS), extend("default" = MAX_AGE_DEFAULT_MS)))]
    pub max_age: Option<u64>,
    /// Minimum age of a cached page, in milliseconds; 1 accepts any cached page. Uses only the cache: without such a
    /// page, the response is 404 `SCRAPE_NO_CACHED_DATA`.
    #[cfg_attr(feature = "schemars", schemars(range(max = AGE_MAX_MS)))]
    pub min_age: Option<u64>,
    /// Headers of the request for the page, such as cookies; at most 65536 bytes. A page fetched with headers is not
    /// cached.
    #[cfg_attr(feature = "schemars", schemars(with = "Option<BTreeMap<String, Option<String>>>", transform = add_header_patterns))]
    pub headers: Option<BTreeMap<String, String>>,
    /// Additional time to wait before the content is read, in milliseconds: at most 60000 together with the waits of
    /// all actions. Default: 0.
    #[cfg_attr(feature = "schemars", schemars(range(max = WAIT_TOTAL_MAX_MS), extend("default" = 0)))]
    pub wait_for: Option<u64>,
    /// True emulates a mobile device. Default: false.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = false)))]
    pub mobile: Option<bool>,
    /// True accepts TLS certificates that cannot be verified, with a `warning`. Default: true.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = true)))]
    pub skip_tls_verification: Option<bool>,
    /// Time limit of a page, in milliseconds, 1000 to 300000. Default: 60000.
    #[cfg_attr(feature = "schemars", schemars(range(min = SCRAPE_TIMEOUT_MIN_MS, max = SCRAPE_TIMEOUT_MAX_MS), extend("default" = SCRAPE_TIMEOUT_DEFAULT_MS)))]
    pub timeout: Option<u64>,
    /// Types of files that are converted to text. An empty list returns a PDF as base64. Default: pdf.
    pub parsers: Option<Vec<Parser>>,
    /// Browser actions to run on the page before its content is read, at most 50. Default: none.
    #[cfg_attr(feature = "schemars", schemars(length(max = ACTIONS_MAX)))]
    pub actions: Option<Vec<Action>>,
    /// Location that the page is visited from.
    pub location: Option<Location>,
    /// True replaces base64 images in the markdown by a placeholder; their alternative text stays. Default: true.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = true)))]
    pub remove_base64_images: Option<bool>,
    /// True blocks advertisements and cookie banners. Default: true.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = true)))]
    pub block_ads: Option<bool>,
    /// Proxy tier that fetches the page. Default: auto.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = "auto")))]
    pub proxy: Option<Proxy>,
    /// True stores the page in the cache and the index. A page fetched with `headers`, `actions` or `profile` is never
    /// stored. Default: true.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = true)))]
    pub store_in_cache: Option<bool>,
    /// True uses only the cache and never contacts the target; counts as zero data retention. Without a cached page,
    /// the response is 404 `SCRAPE_LOCKDOWN_CACHE_MISS`. Default: false.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = false)))]
    pub lockdown: Option<bool>,
    /// Removes personal data from the markdown: true for the defaults, or an object with options. Default: false.
    #[serde(rename = "redactPII")]
    #[cfg_attr(feature = "schemars", schemars(extend("default" = false)))]
    pub redact_pii: Option<RedactPii>,
    /// Persistent browser storage, shared by requests with the same profile name.
    pub profile: Option<Profile>,
    /// Changes the threat protection of the team for this request.
    pub threat_protection: Option<ThreatProtection>,
    /// User that the request is made for, recorded in the audit events of the team.
    pub audit_metadata: Option<AuditMetadata>,
    /// Name of the integration. Accepted for compatibility and not used.
    pub integration: Option<String>,
    /// Name of the client. Accepted for compatibility and not used.
    pub origin: Option<String>,
}

/// Adds the field in which the official Rust client sends the options of the format `json`.
#[cfg(feature = "schemars")]
fn add_rules(schema: &mut Schema) {
    let description = "Options of the format `json`, if `formats` has its bare name.";
    let options = json!([{ "$ref": "#/$defs/Json" }, { "type": "null" }]);
    let property = json!({ "anyOf": options, "deprecated": true, "description": description });
    compat::add_property(schema, JSON_OPTIONS, property);
}

#[cfg(feature = "schemars")]
pub(crate) fn add_header_patterns(schema: &mut Schema) {
    schema.insert("propertyNames".to_owned(), json!({ "pattern": HEADER_NAME }));
    if let Some(values) = schema.get_mut("additionalProperties").and_then(|values| values.as_object_mut()) {
        values.insert("pattern".to_owned(), HEADER_VALUE.into());
    }
}
