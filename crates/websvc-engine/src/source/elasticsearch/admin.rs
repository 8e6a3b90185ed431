//! The administration of the index on a server: its size, the pages of a site, and the deletion of pages.

use serde_json::{Value, json};
use url::Url;
use websvc_store::PageOwner;

use super::mapping::field;
use super::selection::{PageSelection, ids, sites};
use super::server::Dialect;
use super::writer::{ElasticsearchWriter, RETRIES};
use crate::error::SourceError;

/// The maximum number of documents that one request deletes, so that every request ends within its timeout.
const MAX_DELETED_AT_ONCE: usize = 2_000;

/// The number of requests without progress, because pages change at the same time, after which a deletion fails.
const MAX_CONFLICTS: usize = 6;

/// The number of pages in one response to a listing.
const LISTING_PAGE: usize = 500;

/// The maximum number of pages in a listing. Servers reject a request beyond it.
const MAX_LISTED: usize = 10_000;

/// The result of a deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeletionOutcome {
    /// This number of documents was deleted. Searches no longer find them.
    Deleted(u64),
    /// The server accepted the deletion of this number of documents and performs it later.
    Scheduled(u64),
}

/// The size of the index on a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ServerIndexStats {
    /// The number of searchable documents.
    pub documents: u64,
    /// The size on disk, in bytes, including replicas.
    pub bytes: u64,
    /// The number of segments of the primary shards; the number of splits on Quickwit.
    pub segments: u64,
}

/// A page in a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedPage {
    /// The URL of the page.
    pub url: String,
    /// Its title.
    pub title: String,
    /// Its description, or the beginning of its text.
    pub description: String,
}

/// An error of a request to a server.
#[derive(Debug, thiserror::Error)]
#[error("source {name}: {source}")]
pub struct IndexServerError {
    name: String,
    source: SourceError,
}

impl ElasticsearchWriter {
    /// Deletes pages, also those of single teams, and returns when the server has deleted them, or has accepted the deletion
    /// if it performs deletions later. Fails while pages of the selection are being written.
    ///
    /// # Errors
    /// [`IndexServerError`]; the pages may be deleted in part.
    pub async fn delete(&self, pages: &PageSelection) -> Result<DeletionOutcome, IndexServerError> {
        let deleted = match self.server.dialect {
            Dialect::Elasticsearch => self.delete_by_query(pages).await.map(DeletionOutcome::Deleted),
            Dialect::Quickwit => self.schedule_deletion(pages).await.map(DeletionOutcome::Scheduled),
        };
        match deleted {
            // Without an index there are no pages.
            Err(SourceError::Status { status: 404, .. }) => Ok(DeletionOutcome::Deleted(0)),
            deleted => deleted.map_err(|error| self.server_error(error)),
        }
    }

    async fn delete_by_query(&self, pages: &PageSelection) -> Result<u64, SourceError> {
        let (query, server) = (selection_query(pages), self.server.of_all_indexes());
        // A deletion finds only what searches find, and pages may have been written within the last second.
        self.exchange_patiently(|| server.refresh(), RETRIES).await?;
        let (mut deleted, mut conflicts) = (0, 0);
        loop {
            let response =
                self.exchange_patiently(|| server.delete_by_query(&query, MAX_DELETED_AT_ONCE), RETRIES);
            let response = response.await?;
            let count = |name: &str| response.get(name).and_then(Value::as_u64).unwrap_or_default();
            if let Some(failure) = response.pointer("/failures/0") {
                let what = format!("some pages could not be deleted: {failure}");
                return Err(SourceError::Unreadable { what });
            }
            deleted += count("deleted");
            if count("version_conflicts") == 0 && count("deleted") < MAX_DELETED_AT_ONCE as u64 {
                return Ok(deleted);
            }
            conflicts = if count("deleted") == 0 { conflicts + 1 } else { 0 };
            if conflicts >= MAX_CONFLICTS {
                let what = "the pages are being written at the same time: stop that, and delete them again";
                return Err(SourceError::Unreadable { what: what.to_owned() });
            }
        }
    }

    /// Creates a delete task of Quickwit, which has no document IDs. Its response has no counts, so the documents are
    /// counted first.
    async fn schedule_deletion(&self, pages: &PageSelection) -> Result<u64, SourceError> {
        let counting = json!({"query": exact_query(pages), "size": 0, "track_total_hits": true});
        let count = || self.server.search(&counting, self.timeout());
        let counted = self.exchange_patiently(count, RETRIES).await?;
        let total = counted.pointer("/hits/total/value").or_else(|| counted.pointer("/hits/total"));
        let total = total.and_then(Value::as_u64).unwrap_or_default();
        if total > 0 {
            let query = quickwit_query(pages);
            self.exchange_patiently(|| self.server.quickwit_delete_task(&query), RETRIES).await?;
        }
        Ok(total)
    }

    /// Makes all written pages searchable at once. Otherwise that takes up to a second.
    ///
    /// # Errors
    /// [`IndexServerError`]
    pub async fn refresh(&self) -> Result<(), IndexServerError> {
        let refreshed = self.exchange_patiently(|| self.server.refresh(), RETRIES).await;
        refreshed.map(|_response| ()).map_err(|error| self.server_error(error))
    }

    /// Returns the size of the index; zeros if it does not exist.
    ///
    /// # Errors
    /// [`IndexServerError`]
    pub async fn stats(&self) -> Result<ServerIndexStats, IndexServerError> {
        match self.exchange(self.server.stats()).await {
            Ok(response) => Ok(read_stats(self.server.dialect, &response)),
            Err(SourceError::Status { status: 404, .. }) => Ok(ServerIndexStats::default()),
            Err(error) => Err(self.server_error(error)),
        }
    }

    /// Returns pages of a host and its subdomains, at most `max` of them and at most 10,000; none if the index does not exist.
    ///
    /// # Errors
    /// [`IndexServerError`]
    pub async fn pages_of_site(&self, host: &str, max: usize) -> Result<Vec<ListedPage>, IndexServerError> {
        let mut pages: Vec<ListedPage> = Vec::new();
        while pages.len() < max {
            let size = LISTING_PAGE.min(max - pages.len());
            let mut body = json!({
                "query": {"bool": {"must": [{"match_all": {}}], "filter": [{"term": {field::SITES: {"value": host}}}]}},
                "from": pages.len(),
                "size": size,
                "_source": ["url", "title", "description"],
            });
            // The order of equal scores may differ between requests. Quickwit cannot sort by texts.
            if self.server.dialect == Dialect::Elasticsearch {
                body["sort"] = json!([{"url": {"order": "asc"}}]);
            }
            let response = match self.exchange(self.server.search(&body, self.timeout())).await {
                Err(SourceError::Status { status: 404, .. }) => break,
                response => response.map_err(|error| self.server_error(error))?,
            };
            let found =
                response.pointer("/hits/hits").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            pages.extend(found.iter().filter_map(listed_page));
            if found.len() < size || pages.len() + LISTING_PAGE > MAX_LISTED {
                break;
            }
        }
        Ok(pages)
    }

    /// Returns the owners that have an index on the server.
    ///
    /// # Errors
    /// [`IndexServerError`]
    pub(crate) async fn owners(&self) -> Result<Vec<PageOwner>, IndexServerError> {
        let Some(request) = self.server.list_team_indexes() else { return Ok(Vec::new()) };
        let indexes = match self.exchange(request).await {
            Err(SourceError::Status { status: 404, .. }) => return Ok(Vec::new()),
            indexes => indexes.map_err(|error| self.server_error(error))?,
        };
        let names = indexes.as_object().into_iter().flat_map(|indexes| indexes.keys());
        Ok(names.filter_map(|name| self.server.owner_of(name)).collect())
    }

    /// Deletes the index of a team.
    ///
    /// # Errors
    /// [`IndexServerError`]
    pub(crate) async fn delete_team_index(&self, owner: PageOwner) -> Result<(), IndexServerError> {
        match self.exchange(self.server.of_team(owner).delete_index()).await {
            Ok(_) | Err(SourceError::Status { status: 404, .. }) => Ok(()),
            Err(error) => Err(self.server_error(error)),
        }
    }

    fn server_error(&self, error: SourceError) -> IndexServerError {
        IndexServerError { name: self.name().to_owned(), source: self.server.with_operator_message(error) }
    }
}

fn listed_page(hit: &Value) -> Option<ListedPage> {
    let text = |name: &str| hit.get("_source")?.get(name)?.as_str().map(str::to_owned);
    Some(ListedPage {
        url: text("url")?,
        title: text("title").unwrap_or_default(),
        description: text("description").unwrap_or_default(),
    })
}

fn read_stats(dialect: Dialect, response: &Value) -> ServerIndexStats {
    let count = |pointer: &str| response.pointer(pointer).and_then(Value::as_u64).unwrap_or_default();
    match dialect {
        Dialect::Elasticsearch => ServerIndexStats {
            documents: count("/_all/primaries/docs/count"),
            bytes: count("/_all/total/store/size_in_bytes"),
            segments: count("/_all/primaries/segments/count"),
        },
        Dialect::Quickwit => ServerIndexStats {
            documents: count("/num_published_docs"),
            bytes: count("/size_published_splits"),
            segments: count("/num_published_splits"),
        },
    }
}

/// Returns the query for a selection. A page is found by its ID, which all spellings of its URL share.
fn selection_query(pages: &PageSelection) -> Value {
    let mut query = exact_query(pages);
    if let Some(alternatives) = query.pointer_mut("/bool/should").and_then(Value::as_array_mut) {
        alternatives.push(json!({"ids": {"values": ids(pages)}}));
    }
    query
}

/// Returns the query for a selection by the stored URLs and hosts.
fn exact_query(pages: &PageSelection) -> Value {
    let urls: Vec<&str> = pages.urls.iter().map(Url::as_str).collect();
    json!({"bool": {
        "should": [{"terms": {field::SITES: sites(pages)}}, {"terms": {"url": urls}}],
    }})
}

/// Returns the query for a selection in Quickwit's own query language.
fn quickwit_query(pages: &PageSelection) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let sites = sites(pages).into_iter().map(|site| format!("{}:{}", field::SITES, quoted(&site)));
    let urls = pages.urls.iter().map(|url| format!("url:{}", quoted(url.as_str())));
    sites.chain(urls).collect::<Vec<_>>().join(" OR ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quickwit_query_quotes_hosts_and_urls() {
        let pages = PageSelection {
            hosts: vec!["Tea.test.".to_owned()],
            urls: vec!["http://a.test/?q=\\%22".parse().unwrap()],
        };
        assert_eq!(quickwit_query(&pages), r#"sites:"tea.test" OR url:"http://a.test/?q=\\%22""#);
    }
}
