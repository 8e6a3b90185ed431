//! Measures how many pages a second give the index what it takes, and which share of the time each part has.
//!
//! `cargo run --release -p websvc-extract --example pace -- FOLDER`; the folder holds HTML files.

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
        let mut done = || {
            *parts.next().expect("there are as many parts as laps") += lap.elapsed();
            lap = Instant::now();
        };
        let Ok(page) = Document::parse(Source { bytes: &bytes, content_type: Some("text/html"), url: &url })
        else {
            continue;
        };
        done();
        let content = page.content(&ContentOptions::default());
        done();
        std::hint::black_box((content.text(), content.headings()));
        done();
        std::hint::black_box(page.metadata());
        done();
        std::hint::black_box(page.image_details());
        done();
        std::hint::black_box(content.anchors());
        done();
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
