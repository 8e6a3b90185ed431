//! The pages of a site that are in the index, embedded or on a server.

use std::sync::Arc;

use url::Url;
use websvc_index::Index;
use websvc_store::PageOwner;
use websvc_types::limits::MAP_LIMIT_MAX;

use super::run::{MapRun, spawn_blocking};
use super::site::MapScope;
use super::url_collector::UrlCollector;
use crate::error::EngineError;
use crate::mirror::Mirror;
use crate::source::ListedPage;

/// The maximum number of pages in the index whose titles are looked up.
const MAX_INDEX_TITLES: usize = 1_000;

impl MapRun<'_> {
    /// Adds the pages of the site that are in the index.
    pub(super) async fn read_index(&mut self, index: Arc<Index>) -> Result<(), EngineError> {
        // More than requested: the scope may exclude some of them, and a search ranks before it cuts.
        let max_urls = if self.found.is_full() { 0 } else { MAP_LIMIT_MAX as usize };
        let (mut found, scope) = (std::mem::take(&mut self.found), Arc::clone(&self.scope));
        let host = self.site_host().to_owned();
        let (found, error) = spawn_blocking(move || {
            let error = add_indexed(&index, &host, max_urls, &scope, &mut found).err();
            (found, error)
        })
        .await?;
        self.found = found;
        if let Some(error) = error {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "the index could not be read for a map"
            );
            self.warnings.add("the pages of the site in the index could not be read".to_owned());
        }
        Ok(())
    }

    /// Adds the pages of the site that are in the index of a team, or of all teams, on a server.
    pub(super) async fn read_server(&mut self, server: &Mirror, owner: Option<PageOwner>) {
        if self.found.is_full() {
            return;
        }
        let listing = server.pages_of_site(self.site_host(), owner, MAP_LIMIT_MAX as usize);
        let pages = match tokio::time::timeout_at(self.deadline.into(), listing).await {
            Ok(Ok(pages)) => pages,
            Ok(Err(error)) => {
                let error = &error as &dyn std::error::Error;
                tracing::error!(error, "the index of a server could not be read for a map");
                self.warnings.add("the pages of the site in the index could not be read".to_owned());
                return;
            }
            Err(_elapsed) => {
                self.is_late = true;
                return;
            }
        };
        for ListedPage { url, title, description } in pages {
            let Some(url) = Url::parse(&url).ok().and_then(|url| self.scope.normalize(url)) else { continue };
            if self.found.add(url, Some(&title), Some(&description)).is_break() {
                break;
            }
        }
    }

    /// Returns the host of the site, without `www.`.
    fn site_host(&self) -> &str {
        let host = self.plan.url.host_str().unwrap_or_default();
        host.strip_prefix("www.").unwrap_or(host)
    }
}

/// Adds the pages of a host and its subdomains that are in the index.
fn add_indexed(
    index: &Index,
    host: &str,
    max_urls: usize,
    scope: &MapScope,
    found: &mut UrlCollector,
) -> Result<(), websvc_index::IndexError> {
    for (position, indexed) in index.urls(Some(host), max_urls)?.into_iter().enumerate() {
        let Some(url) = Url::parse(&indexed).ok().and_then(|url| scope.normalize(url)) else { continue };
        let document = if position < MAX_INDEX_TITLES { index.document(&indexed)? } else { None };
        let (title, description) =
            document.map_or((None, None), |document| (Some(document.title), document.description));
        if found.add(url, title.as_deref(), description.as_deref()).is_break() {
            break;
        }
    }
    Ok(())
}
