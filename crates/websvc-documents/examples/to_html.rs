//! Writes each document of the command line as HTML next to it, and prints its processor time.
//!
//! `cargo run --release -p websvc-documents --example to_html -- FOLDER FILE...` writes `FOLDER/FILE.html`.

#![expect(clippy::print_stdout, reason = "a program for developers")]

use std::path::Path;
use std::time::Instant;

use websvc_documents::{DocumentKind, Limits, parse};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().expect("the first argument is the folder of the results");
    for file in arguments {
        let bytes = std::fs::read(&file).expect("the file can be read");
        let kind = DocumentKind::detect(&bytes, None).unwrap_or(DocumentKind::Pdf);
        let start = Instant::now();
        let result = parse(kind, bytes, &Limits::default());
        let milliseconds = start.elapsed().as_secs_f64() * 1e3;
        match result {
            Ok(parsed) => {
                let pages = parsed.pages.as_ref().map_or(0, |pages| pages.read);
                println!("{file}\t{pages}\t{milliseconds:.2}\t{:?}", parsed.warnings);
                let name = Path::new(&file).file_name().unwrap_or_default().to_string_lossy().into_owned();
                std::fs::write(Path::new(&folder).join(name + ".html"), parsed.html)
                    .expect("the folder of the results can be written");
            }
            Err(error) => println!("{file}\t0\t{milliseconds:.2}\t{error}"),
        }
    }
}
