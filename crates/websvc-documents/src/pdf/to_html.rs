//! Blocks to HTML: what is a heading and of which level, what is a list, and the markup of each.

use std::collections::HashMap;

use crate::html::{Html, push_escaped};
use crate::parsed_document::page_mark;

use super::blocks::{Block, Text, is_plain};
use super::font::Style;
use super::list_marker::ListMarker;
use super::outline::Outline;
use super::text::{Span, Words, plain_text};

/// Longer text is no heading.
const MAX_HEADING: usize = 200;
/// A heading is larger than the text by this.
const HEADING_SIZE: f32 = 1.1;
/// The deepest level that HTML has.
const MAX_LEVEL: u32 = 6;

/// Returns the blocks as HTML, and whether the bound was reached.
pub(super) fn html(
    blocks: &[Block],
    links: &[String],
    outline: &Outline,
    max_bytes: usize,
) -> (String, bool) {
    let mut writer = Writer { html: Html::new(max_bytes), links, words: words(blocks), lists: Vec::new() };
    let levels = levels(blocks, outline);
    for (block, level) in blocks.iter().zip(levels) {
        if writer.html.is_full() {
            break;
        }
        match block {
            Block::Text(text) => match (level, text.marker) {
                (Some(level), _) => writer.heading(text, level),
                (None, Some(marker)) => writer.item(text, marker),
                (None, None) => writer.paragraph(text),
            },
            Block::Code(lines) => writer.code(lines),
            Block::Table(rows) => writer.table(rows),
            Block::Contents(entries) => writer.contents(entries),
            Block::PageMark(page) => writer.flow(&page_mark(*page)),
        }
    }
    writer.close_lists(0);
    let is_full = writer.html.is_full();
    (writer.html.into_string(), is_full)
}

fn words(blocks: &[Block]) -> Words {
    let mut words = Words::default();
    for block in blocks {
        match block {
            Block::Text(text) => text.spans.iter().for_each(|span| words.learn(&span.text)),
            Block::Contents(rows) => rows.iter().flatten().for_each(|span| words.learn(&span.text)),
            Block::Table(rows) => rows.iter().flatten().flatten().for_each(|span| words.learn(&span.text)),
            Block::Code(_) | Block::PageMark(_) => {}
        }
    }
    words
}

/// Returns for each block the level of the heading that it is.
fn levels(blocks: &[Block], outline: &Outline) -> Vec<Option<u32>> {
    let body = body_size(blocks);
    let next_is_bold = |at: usize| matches!(blocks.get(at + 1), Some(Block::Text(next)) if next.bold);
    let kinds: Vec<Option<Kind>> = blocks
        .iter()
        .enumerate()
        .map(|(at, block)| match block {
            Block::Text(text) => kind(text, body, outline, next_is_bold(at)),
            _ => None,
        })
        .collect();
    let mut sizes: Vec<i32> = kinds
        .iter()
        .filter_map(|kind| match kind {
            Some(Kind::Larger(size)) => Some(*size),
            _ => None,
        })
        .collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    sizes.dedup();
    // Sizes that differ little are one level.
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
                Kind::Outline(level) => level,
                Kind::Larger(size) => ranks.get(&size).copied().unwrap_or(deepest),
                Kind::Bold => deepest + 1,
            };
            Some(level.clamp(1, MAX_LEVEL))
        })
        .collect()
}

/// Why a block is a heading.
enum Kind {
    /// The bookmarks name it.
    Outline(u32),
    /// It is larger than the text; its size in tenths of a point.
    Larger(i32),
    /// It is bold and stands alone.
    Bold,
}

fn kind(text: &Text, body: f32, outline: &Outline, next_is_bold: bool) -> Option<Kind> {
    let plain = plain_text(&text.spans);
    let plain = plain.trim();
    if plain.len() > MAX_HEADING || text.lines > 4 || !plain.chars().any(char::is_alphabetic) {
        return None;
    }
    let with_marker = match text.marker {
        Some(ListMarker::Bullet) => return None,
        Some(ListMarker::Number(_) | ListMarker::Letter) | None => plain,
    };
    let stands_out = text.bold || text.size > body * 1.05;
    if stands_out && let Some(level) = outline.level(with_marker) {
        return Some(Kind::Outline(level));
    }
    let ends_sentence = plain.ends_with(['.', ';', ',', ':']) && !plain.ends_with("...");
    if text.size >= body * HEADING_SIZE && (!ends_sentence || text.size >= body * 1.3) {
        return Some(Kind::Larger((text.size * 10.0).round() as i32));
    }
    let is_bold_heading =
        text.bold && text.lines <= 2 && !ends_sentence && !next_is_bold && text.size > body * 0.92;
    is_bold_heading.then_some(Kind::Bold)
}

/// Returns the size that most text has.
fn body_size(blocks: &[Block]) -> f32 {
    let mut sizes: HashMap<i32, usize> = HashMap::new();
    for block in blocks {
        if let Block::Text(text) = block {
            let length: usize = text.spans.iter().map(|span| span.text.len()).sum();
            *sizes.entry((text.size * 2.0).round() as i32).or_default() += length;
        }
    }
    sizes
        .into_iter()
        .max_by_key(|(size, length)| (*length, *size))
        .map_or(10.0, |(size, _)| size as f32 / 2.0)
}

/// A list that is open.
struct List {
    x0: f32,
    end: &'static str,
}

struct Writer<'a> {
    html: Html,
    links: &'a [String],
    words: Words,
    lists: Vec<List>,
}

impl Writer<'_> {
    /// Writes a block outside of lists.
    fn flow(&mut self, markup: &str) {
        self.close_lists(0);
        self.html.push(markup);
    }

    fn heading(&mut self, text: &Text, level: u32) {
        let bare: Vec<Span> =
            text.spans.iter().map(|span| Span { style: Style::default(), ..span.clone() }).collect();
        let sign = match text.marker {
            Some(ListMarker::Number(number)) => format!("{number}. "),
            Some(ListMarker::Bullet | ListMarker::Letter) | None => String::new(),
        };
        let inline = self.inline(&bare);
        self.flow(&format!("<h{level}>{sign}{inline}</h{level}>\n"));
    }

    fn paragraph(&mut self, text: &Text) {
        let inline = self.inline(&text.spans);
        if !inline.trim().is_empty() {
            self.flow(&format!("<p>{inline}</p>\n"));
        }
    }

    fn item(&mut self, text: &Text, marker: ListMarker) {
        while self.lists.last().is_some_and(|list| text.x0 < list.x0 - text.size * 0.6) {
            self.close_lists(self.lists.len() - 1);
        }
        let is_deeper = self.lists.last().is_none_or(|list| text.x0 > list.x0 + text.size * 0.6);
        if is_deeper && self.lists.len() < 8 {
            let (start, end) = match marker {
                ListMarker::Bullet => ("<ul>".to_owned(), "</li></ul>\n"),
                ListMarker::Number(1) => ("<ol>".to_owned(), "</li></ol>\n"),
                ListMarker::Number(first) => (format!("<ol start=\"{first}\">"), "</li></ol>\n"),
                ListMarker::Letter => ("<ol type=\"a\">".to_owned(), "</li></ol>\n"),
            };
            self.html.push(&start);
            self.lists.push(List { x0: text.x0, end });
        } else {
            self.html.push("</li>\n");
        }
        let inline = self.inline(&text.spans);
        self.html.push(&format!("<li>{inline}"));
    }

    /// Closes the lists but the outermost `keep`.
    fn close_lists(&mut self, keep: usize) {
        while self.lists.len() > keep {
            if let Some(list) = self.lists.pop() {
                self.html.push(list.end);
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
        self.flow(&markup);
    }

    fn contents(&mut self, entries: &[Vec<Span>]) {
        let mut markup = "<ul>\n".to_owned();
        for entry in entries {
            markup.push_str("<li>");
            markup.push_str(&self.inline(entry));
            markup.push_str("</li>\n");
        }
        markup.push_str("</ul>\n");
        self.flow(&markup);
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
        self.flow(&markup);
    }

    /// Writes spans with their styles and links.
    fn inline(&self, spans: &[Span]) -> String {
        let mut joined: String = spans.iter().map(|span| span.text.as_str()).collect();
        self.words.join_hyphenated(&mut joined);
        let mut markup = String::with_capacity(joined.len() + 32);
        let mut rest = joined.as_str();
        let mut link = 0;
        for span in spans {
            let text = take(&mut rest, &span.text);
            if span.link != link {
                self.end_link(&mut markup, link);
                link = self.begin_link(&mut markup, span.link);
            }
            write_styled(&mut markup, text, span.style);
        }
        self.end_link(&mut markup, link);
        markup
    }

    fn begin_link(&self, markup: &mut String, link: u32) -> u32 {
        let address = (link as usize).checked_sub(1).and_then(|index| self.links.get(index));
        let Some(address) = address else { return 0 };
        markup.push_str("<a href=\"");
        push_escaped(markup, address);
        markup.push_str("\">");
        link
    }

    fn end_link(&self, markup: &mut String, link: u32) {
        if link != 0 {
            markup.push_str("</a>");
        }
    }
}

fn unstyled(spans: &[Span]) -> Vec<Span> {
    spans.iter().map(|span| Span { style: Style::default(), ..span.clone() }).collect()
}

/// Takes from the mended text what stands for a span: hyphens were replaced, and nothing else.
fn take<'t>(rest: &mut &'t str, original: &str) -> &'t str {
    let mut length = 0;
    let mut characters = rest.char_indices().peekable();
    for character in original.chars() {
        match characters.peek() {
            Some((_, mended)) if *mended == character => {
                characters.next();
            }
            Some((_, '-')) if character == '\u{e000}' => {
                characters.next();
            }
            _ => {}
        }
        length = characters.peek().map_or(rest.len(), |(at, _)| *at);
    }
    let (taken, left) = rest.split_at(length);
    *rest = left;
    taken
}

fn write_styled(markup: &mut String, text: &str, style: Style) {
    let bare = text.trim();
    if bare.is_empty() || is_plain(style) || !bare.chars().any(char::is_alphanumeric) {
        push_escaped(markup, text);
        return;
    }
    let (lead, tail) = (&text[..text.len() - text.trim_start().len()], &text[text.trim_end().len()..]);
    let tags: Vec<&str> = [(style.bold, "strong"), (style.italic, "em"), (style.mono, "code")]
        .into_iter()
        .filter_map(|(has, tag)| has.then_some(tag))
        .collect();
    markup.push_str(lead);
    tags.iter().for_each(|tag| markup.push_str(&format!("<{tag}>")));
    push_escaped(markup, bare);
    tags.iter().rev().for_each(|tag| markup.push_str(&format!("</{tag}>")));
    markup.push_str(tail);
}
