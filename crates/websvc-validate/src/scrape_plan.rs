//! Plan of a scrape.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use websvc_types::format::{ChangeTracking, Markdown};
use websvc_types::{
    Action, AuditMetadata, Format, Parser, Profile, Proxy, RedactMode, RedactOptions, ThreatProtection,
};

use crate::retention::RetentionMode;
use crate::threat_rules::ThreatRules;
use crate::tracking::TrackingPlan;

/// Plan of scraping pages: all values are valid, all defaults are filled in.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ScrapePlan {
    /// The formats, each kind once.
    pub formats: Vec<Format>,
    /// True if headers, navigation, footers and the like are removed.
    pub only_main_content: bool,
    /// True if a language model cleans the markdown. Never under zero data retention.
    pub only_clean_content: bool,
    /// The selectors of the elements to keep; empty to keep all.
    pub include_tags: Vec<String>,
    /// The selectors of the elements to remove.
    pub exclude_tags: Vec<String>,
    /// The maximum age of a cached page.
    pub max_age: Duration,
    /// The minimum age of a cached page. If it is set, only the cache is used.
    pub min_age: Option<Duration>,
    /// The headers to send. Names are valid, in lower case and not reserved.
    pub headers: BTreeMap<String, String>,
    /// The time to wait before the content is read.
    pub wait_for: Duration,
    /// True if a mobile device is emulated.
    pub mobile: bool,
    /// True if certificates that cannot be verified are accepted.
    pub skip_tls_verification: bool,
    /// The time limit of a page.
    pub timeout: Duration,
    /// The parsers of files to convert to text. Other files are returned as they are.
    pub parsers: Vec<Parser>,
    /// The browser actions to run before the content is read.
    pub actions: Vec<Action>,
    /// The location that the page is visited from.
    pub location: LocationPlan,
    /// True if base64 images are removed from the markdown.
    pub remove_base64_images: bool,
    /// True if advertisements and cookie banners are blocked.
    pub block_ads: bool,
    /// The proxy tier.
    pub proxy: Proxy,
    /// True if the page may be stored in the cache. Never with headers, actions or a profile, under lockdown, or under
    /// zero or anonymized data retention, regardless of `storeInCache`.
    pub store_in_cache: bool,
    /// The data retention of the request, without that of `lockdown`.
    pub retention: RetentionMode,
    /// True if only the cache is used and the host is never contacted.
    pub lockdown: bool,
    /// The options for removing personal data from the markdown; `None` to keep it.
    pub redact_pii: Option<RedactOptions>,
    /// The persistent browser profile.
    pub profile: Option<Profile>,
    /// The changes of the request to the threat protection of the team: those of the scrape options, else those of the
    /// search.
    pub threat: Option<ThreatProtection>,
    /// The rules for checking the URLs of pages; `None` if they are not checked.
    pub protection: Option<ThreatRules>,
    /// The user that the request is made for.
    pub audit: Option<AuditMetadata>,
    /// The comparison of the page with its last scrape.
    pub tracking: TrackingPlan,
    /// True if the out-links of the page are needed, as in a crawl.
    pub needs_out_links: bool,
}

impl ScrapePlan {
    /// Adds an `Authorization` header for the credentials of the URL, unless the request has one. The page is then
    /// personal and not stored.
    pub(crate) fn authorize(&mut self, credentials: Option<&str>) {
        if let Some(value) = credentials {
            self.headers.entry("authorization".to_owned()).or_insert_with(|| value.to_owned());
            self.store_in_cache = false;
        }
    }

    /// Returns the plan without the headers of the request, for hosts that they were not given for. The page is not stored in
    /// the cache either.
    #[must_use]
    pub fn without_headers(&self) -> Self {
        Self { headers: BTreeMap::new(), ..self.clone() }
    }

    /// Returns the plan for the scrape before content is generated: with markdown instead of summary, json, question and
    /// highlights. If there is a language model, it redacts the page afterwards, unless the mode of `redactPII` is `fast`.
    #[must_use]
    pub fn for_scraper(&self, has_model: bool) -> Cow<'_, Self> {
        let is_generated = |format: &Format| {
            matches!(
                format,
                Format::Summary(_) | Format::Json(_) | Format::Question(_) | Format::Highlights(_)
            )
        };
        let has_generated = self.formats.iter().any(is_generated);
        let is_redacted_later = has_model && self.is_redacted_by_model();
        if !has_generated && !is_redacted_later {
            return Cow::Borrowed(self);
        }
        let mut plan = self.clone();
        if is_redacted_later {
            plan.redact_pii = None;
        }
        if has_generated {
            plan.formats.retain(|format| !is_generated(format));
            if !plan.formats.iter().any(|format| matches!(format, Format::Markdown(_))) {
                plan.formats.push(Format::Markdown(Markdown {}));
            }
        }
        Cow::Owned(plan)
    }

    /// Returns whether a language model redacts the page, if there is one.
    #[must_use]
    pub fn is_redacted_by_model(&self) -> bool {
        let mode = self.redact_pii.as_ref().map(|options| options.mode.unwrap_or(RedactMode::Accurate));
        match mode {
            Some(RedactMode::Accurate | RedactMode::Aggressive) => true,
            Some(RedactMode::Fast) | None => false,
        }
    }

    /// Returns whether the request names the enhanced proxy. With `auto`, it is used only if the basic one fails.
    #[must_use]
    pub fn wants_enhanced_proxy(&self) -> bool {
        self.proxy == Proxy::Enhanced
    }

    /// Returns the options of the format changeTracking, if the page is compared with its last scrape.
    #[must_use]
    pub fn change_tracking(&self) -> Option<&ChangeTracking> {
        let mut formats = self.formats.iter().filter(|_| self.tracking == TrackingPlan::On);
        formats.find_map(|format| {
            let Format::ChangeTracking(options) = format else { return None };
            Some(options)
        })
    }
}

/// Location that a page is visited from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LocationPlan {
    /// The country, ISO 3166-1 alpha-2 in upper case.
    pub country: &'static str,
    /// The languages (BCP 47), the preferred one first; empty if the request names none.
    pub languages: Vec<String>,
}
