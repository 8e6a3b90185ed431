//! The formats `audio` and `video` (operations.md, section 9): the media of a page, downloaded by the tools of the operator.
//!
//! It runs after the scrape, without a permit of the scraper. The file is stored for an hour, so nothing is downloaded for
//! a request that may leave no data. A download that fails costs nothing.

use std::sync::Arc;
use std::time::Instant;

use url::Url;
use websvc_artifacts::ArtifactKind;
use websvc_scrape::media::{
    Container, Cookie, Downloader, HostRule, MediaError, MediaFile, MediaKind, MediaRequest, TlsCheck,
};
use websvc_scrape::{FilePublisher, Page, ScrapeError, Scraper, SetCookie};
use websvc_stage::Stage;
use websvc_transport::without_credentials;
use websvc_types::Format;
use websvc_validate::ScrapePlan;

/// The tools that download media.
#[derive(Debug, Clone, Default)]
pub enum MediaTools {
    /// None are configured.
    #[default]
    Off,
    /// They are configured, but cannot run in their sandbox.
    Unusable,
    /// They are ready.
    Ready(Downloader),
}

impl MediaTools {
    /// Returns the downloader.
    #[must_use]
    pub fn downloader(&self) -> Option<&Downloader> {
        match self {
            Self::Ready(downloader) => Some(downloader),
            Self::Off | Self::Unusable => None,
        }
    }

    /// Returns the reason why the media of a plan are not downloaded. Under lockdown they are left out silently.
    pub(crate) fn reason_missing(&self, plan: &ScrapePlan) -> Option<&'static str> {
        match self {
            _ if plan.lockdown => None,
            Self::Off => Some("no media extractor is configured"),
            Self::Unusable => Some(
                "the media extractor cannot run safely on this machine; `websvc doctor` tells the operator why",
            ),
            Self::Ready(_) if plan.min_age.is_some() => {
                Some("not possible with minAge, which allows no requests to the site")
            }
            Self::Ready(_) => None,
        }
    }
}

/// The context of the downloads for a page.
#[derive(Clone, Copy)]
pub(crate) struct MediaContext<'a> {
    pub(crate) tools: &'a MediaTools,
    pub(crate) scraper: &'a Scraper,
    pub(crate) team: &'a str,
    pub(crate) url: &'a Url,
    pub(crate) files: &'a FilePublisher,
    pub(crate) deadline: Instant,
}

/// Downloads the media that a plan requests of a scraped page. Problems become warnings of the page.
///
/// # Errors
/// [`ScrapeError::UnsupportedMedia`] for the sound of a page without a medium, [`ScrapeError::MediaAccessDenied`],
/// [`ScrapeError::Timeout`].
pub(crate) async fn download(
    context: MediaContext<'_>,
    plan: &ScrapePlan,
    page: &mut Page,
) -> Result<(), ScrapeError> {
    let has = |kind: MediaKind| plan.formats.iter().any(|format| kind_of(format) == Some(kind));
    let Some(downloader) = context.tools.downloader() else { return Ok(()) };
    if plan.lockdown || plan.min_age.is_some() {
        return Ok(());
    }
    let url = without_credentials(context.url);
    let cookies = cookies(plan, page, &url);
    for kind in MediaKind::ALL.into_iter().filter(|&kind| has(kind)) {
        if !context.files.is_storing() {
            page.warnings.push(format!("format {}: not possible without storing the file", kind.name()));
            continue;
        }
        let request = MediaRequest {
            kind,
            url: &url,
            team: context.team,
            cookies: &cookies,
            tls: if plan.skip_tls_verification { TlsCheck::Skip } else { TlsCheck::Verify },
            client: context.scraper.client().clone(),
            proxy: context.scraper.proxy_of_page(&url, plan, page.metadata.proxy_used),
            rule: host_rule(context.scraper),
            deadline: context.deadline,
        };
        let downloading = Box::pin(downloader.download(request));
        match context.scraper.stages().run(Stage::Media, downloading).await {
            Ok(file) => store(context.files, kind, file, page).await,
            Err(error) => handle(error, kind, &url, page)?,
        }
    }
    Ok(())
}

fn kind_of(format: &Format) -> Option<MediaKind> {
    match format {
        Format::Audio(_) => Some(MediaKind::Audio),
        Format::Video(_) => Some(MediaKind::Video),
        Format::Markdown(_)
        | Format::Html(_)
        | Format::RawHtml(_)
        | Format::RawBase64(_)
        | Format::Links(_)
        | Format::Images(_)
        | Format::Screenshot(_)
        | Format::Summary(_)
        | Format::Json(_)
        | Format::ChangeTracking(_)
        | Format::Branding(_)
        | Format::Product(_)
        | Format::Menu(_)
        | Format::Question(_)
        | Format::Highlights(_)
        | Format::Attributes(_) => None,
    }
}

/// Returns the cookies of the rendered page and those of the request, which take precedence.
fn cookies(plan: &ScrapePlan, page: &Page, url: &Url) -> Vec<Cookie> {
    let rendered = page.artifacts.iter().flat_map(|artifacts| &artifacts.cookies);
    let mut cookies: Vec<Cookie> = rendered.map(|cookie| rendered_cookie(cookie, url)).collect();
    // The tool reads a later cookie of the same name over an earlier one.
    if let Some(header) = plan.headers.get("cookie") {
        cookies.extend(Cookie::of_header(header, url));
    }
    cookies
}

/// Returns a cookie of a rendered page. A profile has cookies of other sites, too, which may be for https only on a page that
/// is not; those of an https page are for https in any case.
fn rendered_cookie(cookie: &SetCookie, url: &Url) -> Cookie {
    let SetCookie { name, value, domain, path, is_secure } = cookie.clone();
    Cookie { name, value, domain, path, is_secure: is_secure || url.scheme() == "https" }
}

/// Returns the rule of threat protection for the hosts of a download: its lists. The scanner has checked the page, and would
/// cost credits for each host.
fn host_rule(scraper: &Scraper) -> Option<HostRule> {
    let checker = Arc::new(scraper.url_checker()?.clone());
    Some(HostRule::new(move |url| checker.check_lists(url).is_ok()))
}

async fn store(files: &FilePublisher, kind: MediaKind, file: MediaFile, page: &mut Page) {
    let MediaFile { container, bytes } = file;
    let artifact = match container {
        Container::Mp3 => ArtifactKind::Mp3,
        Container::Mp4 => ArtifactKind::Mp4,
        Container::Webm => ArtifactKind::Webm,
    };
    match files.store_medium(artifact, bytes).await {
        Ok(url) => match kind {
            MediaKind::Audio => page.audio = url,
            MediaKind::Video => page.video = url,
        },
        Err(error) => {
            tracing::error!(error = &error as &dyn std::error::Error, "a medium could not be stored");
            page.warnings.push(format!("format {}: the file could not be stored: {error}", kind.name()));
        }
    }
}

fn handle(error: MediaError, kind: MediaKind, url: &Url, page: &mut Page) -> Result<(), ScrapeError> {
    let name = kind.name();
    match (error, kind) {
        (MediaError::Unsupported, MediaKind::Audio) => {
            Err(ScrapeError::UnsupportedMedia { url: url.to_string() })
        }
        (MediaError::Unsupported, MediaKind::Video) => {
            let found = if page.videos.is_some() { "; `videos` lists those that it contains" } else { "" };
            page.warnings.push(format!("format {name}: the page has no supported medium{found}"));
            Ok(())
        }
        (MediaError::Denied(reason), MediaKind::Audio | MediaKind::Video) => {
            Err(ScrapeError::MediaAccessDenied { reason })
        }
        (MediaError::Timeout, MediaKind::Audio | MediaKind::Video) => Err(ScrapeError::Timeout),
        (error @ (MediaError::TooLarge(_) | MediaError::Failed(_)), MediaKind::Audio | MediaKind::Video) => {
            page.warnings.push(format!("format {name}: {error}"));
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secure_cookies_stay_secure_on_every_page() {
        for (is_secure, page, expected) in [
            (true, "http://a.test/", true),
            (false, "http://a.test/", false),
            (true, "https://a.test/", true),
            (false, "https://a.test/", true),
        ] {
            let cookie = SetCookie {
                name: "n".to_owned(),
                value: "v".to_owned(),
                domain: "b.test".to_owned(),
                path: "/p".to_owned(),
                is_secure,
            };
            let Cookie { name, value, domain, path, is_secure: found } =
                rendered_cookie(&cookie, &page.parse().unwrap());
            assert_eq!([name, value, domain, path], ["n", "v", "b.test", "/p"]);
            assert_eq!(found, expected, "{is_secure} {page}");
        }
    }
}
