//! Reads paragraphs: their properties, runs of text, fields, formulas, images and references to notes.

use super::Reader;
use super::numbering::Numbered;
use super::styles::{Purpose, font_of, is_on, read_run_property};
use crate::chart;
use crate::error::DocumentError;
use crate::flow::{Block, Role};
use crate::inline::{Inline, RunProperties, TextStyle};
use crate::office::{is_symbol_font, symbol, symbols};
use crate::omml;
use crate::xml::{Tag, Token, Xml};

/// A paragraph that was read.
#[derive(Debug, Default)]
pub(super) struct Paragraph {
    pub(super) inline: Inline,
    pub(super) properties: Properties,
    /// The number in front of a heading, or the marker of an item.
    pub(super) marker: Option<Numbered>,
}

/// The properties of a paragraph.
#[derive(Debug, Default)]
pub(super) struct Properties {
    style: Option<String>,
    list: Option<String>,
    level: Option<usize>,
    /// The 1-based level in the outline: 0 for body text.
    outline: Option<u32>,
    /// The end of the paragraph was deleted: the next one continues it.
    is_joined: bool,
}

impl Properties {
    /// Returns whether the next paragraph continues this one, because the end between them was deleted.
    pub(super) fn is_joined(&self) -> bool {
        self.is_joined
    }
}

/// A field, such as a link or the number of a page.
#[derive(Debug, Default)]
pub(super) struct Field {
    instruction: String,
    /// The result of the field is being read, which is the displayed text.
    in_result: bool,
}

/// The run that is being read.
#[derive(Debug, Default)]
struct Run {
    style: TextStyle,
    hidden: bool,
    /// The name of the font, if it is one of symbols.
    symbol_font: Option<String>,
}

impl Reader<'_> {
    /// Reads the paragraph whose start tag was read last.
    pub(super) fn paragraph(&mut self, xml: &mut Xml<'_>) -> Result<Paragraph, DocumentError> {
        let mut paragraph =
            Paragraph { inline: self.carried.take().unwrap_or_default(), ..Paragraph::default() };
        let mut run = Run::default();
        while let Some(token) = xml.next()? {
            match token {
                Token::Text(_) => {}
                Token::End(name) => match name.as_str() {
                    "p" => break,
                    "hyperlink" | "fldSimple" => paragraph.inline.end_link(),
                    "oMathPara" => self.display_formula = false,
                    _ => {}
                },
                Token::Start(tag) => match tag.name.as_str() {
                    "pPr" => paragraph.properties = self.properties(xml)?,
                    "r" => run = Run::default(),
                    "rPr" => run = self.run_properties(xml)?,
                    "t" => {
                        let mut text = xml.text()?;
                        if let Some(font) = &run.symbol_font {
                            text = symbols(font, &text);
                        }
                        if !run.hidden && self.fields.iter().all(|field| field.in_result) {
                            paragraph.inline.text(&text, run.style);
                        }
                    }
                    "instrText" => {
                        let text = xml.text()?;
                        if let Some(field) = self.fields.last_mut().filter(|field| !field.in_result) {
                            field.instruction.push_str(&text);
                        }
                    }
                    "oMathPara" => self.display_formula = true,
                    "oMath" => {
                        let latex = omml::read(xml)?;
                        paragraph.inline.formula(&latex, self.display_formula);
                    }
                    "txbxContent" => self.text_box(xml)?,
                    // A duplicate, a previous version, settings, or a hint for the pronunciation.
                    "Fallback" | "rPrChange" | "sdtPr" | "del" | "moveFrom" | "delInstrText" | "rt" => {
                        xml.skip()?;
                    }
                    _ => self.inline_element(&tag, &mut paragraph.inline, &run)?,
                },
            }
        }
        self.display_formula = false;
        // The instruction of a field does not continue in the next paragraph.
        self.fields.iter_mut().for_each(|field| field.in_result = true);
        paragraph.marker = self.marker(&paragraph);
        Ok(paragraph)
    }

    fn properties(&mut self, xml: &mut Xml<'_>) -> Result<Properties, DocumentError> {
        let mut properties = Properties::default();
        while let Some(tag) = xml.start_in("pPr")? {
            let value = tag.get("val");
            let number = || value.and_then(|value| value.parse::<u32>().ok());
            match tag.name.as_str() {
                "pStyle" => properties.style = value.map(str::to_owned),
                "outlineLvl" => {
                    properties.outline = number().map(|level| if level < 9 { level + 1 } else { 0 });
                }
                "numId" => properties.list = value.map(str::to_owned),
                "ilvl" => properties.level = number().and_then(|level| usize::try_from(level).ok()),
                "del" | "moveFrom" => properties.is_joined = true,
                "pPrChange" | "rPrChange" | "sectPr" => xml.skip()?,
                _ => {}
            }
        }
        Ok(properties)
    }

    fn run_properties(&self, xml: &mut Xml<'_>) -> Result<Run, DocumentError> {
        let mut own = RunProperties::default();
        let (mut style, mut symbol_font) = (None, None);
        while let Some(tag) = xml.start_in("rPr")? {
            match tag.name.as_str() {
                "rStyle" => style = tag.get("val").map(str::to_owned),
                "rPrChange" => xml.skip()?,
                _ => read_run_property(&mut own, &tag),
            }
            if let Some(font) = font_of(&tag) {
                symbol_font = Some(font.to_owned()).filter(|font| is_symbol_font(font));
            }
        }
        if let Some(style) = style.and_then(|id| self.styles.get(&id)) {
            own.inherit(&style.run);
        }
        let mut style = own.style_in(TextStyle::default());
        style.code &= self.fonts_mark_code;
        Ok(Run { style, hidden: own.hidden.unwrap_or_default(), symbol_font })
    }

    fn inline_element(&mut self, tag: &Tag, inline: &mut Inline, run: &Run) -> Result<(), DocumentError> {
        match tag.name.as_str() {
            "tab" | "ptab" => inline.tab(),
            "br" if matches!(tag.get("type"), Some("page" | "column")) => {
                inline.text(" ", TextStyle::default());
            }
            "br" | "cr" => inline.line_break(),
            "noBreakHyphen" => inline.text("-", run.style),
            "sym" => {
                let code = tag.get("char").and_then(|code| u32::from_str_radix(code, 16).ok());
                let sign = code.and_then(|code| symbol(tag.get("font").unwrap_or_default(), code));
                sign.into_iter().for_each(|sign| inline.text(&sign.to_string(), run.style));
            }
            "hyperlink" => {
                if let Some(url) = self.relations.of_attribute(tag, "r:id") {
                    let anchor = tag.get("anchor").filter(|_| !url.contains('#'));
                    inline.begin_link(
                        &anchor.map_or_else(|| url.to_owned(), |anchor| format!("{url}#{anchor}")),
                    );
                }
            }
            "fldSimple" => {
                let url = link_of_field(tag.get("instr").unwrap_or_default());
                url.into_iter().for_each(|url| inline.begin_link(url));
            }
            "fldChar" => self.field(tag, inline),
            "footnoteReference" | "endnoteReference" => {
                let prefix = if tag.name.starts_with('e') { "e" } else { "" };
                let id = format!("{prefix}{}", tag.get("id").unwrap_or_default());
                if let Some(markup) = self.notes.get(&id) {
                    let number = self.flow.add_note(markup.clone());
                    inline.note_reference(number);
                }
            }
            "docPr" | "cNvPr" => {
                let text =
                    tag.get("descr").filter(|text| !text.trim().is_empty()).or_else(|| tag.get("title"));
                self.alternative = text.unwrap_or_default().to_owned();
            }
            "blip" | "imagedata" => self.image(tag, inline)?,
            "chart" | "relIds" => {
                let blocks = chart::referenced(&mut self.package, super::KIND, &self.relations, tag)?;
                self.boxes.extend(blocks);
            }
            _ => {}
        }
        Ok(())
    }

    fn image(&mut self, tag: &Tag, inline: &mut Inline) -> Result<(), DocumentError> {
        let alternative = std::mem::take(&mut self.alternative);
        let id = ["r:embed", "r:link", "r:id"].iter().find_map(|name| tag.get_exact(name));
        let Some(target) = id.and_then(|id| self.relations.get(id)) else { return Ok(()) };
        if let Some(url) = self.images.url(&mut self.package, target)? {
            inline.image(&url, &alternative);
        } else if !alternative.trim().is_empty() {
            inline.text(&format!(" {} ", alternative.trim()), TextStyle::default());
        }
        Ok(())
    }

    fn field(&mut self, tag: &Tag, inline: &mut Inline) {
        match tag.get("fldCharType") {
            Some("begin") if self.fields.len() < super::MAX_FIELDS => self.fields.push(Field::default()),
            Some("separate") => {
                if let Some(field) = self.fields.last_mut() {
                    field.in_result = true;
                    link_of_field(&field.instruction).into_iter().for_each(|url| inline.begin_link(url));
                }
            }
            Some("end") => {
                let field = self.fields.pop();
                let is_link = field.is_some_and(|field| link_of_field(&field.instruction).is_some());
                (0..usize::from(is_link)).for_each(|_| inline.end_link());
            }
            _ => {}
        }
    }

    /// Reads the paragraphs of a text box, which follow the paragraph that contains it.
    fn text_box(&mut self, xml: &mut Xml<'_>) -> Result<(), DocumentError> {
        let carried = self.carried.take();
        while let Some(tag) = xml.start_in("txbxContent")? {
            match tag.name.as_str() {
                "p" => {
                    let paragraph = self.paragraph(xml)?;
                    let block = self.block(paragraph);
                    self.boxes.push(block);
                }
                "tbl" => {
                    let blocks = self.table(xml)?;
                    self.boxes.extend(blocks);
                }
                "Fallback" | "sdtPr" => xml.skip()?,
                _ => {}
            }
        }
        self.carried = carried;
        Ok(())
    }

    /// Counts the paragraph in its list, and returns its marker.
    fn marker(&mut self, paragraph: &Paragraph) -> Option<Numbered> {
        let (list, level) = self.list_of(&paragraph.properties)?;
        // Word counts no empty paragraphs that are joined with the next one.
        if paragraph.properties.is_joined {
            return None;
        }
        self.numbering.next(&list, level)
    }

    /// Returns the list of a paragraph and its level, from the paragraph or its style.
    fn list_of(&self, properties: &Properties) -> Option<(String, usize)> {
        let style = properties.style.as_ref().and_then(|id| self.styles.get(id));
        let inherited = style.and_then(|style| style.list.clone());
        let list = properties.list.clone().or(inherited)?;
        if list == "0" {
            return None;
        }
        let level = match (properties.level, &properties.list) {
            (Some(level), _) => level,
            (None, Some(_)) => 0,
            (None, None) => {
                let linked =
                    properties.style.as_ref().and_then(|id| self.numbering.level_of_style(&list, id));
                linked.or_else(|| style?.level).unwrap_or(0)
            }
        };
        Some((list, level))
    }

    pub(super) fn role(&self, paragraph: &Paragraph) -> Role {
        let Properties { style: id, outline, .. } = &paragraph.properties;
        let style = id.as_ref().and_then(|id| self.styles.get(id));
        let heading = match outline {
            Some(level) => Some(*level).filter(|level| *level > 0),
            None => id.as_ref().and_then(|id| self.styles.heading(id)),
        };
        if let Some(level) = heading {
            return Role::Heading(level);
        }
        if let Some(marker) = &paragraph.marker {
            let level = self.list_of(&paragraph.properties).map_or(0, |(_, level)| level);
            let depth = level.max(style.map_or(0, |style| style.list_depth));
            return Role::Item { depth, marker: marker.marker.clone() };
        }
        match style.map_or(Purpose::Body, |style| style.purpose(self.fonts_mark_code)) {
            Purpose::Quote => Role::Quote,
            Purpose::Code => Role::Code,
            Purpose::Body if paragraph.inline.is_code() => Role::Code,
            Purpose::Body => Role::Body,
        }
    }

    /// Returns the block of a paragraph. The number of a heading becomes a part of its text.
    pub(super) fn block(&mut self, paragraph: Paragraph) -> Block {
        let (all, code) = paragraph.inline.char_counts();
        let role = self.role(&paragraph);
        self.chars += all;
        self.code_chars += if role == Role::Code { all } else { code };
        let mut inline = paragraph.inline;
        if let (Role::Heading(_), Some(marker), false) = (&role, &paragraph.marker, inline.is_empty()) {
            let number = if marker.text.is_empty() { String::new() } else { format!("{} ", marker.text) };
            inline.prefix(&number);
        }
        Block::Paragraph(role, inline)
    }
}

/// Returns the URL of a `HYPERLINK` field.
fn link_of_field(instruction: &str) -> Option<&str> {
    let rest = instruction.trim_start().strip_prefix("HYPERLINK")?.trim_start();
    match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => rest.split_whitespace().next(),
    }
    .filter(|url| !url.is_empty() && !url.starts_with('\\'))
}

/// Returns whether a row or another part was deleted.
pub(super) fn is_deletion(tag: &Tag) -> bool {
    matches!(tag.name.as_str(), "del" | "moveFrom") && is_on(tag)
}
