//! Output of the pages of a job: files, JSON lines, or the terminal.

use std::fs::File;
use std::io::{BufWriter, IntoInnerError, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use jiff::Timestamp;
use tempfile::NamedTempFile;
use websvc::types::job::JobDocument;

use crate::args::OutputArgs;
use crate::command::scrape::error_status;
use crate::output;
use crate::page_output::{
    ConflictPolicy, PageFiles, WriteOutcome, draft_in, markdown_file, source_url, sweep,
};

/// Maximum number of failed pages that are printed without `--errors`.
pub(super) const MAX_PRINTED_FAILURES: usize = 10;

/// Maximum number of conflicting files that are printed.
const MAX_PRINTED_CONFLICTS: u64 = 10;

/// The outputs for the pages of a job.
#[derive(Debug)]
pub(super) struct PageWriter {
    files: Option<PageFiles>,
    lines: Option<Lines>,
    prints_pages: bool,
    pub(super) written: u64,
    /// Pages that were not written, because a file of another owner exists.
    pub(super) conflicts: u64,
    /// Pages with a status of 400 or above.
    pub(super) error_pages: u64,
    max_printed_errors: u64,
}

/// The output of JSON lines.
#[derive(Debug)]
enum Lines {
    Stdout,
    /// A draft, which gets the name of the file after the last line.
    File(PathBuf, BufWriter<NamedTempFile>),
}

impl PageWriter {
    pub(super) fn open(arguments: &OutputArgs) -> Result<Self> {
        let OutputArgs { output, force, jsonl, json, errors } = arguments;
        let max_printed_errors = if *errors { u64::MAX } else { MAX_PRINTED_FAILURES as u64 };
        let policy = if *force { ConflictPolicy::Replace } else { ConflictPolicy::Keep };
        let files = output.as_deref().map(|directory| PageFiles::open(directory, policy)).transpose()?;
        let lines = jsonl.as_deref().map(Lines::open).transpose()?;
        ensure!(
            !(*json && matches!(lines, Some(Lines::Stdout))),
            "--json and --jsonl - both write to stdout: use a file for --jsonl"
        );
        let prints_pages = files.is_none() && lines.is_none() && !json;
        Ok(Self { files, lines, prints_pages, written: 0, conflicts: 0, error_pages: 0, max_printed_errors })
    }

    /// Writes or prints a page.
    pub(super) fn write_page(&mut self, document: JobDocument) -> Result<()> {
        if let Some(lines) = &mut self.lines {
            lines.line(&serde_json::to_string(&document)?)?;
        }
        let JobDocument { content: mut page, warning } = document;
        if let Some(warning) = warning {
            output::warn(&format!("{}: {warning}", source_url(&page)));
        }
        if let Some(error) = page.metadata.as_ref().and_then(error_status) {
            self.error_pages += 1;
            if self.error_pages <= self.max_printed_errors {
                output::note(&format!("{}: {error}", source_url(&page)));
            }
        }
        let fetched = output::time(Timestamp::now());
        if let Some(files) = &mut self.files {
            match files.write(page, &fetched)? {
                WriteOutcome::Written(_) => self.written += 1,
                WriteOutcome::Occupied(path) => {
                    self.conflicts += 1;
                    if self.conflicts <= MAX_PRINTED_CONFLICTS {
                        let path = path.display();
                        output::note(&format!(
                            "{path} was not written by this command and is kept; --force replaces it"
                        ));
                    }
                }
            }
            return Ok(());
        }
        if self.prints_pages { print(&mut page, &fetched) } else { Ok(()) }
    }

    /// Completes the file of JSON lines.
    pub(super) fn finish(&mut self) -> Result<()> {
        match self.lines.take() {
            Some(Lines::File(path, lines)) => {
                let context = || format!("cannot write {}", path.display());
                let draft = lines.into_inner().map_err(IntoInnerError::into_error).with_context(context)?;
                let _written: File = draft.persist(&path).with_context(context)?;
                Ok(())
            }
            Some(Lines::Stdout) | None => Ok(()),
        }
    }
}

/// Prints the Markdown of a page as in a file, followed by the other formats.
fn print(page: &mut websvc::types::PageContent, fetched: &str) -> Result<()> {
    if page.screenshot.as_deref().is_some_and(|file| file.starts_with("data:")) {
        output::note(&format!(
            "the screenshot of {} is not printed; use --output to write it",
            source_url(page)
        ));
        page.screenshot = None;
    }
    let text = markdown_file(page, fetched);
    output::line(&text)?;
    for text in [page.html.take(), page.raw_html.take()].into_iter().flatten() {
        output::line(text.trim_end())?;
    }
    for url in [page.links.take(), page.images.take()].into_iter().flatten().flatten() {
        output::line(&url)?;
    }
    Ok(())
}

impl Lines {
    fn open(path: &Path) -> Result<Self> {
        if path == Path::new("-") {
            return Ok(Self::Stdout);
        }
        let directory =
            path.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."));
        sweep(directory);
        let draft = draft_in(directory).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self::File(path.to_owned(), BufWriter::new(draft)))
    }

    fn line(&mut self, line: &str) -> Result<()> {
        match self {
            Self::Stdout => output::line(line),
            Self::File(path, lines) => {
                writeln!(lines, "{line}").with_context(|| format!("cannot write {}", path.display()))
            }
        }
    }
}
