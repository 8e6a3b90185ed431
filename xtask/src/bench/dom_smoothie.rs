//! Extracts the pages of a set with the crate `dom_smoothie`. Writes the texts into a folder and prints the number of
//! pages, the number of failures and the CPU seconds.

use dom_smoothie::{Config, Readability, TextMode};
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).map(PathBuf::from);
    let (Some(set), Some(out)) = (arguments.next(), arguments.next()) else {
        return Err("usage: peer SET_FOLDER OUT_FOLDER".into());
    };
    std::fs::create_dir_all(&out)?;
    std::panic::set_hook(Box::new(|_| ()));
    let mut pages = Vec::new();
    for line in std::fs::read_to_string(set.join("urls.tsv"))?.lines() {
        let Some((id, url)) = line.split_once('\t') else { continue };
        let Ok(html) = std::fs::read(set.join("html").join(format!("{id}.html"))) else { continue };
        pages.push((id.to_owned(), url.to_owned(), html));
    }
    // All pages in one measurement: the system counts CPU time in ticks, which is too coarse for a single page.
    let start = cpu_seconds();
    let texts: Vec<Option<String>> = pages
        .iter()
        .map(|(_, url, html)| {
            std::panic::catch_unwind(|| extract(&String::from_utf8_lossy(html), url)).ok().flatten()
        })
        .collect();
    let elapsed = cpu_seconds() - start;
    let failed = texts.iter().filter(|text| text.is_none()).count();
    for ((id, ..), text) in pages.iter().zip(texts) {
        std::fs::write(out.join(format!("{id}.txt")), text.unwrap_or_default())?;
    }
    println!("{}\t{failed}\t{elapsed:.4}", pages.len());
    Ok(())
}

fn extract(html: &str, url: &str) -> Option<String> {
    let config = Config { text_mode: TextMode::Formatted, ..Config::default() };
    let article = Readability::new(html, Some(url), Some(config)).ok()?.parse().ok()?;
    Some(article.text_content.to_string())
}

/// Returns the CPU time of this thread.
fn cpu_seconds() -> f64 {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    schedstat.split(' ').next().and_then(|time| time.parse::<f64>().ok()).unwrap_or_default() / 1e9
}
