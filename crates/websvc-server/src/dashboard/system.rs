//! How the service is: what the page of that name shows.

use http::StatusCode;
use serde::Serialize;
use websvc_types::status::Readiness;

use super::stored;
use crate::handler;
use crate::reply::{Failure, Reply, json};
use crate::service::Context;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct System {
    version: &'static str,
    /// Milliseconds since the Unix epoch.
    started_at: u64,
    readiness: Readiness,
    index: Option<IndexSize>,
    cache: CacheSize,
    browser: Option<BrowserState>,
}

#[derive(Serialize)]
struct IndexSize {
    documents: u64,
    images: u64,
    bytes: u64,
}

#[derive(Serialize)]
struct CacheSize {
    pages: u64,
    bytes: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BrowserState {
    running: bool,
    pages: usize,
    free_places: usize,
    memory_bytes: u64,
    warning: Option<&'static str>,
}

/// `GET /dashboard/system`.
pub(super) async fn system(context: &Context<'_>) -> Result<Reply, Failure> {
    let store = context.store.clone();
    let cache = stored(move || store.cache_size()).await?;
    let index = context
        .engine
        .index()
        .map(|index| index.stats())
        .transpose()
        .map_err(|error| Failure::internal(&error, "the index could not be read"))?;
    let browser = match context.engine.scraper().browser() {
        Some(browser) => {
            let status = browser.status().await;
            Some(BrowserState {
                running: status.process.is_some(),
                pages: status.pages,
                free_places: status.free_places,
                memory_bytes: status.memory_bytes,
                warning: status.warning,
            })
        }
        None => None,
    };
    let (_, readiness) = handler::readiness(context).await;
    let system = System {
        version: env!("CARGO_PKG_VERSION"),
        started_at: context.serving_since_ms,
        readiness,
        index: index.map(|stats| IndexSize {
            documents: stats.documents,
            images: stats.images,
            bytes: stats.bytes,
        }),
        cache: CacheSize { pages: cache.pages, bytes: cache.bytes },
        browser,
    };
    Ok(json(StatusCode::OK, &system))
}
