//! From the bytes of a body to a plan.

use std::sync::LazyLock;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use url::Url;
use websvc_types::index::{CrawlProgressRequest, IndexUploadRequest};
use websvc_types::job::{BatchScrapeRequest, CrawlParams, CrawlParamsRequest, CrawlRequest};
use websvc_types::limits::{QUERY_RERANK_MAX_CHARS, RERANK_DOCUMENTS_MAX, RERANK_DOCUMENTS_MIN};
use websvc_types::map::{MapRequest, MapRequestV1};
use websvc_types::rerank::RerankRequest;
use websvc_types::{
    ParseOptions, ScrapeOptions, ScrapeRequest, SearchRequest, Violation, ViolationCode, schema,
};

use crate::batch::{self, BatchPlan};
use crate::checked::Checked;
use crate::crawl::{self, CrawlPlan};
use crate::error::Rejection;
use crate::map_plan::MapPlan;
use crate::page::{self, FilePlan, PagePlan};
use crate::path::Path;
use crate::policy::Policy;
use crate::report::Report;
use crate::scrape_plan::ScrapePlan;
use crate::search_plan::SearchPlan;
use crate::shape::{BodyValue, Shape};
use crate::{bounds, crawl_params, map, scrape, search, upload};

static SEARCH: LazyLock<Shape> = LazyLock::new(|| Shape::of(schema::request::<SearchRequest>().as_value()));
static SCRAPE: LazyLock<Shape> = LazyLock::new(|| Shape::of(schema::request::<ScrapeOptions>().as_value()));

static BATCH: LazyLock<Shape> =
    LazyLock::new(|| Shape::of(schema::request::<BatchScrapeRequest>().as_value()));
static CRAWL: LazyLock<Shape> = LazyLock::new(|| Shape::of(schema::request::<CrawlRequest>().as_value()));
static CRAWL_WORDS: LazyLock<Shape> =
    LazyLock::new(|| Shape::of(schema::request::<CrawlParamsRequest>().as_value()));
static CRAWL_PARAMS: LazyLock<Shape> =
    LazyLock::new(|| Shape::of(schema::request::<CrawlParams>().as_value()));
static PAGE: LazyLock<Shape> = LazyLock::new(|| Shape::of(schema::request::<ScrapeRequest>().as_value()));
static FILE: LazyLock<Shape> = LazyLock::new(|| Shape::of(schema::request::<ParseOptions>().as_value()));
static RERANK: LazyLock<Shape> = LazyLock::new(|| Shape::of(schema::request::<RerankRequest>().as_value()));
static UPLOAD: LazyLock<Shape> =
    LazyLock::new(|| Shape::of(schema::request::<IndexUploadRequest>().as_value()));
static MAP: LazyLock<Shape> = LazyLock::new(|| Shape::of(schema::request::<MapRequest>().as_value()));
static MAP_V1: LazyLock<Shape> = LazyLock::new(|| Shape::of(schema::request::<MapRequestV1>().as_value()));

/// Reads and checks the body of a map.
///
/// # Errors
/// The syntax error, or every rule that the request breaks, or what the team may not do.
pub fn read_map(body: &[u8], policy: &Policy) -> Result<Checked<MapPlan>, Rejection> {
    let mut report = Report::default();
    let request = read::<MapRequest>(&mut report, body, &MAP)?;
    map::plan(report, request, policy)
}

/// Reads and checks the body of a map in the words of the first version.
///
/// # Errors
/// As [`read_map`].
pub fn read_map_v1(body: &[u8], policy: &Policy) -> Result<Checked<MapPlan>, Rejection> {
    let mut report = Report::default();
    let request = read::<MapRequestV1>(&mut report, body, &MAP_V1)?;
    map::plan(report, request.into(), policy)
}

static PROGRESS: LazyLock<Shape> =
    LazyLock::new(|| Shape::of(schema::request::<CrawlProgressRequest>().as_value()));

/// Reads and checks how far a crawl is.
///
/// # Errors
/// The syntax error, or every rule that it breaks.
pub fn read_crawl_progress(body: &[u8]) -> Result<Checked<CrawlProgressRequest>, Rejection> {
    let mut report = Report::default();
    let progress = read::<CrawlProgressRequest>(&mut report, body, &PROGRESS)?;
    upload::check_progress(&mut report, &progress);
    report.finish(progress)
}

/// Reads and checks documents for the index.
///
/// # Errors
/// The syntax error, or every rule that the upload breaks.
pub fn read_index_upload(body: &[u8]) -> Result<Checked<IndexUploadRequest>, Rejection> {
    let mut report = Report::default();
    let upload = read::<IndexUploadRequest>(&mut report, body, &UPLOAD)?;
    upload::check(&mut report, &upload);
    report.finish(upload)
}

/// Reads and checks the body of a search.
///
/// # Errors
/// The syntax error, or every rule that the request breaks, or what the team may not do.
pub fn read_search(body: &[u8], policy: &Policy) -> Result<Checked<SearchPlan>, Rejection> {
    let mut report = Report::default();
    let request = read::<SearchRequest>(&mut report, body, &SEARCH)?;
    let plan = search::check(&mut report, request, policy);
    report.finish(plan)
}

/// Reads and checks the body of a batch, where no formats mean markdown.
///
/// # Errors
/// The syntax error, or every rule that the request breaks, or what the team may not do.
pub fn read_batch(body: &[u8], policy: &Policy) -> Result<Checked<BatchPlan>, Rejection> {
    let mut report = Report::default();
    let request = read::<BatchScrapeRequest>(&mut report, body, &BATCH)?;
    let plan = batch::check(&mut report, request, policy);
    report.finish(plan)
}

/// Reads and checks the body of a crawl, where no formats mean markdown.
///
/// # Errors
/// The syntax error, or every rule that the request breaks, or what the team may not do.
pub fn read_crawl(body: &[u8], policy: &Policy) -> Result<Checked<CrawlPlan>, Rejection> {
    let Checked { plan: (_request, plan), warnings } = read_crawl_request(body, policy)?;
    Ok(Checked { plan, warnings })
}

/// As [`read_crawl`], with the request beside the plan: it is checked again when the work begins, or goes on.
///
/// # Errors
/// As there.
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

/// Reads and checks the body of a request for the options that the prompt of a crawl becomes; the URL is where it begins.
///
/// # Errors
/// The syntax error, or every rule that the request breaks.
pub fn read_crawl_params_request(body: &[u8]) -> Result<Checked<(CrawlParamsRequest, Url)>, Rejection> {
    let mut report = Report::default();
    let request = read::<CrawlParamsRequest>(&mut report, body, &CRAWL_WORDS)?;
    let start = crawl_params::check_request(&mut report, &request);
    let Checked { plan: (request, start), warnings } = report.finish((request, start))?;
    let start = start.expect("a request without a start is a violation");
    Ok(Checked { plan: (request, start), warnings })
}

/// Reads and checks options of a crawl that somebody made of a prompt, by the rules of those of requests.
///
/// # Errors
/// The syntax error, or every rule that they break.
pub fn read_crawl_params(json: &[u8]) -> Result<Checked<CrawlParams>, Rejection> {
    let mut report = Report::default();
    let params = read::<CrawlParams>(&mut report, json, &CRAWL_PARAMS)?;
    crawl_params::check(&mut report, &params);
    report.finish(params)
}

/// Reads and checks the body of a request for one page, where no formats mean markdown.
///
/// # Errors
/// The syntax error, or every rule that the request breaks, or what the team may not do.
pub fn read_scrape(body: &[u8], policy: &Policy) -> Result<Checked<PagePlan>, Rejection> {
    let mut report = Report::default();
    let request = read::<ScrapeRequest>(&mut report, body, &PAGE)?;
    let plan = page::check_page(&mut report, request, policy);
    page::finish(report, plan)
}

/// Reads and checks the options that come with an uploaded file, where no formats mean markdown.
///
/// # Errors
/// The syntax error, or every rule that the options break, or what the team may not do.
pub fn read_parse_options(body: &[u8], policy: &Policy) -> Result<Checked<FilePlan>, Rejection> {
    let mut report = Report::default();
    let request = read::<ParseOptions>(&mut report, body, &FILE)?;
    let plan = page::check_file(&mut report, request, policy);
    report.finish(plan)
}

/// Reads and checks a body of scrape options, where no formats mean markdown.
///
/// # Errors
/// The syntax error, or every rule that the options break, or what the team may not do.
pub fn read_scrape_options(body: &[u8], policy: &Policy) -> Result<Checked<ScrapePlan>, Rejection> {
    let mut report = Report::default();
    let options = read::<ScrapeOptions>(&mut report, body, &SCRAPE)?;
    let plan = scrape::check_single(&mut report, options, policy);
    report.finish(plan)
}

/// Reads and checks texts that are to be ordered.
///
/// # Errors
/// The syntax error, or every rule that the request breaks.
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
        let most = u32::try_from(RERANK_DOCUMENTS_MAX).unwrap_or(u32::MAX);
        bounds::number(&mut report, &Path::Root.key("top_n"), top_n, 1, most);
    }
    report.finish(request)
}

/// Reads a body of an object whose fields are looked at elsewhere.
///
/// # Errors
/// The syntax error, or that it is no object.
pub fn read_object(body: &[u8]) -> Result<Map<String, Value>, Rejection> {
    match serde_json::from_slice(body).map_err(|error| malformed(&error))? {
        Value::Object(object) => Ok(object),
        _ => {
            let message = "the body must be an object".to_owned();
            let (path, code) = (String::new(), ViolationCode::InvalidType);
            Err(Rejection::Invalid(vec![Violation { path, code, message }]))
        }
    }
}

/// Reads a body, leaving out what has not the shape of `T`.
///
/// # Errors
/// The syntax error, or that nothing is left to be checked.
fn read<T: DeserializeOwned>(report: &mut Report, body: &[u8], shape: &Shape) -> Result<T, Rejection> {
    let parsed = match std::str::from_utf8(body) {
        // Checked at once and not text by text, which is several times as quick.
        Ok(text) => serde_json::from_str(text),
        Err(_) => serde_json::from_slice(body),
    };
    let mut tree: BodyValue<'_> = parsed.map_err(|error| malformed(&error))?;
    if !shape.prune(&mut tree, report) {
        return Err(report.rejection().expect("a body that is no object is a violation"));
    }
    T::deserialize(tree).map_err(|error| {
        // The schema and the type disagree, which is a mistake of ours: the caller gets what is known of it.
        report.violation(&Path::Root, ViolationCode::InvalidType, |_| error.to_string());
        report.rejection().expect("there is a violation")
    })
}

fn malformed(error: &serde_json::Error) -> Rejection {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let message = text.strip_suffix(&place).unwrap_or(&text).to_owned();
    Rejection::Json { line: error.line(), column: error.column(), message }
}
