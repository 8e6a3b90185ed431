//! `POST /v2/scrape` and `GET /v2/scrape/{id}`.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode};
use uuid::Uuid;
use websvc_engine::{PageOutcome, StageTimings, page_content};
use websvc_stage::Stage;
use websvc_store::{CreditHold, KeyScope, UsageRetention};
use websvc_transport::{Body, ServerBody};
use websvc_types::{ErrorCode, PageContent, ScrapeRequest, ScrapeResponse};
use websvc_validate::{Checked, PagePlan, read_request};

use super::body;
use super::search::{body_policy, file_publisher, policy};
use crate::audit_trail::AuditedRequest;
use crate::authorize::authorize_page;
use crate::blocking::run_blocking;
use crate::charge::{self, Outcome};
use crate::readable::ReadableFormats;
use crate::response::{ApiError, HttpResponse, with_type};
use crate::route::{Endpoint, OperationGroup, RequestBody, handler};
use crate::service::RequestContext;

pub(crate) const ENDPOINTS: &[Endpoint] = &[
    Endpoint::post(
        "/v2/scrape",
        OperationGroup::Scrape,
        handler!(|context, request| scrape(context, request).await),
    )
    .name("scrape")
    .scope(KeyScope::Scrape)
    .body(RequestBody::OPTIONS),
    Endpoint::get(
        "/v2/scrape/{id}",
        OperationGroup::Scrape,
        handler!(|context, request| scrape_result(&context, &request).await),
    )
    .name("scrape-result")
    .scope(KeyScope::Scrape),
];

/// Handles a scrape of one page.
async fn scrape(context: RequestContext<'_>, request: Request<ServerBody>) -> Result<HttpResponse, ApiError> {
    let base_url = context.state.base_url(&request);
    let body = body::read(request)?;
    let json = respond_to_scrape(context, base_url, body).await.map_err(ApiError::with_page_status)?;
    Ok(with_type(StatusCode::OK, "application/json", Body::from(json)))
}

/// Responds with the result of an earlier scrape.
pub(crate) async fn scrape_result(
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let id = Uuid::try_parse(context.capture(request, "id"))
        .map_err(|_| ApiError::new(ErrorCode::BadRequest, "Invalid job ID: it is not a UUID"))?;
    let found = context.state.scrape_results.find(id, context.team_name()).await?;
    let stored = found.ok_or_else(|| ApiError::new(ErrorCode::NotFound, "Job not found."))?;
    let formats = ReadableFormats::from_caller(context.caller.as_ref());
    let json = match formats.is_all() {
        true => stored,
        // The response may be megabytes of JSON.
        false => run_blocking(move || formats.scrape_response(&stored))
            .await?
            .map_err(|error| ApiError::internal(&error, "the stored response could not be read"))?,
    };
    Ok(with_type(StatusCode::OK, "application/json", Body::from(json)))
}

/// Runs the scrape in a request body of any interface, and returns the response as JSON.
pub(crate) async fn respond_to_scrape(
    context: RequestContext<'_>,
    base_url: Option<String>,
    body: Bytes,
) -> Result<Bytes, ApiError> {
    let policy = body_policy(&policy(&context)?);
    let request_bytes = body.len();
    let decoding =
        context.state.admission.decode_body(body, move |body| read_request::<ScrapeRequest>(body, &policy));
    let checked = context.state.engine.stages().run(Stage::Decode, decoding).await?;
    let plan = checked.plan.clone();
    let (work, page) = scrape_page(&context, base_url, checked).await?;
    let response = work.charge(&context, page).await?;
    if let Some(id) = response.scrape_id() {
        let plan = response.may_be_stored().then_some(plan);
        context.state.replays.store(id, context.team_name(), plan, request_bytes);
    }
    response.into_stored_json(&context)
}

/// Holds credits and scrapes the page of a plan.
///
/// # Errors
/// 402 and 403, before the page is fetched.
async fn scrape_page(
    context: &RequestContext<'_>,
    base_url: Option<String>,
    Checked { plan, warnings }: Checked<PagePlan>,
) -> Result<(ScrapeWork, PageOutcome), ApiError> {
    let engine = &context.state.engine;
    let (target, scrape) = (&plan.target, &plan.scrape);
    let retention = context.retention(plan.scrape.retention, scrape.lockdown);
    let username = scrape.audit.as_ref().map(|audit| audit.username.as_str());
    let audited = AuditedRequest { username, query: None, urls: &[target.url.as_str()] };
    context.trail.set_request(retention, &audited);
    authorize_page(context.caller.as_ref(), scrape)?;
    let files = file_publisher(context, plan.scrape.retention, base_url);
    let hold = charge::hold(context, engine.max_page_credits(scrape)).await?;
    let deadline = context.started + scrape.timeout.max(Duration::from_secs(1));
    let mut outcome = engine.scrape(&target.url, scrape, context.team_name(), &files, deadline).await;
    if let Ok(page) = &mut outcome.page {
        page.metadata.source_url = Some(target.text.clone());
    }
    let query = (retention == UsageRetention::Whole).then(|| target.url.to_string());
    Ok((ScrapeWork { operation: "scrape", hold, retention, query, warnings }, outcome))
}

/// The work for a page that is not yet charged.
#[derive(Debug)]
pub(super) struct ScrapeWork {
    pub(super) operation: &'static str,
    pub(super) hold: CreditHold,
    pub(super) retention: UsageRetention,
    /// The page in the usage log; `None` if it may not be stored.
    pub(super) query: Option<String>,
    pub(super) warnings: Vec<String>,
}

/// A response whose work is charged.
#[derive(Debug)]
pub(super) struct ChargedResponse {
    response: ScrapeResponse,
    retention: UsageRetention,
}

impl ScrapeWork {
    /// Charges for the work, and returns the response.
    ///
    /// # Errors
    /// The error of the page, which is charged, too.
    pub(super) async fn charge(
        self,
        context: &RequestContext<'_>,
        PageOutcome { page, bill, indexing_failure: _warned }: PageOutcome,
    ) -> Result<ChargedResponse, ApiError> {
        let Self { operation, hold, retention, query, mut warnings } = self;
        let page = page.map_err(ApiError::from);
        let status = page.as_ref().map_or_else(ApiError::status, |_| StatusCode::OK.as_u16());
        let stages = StageTimings::default();
        let result = page.as_ref().ok().and_then(|page| page.metadata.scrape_id.clone());
        let outcome = Outcome { operation, status, bill, stages, query, result, retention };
        charge::settle(context, hold, outcome).await?;
        let mut page = page?;
        warnings.append(&mut page.warnings);
        let warning = (!warnings.is_empty()).then(|| warnings.join("; "));
        // Official clients show only the warning of the document.
        let data = PageContent { warning: warning.clone(), ..page_content(page) };
        let response = ScrapeResponse { success: true, data, warning };
        Ok(ChargedResponse { response, retention })
    }
}

impl ChargedResponse {
    /// Returns whether the content of the request and of the response may be stored.
    fn may_be_stored(&self) -> bool {
        self.retention == UsageRetention::Whole
    }

    /// Returns the ID of the scrape.
    fn scrape_id(&self) -> Option<Uuid> {
        Uuid::try_parse(self.response.data.metadata.as_ref()?.scrape_id.as_deref()?).ok()
    }

    /// Serializes the response.
    ///
    /// # Errors
    /// 500; the types of this service always serialize.
    pub(super) fn to_json(&self, context: &RequestContext<'_>) -> Result<Bytes, ApiError> {
        let stages = context.state.engine.stages();
        let json = stages.time(Stage::Encode, || serde_json::to_vec(&self.response));
        json.map(Bytes::from)
            .map_err(|error| ApiError::internal(&error, "the response could not be serialized"))
    }

    /// Serializes the response, and stores it for a while if its retention allows.
    ///
    /// # Errors
    /// As [`ChargedResponse::to_json`].
    pub(super) fn into_stored_json(self, context: &RequestContext<'_>) -> Result<Bytes, ApiError> {
        let json = self.to_json(context)?;
        if self.may_be_stored()
            && let Some(id) = self.scrape_id()
        {
            context.state.scrape_results.store(id, context.team_name(), &json);
        }
        Ok(json)
    }
}
