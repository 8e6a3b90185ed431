//! HTML to a document by size of page, beside the crates htmd and `dom_smoothie` on the same bytes.
//!
//! They are no dependencies: `cargo xtask bench` builds a program around them and names it in [`PEER`].

use std::fmt::Write;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;

use url::Url;
use websvc_extract::{ContentOptions, Document, Source};

use crate::parts::html_files;
use crate::process::cpu_seconds_of_this_thread;
use crate::report::Report;

/// Names the program around the other crates.
const PEER: &str = "WEBSVC_BENCH_PEER";

/// The sizes of pages, in kilobytes; those count that have from four fifths to five quarters of it.
const SIZES: [u64; 4] = [10, 20, 100, 500];

/// At most so many pages of a size.
const PAGES: usize = 40;

/// How often each is timed, one program after the other; the best time counts.
const ROUNDS: usize = 3;

/// A round goes over the pages again and again for so many seconds of CPU.
const ROUND_SECONDS: f64 = 0.5;

/// Measures pages of each size.
pub(crate) fn by_size(corpus: &Path, report: &mut Report) {
    let peer = std::env::var_os(PEER).map(PathBuf::from);
    if peer.is_none() {
        println!("htmd and dom_smoothie are absent: {PEER} names no program");
    }
    for size in SIZES {
        let mut files = html_files(corpus);
        files.retain(|file| {
            let bytes = file.metadata().unwrap().len();
            (size * 800..=size * 1_250).contains(&bytes)
        });
        files.sort_unstable();
        files.truncate(PAGES);
        if files.is_empty() {
            println!("HTML to a document, {size} kB: the corpus has no such page");
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
        for (at, (name, seconds)) in peer_seconds(peer, files).into_iter().enumerate() {
            match theirs.get_mut(at) {
                None => theirs.push((name, seconds)),
                Some((_, best)) => *best = seconds.min(*best),
            }
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "figures to be read")]
    let (count, megabytes) = (pages.len() as f64, pages.iter().map(Vec::len).sum::<usize>() as f64 / 1e6);
    let name = format!("HTML to a document, {size} kB");
    let text = format!("{:.0} pages/s, {:.1} MB/s", count / ours, megabytes / ours);
    report.text(&name, count / ours, text);
    for (peer, seconds) in theirs {
        report.ratio(&format!("{name}, ours / {peer}"), seconds / ours, "");
    }
}

/// Returns the CPU time that one pass over the pages takes.
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

/// Returns the same of each of the other crates.
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
