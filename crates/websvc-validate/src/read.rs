//! Conversion of the bytes of a body to a plan.

mod file;
mod team;

use std::sync::LazyLock;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use url::Url;
use websvc_types::agent::AgentRequest;
use websvc_types::extract::ExtractRequest;
use websvc_types::feedback::{FeedbackRequest, SearchFeedbackRequest};
use websvc_types::index::{CrawlProgressRequest, IndexUploadRequest};
use websvc_types::interact::{CreateBrowserRequest, ExecuteRequest, InteractRequest};
use websvc_types::job::{BatchScrapeRequest, CrawlParams, CrawlParamsRequest, CrawlRequest};
use websvc_types::limits::{
    BODY_BYTES_PER_VALUE, EMAIL_TOKEN_MAX_CHARS, EMAIL_TOKEN_MIN_CHARS, INDEX_BYTES_PER_VALUE,
    INDEX_DOCUMENTS_MAX, QUERY_RERANK_MAX_CHARS, RERANK_DOCUMENTS_MAX, RERANK_DOCUMENTS_MIN,
};
use websvc_types::llms_txt::LlmsTxtRequest;
use websvc_types::map::{MapRequest, MapRequestV1};
use websvc_types::monitor::{
    CreateMonitorRequest, MonitorEmailRequest, RunMonitorRequest, UpdateMonitorRequest,
};
use websvc_types::rerank::RerankRequest;
use websvc_types::team::{SiemRequest, SiemTestRequest, TeamThreatRequest};
use websvc_types::{
    ParseOptions, ParseUploadRequest, ScrapeOptions, ScrapeRequest, SearchRequest, UploadUrlRequest,
    Violation, ViolationCode, schema,
};

use crate::agent::{self, AgentPlan};
use crate::batch::{self, BatchPlan};
use crate::checked::Checked;
use crate::crawl::{self, CrawlPlan};
use crate::error::Rejection;
use crate::extract::{self, ExtractPlan};
use crate::interact::{BrowserPlan, CodePlan, InteractPlan};
use crate::llms_txt::{self, LlmsTxtPlan};
use crate::map_plan::MapPlan;
use crate::monitor::{self, MonitorContext, MonitorDefinition, MonitorUpdate};
use crate::page::{self, PagePlan};
use crate::path::Path;
use crate::policy::Policy;
use crate::report::Report;
use crate::scrape_plan::ScrapePlan;
use crate::search_plan::SearchPlan;
use crate::shape::{BodyValue, Shape};
use crate::value_count::{check_value_count, check_values};
use crate::{bounds, crawl_params, feedback, interact, map, scrape, search, upload};

pub use file::{read_parse_options, read_parse_upload, read_upload_url};
pub use team::{read_siem, read_siem_test, read_team_threat};

/// Declares the shapes of request types, compiled at the first request of each type.
macro_rules! request_shapes {
    ($($name:ident: $request:ty;)*) => {
        $(static $name: LazyLock<Shape> =
            LazyLock::new(|| Shape::compile(schema::request::<$request>().as_value()));)*

        /// Returns the schemas of all shapes, with the names of their types.
        #[cfg(test)]
        pub(crate) fn request_schemas() -> Vec<(&'static str, Value)> {
            vec![$((stringify!($request), schema::request::<$request>().to_value())),*]
        }
    };
}

request_shapes! {
    SEARCH: SearchRequest;
    SCRAPE: ScrapeOptions;
    BATCH: BatchScrapeRequest;
    CRAWL: CrawlRequest;
    CRAWL_PARAMS_REQUEST: CrawlParamsRequest;
    CRAWL_PARAMS: CrawlParams;
    PAGE: ScrapeRequest;
    FILE: ParseOptions;
    UPLOADED_FILE: ParseUploadRequest;
    UPLOAD_URL: UploadUrlRequest;
    RERANK: RerankRequest;
    UPLOAD: IndexUploadRequest;
    PROGRESS: CrawlProgressRequest;
    MAP: MapRequest;
    MAP_V1: MapRequestV1;
    CREATE_MONITOR: CreateMonitorRequest;
    UPDATE_MONITOR: UpdateMonitorRequest;
    RUN_MONITOR: RunMonitorRequest;
    MONITOR_EMAIL: MonitorEmailRequest;
    CREATE_BROWSER: CreateBrowserRequest;
    EXECUTE: ExecuteRequest;
    INTERACT: InteractRequest;
    SEARCH_FEEDBACK: SearchFeedbackRequest;
    FEEDBACK: FeedbackRequest;
    LLMS_TXT: LlmsTxtRequest;
    AGENT: AgentRequest;
    EXTRACT: ExtractRequest;
    TEAM_THREAT: TeamThreatRequest;
    SIEM: SiemRequest;
    SIEM_TEST: SiemTestRequest;
}

/// Reads and checks the body of a map.
///
/// # Errors
/// [`Rejection`] has the syntax error, lists every rule that the request breaks, or names the permission that the team
/// lacks.
pub fn read_map(body: &[u8], policy: &Policy) -> Result<Checked<MapPlan>, Rejection> {
    let mut report = Report::default();
    let request = read::<MapRequest>(&mut report, body, &MAP)?;
    map::plan(report, request, policy)
}

/// Reads and checks the body of a map of version 1.
///
/// # Errors
/// The same as [`read_map`].
pub fn read_map_v1(body: &[u8], policy: &Policy) -> Result<Checked<MapPlan>, Rejection> {
    let mut report = Report::default();
    let request = read::<MapRequestV1>(&mut report, body, &MAP_V1)?;
    map::plan(report, request.into(), policy)
}

/// Reads and checks a progress report of a crawl.
///
/// # Errors
/// [`Rejection`] has the syntax error, or lists every rule that the report breaks.
pub fn read_crawl_progress(body: &[u8]) -> Result<Checked<CrawlProgressRequest>, Rejection> {
    let mut report = Report::default();
    let progress = read::<CrawlProgressRequest>(&mut report, body, &PROGRESS)?;
    upload::check_progress(&mut report, &progress);
    report.finish(progress)
}

/// Reads and checks documents for the index.
///
/// # Errors
/// [`Rejection`] has the syntax error, or lists every rule that the upload breaks.
pub fn read_index_upload(body: &[u8]) -> Result<Checked<IndexUploadRequest>, Rejection> {
    let mut report = Report::default();
    let body = parse(body, INDEX_BYTES_PER_VALUE)?;
    // A document takes more memory than its text if that is short.
    if let Some(BodyValue::List(documents)) = body.field("documents") {
        bounds::items(&mut report, &Path::Root.key("documents"), documents.len(), INDEX_DOCUMENTS_MAX);
    }
    if let Some(rejection) = report.rejection() {
        return Err(rejection);
    }
    let upload = read_value::<IndexUploadRequest>(&mut report, body, &UPLOAD)?;
    upload::check(&mut report, &upload);
    report.finish(upload)
}

/// Reads and checks the body of a search.
///
/// # Errors
/// [`Rejection`] has the syntax error, lists every rule that the request breaks, or names the permission that the team
/// lacks.
pub fn read_search(body: &[u8], policy: &Policy) -> Result<Checked<SearchPlan>, Rejection> {
    let mut report = Report::default();
    let request = read::<SearchRequest>(&mut report, body, &SEARCH)?;
    let plan = search::check(&mut report, request, policy);
    report.finish(plan)
}

/// Reads and checks the body of a batch. Without formats, the format is markdown.
///
/// # Errors
/// [`Rejection`] has the syntax error, lists every rule that the request breaks, or names the permission that the team
/// lacks.
pub fn read_batch(body: &[u8], policy: &Policy) -> Result<Checked<BatchPlan>, Rejection> {
    let mut report = Report::default();
    let request = read::<BatchScrapeRequest>(&mut report, body, &BATCH)?;
    let plan = batch::check(&mut report, request, policy);
    report.finish(plan)
}

/// Reads and checks the body of a crawl. Without formats, the format is markdown.
///
/// # Errors
/// [`Rejection`] has the syntax error, lists every rule that the request breaks, or names the permission that the team
/// lacks.
pub fn read_crawl(body: &[u8], policy: &Policy) -> Result<Checked<CrawlPlan>, Rejection> {
    let Checked { plan: (_request, plan), warnings } = read_crawl_request(body, policy)?;
    Ok(Checked { plan, warnings })
}

/// The same as [`read_crawl`], but also returns the request, which a job checks again when it starts or resumes.
///
/// # Errors
/// The same as [`read_crawl`].
pub fn read_crawl_request(
    body: &[u8],
    policy: &Policy,
) -> Result<Checked<(CrawlRequest, CrawlPlan)>, Rejection> {
    let mut report = Report::default();
    let request = read::<CrawlRequest>(&mut report, body, &CRAWL)?;
    let plan = crawl::check(&mut report, request.clone(), policy);
    let Checked { plan, warnings } = crawl::finish(report, plan)?;
    Ok(Checked { plan: (request, plan), warnings })
}

/// Reads and checks the body of a request for the options that a prompt sets. Also returns the start URL of the crawl.
///
/// # Errors
/// [`Rejection`] has the syntax error, or lists every rule that the request breaks.
pub fn read_crawl_params_request(body: &[u8]) -> Result<Checked<(CrawlParamsRequest, Url)>, Rejection> {
    let mut report = Report::default();
    let request = read::<CrawlParamsRequest>(&mut report, body, &CRAWL_PARAMS_REQUEST)?;
    let start = crawl_params::check_request(&mut report, &request);
    let Checked { plan: (request, start), warnings } = report.finish((request, start))?;
    let start = start.expect("a missing start URL has a violation");
    Ok(Checked { plan: (request, start), warnings })
}

/// Reads and checks options of a crawl that were generated from a prompt, by the rules of requests.
///
/// # Errors
/// [`Rejection`] has the syntax error, or lists every rule that the options break.
pub fn read_crawl_params(json: &[u8]) -> Result<Checked<CrawlParams>, Rejection> {
    let mut report = Report::default();
    let params = read::<CrawlParams>(&mut report, json, &CRAWL_PARAMS)?;
    crawl_params::check(&mut report, &params);
    report.finish(params)
}

/// Reads and checks the body of a scrape. Without formats, the format is markdown.
///
/// # Errors
/// [`Rejection`] has the syntax error, lists every rule that the request breaks, or names the permission that the team
/// lacks.
pub fn read_scrape(body: &[u8], policy: &Policy) -> Result<Checked<PagePlan>, Rejection> {
    let mut report = Report::default();
    let request = read::<ScrapeRequest>(&mut report, body, &PAGE)?;
    let plan = page::check_page(&mut report, request, policy);
    page::finish(report, plan)
}

/// Reads and checks a body of scrape options. Without formats, the format is markdown.
///
/// # Errors
/// [`Rejection`] has the syntax error, lists every rule that the options break, or names the permission that the team
/// lacks.
pub fn read_scrape_options(body: &[u8], policy: &Policy) -> Result<Checked<ScrapePlan>, Rejection> {
    let mut report = Report::default();
    let options = read::<ScrapeOptions>(&mut report, body, &SCRAPE)?;
    let plan = scrape::check_single(&mut report, options, policy);
    report.finish(plan)
}

/// Reads and checks the body of a rerank request.
///
/// # Errors
/// [`Rejection`] has the syntax error, or lists every rule that the request breaks.
pub fn read_rerank(body: &[u8]) -> Result<Checked<RerankRequest>, Rejection> {
    let mut report = Report::default();
    let request = read::<RerankRequest>(&mut report, body, &RERANK)?;
    let query = Path::Root.key("query");
    if bounds::not_blank(&mut report, &query, &request.query) {
        bounds::chars(&mut report, &query, &request.query, 1, QUERY_RERANK_MAX_CHARS);
    }
    let documents = Path::Root.key("documents");
    if !report.has(&documents) {
        let count = request.documents.len();
        bounds::number(&mut report, &documents, count, RERANK_DOCUMENTS_MIN, RERANK_DOCUMENTS_MAX);
    }
    if let Some(top_n) = request.top_n {
        let max = u32::try_from(RERANK_DOCUMENTS_MAX).unwrap_or(u32::MAX);
        bounds::number(&mut report, &Path::Root.key("top_n"), top_n, 1, max);
    }
    report.finish(request)
}

/// Reads and checks the body of a new monitor.
///
/// # Errors
/// [`Rejection`] has the syntax error, lists every rule that the request breaks, or names the permission that the team
/// lacks.
pub fn read_create_monitor(
    body: &[u8],
    context: MonitorContext<'_>,
) -> Result<Checked<MonitorDefinition>, Rejection> {
    monitor::check_monitor_retention(context.policy)?;
    let mut report = Report::default();
    let mut body = parse(body, BODY_BYTES_PER_VALUE)?;
    monitor::convert_python_spelling(&mut body);
    let request = read_value::<CreateMonitorRequest>(&mut report, body, &CREATE_MONITOR)?;
    monitor::create(report, request, context)
}

/// Reads and checks the body of a change of a monitor.
///
/// # Errors
/// The same as [`read_create_monitor`], for the changed monitor.
pub fn read_update_monitor(
    body: &[u8],
    current: &MonitorDefinition,
    context: MonitorContext<'_>,
) -> Result<Checked<MonitorUpdate>, Rejection> {
    monitor::check_monitor_retention(context.policy)?;
    let mut report = Report::default();
    let mut body = parse(body, BODY_BYTES_PER_VALUE)?;
    monitor::convert_python_spelling(&mut body);
    // Elsewhere null counts as absent; here it clears a field.
    let clears = |field: &str| body.field(field).is_some_and(BodyValue::is_null);
    let (clears_goal, clears_webhook) = (clears("goal"), clears("webhook"));
    let mut request = read_value::<UpdateMonitorRequest>(&mut report, body, &UPDATE_MONITOR)?;
    request.goal = request.goal.or(clears_goal.then_some(None));
    request.webhook = request.webhook.or(clears_webhook.then_some(None));
    monitor::update(report, request, current, context)
}

/// Reads and checks the body of a request that runs a monitor. An empty body is valid.
///
/// # Errors
/// [`Rejection`] has the syntax error, or lists every rule that the request breaks.
pub fn read_run_monitor(body: &[u8], policy: &Policy) -> Result<Checked<RunMonitorRequest>, Rejection> {
    monitor::check_monitor_retention(policy)?;
    let mut report = Report::default();
    let request = match body.trim_ascii() {
        [] => RunMonitorRequest::default(),
        body => read::<RunMonitorRequest>(&mut report, body, &RUN_MONITOR)?,
    };
    report.finish(request)
}

/// Reads and checks the body of a request that confirms or ends a subscription to emails.
///
/// # Errors
/// [`Rejection`] has the syntax error, or lists every rule that the request breaks.
pub fn read_monitor_email(body: &[u8]) -> Result<Checked<MonitorEmailRequest>, Rejection> {
    let mut report = Report::default();
    let request = read::<MonitorEmailRequest>(&mut report, body, &MONITOR_EMAIL)?;
    let path = Path::Root.key("token");
    if !report.has(&path) {
        bounds::chars(&mut report, &path, &request.token, EMAIL_TOKEN_MIN_CHARS, EMAIL_TOKEN_MAX_CHARS);
    }
    report.finish(request)
}

/// Reads and checks the body of a request for a browser session. An empty body is valid.
///
/// # Errors
/// [`Rejection`] has the syntax error, lists every rule that the request breaks, or names the permission that the team
/// lacks.
pub fn read_create_browser(body: &[u8], policy: &Policy) -> Result<Checked<BrowserPlan>, Rejection> {
    let mut report = Report::default();
    let request = match body.trim_ascii() {
        [] => CreateBrowserRequest::default(),
        body => read::<CreateBrowserRequest>(&mut report, body, &CREATE_BROWSER)?,
    };
    let plan = interact::check_create(&mut report, request, policy);
    report.finish(plan)
}

/// Reads and checks the body of a request that runs code in a browser session.
///
/// # Errors
/// [`Rejection`] has the syntax error, or lists every rule that the request breaks.
pub fn read_execute(body: &[u8]) -> Result<Checked<CodePlan>, Rejection> {
    let mut report = Report::default();
    let request = read::<ExecuteRequest>(&mut report, body, &EXECUTE)?;
    let plan = interact::check_execute(&mut report, request);
    report.finish(plan)
}

/// Reads and checks the body of a request to the session of a scrape.
///
/// # Errors
/// [`Rejection`] has the syntax error, or lists every rule that the request breaks.
pub fn read_interact(body: &[u8]) -> Result<Checked<InteractPlan>, Rejection> {
    let mut report = Report::default();
    let request = read::<InteractRequest>(&mut report, body, &INTERACT)?;
    let plan = interact::check_interact(&mut report, request);
    report.finish(plan)
}

/// Reads and checks feedback on a search.
///
/// # Errors
/// [`Rejection`] has the syntax error, or lists every rule that the feedback breaks.
pub fn read_search_feedback(body: &[u8]) -> Result<Checked<SearchFeedbackRequest>, Rejection> {
    let mut report = Report::default();
    let request = read::<SearchFeedbackRequest>(&mut report, body, &SEARCH_FEEDBACK)?;
    feedback::check_search(&mut report, &request);
    report.finish(request)
}

/// Reads and checks feedback on any result.
///
/// # Errors
/// The same as [`read_search_feedback`].
pub fn read_feedback(body: &[u8]) -> Result<Checked<FeedbackRequest>, Rejection> {
    let mut report = Report::default();
    let request = read::<FeedbackRequest>(&mut report, body, &FEEDBACK)?;
    feedback::check(&mut report, &request);
    report.finish(request)
}

/// Reads and checks the body of a request for an llms.txt, except the rules of its crawl.
///
/// # Errors
/// [`Rejection`] has the syntax error, or lists every rule that the request breaks.
pub fn read_llms_txt(body: &[u8]) -> Result<Checked<LlmsTxtPlan>, Rejection> {
    let mut report = Report::default();
    let request = read::<LlmsTxtRequest>(&mut report, body, &LLMS_TXT)?;
    let plan = llms_txt::check(&mut report, request);
    report.finish(plan)
}

/// Reads and checks the body of a request for an agent run. Also returns the request, which is checked again when the run
/// begins to work.
///
/// # Errors
/// [`Rejection`] has the syntax error, lists every rule that the request breaks, or names the permission that the team
/// lacks.
pub fn read_agent(body: &[u8], policy: &Policy) -> Result<Checked<(AgentRequest, AgentPlan)>, Rejection> {
    agent::check_agent_retention(policy)?;
    let mut report = Report::default();
    let request = read::<AgentRequest>(&mut report, body, &AGENT)?;
    let plan = agent::check(&mut report, request.clone(), policy);
    report.finish((request, plan))
}

/// Reads and checks the body of a request for an extraction. Also returns the request, which is checked again when the
/// extraction begins to work.
///
/// # Errors
/// [`Rejection`] has the syntax error, lists every rule that the request breaks, or names the permission that the team
/// lacks.
pub fn read_extract(
    body: &[u8],
    policy: &Policy,
) -> Result<Checked<(ExtractRequest, ExtractPlan)>, Rejection> {
    extract::check_retention(policy)?;
    let mut report = Report::default();
    let request = read::<ExtractRequest>(&mut report, body, &EXTRACT)?;
    let plan = extract::check(&mut report, request.clone(), policy);
    report.finish((request, plan))
}

/// Reads a body that must be an object, and does not check its fields.
///
/// # Errors
/// [`Rejection`] has the syntax error, or the violation that the body is not an object.
pub fn read_object(body: &[u8]) -> Result<Map<String, Value>, Rejection> {
    check_values(body)?;
    match serde_json::from_slice(body).map_err(|error| malformed(&error))? {
        Value::Object(object) => Ok(object),
        _ => {
            let message = "the body must be an object".to_owned();
            let (path, code) = (String::new(), ViolationCode::InvalidType);
            Err(Rejection::Invalid(vec![Violation { path, code, message }]))
        }
    }
}

/// Reads a body as `T`. Values of the wrong shape are reported and removed before.
///
/// # Errors
/// The syntax error, or the violations if nothing remains to be checked.
fn read<T: DeserializeOwned>(report: &mut Report, body: &[u8], shape: &Shape) -> Result<T, Rejection> {
    read_value(report, parse(body, BODY_BYTES_PER_VALUE)?, shape)
}

/// Parses a body that has at least this many bytes for each value.
fn parse(body: &[u8], bytes_per_value: usize) -> Result<BodyValue<'_>, Rejection> {
    check_value_count(body, bytes_per_value)?;
    let parsed = match std::str::from_utf8(body) {
        // Checking UTF-8 once is several times as fast as checking each string.
        Ok(text) => serde_json::from_str(text),
        Err(_) => serde_json::from_slice(body),
    };
    parsed.map_err(|error| malformed(&error))
}

fn read_value<T: DeserializeOwned>(
    report: &mut Report,
    mut body: BodyValue<'_>,
    shape: &Shape,
) -> Result<T, Rejection> {
    if !shape.prune(&mut body, report) || report.is_full() {
        return Err(report
            .rejection()
            .expect("a body that is not an object has a violation, and a full report many"));
    }
    T::deserialize(body).map_err(|error| {
        // A bug: the schema and the type disagree. The caller gets the error of the type.
        report.violation(&Path::Root, ViolationCode::InvalidType, |_| error.to_string());
        report.rejection().expect("a violation was just added")
    })
}

fn malformed(error: &serde_json::Error) -> Rejection {
    let text = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    let message = text.strip_suffix(&position).unwrap_or(&text).to_owned();
    Rejection::Json { line: error.line(), column: error.column(), message }
}
