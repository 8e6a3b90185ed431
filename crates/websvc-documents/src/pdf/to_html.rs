//! Writes blocks as HTML, and detects headings, their levels, and lists.

use std::collections::HashMap;

use crate::html::{Html, push_escaped};
use crate::page_output::{page_size, page_start};
use crate::parsed_document::page_mark;

use super::blocks::{Block, PageSize, PlacedBlock, Text, TextRole, is_plain};
use super::font::Style;
use super::layout::block_mark;
use super::list_marker::ListMarker;
use super::outline::Outline;
use super::text::{LINE_HYPHEN, Span, Words, plain_text};

/// The maximum length of a heading in bytes.
const MAX_HEADING_BYTES: usize = 200;
/// The minimum size of a heading that is larger than the body text, relative to it.
const MIN_HEADING_SCALE: f32 = 1.1;
/// The deepest heading level of HTML.
const MAX_LEVEL: u32 = 6;

/// The marks in the HTML.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marks {
    /// None.
    None,
    /// A [`page_start`] for each page.
    Pages,
    /// Also a mark for the size of each page, and for each block.
    Layout,
}

/// Returns the blocks as HTML, and whether content was dropped because of the size limit.
pub(super) fn html(
    blocks: &[PlacedBlock],
    links: &[String],
    outline: &Outline,
    max_bytes: usize,
    marks: Marks,
) -> (String, bool) {
    let mut writer = Writer { html: Html::new(max_bytes), links, words: words(blocks), lists: Vec::new() };
    let levels = heading_levels(blocks, outline);
    let mut size = None;
    for (placed, level) in blocks.iter().zip(levels) {
        if writer.html.is_full() {
            break;
        }
        if marks == Marks::Layout
            && let Some(mark) = block_mark(placed, level, size)
        {
            writer.block(&mark);
        }
        match &placed.block {
            Block::Text(text) => match (level, text.marker) {
                (Some(level), _) => writer.heading(text, level),
                (None, Some(marker)) => writer.item(text, marker),
                (None, None) => writer.paragraph(text),
            },
            Block::Code(lines) => writer.code(lines),
            Block::Table(rows) => writer.table(rows),
            Block::Contents(entries) => writer.contents(entries),
            Block::PageStart(page) => {
                size = Some(*page);
                writer.page_start(*page, marks);
            }
            Block::PageMark(page) => writer.block(&page_mark(*page)),
        }
    }
    writer.close_lists(0);
    let is_full = writer.html.is_full();
    (writer.html.into_string(), is_full)
}

/// Returns the words of all text blocks.
fn words(blocks: &[PlacedBlock]) -> Words {
    let mut words = Words::default();
    for placed in blocks {
        match &placed.block {
            Block::Text(text) => text.spans.iter().for_each(|span| words.add(&span.text)),
            Block::Contents(rows) => rows.iter().flatten().for_each(|span| words.add(&span.text)),
            Block::Table(rows) => rows.iter().flatten().flatten().for_each(|span| words.add(&span.text)),
            Block::Code(_) | Block::PageStart(_) | Block::PageMark(_) => {}
        }
    }
    words
}

/// Returns the heading level of each block; `None` for blocks that are not headings.
fn heading_levels(blocks: &[PlacedBlock], outline: &Outline) -> Vec<Option<u32>> {
    let body_size = body_size(blocks);
    let next_is_bold = |index: usize| {
        let next = blocks[index + 1..].iter().map(|placed| &placed.block);
        let mut next = next.filter(|block| !matches!(block, Block::PageStart(_)));
        matches!(next.next(), Some(Block::Text(next)) if next.bold)
    };
    let kinds: Vec<Option<HeadingKind>> = blocks
        .iter()
        .enumerate()
        .map(|(index, placed)| match &placed.block {
            Block::Text(text) => heading_kind(text, body_size, outline, next_is_bold(index)),
            _ => None,
        })
        .collect();
    let mut sizes: Vec<i32> = kinds
        .iter()
        .filter_map(|kind| match kind {
            Some(HeadingKind::Larger(size)) => Some(*size),
            _ => None,
        })
        .collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    sizes.dedup();
    // Sizes that differ by at most 4% have the same level.
    let mut ranks: HashMap<i32, u32> = HashMap::new();
    let mut rank = 0;
    let mut last: Option<i32> = None;
    for size in sizes {
        if last.is_none_or(|last| (last - size) as f32 > last as f32 * 0.04) {
            rank += 1;
            last = Some(size);
        }
        ranks.insert(size, rank);
    }
    let deepest = rank;
    kinds
        .into_iter()
        .map(|kind| {
            let level = match kind? {
                HeadingKind::Outline(level) => level,
                HeadingKind::Larger(size) => ranks.get(&size).copied().unwrap_or(deepest),
                HeadingKind::Bold => deepest + 1,
            };
            Some(level.clamp(1, MAX_LEVEL))
        })
        .collect()
}

/// The reason why a block is a heading.
enum HeadingKind {
    /// The structure of the file states this level, or the outline has a bookmark with its text and this level.
    Outline(u32),
    /// The block is larger than the body text. The value is its size in tenths of a point.
    Larger(i32),
    /// The block is bold, and the next block is not.
    Bold,
}

/// Returns the kind of heading that a block is; `None` if it is not a heading.
fn heading_kind(text: &Text, body_size: f32, outline: &Outline, next_is_bold: bool) -> Option<HeadingKind> {
    match text.role {
        TextRole::Heading(level) => return Some(HeadingKind::Outline(level)),
        TextRole::Body => return None,
        TextRole::Unknown => {}
    }
    let plain = plain_text(&text.spans);
    let plain = plain.trim();
    if plain.len() > MAX_HEADING_BYTES || text.lines > 4 || !plain.chars().any(char::is_alphabetic) {
        return None;
    }
    if matches!(text.marker, Some(ListMarker::Bullet | ListMarker::Dash)) {
        return None;
    }
    let is_prominent = text.bold || text.size > body_size * 1.05;
    if is_prominent && let Some(level) = outline.level(plain) {
        return Some(HeadingKind::Outline(level));
    }
    let ends_sentence = plain.ends_with(['.', ';', ',', ':']) && !plain.ends_with("...");
    if text.size >= body_size * MIN_HEADING_SCALE && (!ends_sentence || text.size >= body_size * 1.3) {
        return Some(HeadingKind::Larger((text.size * 10.0).round() as i32));
    }
    let is_bold_heading =
        text.bold && text.lines <= 2 && !ends_sentence && !next_is_bold && text.size > body_size * 0.92;
    is_bold_heading.then_some(HeadingKind::Bold)
}

/// Returns the font size of the largest part of the text.
fn body_size(blocks: &[PlacedBlock]) -> f32 {
    let mut sizes: HashMap<i32, usize> = HashMap::new();
    for placed in blocks {
        if let Block::Text(text) = &placed.block {
            let length: usize = text.spans.iter().map(|span| span.text.len()).sum();
            *sizes.entry((text.size * 2.0).round() as i32).or_default() += length;
        }
    }
    sizes
        .into_iter()
        .max_by_key(|(size, length)| (*length, *size))
        .map_or(10.0, |(size, _)| size as f32 / 2.0)
}

/// An open list.
struct OpenList {
    /// The left edge of its items.
    x0: f32,
    end_tag: &'static str,
}

struct Writer<'a> {
    html: Html,
    links: &'a [String],
    words: Words,
    lists: Vec<OpenList>,
}

impl Writer<'_> {
    /// Closes all lists and writes a block.
    fn block(&mut self, markup: &str) {
        self.close_lists(0);
        self.html.push(markup);
    }

    /// Marks the start of a page.
    fn page_start(&mut self, size: PageSize, marks: Marks) {
        let PageSize { page, width, height } = size;
        match marks {
            Marks::None => {}
            Marks::Pages => self.block(&page_start(page)),
            Marks::Layout => self.block(&(page_start(page) + &page_size(width, height))),
        }
    }

    fn heading(&mut self, text: &Text, level: u32) {
        let number = match text.marker {
            Some(ListMarker::Number(_) | ListMarker::Letter) => format!("{} ", text.label),
            Some(ListMarker::Bullet | ListMarker::Dash) | None => String::new(),
        };
        let inline = self.inline(&unstyled(&text.spans));
        self.block(&format!("<h{level}>{number}{inline}</h{level}>\n"));
    }

    fn paragraph(&mut self, text: &Text) {
        let inline = self.inline(&text.spans);
        if !inline.trim().is_empty() {
            self.block(&format!("<p>{inline}</p>\n"));
        }
    }

    fn item(&mut self, text: &Text, marker: ListMarker) {
        while self.lists.last().is_some_and(|list| text.x0 < list.x0 - text.size * 0.6) {
            self.close_lists(self.lists.len() - 1);
        }
        let is_deeper = self.lists.last().is_none_or(|list| text.x0 > list.x0 + text.size * 0.6);
        if is_deeper && self.lists.len() < 8 {
            let (start_tag, end_tag) = match marker {
                ListMarker::Bullet | ListMarker::Dash => ("<ul>".to_owned(), "</li></ul>\n"),
                ListMarker::Number(1) => ("<ol>".to_owned(), "</li></ol>\n"),
                ListMarker::Number(first) => (format!("<ol start=\"{first}\">"), "</li></ol>\n"),
                ListMarker::Letter => ("<ol type=\"a\">".to_owned(), "</li></ol>\n"),
            };
            self.html.push(&start_tag);
            self.lists.push(OpenList { x0: text.x0, end_tag });
        } else {
            self.html.push("</li>\n");
        }
        let inline = self.inline(&text.spans);
        self.html.push(&format!("<li>{inline}"));
    }

    /// Closes the lists deeper than `depth`.
    fn close_lists(&mut self, depth: usize) {
        while self.lists.len() > depth {
            if let Some(list) = self.lists.pop() {
                self.html.push(list.end_tag);
            }
        }
    }

    fn code(&mut self, lines: &[String]) {
        let mut markup = "<pre><code>".to_owned();
        for line in lines {
            push_escaped(&mut markup, line);
            markup.push('\n');
        }
        markup.push_str("</code></pre>\n");
        self.block(&markup);
    }

    fn contents(&mut self, entries: &[Vec<Span>]) {
        let mut markup = "<ul>\n".to_owned();
        for entry in entries {
            markup.push_str("<li>");
            markup.push_str(&self.inline(entry));
            markup.push_str("</li>\n");
        }
        markup.push_str("</ul>\n");
        self.block(&markup);
    }

    fn table(&mut self, rows: &[Vec<Vec<Span>>]) {
        let mut markup = "<table>\n".to_owned();
        for (index, row) in rows.iter().enumerate() {
            let tag = if index == 0 { "th" } else { "td" };
            markup.push_str("<tr>");
            for cell in row {
                let inline = if index == 0 { self.inline(&unstyled(cell)) } else { self.inline(cell) };
                markup.push_str(&format!("<{tag}>{inline}</{tag}>"));
            }
            markup.push_str("</tr>\n");
        }
        markup.push_str("</table>\n");
        self.block(&markup);
    }

    /// Returns the markup of spans, with their styles and links.
    fn inline(&self, spans: &[Span]) -> String {
        let mut joined: String = spans.iter().map(|span| span.text.as_str()).collect();
        self.words.join_hyphenated(&mut joined);
        let mut markup = String::with_capacity(joined.len() + 32);
        let mut rest = joined.as_str();
        let mut link = 0;
        for span in spans {
            let text = take_span_text(&mut rest, &span.text);
            if span.link != link {
                self.end_link(&mut markup, link);
                link = self.begin_link(&mut markup, span.link);
            }
            write_styled(&mut markup, text, span.style);
        }
        self.end_link(&mut markup, link);
        markup
    }

    /// Writes the start tag of a link, and returns its number; 0 if there is no such link.
    fn begin_link(&self, markup: &mut String, link: u32) -> u32 {
        let url = (link as usize).checked_sub(1).and_then(|index| self.links.get(index));
        let Some(url) = url else { return 0 };
        markup.push_str("<a href=\"");
        push_escaped(markup, url);
        markup.push_str("\">");
        link
    }

    fn end_link(&self, markup: &mut String, link: u32) {
        if link != 0 {
            markup.push_str("</a>");
        }
    }
}

/// Returns the spans without their styles.
fn unstyled(spans: &[Span]) -> Vec<Span> {
    spans.iter().map(|span| Span { style: Style::default(), ..span.clone() }).collect()
}

/// Splits the text of a span off the joined text, which differs from `original` only in the hyphen placeholders.
fn take_span_text<'t>(rest: &mut &'t str, original: &str) -> &'t str {
    let mut length = 0;
    let mut characters = rest.char_indices().peekable();
    for character in original.chars() {
        match characters.peek() {
            Some((_, next)) if *next == character => {
                characters.next();
            }
            Some((_, '-')) if character == LINE_HYPHEN => {
                characters.next();
            }
            _ => {}
        }
        length = characters.peek().map_or(rest.len(), |(index, _)| *index);
    }
    let (text, remaining) = rest.split_at(length);
    *rest = remaining;
    text
}

/// Writes text with the tags of its style. White space stays outside of the tags.
fn write_styled(markup: &mut String, text: &str, style: Style) {
    let trimmed = text.trim();
    if trimmed.is_empty() || is_plain(style) || !trimmed.chars().any(char::is_alphanumeric) {
        push_escaped(markup, text);
        return;
    }
    let (lead, tail) = (&text[..text.len() - text.trim_start().len()], &text[text.trim_end().len()..]);
    let tags: Vec<&str> =
        [(style.bold, "strong"), (style.italic, "em"), (style.mono, "code"), (style.superscript, "sup")]
            .into_iter()
            .filter_map(|(enabled, tag)| enabled.then_some(tag))
            .collect();
    markup.push_str(lead);
    tags.iter().for_each(|tag| markup.push_str(&format!("<{tag}>")));
    push_escaped(markup, trimmed);
    tags.iter().rev().for_each(|tag| markup.push_str(&format!("</{tag}>")));
    markup.push_str(tail);
}
