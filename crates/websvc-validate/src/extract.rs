//! Rules of extractions (operations.md, section 5.1): converts a request to a plan.

use std::time::Duration;

use serde_json::{Map, Value};
use websvc_types::agent::{ExtractWebhook, ExtractWebhookEvent, ExtractWebhookOptions, RunEventKind};
use websvc_types::extract::ExtractRequest;
use websvc_types::format::Markdown;
use websvc_types::limits::{
    EXTRACT_LIMIT_DEFAULT, EXTRACT_LIMIT_MAX, EXTRACT_PAGES_MAX, EXTRACT_PROMPT_MAX_CHARS, EXTRACT_URLS_MAX,
};
use websvc_types::{Format, ScrapeOptions, ThreatProtection, ViolationCode};

use crate::agent::{AgentWebhookPlan, check_schema};
use crate::error::Rejection;
use crate::path::Path;
use crate::policy::Policy;
use crate::report::Report;
use crate::request::Request;
use crate::retention::RetentionMode;
use crate::scrape::{self, ScrapeContext};
use crate::scrape_plan::ScrapePlan;
use crate::target::{self, Target};
use crate::webhook::{Options, WebhookPlan, selected_events};
use crate::{bounds, format, threat};

/// The model of an agent that the hosted service itself replaced by agent runs.
const REPLACED_MODEL: &str = "v3-beta";

/// A checked request for an extraction: all values are valid, all defaults are filled in.
#[derive(Debug, Clone, PartialEq)]
pub struct ExtractPlan {
    /// The pages and sites, each once; empty if pages are searched for.
    pub targets: Vec<ExtractTarget>,
    /// The wanted data in words. Present if there are no targets.
    pub prompt: Option<String>,
    /// Additional instructions of the caller.
    pub system_prompt: Option<String>,
    /// The JSON Schema of the data.
    pub schema: Option<Value>,
    /// Maximum number of pages of each site and of the search.
    pub limit: u32,
    /// True finds the pages of a site without its sitemaps.
    pub ignore_sitemap: bool,
    /// True also uses pages of subdomains of a site.
    pub include_subdomains: bool,
    /// True also uses pages of other sites that a site links to.
    pub allow_external_links: bool,
    /// True searches for pages with the prompt.
    pub searches: bool,
    /// True returns the sources of the values.
    pub show_sources: bool,
    /// True returns the pages with their outcomes.
    pub url_trace: bool,
    /// The invalid URLs. `None` if the request does not allow any.
    pub invalid_urls: Option<Vec<String>>,
    /// The time limit; `None` for that of the installation.
    pub timeout: Option<Duration>,
    /// The options of the pages as they were sent, for searches and maps.
    pub options: ScrapeOptions,
    /// The changes to the threat protection of the team.
    pub threat_protection: Option<ThreatProtection>,
    /// The plan for the pages, as markdown.
    pub scrape: ScrapePlan,
    /// The receiver of the events.
    pub webhook: Option<AgentWebhookPlan>,
}

/// Pages of an extraction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExtractTarget {
    /// One page.
    Page(Target),
    /// Pages of a site, below this URL.
    Site(Target),
}

impl ExtractTarget {
    /// Returns the URL of the page or the site.
    #[must_use]
    pub fn target(&self) -> &Target {
        match self {
            Self::Page(target) | Self::Site(target) => target,
        }
    }
}

impl ExtractPlan {
    /// Returns the maximum number of pages.
    #[must_use]
    pub fn max_pages(&self) -> usize {
        let of_target = |target: &ExtractTarget| match target {
            ExtractTarget::Page(_) => 1,
            ExtractTarget::Site(_) => self.limit as usize,
        };
        let searched = if self.searches { self.limit as usize } else { 0 };
        let pages = self.targets.iter().map(of_target).sum::<usize>() + searched;
        pages.min(EXTRACT_PAGES_MAX)
    }
}

/// Checks that a team may have extractions: they are stored.
///
/// # Errors
/// [`Rejection`] if no request of the team may be stored.
fn check_retention(policy: &Policy) -> Result<(), Rejection> {
    let message = "extractions are not available with zero data retention or anonymized requests, because they are \
                   stored until their results expire; use POST /v2/scrape with the format json";
    RetentionMode::check_stored(policy, message)
}

impl Request for ExtractRequest {
    type Plan = ExtractPlan;
    type Context<'a> = &'a Policy;

    fn check_availability(policy: &&Policy) -> Result<(), Rejection> {
        check_retention(policy)
    }

    fn plan(self, report: &mut Report, policy: &Policy) -> Option<ExtractPlan> {
        Some(check(report, self, policy))
    }
}

/// Checks a request for an extraction. The plan is valid only if the report has no violation.
fn check(report: &mut Report, request: ExtractRequest, policy: &Policy) -> ExtractPlan {
    let ExtractRequest {
        urls,
        prompt,
        system_prompt,
        schema,
        limit,
        ignore_sitemap,
        include_subdomains,
        allow_external_links,
        enable_web_search,
        show_sources,
        url_trace,
        ignore_invalid_urls,
        scrape_options,
        timeout,
        agent,
        webhook,
        threat_protection,
        // Accepted for compatibility and not used.
        origin: _,
        integration: _,
    } = request;
    let body = Path::Root;
    let prompt = check_text(report, &body.key("prompt"), prompt);
    let urls = urls.unwrap_or_default();
    if urls.is_empty() && prompt.is_none() && !report.has_within(&body.key("urls")) {
        report.violation(&body.key("urls"), ViolationCode::Missing, |name| {
            format!("{name} or prompt is required")
        });
    }
    if let Some(schema) = &schema {
        check_schema(report, schema, policy.schema_compiler);
    }
    check_agent(report, agent.as_ref());
    let has_urls = !urls.is_empty();
    let (targets, invalid_urls) = check_urls(report, urls, ignore_invalid_urls.unwrap_or(true));
    let options = scrape_options.unwrap_or_default();
    let threat_protection = options.threat_protection.clone().or(threat_protection);
    let scrape = check_pages(report, options.clone(), threat_protection.clone(), policy);
    ExtractPlan {
        targets,
        system_prompt: check_text(report, &body.key("systemPrompt"), system_prompt),
        schema: schema.map(Value::Object),
        limit: check_limit(report, limit),
        ignore_sitemap: ignore_sitemap.unwrap_or(false),
        include_subdomains: include_subdomains.unwrap_or(true),
        allow_external_links: allow_external_links.or(enable_web_search).unwrap_or(false),
        searches: !has_urls || is_searched(report, enable_web_search, prompt.is_some()),
        prompt,
        show_sources: show_sources.unwrap_or(false),
        url_trace: url_trace.unwrap_or(false),
        invalid_urls,
        timeout: timeout.map(Duration::from_millis),
        options,
        threat_protection,
        scrape,
        webhook: webhook.and_then(|webhook| check_webhook(report, webhook)),
    }
}

/// Checks a text, and returns it unless it is blank.
fn check_text(report: &mut Report, path: &Path<'_>, text: Option<String>) -> Option<String> {
    let text = text.filter(|text| !text.trim().is_empty())?;
    bounds::chars(report, path, &text, 0, EXTRACT_PROMPT_MAX_CHARS);
    Some(text)
}

fn is_searched(report: &mut Report, enable_web_search: Option<bool>, has_prompt: bool) -> bool {
    if enable_web_search == Some(true) && !has_prompt {
        report.warning(&Path::Root.key("enableWebSearch"), |name| {
            format!("{name} was ignored: a search needs a prompt")
        });
    }
    enable_web_search.unwrap_or(false) && has_prompt
}

fn check_limit(report: &mut Report, limit: Option<u32>) -> u32 {
    let limit = limit.unwrap_or(EXTRACT_LIMIT_DEFAULT);
    if limit > EXTRACT_LIMIT_MAX {
        report.warning(&Path::Root.key("limit"), |name| {
            format!("{name} is {limit}, which counts as {EXTRACT_LIMIT_MAX}, the maximum")
        });
    }
    limit.min(EXTRACT_LIMIT_MAX)
}

/// Checks the agent of the hosted service: one of them was replaced by agent runs, the others are ignored.
fn check_agent(report: &mut Report, agent: Option<&Map<String, Value>>) {
    let Some(agent) = agent else { return };
    let path = Path::Root.key("agent");
    if agent.get("model").and_then(Value::as_str) == Some(REPLACED_MODEL) {
        report.violation(&path.key("model"), ViolationCode::NotSupported, |name| {
            format!("{name} cannot be \"{REPLACED_MODEL}\": use POST /v2/agent")
        });
    } else {
        report.warning(&path, |name| {
            format!("{name} is not available and was ignored; POST /v2/agent starts an agent run")
        });
    }
}

fn check_urls(
    report: &mut Report,
    urls: Vec<String>,
    ignores_invalid: bool,
) -> (Vec<ExtractTarget>, Option<Vec<String>>) {
    let path = Path::Root.key("urls");
    if !bounds::items(report, &path, urls.len(), EXTRACT_URLS_MAX) {
        return (Vec::new(), None);
    }
    let count = urls.len();
    let (mut targets, mut invalid) = (Vec::new(), Vec::new());
    for (index, text) in urls.into_iter().enumerate() {
        let url = text.trim();
        let (url, is_site) = match url.strip_suffix("/*") {
            Some(site) => (site, true),
            None => (url, false),
        };
        let target = match ignores_invalid {
            true => target::parse_if_valid(url),
            false => target::check(report, &path.index(index), url),
        };
        match target {
            Some(target) => {
                let target = if is_site { ExtractTarget::Site(target) } else { ExtractTarget::Page(target) };
                if !targets.contains(&target) {
                    targets.push(target);
                }
            }
            None if ignores_invalid => invalid.push(text),
            None => {}
        }
    }
    if ignores_invalid && count > 0 && targets.is_empty() {
        report.violation(&path, ViolationCode::InvalidFormat, |_| "No valid URLs provided".to_owned());
    }
    (targets, ignores_invalid.then_some(invalid))
}

/// Checks the options of the pages, which are read as markdown.
fn check_pages(
    report: &mut Report,
    mut options: ScrapeOptions,
    threat_protection: Option<ThreatProtection>,
    policy: &Policy,
) -> ScrapePlan {
    let body = Path::Root;
    let path = body.key("scrapeOptions");
    if options.lockdown == Some(true) {
        report.violation(&path.key("lockdown"), ViolationCode::NotSupported, |name| {
            format!("{name} is not available: it counts as zero data retention, and an extraction is stored")
        });
    }
    let is_markdown = |format: &Format| matches!(format, Format::Markdown(_));
    if options.formats.as_ref().is_some_and(|formats| !formats.iter().all(is_markdown)) {
        report.warning(&path.key("formats"), |name| {
            format!("{name} was ignored: an extraction reads pages as markdown and returns only data")
        });
    }
    // A violation of the field next to the options is reported there.
    let threat = match options.threat_protection {
        Some(_) => None,
        None => threat_protection
            .map(|protection| threat::check(report, &body.key("threatProtection"), protection, policy)),
    };
    let context = ScrapeContext {
        policy,
        retention: RetentionMode::requested_retention(policy),
        threat: threat.as_ref(),
    };
    let markdown = vec![Format::Markdown(Markdown {})];
    // Ignored formats have to be valid, too.
    if let Some(formats) = options.formats.replace(markdown) {
        format::check(report, &path.key("formats"), formats, policy.schema_compiler);
    }
    scrape::check(report, &path, options, context)
}

fn check_webhook(report: &mut Report, webhook: ExtractWebhook) -> Option<AgentWebhookPlan> {
    match webhook {
        ExtractWebhook::Url(url) => WebhookPlan::from_url(report, &url, &RunEventKind::OF_EXTRACTION),
        ExtractWebhook::Options(ExtractWebhookOptions { url, headers, metadata, events }) => {
            let events =
                events.map(|events| events.into_iter().map(ExtractWebhookEvent::event_kind).collect());
            let events = selected_events(report, events, &RunEventKind::OF_EXTRACTION);
            WebhookPlan::from_options(report, Options { url, headers, metadata, events })
        }
    }
}
