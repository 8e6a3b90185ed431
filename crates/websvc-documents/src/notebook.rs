//! Reads Jupyter notebooks: text cells as Markdown, code cells with their language, and the outputs.

use pulldown_cmark::{Event, Options, Parser, html};
use serde::Deserialize;

use crate::error::DocumentError;
use crate::flow::HtmlFlow;
use crate::html::{escape, formula, without_marks};
use crate::kind::DocumentKind;
use crate::limits::Limits;
use crate::parsed_document::{DocumentMetadata, ParsedDocument};

const KIND: DocumentKind = DocumentKind::Ipynb;
/// The maximum sizes of the text of an output and of the images of a notebook, in bytes.
const MAX_OUTPUT_BYTES: usize = 100_000;
const MAX_IMAGE_BYTES: usize = 4 * 1024 * 1024;

#[derive(Debug, Deserialize)]
struct Notebook {
    #[serde(default)]
    cells: Vec<Cell>,
    /// The cells of notebooks before version 4.
    #[serde(default)]
    worksheets: Vec<Worksheet>,
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Debug, Deserialize)]
struct Worksheet {
    #[serde(default)]
    cells: Vec<Cell>,
}

#[derive(Debug, Default, Deserialize)]
struct Metadata {
    #[serde(default)]
    kernelspec: Option<Named>,
    #[serde(default)]
    language_info: Option<Named>,
    #[serde(default)]
    title: Option<serde_json::Value>,
}

#[derive(Debug, Default, Deserialize)]
struct Named {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    language: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Cell {
    #[serde(default)]
    cell_type: String,
    #[serde(default)]
    source: Lines,
    /// The source of a code cell before version 4.
    #[serde(default)]
    input: Lines,
    /// The level of a heading cell before version 4.
    #[serde(default)]
    level: Option<u32>,
    #[serde(default)]
    outputs: Vec<Output>,
}

#[derive(Debug, Deserialize)]
struct Output {
    #[serde(default)]
    output_type: String,
    #[serde(default)]
    text: Lines,
    #[serde(default)]
    data: Data,
    #[serde(default)]
    traceback: Lines,
}

/// The forms of an output that are read.
#[derive(Debug, Default, Deserialize)]
struct Data {
    #[serde(rename = "text/plain", default)]
    plain: Lines,
    #[serde(rename = "text/html", default)]
    html: Lines,
    #[serde(rename = "text/markdown", default)]
    markdown: Lines,
    #[serde(rename = "text/latex", default)]
    latex: Lines,
    #[serde(rename = "image/png", default)]
    png: Lines,
    #[serde(rename = "image/jpeg", default)]
    jpeg: Lines,
}

/// A text, or a list of lines. Anything else is empty.
#[derive(Debug, Default)]
struct Lines(String);

impl<'de> Deserialize<'de> for Lines {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::String(text) => text,
            serde_json::Value::Array(lines) => {
                // Before version 4.1, the lines of a traceback have no line breaks.
                let lines = lines.iter().filter_map(serde_json::Value::as_str);
                let mut text = String::new();
                for line in lines {
                    text.push_str(line);
                }
                text
            }
            _ => String::new(),
        }))
    }
}

/// Returns whether bytes look like a notebook.
pub(crate) fn is_notebook(bytes: &[u8]) -> bool {
    const END_BYTES: usize = 64 * 1024;
    let has = |part: &[u8], name: &[u8]| part.windows(name.len()).any(|window| window == name);
    let head = &bytes[..bytes.len().min(END_BYTES)];
    let tail = &bytes[bytes.len().saturating_sub(END_BYTES)..];
    let start = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    start.trim_ascii_start().starts_with(b"{")
        && (has(head, b"\"nbformat\"") || has(tail, b"\"nbformat\""))
        && (has(head, b"\"cell_type\"") || has(head, b"\"cells\"") || has(tail, b"\"cells\""))
}

/// Reads a notebook.
pub(crate) fn parse(bytes: &[u8], limits: &Limits<'_>) -> Result<ParsedDocument, DocumentError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let notebook: Notebook =
        serde_json::from_slice(bytes).map_err(|error| DocumentError::damaged(KIND, error.to_string()))?;
    let Notebook { cells, worksheets, metadata } = notebook;
    let Metadata { kernelspec, language_info, title } = metadata;
    let language = language_info
        .and_then(|info| info.name)
        .or_else(|| kernelspec.and_then(|spec| spec.language.or(spec.name)));
    let language = language.unwrap_or_else(|| "python".to_owned()).to_ascii_lowercase();
    let mut writer =
        Writer { flow: HtmlFlow::new(limits.max_output_bytes), remaining_images: MAX_IMAGE_BYTES, language };
    for cell in cells.iter().chain(worksheets.iter().flat_map(|sheet| &sheet.cells)) {
        if writer.flow.is_full() || (limits.stop)() {
            break;
        }
        writer.cell(cell);
    }
    let (html, is_full) = writer.flow.finish();
    let mut warnings = Vec::new();
    if is_full {
        warnings.push("the notebook was cut off at the maximum output size".to_owned());
    }
    let title = title.and_then(|title| title.as_str().map(str::to_owned));
    let metadata = DocumentMetadata { title, ..DocumentMetadata::default() };
    Ok(ParsedDocument { html, metadata, warnings, ..ParsedDocument::default() })
}

struct Writer {
    flow: HtmlFlow,
    remaining_images: usize,
    language: String,
}

impl Writer {
    fn cell(&mut self, cell: &Cell) {
        let Cell { cell_type, source, input, level, outputs } = cell;
        match cell_type.as_str() {
            "markdown" => self.flow.block(&markdown(&source.0)),
            "heading" => {
                let level = level.unwrap_or(1).clamp(1, 6);
                self.flow.block(&format!("<h{level}>{}</h{level}>\n", escape(source.0.trim())));
            }
            "code" => {
                let code = if source.0.is_empty() { &input.0 } else { &source.0 };
                // A magic of the whole cell names its language.
                let magic = code.strip_prefix("%%").and_then(|rest| rest.split_whitespace().next());
                let language = match magic {
                    Some(
                        name @ ("bash" | "sh" | "html" | "javascript" | "js" | "latex" | "markdown" | "perl"
                        | "ruby" | "sql" | "r" | "R"),
                    ) => name,
                    _ => &self.language,
                };
                self.flow.code(code, language);
                outputs.iter().for_each(|output| self.output(output));
            }
            _ => self.flow.code(&source.0, ""),
        }
    }

    /// Writes an output in its best form: a table, Markdown, an image, or text.
    fn output(&mut self, output: &Output) {
        let Output { output_type, text, data, traceback } = output;
        if matches!(output_type.as_str(), "error" | "pyerr") {
            return self.text(&traceback.0);
        }
        if !text.0.is_empty() {
            return self.text(&text.0);
        }
        if data.html.0.contains("<table") {
            return self.flow.block(&table(&data.html.0));
        }
        let image = [("image/png", &data.png.0), ("image/jpeg", &data.jpeg.0)]
            .into_iter()
            .find(|(_, data)| !data.is_empty());
        if let Some((kind, base64)) = image {
            return self.image(kind, base64, &data.plain.0);
        }
        if !data.markdown.0.is_empty() {
            self.flow.block(&markdown(&data.markdown.0));
        } else if !data.latex.0.is_empty() && data.plain.0.is_empty() {
            self.flow.block(&markdown(&data.latex.0));
        } else {
            self.text(&data.plain.0);
        }
    }

    fn image(&mut self, kind: &str, base64: &str, alternative: &str) {
        let data: String = base64
            .chars()
            .filter(|sign| sign.is_ascii_alphanumeric() || matches!(sign, '+' | '/' | '='))
            .collect();
        let alternative = alternative.lines().next().unwrap_or_default();
        match self.remaining_images.checked_sub(data.len()) {
            Some(remaining) => {
                self.remaining_images = remaining;
                let alternative = escape(alternative.trim_matches(['<', '>']));
                self.flow.block(&format!(
                    "<p><img src=\"data:{kind};base64,{data}\" alt=\"{alternative}\"></p>\n"
                ));
            }
            None => self.text(alternative),
        }
    }

    fn text(&mut self, text: &str) {
        let text = without_escapes(text);
        self.flow.code(&text[..text.floor_char_boundary(MAX_OUTPUT_BYTES)], "");
    }
}

/// Returns Markdown as HTML. HTML in it is kept, as notebooks show it.
fn markdown(text: &str) -> String {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_MATH;
    let events = Parser::new_ext(text, options).map(|event| match event {
        Event::InlineMath(latex) => Event::InlineHtml(formula(&latex, false).into()),
        Event::DisplayMath(latex) => Event::InlineHtml(formula(&latex, true).into()),
        other => other,
    });
    let mut markup = String::with_capacity(text.len() + text.len() / 4);
    html::push_html(&mut markup, events);
    without_marks(&markup)
}

/// Returns the tables of an output in HTML, without the styles and scripts around them.
fn table(html: &str) -> String {
    let start = html.find("<table").unwrap_or(0);
    let end = html.rfind("</table>").map_or(html.len(), |end| end + "</table>".len());
    without_marks(html.get(start..end).unwrap_or_default()) + "\n"
}

/// Removes the escape sequences of terminals, such as colors, and what a carriage return overwrites.
fn without_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\u{1b}' => {
                if characters.next_if_eq(&'[').is_some() {
                    while characters.next().is_some_and(|sign| !('@'..='~').contains(&sign)) {}
                }
            }
            '\r' if characters.peek() == Some(&'\n') => {}
            '\r' => {
                let line = plain.rfind('\n').map_or(0, |end| end + 1);
                plain.truncate(line);
            }
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_are_removed() {
        assert_eq!(without_escapes("\u{1b}[0;31mred\u{1b}[0m\r\n10%\r100%\n"), "red\n100%\n");
    }

    #[test]
    fn notebooks_are_distinguished_from_other_json() {
        assert!(is_notebook(b" {\"cells\": [], \"nbformat\": 4}"));
        assert!(!is_notebook(b"{\"cells\": []}"));
        assert!(!is_notebook(b"[\"nbformat\", \"cells\"]"));
    }
}
