//! Kinds of artifacts: media type, file name, and how browsers open them.

/// The kinds of artifacts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ArtifactKind {
    /// A picture without loss.
    Png,
    /// A picture with loss.
    Jpeg,
    /// A picture of either sort.
    Webp,
    /// A printed page.
    Pdf,
    /// The markup of a page: somebody else's, so that browsers save it instead of showing it.
    Html,
    /// Sound.
    Mp3,
    /// A film.
    Mp4,
    /// A film.
    Webm,
}

/// Behavior of a browser that opens an artifact directly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disposition {
    /// It shows it.
    Inline,
    /// It saves it.
    Attachment,
}

impl ArtifactKind {
    /// Every kind.
    pub const ALL: &'static [Self] =
        &[Self::Png, Self::Jpeg, Self::Webp, Self::Pdf, Self::Html, Self::Mp3, Self::Mp4, Self::Webm];

    /// Returns the end of the file name, without a dot.
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
        }
    }

    /// Returns the kind with this end of the file name.
    #[must_use]
    pub fn of_extension(extension: &str) -> Option<Self> {
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
        }
    }

    /// Returns how a browser is to treat it: what could hold script is saved.
    #[must_use]
    pub const fn disposition(self) -> Disposition {
        match self {
            Self::Html => Disposition::Attachment,
            Self::Png | Self::Jpeg | Self::Webp | Self::Pdf | Self::Mp3 | Self::Mp4 | Self::Webm => {
                Disposition::Inline
            }
        }
    }

    /// Returns the value of `Content-Disposition` for the artifact of this name.
    #[must_use]
    pub fn content_disposition(self, id: &str) -> String {
        let treat = match self.disposition() {
            Disposition::Inline => "inline",
            Disposition::Attachment => "attachment",
        };
        format!("{treat}; filename=\"{id}.{}\"", self.extension())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_found_by_its_extension() {
        for kind in ArtifactKind::ALL {
            assert_eq!(ArtifactKind::of_extension(kind.extension()), Some(*kind));
        }
        assert_eq!(ArtifactKind::of_extension("exe"), None);
        assert_eq!(ArtifactKind::of_extension("PNG"), None);
    }
}
