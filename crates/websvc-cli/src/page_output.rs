//! Pages as files: a Markdown file for each with what is known of it in front, and its other formats beside it.

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

/// So much of a file is looked at to learn whose it is: longer than any address.
const HEAD_BYTES: u64 = 64 * 1024;

/// Policy for existing files that this program did not write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConflictPolicy {
    /// They stay, and the page is not written.
    Stay,
    /// They are replaced.
    Go,
}

/// Outcome of writing a page.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum WriteOutcome {
    /// It is in this file.
    Into(PathBuf),
    /// A file that is not of this program is where it would be.
    Occupied(PathBuf),
}

/// A directory that pages are written into.
#[derive(Debug)]
pub(crate) struct PageFiles {
    root: PathBuf,
    others: ConflictPolicy,
    /// Which page has a name, in small letters: there are systems to which these are the same.
    taken: HashMap<String, String>,
}

impl PageFiles {
    /// Opens a directory, making it when it does not exist.
    pub(crate) fn open(root: &Path, others: ConflictPolicy) -> Result<Self> {
        std::fs::create_dir_all(root)
            .with_context(|| format!("cannot make the directory {}", root.display()))?;
        sweep(root);
        Ok(Self { root: root.to_owned(), others, taken: HashMap::new() })
    }

    /// Writes a page. The files of an earlier run are replaced, each at once; the Markdown file comes last.
    pub(crate) fn write(&mut self, page: PageContent, fetched: &str) -> Result<WriteOutcome> {
        let url = address(&page).to_owned();
        let names = Names::of(&url);
        let Some(stem) = self.choose(&url, &names)? else {
            return Ok(WriteOutcome::Occupied(self.root.join(format!("{}.{MARKDOWN}", names.plain))));
        };
        let folder = self.root.join(&stem).parent().map_or_else(|| self.root.clone(), Path::to_owned);
        std::fs::create_dir_all(&folder)
            .with_context(|| format!("cannot make the directory {}", folder.display()))?;
        let text = self.write_others(&stem, page, fetched)?;
        let path = self.root.join(format!("{stem}.{MARKDOWN}"));
        replace(&self.root, &path, text.as_bytes())?;
        Ok(WriteOutcome::Into(path))
    }

    /// Returns the name of a page without what comes after it: the one that its address makes, or where another page has
    /// that, one that is its own in any case.
    fn choose(&mut self, url: &str, names: &Names) -> Result<Option<String>> {
        for stem in [&names.plain, &names.own] {
            let small = stem.to_lowercase();
            match self.taken.get(&small) {
                Some(other) if other != url => continue,
                Some(_) => return Ok(Some(stem.clone())),
                None => {}
            }
            match owner(&self.root.join(format!("{stem}.{MARKDOWN}")))? {
                FileOwner::Page(line) if line != url_line(url) => continue,
                FileOwner::Somebody if self.others == ConflictPolicy::Stay => return Ok(None),
                FileOwner::Page(_) | FileOwner::Somebody | FileOwner::Nobody => {}
            }
            self.taken.insert(small, url.to_owned());
            return Ok(Some(stem.clone()));
        }
        Ok(None)
    }

    /// Writes what is not Markdown, and returns the text of the Markdown file.
    fn write_others(&self, stem: &str, mut page: PageContent, fetched: &str) -> Result<String> {
        let path = |after: &str| self.root.join(format!("{stem}.{after}"));
        for (after, text) in [("html", page.html.take()), ("raw.html", page.raw_html.take())] {
            if let Some(text) = text {
                replace(&self.root, &path(after), text.as_bytes())?;
            }
        }
        if let Some(picture) = &mut page.screenshot {
            *picture = self.write_file(stem, "", picture)?;
        }
        if let Some(actions) = &mut page.actions {
            for files in [&mut actions.screenshots, &mut actions.pdfs] {
                for (at, file) in files.iter_mut().enumerate() {
                    *file = self.write_file(stem, &format!("action-{}.", at + 1), file)?;
                }
            }
        }
        let text = page_text(&mut page, fetched);
        let mut rest = serde_json::to_value(&page)?;
        if let Some(rest) = rest.as_object_mut() {
            rest.remove("metadata");
            rest.remove("screenshot");
            if !rest.is_empty() {
                replace(&self.root, &path("json"), format!("{:#}\n", json!(rest)).as_bytes())?;
            }
        }
        Ok(text)
    }

    /// Writes a file that is part of a page, and returns its name, or the URL under which a server keeps it.
    fn write_file(&self, stem: &str, what: &str, url: &str) -> Result<String> {
        let Some((extension, bytes)) = decode_file(url)? else { return Ok(url.to_owned()) };
        let path = self.root.join(format!("{stem}.{what}{extension}"));
        replace(&self.root, &path, &bytes)?;
        Ok(path.file_name().unwrap_or_default().to_string_lossy().into_owned())
    }
}

/// Returns the address that a page was asked for by.
pub(crate) fn address(page: &PageContent) -> &str {
    let metadata = page.metadata.as_ref();
    metadata.and_then(|known| known.source_url.as_deref().or(known.url.as_deref())).unwrap_or_default()
}

/// Returns the Markdown of a page, which it then has no more, behind what is known of it, as YAML.
pub(crate) fn page_text(page: &mut PageContent, fetched: &str) -> String {
    let url = address(page).to_owned();
    let Metadata {
        title,
        description,
        language,
        status_code,
        content_type,
        num_pages,
        cached_at,
        url: reached,
        error,
        ..
    } = page.metadata.clone().unwrap_or_default();
    let reached = reached.filter(|reached| *reached != url);
    let text = |text: Option<String>| text.map(Value::from);
    let matter = front_matter(&[
        ("url", Some(json!(url))),
        ("redirectedTo", text(reached)),
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

/// Whose a file is.
#[derive(Debug, PartialEq, Eq)]
enum FileOwner {
    /// There is none.
    Nobody,
    /// This program's, for the page that this line names.
    Page(String),
    /// Somebody's.
    Somebody,
}

fn url_line(url: &str) -> String {
    format!("url: {}", quoted(&json!(url)))
}

fn owner(path: &Path) -> Result<FileOwner> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(FileOwner::Nobody),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    let mut lines = BufReader::new(file.take(HEAD_BYTES)).lines();
    let (Some(Ok(first)), Some(Ok(second))) = (lines.next(), lines.next()) else {
        return Ok(FileOwner::Somebody);
    };
    Ok(if first == "---" && second.starts_with("url: ") {
        FileOwner::Page(second)
    } else {
        FileOwner::Somebody
    })
}

/// Writes a file, which is there whole or not at all, below `root`.
fn replace(root: &Path, path: &Path, bytes: &[u8]) -> Result<()> {
    let cannot = || format!("cannot write {}", path.display());
    let mut draft = draft_in(root).with_context(cannot)?;
    draft.write_all(bytes).with_context(cannot)?;
    draft.persist(path).with_context(cannot)?;
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
            WriteOutcome::Into(path) => {
                Some(path.strip_prefix(&files.root).unwrap().to_str().unwrap().to_owned())
            }
            WriteOutcome::Occupied(_) => None,
        }
    }

    #[test]
    fn a_page_keeps_its_file_and_others_theirs() {
        let folder = tempfile::tempdir().unwrap();
        let mut files = PageFiles::open(folder.path(), ConflictPolicy::Stay).unwrap();
        let first = write(&mut files, "http://a.test/tea", "one").unwrap();
        assert_eq!(first, "a.test/tea.md");
        let other = write(&mut files, "https://a.test/tea", "two").unwrap();
        assert!(other != first && other.starts_with("a.test/tea-"), "{other}");
        let large = write(&mut files, "http://a.test/Tea", "three").unwrap();
        assert_ne!(large.to_lowercase(), first);
        // A later run meets them in another order.
        let mut files = PageFiles::open(folder.path(), ConflictPolicy::Stay).unwrap();
        assert_eq!(write(&mut files, "https://a.test/tea", "two again").unwrap(), other);
        assert_eq!(write(&mut files, "http://a.test/tea", "one again").unwrap(), first);
        let text = std::fs::read_to_string(folder.path().join(first)).unwrap();
        assert!(text.ends_with("---\n\none again\n"), "{text}");
    }

    #[test]
    fn files_of_others_stay_unless_they_may_go() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.test/tea.md");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        for mine in ["# My notes\n", "---\ntitle: mine\n---\n", ""] {
            std::fs::write(&path, mine).unwrap();
            let mut files = PageFiles::open(folder.path(), ConflictPolicy::Stay).unwrap();
            assert_eq!(write(&mut files, "http://a.test/tea", "one"), None);
            assert_eq!(std::fs::read_to_string(&path).unwrap(), mine);
        }
        let mut files = PageFiles::open(folder.path(), ConflictPolicy::Go).unwrap();
        assert!(write(&mut files, "http://a.test/tea", "one").is_some());
        let left: Vec<_> = std::fs::read_dir(path.parent().unwrap()).unwrap().collect();
        assert_eq!(left.len(), 1, "no draft is left: {left:?}");
    }

    #[test]
    fn other_formats_are_beside_the_text() {
        let folder = tempfile::tempdir().unwrap();
        let mut files = PageFiles::open(folder.path(), ConflictPolicy::Stay).unwrap();
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
