//! Reads the shapes of a slide: texts, tables, charts, diagrams, images, and groups of them.

use super::layout::{Placeholders, pair};
use super::text::{DefaultBullet, TextReader};
use super::{KIND, area};
use crate::chart;
use crate::error::DocumentError;
use crate::flow::{Block, HtmlFlow, Role};
use crate::inline::{Inline, TextStyle};
use crate::office::{Images, Relations};
use crate::reading_order::{Area, Shape, in_reading_order};
use crate::table::Table;
use crate::xml::{Tag, Xml};
use crate::zip_package::Package;

/// The role of a shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Title,
    /// A list of points.
    Points,
    Other,
    /// A date, header, footer or slide number, which repeats on every slide.
    Repeated,
}

/// The shape that is being read.
struct Current {
    kind: Kind,
    area: Option<Area>,
    off: Option<(f64, f64)>,
    is_hidden: bool,
    alternative: String,
    blocks: Vec<Block>,
}

pub(super) struct SlideReader<'r> {
    pub(super) package: &'r mut Package,
    pub(super) images: &'r mut Images,
    pub(super) relations: &'r Relations,
    /// The areas of the placeholders of the layout.
    pub(super) areas: Option<&'r Placeholders>,
    pub(super) title: Option<Inline>,
}

impl SlideReader<'_> {
    /// Reads the shapes of a slide; `None` if the slide is hidden.
    pub(super) fn read(&mut self, text: &str) -> Result<Option<Vec<Shape>>, DocumentError> {
        let mut xml = Xml::new(KIND, text);
        let mut shapes = Vec::new();
        while let Some(tag) = xml.start()? {
            match tag.name.as_str() {
                "sld" if matches!(tag.get("show"), Some("0" | "false")) => return Ok(None),
                "sp" | "pic" | "graphicFrame" | "grpSp" | "cxnSp" => {
                    shapes.extend(self.shape(&tag, &mut xml)?);
                }
                "Fallback" => xml.skip()?,
                _ => {}
            }
        }
        Ok(Some(shapes))
    }

    /// Reads the shape whose start tag was read; `None` if it has no content.
    fn shape(&mut self, start: &Tag, xml: &mut Xml<'_>) -> Result<Option<Shape>, DocumentError> {
        if start.name == "grpSp" {
            return self.group(xml);
        }
        let mut current = Current {
            kind: Kind::Other,
            area: None,
            off: None,
            is_hidden: false,
            alternative: String::new(),
            blocks: Vec::new(),
        };
        while let Some(tag) = xml.start_in(&start.name)? {
            self.shape_element(&tag, xml, &mut current)?;
        }
        let Current { kind, area, is_hidden, blocks, .. } = current;
        if is_hidden || kind == Kind::Repeated || blocks.is_empty() {
            return Ok(None);
        }
        if kind == Kind::Title && self.title.is_none() {
            self.title = Inline::joined(blocks.into_iter().filter_map(Block::into_inline));
            return Ok(None);
        }
        Ok(Some(Shape { area, blocks }))
    }

    fn shape_element(
        &mut self,
        tag: &Tag,
        xml: &mut Xml<'_>,
        current: &mut Current,
    ) -> Result<(), DocumentError> {
        match tag.name.as_str() {
            "cNvPr" => {
                current.is_hidden = tag.is_true("hidden");
                current.alternative = tag.get("descr").unwrap_or_default().to_owned();
            }
            "ph" => {
                current.kind = placeholder_kind(tag);
                current.area = self.areas.and_then(|areas| areas.area(tag));
            }
            "off" => current.off = pair(tag, "x", "y"),
            "ext" => current.area = area(current.off.take(), pair(tag, "cx", "cy")).or(current.area),
            "txBody" => {
                let default =
                    if current.kind == Kind::Points { DefaultBullet::Bullet } else { DefaultBullet::None };
                let paragraphs = paragraphs(xml, self.relations, default, "txBody")?;
                current
                    .blocks
                    .extend(paragraphs.into_iter().map(|(role, inline)| Block::Paragraph(role, inline)));
            }
            "tbl" => current.blocks.push(Block::Markup(table(xml, self.relations)?)),
            "chart" | "relIds" => {
                current.blocks.extend(chart::referenced(self.package, KIND, self.relations, tag)?);
            }
            "blip" => current.blocks.extend(self.image(tag, &current.alternative)?),
            "Fallback" => xml.skip()?,
            _ => {}
        }
        Ok(())
    }

    /// Reads a group: its shapes in their reading order are one shape.
    fn group(&mut self, xml: &mut Xml<'_>) -> Result<Option<Shape>, DocumentError> {
        let (mut own, mut off, mut is_hidden) = (None, None, false);
        let mut shapes: Vec<Shape> = Vec::new();
        while let Some(tag) = xml.start_in("grpSp")? {
            match tag.name.as_str() {
                "cNvPr" => is_hidden |= tag.is_true("hidden"),
                "off" => off = pair(&tag, "x", "y"),
                "ext" => own = area(off.take(), pair(&tag, "cx", "cy")).or(own),
                "sp" | "pic" | "graphicFrame" | "grpSp" | "cxnSp" => {
                    shapes.extend(self.shape(&tag, xml)?);
                }
                "Fallback" => xml.skip()?,
                _ => {}
            }
        }
        if is_hidden || shapes.is_empty() {
            return Ok(None);
        }
        let area = own
            .filter(|area| area.bottom > area.top)
            .or_else(|| shapes.iter().filter_map(|shape| shape.area).reduce(Area::around));
        let blocks = in_reading_order(shapes).into_iter().flat_map(|shape| shape.blocks).collect();
        Ok(Some(Shape { area, blocks }))
    }

    fn image(&mut self, tag: &Tag, alternative: &str) -> Result<Option<Block>, DocumentError> {
        let id = ["r:embed", "r:link"].iter().find_map(|name| tag.get_exact(name));
        let Some(target) = id.and_then(|id| self.relations.get(id)) else { return Ok(None) };
        let mut inline = Inline::default();
        if let Some(url) = self.images.url(self.package, target)? {
            inline.image(&url, alternative);
        } else {
            inline.text(alternative, TextStyle::default());
        }
        Ok(Some(Block::Paragraph(Role::Body, inline)))
    }
}

fn placeholder_kind(tag: &Tag) -> Kind {
    match tag.get("type") {
        Some("title" | "ctrTitle") => Kind::Title,
        Some("dt" | "ftr" | "sldNum" | "hdr") => Kind::Repeated,
        Some("body" | "obj") | None => Kind::Points,
        Some(_) => Kind::Other,
    }
}

/// Reads the paragraphs of an element, up to its end.
fn paragraphs(
    xml: &mut Xml<'_>,
    relations: &Relations,
    default: DefaultBullet,
    element: &str,
) -> Result<Vec<(Role, Inline)>, DocumentError> {
    let mut reader = TextReader::new(relations, default);
    let mut paragraphs = Vec::new();
    while let Some(tag) = xml.start_in(element)? {
        match tag.name.as_str() {
            "p" => {
                let (role, inline) = reader.paragraph(xml)?;
                if !inline.is_empty() {
                    paragraphs.push((role, inline));
                }
            }
            "lstStyle" => xml.skip()?,
            _ => {}
        }
    }
    Ok(paragraphs)
}

fn table(xml: &mut Xml<'_>, relations: &Relations) -> Result<String, DocumentError> {
    let mut table = Table::default();
    while let Some(tag) = xml.start_in("tbl")? {
        match tag.name.as_str() {
            "tr" => table.row(),
            "tc" => {
                let is_on = |name| tag.is_true(name);
                let columns = tag.parsed("gridSpan").unwrap_or(1);
                let lines = paragraphs(xml, relations, DefaultBullet::None, "tc")?;
                let lines: Vec<String> = lines.into_iter().map(|(_, inline)| inline.finish()).collect();
                match (is_on("hMerge"), is_on("vMerge")) {
                    (true, _) => {}
                    (false, true) => table.continued_cell(columns),
                    (false, false) => table.cell(lines.join("<br>"), columns),
                }
            }
            _ => {}
        }
    }
    Ok(table.finish())
}

/// Writes the notes of a slide as a quote.
pub(super) fn notes(text: &str, relations: &Relations, flow: &mut HtmlFlow) -> Result<(), DocumentError> {
    let mut xml = Xml::new(KIND, text);
    let (mut is_body, mut notes) = (false, Vec::new());
    while let Some(tag) = xml.start()? {
        match tag.name.as_str() {
            "sp" => is_body = false,
            "ph" => is_body = tag.get("type") == Some("body"),
            "txBody" if is_body => {
                let paragraphs = paragraphs(&mut xml, relations, DefaultBullet::None, "txBody")?;
                notes.extend(paragraphs.into_iter().map(|(_, inline)| inline));
            }
            _ => {}
        }
    }
    flow.slide_notes(notes);
    Ok(())
}
