//! The URLs that could not be read, with the reasons, for the user.

use websvc_model::{cut, one_line};
use websvc_transport::text_without_credentials;

use super::Run;
use crate::tool::ToolCall;

/// The maximum number of URLs that are kept, and that are named.
const MAX_KEPT: usize = 100;
const MAX_NAMED: usize = 5;

/// The maximum lengths of a URL and of a reason.
const MAX_URL_CHARS: usize = 200;
const MAX_REASON_CHARS: usize = 300;

/// A URL that could not be read.
#[derive(Debug)]
pub(super) struct UnreadUrl {
    url: String,
    reason: String,
    /// True if the user gave it, and it was read before the first decision.
    is_given: bool,
}

impl Run<'_> {
    /// Keeps the reason why a call has read nothing.
    pub(super) fn add_failed_call(&mut self, call: &ToolCall, reason: &str) {
        match call {
            ToolCall::Search { query: _ } | ToolCall::Map { url: _, query: _ } => {}
            ToolCall::Scrape { url }
            | ToolCall::Crawl { url, max_pages: _ }
            | ToolCall::Interact { url, task: _ } => self.add_unread(url, reason),
        }
    }

    pub(super) fn add_unread(&mut self, url: &str, reason: &str) {
        if self.unread.len() >= MAX_KEPT || self.unread.iter().any(|unread| unread.url == url) {
            return;
        }
        let reason = cut(&one_line(reason), MAX_REASON_CHARS);
        self.unread.push(UnreadUrl { url: url.to_owned(), reason, is_given: self.steps == 0 });
    }

    /// Returns whether a URL could not be read.
    pub(super) fn has_failed(&self, url: &str) -> bool {
        self.unread.iter().any(|unread| unread.url == url)
    }

    /// Returns the URLs that could not be read with the reasons, in words, if nothing could be read.
    pub(super) fn why_nothing_was_read(&self) -> Option<String> {
        let unread: Vec<&UnreadUrl> = self.unread.iter().collect();
        let is_nothing_read = self.pages.is_empty() && !unread.is_empty();
        is_nothing_read.then(|| format!("no page could be read: {}", named(&unread)))
    }

    /// Returns a note about the URLs of the user that could not be read, if there are some.
    pub(super) fn unread_note(&self) -> Option<String> {
        let is_missing = |unread: &&UnreadUrl| unread.is_given && self.pages.find(&unread.url).is_none();
        let missing: Vec<&UnreadUrl> = self.unread.iter().filter(is_missing).collect();
        let count = missing.len();
        let urls = if count == 1 { "URL" } else { "URLs" };
        (count > 0).then(|| format!("{count} given {urls} could not be read: {}.", named(&missing)))
    }
}

fn named(unread: &[&UnreadUrl]) -> String {
    let named = unread.iter().take(MAX_NAMED).map(|UnreadUrl { url, reason, is_given: _ }| {
        let url = one_line(&text_without_credentials(url));
        format!("{}: {}", cut(&url, MAX_URL_CHARS), reason.trim_end_matches('.'))
    });
    let mut text = named.collect::<Vec<_>>().join("; ");
    if unread.len() > MAX_NAMED {
        text.push_str(&format!("; and {} more", unread.len() - MAX_NAMED));
    }
    text
}
