//! Entries of the page cache, and its limits.

use std::borrow::Cow;
use std::time::Duration;

use bytes::Bytes;

use crate::page_owner::PageOwner;

/// The key of an entry: the normalized URL, a variant for everything else that changes the response of a host (mobile,
/// language, proxy country), and the owner of a private copy.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PageKey {
    url: String,
    variant: String,
    owner: Option<PageOwner>,
}

impl PageKey {
    /// Creates the key of a shared copy. The URL must be normalized (lower-case host, no fragment): keys are compared
    /// as strings.
    #[must_use]
    pub fn new(url: impl Into<String>, variant: impl Into<String>) -> Self {
        Self { url: url.into(), variant: variant.into(), owner: None }
    }

    /// Returns the key of an owner's private copy of the page; without an owner, that of the shared copy.
    #[must_use]
    pub fn owned_by(self, owner: Option<PageOwner>) -> Self {
        Self { owner, ..self }
    }

    /// Returns the owner of a private copy; `None` for a shared one.
    #[must_use]
    pub fn owner(&self) -> Option<PageOwner> {
        self.owner
    }

    /// Returns the key of the shared copy of the same page; `None` if this is a shared one.
    #[must_use]
    pub fn shared(&self) -> Option<Self> {
        self.owner.map(|_| self.clone().owned_by(None))
    }

    /// Returns the number of the owner in the database; 0 for a shared copy.
    pub(crate) fn owner_number(&self) -> u64 {
        self.owner.map_or(0, PageOwner::number)
    }

    /// Returns the variant in the database, which begins with the owner of a private copy. Variants contain no control
    /// characters, so this is unique.
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

    /// Returns the host of the URL without the port, or an empty string if there is none.
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

/// A page as it was fetched. Extraction is repeated for each request: it is fast, and its options differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachedPage {
    /// Key of the entry.
    pub key: PageKey,
    /// The URL after all redirects.
    pub final_url: String,
    /// HTTP status of the response.
    pub status: u16,
    /// The stored response headers, such as `content-type`, in their order.
    pub headers: Vec<(String, String)>,
    /// The body, decoded from its transfer and content encodings.
    pub body: Bytes,
    /// Time of the fetch, in milliseconds since the Unix epoch.
    pub fetched_at_ms: u64,
    /// True if the body was truncated at a size limit.
    pub truncated: bool,
}

/// Limits of the page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheLimits {
    /// Maximum of bytes of all entries, compressed.
    pub max_bytes: u64,
    /// Maximum of bytes of one entry, compressed.
    pub max_entry_bytes: u64,
    /// Maximum age of an entry; older ones are evicted.
    pub max_age: Duration,
}

impl Default for CacheLimits {
    /// Returns 1 GiB in total, 16 MiB per entry, two years (the `maxAge` of a lockdown request, spec section 8).
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
    /// The page is stored.
    Stored {
        /// Number of entries that were evicted for it.
        evicted: u64,
    },
    /// The page is not stored, because it exceeds the maximum size of an entry.
    TooLarge {
        /// Size of the page.
        bytes: u64,
        /// Size limit.
        limit: u64,
    },
    /// The page is not stored, because the cache has a newer one with the same key, or its team was deleted.
    Outdated,
}

/// Size of the page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheSize {
    /// Number of entries.
    pub pages: u64,
    /// Bytes of all entries, compressed.
    pub bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_is_the_authority_without_user_and_port() {
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
