//! Rules of uploads to the index, which are an addition of websvc.

use url::Url;
use websvc_types::ViolationCode;
use websvc_types::index::{CrawlProgressRequest, IndexUploadRequest};
use websvc_types::limits::{
    CRAWL_HOST_MAX_CHARS, CRAWL_HOSTS_MAX, CRAWL_ID_MAX_CHARS, INDEX_BYTES_PER_VALUE, INDEX_DOCUMENTS_MAX,
};

use crate::bounds;
use crate::error::Rejection;
use crate::path::Path;
use crate::report::{Report, quoted};
use crate::request::{Request, deserialize};
use crate::shape::BodyValue;

impl Request for IndexUploadRequest {
    type Plan = Self;
    type Context<'a> = ();

    const BYTES_PER_VALUE: usize = INDEX_BYTES_PER_VALUE;

    fn from_body(body: BodyValue<'_>, report: &mut Report) -> Result<Self, Rejection> {
        // A document takes more memory than its text if that is short.
        if let Some(BodyValue::List(documents)) = body.field("documents") {
            bounds::items(report, &Path::Root.key("documents"), documents.len(), INDEX_DOCUMENTS_MAX);
        }
        match report.rejection() {
            Some(rejection) => Err(rejection),
            None => deserialize(body, report),
        }
    }

    fn plan(self, report: &mut Report, (): ()) -> Option<Self> {
        check(report, &self);
        Some(self)
    }
}

/// Checks that the index can accept every document. Otherwise the index would already contain the documents before an
/// invalid one.
fn check(report: &mut Report, upload: &IndexUploadRequest) {
    let IndexUploadRequest { documents } = upload;
    let list = Path::Root.key("documents");
    for (index, document) in documents.iter().enumerate() {
        let item = list.index(index);
        let path = item.key("url");
        // A missing or invalid URL was replaced by a placeholder and already has a violation.
        if !is_valid_url(&document.url) && !report.has(&path) {
            report.violation(&path, ViolationCode::InvalidFormat, |name| {
                let expected = "an absolute URL that begins with http, https or file";
                format!("{name} must be {expected}, not {}", quoted(&document.url))
            });
        }
    }
}

/// Checks a progress report of a crawl, and returns it. The service stores it in memory, so its texts are limited.
pub(crate) fn check_progress(report: &mut Report, progress: CrawlProgressRequest) -> CrawlProgressRequest {
    let CrawlProgressRequest { id, hosts, pages: _, failed: _, skipped: _, waiting: _, ended: _ } = &progress;
    let body = Path::Root;
    let path = body.key("id");
    if !report.has(&path) {
        bounds::chars(report, &path, id, 1, CRAWL_ID_MAX_CHARS);
    }
    let list = body.key("hosts");
    bounds::items(report, &list, hosts.len(), CRAWL_HOSTS_MAX);
    for (index, host) in hosts.iter().enumerate() {
        bounds::chars(report, &list.index(index), host, 0, CRAWL_HOST_MAX_CHARS);
    }
    progress
}

fn is_valid_url(text: &str) -> bool {
    let schemes = ["http://", "https://", "file://"];
    schemes.iter().any(|scheme| text.starts_with(scheme))
        && Url::parse(text).is_ok_and(|url| url.has_host() || url.scheme() == "file")
}
