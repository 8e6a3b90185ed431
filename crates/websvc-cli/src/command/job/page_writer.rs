//! Output of the pages of a job: files, JSON lines, or the terminal.

use std::fs::File;
use std::io::{BufWriter, IntoInnerError, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use jiff::Timestamp;
use tempfile::NamedTempFile;
use websvc::types::job::JobDocument;

use crate::args::OutputArgs;
use crate::output;
use crate::page_output::{ConflictPolicy, PageFiles, WriteOutcome, address, draft_in, page_text, sweep};

/// So many files that are in the way are named.
const NAMED: u64 = 10;

/// Hands over pages.
#[derive(Debug)]
pub(super) struct PageWriter {
    files: Option<PageFiles>,
    lines: Option<Lines>,
    prints: Prints,
    pub(super) written: u64,
    /// Pages that were not written, because the files of others are where they would be.
    pub(super) occupied: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Prints {
    Pages,
    Nothing,
}

/// Lines of JSON.
#[derive(Debug)]
enum Lines {
    Printed,
    /// They get the name of the file when the last is written.
    Into(PathBuf, BufWriter<NamedTempFile>),
}

impl PageWriter {
    pub(super) fn open(handing: &OutputArgs) -> Result<Self> {
        let OutputArgs { output, force, jsonl, json, errors: _ } = handing;
        let others = if *force { ConflictPolicy::Go } else { ConflictPolicy::Stay };
        let files = output.as_deref().map(|directory| PageFiles::open(directory, others)).transpose()?;
        let lines = jsonl.as_deref().map(Lines::open).transpose()?;
        ensure!(
            !(*json && matches!(lines, Some(Lines::Printed))),
            "--json and --jsonl - both print: give --jsonl a file"
        );
        let prints =
            if files.is_none() && lines.is_none() && !json { Prints::Pages } else { Prints::Nothing };
        Ok(Self { files, lines, prints, written: 0, occupied: 0 })
    }

    /// Hands over a page.
    pub(super) fn take(&mut self, document: JobDocument) -> Result<()> {
        if let Some(lines) = &mut self.lines {
            lines.line(&serde_json::to_string(&document)?)?;
        }
        let JobDocument { content: mut page, warning } = document;
        if let Some(warning) = warning {
            output::note(&format!("warning: {}: {warning}", address(&page)));
        }
        let fetched = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        if let Some(files) = &mut self.files {
            match files.write(page, &fetched)? {
                WriteOutcome::Into(_) => self.written += 1,
                WriteOutcome::Occupied(path) => {
                    self.occupied += 1;
                    if self.occupied <= NAMED {
                        let path = path.display();
                        output::note(&format!(
                            "{path} is not of this command and stays; --force replaces it"
                        ));
                    }
                }
            }
            return Ok(());
        }
        match self.prints {
            Prints::Pages => print(&mut page, &fetched),
            Prints::Nothing => Ok(()),
        }
    }

    /// Gives the file of lines its name.
    pub(super) fn finish(&mut self) -> Result<()> {
        match self.lines.take() {
            Some(Lines::Into(path, lines)) => {
                let cannot = || format!("cannot write {}", path.display());
                let draft = lines.into_inner().map_err(IntoInnerError::into_error).with_context(cannot)?;
                let _written: File = draft.persist(&path).with_context(cannot)?;
                Ok(())
            }
            Some(Lines::Printed) | None => Ok(()),
        }
    }
}

/// Prints what a file would hold, and after it the other formats.
fn print(page: &mut websvc::types::PageContent, fetched: &str) -> Result<()> {
    if page.screenshot.as_deref().is_some_and(|file| file.starts_with("data:")) {
        output::note(&format!("the picture of {} is not printed: --output writes it", address(page)));
        page.screenshot = None;
    }
    let text = page_text(page, fetched);
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
            return Ok(Self::Printed);
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        sweep(folder);
        let draft = draft_in(folder).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self::Into(path.to_owned(), BufWriter::new(draft)))
    }

    fn line(&mut self, line: &str) -> Result<()> {
        match self {
            Self::Printed => output::line(line),
            Self::Into(path, lines) => {
                writeln!(lines, "{line}").with_context(|| format!("cannot write {}", path.display()))
            }
        }
    }
}
