//! The texts of an llms.txt, made from the documents of a crawl.

use url::Url;
use websvc_transport::without_credentials;
use websvc_types::job::JobDocument;
use websvc_types::limits::{LLMSTXT_FULL_MAX_BYTES, LLMSTXT_LINE_MAX_CHARS};
use websvc_types::llms_txt::LlmsTxtData;

/// Collects the pages of a site.
#[derive(Debug)]
pub(super) struct LlmsTxtBuilder {
    start: Option<Url>,
    pages: Vec<Page>,
    has_full_text: bool,
    /// Size of the full texts so far.
    bytes: usize,
    /// Number of pages whose full text did not fit.
    left_out: usize,
}

#[derive(Debug)]
struct Page {
    url: String,
    title: String,
    description: String,
    markdown: Option<String>,
}

impl LlmsTxtBuilder {
    /// Begins the texts of a site. The start URL has a scheme.
    pub(super) fn new(start_url: &str, has_full_text: bool) -> Self {
        // In this form, it equals the URL in the metadata of its page.
        let start = Url::parse(start_url).ok().map(|url| {
            let mut url = without_credentials(&url);
            url.set_fragment(None);
            url
        });
        Self { start, pages: Vec::new(), has_full_text, bytes: 0, left_out: 0 }
    }

    /// Adds a document of the job. Error pages are not part of the site.
    ///
    /// # Errors
    /// The document is not one of a job.
    pub(super) fn add(&mut self, json: &[u8]) -> serde_json::Result<()> {
        let JobDocument { content, warning: _ } = serde_json::from_slice(json)?;
        let metadata = content.metadata.unwrap_or_default();
        if metadata.status_code.is_some_and(|status| status >= 400) {
            return Ok(());
        }
        let url = metadata.url.or(metadata.source_url).unwrap_or_default();
        let title = Some(line(metadata.title.as_deref().unwrap_or_default()))
            .filter(|title| !title.is_empty())
            .unwrap_or_else(|| line(&url));
        let markdown =
            content.markdown.filter(|_| self.has_full_text).and_then(|markdown| self.admit(markdown));
        let description = line(metadata.description.as_deref().unwrap_or_default());
        self.pages.push(Page { url, title, description, markdown });
        Ok(())
    }

    /// Returns the full text of a page, if it fits.
    fn admit(&mut self, markdown: String) -> Option<String> {
        let bytes = self.bytes.saturating_add(markdown.len());
        if bytes > LLMSTXT_FULL_MAX_BYTES {
            self.left_out += 1;
            return None;
        }
        self.bytes = bytes;
        Some(markdown)
    }

    /// Returns the texts, and the number of pages whose full text did not fit. The start page comes first, the others are
    /// sorted by URL, so that the text does not depend on the order in which pages were fetched.
    pub(super) fn finish(mut self) -> (LlmsTxtData, usize) {
        let start = self.start.as_ref().map(Url::as_str).unwrap_or_default();
        self.pages.sort_by(|a, b| (a.url != start, &a.url).cmp(&(b.url != start, &b.url)));
        let site = self.start.as_ref().and_then(Url::host_str).unwrap_or_default();
        let mut llmstxt = format!("# {site}\n\n");
        for page in &self.pages {
            llmstxt.push_str(&page.line());
        }
        let llmsfulltxt = self.has_full_text.then(|| {
            let pages = self.pages.iter().filter_map(Page::full_text);
            std::iter::once(format!("# {site}\n\n")).chain(pages).collect()
        });
        (LlmsTxtData { llmstxt, llmsfulltxt }, self.left_out)
    }
}

impl Page {
    /// Returns the list item of the page.
    fn line(&self) -> String {
        let Self { url, title, description, markdown: _ } = self;
        let link = format!("- [{}]({})", escape(title), destination(url));
        if description.is_empty() { format!("{link}\n") } else { format!("{link}: {description}\n") }
    }

    fn full_text(&self) -> Option<String> {
        let Self { url, title, description: _, markdown } = self;
        let markdown = markdown.as_ref()?;
        Some(format!("## [{}]({})\n\n{}\n\n", escape(title), destination(url), markdown.trim()))
    }
}

/// Returns a text as a single line of limited length.
fn line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(LLMSTXT_LINE_MAX_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Escapes the characters that would end the text of a link.
fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]")
}

/// Encodes the characters that would end the destination of a link.
fn destination(url: &str) -> String {
    url.replace('(', "%28")
        .replace(')', "%29")
        .replace('<', "%3C")
        .replace('>', "%3E")
        .replace(char::is_whitespace, "%20")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn page(url: &str, title: &str, description: &str, markdown: &str) -> Value {
        json!({
            "markdown": markdown,
            "metadata": { "url": url, "title": title, "description": description, "statusCode": 200 },
        })
    }

    fn texts(has_full_text: bool, pages: &[Value]) -> (LlmsTxtData, usize) {
        let mut builder = LlmsTxtBuilder::new("http://tea.test/", has_full_text);
        for page in pages {
            builder.add(page.to_string().as_bytes()).expect("it is a document");
        }
        builder.finish()
    }

    #[test]
    fn start_page_comes_first_and_error_pages_are_left_out() {
        let mut missing = page("http://tea.test/gone", "Gone", "", "# Gone");
        missing["metadata"]["statusCode"] = json!(404);
        let pages = [
            page("http://tea.test/b", "B", "", "# B"),
            missing,
            page("http://tea.test/a", "", "  Two\n lines ", "# A\n"),
            page("http://tea.test/", "Tea", "All about tea", "# Tea"),
        ];
        let (data, left_out) = texts(true, &pages);
        let lines = "# tea.test\n\n- [Tea](http://tea.test/): All about tea\n\
                     - [http://tea.test/a](http://tea.test/a): Two lines\n- [B](http://tea.test/b)\n";
        assert_eq!((data.llmstxt.as_str(), left_out), (lines, 0));
        let full = "# tea.test\n\n## [Tea](http://tea.test/)\n\n# Tea\n\n\
                    ## [http://tea.test/a](http://tea.test/a)\n\n# A\n\n## [B](http://tea.test/b)\n\n# B\n\n";
        assert_eq!(data.llmsfulltxt.as_deref(), Some(full));
        assert_eq!(texts(false, &pages).0.llmsfulltxt, None);
    }

    #[test]
    fn start_page_is_found_without_the_credentials_and_the_fragment_of_its_url() {
        let mut builder = LlmsTxtBuilder::new("http://user:pass@tea.test/green#top", false);
        for page in [page("http://tea.test/black", "B", "", ""), page("http://tea.test/green", "G", "", "")] {
            builder.add(page.to_string().as_bytes()).expect("it is a document");
        }
        let (data, _) = builder.finish();
        assert_eq!(
            data.llmstxt,
            "# tea.test\n\n- [G](http://tea.test/green)\n- [B](http://tea.test/black)\n"
        );
    }

    #[test]
    fn title_and_url_cannot_leave_their_link() {
        let hostile = page("http://tea.test/a(b) c", "]\\(http://evil.test/)\n# [x", "", "");
        let (data, _) = texts(false, &[hostile]);
        assert_eq!(
            data.llmstxt,
            "# tea.test\n\n- [\\]\\\\(http://evil.test/) # \\[x](http://tea.test/a%28b%29%20c)\n"
        );
        let long = page("http://tea.test/", &"x".repeat(501), "", "");
        let (data, _) = texts(false, &[long]);
        assert!(data.llmstxt.contains(&format!("[{}…]", "x".repeat(500))), "{}", data.llmstxt);
    }

    #[test]
    fn full_text_has_a_maximum_size() {
        let large = page("http://tea.test/", "Tea", "", &"x".repeat(LLMSTXT_FULL_MAX_BYTES));
        let (data, left_out) = texts(true, &[large, page("http://tea.test/a", "A", "", "# A")]);
        assert_eq!(left_out, 1);
        assert!(data.llmsfulltxt.is_some_and(|text| !text.contains("# A")));
        assert!(data.llmstxt.contains("[A]"));
    }
}
