//! Tests of the store through its public interface, on real files and with real processes.

#![expect(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

mod activity;
mod artifacts;
mod backup;
mod browser_sessions;
mod clock;
mod completions;
mod copies;
mod credits;
mod dashboard_sessions;
mod ended_jobs;
mod engine;
mod failover;
mod faults;
mod feedback;
mod file;
mod hammer;
mod host_leases;
mod index_outbox;
mod inspect;
mod invitations;
mod job_overview;
mod jobs;
mod keys;
mod migrate_to_server;
mod monitor_events;
mod monitor_messages;
mod monitor_owners;
mod monitor_pages;
mod monitors;
mod oauth;
mod page_owners;
mod page_snapshots;
mod pages;
mod processes;
mod profiles;
mod replicas;
mod rights;
mod round_trips;
mod runs;
mod scrape_results;
mod server;
mod sign_in_keys;
mod silence;
mod slot_leases;
mod teams;
mod threat;
mod tls;
mod webhooks;

use std::path::Path;

use bytes::Bytes;
use engine::{fresh, fresh_file, open, static_key};
use rusqlite::Connection;
use websvc_store::{CachedPage, PageKey, Store};

/// Returns the newest version of the schema: the number of migrations, each a file or a directory.
fn schema() -> u32 {
    let migrations =
        std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/migration/sqlite")).unwrap();
    u32::try_from(migrations.count()).unwrap()
}

/// Opens the database file directly, without the store.
fn sqlite(dir: &Path) -> Connection {
    Connection::open(dir.join(Store::FILE_NAME)).unwrap()
}

/// Returns `length` incompressible bytes, different for each seed.
fn noise(seed: u64, length: usize) -> Bytes {
    let mut state = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let next = || {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) as u8
    };
    std::iter::repeat_with(next).take(length).collect::<Vec<u8>>().into()
}

fn page(url: &str, fetched_at_ms: u64, body: impl Into<Bytes>) -> CachedPage {
    CachedPage {
        key: PageKey::new(url, ""),
        final_url: url.to_owned(),
        status: 200,
        headers: vec![("content-type".to_owned(), "text/html; charset=utf-8".to_owned())],
        body: body.into(),
        fetched_at_ms,
        truncated: false,
    }
}
