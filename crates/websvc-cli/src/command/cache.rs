//! `websvc cache`: shows and purges the page cache. Works while a server runs.

use anyhow::Result;
use serde_json::json;
use websvc_store::{CacheSize, Store};
use websvc_types::counted;

use crate::CommandContext;
use crate::app::{self, cache_limits};
use crate::args::{CacheCommand, Purge};
use crate::human_bytes::HumanBytes;
use crate::output;

/// Runs `websvc cache`.
pub(crate) fn run(context: &CommandContext, cache: CacheCommand) -> Result<()> {
    let store = app::open_store(&context.config, &context.data_dir)?;
    match cache {
        CacheCommand::Stats { json } => stats(context, store.cache_size()?, json),
        CacheCommand::Purge(purge) => {
            let removed = remove(&store, context, &purge)?;
            output::json_or_line(purge.json, &json!({ "removed": removed }), || {
                format!("{} removed from the cache", counted(removed, "page", "pages"))
            })
        }
    }
}

fn stats(context: &CommandContext, size: CacheSize, as_json: bool) -> Result<()> {
    let CacheSize { pages, bytes } = size;
    let websvc_store::CacheLimits { max_bytes, max_age, .. } = cache_limits(&context.config);
    let max_age_days = max_age.as_secs() / 86_400;
    let stats = json!({ "pages": pages, "bytes": bytes, "maxBytes": max_bytes, "maxAgeDays": max_age_days });
    output::json_or_line(as_json, &stats, || {
        let (used, max) = (HumanBytes(bytes), HumanBytes(max_bytes));
        let (pages, days) = (counted(pages, "page", "pages"), counted(max_age_days, "day", "days"));
        format!("{pages}, {used} of at most {max}; stored for {days}")
    })
}

/// Removes the selected pages and returns their number. Each variant of a page counts.
fn remove(store: &Store, context: &CommandContext, purge: &Purge) -> Result<u64> {
    let mut removed = 0;
    for url in &purge.urls {
        removed += store.purge_url(url.as_str())?;
    }
    for host in &purge.hosts {
        removed += store.purge_host(&host.to_ascii_lowercase())?;
    }
    if let Some(days) = purge.older_than_days {
        let mut limits = cache_limits(&context.config);
        limits.max_age = std::time::Duration::from_secs(days.saturating_mul(86_400));
        removed += store.evict_pages(&limits, store.now_ms())?;
    }
    if purge.all {
        let limits = websvc_store::CacheLimits { max_bytes: 0, ..cache_limits(&context.config) };
        removed += store.evict_pages(&limits, store.now_ms())?;
    }
    Ok(removed)
}
