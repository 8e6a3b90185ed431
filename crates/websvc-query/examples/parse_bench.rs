//! Measures the parsers: `cargo run --release -p websvc-query --example parse_bench`.
//!
//! With a number as argument, it only parses ten words that many times, for a profiler.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark")]

use std::hint::black_box;
use std::time::Instant;

use websvc_query::{parse, parse_tbs};

const TEN_WORDS: &str = "how do I read lines of large files with pathlib";
const OPERATORS: &str =
    r#"site:docs.python.org "context manager" (async OR await) -filetype:pdf intitle:guide"#;
const TIME: &str = "cdr:1,cd_min:01/31/2024,cd_max:12/31/2024,sbd:1";

/// Repeated pieces that would be slow if the time were not linear, or the depth not bounded.
const PIECES: &[&str] = &[
    "a ",
    "\"",
    "a\"",
    "(",
    ")",
    "-(",
    "(a OR ",
    "-",
    "OR ",
    "site:",
    "site:? ",
    "site: ",
    "allintitle:a ",
    "é",
    "\u{ad}",
    "intitle:(",
    "x OR -(",
    "-\"\" ",
    "site:\u{fc}.a ",
];

fn main() {
    if let Some(rounds) = std::env::args().nth(1) {
        for _ in 0..rounds.parse::<u32>().unwrap() {
            black_box(parse(black_box(TEN_WORDS)));
        }
        return;
    }
    println!("{:>10.3} us  ten words", microseconds(|| drop(black_box(parse(black_box(TEN_WORDS))))));
    println!("{:>10.3} us  operators", microseconds(|| drop(black_box(parse(black_box(OPERATORS))))));
    println!("{:>10.3} us  tbs", microseconds(|| drop(black_box(parse_tbs(black_box(TIME))))));
    println!("\n500 bytes and 100 kB of:");
    for piece in PIECES {
        let [short, long] = [500, 100_000].map(|size| {
            let text = piece.repeat(size / piece.len());
            microseconds(|| drop(black_box(parse(black_box(&text)))))
        });
        println!("{short:>10.3} us {long:>10.1} us  {piece:?}");
    }
}

/// Returns the minimum of several measurements in microseconds per call. Each has enough calls for the clock.
fn microseconds(mut run: impl FnMut()) -> f64 {
    let mut rounds = 1_u32;
    let mut best = f64::MAX;
    for _ in 0..30 {
        let started = Instant::now();
        for _ in 0..rounds {
            run();
        }
        let elapsed = started.elapsed().as_secs_f64() * 1e6;
        best = best.min(elapsed / f64::from(rounds));
        if elapsed < 5_000.0 {
            rounds *= 2;
        }
    }
    best
}
