//! Reads OpenDocument files: texts, spreadsheets and presentations, which share one format.

mod lists;
mod slides;
mod styles;
mod table;
mod text;

use crate::error::DocumentError;
use crate::flow::{Block, HtmlFlow, Role};
use crate::inline::Inline;
use crate::kind::DocumentKind;
use crate::limits::Limits;
use crate::office::{Images, read_metadata};
use crate::parsed_document::{PageCounts, ParsedDocument};
use crate::xml::{Tag, Token, Xml};
use crate::zip_package::Package;
use lists::{Headings, Lists};
use styles::{Purpose, Styles};

/// The maximum number of cells of all sheets that are read.
const MAX_CELLS: usize = 1_000_000;

/// Reads an OpenDocument file.
pub(crate) fn parse(
    kind: DocumentKind,
    bytes: Vec<u8>,
    limits: &Limits<'_>,
) -> Result<ParsedDocument, DocumentError> {
    let mut package = Package::open(kind, bytes, limits.max_inflated_bytes)?;
    if package.part("META-INF/manifest.xml")?.is_some_and(|manifest| manifest.contains("encryption-data")) {
        return Err(DocumentError::Encrypted { kind });
    }
    let metadata = read_metadata(&mut package, kind, "meta.xml")?;
    let mut styles = Styles::default();
    if let Some(text) = package.part("styles.xml")? {
        styles.read(kind, &text)?;
    }
    let text = package.required("content.xml")?;
    styles.read(kind, &text)?;
    let mut reader = Reader {
        package,
        xml: Xml::new(kind, &text),
        kind,
        limits,
        styles,
        images: Images::default(),
        flow: HtmlFlow::new(limits.max_output_bytes),
        boxes: Vec::new(),
        headings: Headings::default(),
        remaining_cells: MAX_CELLS,
        pages: PageCounts::default(),
    };
    reader.body()?;
    let pages = reader.pages;
    let (html, is_full) = reader.flow.finish();
    let mut warnings = Vec::new();
    if is_full || reader.remaining_cells == 0 {
        warnings.push("the text was cut off at the maximum size".to_owned());
    }
    warnings.extend(pages.warnings("pages"));
    let pages = (pages.total > 0).then_some(pages);
    Ok(ParsedDocument { html, metadata, pages, warnings, ..ParsedDocument::default() })
}

struct Reader<'t, 'l> {
    package: Package,
    xml: Xml<'t>,
    kind: DocumentKind,
    limits: &'l Limits<'l>,
    styles: Styles,
    images: Images,
    flow: HtmlFlow,
    /// The blocks of text boxes in the paragraph that is being read.
    boxes: Vec<Block>,
    headings: Headings,
    /// The remaining budget of cells.
    remaining_cells: usize,
    /// The counts of slides or sheets.
    pages: PageCounts,
}

impl Reader<'_, '_> {
    fn body(&mut self) -> Result<(), DocumentError> {
        let mut lists = Lists::default();
        while let Some(token) = self.xml.next()? {
            if self.flow.is_full() || self.remaining_cells == 0 || (self.limits.stop)() {
                break;
            }
            match token {
                Token::Start(tag) => match tag.name.as_str() {
                    "automatic-styles" | "styles" => self.xml.skip()?,
                    "table" if self.kind == DocumentKind::Ods => self.sheet(&tag)?,
                    "page" => self.slide(&tag)?,
                    _ => {
                        for block in self.blocks(&tag, &mut lists)? {
                            self.flow.write(block);
                        }
                    }
                },
                Token::End(name) => lists.end(&name),
                Token::Text(_) => {}
            }
        }
        Ok(())
    }

    /// Counts a slide or sheet with a style. Returns false if it is not read, because it is hidden or beyond the page limit.
    fn begin_page(&mut self, style: Option<&str>) -> bool {
        if style.is_some_and(|style| self.styles.is_hidden(style)) {
            return false;
        }
        self.pages.total += 1;
        let is_read = self.pages.total <= self.limits.max_pages;
        self.pages.read += u32::from(is_read);
        is_read
    }

    /// Reads the element whose start tag was read, if it is a block, or a part of a list.
    fn blocks(&mut self, tag: &Tag, lists: &mut Lists) -> Result<Vec<Block>, DocumentError> {
        let mut blocks = Vec::new();
        match tag.name.as_str() {
            "list" => lists.begin(tag, &self.styles),
            "list-item" => lists.item(tag),
            "list-header" => lists.header(),
            "h" => {
                let level = tag.parsed("outline-level").unwrap_or(1);
                let is_unnumbered = tag.get("is-list-header") == Some("true");
                let mut inline = self.paragraph("h", tag)?;
                if !is_unnumbered && !inline.is_empty() {
                    inline.prefix(&self.headings.next(level, &self.styles));
                }
                blocks.push(Block::Paragraph(Role::Heading(level), inline));
            }
            "p" => {
                let inline = self.paragraph("p", tag)?;
                let role = self.role(tag, lists, &inline);
                blocks.push(Block::Paragraph(role, inline));
            }
            "table" => blocks.push(Block::Markup(self.table()?)),
            "frame" => {
                let mut inline = Inline::default();
                self.frame(&mut inline)?;
                blocks.push(Block::Paragraph(Role::Body, inline));
            }
            // Deleted text, comments, form controls, templates of notes.
            "tracked-changes" | "annotation" | "forms" | "notes" => self.xml.skip()?,
            _ => {}
        }
        blocks.append(&mut self.boxes);
        Ok(blocks)
    }

    fn role(&self, tag: &Tag, lists: &mut Lists, inline: &Inline) -> Role {
        let purpose = tag.get("style-name").and_then(|name| self.styles.purpose(name));
        if lists.is_open() {
            return if inline.is_empty() { Role::Body } else { lists.role(&self.styles) };
        }
        match purpose {
            Some(Purpose::Title) => Role::Heading(1),
            Some(Purpose::Quote) => Role::Quote,
            Some(Purpose::Code) => Role::Code,
            None if inline.is_code() => Role::Code,
            None => Role::Body,
        }
    }
}
