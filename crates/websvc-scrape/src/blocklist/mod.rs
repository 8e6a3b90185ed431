//! Matching of advertising requests and cookie banners.
//!
//! A [`Blocklist`] has the locations of lists. [`Blocklist::load`] compiles them, which takes 200 ms and some ten megabytes
//! for the large public ones. All callers share the resulting [`Blocker`]; its memory is freed with the last reference.

mod blocker;
mod cookie_banners;
mod css;
mod domain_resolver;
mod error;
mod file;
mod locations;

pub use blocker::{Blocker, ResourceKind};
pub use cookie_banners::banner_selectors;
pub use error::BlocklistError;
pub use file::{LIST_MAX_BYTES, ListFile, WriteOutcome};
pub use locations::Blocklist;
