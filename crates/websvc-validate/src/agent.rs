//! Rules of agent runs (operations.md, section 4.1): converts a request to a plan.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Map, Value};
use url::Url;
use websvc_types::agent::{
    AgentEffort, AgentMode, AgentRequest, AgentWebhook, AgentWebhookEvent, AgentWebhookOptions, RunEventKind,
};
use websvc_types::format::Markdown;
use websvc_types::limits::{
    AGENT_CREDITS_DEFAULT, AGENT_CREDITS_MAX, AGENT_CREDITS_MIN, AGENT_MODEL_MAX_CHARS,
    AGENT_PROMPT_MAX_CHARS, AGENT_PROMPT_MIN_CHARS, AGENT_URLS_MAX,
};
use websvc_types::{Format, Location, ScrapeOptions, ThreatProtection, Violation, ViolationCode};

use crate::checked::Checked;
use crate::error::Rejection;
use crate::json_schema::{self, SchemaCompiler};
use crate::path::Path;
use crate::policy::Policy;
use crate::report::{Report, quoted};
use crate::retention::RetentionMode;
use crate::scrape_plan::ScrapePlan;
use crate::target::{self, Target};
use crate::webhook::{check_headers, check_metadata};
use crate::{bounds, scrape};

/// A checked request for an agent run: all values are valid, all defaults are filled in.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentPlan {
    /// The task.
    pub prompt: String,
    /// The URLs to start with, each once.
    pub urls: Vec<Target>,
    /// The JSON Schema of the data.
    pub schema: Option<Value>,
    /// True reads only the pages in `urls`.
    pub is_strict: bool,
    /// Maximum of credits.
    pub max_credits: u64,
    /// Bound on steps and tokens.
    pub effort: AgentEffort,
    /// Form of the answer.
    pub mode: AgentMode,
    /// True permits the use of pages in a browser.
    pub allow_interact: bool,
    /// The thread to continue.
    pub thread: Option<String>,
    /// The location from which pages and results are requested.
    pub location: Option<Location>,
    /// The changes to the threat protection of the team.
    pub threat_protection: Option<ThreatProtection>,
    /// The plan for the pages that the run reads, as markdown: location, threat protection and audited user.
    pub scrape: ScrapePlan,
    /// The receiver of the events.
    pub webhook: Option<AgentWebhookPlan>,
}

/// Webhook of an agent run or an extraction: all values are valid, all defaults are filled in.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentWebhookPlan {
    /// The URL, http or https, including user name and password. The address guard checks it later, at each connection.
    pub url: Url,
    /// The JSON Pointer of the URL in the request.
    pub url_pointer: &'static str,
    /// The headers that the caller sets. Names are in lower case.
    pub headers: BTreeMap<String, String>,
    /// The object that every event repeats.
    pub metadata: Map<String, Value>,
    /// The events to send, each once.
    pub events: Vec<RunEventKind>,
}

/// Checks that a team may have agent runs: they are stored.
///
/// # Errors
/// [`Rejection`] if no request of the team may be stored.
pub fn check_agent_retention(policy: &Policy) -> Result<(), Rejection> {
    if RetentionMode::requested_retention(policy) == RetentionMode::Normal {
        return Ok(());
    }
    let message = "agent runs are not available with zero data retention or anonymized requests, because they are \
                   stored until their results expire";
    let (path, code) = (String::new(), ViolationCode::NotSupported);
    Err(Rejection::Invalid(vec![Violation { path, code, message: message.to_owned() }]))
}

/// Checks a request for a run.
///
/// # Errors
/// [`Rejection`] lists every rule that the request breaks, or names the permission that the team lacks.
pub fn check_agent(request: AgentRequest, policy: &Policy) -> Result<Checked<AgentPlan>, Rejection> {
    check_agent_retention(policy)?;
    let mut report = Report::default();
    let plan = check(&mut report, request, policy);
    report.finish(plan)
}

/// Checks a request for a run. The plan is valid only if the report has no violation.
pub(crate) fn check(report: &mut Report, request: AgentRequest, policy: &Policy) -> AgentPlan {
    let AgentRequest {
        prompt,
        urls,
        schema,
        strict_constrain_to_urls,
        max_credits,
        model,
        effort,
        webhook,
        thread_id,
        mode,
        exchange,
        location,
        zero_data_retention,
        allow_interact,
        threat_protection,
        audit_metadata,
        // Only listed.
        origin: _,
        integration: _,
    } = request;
    check_prompt(report, &prompt);
    if let Some(schema) = &schema {
        check_schema(report, schema, policy.schema_compiler);
    }
    if let Some(model) = &model {
        bounds::chars(report, &Path::Root.key("model"), model, 0, AGENT_MODEL_MAX_CHARS);
    }
    let max_credits = max_credits.unwrap_or(AGENT_CREDITS_DEFAULT);
    bounds::number(report, &Path::Root.key("maxCredits"), max_credits, AGENT_CREDITS_MIN, AGENT_CREDITS_MAX);
    if exchange.is_some() {
        report
            .warning(&Path::Root.key("exchange"), |name| format!("{name} is not available and was ignored"));
    }
    check_retention(report, zero_data_retention);
    let thread = thread_id.map(|id| check_thread(report, &id));
    let urls = check_urls(report, &urls.unwrap_or_default());
    let is_strict = strict_constrain_to_urls.unwrap_or(false);
    if is_strict && urls.is_empty() && thread.is_none() && !report.has_within(&Path::Root.key("urls")) {
        report.violation(&Path::Root.key("urls"), ViolationCode::Missing, |name| {
            format!("{name} is required with strictConstrainToURLs")
        });
    }
    let options = ScrapeOptions {
        formats: Some(vec![Format::Markdown(Markdown {})]),
        location: location.clone(),
        threat_protection: threat_protection.clone(),
        audit_metadata,
        ..ScrapeOptions::default()
    };
    AgentPlan {
        prompt,
        urls,
        schema: schema.map(Value::Object),
        is_strict,
        max_credits,
        effort: effort.unwrap_or_default(),
        mode: mode.unwrap_or_default(),
        allow_interact: allow_interact.unwrap_or(false),
        thread,
        location,
        threat_protection,
        scrape: scrape::check_single(report, options, policy),
        webhook: webhook.and_then(|webhook| check_webhook(report, webhook)),
    }
}

fn check_prompt(report: &mut Report, prompt: &str) {
    let root = Path::Root;
    let path = root.key("prompt");
    if !report.has(&path) && bounds::not_blank(report, &path, prompt) {
        bounds::chars(report, &path, prompt, AGENT_PROMPT_MIN_CHARS, AGENT_PROMPT_MAX_CHARS);
    }
}

/// Checks a schema. Upstream clients compare the beginning of the message.
pub(crate) fn check_schema(report: &mut Report, schema: &Map<String, Value>, compiler: SchemaCompiler) {
    let root = Path::Root;
    let path = root.key("schema");
    let mut found = Report::default();
    json_schema::check(&mut found, &path, schema, compiler);
    if found.has_within(&path) {
        // Before the others, because many clients show only the first violation.
        report.violation(&path, ViolationCode::InvalidFormat, |_| "Invalid JSON schema".to_owned());
    }
    report.absorb(found, &root, str::to_owned);
}

fn check_retention(report: &mut Report, zero_data_retention: Option<bool>) {
    if zero_data_retention == Some(true) {
        report.violation(&Path::Root.key("zeroDataRetention"), ViolationCode::NotSupported, |name| {
            format!("{name} must be false: an agent run is stored until its result expires")
        });
    }
}

/// Checks the ID of a thread, and returns it in lower case.
fn check_thread(report: &mut Report, id: &str) -> String {
    let is_uuid = id.len() == 36
        && id.bytes().enumerate().all(|(index, byte)| match index {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        });
    if !is_uuid {
        report.violation(&Path::Root.key("threadId"), ViolationCode::InvalidFormat, |name| {
            format!("{name} must be a UUID, not {}", quoted(id))
        });
    }
    id.to_ascii_lowercase()
}

fn check_urls(report: &mut Report, urls: &[String]) -> Vec<Target> {
    let root = Path::Root;
    let path = root.key("urls");
    if !bounds::items(report, &path, urls.len(), AGENT_URLS_MAX) {
        return Vec::new();
    }
    let mut seen = HashSet::new();
    let mut targets = Vec::with_capacity(urls.len());
    for (index, url) in urls.iter().enumerate() {
        if let Some(target) = target::check(report, &path.index(index), url)
            && seen.insert(target.url_with_credentials())
        {
            targets.push(target);
        }
    }
    targets
}

fn check_webhook(report: &mut Report, webhook: AgentWebhook) -> Option<AgentWebhookPlan> {
    match webhook {
        AgentWebhook::Url(url) => check_webhook_url(report, &url, &RunEventKind::OF_AGENT),
        AgentWebhook::Options(AgentWebhookOptions { url, headers, metadata, events }) => {
            let events = events.map(|events| events.into_iter().map(AgentWebhookEvent::event_kind).collect());
            let options = RunWebhookOptions { url, headers, metadata, events };
            check_webhook_options(report, options, &RunEventKind::OF_AGENT)
        }
    }
}

/// Webhook options of an agent run or an extraction.
pub(crate) struct RunWebhookOptions {
    pub(crate) url: String,
    pub(crate) headers: Option<BTreeMap<String, String>>,
    pub(crate) metadata: Option<Map<String, Value>>,
    pub(crate) events: Option<Vec<RunEventKind>>,
}

/// Checks a webhook that is only a URL. It gets all events.
pub(crate) fn check_webhook_url(
    report: &mut Report,
    url: &str,
    all: &[RunEventKind],
) -> Option<AgentWebhookPlan> {
    Some(AgentWebhookPlan {
        url: target::check(report, &Path::Root.key("webhook"), url)?.into_url_with_credentials(),
        url_pointer: "/webhook",
        headers: BTreeMap::new(),
        metadata: Map::new(),
        events: all.to_vec(),
    })
}

/// Checks a webhook with options. By default, it gets all events.
pub(crate) fn check_webhook_options(
    report: &mut Report,
    options: RunWebhookOptions,
    all: &[RunEventKind],
) -> Option<AgentWebhookPlan> {
    let RunWebhookOptions { url, headers, metadata, events } = options;
    let root = Path::Root;
    let path = root.key("webhook");
    let headers = check_headers(report, &path.key("headers"), headers.unwrap_or_default());
    let metadata = check_metadata(report, &path.key("metadata"), metadata.unwrap_or_default());
    let events = check_events(report, &path.key("events"), events, all);
    let url = target::check(report, &path.key("url"), &url)?.into_url_with_credentials();
    Some(AgentWebhookPlan { url, url_pointer: "/webhook/url", headers, metadata, events })
}

/// Returns the events to send, each once, in the order in which they may happen.
fn check_events(
    report: &mut Report,
    path: &Path<'_>,
    events: Option<Vec<RunEventKind>>,
    all: &[RunEventKind],
) -> Vec<RunEventKind> {
    let Some(events) = events else { return all.to_vec() };
    if events.is_empty() && !report.has_within(path) {
        report.violation(path, ViolationCode::TooShort, |name| {
            format!("{name} must have at least 1 item; to get no events, omit webhook")
        });
    }
    all.iter().copied().filter(|event| events.contains(event)).collect()
}
