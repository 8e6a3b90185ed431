//! Formulas: the LaTeX a page carries beside its MathML, or a plain reading of simple MathML.

use crate::dom::{Dom, NodeId, NodeKind};
use crate::text::collapsed;

/// Returns the formula of a `<math>` element.
pub(super) fn latex(dom: &Dom, math: NodeId) -> String {
    let annotation = dom.descendants(math).find(|&id| {
        dom.name(id) == "annotation" && dom.attribute(id, "encoding").is_some_and(|kind| kind.contains("tex"))
    });
    if let Some(annotation) = annotation {
        let source: String = dom.descendants(annotation).map(|id| dom.text(id)).collect();
        return collapsed(&source);
    }
    if let Some(alternative) = dom.attribute(math, "alttext") {
        return collapsed(alternative);
    }
    let mut out = String::new();
    read(dom, math, &mut out);
    collapsed(&out)
}

fn read(dom: &Dom, id: NodeId, out: &mut String) {
    let between = match dom.name(id) {
        "annotation" | "annotation-xml" | "mphantom" => return,
        "mfrac" => return fraction(dom, id, out),
        "msqrt" => return group(dom, id, "\\sqrt", out),
        "msup" | "mover" => "^",
        "msub" | "munder" => "_",
        "msubsup" | "munderover" => "_^",
        _ => "",
    };
    let mut operators = between.chars();
    let mut first = true;
    for child in dom.children(id) {
        match dom.kind(child) {
            NodeKind::Text => out.push_str(dom.text(child).trim()),
            NodeKind::Element(_) => {
                if let Some(operator) = if first { None } else { operators.next() } {
                    out.push(operator);
                    group(dom, child, "", out);
                } else {
                    read(dom, child, out);
                }
                first = false;
            }
            NodeKind::Document | NodeKind::Nothing => {}
        }
    }
}

fn fraction(dom: &Dom, id: NodeId, out: &mut String) {
    out.push_str("\\frac");
    for child in dom.children(id).filter(|&child| dom.tag(child).is_some()) {
        group(dom, child, "", out);
    }
}

fn group(dom: &Dom, id: NodeId, command: &str, out: &mut String) {
    out.push_str(command);
    let mut inner = String::new();
    if command.is_empty() {
        read(dom, id, &mut inner);
    } else {
        for child in dom.children(id) {
            read(dom, child, &mut inner);
        }
    }
    if command.is_empty() && inner.chars().count() == 1 {
        out.push_str(&inner);
    } else {
        out.push('{');
        out.push_str(&inner);
        out.push('}');
    }
}
