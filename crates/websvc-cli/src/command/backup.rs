//! `websvc backup`: writes the durable data of a data directory into one file, while a server runs.
//!
//! The file is a tar archive of a data directory, so that `tar` alone can restore it.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde::Serialize;
use tar::{Builder, Header};
use tempfile::{NamedTempFile, TempDir};
use websvc_engine::TeamIndexes;
use websvc_index::{Index, IndexConfig};
use websvc_store::Store;
use websvc_types::counted;

use crate::CommandContext;
use crate::app;
use crate::args::Backup;
use crate::data_dir::{DataDir, INDEX_DIR};
use crate::human_bytes::HumanBytes;
use crate::output;

/// Size of the write buffer.
const BUFFER_BYTES: usize = 256 * 1024;

/// The summary of a backup.
#[derive(Debug, Serialize)]
struct Report {
    files: u64,
    bytes: u64,
    elapsed_ms: u128,
}

/// Runs `websvc backup`.
pub(crate) fn run(context: &CommandContext, arguments: &Backup) -> Result<()> {
    let Backup { file, json } = arguments;
    let started = Instant::now();
    ensure!(
        file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("tar")),
        "cannot write a backup to {}: the name must end with .tar",
        file.display()
    );
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let write_error = || format!("cannot write {}", file.display());
    // In the directory of the file, so that the last step is a rename. Removed if an earlier step fails.
    let draft = NamedTempFile::with_prefix_in(".websvc-backup-", folder).with_context(write_error)?;
    let scratch = TempDir::with_prefix_in(".websvc-backup-", folder).with_context(write_error)?;
    let mut archive = Archive::new(draft.as_file());
    match app::database_server(&context.config)? {
        None => archive.add_database(&context.data_dir, scratch.path())?,
        Some(server) => output::note(&format!(
            "the database {} is not in this backup: back it up with pg_dump or the backups of the server",
            server.url.location().display()
        )),
    }
    archive.add_index(&context.data_dir)?;
    let (files, bytes) = archive.finish().with_context(write_error)?;
    draft.as_file().sync_all().with_context(write_error)?;
    draft.persist(file).with_context(write_error)?;
    let report = Report { files, bytes, elapsed_ms: started.elapsed().as_millis() };
    output::json_or_line(*json, &report, || {
        let Report { files, bytes, elapsed_ms } = report;
        let files = counted(files, "file", "files");
        format!("{files}, {} in {elapsed_ms} ms", HumanBytes(bytes))
    })
}

/// An archive that is being written.
struct Archive<'a> {
    tar: Builder<BufWriter<&'a File>>,
    files: u64,
    bytes: u64,
}

impl<'a> Archive<'a> {
    fn new(file: &'a File) -> Self {
        Self { tar: Builder::new(BufWriter::with_capacity(BUFFER_BYTES, file)), files: 0, bytes: 0 }
    }

    fn add_database(&mut self, data_dir: &DataDir, scratch: &Path) -> Result<()> {
        let copy = scratch.join(Store::FILE_NAME);
        Store::open(data_dir.path())?.back_up(&copy)?;
        let mut content = File::open(&copy).context("cannot read the copy of the database")?;
        let bytes = content.metadata()?.len();
        self.add(Path::new(Store::FILE_NAME), bytes, &mut content)
    }

    fn add_index(&mut self, data_dir: &DataDir) -> Result<()> {
        if !data_dir.index().exists() {
            return Ok(());
        }
        self.add_files(&Index::open(&data_dir.index(), IndexConfig::default())?, Path::new(INDEX_DIR))?;
        let team_indexes = TeamIndexes::new(&data_dir.index(), IndexConfig::default(), false);
        for owner in team_indexes.owners()? {
            // The team may have been deleted in the meantime.
            let Some(index) = team_indexes.find(owner)? else { continue };
            self.add_files(&index, &Path::new(INDEX_DIR).join(TeamIndexes::folder_of(owner)))?;
        }
        Ok(())
    }

    fn add_files(&mut self, index: &Index, folder: &Path) -> Result<()> {
        index.each_file(|path, bytes, content| self.add(&folder.join(path), bytes, content))
    }

    fn add(&mut self, path: &Path, bytes: u64, content: &mut dyn std::io::Read) -> Result<()> {
        let mut header = Header::new_gnu();
        header.set_size(bytes);
        // Only the owner may read it, as in the data directory.
        header.set_mode(0o600);
        self.tar
            .append_data(&mut header, path, content)
            .with_context(|| format!("cannot add {}", path.display()))?;
        self.files += 1;
        self.bytes += bytes;
        Ok(())
    }

    fn finish(self) -> std::io::Result<(u64, u64)> {
        let Self { tar, files, bytes } = self;
        tar.into_inner()?.flush()?;
        Ok((files, bytes))
    }
}
