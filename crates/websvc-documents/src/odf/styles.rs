//! The styles of an OpenDocument file: texts, paragraphs, lists, tables and slides.

use std::collections::{HashMap, HashSet};

use crate::error::DocumentError;
use crate::flow::Marker;
use crate::inline::{Position, RunProperties, TextStyle};
use crate::kind::DocumentKind;
use crate::number_words;
use crate::office::is_monospace;
use crate::xml::{Tag, Xml};

/// The maximum number of styles that a style is based on.
const MAX_BASES: usize = 16;
/// The number of levels of a list.
pub(super) const LEVELS: usize = 10;

/// The purpose of a paragraph style.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Title,
    Quote,
    Code,
}

/// A style, with the properties that it states.
#[derive(Debug, Clone, Default)]
struct Style {
    base: Option<String>,
    purpose: Option<Purpose>,
    run: RunProperties,
}

impl Style {
    fn inherit(&mut self, base: &Self) {
        self.purpose = self.purpose.or(base.purpose);
        self.run.inherit(&base.run);
    }
}

/// Reads the properties of text. What they do not state stays as it is.
fn read_text_properties(run: &mut RunProperties, tag: &Tag) {
    let is_bold = |weight: &str| weight == "bold" || weight >= "600" && weight.len() == 3;
    let font = tag.get_exact("style:font-name").or_else(|| tag.get_exact("fo:font-family"));
    let position = |position: &str| match position.split(' ').next().unwrap_or_default() {
        "super" => Position::Superscript,
        "sub" => Position::Subscript,
        shift if shift.starts_with('-') => Position::Subscript,
        "0%" | "" => Position::Baseline,
        _ => Position::Superscript,
    };
    let mut stated = RunProperties {
        bold: tag.get("font-weight").map(is_bold),
        italic: tag.get("font-style").map(|style| style == "italic" || style == "oblique"),
        strike: tag.get("text-line-through-style").map(|style| style != "none"),
        code: font.map(is_monospace),
        position: tag.get("text-position").map(position),
        hidden: tag.get_exact("text:display").map(|display| display == "none"),
    };
    stated.inherit(run);
    *run = stated;
}

/// A level of a list style, or of the numbers of headings.
#[derive(Debug, Clone, Default)]
pub(super) struct Level {
    /// The format of the numbers; `None` for bullets.
    format: Option<String>,
    prefix: String,
    suffix: String,
    /// The number of levels that are displayed.
    shown: usize,
    pub(super) start: u64,
}

/// The levels of a list style.
pub(super) type Levels = [Option<Level>; LEVELS];

/// The styles of a file by name.
#[derive(Debug, Default)]
pub(super) struct Styles {
    styles: HashMap<String, Style>,
    lists: HashMap<String, Levels>,
    /// The levels of numbered headings.
    pub(super) headings: Levels,
    /// The styles of hidden tables and slides.
    hidden: HashSet<String>,
}

impl Styles {
    /// Reads the styles of a part, up to the body of the document.
    pub(super) fn read(&mut self, kind: DocumentKind, text: &str) -> Result<(), DocumentError> {
        let mut xml = Xml::new(kind, text);
        let (mut style, mut list) = (String::new(), None);
        while let Some(tag) = xml.start()? {
            match tag.name.as_str() {
                "body" | "master-styles" => break,
                "style" => {
                    style = name_of(&tag);
                    let base = tag.get_exact("style:parent-style-name").map(str::to_owned);
                    let purpose = purpose(&style);
                    self.styles.insert(style.clone(), Style { base, purpose, ..Style::default() });
                }
                "text-properties" => {
                    if let Some(style) = self.styles.get_mut(&style) {
                        read_text_properties(&mut style.run, &tag);
                    }
                }
                "table-properties" if tag.get_exact("table:display") == Some("false") => {
                    self.hidden.insert(style.clone());
                }
                "drawing-page-properties" if tag.get_exact("presentation:visibility") == Some("hidden") => {
                    self.hidden.insert(style.clone());
                }
                "list-style" => list = Some(name_of(&tag)),
                "outline-style" => list = None,
                "list-level-style-number"
                | "list-level-style-bullet"
                | "list-level-style-image"
                | "outline-level-style" => self.level(&tag, list.as_ref()),
                _ => {}
            }
        }
        Ok(())
    }

    fn level(&mut self, tag: &Tag, list: Option<&String>) {
        let number = |name| tag.get_exact(name).and_then(|value| value.parse::<usize>().ok());
        let Some(index) = number("text:level").and_then(|level| level.checked_sub(1)) else { return };
        let is_number = tag.name == "list-level-style-number" || tag.name == "outline-level-style";
        let text = |name| tag.get_exact(name).unwrap_or_default().to_owned();
        let level = Level {
            format: is_number.then(|| text("style:num-format")),
            prefix: text("style:num-prefix"),
            suffix: text("style:num-suffix"),
            shown: number("text:display-levels").unwrap_or(1),
            start: number("text:start-value").and_then(|start| u64::try_from(start).ok()).unwrap_or(1),
        };
        let levels = match list {
            Some(list) => self.lists.entry(list.clone()).or_default(),
            None => &mut self.headings,
        };
        if let Some(slot) = levels.get_mut(index) {
            *slot = Some(level);
        }
    }

    /// Returns a style with everything that it inherits.
    fn resolved(&self, name: &str) -> Style {
        let mut style = self
            .styles
            .get(name)
            .cloned()
            .unwrap_or_else(|| Style { purpose: purpose(name), ..Style::default() });
        let mut base = style.base.clone();
        for _ in 0..MAX_BASES {
            let Some(name) = base else { break };
            // The default style of paragraphs has the properties of the whole text.
            let Some(inherited) = self.styles.get(&name).filter(|_| name != "Standard") else {
                style.purpose = style.purpose.or_else(|| purpose(&name));
                break;
            };
            style.inherit(inherited);
            base = inherited.base.clone();
        }
        style
    }

    /// Returns the style of a run of text, and whether it is hidden. What it does not state comes from `outer`.
    pub(super) fn text_style(&self, name: &str, outer: TextStyle) -> (TextStyle, bool) {
        let style = self.resolved(name);
        let is_code = matches!(style.purpose, Some(Purpose::Code));
        let text = style.run.style_in(TextStyle {
            bold: outer.bold || name == "Strong_20_Emphasis",
            italic: outer.italic || name == "Emphasis",
            code: outer.code || is_code,
            ..outer
        });
        (text, style.run.hidden.unwrap_or(false))
    }

    /// Returns the purpose of a paragraph style.
    pub(super) fn purpose(&self, name: &str) -> Option<Purpose> {
        let style = self.resolved(name);
        style.purpose.or_else(|| (style.run.code == Some(true)).then_some(Purpose::Code))
    }

    /// Returns whether the tables or slides of a style are hidden.
    pub(super) fn is_hidden(&self, name: &str) -> bool {
        self.hidden.contains(name)
    }

    /// Returns the levels of a list style.
    pub(super) fn list(&self, name: &str) -> Option<&Levels> {
        self.lists.get(name)
    }
}

/// Returns the marker of a level with these numbers; `None` if it shows none.
pub(super) fn marker(levels: &Levels, level: usize, numbers: &[u64; LEVELS]) -> Option<Marker> {
    let Some(style) = levels.get(level).and_then(Option::as_ref) else { return Some(Marker::Bullet) };
    let Some(format) = &style.format else { return Some(Marker::Bullet) };
    if format.is_empty() {
        return None;
    }
    let first = (level + 1).saturating_sub(style.shown.max(1));
    let shown: Vec<String> = (first..=level)
        .map(|index| {
            let format = levels[index].as_ref().and_then(|level| level.format.as_deref()).unwrap_or("1");
            formatted(numbers[index], format)
        })
        .collect();
    let is_plain = first == level
        && format == "1"
        && style.prefix.trim().is_empty()
        && matches!(style.suffix.trim(), "." | ")" | "");
    Some(if is_plain {
        Marker::Number(numbers[level])
    } else {
        Marker::Text(format!("{}{}{}", style.prefix, shown.join("."), style.suffix).trim().to_owned())
    })
}

fn formatted(number: u64, format: &str) -> String {
    let name = match format {
        "a" => "lowerLetter",
        "A" => "upperLetter",
        "i" => "lowerRoman",
        "I" => "upperRoman",
        _ => "decimal",
    };
    number_words::format(number, name)
}

fn name_of(tag: &Tag) -> String {
    tag.get_exact("style:name").unwrap_or_default().to_owned()
}

fn purpose(style: &str) -> Option<Purpose> {
    match style {
        "Title" => Some(Purpose::Title),
        "Quotations" | "Quote" | "Intense_20_Quote" | "Block_20_Text" => Some(Purpose::Quote),
        "Preformatted_20_Text" | "Source_20_Text" | "Source_20_Code" | "Verbatim_20_Char" => {
            Some(Purpose::Code)
        }
        _ => None,
    }
}
