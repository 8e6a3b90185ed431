//! Files of a response, such as screenshots, and their names on disk.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use url::Url;
use websvc_types::action::ActionResults;

use crate::output;

/// Maximum length of a file name without suffix and extension.
const MAX_STEM_CHARS: usize = 100;

/// The default names of the files of a page.
#[derive(Debug)]
pub(crate) struct FileNames {
    directory: PathBuf,
    stem: String,
}

impl FileNames {
    /// Names files after the host and path of a page, and the position of a search result before them.
    pub(crate) fn new(directory: &Path, position: Option<usize>, url: &str) -> Self {
        let url = Url::parse(url).ok();
        let host = url.as_ref().and_then(Url::host_str).unwrap_or("page");
        let path = url.as_ref().map(Url::path).unwrap_or_default();
        let position = position.map(|position| format!("{position}-")).unwrap_or_default();
        let mut stem = String::new();
        for c in format!("{position}{host}{path}").chars().take(MAX_STEM_CHARS) {
            match c {
                '.' | '_' | 'a'..='z' | 'A'..='Z' | '0'..='9' => stem.push(c),
                _ if stem.ends_with('-') => {}
                _ => stem.push('-'),
            }
        }
        // No URL may lead to a hidden file or to another directory.
        let stem = stem.trim_matches(['-', '.']).to_owned();
        Self { directory: directory.to_owned(), stem }
    }

    /// Writes a file of a response and returns its path. For a file that a server stores, returns its URL.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn write(&self, suffix: &str, file: Option<&Path>, url: &str) -> Result<String> {
        let Some((extension, bytes)) = decode_file(url)? else { return Ok(url.to_owned()) };
        let default = || self.directory.join(format!("{}{suffix}.{extension}", self.stem));
        let path = file.map_or_else(default, Path::to_owned);
        std::fs::write(&path, bytes).with_context(|| path.display().to_string())?;
        let path = path.display().to_string();
        output::note(&format!("wrote {path}"));
        Ok(path)
    }

    /// Writes the files of the actions and replaces them in the results by their paths.
    ///
    /// # Errors
    /// A file cannot be written.
    pub(crate) fn write_all(&self, actions: &mut ActionResults) -> Result<()> {
        for files in [&mut actions.screenshots, &mut actions.pdfs] {
            for (index, file) in files.iter_mut().enumerate() {
                *file = self.write(&format!("-action-{}", index + 1), None, file)?;
            }
        }
        Ok(())
    }
}

/// Returns the extension and the bytes of a file in a `data:` URL. Returns `None` for the URL of a file that a server
/// stores.
///
/// # Errors
/// The data is not valid Base64.
pub(crate) fn decode_file(url: &str) -> Result<Option<(&'static str, Vec<u8>)>> {
    let Some((kind, data)) = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")) else {
        return Ok(None);
    };
    let extension = match kind {
        "image/jpeg" => "jpg",
        "application/pdf" => "pdf",
        _ => "png",
    };
    let bytes = BASE64_STANDARD.decode(data).context("the response has a file with invalid Base64")?;
    Ok(Some((extension, bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_name_follows_position_host_and_path() {
        let check = |url: &str, position, expected: &str| {
            assert_eq!(FileNames::new(Path::new("."), position, url).stem, expected, "{url}");
        };
        check("https://example.org/", None, "example.org");
        check("https://example.org/docs/a%20b/?q=1", None, "example.org-docs-a-20b");
        check("https://example.org/../../etc/passwd", Some(2), "2-example.org-etc-passwd");
        check("https://[::1]/..", None, "1");
        check("no url", None, "page");
        assert_eq!(
            FileNames::new(Path::new("."), None, &format!("https://a.test/{}", "x".repeat(999))).stem.len(),
            100
        );
    }

    #[test]
    fn file_that_a_server_stores_is_not_written() {
        let names = FileNames::new(Path::new("/nowhere"), None, "https://a.test/");
        let url = "https://websvc.test/artifacts/a.png?expires=1";
        assert_eq!(names.write("", None, url).unwrap(), url);
        assert!(names.write("", None, "data:image/png;base64,AAAA").is_err(), "the directory does not exist");
    }
}
