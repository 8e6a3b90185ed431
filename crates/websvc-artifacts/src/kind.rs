//! Kinds of artifacts, with their media type, file extension, and disposition in browsers.

use crate::file_name::FileName;

/// The kind of an artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ArtifactKind {
    /// A lossless image.
    Png,
    /// A lossy image.
    Jpeg,
    /// A lossless or lossy image.
    Webp,
    /// A printed page.
    Pdf,
    /// The HTML of a page. It is untrusted, so browsers must save it instead of showing it.
    Html,
    /// Audio.
    Mp3,
    /// A video.
    Mp4,
    /// A video.
    Webm,
    /// A file of any type that a page offered. It is untrusted, and may have a name of its own.
    File,
}

/// Behavior of a browser that opens an artifact directly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disposition {
    /// The browser shows it.
    Inline,
    /// The browser saves it.
    Attachment,
}

impl ArtifactKind {
    /// All kinds.
    pub const ALL: &'static [Self] = &[
        Self::Png,
        Self::Jpeg,
        Self::Webp,
        Self::Pdf,
        Self::Html,
        Self::Mp3,
        Self::Mp4,
        Self::Webm,
        Self::File,
    ];

    /// Returns the file extension, without a dot.
    #[must_use]
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpg",
            Self::Webp => "webp",
            Self::Pdf => "pdf",
            Self::Html => "html",
            Self::Mp3 => "mp3",
            Self::Mp4 => "mp4",
            Self::Webm => "webm",
            Self::File => "bin",
        }
    }

    /// Returns the kind with a file extension.
    #[must_use]
    pub fn from_extension(extension: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.extension() == extension)
    }

    /// Returns the value of `Content-Type`.
    #[must_use]
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Webp => "image/webp",
            Self::Pdf => "application/pdf",
            Self::Html => "text/html; charset=utf-8",
            Self::Mp3 => "audio/mpeg",
            Self::Mp4 => "video/mp4",
            Self::Webm => "video/webm",
            Self::File => "application/octet-stream",
        }
    }

    /// Returns how a browser should handle it. Files that can contain scripts are saved.
    #[must_use]
    pub const fn disposition(self) -> Disposition {
        match self {
            Self::Html | Self::File => Disposition::Attachment,
            Self::Png | Self::Jpeg | Self::Webp | Self::Pdf | Self::Mp3 | Self::Mp4 | Self::Webm => {
                Disposition::Inline
            }
        }
    }

    /// Returns the value of `Content-Disposition` for the artifact with this ID, or with this name.
    #[must_use]
    pub fn content_disposition(self, id: &str, name: Option<&FileName>) -> String {
        let disposition = match self.disposition() {
            Disposition::Inline => "inline",
            Disposition::Attachment => "attachment",
        };
        match name {
            Some(name) => format!("{disposition}; {}", name.disposition_parameters()),
            None => format!("{disposition}; filename=\"{id}.{}\"", self.extension()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn from_extension_returns_every_kind() {
        for kind in ArtifactKind::ALL {
            assert_eq!(ArtifactKind::from_extension(kind.extension()), Some(*kind));
        }
        assert_eq!(ArtifactKind::from_extension("exe"), None);
        assert_eq!(ArtifactKind::from_extension("PNG"), None);
    }
}
