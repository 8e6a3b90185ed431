//! Measures relevance with collections that have human judgments: nDCG@10 and recall@100.
//!
//! Reads the directory in the environment variable `WEBSVC_IR`, by default `../shared/data/ir`, and skips collections
//! that are missing there.
#![allow(clippy::print_stdout, reason = "prints its results")]

use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::Value;
use websvc_index::{Document, Index, IndexConfig, SearchOptions};

/// Collections with their best nDCG@10 of BM25 and the goal.
const COLLECTIONS: [(&str, f64, f64); 3] =
    [("cranfield", 0.370, 0.39), ("cisi", 0.396, 0.42), ("scifact", 0.679, 0.70)];

type Judgments = HashMap<String, HashMap<String, f64>>;

fn main() -> Result<(), Box<dyn Error>> {
    let dir = std::env::var_os("WEBSVC_IR").map_or_else(|| PathBuf::from("../shared/data/ir"), PathBuf::from);
    for (collection, bm25, goal) in COLLECTIONS {
        let dir = dir.join(collection);
        if !dir.exists() {
            println!("{collection}: skipped, no directory {} (set WEBSVC_IR)", dir.display());
            continue;
        }
        let index_dir = tempfile::tempdir()?;
        let index = Index::open(index_dir.path(), IndexConfig::default())?;
        import(&index, collection, &dir)?;
        let judgments = judgments(&dir)?;
        let (mut ndcg, mut recall, mut count, mut time) = (0.0, 0.0, 0.0, 0.0);
        for query in lines(&dir.join("queries.jsonl"))? {
            let Some(gains) = judgments.get(text(&query, "_id")) else { continue };
            let parsed = websvc_query::parse(truncated(text(&query, "text"))).query;
            let search = |limit| index.search(&parsed, &SearchOptions { limit, ..SearchOptions::default() });
            let start = Instant::now();
            let first_10 = search(10)?;
            time += start.elapsed().as_secs_f64();
            let first_100 = search(100)?;
            let id = |url: &str| url.rsplit('/').next().unwrap_or_default().to_owned();
            let gain = |hit: &websvc_index::Hit| gains.get(&id(&hit.url)).copied().unwrap_or(0.0);
            let discount = |rank: usize| (rank as f64 + 2.0).log2();
            let dcg: f64 =
                first_10.hits.iter().enumerate().map(|(rank, hit)| gain(hit) / discount(rank)).sum();
            let mut ideal: Vec<f64> = gains.values().copied().collect();
            ideal.sort_by(|a, b| b.total_cmp(a));
            let best: f64 = ideal.iter().take(10).enumerate().map(|(rank, gain)| gain / discount(rank)).sum();
            ndcg += dcg / best;
            let found: HashSet<_> =
                first_100.hits.iter().filter(|hit| gain(hit) > 0.0).map(|hit| &hit.url).collect();
            recall += found.len() as f64 / gains.len() as f64;
            count += 1.0;
        }
        println!(
            "{collection}: nDCG@10 {:.4} (BM25 {bm25}, goal {goal}), R@100 {:.4}, {count} queries, {:.0} us each",
            ndcg / count,
            recall / count,
            time / count * 1e6
        );
    }
    Ok(())
}

fn import(index: &Index, collection: &str, dir: &Path) -> Result<(), Box<dyn Error>> {
    for document in lines(&dir.join("corpus.jsonl"))? {
        index.add(Document {
            url: format!("https://{collection}.test/{}", text(&document, "_id")),
            title: text(&document, "title").to_owned(),
            body: text(&document, "text").to_owned(),
            ..Document::default()
        })?;
    }
    Ok(index.optimize()?)
}

fn judgments(dir: &Path) -> Result<Judgments, Box<dyn Error>> {
    let mut judgments = Judgments::new();
    for line in fs::read_to_string(dir.join("qrels.tsv"))?.lines().skip(1) {
        let fields: Vec<_> = line.split('\t').collect();
        let gain: f64 = fields[2].parse()?;
        if gain > 0.0 {
            judgments.entry(fields[0].to_owned()).or_default().insert(fields[1].to_owned(), gain);
        }
    }
    Ok(judgments)
}

fn lines(path: &Path) -> Result<Vec<Value>, Box<dyn Error>> {
    fs::read_to_string(path)?.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

/// Returns the query, truncated between words to the 500 characters that a request may have.
fn truncated(query: &str) -> &str {
    let Some((limit, _)) = query.char_indices().nth(500) else { return query };
    let prefix = &query[..limit];
    prefix.rsplit_once(' ').map_or(prefix, |(words, _)| words)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}
