//! `/v2/extract` and `/v1/extract`: extractions (operations.md, section 5.1). The original API has deprecated them.

mod deprecation;

use http::{Request, StatusCode};
use serde_json::{Map, Value};
use websvc_runs::{StartRun, StoredExtractRequest};
use websvc_stage::Stage;
use websvc_store::{ApiVersion, CreateRunOutcome, KeyScope, RunKind};
use websvc_transport::ServerBody;
use websvc_types::ErrorCode;
use websvc_types::extract::{DEPRECATION, ExtractRequest, ExtractStarted, REPLACEMENT};
use websvc_validate::{Checked, ExtractPlan, ExtractTarget, RetentionMode, read_with_request};

use super::agent::{FORMATS, new_webhook, too_many_runs};
use super::search::{body_policy, policy};
use super::{parse_uuid, webhook};
use crate::audit_trail::AuditedRequest;
use crate::charge;
use crate::response::{ApiError, HttpResponse, json};
use crate::route::OperationGroup::Agent;
use crate::route::{Endpoint, Handler, RequestBody, handler, normalize};
use crate::service::RequestContext;
pub(crate) use deprecation::mark_deprecated;

/// Both versions share all extractions.
pub(crate) const ENDPOINTS: &[Endpoint] = &[
    extract(
        Endpoint::post(PATH, Agent, handler!(|context, request| start(&context, request).await)),
        "extract",
    )
    .body(RequestBody::OPTIONS),
    extract(Endpoint::get("/v2/extract/{id}", Agent, STATUS), "extract-status"),
    extract(
        Endpoint::post(PATH_V1, Agent, handler!(|context, request| start(&context, request).await)),
        "extract",
    )
    .body(RequestBody::OPTIONS),
    extract(Endpoint::get("/v1/extract/{id}", Agent, STATUS), "extract-status"),
];

const PATH: &str = "/v2/extract";
const PATH_V1: &str = "/v1/extract";
const STATUS: Handler = handler!(|context, request| status(&context, &request).await);

const fn extract(endpoint: Endpoint, name: &'static str) -> Endpoint {
    endpoint.name(name).scope(KeyScope::Agent).formats(FORMATS)
}

/// Returns whether a path is that of extractions, or below it. Errors of the route have no endpoint.
pub(crate) fn is_of_extractions(path: &str) -> bool {
    let path = normalize(path);
    let mut rests = [PATH, PATH_V1].into_iter().filter_map(|prefix| path.strip_prefix(prefix));
    rests.any(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Starts an extraction. The version of the request is that of its scrape options.
async fn start(context: &RequestContext<'_>, request: Request<ServerBody>) -> Result<HttpResponse, ApiError> {
    let (body, version) = (super::read_body(request)?, context.api_version);
    let policy = policy(context)?;
    let body_policy = body_policy(&policy);
    let decoding = context.state.admission.decode_body(body, move |body| match version {
        ApiVersion::V1 => read_with_request::<ExtractRequest>(&translated(body)?, &body_policy),
        ApiVersion::V2 => read_with_request::<ExtractRequest>(body, &body_policy),
    });
    let Checked { plan: (request, plan), mut warnings } =
        context.state.engine.stages().run(Stage::Decode, decoding).await?;
    let urls: Vec<&str> = plan.targets.iter().map(|target| target.target().url.as_str()).collect();
    let username = plan.scrape.audit.as_ref().map(|audit| audit.username.as_str());
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
    let urls = plan.targets.iter().map(|target: &ExtractTarget| &target.target().url);
    if let Some(reason) = context.state.engine.list_verdicts(&plan.scrape, urls).into_iter().flatten().next()
    {
        return Err(ApiError::new(ErrorCode::UnsafeDomainBlocked, reason));
    }
    if let Some(webhook) = &plan.webhook {
        webhook::check_target(context, &webhook.url, webhook.url_pointer)?;
    }
    Ok(())
}

async fn status(
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let id = parse_uuid(context.capture(request, "id"), "Invalid extract job ID")?;
    context.trail.set_target(|| format!("extraction {id}"));
    let record = context.state.runs.find(context.team_name(), RunKind::Extract, &id).await?;
    let not_found = || ApiError::new(ErrorCode::NotFound, "Extract job not found");
    let response = context.state.runs.extract_status(record.ok_or_else(not_found)?).await?;
    Ok(json(StatusCode::OK, &response))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_extractions_include_those_below_and_unknown_ones() {
        for endpoint in ENDPOINTS {
            assert!(is_of_extractions(endpoint.path), "{}", endpoint.path);
        }
        for (path, expected) in [
            ("/v2/extract", true),
            ("//v1//extract/", true),
            ("/v2/extract/1/errors", true),
            ("/v2/extraction", false),
            ("/v3/extract", false),
            ("/v2/scrape/extract", false),
            ("/", false),
        ] {
            assert_eq!(is_of_extractions(path), expected, "{path}");
        }
    }
}
