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
pub struct ScrapePlan {
    pub(crate) formats: Vec<Format>,
    pub(crate) only_main_content: bool,
    pub(crate) only_clean_content: bool,
    pub(crate) include_tags: Vec<String>,
    pub(crate) exclude_tags: Vec<String>,
    pub(crate) max_age: Duration,
    pub(crate) min_age: Option<Duration>,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) wait_for: Duration,
    pub(crate) mobile: bool,
    pub(crate) skip_tls_verification: bool,
    pub(crate) timeout: Duration,
    pub(crate) parsers: Vec<Parser>,
    pub(crate) actions: Vec<Action>,
    pub(crate) location: LocationPlan,
    pub(crate) remove_base64_images: bool,
    pub(crate) block_ads: bool,
    pub(crate) proxy: Proxy,
    pub(crate) store_in_cache: bool,
    pub(crate) retention: RetentionMode,
    pub(crate) lockdown: bool,
    pub(crate) redact_pii: Option<RedactOptions>,
    pub(crate) profile: Option<Profile>,
    pub(crate) threat: Option<ThreatProtection>,
    pub(crate) protection: Option<ThreatRules>,
    pub(crate) audit: Option<AuditMetadata>,
    pub(crate) tracking: TrackingPlan,
    pub(crate) needs_out_links: bool,
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

    /// Returns the formats, each kind once.
    #[must_use]
    pub fn formats(&self) -> &[Format] {
        &self.formats
    }

    /// Returns whether headers, navigation, footers and the like are removed.
    #[must_use]
    pub fn only_main_content(&self) -> bool {
        self.only_main_content
    }

    /// Returns whether a language model cleans the markdown. Never under zero data retention.
    #[must_use]
    pub fn only_clean_content(&self) -> bool {
        self.only_clean_content
    }

    /// Returns the selectors of the elements to keep; empty to keep all.
    #[must_use]
    pub fn include_tags(&self) -> &[String] {
        &self.include_tags
    }

    /// Returns the selectors of the elements to remove.
    #[must_use]
    pub fn exclude_tags(&self) -> &[String] {
        &self.exclude_tags
    }

    /// Returns the maximum age of a cached page.
    #[must_use]
    pub fn max_age(&self) -> Duration {
        self.max_age
    }

    /// Returns the minimum age of a cached page. If it is set, only the cache is used.
    #[must_use]
    pub fn min_age(&self) -> Option<Duration> {
        self.min_age
    }

    /// Returns the headers to send. Names are valid, in lower case and not reserved.
    #[must_use]
    pub fn headers(&self) -> &BTreeMap<String, String> {
        &self.headers
    }

    /// Returns the time to wait before the content is read.
    #[must_use]
    pub fn wait_for(&self) -> Duration {
        self.wait_for
    }

    /// Returns whether a mobile device is emulated.
    #[must_use]
    pub fn mobile(&self) -> bool {
        self.mobile
    }

    /// Returns whether certificates that cannot be verified are accepted.
    #[must_use]
    pub fn skip_tls_verification(&self) -> bool {
        self.skip_tls_verification
    }

    /// Returns the time limit of a page.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Returns the parsers of files to convert to text. Other files are returned as they are.
    #[must_use]
    pub fn parsers(&self) -> &[Parser] {
        &self.parsers
    }

    /// Returns the browser actions to run before the content is read.
    #[must_use]
    pub fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// Returns the location that the page is visited from.
    #[must_use]
    pub fn location(&self) -> &LocationPlan {
        &self.location
    }

    /// Returns whether base64 images are removed from the markdown.
    #[must_use]
    pub fn remove_base64_images(&self) -> bool {
        self.remove_base64_images
    }

    /// Returns whether advertisements and cookie banners are blocked.
    #[must_use]
    pub fn block_ads(&self) -> bool {
        self.block_ads
    }

    /// Returns the proxy tier.
    #[must_use]
    pub fn proxy(&self) -> Proxy {
        self.proxy
    }

    /// Returns whether the request names the enhanced proxy. With `auto`, it is used only if the basic one fails.
    #[must_use]
    pub fn wants_enhanced_proxy(&self) -> bool {
        self.proxy == Proxy::Enhanced
    }

    /// Returns whether the page may be stored in the cache. Never with headers, actions or a profile, under lockdown,
    /// or under zero or anonymized data retention, regardless of `storeInCache`.
    #[must_use]
    pub fn store_in_cache(&self) -> bool {
        self.store_in_cache
    }

    /// Returns the data retention of the request, without that of `lockdown`.
    #[must_use]
    pub fn retention(&self) -> RetentionMode {
        self.retention
    }

    /// Returns whether only the cache is used and the host is never contacted.
    #[must_use]
    pub fn lockdown(&self) -> bool {
        self.lockdown
    }

    /// Returns the options for removing personal data from the markdown; `None` to keep it.
    #[must_use]
    pub fn redact_pii(&self) -> Option<&RedactOptions> {
        self.redact_pii.as_ref()
    }

    /// Returns the persistent browser profile.
    #[must_use]
    pub fn profile(&self) -> Option<&Profile> {
        self.profile.as_ref()
    }

    /// Returns the changes of the request to the threat protection of the team: those of the scrape options, else those
    /// of the search.
    #[must_use]
    pub fn threat(&self) -> Option<&ThreatProtection> {
        self.threat.as_ref()
    }

    /// Returns the rules for checking the URLs of pages; `None` if they are not checked.
    #[must_use]
    pub fn protection(&self) -> Option<&ThreatRules> {
        self.protection.as_ref()
    }

    /// Returns whether the page is compared with its last scrape.
    #[must_use]
    pub fn tracking(&self) -> TrackingPlan {
        self.tracking
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

    /// Returns whether the out-links of the page are needed, as in a crawl.
    #[must_use]
    pub fn needs_out_links(&self) -> bool {
        self.needs_out_links
    }

    /// Returns the user that the request is made for.
    #[must_use]
    pub fn audit(&self) -> Option<&AuditMetadata> {
        self.audit.as_ref()
    }
}

/// Location that a page is visited from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocationPlan {
    pub(crate) country: &'static str,
    pub(crate) languages: Vec<String>,
}

impl LocationPlan {
    /// Returns the country, ISO 3166-1 alpha-2 in upper case.
    #[must_use]
    pub fn country(&self) -> &'static str {
        self.country
    }

    /// Returns the languages (BCP 47), the preferred one first; empty if the request names none.
    #[must_use]
    pub fn languages(&self) -> &[String] {
        &self.languages
    }
}
