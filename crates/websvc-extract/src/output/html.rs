//! Cleaned HTML: without scripts, styles, comments, event handlers and script URLs, with absolute links.

use super::{FormattedText, OutputContext};
use crate::dom::{NodeId, NodeKind, Tag};
use crate::limits::MAX_OUTPUT_BYTES;
use crate::links;
use crate::text::{is_dropped, starts_with_ignore_case};

/// Writes the view as HTML.
pub(crate) fn write(context: OutputContext<'_>) -> FormattedText {
    let mut out = String::new();
    for &root in &context.view.roots {
        node(context, root, &mut out);
        if !out.ends_with('\n') && !out.is_empty() {
            out.push('\n');
        }
    }
    let truncated = out.len() > MAX_OUTPUT_BYTES;
    FormattedText { text: out, truncated }
}

fn node(context: OutputContext<'_>, id: NodeId, out: &mut String) {
    if out.len() > MAX_OUTPUT_BYTES {
        return;
    }
    match context.dom.kind(id) {
        NodeKind::Text => escape(out, context.dom.text(id), false),
        NodeKind::Document => children(context, id, out),
        NodeKind::Element(Tag::Script) | NodeKind::Nothing => {}
        NodeKind::Element(tag) => {
            let name = context.dom.name(id);
            out.push('<');
            out.push_str(name);
            attributes(context, id, tag, out);
            out.push('>');
            if !tag.is_void() {
                children(context, id, out);
                out.push_str("</");
                out.push_str(name);
                out.push('>');
            }
        }
    }
}

fn children(context: OutputContext<'_>, id: NodeId, out: &mut String) {
    for child in context.view.children(context.dom, id) {
        node(context, child, out);
    }
}

fn attributes(context: OutputContext<'_>, id: NodeId, tag: Tag, out: &mut String) {
    for (name, value) in context.dom.attributes(id) {
        let is_valid = name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b':'));
        if !is_valid
            || starts_with_ignore_case(name, "on")
            || matches!(name, "style" | "srcdoc" | "nonce" | "ping")
        {
            continue;
        }
        let absolute = match name {
            // Embedded images remain: the option that removes them applies to markdown only.
            "src" if tag == Tag::Img => match links::image_source(context.dom, id, context.base) {
                Some(source) => Some(source),
                None => continue,
            },
            "srcset" | "data-srcset" => continue,
            "href" | "src" | "cite" | "action" | "formaction" | "poster" | "longdesc" | "background" => {
                match links::resolve(context.base, value) {
                    Some(url) => Some(url.into()),
                    None => continue,
                }
            }
            _ => None,
        };
        write_attribute(out, name, absolute.as_deref().unwrap_or(value));
    }
    if tag == Tag::Img
        && context.dom.attribute(id, "src").is_none()
        && let Some(source) = links::image_source(context.dom, id, context.base)
    {
        write_attribute(out, "src", &source);
    }
}

fn write_attribute(out: &mut String, name: &str, value: &str) {
    out.push(' ');
    out.push_str(name);
    out.push_str("=\"");
    escape(out, value, true);
    out.push('"');
}

fn escape(out: &mut String, text: &str, in_attribute: bool) {
    for c in text.chars() {
        if out.len() > MAX_OUTPUT_BYTES {
            return;
        }
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' if in_attribute => out.push_str("&quot;"),
            '\u{a0}' => out.push_str("&nbsp;"),
            c if is_dropped(c) => {}
            c => out.push(c),
        }
    }
}
