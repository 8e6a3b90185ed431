//! `POST /v2/crawl` and `GET /v2/crawl/active`.

use http::StatusCode;
use websvc_jobs::{JobRequest, LlmsTxtOptions, crawl_start_url, timestamp};
use websvc_stage::Stage;
use websvc_store::{JobKind, JobRecord, NewJob};
use websvc_types::ErrorCode;
use websvc_types::job::{ActiveCrawl, ActiveCrawls, CrawlRequest, StartJobResponse};
use websvc_validate::{Checked, RetentionMode, crawl_params_of, read_with_request};

use super::job::{self, JobStart};
use super::search::{body_policy, policy_with_patterns};
use super::{crawl_prompt, webhook};
use crate::response::{ApiError, HttpResponse, json};
use crate::service::RequestContext;

/// Handles a request that starts a crawl.
pub(super) async fn start(context: RequestContext<'_>, start: JobStart) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &start_crawl(context, start, None).await?))
}

/// Starts a crawl, whose documents may become an llms.txt.
pub(crate) async fn start_crawl(
    context: RequestContext<'_>,
    start: JobStart,
    llms_txt: Option<LlmsTxtOptions>,
) -> Result<StartJobResponse, ApiError> {
    let JobStart { base_url, idempotency_key, body } = start;
    let engine = &context.state.engine;
    let policy = policy_with_patterns(&context)?;
    let retention = RetentionMode::requested_retention(&policy);
    let body_policy = body_policy(&policy);
    let decoding = context
        .state
        .admission
        .decode_with_patterns(body, move |body| read_with_request::<CrawlRequest>(body, &body_policy));
    let Checked { plan: (request, plan), mut warnings } =
        engine.stages().run(Stage::Decode, decoding).await?;
    job::record_request(&context, retention, &plan.scrape, &[plan.url.as_str()]);
    job::check_plan(&context, &plan.scrape).await?;
    if let Some(reason) = engine.list_verdicts(&plan.scrape, [&plan.url]).pop().flatten() {
        return Err(ApiError::new(ErrorCode::UnsafeDomainBlocked, reason));
    }
    let webhook = webhook::new_webhook(&context, plan.webhook.as_ref())?;
    let crawl_prompt::ResolvedCrawl { request, plan, generated } =
        crawl_prompt::resolve(&context, request, plan, &policy, &mut warnings).await?;
    let merged = generated.is_some().then(|| crawl_params_of(&request));
    let page_limit = Some(plan.limit);
    let stored = JobRequest {
        base_url: base_url.clone(),
        warnings: warnings.clone(),
        llms_txt,
        ..JobRequest::of_crawl(request, &plan)
    };
    let new = NewJob {
        id: context.id.clone(),
        team: context.team_name().to_owned(),
        key: context.caller.as_ref().map(|caller| caller.key_id.clone()),
        kind: JobKind::Crawl,
        api_version: context.api_version,
        request: job::serialize(&stored)?,
        idempotency_key,
        page_limit,
        urls: vec![crawl_start_url(plan)],
        list_len: 0,
        webhook,
    };
    let id = job::create(&context, new).await?;
    Ok(StartJobResponse {
        success: true,
        url: job::url(base_url.as_deref(), context.api_version, JobKind::Crawl, &id),
        id,
        invalid_urls: None,
        prompt_generated_options: generated,
        final_crawler_options: merged,
        warning: (!warnings.is_empty()).then(|| warnings.join("; ")),
    })
}

/// Lists the running crawls of the caller's team.
pub(super) async fn active(context: &RequestContext<'_>) -> Result<HttpResponse, ApiError> {
    let running = context.state.jobs.running(context.team_name(), JobKind::Crawl).await?;
    let crawls = running.into_iter().filter_map(active_crawl).collect();
    Ok(json(StatusCode::OK, &ActiveCrawls { success: true, crawls }))
}

fn active_crawl(record: JobRecord) -> Option<ActiveCrawl> {
    let request: JobRequest = serde_json::from_str(&record.request).ok()?;
    let options = *request.crawl?;
    Some(ActiveCrawl {
        id: record.id,
        team_id: record.team,
        url: options.url.clone(),
        created_at: timestamp(record.created_at_ms),
        options,
    })
}
