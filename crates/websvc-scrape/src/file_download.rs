//! Downloads that an action started in the browser: the file is fetched with the cookies of the page and returned
//! instead.

use std::time::Instant;

use http::HeaderValue;
use http::header::COOKIE;
use url::Url;
use websvc_browser::Download;
use websvc_transport::{CookieJar, FetchError, FetchRequest};
use websvc_validate::ScrapePlan;

use crate::browse::{FetchContext, shortened};
use crate::documents::document_kind;
use crate::error::ScrapeError;
use crate::fetcher::{ProxyRoute, refresh_request};
use crate::raw::RawPage;

/// Fetches a download and returns it instead of the page that started it, with the artifacts of the page. Returns the
/// page with a warning if the file cannot be fetched or read.
///
/// # Errors
/// [`ScrapeError`] if threat protection blocks the file or one of its redirects.
pub(crate) async fn fetch_download(
    page: RawPage,
    file: &Download,
    plan: &ScrapePlan,
    context: &FetchContext<'_>,
    deadline: Instant,
) -> Result<RawPage, ScrapeError> {
    let fetching = async {
        let request = request_for(&page, file, plan, context, deadline)?;
        if let Some(rule) = &context.rule {
            let to_error = |reason| ScrapeError::Fetch(FetchError::RefusedByRule { reason });
            rule.check(&request.url).await.map_err(to_error)?;
        }
        context.fetcher.page(request, ProxyRoute::from_plan(plan), deadline).await
    };
    // Boxed, because the future that renders a page contains it, and few pages start downloads.
    let reason = match Box::pin(fetching).await {
        Ok(served) if is_readable(&served) => {
            let RawPage { source_url, mut warnings, artifacts, .. } = page;
            warnings.extend(served.warnings);
            return Ok(RawPage { source_url, warnings, artifacts, ..served });
        }
        Ok(_) => "it is not a document that can be read".to_owned(),
        Err(error) if error.is_unsafe() => return Err(error),
        Err(error) => error.to_string(),
    };
    let RawPage { mut warnings, .. } = page;
    warnings.push(format!(
        "an action started a download of {:?}, which was blocked: {reason}",
        shortened(&file.name)
    ));
    Ok(RawPage { warnings, ..page })
}

/// Returns the request for a file as the page would have sent it.
fn request_for(
    page: &RawPage,
    file: &Download,
    plan: &ScrapePlan,
    context: &FetchContext<'_>,
    deadline: Instant,
) -> Result<FetchRequest, ScrapeError> {
    let url = Url::parse(&file.url).map_err(|_| ScrapeError::BadUrl { url: file.url.clone() })?;
    let request = context.request(&page.source_url, plan, deadline)?;
    let mut request = refresh_request(request, &page.url, url, CookieJar::default());
    // The caller's cookies are among those of the page.
    request.headers.remove(COOKIE);
    let pairs: Vec<String> =
        file.cookies.iter().map(|cookie| format!("{}={}", cookie.name, cookie.value)).collect();
    if let (false, Ok(cookies)) = (pairs.is_empty(), HeaderValue::from_str(&pairs.join("; "))) {
        request.headers.insert(COOKIE, cookies);
    }
    Ok(request)
}

fn is_readable(page: &RawPage) -> bool {
    let kind = page.content_type().unwrap_or_default().to_ascii_lowercase();
    let is_text = kind.starts_with("text/") || kind.contains("json") || kind.contains("xml");
    page.status.is_success() && (document_kind(page).is_some() || is_text)
}
