//! Converts MathML to LaTeX. Symbols are not converted: LaTeX renderers support Unicode.

use crate::dom::{Dom, NodeId, NodeKind};

/// Functions for which LaTeX has a command with their name.
const FUNCTIONS: [&str; 22] = [
    "arccos", "arcsin", "arctan", "cos", "cosh", "cot", "csc", "det", "dim", "exp", "gcd", "inf", "lim",
    "ln", "log", "max", "min", "sec", "sin", "sinh", "sup", "tan",
];

/// Returns the LaTeX of a `<math>` element.
pub(super) fn latex(dom: &Dom, math: NodeId) -> String {
    let mut out = String::new();
    children(dom, math, &mut out);
    out
}

fn children(dom: &Dom, id: NodeId, out: &mut String) {
    for child in dom.children(id) {
        read(dom, child, out);
    }
}

fn read(dom: &Dom, id: NodeId, out: &mut String) {
    if dom.kind(id) == NodeKind::Text {
        out.push_str(dom.text(id).trim());
        return;
    }
    match dom.name(id) {
        "annotation" | "annotation-xml" | "mphantom" | "none" | "mprescripts" => {}
        "mi" => identifier(&text(dom, id), out),
        "mtext" => words(dom, id, out),
        "mspace" => push_space(out),
        "mfrac" => fraction(dom, id, out),
        "msqrt" => {
            out.push_str("\\sqrt{");
            children(dom, id, out);
            out.push('}');
        }
        "mroot" => root(dom, id, out),
        "msup" => scripts(dom, id, &["^"], out),
        "msub" => scripts(dom, id, &["_"], out),
        "msubsup" | "munderover" => scripts(dom, id, &["_", "^"], out),
        "mover" => over(dom, id, "^", out),
        "munder" => over(dom, id, "_", out),
        "mtable" => table(dom, id, out),
        "mfenced" => fenced(dom, id, out),
        _ => children(dom, id, out),
    }
}

fn elements(dom: &Dom, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
    dom.children(id).filter(|&child| dom.tag(child).is_some())
}

fn text(dom: &Dom, id: NodeId) -> String {
    crate::text::collapsed(&dom.descendants(id).map(|inner| dom.text(inner)).collect::<String>())
}

/// Adds a space where two commands would run together.
fn push_space(out: &mut String) {
    if !out.is_empty() && !out.ends_with(' ') {
        out.push(' ');
    }
}

fn identifier(name: &str, out: &mut String) {
    if FUNCTIONS.binary_search(&name).is_ok() {
        push_space(out);
        out.push('\\');
        out.push_str(name);
        out.push(' ');
    } else if name.chars().count() > 1 && name.is_ascii() {
        out.push_str(&format!("\\mathrm{{{name}}}"));
    } else {
        out.push_str(name);
    }
}

fn words(dom: &Dom, id: NodeId, out: &mut String) {
    let text = text(dom, id);
    if text.chars().any(char::is_alphabetic) {
        out.push_str(&format!("\\text{{ {text} }}"));
    } else {
        out.push_str(&text);
    }
}

fn fraction(dom: &Dom, id: NodeId, out: &mut String) {
    let has_no_line =
        dom.attribute(id, "linethickness").is_some_and(|thick| thick.trim_start().starts_with('0'));
    out.push_str(if has_no_line { "\\binom" } else { "\\frac" });
    for part in elements(dom, id).take(2) {
        braced(dom, part, out);
    }
}

fn root(dom: &Dom, id: NodeId, out: &mut String) {
    let mut parts = elements(dom, id);
    let (base, index) = (parts.next(), parts.next());
    out.push_str("\\sqrt[");
    index.into_iter().for_each(|index| read(dom, index, out));
    out.push(']');
    base.into_iter().for_each(|base| braced(dom, base, out));
}

fn braced(dom: &Dom, id: NodeId, out: &mut String) {
    out.push('{');
    read(dom, id, out);
    out.push('}');
}

/// Writes a base with its superscripts and subscripts.
fn scripts(dom: &Dom, id: NodeId, signs: &[&str], out: &mut String) {
    let mut parts = elements(dom, id);
    if let Some(base) = parts.next() {
        read(dom, base, out);
        out.truncate(out.trim_end().len());
    }
    for (sign, part) in signs.iter().zip(parts) {
        let mut inner = String::new();
        read(dom, part, &mut inner);
        out.push_str(sign);
        if inner.chars().count() == 1 {
            out.push_str(&inner);
        } else {
            out.push_str(&format!("{{{inner}}}"));
        }
    }
}

/// Writes a base with a symbol above or below it: an accent or a limit.
fn over(dom: &Dom, id: NodeId, sign: &str, out: &mut String) {
    let mark = elements(dom, id).nth(1).map(|mark| text(dom, mark)).unwrap_or_default();
    let accent = match (sign, mark.as_str()) {
        ("^", "˙" | "⋅" | "·") => "\\dot",
        ("^", "¨") => "\\ddot",
        ("^", "→" | "⃗") => "\\vec",
        ("^", "^" | "ˆ") => "\\hat",
        ("^", "~" | "˜") => "\\tilde",
        ("^", "¯" | "‾" | "―") => "\\overline",
        ("^", "⏞") => "\\overbrace",
        ("_", "⏟") => "\\underbrace",
        ("_", "_" | "̲" | "―") => "\\underline",
        _ => return scripts(dom, id, &[sign], out),
    };
    out.push_str(accent);
    if let Some(base) = elements(dom, id).next() {
        braced(dom, base, out);
    }
}

/// Writes the rows of a table. The label of a row becomes its tag.
fn table(dom: &Dom, id: NodeId, out: &mut String) {
    let is_row = |row: &NodeId| matches!(dom.name(*row), "mtr" | "mlabeledtr");
    let rows: Vec<NodeId> = elements(dom, id).filter(is_row).collect();
    let lines: Vec<String> = rows.iter().map(|&row| line(dom, row)).collect();
    if let [only] = &lines[..]
        && !only.contains('&')
    {
        out.push_str(only);
        return;
    }
    // Rows next to a bracket are a matrix. The bracket is in the formula already.
    let is_aligned = dom.attribute(id, "columnalign").is_some_and(|align| align.contains("right"))
        || dom.attribute(id, "displaystyle") == Some("true");
    let name = if is_aligned { "aligned" } else { "matrix" };
    out.push_str(&format!("\\begin{{{name}}} {} \\end{{{name}}}", lines.join(" \\\\ ")));
}

fn line(dom: &Dom, row: NodeId) -> String {
    let mut cells = elements(dom, row);
    let label = (dom.name(row) == "mlabeledtr").then(|| cells.next()).flatten().map(|label| text(dom, label));
    let cells: Vec<String> = cells
        .map(|cell| {
            let mut out = String::new();
            children(dom, cell, &mut out);
            out.trim().to_owned()
        })
        .collect();
    let mut line = cells.join(" & ");
    if let Some(label) = label {
        line.push_str(&format!(" \\tag{{{}}}", label.trim_matches(['(', ')'])));
    }
    line
}

fn fenced(dom: &Dom, id: NodeId, out: &mut String) {
    out.push_str(dom.attribute(id, "open").unwrap_or("("));
    for (index, part) in elements(dom, id).enumerate() {
        if index > 0 {
            out.push_str(dom.attribute(id, "separators").and_then(|signs| signs.get(..1)).unwrap_or(","));
        }
        read(dom, part, out);
    }
    out.push_str(dom.attribute(id, "close").unwrap_or(")"));
}
