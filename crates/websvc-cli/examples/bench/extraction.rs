//! Compares the extraction of HTML by page size with the crates htmd and `dom_smoothie`.
//!
//! These crates are not dependencies: `cargo xtask bench` builds a program that uses them, and sets [`PEER`].

use std::fmt::Write;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;

use url::Url;
use websvc_extract::{ContentOptions, Document, Source};

use crate::parts::html_files;
use crate::process::cpu_seconds_of_this_thread;
use crate::report::Report;

/// The variable with the path of the program that uses the other crates.
const PEER: &str = "WEBSVC_BENCH_PEER";

/// Page sizes in kilobytes. Pages from 80 % to 125 % of a size count.
const SIZES: [u64; 4] = [10, 20, 100, 500];

/// Maximum number of pages of a size.
const MAX_PAGES: usize = 40;

/// Measurements of each program, which alternate. The best time counts.
const ROUNDS: usize = 3;

/// CPU seconds of a round, which repeats the pages.
const ROUND_SECONDS: f64 = 0.5;

/// Measures pages of each size.
pub(crate) fn by_size(corpus: &Path, report: &mut Report) {
    let peer = std::env::var_os(PEER).map(PathBuf::from);
    if peer.is_none() {
        println!("htmd and dom_smoothie are skipped, {PEER} is not set");
    }
    for size in SIZES {
        let mut files = html_files(corpus);
        files.retain(|file| {
            let bytes = file.metadata().unwrap().len();
            (size * 800..=size * 1_250).contains(&bytes)
        });
        files.sort_unstable();
        files.truncate(MAX_PAGES);
        if files.is_empty() {
            println!("HTML to a document, {size} kB: the corpus has no page of this size");
            continue;
        }
        measure(size, &files, peer.as_deref(), report);
    }
}

fn measure(size: u64, files: &[PathBuf], peer: Option<&Path>, report: &mut Report) {
    let pages: Vec<Vec<u8>> = files.iter().map(|path| std::fs::read(path).unwrap()).collect();
    let (mut ours, mut theirs) = (f64::MAX, Vec::new());
    for _ in 0..ROUNDS {
        ours = ours.min(own_seconds(&pages));
        let Some(peer) = peer else { continue };
        for (index, (name, seconds)) in peer_seconds(peer, files).into_iter().enumerate() {
            match theirs.get_mut(index) {
                None => theirs.push((name, seconds)),
                Some((_, best)) => *best = seconds.min(*best),
            }
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "only printed")]
    let (count, megabytes) = (pages.len() as f64, pages.iter().map(Vec::len).sum::<usize>() as f64 / 1e6);
    let name = format!("HTML to a document, {size} kB");
    let text = format!("{:.0} pages/s, {:.1} MB/s", count / ours, megabytes / ours);
    report.text(&name, count / ours, text);
    for (peer, seconds) in theirs {
        report.ratio(&format!("{name}, ours / {peer}"), seconds / ours, "");
    }
}

/// Returns the CPU seconds of one pass over the pages.
pub(crate) fn own_seconds(pages: &[Vec<u8>]) -> f64 {
    let url = Url::parse("http://docs.test/").unwrap();
    let (start, mut passes) = (cpu_seconds_of_this_thread(), 0.0);
    loop {
        for bytes in pages {
            let source = Source { bytes, content_type: Some("text/html"), url: &url };
            let page = Document::parse(source).unwrap();
            black_box(page.content(&ContentOptions::default()).markdown());
        }
        passes += 1.0;
        let spent = cpu_seconds_of_this_thread() - start;
        if spent >= ROUND_SECONDS {
            return spent / passes;
        }
    }
}

/// Returns the CPU seconds of one pass for each of the other crates.
fn peer_seconds(peer: &Path, files: &[PathBuf]) -> Vec<(String, f64)> {
    let mut list = String::new();
    files.iter().for_each(|file| writeln!(list, "{}", file.display()).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pages");
    std::fs::write(&path, list).unwrap();
    let output = Command::new(peer).arg(&path).arg(ROUND_SECONDS.to_string()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let table = String::from_utf8(output.stdout).unwrap();
    let row = |line: &str| {
        let (name, seconds) = line.split_once('\t').unwrap();
        (name.to_owned(), seconds.parse().unwrap())
    };
    table.lines().map(row).collect()
}
