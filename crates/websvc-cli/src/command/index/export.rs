//! `websvc index export`: writes all documents as JSON lines for `index import`.

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use serde::Serialize;
use tempfile::NamedTempFile;
use websvc_engine::to_index_document;
use websvc_index::{Index, IndexConfig};
use websvc_types::counted;
use zstd::stream::write::Encoder;

use super::maintain::host;
use crate::CommandContext;
use crate::app;
use crate::args::Export;
use crate::command::serve::stop_signal;
use crate::output;
use crate::progress::Progress;

/// Size of the write buffer.
const BUFFER_BYTES: usize = 256 * 1024;

/// The destination of the documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target<'a> {
    Stdout,
    Plain(&'a Path),
    Zstd(&'a Path),
}

impl<'a> Target<'a> {
    fn from_file(file: &'a Path) -> Result<Self> {
        let name = file.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        Ok(match name.as_str() {
            "-" => Self::Stdout,
            _ if name.ends_with(".jsonl.zst") => Self::Zstd(file),
            _ if name.ends_with(".jsonl") => Self::Plain(file),
            _ => bail!("cannot export to {}: the name must end with .jsonl.zst or .jsonl", file.display()),
        })
    }
}

/// The summary of an export.
#[derive(Debug, Serialize)]
struct Report {
    documents: u64,
    /// Number of written bytes, after compression.
    bytes: u64,
    elapsed_ms: u128,
}

/// Runs `websvc index export`.
///
/// It reads one snapshot of the index without a lock, so another process may write at the same time.
pub(super) async fn export(context: CommandContext, arguments: Export) -> Result<()> {
    let Export { file, site, json } = arguments;
    let is_stdout = Target::from_file(&file)? == Target::Stdout;
    let site = site.as_deref().map(host).transpose()?;
    let server = app::index_server(&context.config).map(str::to_owned);
    let stopped = Arc::new(AtomicBool::new(false));
    let stop = Arc::clone(&stopped);
    let mut writing = websvc_transport::spawn_blocking(move || {
        let index = Index::open(&context.data_dir.index(), IndexConfig::default())?;
        if let Some(server) = server {
            ensure!(index.document_count() > 0, "{}", nothing_local(&server));
            output::note(&format!(
                "only the local index is exported; the pages in {server} are not included"
            ));
        }
        run(&index, &file, site.as_deref(), &stop)
    });
    let report = tokio::select! {
        report = &mut writing => report??,
        () = stop_signal()? => {
            stopped.store(true, Ordering::Relaxed);
            writing.await??
        }
    };
    let summary = match json {
        true => serde_json::to_string_pretty(&report)?,
        false => {
            let Report { documents, bytes, elapsed_ms } = report;
            let documents = counted(documents, "document", "documents");
            format!("{documents} exported, {bytes} bytes in {elapsed_ms} ms")
        }
    };
    if is_stdout {
        output::note(&summary);
        return Ok(());
    }
    output::line(&summary)
}

fn nothing_local(server: &str) -> String {
    format!(
        "the local index is empty, because new pages are written to {server} only: export them with the tools of that \
         server, such as a snapshot"
    )
}

fn run(index: &Index, file: &Path, site: Option<&str>, stop: &AtomicBool) -> Result<Report> {
    let started = Instant::now();
    let mut progress = Progress::start("exporting");
    if site.is_none() {
        progress.set_total(index.document_count());
    }
    let mut documents = 0;
    let bytes = write(Target::from_file(file)?, |out| {
        index.each_document(site, |document| -> Result<()> {
            if stop.load(Ordering::Relaxed) {
                bail!("the export was interrupted");
            }
            serde_json::to_writer(&mut *out, &to_index_document(document))?;
            out.write_all(b"\n")?;
            documents += 1;
            progress.count_page();
            Ok(())
        })
    });
    progress.finish();
    Ok(Report { documents, bytes: bytes?, elapsed_ms: started.elapsed().as_millis() })
}

/// Writes the output of `write_documents` and returns the number of bytes. A file gets its name when it is complete.
fn write(target: Target<'_>, write_documents: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<u64> {
    let (path, is_compressed) = match target {
        Target::Stdout => {
            let mut out = CountingWriter::new(io::stdout().lock());
            return write_documents(&mut out).and_then(|()| out.finish()).map_err(output::stdout_error);
        }
        Target::Plain(path) => (path, false),
        Target::Zstd(path) => (path, true),
    };
    let directory =
        path.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let context = || format!("cannot write {}", path.display());
    // In the directory of the file, so that the last step is a rename. Removed if an earlier step fails.
    let draft = NamedTempFile::with_prefix_in(".websvc-export-", directory).with_context(context)?;
    let mut out = CountingWriter::new(draft.as_file());
    if is_compressed {
        let mut encoder = Encoder::new(&mut out, zstd::DEFAULT_COMPRESSION_LEVEL).with_context(context)?;
        encoder.include_checksum(true).with_context(context)?;
        write_documents(&mut encoder)?;
        encoder.finish().with_context(context)?;
    } else {
        write_documents(&mut out)?;
    }
    let bytes = out.finish().with_context(context)?;
    draft.as_file().sync_all().with_context(context)?;
    draft.persist(path).with_context(context)?;
    Ok(bytes)
}

/// A buffered writer that counts its bytes.
struct CountingWriter<W: Write> {
    out: BufWriter<W>,
    bytes: u64,
}

impl<W: Write> CountingWriter<W> {
    fn new(out: W) -> Self {
        Self { out: BufWriter::with_capacity(BUFFER_BYTES, out), bytes: 0 }
    }

    fn finish(mut self) -> Result<u64> {
        self.out.flush()?;
        Ok(self.bytes)
    }
}

impl<W: Write> Write for CountingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_export_keeps_the_existing_file_and_leaves_no_draft() {
        let directory = tempfile::tempdir().unwrap();
        for name in ["pages.jsonl", "pages.jsonl.zst"] {
            let path = directory.path().join(name);
            std::fs::write(&path, "before").unwrap();
            let failed = write(Target::from_file(&path).unwrap(), |out| {
                out.write_all(&[b'x'; 1 << 20])?;
                bail!("the disk is full")
            });
            assert_eq!(failed.unwrap_err().to_string(), "the disk is full");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), "before");
        }
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 2);
    }

    #[test]
    fn file_name_selects_the_format() {
        let target = |name: &'static str| Target::from_file(Path::new(name));
        assert_eq!(target("-").unwrap(), Target::Stdout);
        assert_eq!(target("a/b.JSONL.zst").unwrap(), Target::Zstd(Path::new("a/b.JSONL.zst")));
        assert_eq!(target("b.jsonl").unwrap(), Target::Plain(Path::new("b.jsonl")));
        for name in ["b.json", "b.jsonl.gz", "jsonl", ".."] {
            let error = target(name).unwrap_err().to_string();
            assert!(error.contains(name) && error.contains(".jsonl.zst or .jsonl"), "{error}");
        }
    }
}
