//! Measures the baseline of searches: tantivy alone on an index of this crate. It finds the ten documents with the best
//! BM25 scores for any of the words of a query, without stemming, phrases, the ranking of this crate, stored documents
//! and snippets.
//!
//! `cargo run --release -p websvc-index --example bare_tantivy -- INDEX_DIR QUERY...` prints the searches per second.

#![expect(clippy::print_stdout, reason = "prints the measurement")]

use std::time::{Duration, Instant};

use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, Occur, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{Index, Searcher, Term};

/// Duration of the measurement.
const DURATION: Duration = Duration::from_secs(3);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().ok_or("usage: bare_tantivy INDEX_DIR QUERY...")?;
    let index = Index::open_in_dir(directory)?;
    let words = index.schema().get_field("exact")?;
    let queries: Vec<String> = arguments.collect();
    let searcher = index.reader()?.searcher();
    let started = Instant::now();
    let mut count = 0_u32;
    while started.elapsed() < DURATION {
        for query in &queries {
            search(&searcher, words, query)?;
            count += 1;
        }
    }
    println!("{:.2}", f64::from(count) / started.elapsed().as_secs_f64());
    Ok(())
}

fn search(searcher: &Searcher, field: Field, query: &str) -> tantivy::Result<()> {
    let words = query.split(|c: char| !c.is_alphanumeric() && c != '_');
    let clauses = words.filter(|word| !word.is_empty()).map(|word| {
        let term = Term::from_field_text(field, &word.to_lowercase());
        let query: Box<dyn Query> = Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs));
        (Occur::Should, query)
    });
    let query = BooleanQuery::new(clauses.collect());
    std::hint::black_box(searcher.search(&query, &TopDocs::with_limit(10).order_by_score())?);
    Ok(())
}
