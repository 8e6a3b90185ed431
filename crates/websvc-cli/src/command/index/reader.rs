//! Reading of files as documents: directories of HTML, Markdown and text, JSON lines, and web archives.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use url::Url;
use websvc::types::index::IndexDocument;
use websvc_documents::DocumentKind;

use super::compressed::{CompressedReader, Compression};
use super::document::page_of_document;
use super::filter::Filter;
use super::item::{DocumentVisitor, Item, MAX_BYTES, ReadFailure, SkipReason};
use super::page::{Origin, markdown_to_html, page};
use super::{archive, json_lines};

/// Extensions of text files that are read from a directory.
const TEXT_EXTENSIONS: &[&str] = &["htm", "html", "markdown", "md", "txt"];

/// Extensions of unsupported files with text, which are reported instead of silently skipped.
const UNSUPPORTED_EXTENSIONS: &[&str] = &["zim"];

/// The kind of a file, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileKind {
    Page,
    JsonLines(Compression),
    Archive(Compression),
}

impl FileKind {
    fn from_path(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let (name, compression) = match name.rsplit_once('.')? {
            (inner, "gz") => (inner.to_owned(), Compression::Gzip),
            (inner, "zst") => (inner.to_owned(), Compression::Zstd),
            _ => (name, Compression::Plain),
        };
        match (name.rsplit_once('.')?.1, compression) {
            ("jsonl", compression) => Some(Self::JsonLines(compression)),
            ("warc" | "wet", Compression::Plain | Compression::Gzip) => Some(Self::Archive(compression)),
            (extension, Compression::Plain) if is_page(extension) => Some(Self::Page),
            _ => None,
        }
    }
}

/// Returns `true` if a file with this extension is one page.
fn is_page(extension: &str) -> bool {
    TEXT_EXTENSIONS.contains(&extension) || DocumentKind::from_extension(extension).is_some()
}

/// Checks that a path can be read, without reading it.
pub(super) fn check(path: &Path) -> Result<()> {
    let metadata = std::fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
    if !metadata.is_dir() && file_extension(path).as_deref() == Some("zim") {
        bail!(
            "{} is a ZIM file, which cannot be imported: no maintained library with a permissive license reads it \
             within bounds; unpack it (zimdump dump --dir=DIRECTORY FILE) and import the directory with --base-url",
            path.display()
        );
    }
    if !metadata.is_dir() && FileKind::from_path(path).is_none() {
        bail!(
            "{} is neither a directory nor a .warc, .warc.gz, .wet, .wet.gz, .jsonl, .jsonl.gz, .jsonl.zst, .html, .htm, .md, .txt, .pdf \
             or office file",
            path.display()
        );
    }
    Ok(())
}

/// Reads a path and calls `visit` for each item after the first `skip` ones. A failure is an item, too, and does not end
/// the reading.
pub(super) fn read(
    path: &Path,
    base_url: Option<&Url>,
    skip: u64,
    filter: &Filter,
    visit: &mut DocumentVisitor<'_>,
) -> Result<()> {
    check(path)?;
    let mut filtered = |item| visit(filter.apply(item));
    if path.is_dir() {
        return directory(path, base_url, &mut filtered);
    }
    let name = path.display().to_string();
    let open = |compression| {
        CompressedReader::buffered(path, compression).with_context(|| format!("cannot read {name}"))
    };
    let outcome = match FileKind::from_path(path) {
        Some(FileKind::JsonLines(compression)) => {
            json_lines::read(&name, open(compression)?, skip, &mut filtered)
        }
        Some(FileKind::Archive(compression)) => archive::read(&name, open(compression)?, skip, filter, visit),
        Some(FileKind::Page) | None if skip > 0 => Ok(()),
        Some(FileKind::Page) | None => {
            let root = path.parent().unwrap_or(Path::new(""));
            filtered(item(path, root, base_url))
        }
    };
    outcome.with_context(|| format!("cannot read {name} to the end"))
}

/// Reads a directory recursively, sorted by name. The directory itself may be a symbolic link; others are not followed.
fn directory(root: &Path, base_url: Option<&Url>, visit: &mut DocumentVisitor<'_>) -> Result<()> {
    let mut pending = vec![std::fs::canonicalize(root)?];
    let root = &pending[0].clone();
    while let Some(path) = pending.pop() {
        let kind =
            std::fs::symlink_metadata(&path).with_context(|| format!("cannot read {}", path.display()))?;
        if kind.is_dir() {
            let entries =
                std::fs::read_dir(&path).with_context(|| format!("cannot read {}", path.display()))?;
            let mut inner =
                entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<PathBuf>>>()?;
            inner.sort_unstable_by(|a, b| b.cmp(a));
            pending.append(&mut inner);
        } else if kind.is_file() {
            match file_extension(&path).as_deref() {
                Some(extension) if is_page(extension) => visit(item(&path, root, base_url))?,
                Some(extension) if UNSUPPORTED_EXTENSIONS.contains(&extension) => visit(Item::Failed {
                    subject: path.display().to_string(),
                    failure: ReadFailure::new(
                        SkipReason::Unsupported,
                        format!("this version cannot read .{extension} files"),
                    ),
                })?,
                Some(_) | None => {}
            }
        }
    }
    Ok(())
}

fn file_extension(path: &Path) -> Option<String> {
    Some(path.extension()?.to_str()?.to_ascii_lowercase())
}

fn item(path: &Path, root: &Path, base_url: Option<&Url>) -> Item {
    match document(path, root, base_url) {
        Ok(document) => Item::Document(document),
        Err(failure) => Item::Failed { subject: path.display().to_string(), failure },
    }
}

fn document(path: &Path, root: &Path, base_url: Option<&Url>) -> Result<Box<IndexDocument>, ReadFailure> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| ReadFailure::broken(&error))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(ReadFailure::too_large(MAX_BYTES));
    }
    let url = file_url(path, root, base_url).map_err(|error| ReadFailure::broken(&error))?;
    let extension = file_extension(path);
    let document = if let Some(named) = extension.as_deref().and_then(DocumentKind::from_extension) {
        // The extension may be wrong, and the content of a password-protected file has another format.
        let kind = DocumentKind::detect(&bytes, Some(named.media_type())).unwrap_or(named);
        page_of_document(&url, kind, bytes, Origin::LocalFile)
    } else {
        match extension.as_deref() {
            Some("md" | "markdown") => {
                let html = markdown_to_html(&String::from_utf8_lossy(&bytes));
                page(&url, html.as_bytes(), "text/html; charset=utf-8", Origin::LocalFile)
            }
            Some("txt") => page(&url, &bytes, "text/plain", Origin::LocalFile),
            _ => page(&url, &bytes, "text/html", Origin::LocalFile),
        }
    }?;
    if document.body.trim().is_empty() { Err(ReadFailure::no_text()) } else { Ok(document) }
}

/// Returns the URL of a file: the base URL with the path of the file relative to the directory.
fn file_url(path: &Path, root: &Path, base_url: Option<&Url>) -> Result<Url> {
    let Some(base) = base_url else {
        let absolute = std::path::absolute(path)?;
        return Url::from_file_path(&absolute).map_err(|()| anyhow::anyhow!("the path cannot be a URL"));
    };
    let relative = path.strip_prefix(root).unwrap_or(path);
    let mut url = base.clone();
    let mut segments = url.path_segments_mut().map_err(|()| anyhow::anyhow!("{base} cannot have a path"))?;
    segments.pop_if_empty();
    for part in relative.components() {
        segments.push(part.as_os_str().to_str().context("the path is not valid UTF-8")?);
    }
    drop(segments);
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(path: &Path, base_url: Option<&str>) -> (Vec<IndexDocument>, Vec<String>) {
        let base_url = base_url.map(|text| Url::parse(text).unwrap());
        let (mut documents, mut failures) = (Vec::new(), Vec::new());
        read(path, base_url.as_ref(), 0, &Filter::default(), &mut |item| {
            match item {
                Item::Document(document) => documents.push(*document),
                Item::Skipped(reason) => failures.push(reason.label().to_owned()),
                Item::Failed { subject, failure } => failures.push(format!("{subject}: {failure}")),
            }
            Ok(())
        })
        .unwrap();
        (documents, failures)
    }

    #[test]
    fn directory_is_read_with_the_base_url() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("b c")).unwrap();
        std::fs::write(directory.path().join("a.html"), "<title>Tea</title><p>Steep the leaves.</p>")
            .unwrap();
        std::fs::write(directory.path().join("b c/note.md"), "# Coffee\n\nGrind the beans.").unwrap();
        std::fs::write(directory.path().join("plain.TXT"), "Boil the water.").unwrap();
        std::fs::write(directory.path().join("logo.png"), "not text").unwrap();
        std::fs::write(directory.path().join("wiki.zim"), "a packed wiki").unwrap();
        let (documents, failures) = read_all(directory.path(), Some("https://notes.test/base/"));
        assert_eq!(failures.len(), 1);
        assert!(failures[0].contains("wiki.zim: this version cannot read .zim files"), "{failures:?}");
        let found: Vec<(&str, &str)> =
            documents.iter().map(|document| (document.url.as_str(), document.title.as_str())).collect();
        let expected = [
            ("https://notes.test/base/a.html", "Tea"),
            ("https://notes.test/base/b%20c/note.md", "Coffee"),
            ("https://notes.test/base/plain.TXT", "plain.TXT"),
        ];
        assert_eq!(found, expected);
        assert!(documents[1].body.contains("Grind the beans."));
    }

    #[test]
    fn zim_file_is_rejected_with_a_reason_and_advice() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("wiki.ZIM");
        std::fs::write(&path, "ZIM\x04").unwrap();
        let error = check(&path).unwrap_err().to_string();
        assert!(error.contains("wiki.ZIM is a ZIM file") && error.contains("zimdump dump"), "{error}");
        let (documents, failures) = read_all(directory.path(), None);
        assert!(documents.is_empty() && failures[0].contains("cannot read .zim files"), "{failures:?}");
    }

    #[cfg(unix)]
    #[test]
    fn directory_may_be_a_symbolic_link() {
        let directory = tempfile::tempdir().unwrap();
        let (real, link) = (directory.path().join("real"), directory.path().join("link"));
        std::fs::create_dir(&real).unwrap();
        std::fs::write(real.join("a.txt"), "text").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let (documents, _) = read_all(&link, Some("https://notes.test/"));
        assert_eq!(documents[0].url, "https://notes.test/a.txt");
    }

    #[test]
    fn invalid_line_is_reported_and_the_others_are_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pages.jsonl");
        let lines = "{\"url\": \"https://a.test/1\", \"title\": \"One\", \"text\": \"first\"}\n\nnot json\n\
                     {\"title\": \"no url\"}\n{\"url\": \"https://a.test/2\", \"markdown\": \"# Two\\n\\nsecond\"}\n";
        std::fs::write(&path, lines).unwrap();
        let (documents, failures) = read_all(&path, None);
        let titles: Vec<&str> = documents.iter().map(|document| document.title.as_str()).collect();
        assert_eq!(titles, ["One", "Two"]);
        assert!(failures[0].contains("pages.jsonl:3: "), "{failures:?}");
        assert!(failures[1].contains("pages.jsonl:4: no url"), "{failures:?}");
    }

    #[test]
    fn url_without_base_is_a_file_url() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.txt");
        std::fs::write(&path, "text").unwrap();
        let (documents, _) = read_all(&path, None);
        assert!(documents[0].url.starts_with("file:///"), "{}", documents[0].url);
    }
}
