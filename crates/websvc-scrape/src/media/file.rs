//! The file that a download has written.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use bytes::Bytes;

use crate::media::arguments::{MediaKind, OUTPUT};

/// The bytes that show the format of a file.
const START: usize = 12;

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Container {
    /// Sound.
    Mp3,
    /// A video.
    Mp4,
    /// A video.
    Webm,
}

/// A downloaded medium.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MediaFile {
    /// The format.
    pub container: Container,
    /// The content.
    pub bytes: Bytes,
}

/// The reason why there is no file.
#[derive(Debug)]
pub(crate) enum FileError {
    /// The tool wrote none.
    Missing,
    /// It is larger than allowed.
    TooLarge,
    /// It has another format.
    Format,
    /// It cannot be read.
    Io(io::Error),
}

impl Container {
    const fn extension(self) -> &'static str {
        match self {
            Self::Mp3 => "mp3",
            Self::Mp4 => "mp4",
            Self::Webm => "webm",
        }
    }

    /// Returns whether a file begins as one of this format, so that no other content gets its media type.
    fn matches(self, start: &[u8]) -> bool {
        match self {
            // A tag, or the synchronization bits of a frame.
            Self::Mp3 => {
                start.starts_with(b"ID3") || matches!(start, [0xFF, second, ..] if second & 0xE0 == 0xE0)
            }
            Self::Mp4 => start.get(4..8) == Some(b"ftyp"),
            Self::Webm => start.starts_with(&[0x1A, 0x45, 0xDF, 0xA3]),
        }
    }
}

/// Reads the output of a tool that has ended. Blocks.
pub(crate) fn read(directory: &Path, kind: MediaKind, max_bytes: u64) -> Result<MediaFile, FileError> {
    let containers: &[Container] = match kind {
        MediaKind::Audio => &[Container::Mp3],
        MediaKind::Video => &[Container::Mp4, Container::Webm],
    };
    for &container in containers {
        let path = directory.join(OUTPUT).with_extension(container.extension());
        // Not a link, which could lead to a file of the machine.
        let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
        if !metadata.is_file() {
            return Err(FileError::Format);
        }
        if metadata.len() > max_bytes {
            return Err(FileError::TooLarge);
        }
        let mut bytes = Vec::new();
        let file = File::open(&path).map_err(FileError::Io)?;
        file.take(max_bytes).read_to_end(&mut bytes).map_err(FileError::Io)?;
        if !container.matches(&bytes[..bytes.len().min(START)]) {
            return Err(FileError::Format);
        }
        return Ok(MediaFile { container, bytes: bytes.into() });
    }
    Err(FileError::Missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_the_format_are_read() {
        let directory = tempfile::tempdir().unwrap();
        let check = |kind, max| read(directory.path(), kind, max).map(|file| file.container);
        assert!(matches!(check(MediaKind::Video, 100), Err(FileError::Missing)));
        fs::write(directory.path().join("media.mp3"), b"ID3 and more").unwrap();
        assert!(matches!(check(MediaKind::Audio, 100), Ok(Container::Mp3)));
        assert!(matches!(check(MediaKind::Audio, 3), Err(FileError::TooLarge)));
        assert!(matches!(check(MediaKind::Video, 100), Err(FileError::Missing)));
        fs::write(directory.path().join("media.webm"), b"<script>").unwrap();
        assert!(matches!(check(MediaKind::Video, 100), Err(FileError::Format)));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("/etc/passwd", directory.path().join("media.mp4")).unwrap();
            assert!(matches!(check(MediaKind::Video, 100), Err(FileError::Format)));
        }
    }
}
