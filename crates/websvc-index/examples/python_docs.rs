//! Indexes an unpacked `python3-doc` package with a simple extractor, checks known queries and measures times.
//!
//! Usage: `python_docs HTML_DIR [INDEX_DIR]`
#![allow(clippy::print_stdout, reason = "prints its results")]

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use websvc_index::{Document, Index, IndexConfig, SearchOptions, SnippetMode};

/// Queries, and the page that must be among the first three hits.
const QUERIES: [(&str, &str); 20] = [
    ("asyncio gather", "library/asyncio-task.html"),
    ("\"context manager\"", "library/contextlib.html"),
    ("csv reader delimiter", "library/csv.html"),
    ("json dumps indent", "library/json.html"),
    ("pathlib glob", "library/pathlib.html"),
    ("subprocess timeout", "library/subprocess.html"),
    ("regular expression syntax", "library/re.html"),
    ("how do I parse command line arguments", "library/argparse.html"),
    ("list comprehension tutorial", "tutorial/datastructures.html"),
    ("logging rotating file handler", "library/logging.handlers.html"),
    ("sqlite3 row factory", "library/sqlite3.html"),
    ("dataclass default factory field", "library/dataclasses.html"),
    ("thread pool executor", "library/concurrent.futures.html"),
    ("unittest mock patch", "library/unittest.mock.html"),
    ("decimal rounding", "library/decimal.html"),
    ("itertools permutations", "library/itertools.html"),
    ("what's new in python 3.8 walrus operator", "whatsnew/3.8.html"),
    ("extending python with C", "extending/extending.html"),
    ("datetime strftime format codes", "library/datetime.html"),
    ("intitle:enum howto", "howto/enum.html"),
];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(html) = arguments.first() else {
        println!("usage: python_docs HTML_DIR [INDEX_DIR]");
        return Ok(());
    };
    let temporary = tempfile::tempdir()?;
    let dir = arguments.get(1).map_or(temporary.path(), Path::new);
    let start = Instant::now();
    let index = Index::open(dir, IndexConfig::default())?;
    println!("open: {:?}, {} kB resident", start.elapsed(), resident_kb());
    if index.stats()?.documents == 0 {
        let start = Instant::now();
        let mut text_bytes = 0;
        add_dir(&index, Path::new(html), Path::new(html), &mut text_bytes)?;
        index.flush()?;
        let elapsed = start.elapsed();
        println!("indexed {text_bytes} bytes of text in {elapsed:?}, {} kB resident", resident_kb());
        index.optimize()?;
    }
    println!("{:?}", index.stats()?);
    let mut missed = 0;
    for (query, page) in QUERIES {
        let outcome = index.search(&websvc_query::parse(query).query, &SearchOptions::default())?;
        let rank = outcome.hits.iter().position(|hit| hit.url.ends_with(page));
        missed += usize::from(rank.is_none_or(|rank| rank > 2));
        println!("{query:45} rank {:?}", rank.map(|rank| rank + 1));
        for hit in outcome.hits.iter().take(if rank.is_some_and(|rank| rank < 3) { 1 } else { 4 }) {
            println!("    {:.1} {} | {}", hit.score, hit.url, hit.description);
        }
    }
    println!("missed: {missed}");
    for highlights in [SnippetMode::Passages, SnippetMode::PageDescription] {
        measure(&index, highlights)?;
    }
    println!("{} kB resident at the end", resident_kb());
    Ok(())
}

fn measure(index: &Index, highlights: SnippetMode) -> Result<(), Box<dyn Error>> {
    const ROUNDS: usize = 200;
    for queries in [&QUERIES[..2], &QUERIES[2..7], &QUERIES] {
        let start = cpu_time();
        for _ in 0..ROUNDS {
            for (query, _) in queries {
                let options = SearchOptions { highlights, ..SearchOptions::default() };
                index.search(&websvc_query::parse(query).query, &options)?;
            }
        }
        let each = (cpu_time() - start) / u32::try_from(ROUNDS * queries.len())?;
        println!("{highlights:?}, {} queries: {each:?} CPU each", queries.len());
    }
    Ok(())
}

fn add_dir(index: &Index, root: &Path, dir: &Path, text_bytes: &mut usize) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            add_dir(index, root, &path, text_bytes)?;
        } else if path.extension().is_some_and(|extension| extension == "html") {
            let html = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
            let title = between(&html, "<title>", "</title>").to_owned();
            let main = between(&html, "<div class=\"body\" role=\"main\">", "<div class=\"sphinxsidebar\"");
            let body = strip(if main.is_empty() { &html } else { main });
            *text_bytes += body.len();
            let url = format!("https://docs.python.org/3/{}", path.strip_prefix(root)?.display());
            index.add(Document { url, title: strip(&title), body, ..Document::default() })?;
        }
    }
    Ok(())
}

fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let rest = text.split_once(from).map_or("", |(_, rest)| rest);
    rest.split_once(to).map_or(rest, |(inner, _)| inner)
}

/// Removes tags; block ends become line feeds.
fn strip(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    for part in html.split('<') {
        let (tag, text) = part.split_once('>').unwrap_or(("", part));
        if ["/p", "/li", "/h1", "/h2", "/h3", "/dt", "/pre", "/tr"].contains(&tag) {
            out.push('\n');
        }
        out.push_str(text);
    }
    let entities = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&#8212;", "\u{2014}"),
        ("&amp;", "&"),
    ];
    entities.iter().fold(out, |text, (from, to)| text.replace(from, to))
}

/// Returns the CPU time of this thread, which other processes disturb less than wall-clock time.
fn cpu_time() -> Duration {
    let line = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = line.split(' ').next().and_then(|field| field.parse().ok()).unwrap_or(0);
    Duration::from_nanos(nanoseconds)
}

fn resident_kb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}
