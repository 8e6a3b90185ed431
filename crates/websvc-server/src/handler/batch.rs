//! `POST /v2/batch/scrape`.

use http::StatusCode;
use websvc_jobs::{JobRequest, batch_url};
use websvc_stage::Stage;
use websvc_store::{JobKind, JobState, JobUrl, NewJob};
use websvc_types::ErrorCode;
use websvc_types::job::{BatchScrapeRequest, StartJobResponse};
use websvc_validate::{BatchPlan, Checked, RetentionMode, read_request};

use super::job::{self, JobStart};
use super::search::{body_policy, policy};
use super::webhook;
use crate::response::{ApiError, HttpResponse, json};
use crate::service::RequestContext;

/// Starts a batch, or adds URLs to one.
pub(super) async fn start(context: RequestContext<'_>, start: JobStart) -> Result<HttpResponse, ApiError> {
    let JobStart { base_url, idempotency_key, body } = start;
    let policy = body_policy(&policy(&context)?);
    let retention = RetentionMode::requested_retention(&policy);
    let decoding = context
        .state
        .admission
        .decode_body(body, move |body| read_request::<BatchScrapeRequest>(body, &policy));
    let Checked { plan, warnings } = context.state.engine.stages().run(Stage::Decode, decoding).await?;
    let requested_urls: Vec<&str> = plan.pages.iter().map(|page| page.url_as_sent.as_str()).collect();
    job::record_request(&context, retention, &plan.scrape, &requested_urls);
    job::check_plan(&context, &plan.scrape).await?;
    let webhook = webhook::new_webhook(&context, plan.webhook.as_ref())?;
    let (urls, blocked) = filter_blocked(&context, &plan)?;
    let id = match plan.append_to.as_deref() {
        Some(id) => append(&context, id, urls, plan.url_count).await?,
        None => {
            let request = JobRequest {
                options: plan.options.clone(),
                base_url: base_url.clone(),
                max_concurrency: plan.max_concurrency,
                warnings: warnings.clone(),
                crawl: None,
                llms_txt: None,
            };
            let new = NewJob {
                id: context.id.clone(),
                team: context.team_name().to_owned(),
                key: context.caller.as_ref().map(|caller| caller.key_id.clone()),
                kind: JobKind::Batch,
                api_version: context.api_version,
                request: job::serialize(&request)?,
                idempotency_key,
                page_limit: None,
                urls,
                list_len: plan.url_count,
                webhook,
            };
            job::create(&context, new).await?
        }
    };
    let url = job::url(base_url.as_deref(), context.api_version, JobKind::Batch, &id);
    let invalid_urls = plan.invalid_urls.as_deref().map(|invalid| [invalid, &blocked].concat());
    let response = StartJobResponse {
        success: true,
        url,
        id,
        invalid_urls,
        prompt_generated_options: None,
        final_crawler_options: None,
        warning: (!warnings.is_empty()).then(|| warnings.join("; ")),
    };
    Ok(json(StatusCode::OK, &response))
}

/// Returns the URLs of a batch that the lists of threat protection allow, and those that they block.
///
/// # Errors
/// 403 if all URLs are blocked, or if one is and the request does not ignore invalid URLs.
fn filter_blocked(
    context: &RequestContext<'_>,
    plan: &BatchPlan,
) -> Result<(Vec<JobUrl>, Vec<String>), ApiError> {
    let page_urls = plan.pages.iter().map(|page| &page.url);
    let verdicts = context.state.engine.list_verdicts(&plan.scrape, page_urls);
    let (mut urls, mut blocked, mut first_reason) = (Vec::new(), Vec::new(), None);
    for (page, verdict) in plan.pages.iter().zip(verdicts) {
        match verdict {
            None => urls.push(batch_url(page)),
            Some(reason) => {
                blocked.push(page.url_as_sent.clone());
                first_reason.get_or_insert(reason);
            }
        }
    }
    match first_reason {
        Some(reason) if urls.is_empty() || plan.invalid_urls.is_none() => {
            Err(ApiError::new(ErrorCode::UnsafeDomainBlocked, reason))
        }
        Some(_) | None => Ok((urls, blocked)),
    }
}

async fn append(
    context: &RequestContext<'_>,
    id: &str,
    urls: Vec<JobUrl>,
    listed: u64,
) -> Result<String, ApiError> {
    let id = job::parse_id(id)?;
    let record = job::find(context, JobKind::Batch, &id).await?;
    let added = match record.state {
        JobState::Running => context.state.jobs.extend(context.team_name(), &id, urls, listed).await?,
        JobState::Completed | JobState::Cancelled | JobState::Failed => None,
    };
    match added {
        Some(_) => Ok(id),
        None => Err(ApiError::new(ErrorCode::JobEnded, "Batch scrape has ended, no URLs can be added to it")),
    }
}
