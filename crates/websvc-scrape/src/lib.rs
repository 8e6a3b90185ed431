//! URL in, page out: cache rules, fetch and extraction.
