//! Metrics of the search by meaning.

use std::sync::Arc;

use websvc_index::{Index, SemanticStats};

use super::prometheus::{MetricKind, Metrics};

/// Adds the metrics, if the index has an encoder.
pub(super) async fn semantic(out: &mut Metrics, index: Option<&Arc<Index>>) {
    let Some(index) = index.map(Arc::clone) else { return };
    if let Ok(Some(stats)) = websvc_transport::spawn_blocking(move || index.semantic_stats()).await {
        families(out, stats);
    }
}

fn families(out: &mut Metrics, stats: SemanticStats) {
    let SemanticStats {
        pages,
        waiting,
        vectors,
        bytes,
        searches,
        fallbacks,
        failures,
        is_beyond_comparison: _,
    } = stats;
    let help = "Pages of the index by whether they have vectors for the search by meaning.";
    let family = out.family("websvc_semantic_pages", MetricKind::Gauge, help);
    for (state, count) in [("encoded", pages), ("waiting", waiting)] {
        family.sample(&[("state", state)], count);
    }
    out.gauge("websvc_semantic_vectors", "Vectors of the search by meaning.", vectors);
    out.gauge("websvc_semantic_bytes", "Size of the vectors on disk.", bytes);
    let help = "Searches of the index by meaning; fallbacks were answered by words alone.";
    let family = out.family("websvc_semantic_searches_total", MetricKind::Counter, help);
    for (outcome, count) in [("encoded", searches.saturating_sub(fallbacks)), ("fallback", fallbacks)] {
        family.sample(&[("outcome", outcome)], count);
    }
    let help = "Batches of passages that could not be encoded.";
    out.counter("websvc_semantic_failures_total", help, failures);
}
