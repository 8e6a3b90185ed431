//! From the bytes of a body to a plan.

use std::sync::LazyLock;

use serde::de::DeserializeOwned;
use websvc_types::index::{CrawlProgress, IndexUpload};
use websvc_types::job::{BatchScrapeRequest, CrawlRequest};
use websvc_types::{ScrapeOptions, SearchRequest, ViolationCode, schema};

use crate::batch::{self, BatchPlan};
use crate::checked::Checked;
use crate::crawl::{self, CrawlPlan};
use crate::error::Rejection;
use crate::path::Path;
use crate::policy::Policy;
use crate::report::Report;
use crate::scrape_plan::ScrapePlan;
use crate::search_plan::SearchPlan;
use crate::shape::{Shape, Tree};
use crate::{scrape, search, upload};

static SEARCH: LazyLock<Shape> = LazyLock::new(|| Shape::of(schema::request::<SearchRequest>().as_value()));
static SCRAPE: LazyLock<Shape> = LazyLock::new(|| Shape::of(schema::request::<ScrapeOptions>().as_value()));

static BATCH: LazyLock<Shape> =
    LazyLock::new(|| Shape::of(schema::request::<BatchScrapeRequest>().as_value()));
static CRAWL: LazyLock<Shape> = LazyLock::new(|| Shape::of(schema::request::<CrawlRequest>().as_value()));
static UPLOAD: LazyLock<Shape> = LazyLock::new(|| Shape::of(schema::request::<IndexUpload>().as_value()));

static PROGRESS: LazyLock<Shape> = LazyLock::new(|| Shape::of(schema::request::<CrawlProgress>().as_value()));

/// Reads and checks how far a crawl is.
///
/// # Errors
/// The syntax error, or every rule that it breaks.
pub fn read_crawl_progress(body: &[u8]) -> Result<Checked<CrawlProgress>, Rejection> {
    let mut report = Report::default();
    let progress = read::<CrawlProgress>(&mut report, body, &PROGRESS)?;
    upload::check_progress(&mut report, &progress);
    report.finish(progress)
}

/// Reads and checks documents for the index.
///
/// # Errors
/// The syntax error, or every rule that the upload breaks.
pub fn read_index_upload(body: &[u8]) -> Result<Checked<IndexUpload>, Rejection> {
    let mut report = Report::default();
    let upload = read::<IndexUpload>(&mut report, body, &UPLOAD)?;
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
    let mut tree: Tree<'_> = parsed.map_err(|error| malformed(&error))?;
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
