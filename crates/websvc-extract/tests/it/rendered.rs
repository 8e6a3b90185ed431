//! The markdown means what the page says: read by another parser, its text is the text of the page.

use crate::corpus::data;
use crate::page::{full, parse};
use crate::scoring::{self, word_scores};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::collections::HashSet;
use websvc_extract::{Content, ContentOptions, Document, Source};

/// Two texts that are no farther apart say the same.
const CLOSE: f64 = 0.02;

/// Reads markdown with the reference parser and returns its text, a space between blocks, without the alternative texts
/// of images, and the raw HTML in it.
fn read(markdown: &str) -> (String, Vec<String>) {
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

/// Returns how far the text that the markdown means is from the text of the content: 0 for the same words.
fn distance(content: &Content<'_>) -> f64 {
    let (meant, html) = read(&content.markdown());
    let ours = ["<br>", "<sub>", "</sub>", "<sup>", "</sup>", "<Base64-Image-Removed>"];
    if !html.iter().all(|tag| ours.contains(&tag.as_str())) {
        // The page's own markup shows through.
        return 1.0;
    }
    // Formulas are LaTeX in the markdown and whatever the page shows in the text: the letters of MathML, or an image.
    let text = content.text();
    let apart = |meant: &str| 1.0 - word_scores(meant, &text)[2];
    let apart_once = || apart(&read(&without_repeated_cells(&content.markdown())).0);
    let nearest = apart(&meant).min(apart(&without_formulas(&meant)));
    if nearest < CLOSE { nearest } else { nearest.min(apart_once()) }
}

/// Returns markdown without the cells that say the same as the cell above: one over several rows stands in each of them,
/// and in plain text once.
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
        let once = (0..).zip(&cells).map(|(at, cell)| if above.get(at) == Some(cell) { "" } else { cell });
        lines.push(once.collect::<Vec<_>>().join(" | "));
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
fn fixtures_read_back_as_the_text_of_the_page() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures");
    let mut read = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        // Formulas are written as LaTeX, images, footnotes and videos by signs that plain text does not have, code without
        // its line numbers, callouts by their kind, readings in brackets, and a cell over several rows in each of them.
        let otherwise =
            ["math", "formulas", "images", "footnotes", "code", "tables", "callouts", "embeds", "ruby"];
        if !name.ends_with(".html") || otherwise.iter().any(|topic| name.starts_with(topic)) {
            continue;
        }
        let page = parse(&std::fs::read_to_string(&path).unwrap());
        let apart = distance(&page.content(&full()));
        assert!(apart < CLOSE, "{name}: {apart:.3}");
        read += 1;
    }
    assert!(read >= 3, "only {read} fixtures were read");
}

#[test]
fn development_pages_read_back_as_the_text_of_the_page() {
    let Some(folder) = data("development_pages_read_back") else { return };
    let mut far = Vec::new();
    let mut count = 0;
    for set in ["readability", "wcxb-test", "aeb"] {
        for page in scoring::read_set(&folder.join(set)).unwrap() {
            let source = Source { bytes: &page.html, content_type: Some("text/html"), url: &page.url };
            let document = Document::parse(source).unwrap();
            let apart = distance(&document.content(&ContentOptions::default()));
            count += 1;
            if apart > CLOSE {
                far.push(format!("{set}/{}: {apart:.3}", page.id));
            }
        }
    }
    assert!(far.is_empty(), "{} of {count} pages differ: {far:#?}", far.len());
}

/// Structure of a text as the reference parser sees it.
#[derive(Default)]
struct Structure {
    /// The number of rows of each table, its head among them.
    tables: Vec<usize>,
    /// The targets of links.
    links: HashSet<String>,
    /// The text of each block of code, without white space and digits.
    code: Vec<String>,
}

impl Structure {
    fn of(markdown: &str) -> Structure {
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

/// Returns a text without white space and digits: line numbers stand between the lines of code in plain text.
fn unnumbered(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && !c.is_ascii_digit()).collect()
}

/// Returns a target without its fragment, in one spelling of what may stand in the brackets of a link or must not.
fn target(url: &str) -> String {
    let url = url.split('#').next().unwrap_or_default();
    let spellings =
        [("%28", "("), ("%29", ")"), ("%7C", "|"), ("%5C", "\\"), ("%3C", "<"), ("%3E", ">"), ("%20", " ")];
    spellings.iter().fold(url.to_owned(), |url, (written, meant)| url.replace(written, meant))
}

/// Returns the widths of the rows of each table as they are written, before a parser makes them equal.
fn written_tables(markdown: &str) -> Vec<Vec<usize>> {
    let mut tables: Vec<Vec<usize>> = Vec::new();
    let (mut before, mut fence) = (None, None);
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
            tables.push(vec![before.unwrap_or(0), width]);
        } else if let (true, Some(table)) = (row && before.is_some(), tables.last_mut()) {
            table.push(width);
        }
        before = row.then_some(width);
    }
    tables
}

#[test]
fn tables_links_and_code_of_development_pages_are_those_of_the_page() {
    let Some(folder) = data("tables_links_and_code_of_development_pages") else { return };
    let mut wrong = Vec::new();
    let (mut links, mut lost, mut code, mut changed) = (0, 0, 0, 0);
    for set in ["readability", "defuddle", "wcxb-test", "aeb"] {
        for page in scoring::read_set(&folder.join(set)).unwrap() {
            let source = Source { bytes: &page.html, content_type: Some("text/html"), url: &page.url };
            let document = Document::parse(source).unwrap();
            let content = document.content(&ContentOptions::default());
            let markdown = content.markdown();
            let structure = Structure::of(&markdown);
            let tables = written_tables(&markdown);
            let uneven = tables.iter().any(|rows| rows.iter().any(|width| *width != rows[0]));
            // A table is as many rows for the parser as were written, the line below the head aside.
            let read = tables.iter().map(|rows| rows.len() - 1).eq(structure.tables.iter().copied());
            if uneven || !read {
                wrong.push(format!("{set}/{}: tables {tables:?} read as {:?}", page.id, structure.tables));
            }
            let own = target(document.base_url().as_str());
            let known: HashSet<String> = content.links().iter().map(|url| target(url)).chain([own]).collect();
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
    // Buttons in the middle of code are text of the page all the same.
    assert!(changed * 100 < code, "{changed} of {code} blocks of code are not those of the page");
    assert!(lost * 100 < links, "{lost} of {links} links are not in the markdown");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn is_player(url: &str) -> bool {
    ["youtube", "vimeo", "dailymotion", "bilibili", ".mp4", ".mp3", ".webm"]
        .iter()
        .any(|name| url.contains(name))
}
