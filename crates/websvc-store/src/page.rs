//! Pages of the cache, as fetched, and the limits of the cache.

use std::borrow::Cow;
use std::time::Duration;

use bytes::Bytes;

use crate::page_scope::PageOwner;

/// The name of an entry: the normalised URL, a variant for whatever else changes what a server answers
/// (mobile, language, proxy country), and the team whose copy it is, unless it is everybody's.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PageKey {
    url: String,
    variant: String,
    owner: Option<PageOwner>,
}

impl PageKey {
    /// Makes a key. The URL must be normalised (lower-case host, no fragment): keys are compared as texts.
    #[must_use]
    pub fn new(url: impl Into<String>, variant: impl Into<String>) -> Self {
        Self { url: url.into(), variant: variant.into(), owner: None }
    }

    /// Makes the key of an owner's own copy of the page; without an owner, that of everybody's.
    #[must_use]
    pub fn owned_by(self, owner: Option<PageOwner>) -> Self {
        Self { owner, ..self }
    }

    /// Returns whose copy it is; `None` is everybody's.
    #[must_use]
    pub fn owner(&self) -> Option<PageOwner> {
        self.owner
    }

    /// Returns the key of everybody's copy of the same page; `None` when this is it.
    #[must_use]
    pub fn shared(&self) -> Option<Self> {
        self.owner.map(|_| self.clone().owned_by(None))
    }

    /// Returns the owner as the database has it.
    pub(crate) fn owner_number(&self) -> u64 {
        self.owner.map_or(0, PageOwner::number)
    }

    /// Returns the variant as the database has it: no variant begins with an owner, since none has control characters.
    pub(crate) fn stored_variant(&self) -> Cow<'_, str> {
        match self.owner {
            Some(owner) => Cow::Owned(format!("{}\u{1f}{}", owner.number(), self.variant)),
            None => Cow::Borrowed(&self.variant),
        }
    }

    /// Returns the URL.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the variant.
    #[must_use]
    pub fn variant(&self) -> &str {
        &self.variant
    }

    /// Returns the host of the URL without port, or the empty text when it has none.
    #[must_use]
    pub fn host(&self) -> &str {
        let Some((_, rest)) = self.url.split_once("://") else { return "" };
        let authority = rest.split(['/', '?', '#']).next().unwrap_or("");
        let host_and_port = authority.rsplit('@').next().unwrap_or("");
        if host_and_port.starts_with('[') {
            let end = host_and_port.find(']').map_or(host_and_port.len(), |at| at + 1);
            return &host_and_port[..end];
        }
        host_and_port.split(':').next().unwrap_or("")
    }
}

/// A page as it was fetched. Extraction is repeated on reading: it is fast, and its options differ by request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachedPage {
    /// The name of the entry.
    pub key: PageKey,
    /// The URL after all redirects.
    pub final_url: String,
    /// The HTTP status.
    pub status: u16,
    /// The response headers worth keeping, such as `content-type`, in order.
    pub headers: Vec<(String, String)>,
    /// The body, decoded from its transfer and content encodings.
    pub body: Bytes,
    /// When it was fetched, in milliseconds since the Unix epoch.
    pub fetched_at_ms: u64,
    /// True if the body was cut at a size limit.
    pub truncated: bool,
}

/// The bounds of the page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheLimits {
    /// The most bytes that all entries together may occupy, compressed.
    pub max_bytes: u64,
    /// The most bytes that one entry may occupy, compressed.
    pub max_entry_bytes: u64,
    /// Entries older than this are removed.
    pub max_age: Duration,
}

impl Default for CacheLimits {
    /// 1 GiB in all, 16 MiB for one entry, two years (the `maxAge` of a lockdown request, spec section 8).
    fn default() -> Self {
        Self {
            max_bytes: 1 << 30,
            max_entry_bytes: 16 << 20,
            max_age: Duration::from_secs(2 * 365 * 24 * 60 * 60),
        }
    }
}

/// Outcome of storing a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PutOutcome {
    /// It is stored; `evicted` older entries made room.
    Stored {
        /// The number of entries removed.
        evicted: u64,
    },
    /// It is not stored: it occupies more than one entry may.
    TooLarge {
        /// Size of the page.
        bytes: u64,
        /// Size limit.
        limit: u64,
    },
    /// It is not stored: the cache has a page of the same key that was fetched later, or the team that it would belong to
    /// was deleted.
    Outdated,
}

/// Size of the page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheSize {
    /// The number of entries.
    pub pages: u64,
    /// The bytes of all entries, compressed.
    pub bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_the_authority_without_user_and_port() {
        for (url, host) in [
            ("https://example.com/a/b", "example.com"),
            ("https://example.com", "example.com"),
            ("http://example.com:8080/?q=a:b@c", "example.com"),
            ("http://user:pass@example.com/", "example.com"),
            ("http://[2001:db8::1]:8080/x", "[2001:db8::1]"),
            ("http://example.com?x=/y", "example.com"),
            ("no url", ""),
        ] {
            assert_eq!(PageKey::new(url, "").host(), host, "{url}");
        }
    }
}
