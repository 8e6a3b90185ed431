//! Pages as files: a Markdown file with front matter per page, and its other formats next to it.

mod draft;
mod front_matter;
mod name;

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use websvc::types::{Metadata, PageContent};

use crate::render_args::decode_file;
pub(crate) use draft::{draft_in, sweep};
pub(crate) use front_matter::{front_matter, quoted};
use name::{MARKDOWN, Names};

/// Maximum size of the beginning of a file that identifies its owner. It is longer than any URL.
const HEAD_BYTES: u64 = 64 * 1024;

/// Policy for existing files that this program did not write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConflictPolicy {
    /// Keep the file and do not write the page.
    Keep,
    /// Replace the file.
    Replace,
}

/// The outcome of writing a page.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum WriteOutcome {
    /// The page was written into this file.
    Written(PathBuf),
    /// The page was not written, because this file of another owner exists.
    Occupied(PathBuf),
}

/// A directory of pages.
#[derive(Debug)]
pub(crate) struct PageFiles {
    root: PathBuf,
    conflicts: ConflictPolicy,
    /// URLs of the pages by their names, in lower case because some file systems ignore case.
    urls_by_name: HashMap<String, String>,
}

impl PageFiles {
    /// Opens a directory and creates it if it does not exist.
    pub(crate) fn open(root: &Path, conflicts: ConflictPolicy) -> Result<Self> {
        std::fs::create_dir_all(root)
            .with_context(|| format!("cannot create the directory {}", root.display()))?;
        sweep(root);
        Ok(Self { root: root.to_owned(), conflicts, urls_by_name: HashMap::new() })
    }

    /// Writes a page. Files of an earlier run are replaced atomically; the Markdown file is written last.
    pub(crate) fn write(&mut self, page: PageContent, fetched: &str) -> Result<WriteOutcome> {
        let url = source_url(&page).to_owned();
        let names = Names::from_url(&url);
        let Some(stem) = self.choose_stem(&url, &names)? else {
            return Ok(WriteOutcome::Occupied(self.root.join(format!("{}.{MARKDOWN}", names.plain))));
        };
        let folder = self.root.join(&stem).parent().map_or_else(|| self.root.clone(), Path::to_owned);
        std::fs::create_dir_all(&folder)
            .with_context(|| format!("cannot create the directory {}", folder.display()))?;
        let text = self.write_other_formats(&stem, page, fetched)?;
        let path = self.root.join(format!("{stem}.{MARKDOWN}"));
        replace(&self.root, &path, text.as_bytes())?;
        Ok(WriteOutcome::Written(path))
    }

    /// Returns the file name of a page without extension: the plain name, or the unique name if another page has the
    /// plain one. Returns `None` if a file of another owner must be kept.
    fn choose_stem(&mut self, url: &str, names: &Names) -> Result<Option<String>> {
        for stem in [&names.plain, &names.unique] {
            let lower = stem.to_lowercase();
            match self.urls_by_name.get(&lower) {
                Some(other) if other != url => continue,
                Some(_) => return Ok(Some(stem.clone())),
                None => {}
            }
            match owner(&self.root.join(format!("{stem}.{MARKDOWN}")))? {
                FileOwner::Page(line) if line != url_line(url) => continue,
                FileOwner::Foreign if self.conflicts == ConflictPolicy::Keep => return Ok(None),
                FileOwner::Page(_) | FileOwner::Foreign | FileOwner::None => {}
            }
            self.urls_by_name.insert(lower, url.to_owned());
            return Ok(Some(stem.clone()));
        }
        Ok(None)
    }

    /// Writes the formats other than Markdown, and returns the text of the Markdown file.
    fn write_other_formats(&self, stem: &str, mut page: PageContent, fetched: &str) -> Result<String> {
        let path = |extension: &str| self.root.join(format!("{stem}.{extension}"));
        for (extension, text) in [("html", page.html.take()), ("raw.html", page.raw_html.take())] {
            if let Some(text) = text {
                replace(&self.root, &path(extension), text.as_bytes())?;
            }
        }
        if let Some(screenshot) = &mut page.screenshot {
            *screenshot = self.write_file(stem, "", screenshot)?;
        }
        if let Some(actions) = &mut page.actions {
            for files in [&mut actions.screenshots, &mut actions.pdfs] {
                for (index, file) in files.iter_mut().enumerate() {
                    *file = self.write_file(stem, &format!("action-{}.", index + 1), file)?;
                }
            }
        }
        let text = markdown_file(&mut page, fetched);
        let mut rest = serde_json::to_value(&page)?;
        if let Some(rest) = rest.as_object_mut() {
            rest.shift_remove("metadata");
            rest.shift_remove("screenshot");
            if !rest.is_empty() {
                replace(&self.root, &path("json"), format!("{:#}\n", json!(rest)).as_bytes())?;
            }
        }
        Ok(text)
    }

    /// Writes a file that is part of a page and returns its name. For a file that a server stores, returns its URL.
    fn write_file(&self, stem: &str, suffix: &str, url: &str) -> Result<String> {
        let Some((extension, bytes)) = decode_file(url)? else { return Ok(url.to_owned()) };
        let path = self.root.join(format!("{stem}.{suffix}{extension}"));
        replace(&self.root, &path, &bytes)?;
        Ok(path.file_name().unwrap_or_default().to_string_lossy().into_owned())
    }
}

/// Returns the requested URL of a page.
pub(crate) fn source_url(page: &PageContent) -> &str {
    let metadata = page.metadata.as_ref();
    metadata
        .and_then(|metadata| metadata.source_url.as_deref().or(metadata.url.as_deref()))
        .unwrap_or_default()
}

/// Takes the Markdown out of a page and returns it with the metadata as front matter.
pub(crate) fn markdown_file(page: &mut PageContent, fetched: &str) -> String {
    let url = source_url(page).to_owned();
    let Metadata {
        title,
        description,
        language,
        status_code,
        content_type,
        num_pages,
        cached_at,
        url: final_url,
        error,
        ..
    } = page.metadata.clone().unwrap_or_default();
    let final_url = final_url.filter(|final_url| *final_url != url);
    let text = |text: Option<String>| text.map(Value::from);
    let matter = front_matter(&[
        ("url", Some(json!(url))),
        ("redirectedTo", text(final_url)),
        ("title", text(title)),
        ("description", text(description)),
        ("language", text(language)),
        ("statusCode", status_code.map(Value::from)),
        ("contentType", text(content_type)),
        ("pages", num_pages.map(Value::from)),
        ("fetched", Some(json!(cached_at.as_deref().unwrap_or(fetched)))),
        ("screenshot", page.screenshot.clone().map(Value::from)),
        ("error", text(error)),
    ]);
    format!("{matter}\n{}\n", page.markdown.take().unwrap_or_default().trim_end())
}

/// The owner of a file.
#[derive(Debug, PartialEq, Eq)]
enum FileOwner {
    /// The file does not exist.
    None,
    /// This program, for the page that this line of the front matter names.
    Page(String),
    /// Another program or person.
    Foreign,
}

fn url_line(url: &str) -> String {
    format!("url: {}", quoted(&json!(url)))
}

fn owner(path: &Path) -> Result<FileOwner> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(FileOwner::None),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    let mut lines = BufReader::new(file.take(HEAD_BYTES)).lines();
    let (Some(Ok(first)), Some(Ok(second))) = (lines.next(), lines.next()) else {
        return Ok(FileOwner::Foreign);
    };
    Ok(if first == "---" && second.starts_with("url: ") {
        FileOwner::Page(second)
    } else {
        FileOwner::Foreign
    })
}

/// Writes a file below `root` atomically.
fn replace(root: &Path, path: &Path, bytes: &[u8]) -> Result<()> {
    let context = || format!("cannot write {}", path.display());
    let mut draft = draft_in(root).with_context(context)?;
    draft.write_all(bytes).with_context(context)?;
    draft.persist(path).with_context(context)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(url: &str, markdown: &str) -> PageContent {
        let metadata = Metadata { source_url: Some(url.to_owned()), ..Metadata::default() };
        PageContent {
            markdown: Some(markdown.to_owned()),
            metadata: Some(metadata),
            ..PageContent::default()
        }
    }

    fn write(files: &mut PageFiles, url: &str, markdown: &str) -> Option<String> {
        match files.write(page(url, markdown), "2026-01-01T00:00:00Z").unwrap() {
            WriteOutcome::Written(path) => {
                Some(path.strip_prefix(&files.root).unwrap().to_str().unwrap().to_owned())
            }
            WriteOutcome::Occupied(_) => None,
        }
    }

    #[test]
    fn page_has_the_same_file_name_in_every_run() {
        let folder = tempfile::tempdir().unwrap();
        let mut files = PageFiles::open(folder.path(), ConflictPolicy::Keep).unwrap();
        let first = write(&mut files, "http://a.test/tea", "one").unwrap();
        assert_eq!(first, "a.test/tea.md");
        let other = write(&mut files, "https://a.test/tea", "two").unwrap();
        assert!(other != first && other.starts_with("a.test/tea-"), "{other}");
        let upper = write(&mut files, "http://a.test/Tea", "three").unwrap();
        assert_ne!(upper.to_lowercase(), first);
        // A later run writes the pages in another order.
        let mut files = PageFiles::open(folder.path(), ConflictPolicy::Keep).unwrap();
        assert_eq!(write(&mut files, "https://a.test/tea", "two again").unwrap(), other);
        assert_eq!(write(&mut files, "http://a.test/tea", "one again").unwrap(), first);
        let text = std::fs::read_to_string(folder.path().join(first)).unwrap();
        assert!(text.ends_with("---\n\none again\n"), "{text}");
    }

    #[test]
    fn foreign_files_are_kept_unless_replacing_is_allowed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.test/tea.md");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        for mine in ["# My notes\n", "---\ntitle: mine\n---\n", ""] {
            std::fs::write(&path, mine).unwrap();
            let mut files = PageFiles::open(folder.path(), ConflictPolicy::Keep).unwrap();
            assert_eq!(write(&mut files, "http://a.test/tea", "one"), None);
            assert_eq!(std::fs::read_to_string(&path).unwrap(), mine);
        }
        let mut files = PageFiles::open(folder.path(), ConflictPolicy::Replace).unwrap();
        assert!(write(&mut files, "http://a.test/tea", "one").is_some());
        let remaining: Vec<_> = std::fs::read_dir(path.parent().unwrap()).unwrap().collect();
        assert_eq!(remaining.len(), 1, "a draft remains: {remaining:?}");
    }

    #[test]
    fn other_formats_are_written_next_to_the_markdown() {
        let folder = tempfile::tempdir().unwrap();
        let mut files = PageFiles::open(folder.path(), ConflictPolicy::Keep).unwrap();
        let page = PageContent {
            html: Some("<p>".to_owned()),
            raw_html: Some("<p>raw".to_owned()),
            links: Some(vec!["http://b.test/".to_owned()]),
            screenshot: Some("data:image/jpeg;base64,AAAA".to_owned()),
            ..page("http://a.test/", "text")
        };
        files.write(page, "now").unwrap();
        let read = |name: &str| std::fs::read(folder.path().join("a.test").join(name)).unwrap();
        assert_eq!(
            (read("index.html"), read("index.raw.html"), read("index.jpg")),
            (b"<p>".to_vec(), b"<p>raw".to_vec(), vec![0; 3])
        );
        let json: Value = serde_json::from_slice(&read("index.json")).unwrap();
        assert_eq!(json, json!({ "links": ["http://b.test/"] }));
        let text = String::from_utf8(read("index.md")).unwrap();
        assert!(
            text.starts_with("---\nurl: \"http://a.test/\"\n")
                && text.contains("screenshot: \"index.jpg\"\n"),
            "{text}"
        );
    }
}
