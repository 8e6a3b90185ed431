//! Reads PowerPoint presentations: the slides with their titles, points, tables, charts, images, links and notes.

mod layout;
mod slide;
mod text;

use std::collections::HashMap;

use crate::error::DocumentError;
use crate::flow::{HtmlFlow, Role};
use crate::kind::DocumentKind;
use crate::limits::Limits;
use crate::office::{Images, Relations, read_metadata};
use crate::parsed_document::{PageCounts, ParsedDocument};
use crate::reading_order::{Area, in_reading_order};
use crate::xml::Xml;
use crate::zip_package::Package;
use layout::Placeholders;

const KIND: DocumentKind = DocumentKind::Pptx;
const PRESENTATION: &str = "ppt/presentation.xml";

/// Reads a presentation.
pub(crate) fn parse(bytes: Vec<u8>, limits: &Limits<'_>) -> Result<ParsedDocument, DocumentError> {
    let mut package = Package::open(KIND, bytes, limits.max_inflated_bytes)?;
    let metadata = read_metadata(&mut package, KIND, "docProps/core.xml")?;
    let slides = slides(&mut package)?;
    let mut pages = PageCounts::unread(slides.len());
    let mut reader = Reader {
        package,
        flow: HtmlFlow::new(limits.max_output_bytes),
        images: Images::default(),
        layouts: HashMap::new(),
    };
    for (index, slide) in slides.iter().enumerate() {
        if pages.read >= limits.max_pages || reader.flow.is_full() || (limits.stop)() {
            break;
        }
        if reader.slide(slide, index + 1)? {
            pages.read += 1;
        } else {
            pages.total -= 1;
        }
    }
    let (html, is_full) = reader.flow.finish();
    let mut warnings = pages.warnings("slides");
    if is_full {
        warnings.push("the text was cut off at the maximum output size".to_owned());
    }
    Ok(ParsedDocument { html, metadata, pages: Some(pages), warnings, ..ParsedDocument::default() })
}

/// Returns the paths of the slides in order.
fn slides(package: &mut Package) -> Result<Vec<String>, DocumentError> {
    let relations = Relations::read(package, KIND, PRESENTATION)?;
    let text = package.required(PRESENTATION)?;
    let mut xml = Xml::new(KIND, &text);
    let mut slides = Vec::new();
    while let Some(tag) = xml.start()? {
        if tag.name == "sldId"
            && let Some(slide) = relations.of_attribute(&tag, "r:id")
        {
            slides.push(slide.to_owned());
        }
    }
    Ok(slides)
}

struct Reader {
    package: Package,
    flow: HtmlFlow,
    images: Images,
    /// The areas of the placeholders of each layout and master, by the path of the part.
    layouts: HashMap<String, Placeholders>,
}

impl Reader {
    /// Reads a slide with its notes. Returns `false` for a hidden slide.
    fn slide(&mut self, part: &str, number: usize) -> Result<bool, DocumentError> {
        let Some(text) = self.package.part(part)? else { return Ok(true) };
        let relations = Relations::read(&mut self.package, KIND, part)?;
        let layout = relations.of_type("slideLayout").map(str::to_owned);
        if let Some(layout) = &layout {
            self.read_layout(layout)?;
        }
        let areas = layout.as_ref().and_then(|layout| self.layouts.get(layout));
        let mut slide = slide::SlideReader {
            package: &mut self.package,
            images: &mut self.images,
            relations: &relations,
            areas,
            title: None,
        };
        let Some(shapes) = slide.read(&text)? else { return Ok(false) };
        match slide.title.take() {
            Some(title) => self.flow.paragraph(Role::Heading(2), title),
            None if shapes.is_empty() && relations.of_type("notesSlide").is_none() => {}
            None => self.flow.block(&format!("<h2>Slide {number}</h2>\n")),
        }
        let shapes = in_reading_order(shapes);
        shapes.into_iter().flat_map(|shape| shape.blocks).for_each(|block| self.flow.write(block));
        if let Some(notes) = relations.of_type("notesSlide") {
            self.notes(notes)?;
        }
        Ok(true)
    }

    /// Writes the notes of a slide as a quote.
    fn notes(&mut self, part: &str) -> Result<(), DocumentError> {
        let Some(text) = self.package.part(part)? else { return Ok(()) };
        let relations = Relations::read(&mut self.package, KIND, part)?;
        slide::notes(&text, &relations, &mut self.flow)
    }

    /// Reads the areas of the placeholders of a layout, and those that it inherits from its master.
    fn read_layout(&mut self, layout: &str) -> Result<(), DocumentError> {
        if self.layouts.contains_key(layout) {
            return Ok(());
        }
        let relations = Relations::read(&mut self.package, KIND, layout)?;
        let mut placeholders = Placeholders::default();
        if let Some(master) = relations.of_type("slideMaster")
            && let Some(text) = self.package.part(master)?
        {
            placeholders.read(&text)?;
        }
        if let Some(text) = self.package.part(layout)? {
            placeholders.read(&text)?;
        }
        self.layouts.insert(layout.to_owned(), placeholders);
        Ok(())
    }
}

/// Returns the position of a shape, from the attributes of `off` and `ext`.
fn area(off: Option<(f64, f64)>, ext: Option<(f64, f64)>) -> Option<Area> {
    Some(Area::new(off?, ext?))
}
