//! Extracts the pages of a set with the crate dom_smoothie: texts into a folder, seconds of CPU to the output.

use dom_smoothie::{Config, Readability, TextMode};
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).map(PathBuf::from);
    let (Some(set), Some(out)) = (arguments.next(), arguments.next()) else {
        return Err("usage: peer SET_FOLDER OUT_FOLDER".into());
    };
    std::fs::create_dir_all(&out)?;
    std::panic::set_hook(Box::new(|_| ()));
    let (mut pages, mut failed, mut spent) = (0, 0, 0.0);
    for line in std::fs::read_to_string(set.join("urls.tsv"))?.lines() {
        let Some((id, url)) = line.split_once('\t') else { continue };
        let Ok(bytes) = std::fs::read(set.join("html").join(format!("{id}.html"))) else { continue };
        let start = cpu_seconds();
        let html = String::from_utf8_lossy(&bytes);
        let text = std::panic::catch_unwind(|| extract(&html, url)).ok().flatten();
        spent += cpu_seconds() - start;
        pages += 1;
        failed += usize::from(text.is_none());
        std::fs::write(out.join(format!("{id}.txt")), text.unwrap_or_default())?;
    }
    println!("{pages}\t{failed}\t{spent:.4}");
    Ok(())
}

fn extract(html: &str, url: &str) -> Option<String> {
    let config = Config { text_mode: TextMode::Formatted, ..Config::default() };
    let article = Readability::new(html, Some(url), Some(config)).ok()?.parse().ok()?;
    Some(article.text_content.to_string())
}

/// Returns the CPU time this thread has used.
fn cpu_seconds() -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    told.split(' ').next().and_then(|time| time.parse::<f64>().ok()).unwrap_or_default() / 1e9
}
