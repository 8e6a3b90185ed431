//! Tests of scraping pages from a loopback web.

#![expect(clippy::unwrap_used, reason = "a test helper may panic, which fails the test")]

mod banners;
mod blocklist;
mod cache;
mod challenges;
mod embedded_documents;
mod full_disk;
mod google_export;
mod personal;
mod profiles;
mod proxies;
mod refreshes;
mod rendering;
mod scopes;
mod support;
mod threat;
mod url_check;
mod warnings;
