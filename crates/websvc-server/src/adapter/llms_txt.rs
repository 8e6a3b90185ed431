//! `POST /v1/llmstxt` and `GET /v1/llmstxt/{id}`: the llms.txt of a site.
//!
//! A crawl scrapes the pages, and its documents become the texts when a client reads them. So the job survives restarts,
//! costs credits and expires like every crawl, and nothing else has to be stored.

#[cfg(test)]
#[path = "../../../websvc-fuzz/properties/llms_txt.rs"]
mod property;
#[cfg(test)]
#[path = "../../../websvc-fuzz/properties/replay.rs"]
mod replay;
mod text;

use bytes::Bytes;
use http::{Request, StatusCode};
use websvc_jobs::{JobRequest, LlmsTxtOptions, timestamp};
use websvc_store::{JobKind, JobRecord, JobState, KeyScope};
use websvc_transport::ServerBody;
use websvc_types::counted;
use websvc_types::limits::{JOB_PAGE_BYTES, JOB_PAGE_DOCUMENTS};
use websvc_types::llms_txt::{
    LlmsTxtData, LlmsTxtRequest, LlmsTxtStarted, LlmsTxtStatus, LlmsTxtStatusResponse,
};
use websvc_validate::{Checked, read_request};

use self::text::LlmsTxtBuilder;
use crate::blocking::run_blocking;
use crate::handler::{self, JobStart};
use crate::response::{ApiError, HttpResponse, json};
use crate::route::{Endpoint, OperationGroup, RequestBody, handler};
use crate::service::RequestContext;

pub(crate) const ENDPOINTS: &[Endpoint] = &[
    llms_txt(Endpoint::post(
        "/v1/llmstxt",
        OperationGroup::Crawl,
        handler!(|context, request| start(context, request).await),
    ))
    .name("llmstxt")
    .body(RequestBody::OPTIONS),
    llms_txt(Endpoint::get(
        "/v1/llmstxt/{id}",
        OperationGroup::Crawl,
        handler!(|context, request| status(&context, &request).await),
    ))
    .name("llmstxt-status"),
];

const fn llms_txt(endpoint: Endpoint) -> Endpoint {
    endpoint.scope(KeyScope::Crawl).formats(&["markdown"])
}

/// `POST /v1/llmstxt`.
async fn start(context: RequestContext<'_>, request: Request<ServerBody>) -> Result<HttpResponse, ApiError> {
    let job = handler::receive_job(&context, request)?;
    let reading =
        context.state.admission.decode_body(job.body, |body| read_request::<LlmsTxtRequest>(body, ()));
    let Checked { plan, mut warnings } = reading.await?;
    let body = serde_json::to_vec(&plan.crawl)
        .map_err(|error| ApiError::internal(&error, "the crawl could not be serialized"))?;
    let options = LlmsTxtOptions { full_text: plan.full_text };
    let start = JobStart { body: Bytes::from(body), ..job };
    let started = handler::start_crawl(context, start, Some(options)).await?;
    warnings.extend(started.warning);
    let warning = (!warnings.is_empty()).then(|| warnings.join("; "));
    Ok(json(StatusCode::OK, &LlmsTxtStarted { success: true, id: started.id, warning }))
}

/// `GET /v1/llmstxt/{id}`.
async fn status(
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let id = handler::parse_job_id(context.capture(request, "id"))?;
    let record = handler::find_job(context, JobKind::Crawl, &id).await?;
    let stored: JobRequest = serde_json::from_str(&record.request)
        .map_err(|error| ApiError::internal(&error, "the job could not be read"))?;
    let Some(options) = stored.llms_txt else { return Err(handler::job_not_found()) };
    let (status, error) = match record.state {
        JobState::Running => (LlmsTxtStatus::Processing, None),
        JobState::Completed => (LlmsTxtStatus::Completed, None),
        JobState::Cancelled => (LlmsTxtStatus::Failed, Some("the job was cancelled".to_owned())),
        JobState::Failed => (LlmsTxtStatus::Failed, record.error.clone()),
    };
    let mut warnings = stored.warnings;
    let data = match status {
        LlmsTxtStatus::Completed => {
            let start_url = stored.crawl.map(|crawl| crawl.url).unwrap_or_default();
            texts(context, &record, &start_url, options, &mut warnings).await?
        }
        LlmsTxtStatus::Processing | LlmsTxtStatus::Failed => LlmsTxtData::default(),
    };
    let response = LlmsTxtStatusResponse {
        success: status != LlmsTxtStatus::Failed,
        status,
        data,
        error,
        warning: (!warnings.is_empty()).then(|| warnings.join("; ")),
        expires_at: timestamp(record.expires_at_ms),
    };
    // The full text may be megabytes.
    run_blocking(move || json(StatusCode::OK, &response)).await
}

/// Makes the texts from the documents of a job.
async fn texts(
    context: &RequestContext<'_>,
    record: &JobRecord,
    start_url: &str,
    options: LlmsTxtOptions,
    warnings: &mut Vec<String>,
) -> Result<LlmsTxtData, ApiError> {
    let mut builder = LlmsTxtBuilder::new(start_url, options.full_text);
    let mut skip = 0;
    loop {
        let page =
            context.state.jobs.documents(record.number, skip, JOB_PAGE_DOCUMENTS, JOB_PAGE_BYTES).await?;
        let documents = page.documents;
        // The documents may be megabytes of JSON.
        let adding = move || documents.iter().try_for_each(|json| builder.add(json)).map(|()| builder);
        builder = run_blocking(adding)
            .await?
            .map_err(|error| ApiError::internal(&error, "a document of the job could not be read"))?;
        match page.next {
            Some(next) => skip = next,
            None => break,
        }
    }
    let (data, left_out) = run_blocking(move || builder.finish()).await?;
    if left_out > 0 {
        let pages = counted(left_out, "page", "pages");
        warnings.push(format!("the full text is too long: it does not have the text of {pages}"));
    }
    Ok(data)
}

#[cfg(test)]
mod tests {
    use super::{property, replay};

    #[test]
    fn properties_of_the_texts_hold_for_the_corpus() {
        replay::replay("llms_txt", property::check);
    }
}
