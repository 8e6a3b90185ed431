//! An HTML buffer with a size limit, and escaping.

/// An HTML buffer with a size limit. Markup beyond the limit is dropped, and [`Html::is_full`] becomes `true`.
#[derive(Debug)]
pub(crate) struct Html {
    text: String,
    max_bytes: usize,
    is_full: bool,
}

impl Html {
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self { text: String::new(), max_bytes, is_full: false }
    }

    /// Returns whether content was dropped because of the size limit.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Appends a piece of markup completely or not at all, so that the HTML stays well-formed.
    pub(crate) fn push(&mut self, markup: &str) {
        if self.is_full || self.text.len() + markup.len() > self.max_bytes {
            self.is_full = true;
        } else {
            self.text.push_str(markup);
        }
    }

    /// Returns the number of bytes that still fit.
    pub(crate) fn remaining(&self) -> usize {
        self.max_bytes.saturating_sub(self.text.len())
    }

    pub(crate) fn into_string(self) -> String {
        self.text
    }
}

/// Appends text to markup, escaped.
pub(crate) fn push_escaped(markup: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '&' => markup.push_str("&amp;"),
            '<' => markup.push_str("&lt;"),
            '>' => markup.push_str("&gt;"),
            '"' => markup.push_str("&quot;"),
            // Control characters have no meaning in HTML, and NUL breaks parsers.
            '\t' | '\n' => markup.push(character),
            _ if character.is_control() => {}
            _ => markup.push(character),
        }
    }
}

/// Returns text escaped for HTML.
pub(crate) fn escape(text: &str) -> String {
    let mut markup = String::with_capacity(text.len() + text.len() / 16);
    push_escaped(&mut markup, text);
    markup
}

/// Returns the start tags of a block of code. The language may be empty.
pub(crate) fn code_start(language: &str) -> String {
    match language {
        "" => "<pre><code>".to_owned(),
        language => format!("<pre><code class=\"language-{}\">", escape(language)),
    }
}

/// Returns a formula in LaTeX as markup; an empty text if it is empty. `display` puts it on a line of its own.
pub(crate) fn formula(latex: &str, display: bool) -> String {
    let latex = escape(latex.trim());
    if latex.is_empty() {
        return latex;
    }
    let display = if display { " display=\"block\"" } else { "" };
    format!("<math alttext=\"{latex}\"{display}><mtext>{latex}</mtext></math>")
}

/// Makes the marks that this crate puts between pages unusable in HTML of the file.
pub(crate) fn without_marks(html: &str) -> String {
    html.replace("data-page-", "data-").replace("data-block", "data-b")
}
