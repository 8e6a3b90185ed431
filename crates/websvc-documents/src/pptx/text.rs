//! Reads the paragraphs of shapes, with their bullets and numbers.

use crate::error::DocumentError;
use crate::flow::{Marker, Role};
use crate::inline::{Inline, Position, TextStyle};
use crate::number_words;
use crate::office::{Relations, is_monospace};
use crate::omml;
use crate::xml::{Tag, Token, Xml};

/// The number of levels of a list.
const LEVELS: usize = 9;

/// The bullets of paragraphs without their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DefaultBullet {
    None,
    Bullet,
}

/// The bullet of a paragraph.
#[derive(Debug, Clone, Default)]
enum Bullet {
    #[default]
    Inherited,
    None,
    Character,
    /// A number in a format such as `arabicPeriod`, with its start.
    Number(String, u64),
}

/// The paragraphs of a shape, and the numbers that its lists have reached.
pub(super) struct TextReader<'r> {
    pub(super) relations: &'r Relations,
    pub(super) default_bullet: DefaultBullet,
    counters: [u64; LEVELS],
    /// The format and the start of the last number of each level. Another one begins a new list.
    formats: [(String, u64); LEVELS],
}

impl<'r> TextReader<'r> {
    pub(super) fn new(relations: &'r Relations, default_bullet: DefaultBullet) -> Self {
        Self { relations, default_bullet, counters: [0; LEVELS], formats: Default::default() }
    }

    /// Reads the paragraph whose start tag was read last.
    pub(super) fn paragraph(&mut self, xml: &mut Xml<'_>) -> Result<(Role, Inline), DocumentError> {
        let mut inline = Inline::default();
        let mut style = TextStyle::default();
        let (mut depth, mut bullet, mut is_display) = (0, Bullet::Inherited, false);
        while let Some(token) = xml.next()? {
            match token {
                Token::Text(_) => {}
                Token::End(name) => match name.as_str() {
                    "p" => break,
                    "r" | "fld" => {
                        inline.end_link();
                        style = TextStyle::default();
                    }
                    "oMathPara" => is_display = false,
                    _ => {}
                },
                Token::Start(tag) => match tag.name.as_str() {
                    "pPr" => depth = tag.parsed("lvl").unwrap_or(0),
                    "buNone" => bullet = Bullet::None,
                    "buChar" | "buBlip" => bullet = Bullet::Character,
                    "buAutoNum" => bullet = numbered(&tag),
                    "rPr" => style = run_style(&tag),
                    "latin" => style.code = tag.get("typeface").is_some_and(is_monospace),
                    "hlinkClick" => {
                        if let Some(url) = self.relations.of_attribute(&tag, "r:id") {
                            inline.begin_link(url);
                        }
                    }
                    "t" => inline.text(&xml.text()?, style),
                    "oMathPara" => is_display = true,
                    "oMath" => inline.formula(&omml::read(xml)?, is_display),
                    "tab" => inline.tab(),
                    "br" => inline.line_break(),
                    "Fallback" | "endParaRPr" => xml.skip()?,
                    _ => {}
                },
            }
        }
        let depth = depth.min(LEVELS - 1);
        Ok((self.role(depth, &bullet, &inline), inline))
    }

    fn role(&mut self, depth: usize, bullet: &Bullet, inline: &Inline) -> Role {
        if inline.is_empty() {
            return Role::Body;
        }
        for deeper in &mut self.counters[depth + 1..] {
            *deeper = 0;
        }
        if let Bullet::Number(format, start) = bullet {
            let counter = &mut self.counters[depth];
            if self.formats[depth] != (format.clone(), *start) {
                self.formats[depth] = (format.clone(), *start);
                *counter = 0;
            }
            *counter = if *counter == 0 { *start } else { counter.saturating_add(1) };
            return Role::Item { depth, marker: marker(format, *counter) };
        }
        self.counters[depth] = 0;
        let has_bullet = match bullet {
            Bullet::Inherited => self.default_bullet == DefaultBullet::Bullet,
            Bullet::Character => true,
            Bullet::None | Bullet::Number(..) => false,
        };
        match has_bullet {
            true => Role::Item { depth, marker: Marker::Bullet },
            false if inline.is_code() => Role::Code,
            false => Role::Body,
        }
    }
}

fn numbered(tag: &Tag) -> Bullet {
    let start = tag.parsed("startAt").unwrap_or(1_u64).max(1);
    Bullet::Number(tag.get("type").unwrap_or("arabicPeriod").to_owned(), start)
}

fn run_style(tag: &Tag) -> TextStyle {
    let is_on = |name| tag.is_true(name);
    let baseline =
        tag.get("baseline").and_then(|value| value.trim_end_matches('%').parse::<f64>().ok()).unwrap_or(0.0);
    let position = if baseline > 0.0 {
        Position::Superscript
    } else if baseline < 0.0 {
        Position::Subscript
    } else {
        Position::Baseline
    };
    let strike = tag.get("strike").is_some_and(|strike| strike != "noStrike");
    TextStyle { bold: is_on("b"), italic: is_on("i"), strike, code: false, position }
}

/// Returns the marker of a number in a format such as `alphaLcParenBoth`.
fn marker(format: &str, number: u64) -> Marker {
    let kinds = [
        ("alphaLc", "lowerLetter"),
        ("alphaUc", "upperLetter"),
        ("romanLc", "lowerRoman"),
        ("romanUc", "upperRoman"),
    ];
    let kind = kinds.into_iter().find(|(prefix, _)| format.starts_with(prefix)).map(|(_, kind)| kind);
    let is_plain = kind.is_none() && !format.ends_with("ParenBoth");
    if is_plain {
        return Marker::Number(number);
    }
    let text = number_words::format(number, kind.unwrap_or("decimal"));
    Marker::Text(if format.ends_with("ParenBoth") {
        format!("({text})")
    } else if format.ends_with("ParenR") {
        format!("{text})")
    } else {
        format!("{text}.")
    })
}
