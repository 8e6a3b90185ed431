//! The check of the search by meaning.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use websvc_index::{EncodeError, Index, IndexConfig, SemanticConfig, SemanticStats};
use websvc_types::counted;

use super::finding::{Finding, timed};
use crate::app;
use crate::config::Config;
use crate::data_dir::INDEX_DIR;

pub(super) const CHECK: &str = "search by meaning";

/// The time for the vector of a text.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Encodes a text, and compares the size of the index with the limit.
pub(super) async fn check(config: &Config, data_dir: &Path) -> Result<Option<Finding>> {
    let Some(semantic) = app::semantic(config)? else { return Ok(None) };
    let max_compared = semantic.max_compared;
    let encoder = Arc::clone(&semantic.encoder);
    let encode = move || encoder.encode_query("A test of the model.", Some(Instant::now() + TIMEOUT));
    let (encoded, elapsed) = timed(websvc_transport::spawn_blocking(encode)).await;
    let encoded = encoded.unwrap_or_else(|error| Err(EncodeError(error.to_string())));
    let stats = read_stats(data_dir, semantic);
    Ok(Some(finding(&encoded.map(|vector| vector.len()), elapsed, stats.unwrap_or_default(), max_compared)))
}

/// Reads the statistics of the index, if it has vectors.
fn read_stats(data_dir: &Path, semantic: SemanticConfig) -> Option<SemanticStats> {
    let dir = data_dir.join(INDEX_DIR);
    if !dir.join("vectors").exists() {
        return None;
    }
    let config = IndexConfig { semantic: Some(semantic), ..IndexConfig::default() };
    Index::open(&dir, config).ok()?.semantic_stats()
}

fn finding(
    encoded: &Result<usize, EncodeError>,
    elapsed: Duration,
    stats: SemanticStats,
    max_compared: usize,
) -> Finding {
    let dimensions = match encoded {
        Ok(dimensions) => dimensions,
        Err(error) => {
            return Finding::problem(CHECK, error.to_string()).advice(
                "correct `[semantic]`, or the model that it names; until then, pages are found by their words alone",
            );
        }
    };
    let vectors = counted(stats.vectors, "vector", "vectors");
    let message = format!(
        "{dimensions} dimensions, {} ms for a query, {vectors} of {}",
        elapsed.as_millis(),
        counted(stats.pages, "page", "pages")
    );
    if stats.is_beyond_comparison {
        return Finding::warning(CHECK, format!("{message}: more than semantic.max_compared ({max_compared})")).advice(
            "searches rank only pages that have words of the query by their meaning; raise semantic.max_compared if \
             searches may take longer, or lower semantic.passages",
        );
    }
    Finding::ok(CHECK, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::doctor::finding::State;

    #[test]
    fn finding_tells_what_the_search_by_meaning_can_do() {
        let stats = SemanticStats { pages: 7, vectors: 21, ..SemanticStats::default() };
        let beyond = SemanticStats { is_beyond_comparison: true, ..stats };
        for (encoded, stats, state, expected) in [
            (Ok(384), stats, State::Ok, "384 dimensions, 12 ms for a query, 21 vectors of 7 pages"),
            (Ok(384), beyond, State::Warning, "more than semantic.max_compared (20)"),
            (Err(EncodeError("no file".to_owned())), stats, State::Problem, "no file"),
        ] {
            let found = finding(&encoded, Duration::from_millis(12), stats, 20);
            assert_eq!(found.state, state);
            assert!(found.message.contains(expected), "{}", found.message);
        }
    }
}
