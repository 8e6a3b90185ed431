//! Reads the pages of a document in batches, and detects its repeated headers and footers.

use hayro_syntax::Pdf;

use crate::limits::Limits;
use crate::page_output::PageOutput;

use super::blocks::{Block, PageSize, PlacedBlock, Table, Text};
use super::bullets;
use super::columns;
use super::content;
use super::drop_caps;
use super::font::Fonts;
use super::geometry::Rect;
use super::glyphs::{Glyph, PageContent};
use super::headers_footers::RunningElements;
use super::lines::segments;
use super::links;
use super::list_marker::ListMarker;
use super::outline::Outline;
use super::plausibility::{FontLetters, Readability};
use super::right_to_left::Mirror;
use super::segment::Segment;
use super::structure::Structure;
use super::tables;
use super::tagged;
use super::text::join;
use super::to_html::{self, Marks};

/// The number of pages in a batch. The glyphs of one batch are in memory, and its headers and footers are counted
/// before its pages are converted.
const BATCH_PAGES: u32 = 24;
/// The minimum number of glyphs of a page with text. Fewer are a page number or a stamp.
const MIN_GLYPHS: usize = 12;
/// The additional number of glyphs that a page completely covered by images needs to count as a page with text. A
/// line added by a scanner or a library is not the text of the page.
const GLYPHS_UNDER_IMAGES: f32 = 100.0;
/// The share of a page up to which images are ornaments.
const ORNAMENT_SHARE: f32 = 0.01;
/// The share of a page above which images can be a scan of a page, even if the page has a few words of text.
const SCAN_SHARE: f32 = 0.75;
/// The maximum difference of the left and right edges of the parts of a table on two pages, in points.
const MAX_SHIFT: f32 = 12.0;
/// The number of curves on a page without text above which the curves are letters drawn as outlines.
const MIN_CURVES: usize = 200;

/// The number of numbered items before and after an item that can show its sequence.
const SEQUENCE_DISTANCE: usize = 12;

/// The content of the pages that were read.
pub(super) struct PageBatch {
    pub(super) html: String,
    /// The pages on their own, if requested.
    pub(super) page_html: Option<String>,
    /// The pages on their own with their layout, if requested.
    pub(super) layout_html: Option<String>,
    /// The number of pages that were read.
    pub(super) pages: u32,
    pub(super) without_text: Vec<u32>,
    pub(super) warnings: Vec<String>,
}

/// A page before the removal of headers and footers.
struct Page {
    /// The 0-based index of the page.
    number: u32,
    content: PageContent,
    /// The segments of each text direction, the most frequent direction first.
    directions: Vec<Vec<Segment>>,
    /// The most frequent direction is upright.
    is_upright: bool,
    height: f32,
    /// The number of links on the pages before this one.
    link_offset: u32,
    readability: Readability,
    /// The blocks by the structure of the file. Then the text has no directions.
    tagged: Option<Vec<PlacedBlock>>,
    letters: usize,
}

/// Reads the pages within the limits.
pub(super) fn read(pdf: &Pdf, limits: &Limits<'_>, output: PageOutput) -> PageBatch {
    let pages = pdf.pages();
    let total = (pages.len() as u32).min(limits.max_pages);
    let outline = Outline::read(pdf);
    let structure = Structure::read(pdf, limits.stop);
    let mut reader = DocumentReader::default();
    let mut fonts = Fonts::new();
    let mut letters = FontLetters::default();
    let mut running_elements = RunningElements::default();
    let mut next = 0;
    // The markup is at least as long as the text, so the reader stops at about the maximum output size.
    while next < total && !(limits.stop)() && reader.text_bytes < limits.max_output_bytes {
        let mut batch = Vec::new();
        while next < total && (batch.len() as u32) < BATCH_PAGES && (batch.is_empty() || !(limits.stop)()) {
            let page = &pages[next as usize];
            let mut content = content::read(page, &mut fonts, limits.stop);
            let readability = letters.check(&mut content.glyphs);
            let urls = links::mark_links(page, &mut content);
            let link_offset = reader.links.len() as u32;
            reader.links.extend(urls);
            let tagged = tagged::blocks(&structure, next, &content.glyphs, link_offset);
            let page = Page::new(next, content, link_offset, readability, tagged);
            if let Some(main) = page.directions.first() {
                running_elements.learn(next, main, page.height);
            }
            batch.push(page);
            next += 1;
        }
        for page in batch {
            reader.add(page, &running_elements, total);
        }
    }
    reader.finish(next, &outline, limits, output)
}

impl Page {
    fn new(
        number: u32,
        mut content: PageContent,
        link_offset: u32,
        readability: Readability,
        tagged: Option<Vec<PlacedBlock>>,
    ) -> Self {
        let mut glyphs = std::mem::take(&mut content.glyphs);
        let mut letters = glyphs.len();
        if tagged.is_some() {
            glyphs.clear();
        }
        let has_content = glyphs.iter().any(|glyph| !glyph.artifact && glyph.character != ' ');
        let is_content = |glyph: &&Glyph| !has_content || !glyph.artifact;
        let mut rotations: Vec<(u8, usize)> = (0..4)
            .map(|rotation| {
                (
                    rotation,
                    glyphs.iter().filter(is_content).filter(|glyph| glyph.rotation == rotation).count(),
                )
            })
            .collect();
        rotations.retain(|(_, count)| *count > 0);
        rotations.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let height = if rotations.first().is_some_and(|(rotation, _)| rotation % 2 == 1) {
            content.width
        } else {
            content.height
        };
        let directions = rotations.iter().map(|(rotation, _)| {
            let in_direction: Vec<Glyph> = glyphs
                .iter()
                .filter(is_content)
                .filter(|glyph| glyph.rotation == *rotation)
                .copied()
                .collect();
            let mut segments = segments(&in_direction);
            if *rotation == 0 {
                bullets::attach(&mut segments, &content.shapes.dots);
                drop_caps::join(&mut segments);
            }
            segments
        });
        let directions: Vec<Vec<Segment>> = directions.collect();
        if tagged.is_none() {
            letters = directions.iter().flatten().map(|segment| segment.glyphs.len()).sum();
        }
        let is_upright = rotations.first().is_some_and(|(rotation, _)| *rotation == 0);
        Self { number, directions, is_upright, height, link_offset, content, readability, tagged, letters }
    }

    /// Returns whether the page has readable content that its text does not contain, such as a scan. The decision
    /// compares the amount of text with the area of the images.
    fn lacks_text(&self) -> bool {
        if self.readability == Readability::Unreadable {
            return true;
        }
        let glyphs = self.letters;
        let PageContent { unmapped, image_share, curves, .. } = self.content;
        if glyphs < MIN_GLYPHS.max(unmapped / 2) {
            return image_share > ORNAMENT_SHARE || unmapped > MIN_GLYPHS || curves > MIN_CURVES;
        }
        let expected = MIN_GLYPHS as f32 + GLYPHS_UNDER_IMAGES * image_share.min(1.0);
        image_share > SCAN_SHARE && (glyphs as f32) < expected
    }
}

/// Collects the blocks of the pages in reading order.
#[derive(Default)]
struct DocumentReader {
    blocks: Vec<PlacedBlock>,
    links: Vec<String>,
    without_text: Vec<u32>,
    text_bytes: usize,
    /// The numbers of the pages that were cut off.
    cut_off: Vec<u32>,
    /// The first page whose characters were shifted, and the first whose characters are unreadable.
    decoded: Option<u32>,
    unreadable: Option<u32>,
    /// A page without text has characters without a mapping to Unicode.
    unmapped: bool,
}

impl DocumentReader {
    fn add(&mut self, mut page: Page, running_elements: &RunningElements, total: u32) {
        let number = page.number + 1;
        let PageContent { width, height, .. } = page.content;
        self.blocks.push(PlacedBlock::unplaced(Block::PageStart(PageSize { page: number, width, height })));
        if page.content.cut_off {
            self.cut_off.push(number);
        }
        match page.readability {
            Readability::Plausible => {}
            Readability::Decoded => self.decoded = self.decoded.or(Some(number)),
            Readability::Unreadable => self.unreadable = self.unreadable.or(Some(number)),
        }
        if page.lacks_text() {
            self.unmapped |= page.content.unmapped > MIN_GLYPHS;
            self.without_text.push(number);
            self.blocks.push(PlacedBlock::unplaced(Block::PageMark(number)));
        }
        if let Some(blocks) = page.tagged.take() {
            self.text_bytes += page.letters;
            self.blocks.extend(blocks);
            return;
        }
        if let Some(main) = page.directions.first_mut() {
            running_elements.strip(page.number, total, main, page.height);
        }
        for (index, mut direction) in page.directions.into_iter().enumerate() {
            self.text_bytes += direction.iter().map(|segment| segment.glyphs.len()).sum::<usize>();
            // The rules belong to the text of the main direction.
            let mut rules = if index == 0 { page.content.shapes.rules.clone() } else { Vec::new() };
            let mirror = Mirror::apply(&mut direction, width);
            if let Some(mirror) = mirror {
                rules = mirror.rules(&rules);
            }
            let first = self.blocks.len();
            let grids = tables::extract_grids(&mut direction, &rules);
            for column in columns::in_reading_order(direction, &rules) {
                let start = self.blocks.len();
                tables::column_blocks(column, &rules, &grids, page.link_offset, &mut self.blocks);
                if index > 0 || !page.is_upright {
                    self.blocks[start..].iter_mut().for_each(|block| block.area = None);
                }
                if let Some(PlacedBlock { block: Block::Text(first), .. }) = self.blocks.get_mut(start) {
                    first.starts_column = true;
                }
                self.join_columns(start);
            }
            if let Some(mirror) = mirror {
                mirror.restore(&mut self.blocks[first..]);
            }
        }
    }

    /// Joins the first block of a column with the block before it on the page, if a sentence or code continues there.
    fn join_columns(&mut self, start: usize) {
        if start >= self.blocks.len() || start == 0 {
            return;
        }
        let first = self.blocks.remove(start);
        if let Some(first) = append(&mut self.blocks[start - 1], first) {
            self.blocks.insert(start, first);
        }
    }

    fn finish(mut self, pages: u32, outline: &Outline, limits: &Limits<'_>, output: PageOutput) -> PageBatch {
        demote_lone_numbers(&mut self.blocks);
        let mut warnings = Vec::new();
        if let Some(first) = self.cut_off.first() {
            warnings.push(format!("page {first} exceeds the limits of a page and was cut off"));
        }
        if let Some(first) = self.decoded {
            warnings.push(format!(
                "the fonts of page {first} state wrong characters, which were decoded; their text may have errors"
            ));
        }
        if let Some(first) = self.unreadable {
            warnings
                .push(format!("the fonts of page {first} state wrong characters, so its text was left out"));
        }
        if self.unmapped {
            warnings.push("some pages use fonts without a mapping to Unicode".to_owned());
        }
        let write = |blocks: &[PlacedBlock], marks| {
            to_html::html(blocks, &self.links, outline, limits.max_output_bytes, marks)
        };
        let separate = output.separate.then(|| write(&self.blocks, Marks::Pages));
        let layout = output.layout.then(|| write(&self.blocks, Marks::Layout));
        let marks = if output.starts { Marks::Pages } else { Marks::None };
        let (html, is_full) = write(&join_pages(self.blocks), marks);
        let is_cut = |part: &Option<(String, bool)>| part.as_ref().is_some_and(|(_, is_full)| *is_full);
        if is_full || is_cut(&separate) || is_cut(&layout) {
            warnings.push("the text was cut off at the maximum output size".to_owned());
        }
        PageBatch {
            html,
            page_html: separate.map(|(html, _)| html),
            layout_html: layout.map(|(html, _)| html),
            pages,
            without_text: self.without_text,
            warnings,
        }
    }
}

/// Turns numbered items that are in no sequence into text, such as a line of a sentence that begins with a number in
/// parentheses. The first item of a list can have any number if the next one follows it.
pub(super) fn demote_lone_numbers(blocks: &mut [PlacedBlock]) {
    let mut numbers: Vec<(usize, u32)> = Vec::new();
    for (index, placed) in blocks.iter().enumerate() {
        if let Block::Text(Text { marker: Some(ListMarker::Number(number)), .. }) = placed.block {
            numbers.push((index, number));
        }
    }
    for (place, (index, number)) in numbers.iter().enumerate() {
        let before = &numbers[place.saturating_sub(SEQUENCE_DISTANCE)..place];
        let after = &numbers[place + 1..numbers.len().min(place + 1 + SEQUENCE_DISTANCE)];
        let is_in_sequence = *number <= 1
            || before.iter().any(|(_, other)| *other + 1 == *number)
            || after.iter().any(|(_, other)| *number + 1 == *other);
        if !is_in_sequence && let Block::Text(text) = &mut blocks[*index].block {
            text.marker_to_text();
        }
    }
}

/// Joins the first block of each page with the block before it, if a sentence or code continues there.
fn join_pages(blocks: Vec<PlacedBlock>) -> Vec<PlacedBlock> {
    let is_start = |placed: &PlacedBlock| matches!(placed.block, Block::PageStart(_));
    let mut joined: Vec<PlacedBlock> = Vec::with_capacity(blocks.len());
    for block in blocks {
        let starts_page = !is_start(&block) && joined.last().is_some_and(is_start);
        let last = if starts_page { joined.iter_mut().rev().find(|block| !is_start(block)) } else { None };
        let separate = match last {
            Some(last) => append(last, block),
            None => Some(block),
        };
        joined.extend(separate);
    }
    joined
}

/// Appends a block to the block before it, if a sentence or code continues there. Returns it otherwise. The area of the
/// block before stays, because the blocks are in different columns.
fn append(last: &mut PlacedBlock, next: PlacedBlock) -> Option<PlacedBlock> {
    let PlacedBlock { block, area, element } = next;
    let last_area = last.area;
    let is_same_element = element.is_some() && element == last.element;
    match (&mut last.block, block) {
        (Block::Code(last), Block::Code(next)) => {
            last.extend(next);
            None
        }
        (Block::Table(last), Block::Table(mut next))
            if is_same_element || continues_table(last, area, last_area, &next) =>
        {
            if next.first() == last.first() {
                next.remove(0);
            }
            last.extend(next);
            None
        }
        (Block::Text(last), Block::Text(mut next)) if is_same_element || continues(last, &next) => {
            next.marker_to_text();
            join(&mut last.spans, next.spans);
            last.lines += next.lines;
            last.may_continue = next.may_continue;
            None
        }
        (_, block) => Some(PlacedBlock { block, area, element }),
    }
}

/// Returns whether a table at the start of a page continues the table at the end of the page before: its header is
/// repeated, or the tables have the same columns and place. The rows that are left can be shorter than those before.
fn continues_table(last: &Table, area: Option<Rect>, last_area: Option<Rect>, next: &Table) -> bool {
    let columns = |table: &Table| table.first().map_or(0, Vec::len);
    if columns(last) != columns(next) || columns(last) == 0 {
        return false;
    }
    let is_same_place = area.zip(last_area).is_some_and(|(next, last)| {
        next.y0 < last.y0 && (next.x0 - last.x0).abs() < MAX_SHIFT && next.x1 < last.x1 + MAX_SHIFT
    });
    next.first() == last.first() || is_same_place
}

/// Returns whether a block continues the sentence of the block before it.
fn continues(last: &Text, next: &Text) -> bool {
    let begins_lowercase =
        next.spans.first().and_then(|span| span.text.chars().next()).is_some_and(char::is_lowercase);
    last.may_continue
        && next.starts_column
        && !matches!(next.marker, Some(ListMarker::Bullet | ListMarker::Letter))
        && (next.marker.is_none() || last.marker.is_none())
        && begins_lowercase
        && last.bold == next.bold
        && (last.size - next.size).abs() < 0.08 * last.size
}
