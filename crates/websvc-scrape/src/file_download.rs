//! Files that an action led the browser to: fetched with the cookies of the page, and read in its place.

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

/// Returns the file in place of the page that leads to it, with what the browser gave beside that; the page, with a
/// warning, when the file cannot be had or read.
///
/// # Errors
/// That threat protection blocks the file, or where it leads.
pub(crate) async fn fetch_download(
    page: RawPage,
    file: &Download,
    plan: &ScrapePlan,
    source: &FetchContext<'_>,
    deadline: Instant,
) -> Result<RawPage, ScrapeError> {
    let fetching = async {
        let request = request_for(&page, file, plan, source, deadline)?;
        if let Some(rule) = &source.rule {
            let refused = |reason| ScrapeError::Fetch(FetchError::RefusedByRule { reason });
            rule.check(&request.url).await.map_err(refused)?;
        }
        source.fetcher.page(request, ProxyRoute::of(plan), deadline).await
    };
    // Boxed, because who draws a page holds it, and few pages lead to files.
    let reason = match Box::pin(fetching).await {
        Ok(served) if is_readable(&served) => {
            let RawPage { source_url, mut warnings, takings, .. } = page;
            warnings.extend(served.warnings);
            return Ok(RawPage { source_url, warnings, takings, ..served });
        }
        Ok(_) => "it is no document that can be read".to_owned(),
        Err(error) if error.is_unsafe() => return Err(error),
        Err(error) => error.to_string(),
    };
    let RawPage { mut warnings, .. } = page;
    warnings
        .push(format!("an action led to the file {:?}, which was refused: {reason}", shortened(&file.name)));
    Ok(RawPage { warnings, ..page })
}

/// Returns the request for a file, as the page would have asked for it.
fn request_for(
    page: &RawPage,
    file: &Download,
    plan: &ScrapePlan,
    source: &FetchContext<'_>,
    deadline: Instant,
) -> Result<FetchRequest, ScrapeError> {
    let url = Url::parse(&file.url).map_err(|_| ScrapeError::BadUrl { url: file.url.clone() })?;
    let request = source.request(&page.source_url, plan, deadline)?;
    let mut request = refresh_request(request, &page.url, url, CookieJar::default());
    // What the caller gave is among those of the page.
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
