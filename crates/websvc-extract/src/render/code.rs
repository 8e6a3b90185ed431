//! Code: the text of a block as written, its language, and fences that its own backticks cannot close.

use super::Page;
use crate::dom::{Dom, NodeId, NodeKind, Tag};

/// A block of code.
#[derive(Debug)]
pub(super) struct Block {
    /// The code, no line break at the end.
    pub(super) text: String,
    /// The name of its language, or nothing.
    pub(super) language: String,
}

/// Reads a `<pre>`.
pub(super) fn block(page: Page<'_>, pre: NodeId) -> Block {
    let mut text = String::new();
    collect(page, pre, &mut text);
    let start = text.len() - text.trim_start_matches(['\n', '\r']).len();
    let text = text[start..].trim_end().replace("\r\n", "\n").replace(['\r', '\u{a0}'], " ");
    Block { text, language: language(page.dom, pre).unwrap_or_default() }
}

fn collect(page: Page<'_>, id: NodeId, out: &mut String) {
    let Page { dom, view, .. } = page;
    for child in view.children(dom, id) {
        match dom.kind(child) {
            NodeKind::Text => out.extend(dom.text(child).chars().filter(|&c| !crate::text::is_dropped(c))),
            NodeKind::Element(Tag::Br) => out.push('\n'),
            NodeKind::Element(Tag::Button) => {}
            NodeKind::Element(_) if is_gutter(dom, child) => {}
            NodeKind::Element(tag) => {
                let own_line = tag.is_block() && !matches!(tag, Tag::Td | Tag::Th | Tag::Table | Tag::Tbody);
                if own_line && !out.is_empty() && !out.ends_with('\n') {
                    out.push('\n');
                }
                collect(page, child, out);
                if own_line && !out.ends_with('\n') {
                    out.push('\n');
                }
            }
            NodeKind::Document | NodeKind::Nothing => {}
        }
    }
}

/// Tells whether an element holds line numbers beside code.
pub(super) fn is_gutter(dom: &Dom, id: NodeId) -> bool {
    let class = dom.attribute(id, "class").unwrap_or("");
    class.split_ascii_whitespace().any(|c| {
        matches!(
            c,
            "gutter"
                | "lineno"
                | "linenos"
                | "linenumber"
                | "line-number"
                | "line-numbers-rows"
                | "rouge-gutter"
                | "linenodiv"
                | "hljs-ln-numbers"
                | "blob-num"
                | "lnt"
                | "ln"
                | "CodeMirror-linenumber"
        )
    })
}

/// Finds the language a block declares on itself, its `<code>`, or the wrappers of highlighters around it.
fn language(dom: &Dom, pre: NodeId) -> Option<String> {
    let code = dom.descendants(pre).take(4).find(|&id| dom.is(id, Tag::Code));
    let around = dom.ancestors(pre).take(3);
    code.into_iter().chain(std::iter::once(pre)).chain(around).find_map(|id| declared(dom, id))
}

fn declared(dom: &Dom, id: NodeId) -> Option<String> {
    let named = ["data-lang", "data-language"].iter().find_map(|name| dom.attribute(id, name));
    if let Some(language) = named.and_then(clean) {
        return Some(language);
    }
    let mut class = dom.attribute(id, "class")?.split_ascii_whitespace();
    let mut brush = false;
    let mut source = false;
    class.find_map(|token| {
        let prefixes = ["language-", "lang-", "highlight-source-", "highlight-text-", "highlight-", "brush:"];
        if brush || source {
            return clean(token.trim_end_matches(';'));
        }
        brush = token == "brush:";
        source = matches!(token, "sourceCode" | "hljs" | "src");
        prefixes.iter().find_map(|prefix| token.strip_prefix(prefix)).and_then(clean)
    })
}

/// Returns a language name in the form fences use, if it is one.
fn clean(name: &str) -> Option<String> {
    let name = name
        .trim_matches(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '+' | '#'))
        .to_ascii_lowercase();
    let plausible = (1..=24).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'#' | b'-' | b'_' | b'.'));
    let none = matches!(
        name.as_str(),
        "none" | "default" | "plaintext" | "text" | "plain" | "wrapper" | "nohighlight"
    );
    (plausible && !none).then_some(name)
}

/// Returns a fence longer than any run of backticks in the code.
pub(super) fn fence(code: &str) -> String {
    "`".repeat(longest_run(code).saturating_add(1).max(3))
}

/// Returns inline code.
pub(super) fn span(code: &str) -> String {
    let ticks = "`".repeat(if code.contains('`') { longest_run(code) + 1 } else { 1 });
    let pad = if code.starts_with('`') || code.ends_with('`') { " " } else { "" };
    format!("{ticks}{pad}{code}{pad}{ticks}")
}

fn longest_run(code: &str) -> usize {
    let (mut longest, mut run) = (0, 0);
    for byte in code.bytes() {
        run = if byte == b'`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}
