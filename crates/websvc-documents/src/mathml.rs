//! Copies formulas in MathML to the output, reduced to their structure.

use crate::error::DocumentError;
use crate::html::{escape, push_escaped};
use crate::xml::{Tag, Token, Xml};

/// The maximum size of a formula in bytes.
pub(crate) const MAX_BYTES: u64 = 200_000;

/// The elements that are copied. Of other elements, only the content is.
const ELEMENTS: [&str; 26] = [
    "mi",
    "mn",
    "mo",
    "ms",
    "mtext",
    "mspace",
    "mrow",
    "mfrac",
    "msqrt",
    "mroot",
    "mstyle",
    "merror",
    "mpadded",
    "mfenced",
    "menclose",
    "msub",
    "msup",
    "msubsup",
    "munder",
    "mover",
    "munderover",
    "mtable",
    "mtr",
    "mtd",
    "mlabeledtr",
    "semantics",
];
/// The attributes that change the meaning of a formula.
const ATTRIBUTES: [&str; 7] =
    ["open", "close", "separators", "linethickness", "columnalign", "displaystyle", "accent"];

/// Reads the `<math>` element whose start tag was read, and returns its markup.
pub(crate) fn read(xml: &mut Xml<'_>, start: &Tag) -> Result<String, DocumentError> {
    let mut markup = "<math".to_owned();
    if start.get("display") == Some("block") {
        markup.push_str(" display=\"block\"");
    }
    if let Some(latex) = start.get("alttext").filter(|text| !text.trim().is_empty()) {
        markup.push_str(&format!(" alttext=\"{}\"", escape(latex)));
    }
    markup.push('>');
    let mut open: Vec<String> = Vec::new();
    while let Some(token) = xml.next()? {
        match token {
            Token::End(name) if name == "math" => break,
            Token::End(name) => {
                if open.last() == Some(&name) {
                    open.pop();
                    markup.push_str(&format!("</{name}>"));
                }
            }
            Token::Text(text) => push_escaped(&mut markup, &text),
            Token::Start(tag) if tag.name == "annotation" => annotation(xml, &tag, &mut markup)?,
            Token::Start(tag) if matches!(tag.name.as_str(), "annotation-xml" | "script" | "style") => {
                xml.skip()?;
            }
            Token::Start(tag) if ELEMENTS.contains(&tag.name.as_str()) => {
                markup.push_str(&format!("<{}", tag.name));
                for name in ATTRIBUTES {
                    if let Some(value) = tag.get(name) {
                        markup.push_str(&format!(" {name}=\"{}\"", escape(value)));
                    }
                }
                markup.push('>');
                open.push(tag.name);
            }
            Token::Start(_) => {}
        }
    }
    while let Some(name) = open.pop() {
        markup.push_str(&format!("</{name}>"));
    }
    markup.push_str("</math>");
    Ok(markup)
}

/// Copies an annotation in LaTeX.
fn annotation(xml: &mut Xml<'_>, tag: &Tag, markup: &mut String) -> Result<(), DocumentError> {
    let is_latex = tag.get("encoding").is_some_and(|encoding| encoding.contains("tex"));
    let text = xml.text()?;
    if is_latex {
        markup
            .push_str(&format!("<annotation encoding=\"application/x-tex\">{}</annotation>", escape(&text)));
    }
    Ok(())
}
