//! `POST /v2/scrape`, `GET /v2/scrape/{id}`, and the tool of MCP that is the same.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode};
use uuid::Uuid;
use websvc_engine::{PageOutcome, StageTimings, page_content};
use websvc_stage::Stage;
use websvc_store::{CreditHold, UsageRetention};
use websvc_transport::{Body, ServerBody};
use websvc_types::{ErrorCode, PageContent, ScrapeResponse};
use websvc_validate::{Checked, PagePlan, read_scrape};

use super::body;
use super::search::{files, policy, team};
use crate::audit_trail::AuditedRequest;
use crate::authorize::authorise_formats;
use crate::charge::{self, Outcome};
use crate::response::{ApiError, HttpResponse, with_type};
use crate::service::RequestContext;

/// Answers a request for one page.
pub(crate) async fn scrape(
    context: RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let origin = context.origin.of(request.body().peer_addr().ip(), request.uri(), request.headers());
    let body = body::read(request).await?;
    let json = answer_scrape(context, origin, body).await.map_err(ApiError::of_page)?;
    Ok(with_type(StatusCode::OK, "application/json", Body::from(json)))
}

/// Answers with the result of an earlier request for one page.
pub(crate) fn scrape_result(context: &RequestContext<'_>, path: &str) -> Result<HttpResponse, ApiError> {
    let id = path.rsplit('/').find(|segment| !segment.is_empty()).unwrap_or_default();
    let id = Uuid::try_parse(id)
        .map_err(|_| ApiError::new(ErrorCode::BadRequest, "Invalid job ID: it is not a UUID"))?;
    match context.results.find(id, team(context)) {
        Some(json) => Ok(with_type(StatusCode::OK, "application/json", Body::from(json))),
        None => Err(ApiError::new(ErrorCode::NotFound, "Job not found.")),
    }
}

/// Answers the body of a request for one page, wherever it came from, with JSON.
pub(crate) async fn answer_scrape(
    context: RequestContext<'_>,
    origin: Option<String>,
    body: Bytes,
) -> Result<Bytes, ApiError> {
    let rules = policy(context.store, context.caller.as_ref())?;
    let decoding = context.admission.decode_body(body, move |body| read_scrape(body, &rules));
    let checked = context.engine.stages().run(Stage::Decode, decoding).await?;
    let (work, page) = scrape_page(&context, origin, checked).await?;
    work.into_answer(&context, page).await?.into_stored_json(&context)
}

/// Gets the page of a plan, for which credits are held.
///
/// # Errors
/// 402 and 403: what is refused before anything is done.
async fn scrape_page(
    context: &RequestContext<'_>,
    origin: Option<String>,
    Checked { plan, warnings }: Checked<PagePlan>,
) -> Result<(ScrapeWork, PageOutcome), ApiError> {
    let (target, scrape) = (plan.target(), plan.scrape());
    let retention = context.retention(plan.retention(), scrape.lockdown());
    let username = scrape.audit().map(|audit| audit.username.as_str());
    context
        .trail
        .set_request(retention, &AuditedRequest { username, query: None, urls: &[target.url().as_str()] });
    authorise_formats(context.caller.as_ref(), scrape.formats())?;
    let files = files(context, plan.retention(), origin);
    let hold = charge::hold(context, context.engine.max_page_credits(scrape)).await?;
    let deadline = context.started + scrape.timeout().max(Duration::from_secs(1));
    let mut outcome = context.engine.scrape(target.url(), scrape, team(context), &files, deadline).await;
    if let Ok(page) = &mut outcome.page {
        page.metadata.source_url = Some(target.text().to_owned());
    }
    let query = (retention == UsageRetention::Whole).then(|| target.url().to_string());
    Ok((ScrapeWork { operation: "scrape", hold, retention, query, warnings }, outcome))
}

/// What was done for a page, before it is charged for.
#[derive(Debug)]
pub(super) struct ScrapeWork {
    pub(super) operation: &'static str,
    pub(super) hold: CreditHold,
    pub(super) retention: UsageRetention,
    /// What the usage log may know of it.
    pub(super) query: Option<String>,
    pub(super) warnings: Vec<String>,
}

/// An answer that is charged for.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) response: ScrapeResponse,
    retention: UsageRetention,
}

impl ScrapeWork {
    /// Charges for what was done, and makes the answer.
    ///
    /// # Errors
    /// Why there is no page.
    pub(super) async fn into_answer(
        self,
        context: &RequestContext<'_>,
        PageOutcome { page, bill }: PageOutcome,
    ) -> Result<Answer, ApiError> {
        let Self { operation, hold, retention, query, mut warnings } = self;
        let page = page.map_err(ApiError::from);
        let status = page.as_ref().map_or_else(ApiError::status, |_| StatusCode::OK.as_u16());
        let done = Outcome { operation, status, bill, stages: StageTimings::default(), query, retention };
        charge::settle(context, hold, done).await?;
        let mut page = page?;
        warnings.append(&mut page.warnings);
        let warning = (!warnings.is_empty()).then(|| warnings.join("; "));
        // Official clients show that of the document alone.
        let data = PageContent { warning: warning.clone(), ..page_content(page) };
        let response = ScrapeResponse { success: true, data, warning };
        Ok(Answer { response, retention })
    }
}

impl Answer {
    /// Writes the answer.
    ///
    /// # Errors
    /// 500; our own types always serialise.
    pub(super) fn json(&self, context: &RequestContext<'_>) -> Result<Bytes, ApiError> {
        let written = context.engine.stages().time(Stage::Encode, || serde_json::to_vec(&self.response));
        written
            .map(Bytes::from)
            .map_err(|error| ApiError::internal(&error, "the answer could not be written"))
    }

    /// Writes the answer, and keeps it for a while if it may be kept.
    ///
    /// # Errors
    /// As [`Answer::json`].
    pub(super) fn into_stored_json(self, context: &RequestContext<'_>) -> Result<Bytes, ApiError> {
        let json = self.json(context)?;
        let id = self.response.data.metadata.and_then(|metadata| metadata.scrape_id);
        if self.retention == UsageRetention::Whole
            && let Some(id) = id.and_then(|id| Uuid::try_parse(&id).ok())
        {
            context.results.keep(id, team(context), &json);
        }
        Ok(json)
    }
}
