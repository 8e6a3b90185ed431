//! Measures of a ranking: nDCG@10 with linear gains, and recall@100.

/// Number of results that nDCG counts.
const NDCG_DEPTH: usize = 10;

/// The head of the table of measures.
pub(crate) const TABLE_HEAD: &str =
    "| set | queries | nDCG@10 | best BM25 | goal | R@100 |\n|---|---|---|---|---|---|";

/// The measures of a query, or the sums of several.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Measures {
    /// Number of queries.
    pub(crate) queries: u32,
    pub(crate) ndcg: f64,
    pub(crate) recall: f64,
}

impl Measures {
    /// Returns the measures of a query. `found` has the gains of the first 100 results, `judged` those of all relevant
    /// documents.
    pub(crate) fn from_gains(found: &[f64], judged: &[f64]) -> Self {
        let mut ideal = judged.to_vec();
        ideal.sort_by(|a, b| b.total_cmp(a));
        let relevant = found.iter().filter(|&&gain| gain > 0.0).count();
        Self {
            queries: 1,
            ndcg: discounted(found) / discounted(&ideal),
            recall: share(relevant, judged.len()),
        }
    }

    /// Adds the measures of other queries.
    pub(crate) fn add(&mut self, other: Self) {
        self.queries += other.queries;
        self.ndcg += other.ndcg;
        self.recall += other.recall;
    }

    /// Returns the means over the queries.
    pub(crate) fn means(self) -> Self {
        let queries = f64::from(self.queries.max(1));
        Self { ndcg: self.ndcg / queries, recall: self.recall / queries, ..self }
    }

    /// Returns a row of the table with the means. `bm25` and `goal` are known values of nDCG@10, or dashes.
    pub(crate) fn row(self, set: &str, bm25: &str, goal: &str) -> String {
        let Self { queries, ndcg, recall } = self.means();
        format!("| {set} | {queries} | {ndcg:.3} | {bm25} | {goal} | {recall:.3} |")
    }
}

/// Returns the discounted cumulative gain of the first results.
fn discounted(gains: &[f64]) -> f64 {
    let ranked = gains.iter().take(NDCG_DEPTH).zip(2_u32..);
    ranked.map(|(gain, rank)| gain / f64::from(rank).log2()).sum()
}

#[expect(clippy::cast_precision_loss, reason = "a small number of documents")]
fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}
