//! Files that a request makes, pictures and printed pages: kept for a day under URLs that nobody guesses, or part of
//! the answer where nothing may be kept.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use websvc_artifacts::{ArtifactError, ArtifactKind, Retention, TeamArtifacts};
use websvc_browser::{ImageKind, Picture, Returned, Scraped};
use websvc_types::action::{ActionResults, ActionScrape, JavascriptReturn};
use websvc_types::limits::SCREENSHOT_LIFETIME_S;

use crate::browse::RenderArtifacts;
use crate::page::Page;

/// Where the files of a request go.
#[derive(Debug, Clone)]
pub struct FilePublisher(Option<ArtifactTarget>);

#[derive(Debug, Clone)]
struct ArtifactTarget {
    artifacts: TeamArtifacts,
    base_url: String,
}

impl FilePublisher {
    /// Files are kept for a team, and the answer has their URLs, which begin with `base_url`. Where the team's request
    /// may leave nothing, they are as with [`FilePublisher::inline`].
    #[must_use]
    pub fn storing(artifacts: TeamArtifacts, base_url: String) -> Self {
        match artifacts.retention() {
            Retention::Stored => Self(Some(ArtifactTarget { artifacts, base_url })),
            Retention::Nothing => Self(None),
        }
    }

    /// Files are in the answer themselves, as `data:` URLs.
    #[must_use]
    pub fn inline() -> Self {
        Self(None)
    }

    /// Gives the files of a page their URLs. A file that cannot be kept is told in the page's warnings.
    pub async fn publish(&self, page: &mut Page) {
        let Some(takings) = page.takings.take() else { return };
        let RenderArtifacts { screenshot, screenshots, scrapes, returns, pdfs } = *takings;
        let mut results = ActionResults {
            scrapes: scrapes.into_iter().map(scrape).collect(),
            javascript_returns: returns.into_iter().map(javascript_return).collect(),
            ..ActionResults::default()
        };
        for picture in screenshots {
            results.screenshots.extend(self.picture(picture, page).await);
        }
        for pdf in pdfs {
            results.pdfs.extend(self.url(ArtifactKind::Pdf, pdf, page).await);
        }
        if let Some(picture) = screenshot {
            page.screenshot = self.picture(picture, page).await;
        }
        page.actions = (results != ActionResults::default()).then_some(results);
    }

    async fn picture(&self, picture: Picture, page: &mut Page) -> Option<String> {
        let Picture { bytes, kind } = picture;
        let kind = match kind {
            ImageKind::Png => ArtifactKind::Png,
            ImageKind::Jpeg => ArtifactKind::Jpeg,
        };
        self.url(kind, bytes, page).await
    }

    async fn url(&self, kind: ArtifactKind, bytes: Bytes, page: &mut Page) -> Option<String> {
        match self.put(kind, bytes).await {
            Ok(url) => Some(url),
            Err(error) => {
                tracing::error!(error = &error as &dyn std::error::Error, "a file of a page was not kept");
                page.warnings.push(format!("a {} file could not be kept: {error}", kind.extension()));
                None
            }
        }
    }

    async fn put(&self, kind: ArtifactKind, bytes: Bytes) -> Result<String, ArtifactError> {
        let Some(ArtifactTarget { artifacts, base_url }) = &self.0 else {
            return Ok(format!("data:{};base64,{}", kind.media_type(), STANDARD.encode(&bytes)));
        };
        let life = Duration::from_secs(SCREENSHOT_LIFETIME_S);
        Ok(artifacts.put(kind, bytes, life).await?.url(base_url))
    }
}

fn scrape(scraped: Scraped) -> ActionScrape {
    let Scraped { url, html } = scraped;
    ActionScrape { url, html }
}

fn javascript_return(returned: Returned) -> JavascriptReturn {
    let Returned { kind, value } = returned;
    JavascriptReturn { kind, value }
}
