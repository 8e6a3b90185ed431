//! Relevance through the whole service: nDCG@10 on collections with human judgments.
//!
//! Each collection goes into a service of its own over `POST /v2/index/documents`; each judged question is asked by
//! `POST /v2/search`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use websvc_testkit::TestWeb;

use crate::ask::Connection;
use crate::process::Process;

/// Collections, the best nDCG@10 of BM25 on them, and the goal.
const SETS: [(&str, f64, f64); 3] =
    [("cranfield", 0.370, 0.39), ("cisi", 0.396, 0.42), ("scifact", 0.679, 0.70)];

/// The collections' folder, if not the one beside the sources.
const FOLDER: &str = "WEBSVC_IR";

/// The longest question that a request may have, in characters.
const QUESTION_CHARS: usize = 500;

/// Relevant documents of each query, with their grades.
type Judgments = HashMap<String, HashMap<String, f64>>;

/// Measures every collection that is there and prints a table.
pub(crate) async fn run() {
    let folder = std::env::var_os(FOLDER).map_or_else(|| PathBuf::from("../shared/data/ir"), PathBuf::from);
    let mut rows = Vec::new();
    for (set, bm25, goal) in SETS {
        let folder = folder.join(set);
        if !folder.exists() {
            println!("{set}: skipped, there is no folder {} ({FOLDER} names another)", folder.display());
            continue;
        }
        let world = TestWeb::builder().start().await;
        let data = tempfile::tempdir().unwrap();
        let process = Process::service(&world, data.path());
        let (ndcg, recall, questions) = measure(&process, set, &folder);
        println!("{set}: nDCG@10 {ndcg:.3}, R@100 {recall:.3}");
        rows.push(format!("| {set} | {questions} | {ndcg:.3} | {bm25:.3} | {goal:.2} | {recall:.3} |"));
    }
    if !rows.is_empty() {
        println!("\n| set | questions | nDCG@10 | best BM25 | goal | R@100 |\n|---|---|---|---|---|---|");
        rows.iter().for_each(|row| println!("{row}"));
    }
}

/// Returns nDCG@10 and recall@100, averaged over the judged questions, and their number.
fn measure(process: &Process, set: &str, folder: &Path) -> (f64, f64, u32) {
    let mut connection = Connection::to(process);
    let corpus = lines(&folder.join("corpus.jsonl"));
    connection.add(corpus.iter().map(|line| document(set, line)));
    connection.wait_for_documents(corpus.len() as u64);
    let judgments = judgments(&folder.join("qrels.tsv"));
    let (mut ndcg, mut recall, mut questions) = (0.0, 0.0, 0);
    for line in lines(&folder.join("queries.jsonl")) {
        let Some(gains) = judgments.get(text(&line, "_id")) else { continue };
        let mut ask = |limit: usize| -> Vec<f64> {
            let body = json!({ "query": head(text(&line, "text")), "limit": limit });
            let answer = connection.post("/v2/search", &body);
            let hits = answer["data"]["web"].as_array().cloned().unwrap_or_default();
            let id = |hit: &Value| text(hit, "url").rsplit('/').next().unwrap_or_default().to_owned();
            hits.iter().map(|hit| gains.get(&id(hit)).copied().unwrap_or(0.0)).collect()
        };
        let mut ideal: Vec<f64> = gains.values().copied().collect();
        ideal.sort_by(|a, b| b.total_cmp(a));
        ideal.truncate(10);
        ndcg += discounted(&ask(10)) / discounted(&ideal);
        recall += ask(100).iter().filter(|&&gain| gain > 0.0).map(|_| 1.0).sum::<f64>() / count(gains.len());
        questions += 1;
    }
    (ndcg / f64::from(questions), recall / f64::from(questions), questions)
}

fn document(set: &str, line: &Value) -> Value {
    json!({
        "url": format!("https://{set}.test/{}", text(line, "_id")),
        "title": text(line, "title"),
        "body": text(line, "text"),
    })
}

/// Returns the sum of gains, each divided by the logarithm of its rank.
fn discounted(gains: &[f64]) -> f64 {
    gains.iter().zip(2_u32..).map(|(gain, place)| gain / f64::from(place).log2()).sum()
}

#[expect(clippy::cast_precision_loss, reason = "a small number of documents")]
fn count(documents: usize) -> f64 {
    documents as f64
}

/// Returns the beginning of a question, in whole words, that a request may have.
fn head(question: &str) -> &str {
    let Some((limit, _)) = question.char_indices().nth(QUESTION_CHARS) else { return question };
    let head = &question[..limit];
    head.rsplit_once(' ').map_or(head, |(head, _)| head)
}

fn judgments(path: &Path) -> Judgments {
    let mut judgments = Judgments::new();
    for line in std::fs::read_to_string(path).unwrap().lines().skip(1) {
        let fields: Vec<_> = line.split('\t').collect();
        let gain: f64 = fields[2].parse().unwrap();
        if gain > 0.0 {
            judgments.entry(fields[0].to_owned()).or_default().insert(fields[1].to_owned(), gain);
        }
    }
    judgments
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}
