//! Reads PowerPoint presentations: slides with their titles, points, tables and links.

use crate::error::DocumentError;
use crate::flow::{HtmlFlow, Inline, Role, Table, TextStyle};
use crate::kind::DocumentKind;
use crate::limits::Limits;
use crate::office::{Relations, read_metadata};
use crate::parsed_document::{PageCounts, ParsedDocument};
use crate::xml::{Token, Xml};
use crate::zip_package::Package;

const KIND: DocumentKind = DocumentKind::Pptx;
const PRESENTATION: &str = "ppt/presentation.xml";

/// Reads a presentation.
pub(crate) fn parse(bytes: Vec<u8>, limits: &Limits<'_>) -> Result<ParsedDocument, DocumentError> {
    let mut package = Package::open(KIND, bytes, limits.max_inflated_bytes)?;
    let metadata = read_metadata(&mut package, KIND, "docProps/core.xml")?;
    let slides = slides(&mut package)?;
    let mut flow = HtmlFlow::new(limits.max_output_bytes);
    let mut pages =
        PageCounts { total: u32::try_from(slides.len()).unwrap_or(u32::MAX), ..PageCounts::default() };
    for slide in slides.iter().take(limits.max_pages as usize) {
        if flow.is_full() || (limits.stop)() {
            break;
        }
        if let Some(text) = package.part(slide)? {
            let relations = Relations::read(&mut package, KIND, slide)?;
            read_slide(&text, &relations, pages.read + 1, &mut flow)?;
        }
        pages.read += 1;
    }
    let (html, is_full) = flow.finish();
    let mut warnings = Vec::new();
    if pages.read < pages.total {
        warnings.push(format!("{} of {} slides were read", pages.read, pages.total));
    }
    if is_full {
        warnings.push("the text was cut off at the maximum output size".to_owned());
    }
    Ok(ParsedDocument { html, page_html: None, layout_html: None, metadata, pages: Some(pages), warnings })
}

/// Returns the paths of the slides in order.
fn slides(package: &mut Package) -> Result<Vec<String>, DocumentError> {
    let relations = Relations::read(package, KIND, PRESENTATION)?;
    let text = package.required(PRESENTATION)?;
    let mut xml = Xml::new(KIND, &text);
    let mut slides = Vec::new();
    while let Some(token) = xml.next()? {
        if let Token::Start(tag) = token
            && tag.name == "sldId"
            && let Some(slide) = tag.get_exact("r:id").and_then(|id| relations.get(id))
        {
            slides.push(slide.to_owned());
        }
    }
    Ok(slides)
}

/// The kind of the shape whose text is being read.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Title,
    /// A list of points.
    Points,
    Other,
    /// A date, header, footer or slide number, which repeats on every slide.
    Repeated,
}

/// The slide that is being read.
struct Slide<'f> {
    flow: &'f mut HtmlFlow,
    number: u32,
    shape: Shape,
    has_title: bool,
    cell: Option<Vec<String>>,
}

fn read_slide(
    text: &str,
    relations: &Relations,
    number: u32,
    flow: &mut HtmlFlow,
) -> Result<(), DocumentError> {
    let mut xml = Xml::new(KIND, text);
    let mut slide = Slide { flow, number, shape: Shape::Other, has_title: false, cell: None };
    let mut table: Option<Table> = None;
    while let Some(token) = xml.next()? {
        match token {
            Token::Start(tag) => match tag.name.as_str() {
                "sp" => slide.shape = Shape::Other,
                "ph" => {
                    slide.shape = match tag.get("type") {
                        Some("title" | "ctrTitle") => Shape::Title,
                        Some("dt" | "ftr" | "sldNum" | "hdr") => Shape::Repeated,
                        Some("body") | None => Shape::Points,
                        Some(_) => Shape::Other,
                    };
                }
                "p" => slide.paragraph(&mut xml, relations)?,
                "tbl" => table = Some(Table::default()),
                "tr" => table.iter_mut().for_each(Table::row),
                "tc" => slide.cell = Some(Vec::new()),
                "Fallback" => xml.skip()?,
                _ => {}
            },
            Token::End(name) => match name.as_str() {
                "tc" => {
                    if let (Some(table), Some(cell)) = (&mut table, slide.cell.take()) {
                        table.cell(cell.join("<br>"), 1);
                    }
                }
                "tbl" => {
                    if let Some(table) = table.take() {
                        slide.flow.block(&table.finish());
                    }
                }
                _ => {}
            },
            Token::Text(_) => {}
        }
    }
    Ok(())
}

impl Slide<'_> {
    fn paragraph(&mut self, xml: &mut Xml<'_>, relations: &Relations) -> Result<(), DocumentError> {
        let mut inline = Inline::default();
        let mut style = TextStyle::default();
        let mut depth = 0;
        while let Some(token) = xml.next()? {
            match token {
                Token::End(name) => match name.as_str() {
                    "p" => break,
                    "r" => {
                        inline.end_link();
                        style = TextStyle::default();
                    }
                    _ => {}
                },
                Token::Start(tag) => match tag.name.as_str() {
                    "pPr" => depth = tag.get("lvl").and_then(|level| level.parse().ok()).unwrap_or(0),
                    "rPr" => {
                        let is_on = |name| matches!(tag.get(name), Some("1" | "true"));
                        style = TextStyle { bold: is_on("b"), italic: is_on("i"), strike: false };
                    }
                    "hlinkClick" => {
                        if let Some(url) = tag.get_exact("r:id").and_then(|id| relations.get(id)) {
                            inline.begin_link(url);
                        }
                    }
                    "t" => {
                        let text = xml.text()?;
                        inline.text(&text, style);
                    }
                    "br" => inline.line_break(),
                    _ => {}
                },
                Token::Text(_) => {}
            }
        }
        self.add_paragraph(inline, depth);
        Ok(())
    }

    fn add_paragraph(&mut self, inline: Inline, depth: usize) {
        if inline.is_empty() || self.shape == Shape::Repeated {
            return;
        }
        if let Some(cell) = &mut self.cell {
            cell.push(inline.finish());
            return;
        }
        if self.shape == Shape::Title {
            self.has_title = true;
            self.flow.paragraph(Role::Heading(2), inline);
            return;
        }
        if !std::mem::replace(&mut self.has_title, true) {
            self.flow.block(&format!("<h2>Slide {}</h2>\n", self.number));
        }
        let role =
            if self.shape == Shape::Points { Role::Item { depth, ordered: false } } else { Role::Body };
        self.flow.paragraph(role, inline);
    }
}
