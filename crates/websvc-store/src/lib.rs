//! Durable state of websvc: keys, teams and the page cache.
