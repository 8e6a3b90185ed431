//! `/v2/extract` and `/v1/extract`: extractions (operations.md, section 5.1). The original API has deprecated them.

mod deprecation;

use http::{Request, StatusCode};
use serde_json::{Map, Value};
use websvc_runs::{StartRun, StoredExtractRequest};
use websvc_stage::Stage;
use websvc_store::{ApiVersion, CreateRunOutcome, RunKind};
use websvc_transport::ServerBody;
use websvc_types::ErrorCode;
use websvc_types::extract::{DEPRECATION, ExtractRequest, ExtractStarted, REPLACEMENT};
use websvc_validate::{Checked, ExtractPlan, ExtractTarget, RetentionMode, read_extract};

use super::agent::{new_webhook, parse_uuid, segment, too_many_runs};
use super::search::{body_policy, policy};
use super::webhook;
use crate::audit_trail::AuditedRequest;
use crate::charge;
use crate::response::{ApiError, HttpResponse, json};
use crate::service::RequestContext;
pub(crate) use deprecation::mark_deprecated;

/// An operation on extractions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExtractOperation {
    /// With the version of the scrape options.
    Start(ApiVersion),
    Status,
}

impl ExtractOperation {
    /// Returns the name in audit events.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Start(_) => "extract",
            Self::Status => "extract-status",
        }
    }
}

/// Handles an operation on extractions. Both versions share all extractions.
pub(crate) async fn extract(
    operation: ExtractOperation,
    context: RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    match operation {
        ExtractOperation::Start(version) => {
            let body = super::read_body(request)?;
            start(&context, version, body).await
        }
        ExtractOperation::Status => status(&context, &segment(request.uri().path(), 2)).await,
    }
}

async fn start(
    context: &RequestContext<'_>,
    version: ApiVersion,
    body: bytes::Bytes,
) -> Result<HttpResponse, ApiError> {
    let policy = policy(context)?;
    let body_policy = body_policy(&policy);
    let decoding = context.state.admission.decode_body(body, move |body| match version {
        ApiVersion::V1 => read_extract(&translated(body)?, &body_policy),
        ApiVersion::V2 => read_extract(body, &body_policy),
    });
    let Checked { plan: (request, plan), mut warnings } =
        context.state.engine.stages().run(Stage::Decode, decoding).await?;
    let urls: Vec<&str> = plan.targets.iter().map(|target| target.target().url().as_str()).collect();
    let username = plan.scrape.audit().map(|audit| audit.username.as_str());
    let retention = context.retention(RetentionMode::Normal, false);
    context.trail.set_request(retention, &AuditedRequest { username, query: None, urls: &urls });
    if context.state.engine.completion_model().is_none() {
        let text = "Extractions need a language model: none is configured in [llm] of the configuration";
        return Err(ApiError::new(ErrorCode::LlmNotConfigured, text));
    }
    check(context, &plan)?;
    // The extraction adds the warnings about its pages itself.
    let stored_warnings = warnings.clone();
    warnings.extend(context.state.engine.check_scrape(&plan.scrape)?);
    // The extraction holds its credits as it works.
    charge::require(context, context.state.runs.least_extract_credits(&plan)).await?;
    let request = ExtractRequest { webhook: None, ..request };
    let run = StartRun {
        team: context.team_name().to_owned(),
        key: context.caller.as_ref().map(|caller| caller.key_id.clone()),
        kind: RunKind::Extract,
        api_version: context.api_version,
        thread: None,
        request: StoredExtractRequest { request, warnings: stored_warnings }.encode(),
        max_credits: context.state.runs.max_extract_credits(&plan, &policy),
        webhook: plan.webhook.as_ref().map(new_webhook).transpose()?,
    };
    let record = match context.state.runs.start(run).await? {
        CreateRunOutcome::Created(record) => *record,
        CreateRunOutcome::TooManyOpen | CreateRunOutcome::ThreadRunning => {
            let max = context.state.runs.config().limits.max_open;
            return Err(too_many_runs(&format!(
                "limit of {max} agent runs and extractions per team that wait or work reached"
            )));
        }
        CreateRunOutcome::TooManyStored | CreateRunOutcome::ThreadNotFound => {
            let max = context.state.runs.config().limits.max_stored;
            return Err(too_many_runs(&format!(
                "limit of {max} stored agent runs and extractions per team reached"
            )));
        }
    };
    context.trail.set_target(|| format!("extraction {}", record.id));
    Ok(json(
        StatusCode::OK,
        &ExtractStarted {
            success: true,
            id: record.id,
            url_trace: Vec::new(),
            invalid_urls: plan.invalid_urls,
            warning: (!warnings.is_empty()).then(|| warnings.join("; ")),
            warnings: vec![DEPRECATION.to_owned()],
            replacement: REPLACEMENT.to_owned(),
        },
    ))
}

/// Returns the body of a request of version 1 with scrape options of version 2.
fn translated(body: &[u8]) -> Result<Vec<u8>, websvc_validate::Rejection> {
    let mut fields: Map<String, Value> = websvc_validate::read_object(body)?;
    // The Python client sends null for a schema that is not set.
    fields.retain(|_, value| !value.is_null());
    if let Some(Value::Object(options)) = fields.get_mut("scrapeOptions") {
        crate::adapter::translate_options(options, "/scrapeOptions")?;
    }
    Ok(Value::Object(fields).to_string().into_bytes())
}

/// Checks that the extraction is allowed: the threat protection, and the webhook.
fn check(context: &RequestContext<'_>, plan: &ExtractPlan) -> Result<(), ApiError> {
    let urls = plan.targets.iter().map(|target: &ExtractTarget| target.target().url());
    if let Some(reason) = context.state.engine.list_verdicts(&plan.scrape, urls).into_iter().flatten().next()
    {
        return Err(ApiError::new(ErrorCode::UnsafeDomainBlocked, reason));
    }
    if let Some(webhook) = &plan.webhook {
        webhook::check_target(context, &webhook.url, webhook.url_pointer)?;
    }
    Ok(())
}

async fn status(context: &RequestContext<'_>, id: &str) -> Result<HttpResponse, ApiError> {
    let id = parse_uuid(id, "Invalid extract job ID")?;
    context.trail.set_target(|| format!("extraction {id}"));
    let record = context.state.runs.find(context.team_name(), RunKind::Extract, &id).await?;
    let not_found = || ApiError::new(ErrorCode::NotFound, "Extract job not found");
    let response = context.state.runs.extract_status(record.ok_or_else(not_found)?).await?;
    Ok(json(StatusCode::OK, &response))
}
