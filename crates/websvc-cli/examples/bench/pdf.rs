//! Compares the parsing of a PDF with `pdftotext` of poppler-utils.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use flate2::Compression;
use flate2::write::ZlibEncoder;
use url::Url;
use websvc_documents::{DocumentKind, Limits, parse};
use websvc_extract::{ContentOptions, Document, Source};

use crate::parts::html_files;
use crate::process::{cpu_seconds_of_children, cpu_seconds_of_this_thread};
use crate::report::Report;

/// Pages of the file.
const PAGES: usize = 400;

/// Lines of a page, and characters of a line.
const LINES: usize = 60;
const LINE_CHARS: usize = 92;

/// Measurements of each program, which alternate. The best time counts.
const ROUNDS: usize = 3;

/// Measures a compressed file with text of the corpus in one column, with headings and standard fonts.
pub(crate) fn pages(corpus: &Path, report: &mut Report) {
    let file = pdf(&lines(corpus));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("manual.pdf");
    std::fs::write(&path, &file).unwrap();
    let (mut ours, mut theirs) = (f64::MAX, None::<f64>);
    for _ in 0..ROUNDS {
        let (bytes, start) = (file.clone(), cpu_seconds_of_this_thread());
        let parsed = parse(DocumentKind::Pdf, bytes, &Limits::default()).unwrap();
        ours = ours.min(cpu_seconds_of_this_thread() - start);
        assert_eq!(parsed.pages.map(|pages| pages.read as usize), Some(PAGES));
        if let Some(seconds) = poppler(&path) {
            theirs = Some(theirs.map_or(seconds, |best| best.min(seconds)));
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "only printed")]
    let count = PAGES as f64;
    report.number("PDF to HTML, pages of text per CPU second", count / ours, "/s", "");
    match theirs {
        Some(theirs) => report.ratio("PDF to HTML, ours / pdftotext", theirs / ours, ""),
        None => println!("PDF: pdftotext is not installed (Debian's package poppler-utils)"),
    }
}

/// Returns the CPU seconds of `pdftotext` including its start; `None` if it is not installed.
fn poppler(file: &Path) -> Option<f64> {
    let start = cpu_seconds_of_children();
    let status =
        Command::new("pdftotext").arg(file).arg("-").stdout(Stdio::null()).stderr(Stdio::null()).status();
    assert!(status.ok()?.success(), "pdftotext failed");
    Some(cpu_seconds_of_children() - start)
}

/// Returns the lines of the file from the corpus. Lines that start with `#` are headings.
fn lines(corpus: &Path) -> Vec<String> {
    let url = Url::parse("http://docs.test/").unwrap();
    let mut files = html_files(corpus);
    files.sort_unstable();
    let mut lines = Vec::with_capacity(PAGES * LINES);
    for file in files {
        let bytes = std::fs::read(&file).unwrap();
        let source = Source { bytes: &bytes, content_type: Some("text/html"), url: &url };
        let page = Document::parse(source).unwrap();
        for paragraph in page.content(&ContentOptions::default()).markdown().lines() {
            wrap(paragraph, &mut lines);
        }
        if lines.len() >= PAGES * LINES {
            break;
        }
    }
    lines.truncate(PAGES * LINES);
    lines
}

fn wrap(paragraph: &str, lines: &mut Vec<String>) {
    let mut line = String::new();
    for word in paragraph.split_whitespace() {
        if !line.is_empty() && line.len() + word.len() >= LINE_CHARS {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.extend(word.chars().filter(char::is_ascii).take(LINE_CHARS));
    }
    if !line.is_empty() {
        lines.push(line);
    }
}

/// Returns a PDF file with these lines.
fn pdf(lines: &[String]) -> Vec<u8> {
    let mut objects = vec![
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        Vec::new(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_vec(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>".to_vec(),
    ];
    let mut kids = String::new();
    for page in lines.chunks(LINES) {
        let number = objects.len() + 1;
        write!(kids, "{number} 0 R ").unwrap();
        let page_object = format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {} 0 R \
             /Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> >>",
            number + 1
        );
        objects.push(page_object.into_bytes());
        objects.push(content(page));
    }
    objects[1] =
        format!("<< /Type /Pages /Kids [{kids}] /Count {} >>", lines.chunks(LINES).len()).into_bytes();

    let mut file = b"%PDF-1.7\n".to_vec();
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for (number, object) in (1..).zip(&objects) {
        writeln!(table, "{:010} 00000 n ", file.len()).unwrap();
        file.extend_from_slice(format!("{number} 0 obj\n").as_bytes());
        file.extend_from_slice(object);
        file.extend_from_slice(b"\nendobj\n");
    }
    let (start, size) = (file.len(), objects.len() + 1);
    file.extend_from_slice(table.as_bytes());
    let trailer = format!("trailer\n<< /Root 1 0 R /Size {size} >>\nstartxref\n{start}\n%%EOF\n");
    file.extend_from_slice(trailer.as_bytes());
    file
}

/// Returns the content stream of a page.
fn content(lines: &[String]) -> Vec<u8> {
    let mut text = String::new();
    for (line, y) in lines.iter().zip((0..).map(|index| 770 - 12 * index)) {
        let heading = line.trim_start_matches('#');
        let (font, size) = if heading.len() < line.len() { ("F2", 14) } else { ("F1", 10) };
        let escaped = heading.trim().replace('\\', "\\\\").replace('(', "\\(").replace(')', "\\)");
        writeln!(text, "BT /{font} {size} Tf 50 {y} Td ({escaped}) Tj ET").unwrap();
    }
    let mut compressed = ZlibEncoder::new(Vec::new(), Compression::default());
    compressed.write_all(text.as_bytes()).unwrap();
    let compressed = compressed.finish().unwrap();
    let mut object =
        format!("<< /Length {} /Filter /FlateDecode >>\nstream\n", compressed.len()).into_bytes();
    object.extend_from_slice(&compressed);
    object.extend_from_slice(b"\nendstream");
    object
}
