//! The markdown means the same as the page: rendered by another parser, its text is the text of the page.

use crate::corpus::data;
use crate::page::{full, parse};
use crate::scoring::{self, word_scores};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::collections::HashSet;
use websvc_extract::{Content, ContentOptions, Document, Source};

/// Maximum distance of two texts that count as the same.
const MAX_DISTANCE: f64 = 0.02;

/// Parses markdown with the reference parser. Returns its text, with a space between blocks and without the alternative
/// texts of images, and the raw HTML in it.
fn render(markdown: &str) -> (String, Vec<String>) {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_FOOTNOTES;
    let (mut text, mut html, mut images) = (String::new(), Vec::new(), 0);
    for event in Parser::new_ext(markdown, options) {
        match event {
            Event::Start(Tag::Image { .. }) => images += 1,
            Event::End(TagEnd::Image) => images -= 1,
            Event::Text(part) | Event::Code(part) if images == 0 => text.push_str(&part),
            Event::Html(part) | Event::InlineHtml(part) => {
                if part.starts_with("<br") {
                    text.push(' ');
                }
                html.push(part.trim().to_owned());
            }
            Event::Start(Tag::Link { .. } | Tag::Emphasis | Tag::Strong | Tag::Strikethrough)
            | Event::End(TagEnd::Link | TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough)
            | Event::Text(_)
            | Event::Code(_) => {}
            _ => text.push(' '),
        }
    }
    (text, html)
}

/// Returns the distance between the text of the rendered markdown and the text of the content: 0 for the same words.
fn distance(content: &Content<'_>) -> f64 {
    let (rendered, html) = render(&content.markdown());
    let allowed_tags = ["<br>", "<sub>", "</sub>", "<sup>", "</sup>", "<Base64-Image-Removed>"];
    if !html.iter().all(|tag| allowed_tags.contains(&tag.as_str())) {
        // Markup of the page was not escaped.
        return 1.0;
    }
    // Formulas are LaTeX in the markdown. In the text they are what the page shows: the letters of MathML, or an image.
    let text = content.text();
    // The title of the page is left out of a text that does not have it, because the index has it.
    let title = content.headings().into_iter().find(|title| !text.contains(title.as_str()));
    let with_title = title.map(|title| format!("{text}{title}"));
    let distance = |rendered: &str| {
        let to = |text: &str| 1.0 - word_scores(rendered, text)[2];
        with_title.iter().map(|text| to(text)).fold(to(&text), f64::min)
    };
    let without_repeated = || distance(&render(&without_repeated_cells(&content.markdown())).0);
    let nearest = distance(&rendered).min(distance(&without_formulas(&rendered)));
    if nearest < MAX_DISTANCE { nearest } else { nearest.min(without_repeated()) }
}

/// Returns markdown without cells that repeat the cell above: a cell over several rows is written in each of them, but
/// in plain text once.
fn without_repeated_cells(markdown: &str) -> String {
    let mut above: Vec<&str> = Vec::new();
    let mut lines = Vec::new();
    for line in markdown.lines() {
        if !line.starts_with("| ") {
            above.clear();
            lines.push(line.to_owned());
            continue;
        }
        let cells: Vec<&str> = line.split(" | ").collect();
        let cells_once =
            (0..).zip(&cells).map(|(at, cell)| if above.get(at) == Some(cell) { "" } else { cell });
        lines.push(cells_once.collect::<Vec<_>>().join(" | "));
        if !line.starts_with("| ---") {
            above = cells;
        }
    }
    lines.join("\n")
}

fn without_formulas(text: &str) -> String {
    text.split('$').enumerate().filter(|(index, _)| index % 2 == 0).map(|(_, part)| part).collect()
}

#[test]
fn rendered_fixtures_have_the_text_of_the_page() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        // The markdown of these differs from plain text: formulas are LaTeX, images, footnotes and videos are markup,
        // code has no line numbers, callouts have their kind, ruby readings are in brackets, and a cell over several
        // rows or columns of the header is repeated. Two pieces of code need a space between them. Plain text is
        // written without the style sheets.
        let exceptions = [
            "math",
            "formulas",
            "images",
            "footnotes",
            "code",
            "tables",
            "header_rows",
            "line_starts",
            "displays",
            "callouts",
            "embeds",
            "ruby",
        ];
        if !name.ends_with(".html") || exceptions.iter().any(|topic| name.starts_with(topic)) {
            continue;
        }
        let page = parse(&std::fs::read_to_string(&path).unwrap());
        let distance = distance(&page.content(&full()));
        assert!(distance < MAX_DISTANCE, "{name}: {distance:.3}");
        count += 1;
    }
    assert!(count >= 3, "only {count} fixtures were rendered");
}

#[test]
fn rendered_development_pages_have_the_text_of_the_page() {
    let Some(folder) = data("rendered_development_pages") else { return };
    let mut far = Vec::new();
    let mut count = 0;
    for set in ["readability", "wcxb-test", "aeb"] {
        for page in scoring::read_set(&folder.join(set)).unwrap() {
            let source = Source { bytes: &page.html, content_type: Some("text/html"), url: &page.url };
            let document = Document::parse(source).unwrap();
            let distance = distance(&document.content(&ContentOptions::default()));
            count += 1;
            if distance > MAX_DISTANCE {
                far.push(format!("{set}/{}: {distance:.3}", page.id));
            }
        }
    }
    // The labels of videos are not in the text, and a title may repeat a part of it.
    assert!(far.len() * 100 <= count, "{} of {count} pages differ: {far:#?}", far.len());
}

/// The structure of markdown according to the reference parser.
#[derive(Default)]
struct Structure {
    /// Number of rows of each table, including the header.
    tables: Vec<usize>,
    /// Targets of links.
    links: HashSet<String>,
    /// Texts of the code blocks, without white space and digits.
    code: Vec<String>,
}

impl Structure {
    fn from_markdown(markdown: &str) -> Structure {
        let mut structure = Structure::default();
        let mut in_code = false;
        for event in Parser::new_ext(markdown, Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES) {
            match event {
                Event::Start(Tag::Table(_)) => structure.tables.push(0),
                Event::End(TagEnd::TableHead | TagEnd::TableRow) => {
                    *structure.tables.last_mut().unwrap() += 1;
                }
                Event::Start(Tag::Link { dest_url, .. }) => drop(structure.links.insert(target(&dest_url))),
                Event::Start(Tag::CodeBlock(_)) => {
                    in_code = true;
                    structure.code.push(String::new());
                }
                Event::End(TagEnd::CodeBlock) => in_code = false,
                Event::Text(text) if in_code => structure.code.last_mut().unwrap().push_str(&text),
                _ => {}
            }
        }
        structure.code.iter_mut().for_each(|code| *code = unnumbered(code));
        structure
    }
}

/// Returns a text without white space and digits: in plain text line numbers are between the lines of code.
fn unnumbered(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && !c.is_ascii_digit()).collect()
}

/// Returns a link target without its fragment, and with one spelling of the characters that markdown escapes.
fn target(url: &str) -> String {
    let url = url.split('#').next().unwrap_or_default();
    let spellings =
        [("%28", "("), ("%29", ")"), ("%7C", "|"), ("%5C", "\\"), ("%3C", "<"), ("%3E", ">"), ("%20", " ")];
    spellings.iter().fold(url.to_owned(), |url, (escaped, character)| url.replace(escaped, character))
}

/// Returns the widths of the rows of each table in the source, before a parser makes them equal.
fn table_row_widths(markdown: &str) -> Vec<Vec<usize>> {
    let mut tables: Vec<Vec<usize>> = Vec::new();
    let (mut previous, mut fence) = (None, None);
    for line in markdown.lines() {
        let line = line.trim_start_matches([' ', '>']);
        let item = line.trim_start_matches("- ");
        let row = item.starts_with("| ") && item.ends_with(" |");
        let ticks = item.len() - item.trim_start_matches('`').len();
        match fence {
            Some(open) if ticks >= open && item.trim_matches('`').is_empty() => fence = None,
            Some(_) => continue,
            None if ticks >= 3 => fence = Some(ticks),
            None => {}
        }
        let width = item.replace("\\|", "").matches('|').count();
        if row && item.chars().all(|c| matches!(c, '|' | '-' | ' ')) && item.contains("---") {
            tables.push(vec![previous.unwrap_or(0), width]);
        } else if let (true, Some(table)) = (row && previous.is_some(), tables.last_mut()) {
            table.push(width);
        }
        previous = row.then_some(width);
    }
    tables
}

#[test]
fn markdown_of_development_pages_has_their_tables_links_and_code() {
    let Some(folder) = data("markdown_of_development_pages") else { return };
    let mut wrong = Vec::new();
    let (mut links, mut lost, mut code, mut changed) = (0, 0, 0, 0);
    for set in ["readability", "defuddle", "wcxb-test", "aeb"] {
        for page in scoring::read_set(&folder.join(set)).unwrap() {
            let source = Source { bytes: &page.html, content_type: Some("text/html"), url: &page.url };
            let document = Document::parse(source).unwrap();
            let content = document.content(&ContentOptions::default());
            let markdown = content.markdown();
            let structure = Structure::from_markdown(&markdown);
            let tables = table_row_widths(&markdown);
            let uneven = tables.iter().any(|rows| rows.iter().any(|width| *width != rows[0]));
            // The parser must find as many rows as were written, except for the delimiter row.
            let is_parsed = tables.iter().map(|rows| rows.len() - 1).eq(structure.tables.iter().copied());
            if uneven || !is_parsed {
                wrong.push(format!("{set}/{}: tables {tables:?} parsed as {:?}", page.id, structure.tables));
            }
            let page_url = target(document.base_url().as_str());
            // The title of a card has the link that covers the card, which has no content itself.
            let covered = document.anchors().into_iter().filter(|anchor| anchor.text.is_empty());
            let covered = covered.map(|anchor| target(anchor.url.as_str()));
            let known: HashSet<String> =
                content.links().iter().map(|url| target(url)).chain([page_url]).chain(covered).collect();
            let embedded = |url: &&String| !known.contains(*url) && !is_player(url);
            if let Some(url) = structure.links.iter().find(embedded) {
                wrong.push(format!("{set}/{}: links to {url}, which the page does not", page.id));
            }
            for anchor in content.anchors().iter().filter(|anchor| anchor.text.len() > 2) {
                links += 1;
                lost += u32::from(!structure.links.contains(&target(anchor.url.as_str())));
            }
            let text = unnumbered(&content.text());
            let missing = structure.code.iter().filter(|code| !text.contains(code.as_str())).count();
            code += structure.code.len();
            changed += missing;
            if missing > 1 {
                wrong.push(format!(
                    "{set}/{}: {missing} of {} blocks of code",
                    page.id,
                    structure.code.len()
                ));
            }
        }
    }
    println!("{links} links, {lost} lost; {code} blocks of code, {changed} changed");
    // Buttons in the middle of code are still text of the page.
    assert!(changed * 100 < code, "{changed} of {code} blocks of code are not those of the page");
    assert!(lost * 100 < links, "{lost} of {links} links are not in the markdown");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn is_player(url: &str) -> bool {
    ["youtube", "vimeo", "dailymotion", "bilibili", ".mp4", ".mp3", ".webm"]
        .iter()
        .any(|name| url.contains(name))
}
