//! Markdown survives a CommonMark parser: from the HTML that an independent parser makes of it, the same markdown is
//! written, and it has the words, headings and other parts of the page.

use crate::corpus;
use crate::page::{full, parse};
use crate::structure::{self, Structure};
use proptest::prelude::*;
use std::path::Path;
use websvc_extract::{ContentOptions, Document, Source};

/// Minimum share of development pages whose markdown is the same after it was parsed and written again. The others
/// have formulas, in which a parser without formulas removes backslashes, and addresses that are written differently.
const MIN_STABLE: f64 = 0.92;

fn reparsed(markdown: &str) -> String {
    parse(&structure::to_html(markdown)).content(&full()).markdown()
}

/// Removes what a parser may change: blank lines between items, the labels of notes, the indentation of code in a cell,
/// and the mark of removed images, which becomes an address.
fn normalized(markdown: &str) -> String {
    let mut out = String::new();
    for line in markdown.lines().filter(|line| !line.trim().is_empty() && line.trim() != ">") {
        let cells = line.starts_with('|').then(|| line.split_whitespace().collect::<Vec<_>>().join(" "));
        let line = cells.map_or_else(|| line.to_owned(), |cells| cells.replace("` ", "`"));
        let mut rest = line.as_str();
        while let Some((before, label)) = rest.split_once("[^") {
            out.push_str(before);
            out.push_str("[^1");
            rest = &label[label.find(']').unwrap_or(0)..];
        }
        out.push_str(rest);
        out.push('\n');
    }
    out.replace("(<Base64-Image-Removed>)", "(https://example.com/dir/Base64-Image-Removed)")
}

#[test]
fn fixtures_are_the_same_after_a_parser_read_them() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // In formulas a parser without formulas removes backslashes.
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.ends_with(".md") || name == "formulas.md" || name == "math.md" {
            continue;
        }
        let markdown = std::fs::read_to_string(&path).unwrap();
        assert_eq!(normalized(&reparsed(&markdown)), normalized(&markdown), "{name}");
        count += 1;
    }
    assert!(count > 10, "{count}");
}

#[test]
fn development_pages_survive_a_parser() {
    let Some(folder) = corpus::data("development_pages_survive_a_parser") else { return };
    for set in ["wcxb-test", "wcxb-dev", "aeb", "readability", "defuddle"] {
        let (mut pages, mut stable) = (0.0, 0.0);
        let mut lost = [[0_usize; 2]; 3];
        for page in crate::scoring::read_set(&folder.join(set)).unwrap() {
            let source = Source { bytes: &page.html, content_type: Some("text/html"), url: &page.url };
            let document = Document::parse(source).unwrap();
            let content = document.content(&ContentOptions::default());
            let markdown = content.markdown();
            pages += 1.0;
            stable += f64::from(u8::from(normalized(&reparsed(&markdown)) == normalized(&markdown)));
            let (html, found) = (Structure::of_html(&content.html()), Structure::of_markdown(&markdown));
            let words = |structure: &Structure| -> Vec<String> {
                structure.blocks.iter().flat_map(|block| block.split(' ')).map(str::to_owned).collect()
            };
            let headings = |structure: &Structure| -> Vec<String> {
                structure.headings.iter().map(|(_, text)| text.clone()).collect()
            };
            for (sum, count) in lost.iter_mut().zip([
                missing(words(&html), words(&found)),
                missing(headings(&html), headings(&found)),
                missing(html.code, found.code),
            ]) {
                *sum = [sum[0] + count[0], sum[1] + count[1]];
            }
        }
        println!(
            "{set}: {stable} of {pages} pages are stable; missing words, headings, code lines: {lost:?}"
        );
        assert!(stable / pages >= MIN_STABLE, "{set}: {stable} of {pages}");
        // Labels of notes, of callouts and of line numbers are not written.
        assert!(lost[0][0] * 100 <= lost[0][1], "{set}: words {:?}", lost[0]);
        assert!(lost[1][0] * 50 <= lost[1][1], "{set}: headings {:?}", lost[1]);
    }
}

/// Returns the number of elements that are missing in `found`, and the number of all.
fn missing(all: Vec<String>, found: Vec<String>) -> [usize; 2] {
    let mut counts = std::collections::HashMap::new();
    found.into_iter().for_each(|element| *counts.entry(element).or_insert(0_usize) += 1);
    let total = all.len();
    let mut missing = 0;
    for element in all {
        match counts.get_mut(&element) {
            Some(count) if *count > 0 => *count -= 1,
            _ => missing += 1,
        }
    }
    [missing, total]
}

/// Returns the text of HTML with single spaces.
fn text_of(html: &str) -> String {
    let text = parse(html).content(&full()).text();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_the_same_after_a_parser_read_it(
        lines in proptest::collection::vec("[-a-c1*_~=#+>|`<&;!.):(\\[\\]^x\\\\ ]{1,10}", 1..4),
        form in 0..8_usize,
    ) {
        let text = lines.iter().map(|line| escaped(line)).collect::<Vec<_>>();
        let html = match form {
            0 => format!("<p>{}</p>", text.join("<br>")),
            1 => format!("<ul><li>{}</li></ul>", text.join("</li><li>")),
            2 => format!("<h2>{}</h2>", text.join(" ")),
            3 => format!("<table><tr><th>{}</th><th>x</th></tr><tr><td>y</td><td>z</td></tr></table>", text.join("<br>")),
            4 => format!("<p>a {} b</p>", text.iter().map(|t| format!("<a href='/x'>q{t}q</a>")).collect::<String>()),
            5 => format!("<blockquote><p>{}</p></blockquote>", text.join("<br>")),
            6 => format!("<p>a <b>w{}w</b> c</p>", text.join("</b> <i>")),
            _ => format!("<p>{}</p>", text.iter().map(|t| format!("<code>{t}</code> ")).collect::<String>()),
        };
        let markdown = parse(&html).content(&full()).markdown();
        let parsed = structure::to_html(&markdown);
        prop_assert_eq!(text_of(&parsed), text_of(&html), "{} -> {:?} -> {}", html, markdown, parsed);
    }

    #[test]
    fn lists_keep_their_nesting(shape in proptest::collection::vec((0..4_usize, any::<bool>()), 1..12)) {
        let mut html = String::new();
        let mut open: Vec<&str> = Vec::new();
        for (number, (depth, is_ordered)) in shape.iter().enumerate() {
            while open.len() > depth + 1 {
                html.push_str(&format!("</{}>", open.pop().unwrap()));
            }
            while open.len() < depth + 1 {
                let name = if *is_ordered { "ol" } else { "ul" };
                html.push_str(&format!("<{name}>"));
                open.push(name);
                if open.len() < depth + 1 {
                    html.push_str(&format!("<li>w{number}{}</li>", open.len()));
                }
            }
            html.push_str(&format!("<li>item {number}</li>"));
        }
        while let Some(name) = open.pop() {
            html.push_str(&format!("</{name}>"));
        }
        let markdown = parse(&html).content(&full()).markdown();
        let items = |structure: Structure| structure.items;
        prop_assert_eq!(items(Structure::of_markdown(&markdown)), items(Structure::of_html(&html)), "{} -> {}", html, markdown);
    }
}
