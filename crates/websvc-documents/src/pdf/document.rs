//! The pages of a document, read a few at a time: what the document has in common is learned on the way.

use hayro_syntax::Pdf;

use crate::limits::Limits;

use super::blocks::{Block, Text};
use super::columns;
use super::content::{self, Glyph, PageContent};
use super::font::Fonts;
use super::headers_footers::RunningElements;
use super::lines::{Segment, segments};
use super::links;
use super::outline::Outline;
use super::tables;
use super::text::join;
use super::to_html;

/// So many pages are in memory as characters at one time; furniture is known after as many.
const PAGES_AT_ONCE: u32 = 24;
/// A page with fewer characters than this has no text: a number, or a stamp.
const MIN_GLYPHS: usize = 12;
/// So many more characters are expected of a page all of which is covered by pictures: a line that a scanner or a
/// library has put on it is not its text.
const GLYPHS_UNDER_PICTURES: f32 = 100.0;
/// Pictures that cover less of a page than this are ornaments.
const ORNAMENT_SHARE: f32 = 0.01;
/// A page with a few words of text may be a scan when pictures cover more of it than this.
const SCAN_SHARE: f32 = 0.75;
/// So many curves on a page without text are letters that are drawn.
const MIN_CURVES: usize = 200;

/// Pages that were read from a document.
pub(super) struct PageBatch {
    pub(super) html: String,
    pub(super) pages: u32,
    pub(super) without_text: Vec<u32>,
    pub(super) warnings: Vec<String>,
}

/// A page before its furniture is taken off.
struct Page {
    number: u32,
    content: PageContent,
    /// The segments by quarter turns in which they are written, the usual direction first.
    directions: Vec<Vec<Segment>>,
    height: f32,
    links: u32,
}

/// Reads the pages within the limits.
pub(super) fn read(pdf: &Pdf, limits: &Limits<'_>) -> PageBatch {
    let pages = pdf.pages();
    let total = (pages.len() as u32).min(limits.max_pages);
    let outline = Outline::read(pdf);
    let mut reading = DocumentReader::default();
    let mut fonts = Fonts::new();
    let mut furniture = RunningElements::default();
    let mut next = 0;
    // Text is at most a quarter of its markup's bound away from it, so that work ends with the output.
    while next < total && !(limits.stop)() && reading.text_bytes < limits.max_output_bytes {
        let mut waiting = Vec::new();
        while next < total
            && (waiting.len() as u32) < PAGES_AT_ONCE
            && (waiting.is_empty() || !(limits.stop)())
        {
            let page = &pages[next as usize];
            let mut content = content::read(page, &mut fonts, limits.stop);
            let addresses = links::mark(page, &mut content);
            let links = reading.links.len() as u32;
            reading.links.extend(addresses);
            let page = Page::new(next, content, links);
            if let Some(main) = page.directions.first() {
                furniture.learn(next, main, page.height);
            }
            waiting.push(page);
            next += 1;
        }
        for page in waiting {
            reading.add(page, &furniture, total);
        }
    }
    reading.finish(next, &outline, limits)
}

impl Page {
    fn new(number: u32, mut content: PageContent, links: u32) -> Self {
        let glyphs = std::mem::take(&mut content.glyphs);
        let marked = glyphs.iter().any(|glyph| !glyph.artifact && glyph.character != ' ');
        let shown = |glyph: &&Glyph| !marked || !glyph.artifact;
        let mut turns: Vec<(u8, usize)> = (0..4)
            .map(|turn| (turn, glyphs.iter().filter(shown).filter(|glyph| glyph.turn == turn).count()))
            .collect();
        turns.retain(|(_, count)| *count > 0);
        turns.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let height =
            if turns.first().is_some_and(|(turn, _)| turn % 2 == 1) { content.width } else { content.height };
        let directions = turns.iter().map(|(turn, _)| {
            let written: Vec<Glyph> =
                glyphs.iter().filter(shown).filter(|glyph| glyph.turn == *turn).copied().collect();
            segments(&written)
        });
        let directions = directions.collect();
        Self { number, directions, height, links, content }
    }

    /// Returns whether there is something to read on the page that its text does not hold: the text is measured against
    /// the area of the pictures.
    fn lacks_text(&self) -> bool {
        let glyphs: usize = self.directions.iter().flatten().map(|segment| segment.glyphs.len()).sum();
        let PageContent { unmapped, picture_share, curves, .. } = self.content;
        if glyphs < MIN_GLYPHS.max(unmapped / 2) {
            return picture_share > ORNAMENT_SHARE || unmapped > MIN_GLYPHS || curves > MIN_CURVES;
        }
        let expected = MIN_GLYPHS as f32 + GLYPHS_UNDER_PICTURES * picture_share.min(1.0);
        picture_share > SCAN_SHARE && (glyphs as f32) < expected
    }
}

#[derive(Default)]
struct DocumentReader {
    blocks: Vec<Block>,
    links: Vec<String>,
    without_text: Vec<u32>,
    text_bytes: usize,
    cut_off: Vec<u32>,
    unmapped: bool,
}

impl DocumentReader {
    fn add(&mut self, mut page: Page, furniture: &RunningElements, total: u32) {
        let number = page.number + 1;
        if page.content.cut_off {
            self.cut_off.push(number);
        }
        if page.lacks_text() {
            self.unmapped |= page.content.unmapped > MIN_GLYPHS;
            self.without_text.push(number);
            self.blocks.push(Block::PageMark(number));
        }
        if let Some(main) = page.directions.first_mut() {
            furniture.strip(page.number, total, main, page.height);
        }
        for (index, mut direction) in page.directions.into_iter().enumerate() {
            self.text_bytes += direction.iter().map(|segment| segment.glyphs.len()).sum::<usize>();
            // Lines are drawn for text that is upright.
            let rules = if index == 0 { page.content.rules.as_slice() } else { &[] };
            let grids = tables::cut_grids(&mut direction, rules);
            for column in columns::in_order(direction, rules) {
                let start = self.blocks.len();
                tables::column_blocks(column, rules, &grids, page.links, &mut self.blocks);
                if let Some(Block::Text(first)) = self.blocks.get_mut(start) {
                    first.is_first = true;
                }
                self.join_columns(start);
            }
        }
    }

    /// Joins the first block of a column with the last before it, when a sentence or code goes on there.
    fn join_columns(&mut self, start: usize) {
        if let (Some(Block::Code(_)), Some(Block::Code(_))) =
            (start.checked_sub(1).and_then(|last| self.blocks.get(last)), self.blocks.get(start))
        {
            let Block::Code(next) = self.blocks.remove(start) else { return };
            if let Some(Block::Code(last)) = self.blocks.get_mut(start - 1) {
                last.extend(next);
            }
            return;
        }
        let (before, after) = self.blocks.split_at_mut(start);
        let (Some(Block::Text(last)), Some(Block::Text(next))) = (before.last_mut(), after.first()) else {
            return;
        };
        if goes_on(last, next) {
            let Block::Text(next) = self.blocks.remove(start) else { return };
            if let Some(Block::Text(last)) = self.blocks.get_mut(start - 1) {
                join(&mut last.spans, next.spans);
                last.lines += next.lines;
                last.is_open = next.is_open;
            }
        }
    }

    fn finish(self, pages: u32, outline: &Outline, limits: &Limits<'_>) -> PageBatch {
        let mut warnings = Vec::new();
        if let Some(first) = self.cut_off.first() {
            warnings.push(format!("page {first} is more than can be read; it was cut off"));
        }
        if self.unmapped {
            warnings.push("some pages have fonts that do not tell their characters".to_owned());
        }
        let (html, is_full) = to_html::html(&self.blocks, &self.links, outline, limits.max_output_bytes);
        if is_full {
            warnings.push("the text was cut off at the largest size of an answer".to_owned());
        }
        PageBatch { html, pages, without_text: self.without_text, warnings }
    }
}

fn goes_on(last: &Text, next: &Text) -> bool {
    let lower = next.spans.first().and_then(|span| span.text.chars().next()).is_some_and(char::is_lowercase);
    last.is_open
        && next.is_first
        && next.marker.is_none()
        && lower
        && last.bold == next.bold
        && (last.size - next.size).abs() < 0.08 * last.size
}
