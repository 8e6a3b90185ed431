//! Files to documents: directories of HTML, Markdown and text, and JSON lines.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use pulldown_cmark::{Options, Parser, html};
use serde_json::{Map, Value};
use url::Url;
use websvc::types::index::IndexDocument;
use websvc_extract::{ContentOptions, Document, Source};
use websvc_scrape::index_document;

/// Larger files and lines are not read.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// The endings of files that a directory is read for.
const ENDINGS: &[&str] = &["htm", "html", "markdown", "md", "txt"];

/// The endings of files that hold text which this version cannot read: they are named, not passed over.
const NOT_YET: &[&str] = &["doc", "docx", "epub", "gz", "odt", "pdf", "rtf", "warc"];

/// Something that was read.
pub(super) enum Item {
    /// A document.
    Document(Box<IndexDocument>),
    /// What could not be read, and why.
    Failed { what: String, reason: String },
}

/// Reads a path and gives each document to `take`; what cannot be read is given too and ends nothing.
pub(super) fn read(
    path: &Path,
    base_url: Option<&Url>,
    take: &mut dyn FnMut(Item) -> Result<()>,
) -> Result<()> {
    let about = std::fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
    if about.is_dir() {
        return directory(path, base_url, take);
    }
    match ending(path).as_deref() {
        Some("jsonl") => json_lines(path, take),
        Some(known) if ENDINGS.contains(&known) => {
            let root = path.parent().unwrap_or(Path::new(""));
            take(item(path, root, base_url))
        }
        _ => bail!("{} is neither a directory nor a .jsonl, .html, .htm, .md or .txt file", path.display()),
    }
}

/// Walks the directory in the order of names. It may be a link itself; links below it are not followed.
fn directory(root: &Path, base_url: Option<&Url>, take: &mut dyn FnMut(Item) -> Result<()>) -> Result<()> {
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
            match ending(&path).as_deref() {
                Some(known) if ENDINGS.contains(&known) => take(item(&path, root, base_url))?,
                Some(known) if NOT_YET.contains(&known) => take(Item::Failed {
                    what: path.display().to_string(),
                    reason: format!("files of kind .{known} cannot be read by this version"),
                })?,
                Some(_) | None => {}
            }
        }
    }
    Ok(())
}

fn ending(path: &Path) -> Option<String> {
    Some(path.extension()?.to_str()?.to_ascii_lowercase())
}

fn item(path: &Path, root: &Path, base_url: Option<&Url>) -> Item {
    match document(path, root, base_url) {
        Ok(copy) => Item::Document(copy),
        Err(error) => Item::Failed { what: path.display().to_string(), reason: format!("{error:#}") },
    }
}

fn document(path: &Path, root: &Path, base_url: Option<&Url>) -> Result<Box<IndexDocument>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        bail!("larger than {MAX_BYTES} bytes");
    }
    let url = file_url(path, root, base_url)?;
    let copy = match ending(path).as_deref() {
        Some("md" | "markdown") => {
            page(&url, rendered(&String::from_utf8_lossy(&bytes)).as_bytes(), "text/html")
        }
        Some("txt") => page(&url, &bytes, "text/plain"),
        _ => page(&url, &bytes, "text/html"),
    }?;
    if copy.body.trim().is_empty() {
        bail!("there is no text in it");
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

fn rendered(markdown: &str) -> String {
    let mut out = String::new();
    html::push_html(&mut out, Parser::new_ext(markdown, Options::ENABLE_TABLES));
    format!("<main>{out}</main>")
}

fn page(url: &Url, bytes: &[u8], content_type: &str) -> Result<Box<IndexDocument>> {
    let page = Document::parse(Source { bytes, content_type: Some(content_type), url })?;
    let content = page.content(&ContentOptions::default());
    let mut copy = index_document(url.to_string(), &page, &content, page.metadata());
    if copy.title.is_empty() {
        let name = url.path_segments().and_then(|mut segments| segments.next_back()).unwrap_or_default();
        copy.title = copy.headings.first().cloned().unwrap_or_else(|| name.to_owned());
    }
    Ok(Box::new(copy))
}

fn json_lines(path: &Path, take: &mut dyn FnMut(Item) -> Result<()>) -> Result<()> {
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        let read = reader.by_ref().take(MAX_BYTES).read_until(b'\n', &mut line)?;
        if read == 0 {
            break;
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        take(match json_line(&line) {
            Ok(copy) => Item::Document(copy),
            Err(error) => {
                Item::Failed { what: format!("{}:{number}", path.display()), reason: format!("{error:#}") }
            }
        })?;
    }
    Ok(())
}

fn json_line(line: &[u8]) -> Result<Box<IndexDocument>> {
    let object: Map<String, Value> = serde_json::from_slice(line)?;
    let text = |names: &[&str]| {
        names.iter().find_map(|name| object.get(*name)?.as_str()).filter(|text| !text.trim().is_empty())
    };
    let url = Url::parse(text(&["url", "link", "sourceURL"]).context("it has no url")?).context("its url")?;
    let mut copy = if let Some(html) = text(&["html", "rawHtml"]) {
        page(&url, html.as_bytes(), "text/html; charset=utf-8")?
    } else if let Some(markdown) = text(&["markdown"]) {
        page(&url, rendered(markdown).as_bytes(), "text/html; charset=utf-8")?
    } else {
        let body = text(&["text", "body", "content"]).unwrap_or_default().to_owned();
        Box::new(IndexDocument { url: url.to_string(), body, ..IndexDocument::default() })
    };
    let own = |names: &[&str]| text(names).map(str::to_owned);
    copy.title = own(&["title"]).unwrap_or(copy.title);
    copy.description = own(&["description"]).or(copy.description);
    copy.language = own(&["language", "lang"]).or(copy.language);
    copy.published = own(&["published", "publishedTime", "date"]).or(copy.published);
    copy.modified = own(&["modified", "modifiedTime"]).or(copy.modified);
    if copy.title.trim().is_empty() && copy.body.trim().is_empty() {
        bail!("it has neither title nor text");
    }
    Ok(copy)
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
                Item::Failed { what, reason } => failures.push(format!("{what}: {reason}")),
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
        std::fs::write(directory.path().join("paper.pdf"), "%PDF-1.7").unwrap();
        let (documents, failures) = read_all(directory.path(), Some("https://notes.test/base/"));
        assert_eq!(failures.len(), 1);
        assert!(failures[0].contains("paper.pdf: files of kind .pdf"), "{failures:?}");
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
