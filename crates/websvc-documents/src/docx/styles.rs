//! The styles of a Word document, with what they inherit.

use std::collections::HashMap;

use super::KIND;
use crate::error::DocumentError;
use crate::inline::{Position, RunProperties};
use crate::office::{heading_of_name, is_monospace};
use crate::xml::{Tag, Token, Xml};

/// The maximum number of styles that a style is based on.
const MAX_BASES: usize = 16;

/// The purpose of a paragraph style, apart from headings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Body,
    Quote,
    Code,
}

/// Reads an element of the properties of a run.
pub(super) fn read_run_property(run: &mut RunProperties, tag: &Tag) {
    match tag.name.as_str() {
        "b" => run.bold = Some(is_on(tag)),
        "i" => run.italic = Some(is_on(tag)),
        "strike" | "dstrike" => run.strike = Some(is_on(tag)),
        "vanish" => run.hidden = Some(is_on(tag)),
        "rFonts" => run.code = font_of(tag).map(is_monospace).or(run.code),
        "vertAlign" => {
            run.position = Some(match tag.get("val") {
                Some("superscript") => Position::Superscript,
                Some("subscript") => Position::Subscript,
                _ => Position::Baseline,
            });
        }
        _ => {}
    }
}

/// Returns the font of Latin text that an element of the properties states.
pub(super) fn font_of(tag: &Tag) -> Option<&str> {
    tag.get("ascii").or_else(|| tag.get("hAnsi")).filter(|_| tag.name == "rFonts")
}

/// A style.
#[derive(Debug, Clone, Default)]
pub(super) struct Style {
    base: Option<String>,
    purpose: Option<Purpose>,
    /// The level of a heading: 0 for a style that is explicitly none.
    heading: Option<u32>,
    /// The list of the paragraphs, and their level in it.
    pub(super) list: Option<String>,
    pub(super) level: Option<usize>,
    /// The depth of the list that the name of the style states, such as 1 for `List Bullet 2`.
    pub(super) list_depth: usize,
    pub(super) run: RunProperties,
    /// The style of paragraphs without a style.
    is_default: bool,
}

impl Style {
    fn inherit(&mut self, base: &Self) {
        self.purpose = self.purpose.or(base.purpose);
        self.heading = self.heading.or(base.heading);
        self.level = self.level.or(if self.list.is_none() { base.level } else { None });
        if self.list.is_none() {
            self.list.clone_from(&base.list);
        }
        if !base.is_default {
            self.run.inherit(&base.run);
        }
    }

    /// Returns the 1-based level of the heading.
    pub(super) fn heading(&self) -> Option<u32> {
        self.heading.filter(|level| *level > 0)
    }

    /// Returns the purpose. A font of fixed width marks code if `fonts_mark_code`.
    pub(super) fn purpose(&self, fonts_mark_code: bool) -> Purpose {
        let is_code = fonts_mark_code && self.run.code == Some(true) && !self.is_default;
        self.purpose.unwrap_or(if is_code { Purpose::Code } else { Purpose::Body })
    }

    fn set_name(&mut self, name: &str) {
        let name = name.to_ascii_lowercase();
        if let Some(level) = heading_of_name(&name) {
            self.heading = Some(level);
        }
        self.purpose = purpose_of_name(&name);
        let kinds = ["list bullet ", "list number ", "list "];
        let depth = kinds.iter().find_map(|kind| name.strip_prefix(kind)?.parse::<usize>().ok());
        self.list_depth = depth.filter(|depth| (2..=9).contains(depth)).map_or(0, |depth| depth - 1);
        if matches!(
            name.as_str(),
            "html code" | "verbatim char" | "source text" | "code char" | "inline code"
        ) {
            self.run.code = Some(true);
        }
    }
}

fn purpose_of_name(name: &str) -> Option<Purpose> {
    match name {
        "quote" | "intense quote" | "block text" | "quotations" | "block quote" | "blockquote" => {
            Some(Purpose::Quote)
        }
        "html preformatted" | "source code" | "preformatted text" | "macro text" | "macro" | "code"
        | "code block" | "listing" | "plain code" => Some(Purpose::Code),
        _ => None,
    }
}

/// The styles, by ID.
#[derive(Debug, Default)]
pub(super) struct Styles {
    styles: HashMap<String, Style>,
}

impl Styles {
    pub(super) fn read(text: &str) -> Result<Self, DocumentError> {
        let mut xml = Xml::new(KIND, text);
        let mut styles: HashMap<String, Style> = HashMap::new();
        let mut style: Option<(String, Style)> = None;
        while let Some(token) = xml.next()? {
            match token {
                Token::Start(tag) => match (tag.name.as_str(), &mut style) {
                    ("style", _) => {
                        let is_default =
                            tag.get("default").is_some_and(|value| value == "1" || value == "true");
                        let id = tag.get("styleId").unwrap_or_default().to_owned();
                        style = Some((id, Style { is_default, ..Style::default() }));
                    }
                    ("tblStylePr", _) => xml.skip()?,
                    (_, Some((_, style))) => read_property(style, &tag),
                    _ => {}
                },
                Token::End(name) if name == "style" => styles.extend(style.take()),
                Token::End(_) | Token::Text(_) => {}
            }
        }
        let resolved = styles.keys().map(|id| (id.clone(), resolve(&styles, id))).collect();
        Ok(Self { styles: resolved })
    }

    /// Returns a style; `None` if it is unknown.
    pub(super) fn get(&self, id: &str) -> Option<&Style> {
        self.styles.get(id)
    }

    /// Returns the level of a heading style, also of one that the document does not define.
    pub(super) fn heading(&self, id: &str) -> Option<u32> {
        match self.styles.get(id) {
            Some(style) => style.heading(),
            None => heading_of_name(&id.to_ascii_lowercase()),
        }
    }
}

fn read_property(style: &mut Style, tag: &Tag) {
    let value = tag.get("val");
    let number = || value.and_then(|value| value.parse::<u32>().ok());
    match tag.name.as_str() {
        "name" => style.set_name(value.unwrap_or_default()),
        "basedOn" => style.base = value.map(str::to_owned),
        "outlineLvl" => {
            let level = number().map_or(0, |level| if level < 9 { level + 1 } else { 0 });
            style.heading = style.heading.or(Some(level));
        }
        "numId" => style.list = value.map(str::to_owned),
        "ilvl" => style.level = number().and_then(|level| usize::try_from(level).ok()),
        _ => read_run_property(&mut style.run, tag),
    }
}

/// Returns a style with everything that it inherits.
fn resolve(styles: &HashMap<String, Style>, id: &str) -> Style {
    let mut style = styles.get(id).cloned().unwrap_or_default();
    let mut base = style.base.clone();
    for _ in 0..MAX_BASES {
        let Some(inherited) = base.as_ref().and_then(|id| styles.get(id)) else { break };
        style.inherit(inherited);
        base.clone_from(&inherited.base);
    }
    style
}

/// Returns whether an on/off property is on. Its presence without a value means on.
pub(super) fn is_on(tag: &Tag) -> bool {
    !matches!(tag.get("val"), Some("0" | "false" | "off" | "none"))
}
