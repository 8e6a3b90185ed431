//! Character recognition (OCR): poppler renders the pages and Tesseract reads them, if both are installed.

use std::io;
use std::path::Path;
use std::process::Stdio;

use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use websvc_documents::{ParsedDocument, page_mark, page_start, recognized_html};
use websvc_transport::run_blocking;
use websvc_types::counted;

use super::error::ReadError;
use super::reader::{DocumentWorkers, ReadMode, ReadOptions};

/// The program that renders a page of a PDF.
const RENDERER: &str = "pdftoppm";
/// The program that recognizes the text of an image.
const RECOGNIZER: &str = "tesseract";
/// The arguments of the recognizer: it finds columns by itself, and writes a table of words.
const RECOGNITION: [&str; 6] = ["stdin", "stdout", "--psm", "3", "-c", "tessedit_create_tsv=1"];
/// The length of the longer side of a rendered page in pixels, whatever size the file states: 200 dpi for A4.
const PAGE_PIXELS: &str = "2339";

/// Replaces the content of pages without text, or of all pages, by recognized text, depending on the mode.
pub(super) async fn add_recognized_text(
    workers: &DocumentWorkers,
    parsed: &mut ParsedDocument,
    document: &[u8],
    options: &ReadOptions,
) -> Result<(), ReadError> {
    let mode = options.mode;
    let Some(pages) = parsed.pages.clone() else { return Ok(()) };
    let selected: Vec<u32> = match mode {
        ReadMode::Fast => Vec::new(),
        ReadMode::Auto => pages.without_text.clone(),
        ReadMode::Ocr => (1..=pages.read).collect(),
    };
    if selected.is_empty() {
        if !pages.without_text.is_empty() {
            parsed.warnings.push(format!(
                "{}: use the mode \"auto\" or \"ocr\" to recognize their text",
                little_text_warning(pages.without_text.len(), pages.read)
            ));
        }
        return Ok(());
    }
    if let Some(program) = missing_program().await {
        let error = ReadError::OcrMissing { program };
        if mode == ReadMode::Ocr {
            return Err(error);
        }
        parsed.warnings.push(format!("{}, and {error}", little_text_warning(selected.len(), pages.read)));
        return Ok(());
    }
    if mode == ReadMode::Ocr {
        let marks = |page: &u32| page_start(*page) + &page_mark(*page);
        let separated: String = selected.iter().map(marks).collect();
        parsed.html = if options.output.starts {
            separated.clone()
        } else {
            selected.iter().map(|page| page_mark(*page)).collect()
        };
        parsed.page_html = options.output.separate.then(|| separated.clone());
        parsed.layout_html = options.output.layout.then_some(separated);
    }
    let mut empty_count = 0;
    for page in selected {
        let words = recognize(workers, document, page).await?;
        let writing = run_blocking(move || recognized_html(&words)).await;
        let html = writing.map_err(|error| ReadError::Ocr { reason: error.to_string() })?;
        empty_count += usize::from(html.is_empty());
        let mark = page_mark(page);
        parsed.html = parsed.html.replacen(&mark, &html, 1);
        for pages in [&mut parsed.page_html, &mut parsed.layout_html].into_iter().flatten() {
            *pages = pages.replacen(&mark, &html, 1);
        }
    }
    if empty_count > 0 {
        parsed.warnings.push(format!(
            "no text was recognized on {empty_count} of {}",
            counted(pages.read, "page", "pages")
        ));
    }
    Ok(())
}

/// Returns the beginning of a warning about pages with little or no text, which a caller must not take for blank.
fn little_text_warning(without_text: usize, read: u32) -> String {
    format!("there is little or no text on {without_text} of {} in the file", counted(read, "page", "pages"))
}

/// Returns the first of the programs that is not installed.
async fn missing_program() -> Option<&'static str> {
    for (program, argument) in [(RENDERER, "-v"), (RECOGNIZER, "--version")] {
        let started = Command::new(program)
            .arg(argument)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .status()
            .await;
        if started.is_err() {
            return Some(program);
        }
    }
    None
}

/// Returns the words of a page with their positions, as Tesseract writes them.
async fn recognize(workers: &DocumentWorkers, document: &[u8], page: u32) -> Result<String, ReadError> {
    let page = page.to_string();
    let render_arguments = ["-f", &page, "-l", &page, "-scale-to", PAGE_PIXELS, "-gray", "-"];
    let image = run(workers, RENDERER, &render_arguments, document).await?;
    let text = run(workers, RECOGNIZER, &RECOGNITION, &image).await?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Runs a program on an input within the limits of a worker, and returns its output.
async fn run(
    workers: &DocumentWorkers,
    program: &'static str,
    arguments: &[&str],
    input: &[u8],
) -> Result<Vec<u8>, ReadError> {
    let to_error = |error: io::Error| ReadError::Ocr { reason: format!("{program}: {error}") };
    let inherited =
        ["PATH", "TESSDATA_PREFIX"].into_iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
    let mut child = Command::new(&workers.program)
        .args(&workers.arguments)
        .args(["--tool", program, "--"])
        .args(arguments)
        .env_clear()
        .envs(inherited)
        // One thread per document: several documents are read concurrently already.
        .env("OMP_THREAD_LIMIT", "1")
        .current_dir(Path::new("/"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(to_error)?;
    let stdin = child.stdin.take();
    let sending = async {
        if let Some(mut stdin) = stdin {
            // The exit status shows whether the program got the input that it needs.
            let _ = stdin.write_all(input).await;
        }
    };
    let ((), output) = tokio::join!(sending, child.wait_with_output());
    let output = output.map_err(to_error)?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(ReadError::Ocr { reason: format!("{program} ended with {}", output.status) })
    }
}
