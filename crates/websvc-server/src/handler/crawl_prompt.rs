//! The prompt of a crawl, and `POST /v2/crawl/params-preview`: a language model turns the prompt into options. Options of
//! the request have precedence.

use std::time::{Duration, Instant};

use http::{Request, StatusCode};
use url::Url;
use websvc_engine::PromptOptions;
use websvc_stage::Stage;
use websvc_store::KeyScope;
use websvc_transport::ServerBody;
use websvc_types::job::{
    CrawlParams, CrawlParamsData, CrawlParamsRequest, CrawlParamsResponse, CrawlRequest,
};
use websvc_types::{ErrorCode, Violation, ViolationCode};
use websvc_validate::{
    Checked, CrawlPlan, Policy, RetentionMode, check_request, read_request, with_crawl_params,
};

use super::search::policy;
use crate::audit_trail::AuditedRequest;
use crate::response::{ApiError, HttpResponse, json};
use crate::route::{Endpoint, OperationGroup, RequestBody, handler};
use crate::service::RequestContext;

pub(crate) const ENDPOINTS: &[Endpoint] = &[Endpoint::post(
    "/v2/crawl/params-preview",
    OperationGroup::Crawl,
    handler!(|context, request| preview(context, request).await),
)
.name("crawl-params")
.scope(KeyScope::Crawl)
.body(RequestBody::OPTIONS)];

/// The timeout for a prompt. The timeout of the model may be shorter.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A crawl whose prompt was turned into options.
pub(super) struct ResolvedCrawl {
    pub(super) request: CrawlRequest,
    pub(super) plan: CrawlPlan,
    /// The options from the prompt; `None` without a prompt.
    pub(super) generated: Option<CrawlParams>,
}

/// Turns the prompt of a checked crawl into options, if it has one, and checks the crawl again with these options.
///
/// # Errors
/// 400 if the prompt yields no options, or if they break a rule together with those of the request.
pub(super) async fn resolve(
    context: &RequestContext<'_>,
    request: CrawlRequest,
    plan: CrawlPlan,
    policy: &Policy,
    warnings: &mut Vec<String>,
) -> Result<ResolvedCrawl, ApiError> {
    let prompt = request.prompt.as_deref().map(str::trim).filter(|prompt| !prompt.is_empty());
    let Some(prompt) = prompt else { return Ok(ResolvedCrawl { request, plan, generated: None }) };
    let PromptOptions { params, warnings: prompt_warnings } = params(context, &plan.url, prompt).await?;
    warnings.extend(prompt_warnings);
    let request = with_crawl_params(request, &params);
    // The first check has returned the warnings already.
    let Checked { plan, warnings: _ } = check_request(&request, policy)?;
    Ok(ResolvedCrawl { request, plan, generated: Some(params) })
}

/// Responds with the options from a prompt.
async fn preview(
    context: RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let body = super::read_body(request)?;
    let policy = policy(&context)?;
    let decoding =
        context.state.admission.decode_body(body, |body| read_request::<CrawlParamsRequest>(body, ()));
    let Checked { plan: (request, url), mut warnings } =
        context.state.engine.stages().run(Stage::Decode, decoding).await?;
    let retention = context.retention(RetentionMode::requested_retention(&policy), false);
    let audited = AuditedRequest { username: None, query: None, urls: &[url.as_str()] };
    context.trail.set_request(retention, &audited);
    let PromptOptions { params, warnings: prompt_warnings } =
        params(&context, &url, request.prompt.trim()).await?;
    warnings.extend(prompt_warnings);
    let response = CrawlParamsResponse {
        success: true,
        data: CrawlParamsData { url: request.url, params },
        warning: (!warnings.is_empty()).then(|| warnings.join("; ")),
    };
    Ok(json(StatusCode::OK, &response))
}

async fn params(context: &RequestContext<'_>, url: &Url, prompt: &str) -> Result<PromptOptions, ApiError> {
    let deadline = Instant::now() + TIMEOUT;
    context.state.engine.crawl_params(url, prompt, deadline).await.map_err(|error| {
        let (path, code, message) = ("/prompt".to_owned(), ViolationCode::NotSupported, error.to_string());
        ApiError::invalid(ErrorCode::BadRequest, vec![Violation { path, code, message }])
    })
}
