//! Links, images, and links to embedded media.

use super::escape::escape_target;
use super::inline::{EscapeContext, Inline, InlineMark};
use super::markdown::Writer;
use super::{BASE64_MARKER, OutputContext, card_title, math};
use crate::dom::{Dom, NodeId, Tag};
use crate::options::Base64Images;
use crate::text::{collapsed, starts_with_ignore_case};
use crate::{embed, links};

impl Writer<'_> {
    pub(super) fn link(&mut self, id: NodeId) {
        let OutputContext { dom, view, base, .. } = self.context;
        let Some(href) = dom.attribute(id, "href") else { return self.children(id) };
        if href.contains('#') && is_permalink_sign(&view.text(dom, id)) && !has_image(dom, id) {
            return;
        }
        if let Some(label) = self.footnotes.reference(id) {
            let reference = format!("[^{label}]");
            return self.inline.push_raw(&reference);
        }
        let fragment = links::fragment_of(dom, id, base);
        // The back link of a footnote. Word puts the name of the document before it.
        let is_back_link = self.in_note && (fragment.is_some() || href.contains("#_ftnref"));
        if is_back_link && view.text(dom, id).chars().count() <= 4 {
            return;
        }
        if let Some(fragment) = fragment {
            // A link that triggers a script, or a heading that links to itself.
            if fragment.is_empty() || (self.in_heading && !has_image(dom, id)) {
                return self.children(id);
            }
        }
        let Some(url) = links::resolve(base, href) else { return self.children(id) };
        let target = escape_target(url.as_str());
        // A link around a card is written around the title of the card.
        if self.flat == 0
            && let Some(title) = card_title::title_of(self.context, id)
        {
            if fragment.is_none() {
                self.title_links.insert(title, target);
            }
            return self.children(id);
        }
        if view.has_text(dom, id) {
            self.inline.open_link(target);
        } else {
            self.inline.open(InlineMark::Link(target));
        }
        self.children(id);
        self.inline.close();
    }

    pub(super) fn image(&mut self, id: NodeId) {
        let OutputContext { dom, base, base64_images, .. } = self.context;
        if is_tracking_pixel(dom, id) {
            return;
        }
        if let Some(formula) = math::of_image(dom, id, self.stands_alone(id)) {
            return self.formula(&formula);
        }
        let alt = collapsed(dom.attribute(id, "alt").unwrap_or(""));
        let mut label = Inline::new(if self.inline.is_cell() {
            EscapeContext::TableCell
        } else {
            EscapeContext::Paragraph
        });
        label.open(InlineMark::Link(String::new()));
        label.push_text(&alt);
        let label = label.take();
        let alt = label.strip_prefix('[').and_then(|label| label.strip_suffix("]()")).unwrap_or("");
        let Some(source) = links::image_source(dom, id, base) else { return };
        let is_embedded = starts_with_ignore_case(&source, "data:");
        let target = if is_embedded && base64_images == Base64Images::Replace {
            BASE64_MARKER.to_owned()
        } else {
            escape_target(&source)
        };
        self.inline.push_image(&format!("![{alt}]({target})"));
    }

    /// Returns whether an element is the only content of the block around it.
    fn stands_alone(&self, id: NodeId) -> bool {
        let OutputContext { dom, .. } = self.context;
        let mut inner = id;
        for ancestor in dom.ancestors(id).take(4) {
            let other = |child: NodeId| {
                child != inner && (dom.tag(child).is_some() || !dom.text(child).trim().is_empty())
            };
            if dom.children(ancestor).any(other) {
                return false;
            }
            if dom.tag(ancestor).is_some_and(Tag::is_block) {
                return true;
            }
            inner = ancestor;
        }
        false
    }

    /// Writes a link to a video or a sound.
    pub(super) fn embedded(&mut self, id: NodeId, tag: Tag) {
        let OutputContext { dom, base, .. } = self.context;
        let Some(url) = embed::address(dom, id).and_then(|address| links::resolve(base, &address)) else {
            return;
        };
        let label = dom.first_attribute(id, &["title", "aria-label"]).map(collapsed);
        let name = label
            .filter(|name| !name.is_empty())
            .unwrap_or_else(|| if tag == Tag::Audio { "Audio".to_owned() } else { "Video".to_owned() });
        self.inline.push_space();
        self.inline.open(InlineMark::Link(escape_target(url.as_str())));
        self.inline.push_text(&name);
        self.inline.close();
        self.inline.push_space();
    }
}

fn has_image(dom: &Dom, id: NodeId) -> bool {
    dom.descendants(id).any(|child| dom.is(child, Tag::Img))
}

/// Returns whether the text of a link is only a symbol for "link to this section".
fn is_permalink_sign(text: &str) -> bool {
    matches!(
        text,
        "" | "#" | "¶" | "§" | "🔗" | "\u{f0c1}" | "↩" | "↩︎" | "link" | "Link" | "Permalink" | "permalink"
    )
}

fn is_tracking_pixel(dom: &Dom, img: NodeId) -> bool {
    let is_tiny =
        |name| dom.attribute(img, name).is_some_and(|size| matches!(size.trim(), "0" | "1" | "0px" | "1px"));
    is_tiny("width") && is_tiny("height")
}
