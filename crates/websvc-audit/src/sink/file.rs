//! Lines of JSON in a file that somebody else rotates.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::SinkError;
use crate::spool::Batch;

#[derive(Debug)]
pub(super) struct FileSink {
    path: Arc<Path>,
    /// Open between batches; `None` at first and after a failure.
    file: Option<File>,
}

impl FileSink {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path: path.into(), file: None }
    }

    pub(super) async fn check(&mut self) -> Result<(), SinkError> {
        let path = Arc::clone(&self.path);
        let checking = tokio::task::spawn_blocking(move || check(&path));
        let checked = checking.await.map_err(|_| SinkError::new("the process is ending"))?;
        checked.map_err(|error| SinkError::io("the file cannot be written", &error))
    }

    pub(super) async fn deliver(&mut self, batch: &Batch) -> Result<(), SinkError> {
        let mut lines = Vec::new();
        for event in &batch.events {
            lines.extend_from_slice(event);
            lines.push(b'\n');
        }
        self.write(lines).await
    }

    async fn write(&mut self, lines: Vec<u8>) -> Result<(), SinkError> {
        let (path, file) = (Arc::clone(&self.path), self.file.take());
        let writing = tokio::task::spawn_blocking(move || write(&path, file, &lines));
        let written = writing.await.map_err(|_| SinkError::new("the process is ending"))?;
        self.file = Some(written.map_err(|error| SinkError::io("the file cannot be written", &error))?);
        Ok(())
    }
}

/// Sees whether the file could be written to. It is not made: it would be of whoever asks, not of who writes it.
fn check(path: &Path) -> io::Result<()> {
    match OpenOptions::new().append(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let mut beside = path.as_os_str().to_owned();
            beside.push(".websvc-check");
            OpenOptions::new().append(true).create_new(true).open(&beside)?;
            std::fs::remove_file(&beside)
        }
        opened => opened.map(drop),
    }
}

/// Adds lines, and returns the file when they are on the disk.
fn write(path: &Path, file: Option<File>, lines: &[u8]) -> io::Result<File> {
    let mut file = match file {
        Some(file) if is_at(&file, path)? => file,
        _ => open(path)?,
    };
    file.write_all(lines)?;
    file.sync_data()?;
    Ok(file)
}

/// Opens the file to add to it. What a process left there that died while it wrote becomes a line of its own: its event
/// comes again, whole.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true).read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_file() && metadata.len() > 0 {
        let mut last = [0];
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            file.write_all(b"\n")?;
        }
    }
    Ok(file)
}

/// Tells whether a file is the one that has the name now.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let named = match std::fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        named => named?,
    };
    let open = file.metadata()?;
    Ok((open.dev(), open.ino()) == (named.dev(), named.ino()))
}

/// Tells whether a file is the one that has the name now: where that cannot be told, it is opened anew.
#[cfg(not(unix))]
fn is_at(_file: &File, _path: &Path) -> io::Result<bool> {
    Ok(false)
}
