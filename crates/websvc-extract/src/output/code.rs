//! Code: the text of a block as written, its language, and fences that its own backticks cannot close.

use super::OutputContext;
use crate::dom::{Dom, NodeId, NodeKind, Tag};

/// A block of code.
#[derive(Debug)]
pub(super) struct Block {
    /// The code, no line break at the end.
    pub(super) text: String,
    /// The name of its language, or nothing.
    pub(super) language: String,
}

/// Languages that highlighters name by a bare class, such as `<code class="python">`.
const LANGUAGES: [&str; 64] = [
    "asm",
    "awk",
    "bash",
    "basic",
    "bat",
    "c",
    "clojure",
    "cmake",
    "cpp",
    "csharp",
    "css",
    "csv",
    "d",
    "dart",
    "diff",
    "dockerfile",
    "elixir",
    "elm",
    "erlang",
    "fortran",
    "fsharp",
    "go",
    "graphql",
    "groovy",
    "haskell",
    "html",
    "http",
    "ini",
    "java",
    "javascript",
    "js",
    "json",
    "jsx",
    "julia",
    "kotlin",
    "latex",
    "less",
    "lisp",
    "lua",
    "makefile",
    "markdown",
    "matlab",
    "nginx",
    "objc",
    "ocaml",
    "perl",
    "php",
    "powershell",
    "python",
    "r",
    "ruby",
    "rust",
    "sass",
    "scala",
    "scheme",
    "scss",
    "sh",
    "shell",
    "sql",
    "swift",
    "toml",
    "ts",
    "typescript",
    "yaml",
];

/// Reads a `<pre>`, or another element that holds code.
pub(super) fn block(page: OutputContext<'_>, pre: NodeId) -> Block {
    let mut text = String::new();
    collect(page, pre, &mut text);
    let start = text.len() - text.trim_start_matches(['\n', '\r']).len();
    let text = text[start..].trim_end().replace("\r\n", "\n").replace(['\r', '\u{a0}'], " ");
    let text = without_counted_lines(text);
    Block { text, language: language(page.dom, pre).unwrap_or_default() }
}

/// Takes away the lines between those of the code that only count them: line numbers in blocks of their own.
fn without_counted_lines(text: String) -> String {
    let is_counted = |(index, line): (usize, &str)| line.trim() == (index + 1).to_string();
    let mut counts = text.lines().step_by(2).enumerate();
    let counted = text.lines().nth(5).is_some() && counts.all(is_counted);
    if counted { text.lines().skip(1).step_by(2).collect::<Vec<_>>().join("\n") } else { text }
}

fn collect(page: OutputContext<'_>, id: NodeId, out: &mut String) {
    let OutputContext { dom, view, .. } = page;
    for child in view.children(dom, id) {
        match dom.kind(child) {
            NodeKind::Text => out.extend(dom.text(child).chars().filter(|&c| !crate::text::is_dropped(c))),
            NodeKind::Element(Tag::Br) => out.push('\n'),
            NodeKind::Element(Tag::Button) => {}
            NodeKind::Element(_) if is_gutter(dom, child) || is_beside_code(dom, child) => {}
            NodeKind::Element(tag) => {
                let own_line = (tag.is_block() && !is_part_of_table(tag)) || is_line(dom, child);
                if own_line && !out.is_empty() && !out.ends_with('\n') {
                    out.push('\n');
                }
                collect(page, child, out);
                let ended = out.ends_with('\n');
                // Highlighters put a line break behind each line, or leave it to the element to be a block.
                if own_line && !ended && (tag.is_block() || is_followed_by_line(dom, child)) {
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

/// Tells whether an element is one line of code, as highlighters mark it.
fn is_line(dom: &Dom, id: NodeId) -> bool {
    let class = dom.attribute(id, "class").unwrap_or("");
    class.split_ascii_whitespace().any(|c| {
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

/// Tells whether an element copies the code or heads it, with the name of its language and buttons.
fn is_beside_code(dom: &Dom, id: NodeId) -> bool {
    let class = dom.attribute(id, "class").unwrap_or("");
    let named = ["copy", "header", "toolbar"].iter().any(|part| class.contains(part))
        || dom.name(id) == "clipboard-copy"
        || (dom.is(id, Tag::Div) && dom.descendants(id).take(30).any(|inner| dom.is(inner, Tag::Button)));
    named && dom.descendants(id).map(|inner| dom.text(inner).trim().len()).sum::<usize>() <= 32
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

/// Tells whether an element holds digits and nothing else.
fn is_number(dom: &Dom, id: NodeId) -> bool {
    let mut text =
        dom.descendants(id).take(20_000).map(|inner| dom.text(inner)).filter(|text| !text.is_empty());
    text.all(|text| text.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_whitespace()))
}

/// Finds the language a block declares on itself, its `<code>`, or the wrappers of highlighters around it.
fn language(dom: &Dom, pre: NodeId) -> Option<String> {
    let code = || dom.descendants(pre).take(40).find(|&id| dom.is(id, Tag::Code));
    let around = || dom.ancestors(pre).take(5);
    let near = || code().into_iter().chain(std::iter::once(pre));
    near()
        .chain(around().take(3))
        .find_map(|id| declared(dom, id))
        .or_else(|| near().find_map(|id| dom.attribute(id, "lang").and_then(known)))
        .or_else(|| near().chain(around()).find_map(|id| bare(dom, id)))
}

fn declared(dom: &Dom, id: NodeId) -> Option<String> {
    let attributes = ["data-lang", "data-language", "data-enlighter-language", "data-code-lang"];
    let named = attributes.iter().find_map(|name| dom.attribute(id, name));
    if let Some(language) = named.and_then(clean) {
        return Some(language);
    }
    let mut class = dom.attribute(id, "class")?.split_ascii_whitespace();
    let mut marked = false;
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
        if let Some(language) = prefixes.iter().find_map(|prefix| token.strip_prefix(prefix)).and_then(clean)
        {
            return Some(language);
        }
        if marked {
            return clean(token.trim_end_matches(';')).filter(|name| !is_word_of_style(name));
        }
        marked = matches!(token, "brush:" | "sourceCode" | "hljs");
        None
    })
}

/// Tells whether a class beside `hljs` says how the block looks.
fn is_word_of_style(name: &str) -> bool {
    name.contains('-') || matches!(name, "copyable" | "undefined" | "nohljs" | "code")
}

/// Finds a language that stands as a class of its own.
fn bare(dom: &Dom, id: NodeId) -> Option<String> {
    let class = dom.attribute(id, "class")?;
    let names_code =
        ["code", "highlight", "prettyprint", "chroma", "syntaxhighlighter", "sourceCode", "src", "prism"];
    let holds_code = matches!(dom.tag(id), Some(Tag::Code | Tag::Pre));
    (holds_code || class.split_ascii_whitespace().any(|token| names_code.contains(&token)))
        .then(|| class.split_ascii_whitespace().find_map(known))?
}

fn known(name: &str) -> Option<String> {
    let name = name.to_ascii_lowercase();
    LANGUAGES.binary_search(&name.as_str()).is_ok().then_some(name)
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
        "none" | "default" | "plaintext" | "text" | "txt" | "plain" | "wrapper" | "nohighlight" | "auto"
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
