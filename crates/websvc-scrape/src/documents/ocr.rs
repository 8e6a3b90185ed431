//! Character recognition: pages are drawn by poppler and read by Tesseract, where these are installed.

use std::io;
use std::path::Path;
use std::process::Stdio;

use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use websvc_documents::{ParsedDocument, page_mark};

use super::error::ReadError;
use super::reader::{DocumentWorkers, ReadMode};

/// Draws pages.
const DRAW: &str = "pdftoppm";
/// Reads pictures.
const RECOGNISE: &str = "tesseract";
/// How many pixels the longer side of a page is drawn with: 200 to the inch on A4, whatever size the page says.
const PIXELS: &str = "2339";

/// Puts recognised text in the place of the pages without, or of all, as the mode says.
pub(super) async fn add_recognized_text(
    workers: &DocumentWorkers,
    parsed: &mut ParsedDocument,
    document: &[u8],
    mode: ReadMode,
) -> Result<(), ReadError> {
    let Some(pages) = parsed.pages.clone() else { return Ok(()) };
    let wanted: Vec<u32> = match mode {
        ReadMode::Fast => Vec::new(),
        ReadMode::Auto => pages.without_text.clone(),
        ReadMode::Ocr => (1..=pages.read).collect(),
    };
    if wanted.is_empty() {
        if !pages.without_text.is_empty() {
            parsed.warnings.push(format!(
                "{}: read the file in the mode \"auto\" or \"ocr\" to have it recognised",
                lacking(pages.without_text.len(), pages.read)
            ));
        }
        return Ok(());
    }
    if let Some(program) = missing().await {
        if mode == ReadMode::Ocr {
            return Err(ReadError::OcrMissing { program });
        }
        let missing = ReadError::OcrMissing { program };
        parsed.warnings.push(format!("{}, and {missing}", lacking(wanted.len(), pages.read)));
        return Ok(());
    }
    if mode == ReadMode::Ocr {
        parsed.html = wanted.iter().map(|page| page_mark(*page)).collect();
    }
    let mut empty = 0;
    for page in wanted {
        let html = as_html(&recognize(workers, document, page).await?);
        empty += usize::from(html.is_empty());
        parsed.html = parsed.html.replacen(&page_mark(page), &html, 1);
    }
    if empty > 0 {
        parsed.warnings.push(format!("no text was recognised on {empty} of {} pages", pages.read));
    }
    Ok(())
}

/// Says that pages came out empty, or nearly so: what is missing must not look like what is not there.
fn lacking(without: usize, read: u32) -> String {
    format!("{without} of {read} pages have little or no text in the file")
}

/// Returns the first of the programs that is not installed.
async fn missing() -> Option<&'static str> {
    for (program, argument) in [(DRAW, "-v"), (RECOGNISE, "--version")] {
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

async fn recognize(workers: &DocumentWorkers, document: &[u8], page: u32) -> Result<String, ReadError> {
    let page = page.to_string();
    let drawing = ["-f", &page, "-l", &page, "-scale-to", PIXELS, "-gray", "-"];
    let picture = run(workers, DRAW, &drawing, document).await?;
    let text = run(workers, RECOGNISE, &["stdin", "stdout", "--psm", "3"], &picture).await?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Runs a program within the limits of workers, with its input, and returns its output.
async fn run(
    workers: &DocumentWorkers,
    program: &'static str,
    arguments: &[&str],
    input: &[u8],
) -> Result<Vec<u8>, ReadError> {
    let failed = |error: io::Error| ReadError::Ocr { reason: format!("{program}: {error}") };
    let kept =
        ["PATH", "TESSDATA_PREFIX"].into_iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
    let mut child = Command::new(&workers.program)
        .args(&workers.arguments)
        .args(["--tool", program, "--"])
        .args(arguments)
        .env_clear()
        .envs(kept)
        // One thread per page: several pages are under way at one time already.
        .env("OMP_THREAD_LIMIT", "1")
        .current_dir(Path::new("/"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(failed)?;
    let stdin = child.stdin.take();
    let sending = async {
        if let Some(mut stdin) = stdin {
            // Its exit status says whether it had what it needed.
            let _ = stdin.write_all(input).await;
        }
    };
    let ((), output) = tokio::join!(sending, child.wait_with_output());
    let output = output.map_err(failed)?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(ReadError::Ocr { reason: format!("{program} ended with {}", output.status) })
    }
}

/// Returns recognised text as paragraphs: empty lines part them.
fn as_html(text: &str) -> String {
    let mut html = String::new();
    for paragraph in text.split("\n\n") {
        let line = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
        if !line.is_empty() {
            let line = line.replace('&', "&amp;").replace('<', "&lt;").replace('\u{c}', "");
            html.push_str(&format!("<p>{line}</p>\n"));
        }
    }
    html
}
