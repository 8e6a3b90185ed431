//! Files that are part of an answer, written to where whoever asked wants them.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use url::Url;
use websvc_types::action::ActionResults;

use crate::output;

/// The longest name of a file, without what is added to it.
const LONGEST_NAME: usize = 100;

/// How the files of a page are named when nobody said how.
#[derive(Debug)]
pub(crate) struct FileNames {
    directory: PathBuf,
    stem: String,
}

impl FileNames {
    /// Names files after a page: its host and path, and before them the place of a result.
    pub(crate) fn of(directory: &Path, place: Option<usize>, url: &str) -> Self {
        let url = Url::parse(url).ok();
        let host = url.as_ref().and_then(Url::host_str).unwrap_or("page");
        let path = url.as_ref().map(Url::path).unwrap_or_default();
        let place = place.map(|place| format!("{place}-")).unwrap_or_default();
        let mut stem = String::new();
        for sign in format!("{place}{host}{path}").chars().take(LONGEST_NAME) {
            match sign {
                '.' | '_' | 'a'..='z' | 'A'..='Z' | '0'..='9' => stem.push(sign),
                _ if stem.ends_with('-') => {}
                _ => stem.push('-'),
            }
        }
        // Nothing that the web says may name a hidden file, or one of another directory.
        let stem = stem.trim_matches(['-', '.']).to_owned();
        Self { directory: directory.to_owned(), stem }
    }

    /// Writes a file that is part of an answer, and returns what there is to say instead of it: its path, or the URL under
    /// which a server keeps it.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn write(&self, what: &str, file: Option<&Path>, url: &str) -> Result<String> {
        let Some((extension, bytes)) = decode_file(url)? else { return Ok(url.to_owned()) };
        let own = || self.directory.join(format!("{}{what}.{extension}", self.stem));
        let path = file.map_or_else(own, Path::to_owned);
        std::fs::write(&path, bytes).with_context(|| path.display().to_string())?;
        let path = path.display().to_string();
        output::note(&format!("wrote {path}"));
        Ok(path)
    }

    /// Writes the files of the actions, in whose results their paths are then.
    ///
    /// # Errors
    /// One cannot be written.
    pub(crate) fn write_all(&self, actions: &mut ActionResults) -> Result<()> {
        for files in [&mut actions.screenshots, &mut actions.pdfs] {
            for (at, file) in files.iter_mut().enumerate() {
                *file = self.write(&format!("-action-{}", at + 1), None, file)?;
            }
        }
        Ok(())
    }
}

/// Returns the bytes of a file that is part of an answer, and what its name ends with; `None` for the URL of a file that
/// a server keeps.
///
/// # Errors
/// It is none.
pub(crate) fn decode_file(url: &str) -> Result<Option<(&'static str, Vec<u8>)>> {
    let Some((kind, data)) = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")) else {
        return Ok(None);
    };
    let extension = match kind {
        "image/jpeg" => "jpg",
        "application/pdf" => "pdf",
        _ => "png",
    };
    let bytes = BASE64_STANDARD.decode(data).context("the answer has a file that is none")?;
    Ok(Some((extension, bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_after_their_pages() {
        let check = |url: &str, place, expected: &str| {
            assert_eq!(FileNames::of(Path::new("."), place, url).stem, expected, "{url}");
        };
        check("https://example.org/", None, "example.org");
        check("https://example.org/docs/a%20b/?q=1", None, "example.org-docs-a-20b");
        check("https://example.org/../../etc/passwd", Some(2), "2-example.org-etc-passwd");
        check("https://[::1]/..", None, "1");
        check("no url", None, "page");
        assert_eq!(
            FileNames::of(Path::new("."), None, &format!("https://a.test/{}", "x".repeat(999))).stem.len(),
            100
        );
    }

    #[test]
    fn what_a_server_keeps_is_not_written() {
        let names = FileNames::of(Path::new("/nowhere"), None, "https://a.test/");
        let url = "https://websvc.test/artifacts/a.png?expires=1";
        assert_eq!(names.write("", None, url).unwrap(), url);
        assert!(names.write("", None, "data:image/png;base64,AAAA").is_err(), "there is no such directory");
    }
}
