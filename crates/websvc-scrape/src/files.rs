//! Publishing of the files of a request, screenshots and PDFs: stored for a day under unguessable URLs, or embedded in
//! the response if nothing may be stored.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use websvc_artifacts::{ArtifactError, ArtifactKind, Retention, TeamArtifacts};
use websvc_browser::{Image, ImageKind, PageSnapshot, ScriptValue};
use websvc_types::action::{ActionResults, ActionScrape, JavascriptReturn};
use websvc_types::limits::{MEDIA_LIFETIME_S, SCREENSHOT_LIFETIME_S};

use crate::browse::RenderArtifacts;
use crate::page::Page;

/// The publisher of the files of a request.
#[derive(Debug, Clone)]
pub struct FilePublisher(Option<ArtifactTarget>);

/// The artifact store of a team, and the base of its URLs.
#[derive(Debug, Clone)]
struct ArtifactTarget {
    artifacts: TeamArtifacts,
    base_url: String,
}

impl FilePublisher {
    /// Creates a publisher that stores files for a team under URLs that begin with `base_url`. If the team's request
    /// must not leave any data, it is the same as [`FilePublisher::inline`].
    #[must_use]
    pub fn storing(artifacts: TeamArtifacts, base_url: String) -> Self {
        match artifacts.retention() {
            Retention::Stored => Self(Some(ArtifactTarget { artifacts, base_url })),
            Retention::Nothing => Self(None),
        }
    }

    /// Creates a publisher that embeds files in the response as `data:` URLs.
    #[must_use]
    pub fn inline() -> Self {
        Self(None)
    }

    /// Returns whether files are stored. Those that are too large to be embedded exist only then.
    #[must_use]
    pub fn is_storing(&self) -> bool {
        self.0.is_some()
    }

    /// Stores a medium for an hour and returns its URL; `None` if files are not stored.
    ///
    /// # Errors
    /// [`ArtifactError`]. Then nothing is stored.
    pub async fn store_medium(
        &self,
        kind: ArtifactKind,
        bytes: Bytes,
    ) -> Result<Option<String>, ArtifactError> {
        let Some(ArtifactTarget { artifacts, base_url }) = &self.0 else { return Ok(None) };
        let artifact = artifacts.put(kind, bytes, Duration::from_secs(MEDIA_LIFETIME_S)).await?;
        Ok(Some(artifact.url(base_url)))
    }

    /// Publishes the files of a page and sets their URLs. A file that cannot be stored adds a warning to the page.
    pub async fn publish(&self, page: &mut Page) {
        let Some(artifacts) = page.artifacts.take() else { return };
        let RenderArtifacts {
            styles: _written_before,
            screenshot,
            screenshots,
            scrapes,
            returns,
            pdfs,
            cookies: _used_before,
        } = *artifacts;
        let mut results = ActionResults {
            scrapes: scrapes.into_iter().map(scrape).collect(),
            javascript_returns: returns.into_iter().map(javascript_return).collect(),
            ..ActionResults::default()
        };
        for image in screenshots {
            results.screenshots.extend(self.publish_screenshot(image, page).await);
        }
        for pdf in pdfs {
            results.pdfs.extend(self.publish_file(ArtifactKind::Pdf, pdf, page).await);
        }
        if let Some(image) = screenshot {
            page.screenshot = self.publish_screenshot(image, page).await;
        }
        page.actions = (results != ActionResults::default()).then_some(results);
    }

    async fn publish_screenshot(&self, image: Image, page: &mut Page) -> Option<String> {
        let Image { bytes, kind } = image;
        let kind = match kind {
            ImageKind::Png => ArtifactKind::Png,
            ImageKind::Jpeg => ArtifactKind::Jpeg,
        };
        self.publish_file(kind, bytes, page).await
    }

    async fn publish_file(&self, kind: ArtifactKind, bytes: Bytes, page: &mut Page) -> Option<String> {
        match self.put(kind, bytes).await {
            Ok(url) => Some(url),
            Err(error) => {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "file of a page could not be stored"
                );
                page.warnings.push(format!("a {} file could not be stored: {error}", kind.extension()));
                None
            }
        }
    }

    async fn put(&self, kind: ArtifactKind, bytes: Bytes) -> Result<String, ArtifactError> {
        let Some(ArtifactTarget { artifacts, base_url }) = &self.0 else {
            return Ok(format!("data:{};base64,{}", kind.media_type(), STANDARD.encode(&bytes)));
        };
        let lifetime = Duration::from_secs(SCREENSHOT_LIFETIME_S);
        Ok(artifacts.put(kind, bytes, lifetime).await?.url(base_url))
    }
}

fn scrape(scraped: PageSnapshot) -> ActionScrape {
    let PageSnapshot { url, html } = scraped;
    ActionScrape { url, html }
}

fn javascript_return(returned: ScriptValue) -> JavascriptReturn {
    let ScriptValue { kind, value } = returned;
    JavascriptReturn { kind, value }
}
