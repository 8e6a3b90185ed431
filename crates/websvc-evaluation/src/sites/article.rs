//! Pages as data, and their HTML in several styles of markup.

use std::fmt::Write as _;

use serde::Deserialize;
use websvc_testkit::Page;

use super::filler::Filler;
use super::pdf::pdf;

/// A style of markup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Style {
    /// `header`, `nav`, `main`, `article`.
    Semantic,
    /// `div` elements with classes only.
    Divs,
    /// A table that places the columns of the page, as in old sites.
    Tables,
    /// No frame around the content.
    Bare,
    /// An empty page that a script fills.
    Shell,
    /// A PDF of text.
    Pdf,
    /// JSON that a script fetches.
    Data,
}

/// A part of a page.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Block {
    /// Paragraphs of filler text.
    Filler(usize),
    Heading(String),
    Paragraph(String),
    /// Rows of cells that `|` separates; the first row is the header.
    Table(Vec<String>),
    Items(Vec<String>),
    /// Texts and URLs.
    Links(Vec<(String, String)>),
    /// Terms and their descriptions.
    Terms(Vec<(String, String)>),
    Html(String),
}

/// A page.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Article {
    pub(super) url: String,
    title: String,
    style: Style,
    /// The language tag.
    #[serde(default = "english")]
    language: String,
    blocks: Vec<Block>,
}

fn english() -> String {
    "en".to_owned()
}

impl Article {
    /// Returns the response that serves the page.
    pub(super) fn page(&self) -> Page {
        let media_type = match self.style {
            Style::Pdf => "application/pdf",
            Style::Data => "application/json",
            Style::Semantic | Style::Divs | Style::Tables | Style::Bare | Style::Shell => {
                "text/html; charset=utf-8"
            }
        };
        Page::new(media_type, self.bytes())
    }

    /// Returns the body of the response.
    pub(super) fn bytes(&self) -> Vec<u8> {
        if self.is_pdf() { pdf(&self.title, &self.lines()) } else { self.document().into_bytes() }
    }

    /// Returns the text of the page, with its markup.
    #[cfg(test)]
    pub(super) fn source(&self) -> String {
        if self.is_pdf() { self.lines().join("\n") } else { self.document() }
    }

    /// Returns true if a script writes the content, or fetches it.
    #[cfg(test)]
    pub(super) fn is_shell(&self) -> bool {
        matches!(self.style, Style::Shell | Style::Data)
    }

    pub(super) fn is_pdf(&self) -> bool {
        self.style == Style::Pdf
    }

    fn body(&self) -> String {
        let mut filler = Filler::new(&self.language, &self.url);
        let mut body = String::new();
        for block in &self.blocks {
            write_block(&mut body, block, &mut filler);
        }
        body
    }

    fn document(&self) -> String {
        let (title, tag) = (&self.title, &self.language);
        let host = self.url.split('/').nth(2).unwrap_or_default();
        let head = format!(
            "<!doctype html><html lang={tag}><head><meta charset=utf-8><title>{title}</title></head>"
        );
        let body = self.body();
        let content = match self.style {
            Style::Data => return body.trim_end().to_owned(),
            Style::Semantic => format!(
                "<header><a href=/>{host}</a><nav><a href=/>Start</a> <a href=/contact>Contact</a></nav></header>\
                 <main><article><h1>{title}</h1>{body}</article></main><footer><p>© {host}</p></footer>"
            ),
            Style::Divs => format!(
                "<div class=topbar><a href=/>{host}</a></div><div class=wrap><div class=side><ul><li><a href=/news>News</a>\
                 <li><a href=/imprint>Imprint</a></ul></div><div class='content body-text'><h1>{title}</h1>{body}</div></div>\
                 <div class=bottom>Made with care by {host}</div>"
            ),
            Style::Tables => format!(
                "<table width=100% border=0><tr><td colspan=2><b>{host}</b></td></tr><tr><td width=150 valign=top>\
                 <a href=/>Home</a><br><a href=/guestbook>Guestbook</a></td><td valign=top><h1>{title}</h1>{body}</td></tr>\
                 </table>"
            ),
            Style::Bare | Style::Pdf => format!("<h1>{title}</h1>{body}"),
            Style::Shell => {
                // As JSON, so that a script writes the same markup; `<` is escaped as in the data of frameworks.
                let data = serde_json::json!(format!("<main><h1>{title}</h1>{body}</main>"));
                let data = data.to_string().replace('<', "\\u003c");
                format!(
                    "<div id=app></div><noscript>You need to enable JavaScript to run this app.</noscript>\
                     <script>document.getElementById('app').innerHTML = {data}</script>"
                )
            }
        };
        format!("{head}<body>{content}</body></html>")
    }

    /// Returns the lines of a PDF; a heading begins with `#`.
    fn lines(&self) -> Vec<String> {
        let mut filler = Filler::new(&self.language, &self.url);
        let mut lines = vec![format!("#{}", self.title)];
        for block in &self.blocks {
            match block {
                Block::Filler(paragraphs) => {
                    for _ in 0..*paragraphs {
                        lines.extend((0..4).map(|_| filler.sentence()));
                    }
                }
                Block::Heading(text) => lines.push(format!("#{text}")),
                Block::Paragraph(text) | Block::Html(text) => lines.push(text.clone()),
                Block::Table(rows) | Block::Items(rows) => {
                    lines.extend(rows.iter().map(|row| row.replace('|', "   ")));
                }
                Block::Links(pairs) | Block::Terms(pairs) => {
                    lines.extend(pairs.iter().map(|(first, second)| format!("{first}: {second}")));
                }
            }
        }
        lines
    }
}

fn write_block(body: &mut String, block: &Block, filler: &mut Filler) {
    // Writing to a string does not fail.
    let _ = match block {
        Block::Filler(paragraphs) => {
            (0..*paragraphs).try_for_each(|_| writeln!(body, "<p>{}</p>", filler.paragraph()))
        }
        Block::Heading(text) => writeln!(body, "<h2>{text}</h2>"),
        Block::Paragraph(text) => writeln!(body, "<p>{text}</p>"),
        Block::Table(rows) => {
            body.push_str("<table>");
            for (index, row) in rows.iter().enumerate() {
                let cell = if index == 0 { "th" } else { "td" };
                let cells: String = row.split('|').map(|text| format!("<{cell}>{text}</{cell}>")).collect();
                body.push_str(&format!("<tr>{cells}</tr>\n"));
            }
            writeln!(body, "</table>")
        }
        Block::Items(texts) => {
            let texts: String = texts.iter().map(|text| format!("<li>{text}</li>")).collect();
            writeln!(body, "<ul>{texts}</ul>")
        }
        Block::Links(pairs) => {
            let pairs: String =
                pairs.iter().map(|(text, url)| format!("<li><a href=\"{url}\">{text}</a></li>")).collect();
            writeln!(body, "<ul>{pairs}</ul>")
        }
        Block::Terms(pairs) => {
            let pairs: String =
                pairs.iter().map(|(term, text)| format!("<dt>{term}</dt><dd>{text}</dd>")).collect();
            writeln!(body, "<dl>{pairs}</dl>")
        }
        Block::Html(markup) => writeln!(body, "{markup}"),
    };
}
