//! Redacts standard input and prints the speed:
//! `cargo run --release -p websvc-redact --example redact [aggressive] < text`.

use std::io::{Read, Write, stderr, stdin, stdout};
use std::time::Instant;

use websvc_redact::{Options, RedactMode, Syntax, redact};

fn main() -> std::io::Result<()> {
    let aggressive = std::env::args().any(|argument| argument == "aggressive");
    let mode = if aggressive { RedactMode::Aggressive } else { RedactMode::Fast };
    let options = Options { mode, ..Options::default() };
    let mut text = String::new();
    stdin().read_to_string(&mut text)?;
    // Builds the table of the gazetteer before the measurement.
    redact("Berlin", Syntax::Markdown, &options);
    let started = Instant::now();
    let redaction = redact(&text, Syntax::Markdown, &options);
    let seconds = started.elapsed().as_secs_f64();
    stdout().write_all(redaction.text.as_bytes())?;
    let megabytes = text.len() as f64 / 1e6;
    writeln!(
        stderr(),
        "{megabytes:.2} MB, {} findings, {:.1} MB/s, {:.2} bytes examined per byte",
        redaction.findings.len(),
        megabytes / seconds,
        redaction.work as f64 / text.len().max(1) as f64,
    )
}
