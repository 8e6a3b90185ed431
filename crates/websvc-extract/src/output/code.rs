//! Code: the text of a block as written, its language, and fences that its own backticks cannot close.

use super::OutputContext;
use super::labels::{self, LabelKind};
use crate::dom::{Dom, NodeId, NodeKind, Tag};

/// A code block.
#[derive(Debug)]
pub(super) struct Block {
    /// The code, without a line break at the end.
    pub(super) text: String,
    /// The name of the language, or an empty string.
    pub(super) language: String,
}

/// Reads a `<pre>`, or another element with code.
pub(super) fn block(context: OutputContext<'_>, pre: NodeId) -> Block {
    let mut text = String::new();
    collect(context, pre, &mut text);
    let start = text.len() - text.trim_start_matches(['\n', '\r']).len();
    let text = text[start..].trim_end().replace("\r\n", "\n").replace(['\r', '\u{a0}'], " ");
    let text = without_line_numbers(text);
    Block { text, language: language(context.dom, pre).unwrap_or_default() }
}

/// Removes lines between the lines of the code that only number them: line numbers in blocks of their own.
fn without_line_numbers(text: String) -> String {
    let is_line_number = |(index, line): (usize, &str)| line.trim() == (index + 1).to_string();
    let mut numbers = text.lines().step_by(2).enumerate();
    let has_numbers = text.lines().nth(5).is_some() && numbers.all(is_line_number);
    if has_numbers { text.lines().skip(1).step_by(2).collect::<Vec<_>>().join("\n") } else { text }
}

fn collect(context: OutputContext<'_>, id: NodeId, out: &mut String) {
    let OutputContext { dom, view, .. } = context;
    for child in view.children(dom, id) {
        match dom.kind(child) {
            NodeKind::Text => out.extend(dom.text(child).chars().filter(|&c| !crate::text::is_dropped(c))),
            NodeKind::Element(Tag::Br) => out.push('\n'),
            NodeKind::Element(Tag::Button) => {}
            NodeKind::Element(_)
                if is_gutter(dom, child) || is_code_header(dom, child) || is_control(dom, child) => {}
            // Line numbers in an element of their own, before the code.
            NodeKind::Element(_) if out.trim().is_empty() && is_numbers(dom, child) => {}
            NodeKind::Element(tag) => {
                let is_own_line = (tag.is_block() && !is_part_of_table(tag)) || is_line(dom, child);
                if is_own_line && !out.is_empty() && !out.ends_with('\n') {
                    out.push('\n');
                }
                collect(context, child, out);
                let has_line_end = out.ends_with('\n');
                // Highlighters put a line break after each line, or rely on the element being a block.
                if is_own_line && !has_line_end && (tag.is_block() || is_followed_by_line(dom, child)) {
                    out.push('\n');
                }
            }
            NodeKind::Document | NodeKind::Nothing => {}
        }
    }
}

fn is_part_of_table(tag: Tag) -> bool {
    matches!(tag, Tag::Td | Tag::Th | Tag::Table | Tag::Tbody)
}

/// Returns whether an element is one line of code, as highlighters mark it.
fn is_line(dom: &Dom, id: NodeId) -> bool {
    dom.has_class(id, |c| {
        matches!(
            c,
            "line" | "code-line" | "token-line" | "view-line" | "cl-line" | "cm-line" | "CodeMirror-line"
        )
    }) || dom.attribute(id, "data-line").is_some()
        || dom.attribute(id, "style").is_some_and(|style| {
            let display = style.find("display").map(|at| style[at + 7..].trim_start_matches([':', ' ']));
            display.is_some_and(|display| display.starts_with("flex") || display.starts_with("block"))
        })
}

fn is_followed_by_line(dom: &Dom, id: NodeId) -> bool {
    dom.next_sibling(id).is_some_and(|next| dom.tag(next).is_some() && is_line(dom, next))
}

/// Returns whether an element is the header of the code, with the name of its language and buttons, or copies the code.
fn is_code_header(dom: &Dom, id: NodeId) -> bool {
    let class = dom.attribute(id, "class").unwrap_or("");
    let has_header_name = ["copy", "header", "toolbar"].iter().any(|part| class.contains(part))
        || dom.name(id) == "clipboard-copy"
        || (dom.is(id, Tag::Div) && dom.descendants(id).take(30).any(|inner| dom.is(inner, Tag::Button)));
    has_header_name && dom.descendants(id).map(|inner| dom.text(inner).trim().len()).sum::<usize>() <= 32
}

/// Returns whether an element has only the name of a control, in several words: one word may be a command.
fn is_control(dom: &Dom, id: NodeId) -> bool {
    let mut texts = dom.descendants(id).take(6).map(|inner| dom.text(inner).trim());
    let first = texts.find(|text| !text.is_empty()).unwrap_or_default();
    first.contains(' ') && labels::is_control(first) && texts.all(str::is_empty)
}

/// Returns whether an element before the code has its line numbers.
fn is_numbers(dom: &Dom, id: NodeId) -> bool {
    if dom.next_sibling(id).is_none() || !is_number(dom, id) {
        return false;
    }
    let texts: Vec<&str> = dom.descendants(id).take(20_000).map(|inner| dom.text(inner)).collect();
    are_line_numbers(&texts.join(" "))
}

/// Returns whether a text has consecutive numbers, at least two, and nothing else.
pub(super) fn are_line_numbers(text: &str) -> bool {
    let mut numbers = text.split_ascii_whitespace().map(|number| number.parse::<u32>().ok());
    let Some(Some(mut last)) = numbers.next() else { return false };
    let mut count = 1;
    let is_consecutive = numbers.all(|number| {
        count += 1;
        number.is_some_and(|number| number == std::mem::replace(&mut last, number).saturating_add(1))
    });
    is_consecutive && count > 1
}

/// Returns whether an element has line numbers next to code.
pub(super) fn is_gutter(dom: &Dom, id: NodeId) -> bool {
    dom.has_class(id, |c| {
        matches!(
            c,
            "gutter"
                | "lineno"
                | "linenos"
                | "linenumber"
                | "line-number"
                | "line-numbers"
                | "line-numbers-rows"
                | "react-syntax-highlighter-line-number"
                | "rouge-gutter"
                | "linenodiv"
                | "hljs-ln-numbers"
                | "blob-num"
                | "lnt"
                | "ln"
                | "crayon-nums"
                | "CodeMirror-linenumber"
                | "CodeMirror-gutter-wrapper"
        ) && (!c.starts_with("line-number") || is_number(dom, id))
    }) || (dom.attribute(id, "style").is_some_and(|style| style.contains("user-select"))
        && is_number(dom, id))
}

/// Returns whether an element has only digits.
fn is_number(dom: &Dom, id: NodeId) -> bool {
    let mut text =
        dom.descendants(id).take(20_000).map(|inner| dom.text(inner)).filter(|text| !text.is_empty());
    text.all(|text| text.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_whitespace()))
}

/// Finds the language that a block declares on itself, on its `<code>`, or on wrappers of highlighters around it.
pub(super) fn language(dom: &Dom, pre: NodeId) -> Option<String> {
    let code = || dom.descendants(pre).take(40).find(|&id| dom.is(id, Tag::Code));
    let ancestors = || dom.ancestors(pre).take(5);
    let own = || code().into_iter().chain(std::iter::once(pre));
    own()
        .chain(ancestors().take(3))
        .find_map(|id| declared(dom, id))
        .or_else(|| own().find_map(|id| dom.attribute(id, "lang").and_then(known_language)))
        .or_else(|| own().chain(ancestors()).find_map(|id| language_class(dom, id)))
}

fn declared(dom: &Dom, id: NodeId) -> Option<String> {
    let attributes = ["data-lang", "data-language", "data-enlighter-language", "data-code-lang"];
    if let Some(language) = dom.first_attribute(id, &attributes).and_then(language_name) {
        return Some(language);
    }
    let mut class = dom.attribute(id, "class")?.split_ascii_whitespace();
    let mut after_marker = false;
    class.find_map(|token| {
        let prefixes = [
            "language-",
            "lang-",
            "lang:",
            "highlight-source-",
            "highlight-text-",
            "highlight-",
            "src-",
            "brush:",
        ];
        if let Some(language) =
            prefixes.iter().find_map(|prefix| token.strip_prefix(prefix)).and_then(language_name)
        {
            return Some(language);
        }
        if after_marker {
            return language_name(token.trim_end_matches(';')).filter(|name| !is_style_class(name));
        }
        after_marker = matches!(token, "brush:" | "sourceCode" | "hljs");
        None
    })
}

/// Returns whether a class next to `hljs` is one of style.
fn is_style_class(name: &str) -> bool {
    name.contains('-') || matches!(name, "copyable" | "undefined" | "nohljs" | "code")
}

/// Returns a language that is a class without a prefix.
fn language_class(dom: &Dom, id: NodeId) -> Option<String> {
    let class = dom.attribute(id, "class")?;
    let code_classes =
        ["code", "highlight", "prettyprint", "chroma", "syntaxhighlighter", "sourceCode", "src", "prism"];
    let is_code = matches!(dom.tag(id), Some(Tag::Code | Tag::Pre));
    (is_code || class.split_ascii_whitespace().any(|token| code_classes.contains(&token)))
        .then(|| class.split_ascii_whitespace().find_map(known_language))?
}

pub(super) fn known_language(name: &str) -> Option<String> {
    let name = name.to_ascii_lowercase();
    (labels::kind_of(&name) == Some(LabelKind::Language)).then_some(name)
}

/// Converts a language name to the form that fences use. `None` if it is not one.
fn language_name(name: &str) -> Option<String> {
    let name = name
        .trim_matches(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '+' | '#'))
        .to_ascii_lowercase();
    let is_plausible = (1..=24).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'#' | b'-' | b'_' | b'.'));
    let is_no_language = matches!(
        name.as_str(),
        "none" | "default" | "plaintext" | "text" | "txt" | "plain" | "wrapper" | "nohighlight" | "auto"
    );
    (is_plausible && !is_no_language).then_some(name)
}

/// Returns a fence that is longer than any run of backticks in the code.
pub(super) fn fence(code: &str) -> String {
    "`".repeat(longest_run(code).saturating_add(1).max(3))
}

/// Formats inline code.
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
