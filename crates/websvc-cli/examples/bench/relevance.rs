//! Measures the relevance of the whole service: nDCG@10 on collections with human judgments.
//!
//! Each collection is uploaded to a new service by `POST /v2/index/documents`. Each judged query is sent to
//! `POST /v2/search`. A collection made of feedback has the judgments of `websvc feedback export`, and the documents of
//! `websvc index export`. With `WEBSVC__SEMANTIC__MODEL` in the environment, the searches are by meaning, after all documents
//! were encoded.

#[path = "../../src/command/eval/measure.rs"]
mod measure;
mod trec;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use websvc_testkit::TestWeb;

use self::measure::{Measures, TABLE_HEAD};
use self::trec::Judgments;
use crate::connection::Connection;
use crate::process::Process;

/// Collections, each with the best nDCG@10 of BM25 and the goal.
const SETS: [(&str, f64, f64); 3] =
    [("cranfield", 0.370, 0.39), ("cisi", 0.396, 0.42), ("scifact", 0.679, 0.70)];

/// The variable with the directory of the collections, if it is not the default one.
const DIRECTORY_VARIABLE: &str = "WEBSVC_IR";

/// The directory of the collection that is made of feedback.
const FEEDBACK: &str = "feedback";

/// The file with judgments of feedback, in the format of TREC.
const FEEDBACK_QRELS: &str = "qrels.txt";

/// Maximum length of a query in characters.
const MAX_QUERY_CHARS: usize = 500;

/// Measures every available collection and prints a table.
pub(crate) async fn run() {
    let folder = std::env::var_os(DIRECTORY_VARIABLE)
        .map_or_else(|| PathBuf::from("../shared/data/ir"), PathBuf::from);
    let mut rows = Vec::new();
    let sets = SETS.map(|(set, bm25, goal)| (set, format!("{bm25:.3}"), format!("{goal:.2}")));
    let feedback = (FEEDBACK, "-".to_owned(), "-".to_owned());
    for (set, bm25, goal) in sets.into_iter().chain([feedback]) {
        let folder = folder.join(set);
        if !folder.exists() {
            println!(
                "{set}: skipped, {} does not exist ({DIRECTORY_VARIABLE} sets another directory)",
                folder.display()
            );
            continue;
        }
        let world = TestWeb::builder().start().await;
        let data = tempfile::tempdir().unwrap();
        let process = Process::service(&world, data.path());
        let measures = measure(&process, set, &folder);
        let Measures { ndcg, recall, .. } = measures.means();
        println!("{set}: nDCG@10 {ndcg:.3}, R@100 {recall:.3}");
        rows.push(measures.row(set, &bm25, &goal));
    }
    if !rows.is_empty() {
        println!("\n{TABLE_HEAD}");
        rows.iter().for_each(|row| println!("{row}"));
    }
}

/// Returns the sums of the measures of the judged queries.
fn measure(process: &Process, set: &str, folder: &Path) -> Measures {
    let mut connection = Connection::open(process);
    let corpus = lines(&folder.join("corpus.jsonl"));
    connection.add(corpus.iter().map(|line| document(set, line)));
    connection.wait_for_documents(corpus.len() as u64);
    if std::env::vars().any(|(name, _)| name.starts_with("WEBSVC__SEMANTIC__")) {
        wait_for_vectors(process);
    }
    let is_feedback = folder.join(FEEDBACK_QRELS).exists();
    let judgments = if is_feedback {
        trec::read(&folder.join(FEEDBACK_QRELS))
    } else {
        judgments(&folder.join("qrels.tsv"))
    };
    let mut total = Measures::default();
    for line in lines(&folder.join("queries.jsonl")) {
        let Some(gains) = judgments.get(text(&line, "_id")) else { continue };
        let mut gains_of_hits = |limit: usize| -> Vec<f64> {
            let body = json!({ "query": shortened(text(&line, "text")), "limit": limit });
            let response = connection.post("/v2/search", &body);
            let hits = response["data"]["web"].as_array().cloned().unwrap_or_default();
            let id = |hit: &Value| {
                let url = text(hit, "url");
                if is_feedback { url } else { url.rsplit('/').next().unwrap_or_default() }.to_owned()
            };
            hits.iter().map(|hit| gains.get(&id(hit)).copied().unwrap_or(0.0)).collect()
        };
        let judged: Vec<f64> = gains.values().copied().collect();
        let first = Measures::from_gains(&gains_of_hits(10), &judged);
        let Measures { recall, .. } = Measures::from_gains(&gains_of_hits(100), &judged);
        total.add(Measures { recall, ..first });
    }
    total
}

/// Waits until all documents are encoded for the search by meaning.
fn wait_for_vectors(process: &Process) {
    let mut before = (0, 0);
    loop {
        std::thread::sleep(Duration::from_secs(3));
        let now = semantic_pages(process);
        // Documents are counted as waiting by the next look at the index, within a second.
        if now == before && now.0 > 0 && now.1 == 0 {
            return;
        }
        before = now;
    }
}

/// Returns the numbers of documents that are encoded and that wait, from the metrics.
fn semantic_pages(process: &Process) -> (u64, u64) {
    let mut stream = TcpStream::connect(&process.address).unwrap();
    let host = &process.address;
    write!(stream, "GET /metrics HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    let value = |state: &str| {
        let name = format!("websvc_semantic_pages{{state=\"{state}\"}} ");
        let mut lines = response.lines().filter_map(|line| line.strip_prefix(&name));
        lines.next().and_then(|value| value.parse().ok()).unwrap_or(0)
    };
    (value("encoded"), value("waiting"))
}

/// Returns a document. The documents of an index are uploaded as they are.
fn document(set: &str, line: &Value) -> Value {
    if line["url"].is_string() {
        return line.clone();
    }
    json!({
        "url": format!("https://{set}.test/{}", text(line, "_id")),
        "title": text(line, "title"),
        "body": text(line, "text"),
    })
}

/// Returns the start of a query, in whole words, up to the maximum length.
fn shortened(query: &str) -> &str {
    let Some((limit, _)) = query.char_indices().nth(MAX_QUERY_CHARS) else { return query };
    let head = &query[..limit];
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
