//! A sink that appends lines of JSON to a file. Another program may rotate the file.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::SinkError;
use crate::spool::Batch;

#[derive(Debug)]
pub(super) struct FileSink {
    path: Arc<Path>,
    /// Open between batches; `None` before the first one and after a failure.
    file: Option<File>,
}

impl FileSink {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path: path.into(), file: None }
    }

    pub(super) async fn check(&mut self) -> Result<(), SinkError> {
        let path = Arc::clone(&self.path);
        let check = websvc_transport::spawn_blocking(move || check(&path));
        let result = check.await.map_err(|_| SinkError::new("the process is shutting down"))?;
        result.map_err(|error| SinkError::io("the file cannot be written", &error))
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
        let write = websvc_transport::spawn_blocking(move || write(&path, file, &lines));
        let result = write.await.map_err(|_| SinkError::new("the process is shutting down"))?;
        self.file = Some(result.map_err(|error| SinkError::io("the file cannot be written", &error))?);
        Ok(())
    }
}

/// Checks that the file can be written. It is not created, because it would belong to the user who runs the check.
fn check(path: &Path) -> io::Result<()> {
    match OpenOptions::new().append(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let mut probe_path = path.as_os_str().to_owned();
            probe_path.push(".websvc-check");
            OpenOptions::new().append(true).create_new(true).open(&probe_path)?;
            std::fs::remove_file(&probe_path)
        }
        result => result.map(drop),
    }
}

/// Appends lines and syncs the file to disk.
fn write(path: &Path, file: Option<File>, lines: &[u8]) -> io::Result<File> {
    let mut file = match file {
        Some(file) if is_at(&file, path)? => file,
        _ => open(path)?,
    };
    file.write_all(lines)?;
    file.sync_data()?;
    Ok(file)
}

/// Opens the file for appending. If a killed process left an incomplete line, that line is ended: its event is
/// delivered again, complete.
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

/// Returns whether an open file is still the one at `path`.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let at_path = match std::fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        at_path => at_path?,
    };
    let open = file.metadata()?;
    Ok((open.dev(), open.ino()) == (at_path.dev(), at_path.ino()))
}

/// Returns whether an open file is still the one at `path`. This is unknown here, so the file is opened again.
#[cfg(not(unix))]
fn is_at(_file: &File, _path: &Path) -> io::Result<bool> {
    Ok(false)
}
