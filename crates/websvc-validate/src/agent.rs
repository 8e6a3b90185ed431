//! Rules of agent runs (operations.md, section 4.1): converts a request to a plan.

use std::collections::HashSet;

use serde_json::{Map, Value};
use websvc_types::agent::{
    AgentEffort, AgentMode, AgentRequest, AgentWebhook, AgentWebhookEvent, AgentWebhookOptions, RunEventKind,
};
use websvc_types::format::Markdown;
use websvc_types::limits::{
    AGENT_CREDITS_DEFAULT, AGENT_MODEL_MAX_CHARS, AGENT_PROMPT_MAX_CHARS, AGENT_PROMPT_MIN_CHARS,
    AGENT_URLS_MAX,
};
use websvc_types::{Format, Location, ScrapeOptions, ThreatProtection, ViolationCode};

use crate::error::Rejection;
use crate::json_schema::{self, SchemaCompiler};
use crate::path::Path;
use crate::policy::Policy;
use crate::report::Report;
use crate::request::Request;
use crate::retention::RetentionMode;
use crate::scrape_plan::ScrapePlan;
use crate::target::{self, Target};
use crate::webhook::{Options, WebhookPlan, selected_events};
use crate::{bounds, scrape, uuid};

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

/// Webhook of an agent run or an extraction.
pub type AgentWebhookPlan = WebhookPlan<RunEventKind>;

/// Checks that a team may have agent runs: they are stored.
///
/// # Errors
/// [`Rejection`] if no request of the team may be stored.
pub fn check_agent_retention(policy: &Policy) -> Result<(), Rejection> {
    let message = "agent runs are not available with zero data retention or anonymized requests, because they are \
                   stored until their results expire";
    RetentionMode::check_stored(policy, message)
}

impl Request for AgentRequest {
    type Plan = AgentPlan;
    type Context<'a> = &'a Policy;

    fn check_availability(policy: &&Policy) -> Result<(), Rejection> {
        check_agent_retention(policy)
    }

    fn plan(self, report: &mut Report, policy: &Policy) -> Option<AgentPlan> {
        Some(check(report, self, policy))
    }
}

/// Checks a request for a run. The plan is valid only if the report has no violation.
fn check(report: &mut Report, request: AgentRequest, policy: &Policy) -> AgentPlan {
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
        max_credits: max_credits.unwrap_or(AGENT_CREDITS_DEFAULT),
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
    let path = Path::Root.key("prompt");
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
    uuid::check(report, &Path::Root.key("threadId"), id);
    id.to_ascii_lowercase()
}

fn check_urls(report: &mut Report, urls: &[String]) -> Vec<Target> {
    let path = Path::Root.key("urls");
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
        AgentWebhook::Url(url) => WebhookPlan::from_url(report, &url, &RunEventKind::OF_AGENT),
        AgentWebhook::Options(AgentWebhookOptions { url, headers, metadata, events }) => {
            let events = events.map(|events| events.into_iter().map(AgentWebhookEvent::event_kind).collect());
            let events = selected_events(report, events, &RunEventKind::OF_AGENT);
            WebhookPlan::from_options(report, Options { url, headers, metadata, events })
        }
    }
}
