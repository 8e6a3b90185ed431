//! Converts pages to markdown with `htmd`, and their main content with `dom_smoothie`. Prints the CPU seconds of one pass
//! over the pages, one line per crate.

use std::hint::black_box;

use dom_smoothie::{Config, Readability, TextMode};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(list), Some(seconds)) = (arguments.next(), arguments.next()) else {
        return Err("usage: peer LIST_OF_FILES SECONDS".into());
    };
    let list = std::fs::read_to_string(list)?;
    let pages = list.lines().map(std::fs::read).collect::<Result<Vec<_>, _>>()?;
    let seconds: f64 = seconds.parse()?;
    println!("htmd\t{:.6}", time(&pages, seconds, |html| htmd::convert(html).ok()));
    println!("dom_smoothie\t{:.6}", time(&pages, seconds, article));
    Ok(())
}

fn article(html: &str) -> Option<String> {
    let config = Config { text_mode: TextMode::Markdown, ..Config::default() };
    let article = Readability::new(html, Some("http://docs.test/"), Some(config)).ok()?.parse().ok()?;
    Some(article.text_content.to_string())
}

/// Converts all pages repeatedly until `seconds` of CPU time are used, and returns the average time of a pass.
fn time(pages: &[Vec<u8>], seconds: f64, convert: impl Fn(&str) -> Option<String>) -> f64 {
    let (start, mut passes) = (cpu_seconds(), 0.0);
    loop {
        for page in pages {
            black_box(convert(&String::from_utf8_lossy(page)));
        }
        passes += 1.0;
        let elapsed = cpu_seconds() - start;
        if elapsed >= seconds {
            return elapsed / passes;
        }
    }
}

/// Returns the CPU time of this thread.
fn cpu_seconds() -> f64 {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    schedstat.split(' ').next().and_then(|time| time.parse::<f64>().ok()).unwrap_or_default() / 1e9
}
