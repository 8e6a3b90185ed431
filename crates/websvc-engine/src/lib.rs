//! The operations of websvc: search and crawling into the index.
