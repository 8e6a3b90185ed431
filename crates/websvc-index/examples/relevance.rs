//! Measures relevance on the collections with human judgments: nDCG@10 and recall@100.
//!
//! Reads the folder that `WEBSVC_IR` names, else `../shared/data/ir`; says so where it is absent.
#![allow(clippy::print_stdout, reason = "an example talks to its user")]

use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::Value;
use websvc_index::{Document, Index, IndexConfig, SearchOptions};

/// Collection, and its best BM25 nDCG@10 and goal.
const SETS: [(&str, f64, f64); 3] =
    [("cranfield", 0.370, 0.39), ("cisi", 0.396, 0.42), ("scifact", 0.679, 0.70)];

type Judgments = HashMap<String, HashMap<String, f64>>;

fn main() -> Result<(), Box<dyn Error>> {
    let folder =
        std::env::var_os("WEBSVC_IR").map_or_else(|| PathBuf::from("../shared/data/ir"), PathBuf::from);
    for (set, bm25, goal) in SETS {
        let folder = folder.join(set);
        if !folder.exists() {
            println!("{set}: skipped, no folder {} (set WEBSVC_IR)", folder.display());
            continue;
        }
        let dir = tempfile::tempdir()?;
        let index = Index::open(dir.path(), IndexConfig::default())?;
        import(&index, set, &folder)?;
        let judgments = judgments(&folder)?;
        let (mut ndcg, mut recall, mut count, mut time) = (0.0, 0.0, 0.0, 0.0);
        for query in lines(&folder.join("queries.jsonl"))? {
            let Some(gains) = judgments.get(text(&query, "_id")) else { continue };
            let parsed = websvc_query::parse(cut(text(&query, "text"))).query;
            let search = |limit| index.search(&parsed, &SearchOptions { limit, ..SearchOptions::default() });
            let start = Instant::now();
            let ten = search(10)?;
            time += start.elapsed().as_secs_f64();
            let hundred = search(100)?;
            let id = |url: &str| url.rsplit('/').next().unwrap_or_default().to_owned();
            let gain = |hit: &websvc_index::Hit| gains.get(&id(&hit.url)).copied().unwrap_or(0.0);
            let discount = |rank: usize| (rank as f64 + 2.0).log2();
            let dcg: f64 = ten.hits.iter().enumerate().map(|(rank, hit)| gain(hit) / discount(rank)).sum();
            let mut ideal: Vec<f64> = gains.values().copied().collect();
            ideal.sort_by(|a, b| b.total_cmp(a));
            let best: f64 = ideal.iter().take(10).enumerate().map(|(rank, gain)| gain / discount(rank)).sum();
            ndcg += dcg / best;
            let found: HashSet<_> =
                hundred.hits.iter().filter(|hit| gain(hit) > 0.0).map(|hit| &hit.url).collect();
            recall += found.len() as f64 / gains.len() as f64;
            count += 1.0;
        }
        println!(
            "{set}: nDCG@10 {:.4} (BM25 {bm25}, goal {goal}), R@100 {:.4}, {count} queries, {:.0} us each",
            ndcg / count,
            recall / count,
            time / count * 1e6
        );
    }
    Ok(())
}

fn import(index: &Index, set: &str, folder: &Path) -> Result<(), Box<dyn Error>> {
    for document in lines(&folder.join("corpus.jsonl"))? {
        index.add(Document {
            url: format!("https://{set}.test/{}", text(&document, "_id")),
            title: text(&document, "title").to_owned(),
            body: text(&document, "text").to_owned(),
            ..Document::default()
        })?;
    }
    Ok(index.optimize()?)
}

fn judgments(folder: &Path) -> Result<Judgments, Box<dyn Error>> {
    let mut judgments = Judgments::new();
    for line in fs::read_to_string(folder.join("qrels.tsv"))?.lines().skip(1) {
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

/// Returns the beginning of a question, as whole words, that a request may have (500 characters).
fn cut(question: &str) -> &str {
    let Some((limit, _)) = question.char_indices().nth(500) else { return question };
    let head = &question[..limit];
    head.rsplit_once(' ').map_or(head, |(head, _)| head)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}
