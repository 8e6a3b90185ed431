//! Files to documents: directories of HTML, Markdown and text, JSON lines, and web archives.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use url::Url;
use websvc::types::index::IndexDocument;
use websvc_documents::DocumentKind;

use super::compressed::{CompressedReader, Compression};
use super::document;
use super::item::{Item, ReadFailure, SkipReason};
use super::page::{Origin, page, rendered};
use super::{archive, json_lines};

/// Larger files and lines are not read.
pub(super) const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// The endings of files that a directory is read for.
const ENDINGS: &[&str] = &["htm", "html", "markdown", "md", "txt"];

/// The endings of files that hold text which this version cannot read: they are named, not passed over.
const NOT_YET: &[&str] = &["zim"];

/// Takes what is read, one after the other; an error ends the reading.
pub(super) type DocumentVisitor<'a> = dyn FnMut(Item) -> Result<()> + 'a;

/// Content of a file, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileKind {
    Page,
    JsonLines(Compression),
    Archive(Compression),
}

impl FileKind {
    fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let (name, packing) = match name.rsplit_once('.')? {
            (inner, "gz") => (inner.to_owned(), Compression::Gzip),
            (inner, "zst") => (inner.to_owned(), Compression::Zstd),
            _ => (name, Compression::Plain),
        };
        match (name.rsplit_once('.')?.1, packing) {
            ("jsonl", packing) => Some(Self::JsonLines(packing)),
            ("warc", Compression::Plain | Compression::Gzip) => Some(Self::Archive(packing)),
            (known, Compression::Plain) if is_page(known) => Some(Self::Page),
            _ => None,
        }
    }
}

/// Returns whether files with an ending are read as one page each.
fn is_page(ending: &str) -> bool {
    ENDINGS.contains(&ending) || DocumentKind::of_ending(ending).is_some()
}

/// Checks that a path can be read, before anything is.
pub(super) fn check(path: &Path) -> Result<()> {
    let about = std::fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
    if !about.is_dir() && file_extension(path).as_deref() == Some("zim") {
        bail!(
            "{} is a ZIM file, which cannot be imported: no maintained library under a permissive licence reads it \
             within bounds; unpack it (zimdump dump --dir=DIRECTORY FILE) and import the directory with --base-url",
            path.display()
        );
    }
    if !about.is_dir() && FileKind::of(path).is_none() {
        bail!(
            "{} is neither a directory nor a .warc, .warc.gz, .jsonl, .jsonl.gz, .jsonl.zst, .html, .htm, .md, .txt, .pdf \
             or office file",
            path.display()
        );
    }
    Ok(())
}

/// Reads a path and gives each document to `take`; what cannot be read is given too and ends nothing.
pub(super) fn read(path: &Path, base_url: Option<&Url>, take: &mut DocumentVisitor<'_>) -> Result<()> {
    check(path)?;
    if path.is_dir() {
        return directory(path, base_url, take);
    }
    let name = path.display().to_string();
    let open =
        |packing| CompressedReader::buffered(path, packing).with_context(|| format!("cannot read {name}"));
    let outcome = match FileKind::of(path) {
        Some(FileKind::JsonLines(packing)) => json_lines::read(&name, open(packing)?, take),
        Some(FileKind::Archive(packing)) => archive::read(&name, open(packing)?, take),
        Some(FileKind::Page) | None => {
            let root = path.parent().unwrap_or(Path::new(""));
            take(item(path, root, base_url))
        }
    };
    outcome.with_context(|| format!("cannot read {name} to its end"))
}

/// Walks the directory in the order of names. It may be a link itself; links below it are not followed.
fn directory(root: &Path, base_url: Option<&Url>, take: &mut DocumentVisitor<'_>) -> Result<()> {
    let mut waiting = vec![std::fs::canonicalize(root)?];
    let root = &waiting[0].clone();
    while let Some(path) = waiting.pop() {
        let kind =
            std::fs::symlink_metadata(&path).with_context(|| format!("cannot read {}", path.display()))?;
        if kind.is_dir() {
            let entries =
                std::fs::read_dir(&path).with_context(|| format!("cannot read {}", path.display()))?;
            let mut inner =
                entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<PathBuf>>>()?;
            inner.sort_unstable_by(|a, b| b.cmp(a));
            waiting.append(&mut inner);
        } else if kind.is_file() {
            match file_extension(&path).as_deref() {
                Some(known) if is_page(known) => take(item(&path, root, base_url))?,
                Some(known) if NOT_YET.contains(&known) => take(Item::Failed {
                    what: path.display().to_string(),
                    fault: ReadFailure::new(
                        SkipReason::Unsupported,
                        format!("files of kind .{known} cannot be read by this version"),
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
        Ok(copy) => Item::Document(copy),
        Err(fault) => Item::Failed { what: path.display().to_string(), fault },
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
    let ending = file_extension(path);
    if let Some(named) = ending.as_deref().and_then(DocumentKind::of_ending) {
        // The ending may be wrong, and a file behind a password is another than it says.
        let kind = DocumentKind::of(&bytes, Some(named.media_type())).unwrap_or(named);
        let html = document::as_page(kind, bytes)?;
        let mut copy = page(&url, html.as_bytes(), "text/html; charset=utf-8", Origin::Own)?;
        copy.content_type = Some(kind.media_type().to_owned());
        return if copy.body.trim().is_empty() { Err(ReadFailure::no_text()) } else { Ok(copy) };
    }
    let copy = match ending.as_deref() {
        Some("md" | "markdown") => {
            let html = rendered(&String::from_utf8_lossy(&bytes));
            page(&url, html.as_bytes(), "text/html; charset=utf-8", Origin::Own)
        }
        Some("txt") => page(&url, &bytes, "text/plain", Origin::Own),
        _ => page(&url, &bytes, "text/html", Origin::Own),
    }?;
    if copy.body.trim().is_empty() {
        return Err(ReadFailure::no_text());
    }
    Ok(copy)
}

/// Returns the URL of a file: its path below the directory, appended to the base.
fn file_url(path: &Path, root: &Path, base_url: Option<&Url>) -> Result<Url> {
    let Some(base) = base_url else {
        let absolute = std::path::absolute(path)?;
        return Url::from_file_path(&absolute).map_err(|()| anyhow::anyhow!("its path is no URL"));
    };
    let below = path.strip_prefix(root).unwrap_or(path);
    let mut url = base.clone();
    let mut segments = url.path_segments_mut().map_err(|()| anyhow::anyhow!("{base} cannot have a path"))?;
    segments.pop_if_empty();
    for part in below.components() {
        segments.push(part.as_os_str().to_str().context("its path is not UTF-8")?);
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
        read(path, base_url.as_ref(), &mut |item| {
            match item {
                Item::Document(copy) => documents.push(*copy),
                Item::Skipped(why) => failures.push(why.label().to_owned()),
                Item::Failed { what, fault } => failures.push(format!("{what}: {fault}")),
            }
            Ok(())
        })
        .unwrap();
        (documents, failures)
    }

    #[test]
    fn a_directory_is_read_under_the_base_url() {
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
        assert!(failures[0].contains("wiki.zim: files of kind .zim"), "{failures:?}");
        let found: Vec<(&str, &str)> =
            documents.iter().map(|copy| (copy.url.as_str(), copy.title.as_str())).collect();
        let expected = [
            ("https://notes.test/base/a.html", "Tea"),
            ("https://notes.test/base/b%20c/note.md", "Coffee"),
            ("https://notes.test/base/plain.TXT", "plain.TXT"),
        ];
        assert_eq!(found, expected);
        assert!(documents[1].body.contains("Grind the beans."));
    }

    #[test]
    fn a_zim_file_is_refused_with_the_reason_and_a_way() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("wiki.ZIM");
        std::fs::write(&path, "ZIM\x04").unwrap();
        let error = check(&path).unwrap_err().to_string();
        assert!(error.contains("wiki.ZIM is a ZIM file") && error.contains("zimdump dump"), "{error}");
        let (documents, failures) = read_all(directory.path(), None);
        assert!(documents.is_empty() && failures[0].contains("files of kind .zim"), "{failures:?}");
    }

    #[cfg(unix)]
    #[test]
    fn the_directory_may_be_a_link() {
        let directory = tempfile::tempdir().unwrap();
        let (real, link) = (directory.path().join("real"), directory.path().join("link"));
        std::fs::create_dir(&real).unwrap();
        std::fs::write(real.join("a.txt"), "text").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let (documents, _) = read_all(&link, Some("https://notes.test/"));
        assert_eq!(documents[0].url, "https://notes.test/a.txt");
    }

    #[test]
    fn a_bad_line_is_named_and_the_others_are_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pages.jsonl");
        let lines = "{\"url\": \"https://a.test/1\", \"title\": \"One\", \"text\": \"first\"}\n\nnot json\n\
                     {\"title\": \"no url\"}\n{\"url\": \"https://a.test/2\", \"markdown\": \"# Two\\n\\nsecond\"}\n";
        std::fs::write(&path, lines).unwrap();
        let (documents, failures) = read_all(&path, None);
        let titles: Vec<&str> = documents.iter().map(|copy| copy.title.as_str()).collect();
        assert_eq!(titles, ["One", "Two"]);
        assert!(failures[0].contains("pages.jsonl:3: "), "{failures:?}");
        assert!(failures[1].contains("pages.jsonl:4: it has no url"), "{failures:?}");
    }

    #[test]
    fn without_a_base_url_the_file_itself_is_the_url() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.txt");
        std::fs::write(&path, "text").unwrap();
        let (documents, _) = read_all(&path, None);
        assert!(documents[0].url.starts_with("file:///"), "{}", documents[0].url);
    }
}
