//! The structure of HTML as written by this crate or by a CommonMark parser: headings, items, rows, code, links, images.

#![allow(dead_code, reason = "the tests and the example `score` use different parts")]

use pulldown_cmark::{Options, Parser};

/// The parts of a document that its markup marks, in document order. Texts are lower-case words.
#[derive(Debug, Default, Clone)]
pub(crate) struct Structure {
    /// Level and text.
    pub(crate) headings: Vec<(usize, String)>,
    /// Depth of nesting, and the text without nested lists.
    pub(crate) items: Vec<(usize, String)>,
    pub(crate) rows: Vec<Row>,
    /// Lines of code blocks without white space.
    pub(crate) code: Vec<String>,
    /// Text and target without fragment.
    pub(crate) links: Vec<(String, String)>,
    pub(crate) images: Vec<Image>,
    /// The texts of all blocks, with the numbers of images before them.
    pub(crate) blocks: Vec<String>,
}

/// A table row.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    /// The number of the table.
    pub(crate) table: usize,
    /// The texts of the cells, empty ones included.
    pub(crate) cells: Vec<String>,
}

/// An image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Image {
    pub(crate) source: String,
    /// Number of blocks before it.
    pub(crate) block: usize,
}

/// The extensions of CommonMark that the markdown of this crate uses.
pub(crate) fn options() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_GFM
}

/// Converts markdown to HTML with an independent parser.
pub(crate) fn to_html(markdown: &str) -> String {
    let mut html = String::new();
    pulldown_cmark::html::push_html(&mut html, Parser::new_ext(markdown, options()));
    html
}

/// Returns the lower-case words of a text.
pub(crate) fn key(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

impl Structure {
    pub(crate) fn of_markdown(markdown: &str) -> Structure {
        Structure::of_html(&to_html(markdown))
    }

    /// Reads HTML in which each element is closed.
    pub(crate) fn of_html(html: &str) -> Structure {
        let mut reader = Reader::default();
        let mut rest = html;
        while let Some(start) = rest.find('<') {
            reader.text(&decoded(&rest[..start]));
            rest = &rest[start + 1..];
            let Some(end) = end_of_tag(rest) else { break };
            let tag = &rest[..end];
            rest = &rest[end + 1..];
            match tag.strip_prefix('/') {
                Some(name) => reader.close(name.trim()),
                None => {
                    let end = tag.find(|c: char| c.is_whitespace() || c == '/').unwrap_or(tag.len());
                    reader.open(&tag[..end].to_ascii_lowercase(), &tag[end..]);
                }
            }
        }
        reader.text(&decoded(rest));
        reader.end_block();
        let mut structure = reader.structure;
        structure.headings.retain(|(_, text)| !text.is_empty());
        structure.items.retain(|(_, text)| !text.is_empty());
        structure.rows.retain(|row| row.cells.iter().any(|cell| !cell.is_empty()));
        structure.links.retain(|(text, _)| !text.is_empty());
        structure
    }
}

/// Returns the position of the `>` that ends a tag.
fn end_of_tag(rest: &str) -> Option<usize> {
    let mut quote = None;
    rest.bytes().position(|byte| match quote {
        Some(open) => {
            if byte == open {
                quote = None;
            }
            false
        }
        None if byte == b'"' => {
            quote = Some(byte);
            false
        }
        None => byte == b'>',
    })
}

fn decoded(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    let named = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&nbsp;", " ");
    named.replace("&#x27;", "'").replace("&#39;", "'").replace("&amp;", "&")
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let start = tag.find(&format!(" {name}=\""))? + name.len() + 3;
    let value = &tag[start..];
    Some(decoded(&value[..value.find('"')?]))
}

/// The element whose text is being read.
#[derive(Debug)]
struct Open {
    name: String,
    text: String,
    /// The target of a link.
    target: String,
    /// The place of an item or a row in its list.
    index: usize,
}

#[derive(Debug, Default)]
struct Reader {
    structure: Structure,
    open: Vec<Open>,
    block: String,
    tables: usize,
    /// Depth of `<pre>`.
    code: usize,
}

impl Reader {
    fn text(&mut self, text: &str) {
        self.block.push_str(text);
        // An item has the text up to its inner items, a row that of its cells.
        let mut taken = Vec::new();
        for open in self.open.iter_mut().rev() {
            let kind = if matches!(open.name.as_str(), "td" | "th") { "td" } else { open.name.as_str() };
            if matches!(kind, "li" | "td") && taken.iter().any(|taken| taken == kind) {
                continue;
            }
            open.text.push_str(text);
            taken.push(kind.to_owned());
        }
    }

    fn space(&mut self) {
        self.block.push(' ');
        for open in &mut self.open {
            open.text.push(if open.name == "pre" { '\n' } else { ' ' });
        }
    }

    fn end_block(&mut self) {
        let block = key(&std::mem::take(&mut self.block));
        if !block.is_empty() {
            self.structure.blocks.push(block);
        }
        for open in self.open.iter_mut().filter(|open| open.name != "pre" || !open.text.ends_with('\n')) {
            open.text.push(if open.name == "pre" { '\n' } else { ' ' });
        }
    }

    fn open(&mut self, name: &str, tag: &str) {
        if is_block(name) {
            self.end_block();
        }
        let index = match name {
            "br" | "hr" => return self.space(),
            "img" => {
                let source = attribute(tag, "src").unwrap_or_default();
                let block = self.structure.blocks.len();
                return self.structure.images.push(Image { source, block });
            }
            "li" => {
                let depth = self.open.iter().filter(|open| matches!(open.name.as_str(), "ul" | "ol")).count();
                self.structure.items.push((depth, String::new()));
                self.structure.items.len() - 1
            }
            "tr" => {
                self.structure.rows.push(Row { table: self.tables, cells: Vec::new() });
                self.structure.rows.len() - 1
            }
            "table" => {
                self.tables += 1;
                0
            }
            "pre" => {
                self.code += 1;
                0
            }
            "area" | "base" | "col" | "embed" | "frame" | "input" | "link" | "meta" | "param" | "source"
            | "track" | "wbr" => return,
            _ => 0,
        };
        let target = attribute(tag, "href").unwrap_or_default();
        self.open.push(Open { name: name.to_owned(), text: String::new(), target, index });
    }

    fn close(&mut self, name: &str) {
        let name = name.to_ascii_lowercase();
        if is_block(&name) {
            self.end_block();
        }
        let Some(at) = self.open.iter().rposition(|open| open.name == name) else { return };
        let open = self.open.remove(at);
        let structure = &mut self.structure;
        match name.as_str() {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                let level = usize::from(name.as_bytes()[1] - b'0');
                structure.headings.push((level, key(&open.text)));
            }
            "li" => structure.items[open.index].1 = key(&open.text),
            "td" | "th" => {
                let row = self.open.iter().rev().find(|open| open.name == "tr");
                if let Some(row) = row.and_then(|row| structure.rows.get_mut(row.index)) {
                    row.cells.push(key(&open.text));
                }
            }
            "pre" => {
                self.code -= 1;
                let lines = open.text.lines().map(|line| line.split_whitespace().collect::<String>());
                structure.code.extend(lines.filter(|line| !line.is_empty()));
            }
            "a" if !open.target.is_empty() => {
                let target = open.target.split('#').next().unwrap_or_default();
                structure.links.push((key(&open.text), target.trim_end_matches('/').to_owned()));
            }
            _ => {}
        }
    }
}

fn is_block(name: &str) -> bool {
    matches!(
        name,
        "address"
            | "article"
            | "aside"
            | "blockquote"
            | "body"
            | "caption"
            | "center"
            | "dd"
            | "details"
            | "div"
            | "dl"
            | "dt"
            | "fieldset"
            | "figcaption"
            | "figure"
            | "footer"
            | "form"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "header"
            | "hr"
            | "html"
            | "legend"
            | "li"
            | "main"
            | "nav"
            | "ol"
            | "p"
            | "pre"
            | "section"
            | "summary"
            | "table"
            | "tbody"
            | "td"
            | "tfoot"
            | "th"
            | "thead"
            | "tr"
            | "ul"
    )
}
