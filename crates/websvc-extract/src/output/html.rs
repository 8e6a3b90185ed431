//! Cleaned HTML: no scripts, styles, comments, event handlers or script URLs; links absolute.

use super::OutputContext;
use crate::dom::{NodeId, NodeKind, Tag};
use crate::limits::MAX_OUTPUT_BYTES;
use crate::links;
use crate::text::{is_dropped, starts_with_ignore_case};

/// Writes the view as HTML.
pub(crate) fn write(page: OutputContext<'_>) -> (String, bool) {
    let mut out = String::new();
    for &root in &page.view.roots {
        node(page, root, &mut out);
        if !out.ends_with('\n') && !out.is_empty() {
            out.push('\n');
        }
    }
    let full = out.len() > MAX_OUTPUT_BYTES;
    (out, full)
}

fn node(page: OutputContext<'_>, id: NodeId, out: &mut String) {
    if out.len() > MAX_OUTPUT_BYTES {
        return;
    }
    match page.dom.kind(id) {
        NodeKind::Text => escape(out, page.dom.text(id), false),
        NodeKind::Document => children(page, id, out),
        NodeKind::Element(Tag::Script) | NodeKind::Nothing => {}
        NodeKind::Element(tag) => {
            let name = page.dom.name(id);
            out.push('<');
            out.push_str(name);
            attributes(page, id, tag, out);
            out.push('>');
            if !tag.is_void() {
                children(page, id, out);
                out.push_str("</");
                out.push_str(name);
                out.push('>');
            }
        }
    }
}

fn children(page: OutputContext<'_>, id: NodeId, out: &mut String) {
    for child in page.view.children(page.dom, id) {
        node(page, child, out);
    }
}

fn attributes(page: OutputContext<'_>, id: NodeId, tag: Tag, out: &mut String) {
    for (name, value) in page.dom.attributes(id) {
        let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b':'));
        if !plain
            || starts_with_ignore_case(name, "on")
            || matches!(name, "style" | "srcdoc" | "nonce" | "ping")
        {
            continue;
        }
        let absolute = match name {
            // Embedded images stay: the option that removes them is one of the markdown alone.
            "src" if tag == Tag::Img => match links::image_source(page.dom, id, page.base) {
                Some(source) => Some(source),
                None => continue,
            },
            "srcset" | "data-srcset" => continue,
            "href" | "src" | "cite" | "action" | "formaction" | "poster" | "longdesc" | "background" => {
                match links::resolve(page.base, value) {
                    Some(url) => Some(url.into()),
                    None => continue,
                }
            }
            _ => None,
        };
        write_attribute(out, name, absolute.as_deref().unwrap_or(value));
    }
    if tag == Tag::Img
        && page.dom.attribute(id, "src").is_none()
        && let Some(source) = links::image_source(page.dom, id, page.base)
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

fn escape(out: &mut String, text: &str, attribute: bool) {
    for c in text.chars() {
        if out.len() > MAX_OUTPUT_BYTES {
            return;
        }
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' if attribute => out.push_str("&quot;"),
            '\u{a0}' => out.push_str("&nbsp;"),
            c if is_dropped(c) => {}
            c => out.push(c),
        }
    }
}
