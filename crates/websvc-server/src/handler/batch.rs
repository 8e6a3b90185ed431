//! `POST /v2/batch/scrape`.

use http::StatusCode;
use url::Url;
use websvc_jobs::JobRequest;
use websvc_stage::Stage;
use websvc_store::{JobKind, JobState, JobUrl, NewJob};
use websvc_types::ErrorCode;
use websvc_types::job::JobStarted;
use websvc_validate::{BatchPlan, Checked, Retention, read_batch};

use super::job::{self, JobStart};
use super::search::{policy, team};
use super::webhook;
use crate::reply::{Failure, Reply, json};
use crate::service::Context;

/// Begins a batch, or adds to one.
pub(super) async fn start(context: Context<'_>, start: JobStart) -> Result<Reply, Failure> {
    let JobStart { version, base_url, idempotency, body } = start;
    let policy = policy(context.store, context.caller.as_ref())?;
    let retention = Retention::demanded(&policy);
    let decoding = context.admission.decode(body, move |body| read_batch(body, &policy));
    let Checked { plan, warnings } = context.engine.stages().run(Stage::Decode, decoding).await?;
    let addresses: Vec<&str> = plan.urls().iter().map(Url::as_str).collect();
    job::note(&context, retention, plan.scrape(), &addresses);
    job::admit(&context, plan.scrape()).await?;
    let webhook = webhook::planned(&context, plan.webhook())?;
    let urls = plan.urls().iter().map(|url| JobUrl { url: url.to_string(), key: url.to_string(), depth: 0 });
    let urls: Vec<JobUrl> = urls.collect();
    let id = match plan.append_to() {
        Some(id) => append(&context, id, urls).await?,
        None => {
            let request = JobRequest {
                options: plan.options().clone(),
                base_url: base_url.clone(),
                max_concurrency: plan.max_concurrency(),
                warnings: warnings.clone(),
                crawl: None,
            };
            let new = NewJob {
                id: context.id.clone(),
                team: team(&context).to_owned(),
                key: context.caller.as_ref().map(|caller| caller.key_id.clone()),
                kind: JobKind::Batch,
                request: job::written(&request)?,
                idempotency,
                page_limit: None,
                urls,
                webhook,
            };
            job::create(&context, new).await?
        }
    };
    let url = job::url(base_url.as_deref(), version, JobKind::Batch, &id);
    Ok(json(StatusCode::OK, &started(&plan, url, id, &warnings)))
}

fn started(plan: &BatchPlan, url: String, id: String, warnings: &[String]) -> JobStarted {
    JobStarted {
        success: true,
        url,
        id,
        invalid_urls: plan.invalid_urls().map(<[String]>::to_vec),
        prompt_generated_options: None,
        final_crawler_options: None,
        warning: (!warnings.is_empty()).then(|| warnings.join("; ")),
    }
}

async fn append(context: &Context<'_>, id: &str, urls: Vec<JobUrl>) -> Result<String, Failure> {
    let id = job::parse_id(id)?;
    let record = job::find(context, JobKind::Batch, &id).await?;
    let added = match record.state {
        JobState::Running => context.jobs.extend(team(context), &id, urls).await?,
        JobState::Completed | JobState::Cancelled | JobState::Failed => None,
    };
    match added {
        Some(_) => Ok(id),
        None => Err(Failure::new(ErrorCode::JobEnded, "Batch scrape has ended, nothing can be added to it")),
    }
}
