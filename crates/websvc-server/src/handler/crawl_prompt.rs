//! The prompt of a crawl, and `POST /v2/crawl/params-preview`: words become options, beneath those of the request.

use std::time::{Duration, Instant};

use http::{Request, StatusCode};
use url::Url;
use websvc_engine::PromptOptions;
use websvc_stage::Stage;
use websvc_transport::ServerBody;
use websvc_types::job::{CrawlParams, CrawlParamsData, CrawlParamsResponse, CrawlRequest};
use websvc_types::{ErrorCode, Violation, ViolationCode};
use websvc_validate::{
    Checked, CrawlPlan, Policy, RetentionMode, check_crawl, read_crawl_params_request, with_crawl_params,
};

use super::search::policy;
use crate::audit_trail::AuditedRequest;
use crate::response::{ApiError, HttpResponse, json};
use crate::service::RequestContext;

/// The time for a prompt; the model may have less.
const TIME: Duration = Duration::from_secs(60);

/// A crawl whose prompt was read.
pub(super) struct ResolvedCrawl {
    pub(super) request: CrawlRequest,
    pub(super) plan: CrawlPlan,
    /// What the prompt became; `None` without one.
    pub(super) generated: Option<CrawlParams>,
}

/// Reads the prompt of a checked crawl, if it has one, and checks the crawl again with what it became.
///
/// # Errors
/// 400 when nothing can be read from it, or the rules are broken by both together.
pub(super) async fn read(
    context: &RequestContext<'_>,
    request: CrawlRequest,
    plan: CrawlPlan,
    policy: &Policy,
    warnings: &mut Vec<String>,
) -> Result<ResolvedCrawl, ApiError> {
    let prompt = request.prompt.as_deref().map(str::trim).filter(|prompt| !prompt.is_empty());
    let Some(prompt) = prompt else { return Ok(ResolvedCrawl { request, plan, generated: None }) };
    let PromptOptions { params, warnings: said } = params(context, plan.url(), prompt).await?;
    warnings.extend(said);
    let request = with_crawl_params(request, &params);
    // What else it would warn of was told with the request as it came.
    let Checked { plan, warnings: _ } = check_crawl(request.clone(), policy)?;
    Ok(ResolvedCrawl { request, plan, generated: Some(params) })
}

/// Answers with the options that a prompt becomes.
pub(super) async fn preview(
    context: RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let body = super::read_body(request).await?;
    let policy = policy(context.store, context.caller.as_ref())?;
    let decoding = context.admission.decode_body(body, read_crawl_params_request);
    let Checked { plan: (asked, url), mut warnings } =
        context.engine.stages().run(Stage::Decode, decoding).await?;
    let kept = context.retention(RetentionMode::requested_retention(&policy), false);
    context.trail.set_request(kept, &AuditedRequest { username: None, query: None, urls: &[url.as_str()] });
    let PromptOptions { params, warnings: said } = params(&context, &url, asked.prompt.trim()).await?;
    warnings.extend(said);
    let answer = CrawlParamsResponse {
        success: true,
        data: CrawlParamsData { url: asked.url, params },
        warning: (!warnings.is_empty()).then(|| warnings.join("; ")),
    };
    Ok(json(StatusCode::OK, &answer))
}

async fn params(context: &RequestContext<'_>, url: &Url, prompt: &str) -> Result<PromptOptions, ApiError> {
    let deadline = Instant::now() + TIME;
    context.engine.crawl_params(url, prompt, deadline).await.map_err(|unread| {
        let (path, code, message) = ("/prompt".to_owned(), ViolationCode::NotSupported, unread.to_string());
        ApiError::invalid(ErrorCode::BadRequest, vec![Violation { path, code, message }])
    })
}
