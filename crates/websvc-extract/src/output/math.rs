//! Formulas as LaTeX: from annotations of MathML, from attributes of formulas and of images of formulas, and otherwise
//! converted from MathML.

mod mathml;

use crate::dom::{Dom, NodeId, Tag};
use crate::text::collapsed;

/// Number of ancestors of a formula that are searched for a display style.
const MAX_ANCESTORS: usize = 6;

/// Attributes in which scripts store the source of a formula that they have rendered.
const SOURCE_ATTRIBUTES: [&str; 5] = ["data-math", "data-latex", "data-tex", "data-formula", "data-katex"];

/// Maximum length of a formula in text, in bytes.
const MAX_BYTES: usize = 1_000;

/// A formula.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Formula {
    pub(super) latex: String,
    /// True if the formula is on a line of its own.
    pub(super) display: bool,
}

/// Returns the formula of a `<math>` element.
pub(super) fn of_math(dom: &Dom, math: NodeId) -> Formula {
    let display = dom.attribute(math, "display") == Some("block")
        || dom.ancestors(math).take(MAX_ANCESTORS).any(|ancestor| {
            dom.has_class(ancestor, |name| matches!(name, "katex-display" | "MathJax_Display"))
                || (dom.name(ancestor) == "mjx-container"
                    && dom.attribute(ancestor, "display") == Some("true"))
        });
    Formula { latex: without_wrapper(&source(dom, math)), display }
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
    let is_tex = kind.starts_with("math/tex");
    is_tex.then(|| Formula { latex: collapsed(&source), display: kind.contains("mode=display") })
}

/// Returns the formula that is in an attribute of an element.
pub(super) fn of_attribute(dom: &Dom, id: NodeId, class: &str) -> Option<Formula> {
    if !(class.contains("math") || class.contains("katex") || class.contains("latex")) {
        return None;
    }
    let latex = dom.first_attribute(id, &SOURCE_ATTRIBUTES).map(collapsed)?;
    let display = dom.is(id, Tag::Div) || class.contains("block") || class.contains("display");
    (!latex.is_empty()).then_some(Formula { latex, display })
}

/// Returns the formula of an image, if its alternative text is one. `alone` is true if the image is alone in its block.
pub(super) fn of_image(dom: &Dom, img: NodeId, alone: bool) -> Option<Formula> {
    let text = dom.attribute(img, "alt")?.trim();
    if !text.contains('\\') && !text.contains(['^', '_', '=']) {
        return None;
    }
    let class = dom.attribute(img, "class").unwrap_or_default();
    let formula_classes = ["mwe-math", "latex", "tex", "math", "mimetex"];
    let has_formula_class = class
        .split_ascii_whitespace()
        .any(|name| formula_classes.iter().any(|prefix| name.starts_with(prefix)));
    (has_formula_class || has_commands(text)).then(|| Formula {
        latex: without_wrapper(&collapsed(text)),
        display: class.contains("display") || (alone && !class.contains("inline")),
    })
}

/// Returns whether a text looks like LaTeX: it has commands with arguments.
fn has_commands(text: &str) -> bool {
    let mut commands = text
        .match_indices('\\')
        .filter(|&(at, _)| text[at + 1..].bytes().take_while(u8::is_ascii_alphabetic).count() >= 2);
    commands.next().is_some() && text.contains(['{', '^', '_'])
}

/// Removes the braces that MediaWiki puts around each formula.
fn without_wrapper(latex: &str) -> String {
    let inner = latex.strip_prefix("{\\displaystyle ").or_else(|| latex.strip_prefix("{\\textstyle "));
    inner.and_then(|inner| inner.strip_suffix('}')).unwrap_or(latex).trim().to_owned()
}

/// Returns the length of the formula at the start of `text`, with its delimiters, and the formula between dollar signs:
/// pages leave the rendering of such text to MathJax or KaTeX. Only a formula that escaping would change is returned.
pub(super) fn in_text(text: &str) -> Option<(usize, String)> {
    let pairs = [("\\(", "\\)", "$"), ("\\[", "\\]", "$$"), ("$$", "$$", "$$"), ("$", "$", "$")];
    let (open, close, dollars) = pairs.into_iter().find(|(open, ..)| text.starts_with(open))?;
    // The length is limited, so that delimiters which are never closed cost little.
    let formula = crate::text::start_of(&text[open.len()..], MAX_BYTES);
    let formula = &formula[..formula.find(close)?];
    let end = open.len() + formula.len() + close.len();
    let is_inline = !formula.contains('`') && !formula.trim().is_empty();
    let has_markup = formula.contains(['\\', '_', '^']);
    // A dollar sign is a price as often as a delimiter.
    let is_delimited = open != "$"
        || (!formula.contains(char::is_whitespace) || formula.contains('\\'))
            && !formula.starts_with(char::is_whitespace)
            && !formula.ends_with(char::is_whitespace)
            && !text[end..].starts_with(|c: char| c.is_ascii_digit());
    (is_inline && has_markup && is_delimited)
        .then(|| (end, format!("{dollars}{}{dollars}", collapsed(formula))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_in_text_is_not_confused_with_a_price() {
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
