//! The markup of one paragraph: runs of text with their styles, links, images, formulas and references to notes.

use crate::html::{self, escape, push_escaped};

/// The vertical position of a run of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Position {
    #[default]
    Baseline,
    Superscript,
    Subscript,
}

/// The style of a run of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct TextStyle {
    pub(crate) bold: bool,
    pub(crate) italic: bool,
    pub(crate) strike: bool,
    /// Text in a font of fixed width.
    pub(crate) code: bool,
    pub(crate) position: Position,
}

/// The properties of text that a style or a run states.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RunProperties {
    pub(crate) bold: Option<bool>,
    pub(crate) italic: Option<bool>,
    pub(crate) strike: Option<bool>,
    pub(crate) code: Option<bool>,
    pub(crate) position: Option<Position>,
    pub(crate) hidden: Option<bool>,
}

impl RunProperties {
    /// Adds the properties that only `base` states.
    pub(crate) fn inherit(&mut self, base: &Self) {
        self.bold = self.bold.or(base.bold);
        self.italic = self.italic.or(base.italic);
        self.strike = self.strike.or(base.strike);
        self.code = self.code.or(base.code);
        self.position = self.position.or(base.position);
        self.hidden = self.hidden.or(base.hidden);
    }

    /// Returns the style of the text. What is not stated comes from `outer`.
    pub(crate) fn style_in(self, outer: TextStyle) -> TextStyle {
        TextStyle {
            bold: self.bold.unwrap_or(outer.bold),
            italic: self.italic.unwrap_or(outer.italic),
            strike: self.strike.unwrap_or(outer.strike),
            code: self.code.unwrap_or(outer.code),
            position: self.position.unwrap_or(outer.position),
        }
    }
}

/// The markup of one paragraph.
#[derive(Debug, Default, Clone)]
pub(crate) struct Inline {
    markup: String,
    style: TextStyle,
    in_link: bool,
    /// White space after the last run. It is written without the style of either neighbor.
    space: String,
    /// The text as written, with its white space, for a paragraph that turns out to be code.
    source: String,
    /// The numbers of characters in all runs and in runs of code.
    chars: usize,
    code_chars: usize,
}

impl Inline {
    pub(crate) fn text(&mut self, text: &str, style: TextStyle) {
        self.source.push_str(text);
        let trimmed = text.trim();
        if trimmed.is_empty() {
            self.space.push_str(text);
            return;
        }
        self.chars += trimmed.len();
        self.code_chars += if style.code { trimmed.len() } else { 0 };
        self.space.push_str(&text[..text.len() - text.trim_start().len()]);
        if style == self.style {
            self.flush_space();
        } else {
            self.close_style();
            self.flush_space();
            for (enabled, tag) in tags(style) {
                if enabled {
                    self.markup.push_str(&format!("<{tag}>"));
                }
            }
            self.style = style;
        }
        push_escaped(&mut self.markup, trimmed);
        self.space.push_str(&text[text.trim_end().len()..]);
    }

    /// Puts text in front of the paragraph.
    pub(crate) fn prefix(&mut self, text: &str) {
        self.markup.insert_str(0, &escape(text));
    }

    /// Appends another paragraph, after a space.
    pub(crate) fn append(&mut self, other: Self) {
        self.end_link();
        self.close_style();
        self.space.clear();
        self.source.push(' ');
        self.source.push_str(&other.source);
        self.chars += other.chars;
        self.code_chars += other.code_chars;
        self.markup.push(' ');
        self.markup.push_str(&other.finish());
    }

    /// Joins paragraphs on one line; `None` if there are none.
    pub(crate) fn joined(paragraphs: impl Iterator<Item = Self>) -> Option<Self> {
        paragraphs.reduce(|mut joined, next| {
            joined.append(next);
            joined
        })
    }

    /// Appends a tab: a space in text, and a tab in code.
    pub(crate) fn tab(&mut self) {
        self.source.push('\t');
        self.space.push(' ');
    }

    fn flush_space(&mut self) {
        if !self.markup.is_empty() {
            push_escaped(&mut self.markup, &self.space);
        }
        self.space.clear();
    }

    fn close_style(&mut self) {
        for (enabled, tag) in tags(self.style).into_iter().rev() {
            if enabled {
                self.markup.push_str(&format!("</{tag}>"));
            }
        }
        self.style = TextStyle::default();
    }

    pub(crate) fn line_break(&mut self) {
        self.source.push('\n');
        self.markup.push_str("<br>");
    }

    /// Begins a link if its URL has a scheme that is safe on a web page.
    pub(crate) fn begin_link(&mut self, url: &str) {
        self.end_link();
        if is_web_url(url) {
            self.close_style();
            self.flush_space();
            self.markup.push_str(&format!("<a href=\"{}\">", escape(url)));
            self.in_link = true;
        }
    }

    pub(crate) fn end_link(&mut self) {
        if std::mem::take(&mut self.in_link) {
            self.close_style();
            self.markup.push_str("</a>");
        }
    }

    /// Appends the reference to a note.
    pub(crate) fn note_reference(&mut self, number: usize) {
        self.markup(&format!("<sup><a href=\"#fn{number}\">{number}</a></sup>"));
    }

    /// Appends a formula in LaTeX. `display` puts it on a line of its own.
    pub(crate) fn formula(&mut self, latex: &str, display: bool) {
        let formula = html::formula(latex, display);
        if !formula.is_empty() {
            self.markup(&formula);
        }
    }

    /// Appends an image by its URL.
    pub(crate) fn image(&mut self, url: &str, alternative: &str) {
        self.markup(&format!("<img src=\"{}\" alt=\"{}\">", escape(url), escape(alternative.trim())));
    }

    /// Appends markup that is not text of a run.
    pub(crate) fn markup(&mut self, markup: &str) {
        self.close_style();
        self.flush_space();
        self.markup.push_str(markup);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.markup.trim().is_empty()
    }

    /// Returns whether all text is in a font of fixed width.
    pub(crate) fn is_code(&self) -> bool {
        self.chars > 0 && self.code_chars == self.chars
    }

    /// Returns the numbers of characters in all runs and in runs of code.
    pub(crate) fn char_counts(&self) -> (usize, usize) {
        (self.chars, self.code_chars)
    }

    /// Returns the text so far as written, without markup.
    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// Returns the text as written, without markup.
    pub(crate) fn into_source(self) -> String {
        self.source
    }

    /// Returns the markup with all elements closed.
    pub(crate) fn finish(mut self) -> String {
        self.end_link();
        self.close_style();
        self.markup
    }
}

fn tags(style: TextStyle) -> [(bool, &'static str); 6] {
    [
        (style.bold, "strong"),
        (style.italic, "em"),
        (style.strike, "del"),
        (style.position == Position::Superscript, "sup"),
        (style.position == Position::Subscript, "sub"),
        (style.code, "code"),
    ]
}

/// Returns whether a URL has a web scheme, and not for example `javascript:` or a path within the file.
pub(crate) fn is_web_url(url: &str) -> bool {
    ["http://", "https://", "mailto:", "ftp://"]
        .iter()
        .any(|scheme| url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)))
}
