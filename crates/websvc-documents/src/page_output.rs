//! The separation of the pages of a PDF in the output.

/// The separation of the pages of a PDF in the output. By default, the pages are one continuous text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PageOutput {
    /// Mark the start of each page in the HTML with a [`page_start`].
    pub starts: bool,
    /// Also return the pages on their own.
    pub separate: bool,
    /// Also return the pages on their own with their layout.
    pub layout: bool,
}

/// The text before and after the number in a mark of the start of a page.
const START: (&str, &str) = ("<hr data-page-start=\"", "\">\n");

/// The text before and after the values in a mark of the size of a page.
const SIZE: (&str, &str) = ("<hr data-page-size=\"", "\">\n");

/// The text before and after the values in a mark of the start of a block.
const BLOCK: (&str, &str) = ("<hr data-block=\"", "\">\n");

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

/// A kind of block on a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockKind {
    /// A heading of the first level.
    Title,
    /// Another heading.
    Heading,
    /// A paragraph.
    Text,
    /// An item of a list.
    ListItem,
    /// Lines of code.
    Code,
    /// A table.
    Table,
    /// A table of contents.
    Contents,
}

impl BlockKind {
    const ALL: [Self; 7] =
        [Self::Title, Self::Heading, Self::Text, Self::ListItem, Self::Code, Self::Table, Self::Contents];

    /// Returns the name, such as `list_item`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Heading => "heading",
            Self::Text => "text",
            Self::ListItem => "list_item",
            Self::Code => "code",
            Self::Table => "table",
            Self::Contents => "contents",
        }
    }
}

/// A block of a page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LayoutBlock<'h> {
    /// The kind.
    pub kind: BlockKind,
    /// The left, upper, right and lower edge, as shares of the width and height of the page from its upper left corner;
    /// `None` for text that is not upright.
    pub area: Option<[f64; 4]>,
    /// The content as HTML.
    pub html: &'h str,
}

/// The layout of a page.
#[derive(Debug, Clone, PartialEq)]
pub struct PageLayout<'h> {
    /// The number of the page, from 1.
    pub page: u32,
    /// The width and height in points.
    pub size: Option<(f64, f64)>,
    /// The content before the first block, as HTML: text that was recognized in place of a
    /// [`page_mark`](crate::page_mark).
    pub recognized: &'h str,
    /// The blocks in reading order.
    pub blocks: Vec<LayoutBlock<'h>>,
}

/// Returns the mark of the size of a page, which follows the mark of its start.
pub(crate) fn page_size(width: f32, height: f32) -> String {
    format!("{}{width:.1} {height:.1}{}", SIZE.0, SIZE.1)
}

/// Returns the mark of the start of a block.
pub(crate) fn block_start(kind: BlockKind, area: Option<[f32; 4]>) -> String {
    let mut mark = format!("{}{}", BLOCK.0, kind.name());
    for edge in area.into_iter().flatten() {
        mark.push_str(&format!(" {:.4}", edge.clamp(0.0, 1.0)));
    }
    mark + BLOCK.1
}

/// Splits HTML that was written with the layout into its pages and blocks.
#[must_use]
pub fn split_layout(html: &str) -> Vec<PageLayout<'_>> {
    split_pages(html).into_iter().map(|(page, content)| page_layout(page, content)).collect()
}

fn page_layout(page: u32, content: &str) -> PageLayout<'_> {
    let sized = content.strip_prefix(SIZE.0).and_then(|rest| rest.split_once(SIZE.1));
    let (size, content) = match sized {
        Some((size, rest)) => (numbers(size), rest),
        None => (None, content),
    };
    let size = size.map(|[width, height]| (width, height));
    let mut parts = content.split(BLOCK.0);
    let recognized = parts.next().unwrap_or_default();
    PageLayout { page, size, recognized, blocks: parts.filter_map(layout_block).collect() }
}

fn layout_block(part: &str) -> Option<LayoutBlock<'_>> {
    let (values, html) = part.split_once(BLOCK.1)?;
    let (name, area) = values.split_once(' ').unwrap_or((values, ""));
    let kind = BlockKind::ALL.into_iter().find(|kind| kind.name() == name)?;
    Some(LayoutBlock { kind, area: numbers(area), html })
}

/// Parses numbers that are separated by spaces.
fn numbers<const N: usize>(text: &str) -> Option<[f64; N]> {
    let numbers: Option<Vec<f64>> = text.split(' ').map(|number| number.parse().ok()).collect();
    numbers?.try_into().ok()
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

    #[test]
    fn layout_is_read_as_it_was_written() {
        let html = page_start(3)
            + &page_size(600.0, 800.25)
            + "<p>scan</p>"
            + &block_start(BlockKind::ListItem, Some([0.1, -0.5, 0.25, 7.0]))
            + "<ul></ul>\n"
            + &block_start(BlockKind::Table, None)
            + "<table></table>"
            + &page_start(4);
        let item =
            LayoutBlock { kind: BlockKind::ListItem, area: Some([0.1, 0.0, 0.25, 1.0]), html: "<ul></ul>\n" };
        let table = LayoutBlock { kind: BlockKind::Table, area: None, html: "<table></table>" };
        let size = Some((600.0, 800.2));
        let first = PageLayout { page: 3, size, recognized: "<p>scan</p>", blocks: vec![item, table] };
        let second = PageLayout { page: 4, size: None, recognized: "", blocks: Vec::new() };
        assert_eq!(split_layout(&html), [first, second]);
        for kind in BlockKind::ALL {
            assert_eq!(layout_block(&format!("{}\">\n", kind.name())).map(|block| block.kind), Some(kind));
        }
    }
}
