//! Formulas as LaTeX: what a page carries beside its MathML, what stands in attributes of formulas and of pictures of
//! formulas, and else MathML read as LaTeX.

mod mathml;

use crate::dom::{Dom, NodeId, Tag};
use crate::text::collapsed;

/// How far above a formula something may say that it stands on a line of its own.
const NEAR: usize = 6;

/// Attributes in which scripts keep the source of a formula that they have drawn.
const SOURCES: [&str; 5] = ["data-math", "data-latex", "data-tex", "data-formula", "data-katex"];

/// Longest formula in text, in bytes.
const MAX_BYTES: usize = 1_000;

/// A formula, and whether it stands on a line of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Formula {
    pub(super) latex: String,
    pub(super) display: bool,
}

/// Returns the formula of a `<math>` element.
pub(super) fn of_math(dom: &Dom, math: NodeId) -> Formula {
    let display = dom.attribute(math, "display") == Some("block")
        || dom.ancestors(math).take(NEAR).any(|above| {
            let class = dom.attribute(above, "class").unwrap_or_default();
            class.split_ascii_whitespace().any(|name| matches!(name, "katex-display" | "MathJax_Display"))
                || (dom.name(above) == "mjx-container" && dom.attribute(above, "display") == Some("true"))
        });
    Formula { latex: unwrapped(&source(dom, math)), display }
}

fn source(dom: &Dom, math: NodeId) -> String {
    let annotation = dom.descendants(math).find(|&id| {
        dom.name(id) == "annotation" && dom.attribute(id, "encoding").is_some_and(|kind| kind.contains("tex"))
    });
    if let Some(annotation) = annotation {
        return collapsed(&dom.descendants(annotation).map(|id| dom.text(id)).collect::<String>());
    }
    match dom.attribute(math, "alttext") {
        Some(alternative) => collapsed(alternative),
        None => collapsed(&mathml::latex(dom, math)),
    }
}

/// Returns the formula of a `<script type="math/tex">`.
pub(super) fn of_script(dom: &Dom, script: NodeId) -> Option<Formula> {
    let kind = dom.attribute(script, "type")?;
    let source: String = dom.children(script).map(|text| dom.text(text)).collect();
    let tex = kind.starts_with("math/tex");
    tex.then(|| Formula { latex: collapsed(&source), display: kind.contains("mode=display") })
}

/// Returns the formula of an element whose attribute keeps it.
pub(super) fn of_attribute(dom: &Dom, id: NodeId, class: &str) -> Option<Formula> {
    if !(class.contains("math") || class.contains("katex") || class.contains("latex")) {
        return None;
    }
    let latex = SOURCES.iter().find_map(|name| dom.attribute(id, name)).map(collapsed)?;
    let display = dom.is(id, Tag::Div) || class.contains("block") || class.contains("display");
    (!latex.is_empty()).then_some(Formula { latex, display })
}

/// Returns the formula that a picture shows, when its alternative text is one.
pub(super) fn of_image(dom: &Dom, img: NodeId, alone: bool) -> Option<Formula> {
    let text = dom.attribute(img, "alt")?.trim();
    if !text.contains('\\') && !text.contains(['^', '_', '=']) {
        return None;
    }
    let class = dom.attribute(img, "class").unwrap_or_default();
    let named = ["mwe-math", "latex", "tex", "math", "mimetex"];
    let said = class.split_ascii_whitespace().any(|name| named.iter().any(|known| name.starts_with(known)));
    (said || has_commands(text)).then(|| Formula {
        latex: unwrapped(&collapsed(text)),
        display: class.contains("display") || (alone && !class.contains("inline")),
    })
}

/// Tells whether a text has the look of LaTeX: commands with arguments.
fn has_commands(text: &str) -> bool {
    let mut commands = text
        .match_indices('\\')
        .filter(|&(at, _)| text[at + 1..].bytes().take_while(u8::is_ascii_alphabetic).count() >= 2);
    commands.next().is_some() && text.contains(['{', '^', '_'])
}

/// Takes away the braces that MediaWiki puts around every formula.
fn unwrapped(latex: &str) -> String {
    let inside = latex.strip_prefix("{\\displaystyle ").or_else(|| latex.strip_prefix("{\\textstyle "));
    inside.and_then(|inside| inside.strip_suffix('}')).unwrap_or(latex).trim().to_owned()
}

/// Returns how long the formula is that `text` begins with, delimiters included, and the formula in dollars: what pages
/// leave to MathJax or KaTeX to draw. Only what would be changed by escaping counts.
pub(super) fn in_text(text: &str) -> Option<(usize, String)> {
    let pairs = [("\\(", "\\)", "$"), ("\\[", "\\]", "$$"), ("$$", "$$", "$$"), ("$", "$", "$")];
    let (open, close, dollars) = pairs.into_iter().find(|(open, ..)| text.starts_with(open))?;
    // Bounded, so that signs that are never closed cost little each.
    let inside = crate::text::start_of(&text[open.len()..], MAX_BYTES);
    let inside = &inside[..inside.find(close)?];
    let end = open.len() + inside.len() + close.len();
    let short = !inside.contains('`') && !inside.trim().is_empty();
    let marked = inside.contains(['\\', '_', '^']);
    // A dollar is a price as often as not.
    let tight = open != "$"
        || (!inside.contains(char::is_whitespace) || inside.contains('\\'))
            && !inside.starts_with(char::is_whitespace)
            && !inside.ends_with(char::is_whitespace)
            && !text[end..].starts_with(|c: char| c.is_ascii_digit());
    (short && marked && tight).then(|| (end, format!("{dollars}{}{dollars}", collapsed(inside))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_in_text_are_told_from_prices() {
        for (text, formula) in [
            ("\\(E = mc^2\\) is", Some("$E = mc^2$")),
            ("\\[F_x\\]", Some("$$F_x$$")),
            ("$$a_1\n+ b_1$$.", Some("$$a_1 + b_1$$")),
            ("$x_i$ and", Some("$x_i$")),
            ("$\\alpha + 1$", Some("$\\alpha + 1$")),
            ("$5 and $6_x", None),
            ("$x_1$5", None),
            ("$x$ is plain", None),
            ("\\(never closed^2", None),
        ] {
            assert_eq!(in_text(text).map(|(_, formula)| formula).as_deref(), formula, "{text}");
        }
    }
}
