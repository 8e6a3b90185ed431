//! How pages will be scraped.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use websvc_types::format::Markdown;
use websvc_types::{Action, AuditMetadata, Format, Parser, Profile, Proxy, RedactOptions, ThreatProtection};

use crate::threat_rules::ThreatRules;

/// Checked scrape options with every default filled in.
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
    pub(crate) lockdown: bool,
    pub(crate) redact_pii: Option<RedactOptions>,
    pub(crate) profile: Option<Profile>,
    pub(crate) threat: Option<ThreatProtection>,
    pub(crate) protection: Option<ThreatRules>,
    pub(crate) audit: Option<AuditMetadata>,
    pub(crate) leads: bool,
}

impl ScrapePlan {
    /// Adds the `Authorization` header that the URL of the page stands for, unless the caller sends one. The page is then
    /// private: it is not stored.
    pub(crate) fn authorize(&mut self, credentials: Option<&str>) {
        if let Some(value) = credentials {
            self.headers.entry("authorization".to_owned()).or_insert_with(|| value.to_owned());
            self.store_in_cache = false;
        }
    }

    /// Returns the plan by which a page is got of which something is written afterwards: the markdown in place of what is
    /// written of it.
    #[must_use]
    pub fn without_generated_formats(&self) -> Cow<'_, Self> {
        let is_written = |format: &Format| {
            matches!(
                format,
                Format::Summary(_) | Format::Json(_) | Format::Question(_) | Format::Highlights(_)
            )
        };
        if !self.formats.iter().any(is_written) {
            return Cow::Borrowed(self);
        }
        let mut plan = self.clone();
        plan.formats.retain(|format| !is_written(format));
        if !plan.formats.iter().any(|format| matches!(format, Format::Markdown(_))) {
            plan.formats.push(Format::Markdown(Markdown {}));
        }
        Cow::Owned(plan)
    }

    /// Returns what each page is wanted as, each kind once.
    #[must_use]
    pub fn formats(&self) -> &[Format] {
        &self.formats
    }

    /// Returns whether headers, navigation, footers and the like are left out.
    #[must_use]
    pub fn only_main_content(&self) -> bool {
        self.only_main_content
    }

    /// Returns whether a model cleans the markdown; never under zero data retention.
    #[must_use]
    pub fn only_clean_content(&self) -> bool {
        self.only_clean_content
    }

    /// Returns the selectors of what alone is kept; everything when there are none.
    #[must_use]
    pub fn include_tags(&self) -> &[String] {
        &self.include_tags
    }

    /// Returns the selectors of what is left out.
    #[must_use]
    pub fn exclude_tags(&self) -> &[String] {
        &self.exclude_tags
    }

    /// Returns the age up to which a cached page will do.
    #[must_use]
    pub fn max_age(&self) -> Duration {
        self.max_age
    }

    /// Returns the age from which a cached page will do; with it only the cache is asked.
    #[must_use]
    pub fn min_age(&self) -> Option<Duration> {
        self.min_age
    }

    /// Returns the headers to send: names in lower case, each legal and of no concern to the connection.
    #[must_use]
    pub fn headers(&self) -> &BTreeMap<String, String> {
        &self.headers
    }

    /// Returns the time to wait before the content is taken.
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

    /// Returns the time for one page.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Returns the files that are turned into text; the others are returned as they are.
    #[must_use]
    pub fn parsers(&self) -> &[Parser] {
        &self.parsers
    }

    /// Returns what a browser does on the page before its content is taken.
    #[must_use]
    pub fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// Returns where the page is visited from.
    #[must_use]
    pub fn location(&self) -> &LocationPlan {
        &self.location
    }

    /// Returns whether embedded images are taken out of the markdown.
    #[must_use]
    pub fn remove_base64_images(&self) -> bool {
        self.remove_base64_images
    }

    /// Returns whether advertisements and cookie banners are blocked.
    #[must_use]
    pub fn block_ads(&self) -> bool {
        self.block_ads
    }

    /// Returns the way to the page.
    #[must_use]
    pub fn proxy(&self) -> Proxy {
        self.proxy
    }

    /// Returns whether the enhanced way was asked for by name; `auto` only comes to it when basic fails.
    #[must_use]
    pub fn wants_enhanced_proxy(&self) -> bool {
        self.proxy == Proxy::Enhanced
    }

    /// Returns whether the page may be stored. Never with headers or actions of the caller's own, under lockdown or
    /// under zero data retention, whatever `storeInCache` says.
    #[must_use]
    pub fn store_in_cache(&self) -> bool {
        self.store_in_cache
    }

    /// Returns whether only the cache is asked and the page is never contacted.
    #[must_use]
    pub fn lockdown(&self) -> bool {
        self.lockdown
    }

    /// Returns how personal data is removed from the markdown; `None` when it is not.
    #[must_use]
    pub fn redact_pii(&self) -> Option<&RedactOptions> {
        self.redact_pii.as_ref()
    }

    /// Returns the browser storage that outlives the request.
    #[must_use]
    pub fn profile(&self) -> Option<&Profile> {
        self.profile.as_ref()
    }

    /// Returns what the request changes in the team's threat protection: its `scrapeOptions.threatProtection`, else
    /// that of the search.
    #[must_use]
    pub fn threat(&self) -> Option<&ThreatProtection> {
        self.threat.as_ref()
    }

    /// Returns the rules by which URLs of pages are checked; `None` when they are not.
    #[must_use]
    pub fn protection(&self) -> Option<&ThreatRules> {
        self.protection.as_ref()
    }

    /// Returns whether somebody follows where the page leads: a crawl.
    #[must_use]
    pub fn leads(&self) -> bool {
        self.leads
    }

    /// Returns who the request is made for.
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

    /// Returns the languages (BCP 47), the preferred first; none when the request names none.
    #[must_use]
    pub fn languages(&self) -> &[String] {
        &self.languages
    }
}
