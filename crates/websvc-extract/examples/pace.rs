//! Measures how many pages per second can be extracted for the index, and the share of time of each part.
//!
//! `cargo run --release -p websvc-extract --example pace -- FOLDER`, with HTML files in the folder.

use std::time::{Duration, Instant};

use websvc_extract::{ContentOptions, Document, Source};

const PARTS: [&str; 6] = ["parse", "main content", "text", "metadata", "images", "links"];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args_os().nth(1).ok_or("usage: pace FOLDER")?;
    let url = url::Url::parse("https://example.com/dir/page")?;
    let mut times = [Duration::ZERO; PARTS.len()];
    let mut pages = 0_u32;
    for entry in std::fs::read_dir(folder)? {
        let bytes = std::fs::read(entry?.path())?;
        let mut lap = Instant::now();
        let mut parts = times.iter_mut();
        let mut end_lap = || {
            *parts.next().expect("PARTS has an entry per lap") += lap.elapsed();
            lap = Instant::now();
        };
        let Ok(page) = Document::parse(Source { bytes: &bytes, content_type: Some("text/html"), url: &url })
        else {
            continue;
        };
        end_lap();
        let content = page.content(&ContentOptions::default());
        end_lap();
        std::hint::black_box((content.text(), content.headings()));
        end_lap();
        std::hint::black_box(page.metadata());
        end_lap();
        std::hint::black_box(page.image_details());
        end_lap();
        std::hint::black_box(content.anchors());
        end_lap();
        pages += 1;
    }
    let total: Duration = times.iter().sum();
    let mut table = format!("{pages} pages, {:.0} pages/s\n", f64::from(pages) / total.as_secs_f64());
    for (name, time) in PARTS.iter().zip(times) {
        let share = 100.0 * time.as_secs_f64() / total.as_secs_f64();
        table += &format!(
            "{name:<13} {share:5.1} % {:8.1} us/page\n",
            time.as_secs_f64() * 1e6 / f64::from(pages)
        );
    }
    std::io::Write::write_all(&mut std::io::stdout(), table.as_bytes())?;
    Ok(())
}
