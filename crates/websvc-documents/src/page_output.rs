//! The separation of the pages of a PDF in the output.

/// The separation of the pages of a PDF in the output. By default, the pages are one continuous text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PageOutput {
    /// Mark the start of each page in the HTML with a [`page_start`].
    pub starts: bool,
    /// Also return the pages on their own.
    pub separate: bool,
}

/// The text before and after the number in a mark of the start of a page.
const START: (&str, &str) = ("<hr data-page-start=\"", "\">\n");

/// Returns the mark of the start of a page. The content of a document is escaped, so it cannot contain the mark.
#[must_use]
pub fn page_start(page: u32) -> String {
    format!("{}{page}{}", START.0, START.1)
}

/// Splits HTML at its page starts, and returns the numbers of the pages and their HTML. Content before the first mark is
/// left out.
#[must_use]
pub fn split_pages(html: &str) -> Vec<(u32, &str)> {
    let parts = html.split(START.0).skip(1);
    parts
        .filter_map(|part| {
            let (number, content) = part.split_once(START.1)?;
            Some((number.parse().ok()?, content))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_is_split_at_its_page_starts() {
        let html = format!("lost{}<p>a</p>\n{}{}<p>b</p>", page_start(1), page_start(2), page_start(30));
        assert_eq!(split_pages(&html), [(1, "<p>a</p>\n"), (2, ""), (30, "<p>b</p>")]);
        assert!(split_pages("<p>a</p>").is_empty());
    }
}
