//! The images of a page with their alternative text, caption, surrounding text and size.
//!
//! This takes one pass: the text of the page is collected block by block, and each image stores its position in it.

use super::text_context::{TextContext, TextPosition};
use crate::dom::{Dom, NodeId, NodeKind, Tag};
use crate::limits::{MAX_CAPTION_CHARS, MAX_IMAGES};
use crate::links::{candidates, image_source, resolve_image};
use crate::text::{collapsed, push_collapsed, shorten};
use std::collections::HashMap;
use url::Url;

/// An image with a known side shorter than this is an icon or a tracking pixel.
const MIN_SIDE: u32 = 32;

/// Maximum number of `<img>` elements that are read, including repeated ones.
const MAX_ELEMENTS: usize = 5 * MAX_IMAGES;

/// Maximum number of children of a `<picture>` or `<figure>` that are searched for sources and the caption.
const MAX_CHILDREN: usize = 100;

/// An image of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImageDetail {
    /// Absolute http(s) URL.
    pub url: String,
    /// The alternative text, else the title attribute.
    pub alt: String,
    /// The caption of the figure around it, at most 200 characters.
    pub caption: String,
    /// The text of the block around it, else of the adjacent blocks, at most 200 characters.
    pub context: String,
    /// Width in pixels, if the page has it.
    pub width: Option<u32>,
    /// Height in pixels, if the page has it.
    pub height: Option<u32>,
}

/// Returns the images of a page in document order, each once.
pub(crate) fn details(dom: &Dom, base: &Url) -> Vec<ImageDetail> {
    let mut draft =
        ImageDraft { dom, base, indexes: HashMap::new(), list: Vec::new(), text: TextContext::default() };
    let is_image = |id| matches!(dom.kind(id), NodeKind::Element(Tag::Img));
    let has_images = dom.descendants(NodeId::ROOT).any(is_image);
    let mut walk = dom.descendants(NodeId::ROOT);
    let mut meta_image = None;
    let mut elements = 0;
    while let Some(id) = walk.next() {
        match dom.kind(id) {
            NodeKind::Text if has_images => draft.text.push(dom, id),
            NodeKind::Element(Tag::Img) => {
                elements += 1;
                draft.image(id);
            }
            NodeKind::Element(Tag::Meta) => draft.meta(id, &mut meta_image),
            NodeKind::Element(Tag::Head | Tag::Noscript) => {}
            NodeKind::Element(tag) if tag.is_invisible() => walk.skip_children(id),
            NodeKind::Element(_) | NodeKind::Document | NodeKind::Text | NodeKind::Nothing => {}
        }
        if draft.list.len() >= MAX_IMAGES || elements >= MAX_ELEMENTS {
            break;
        }
    }
    draft.finish()
}

/// An image with its position in the text.
struct PositionedImage {
    image: ImageDetail,
    position: Option<TextPosition>,
}

struct ImageDraft<'a> {
    dom: &'a Dom,
    base: &'a Url,
    indexes: HashMap<String, usize>,
    list: Vec<PositionedImage>,
    text: TextContext,
}

impl ImageDraft<'_> {
    fn image(&mut self, id: NodeId) {
        let Some((url, width, height)) = best_source(self.dom, id, self.base) else { return };
        let attribute =
            |name: &str| self.dom.attribute(id, name).map(collapsed).filter(|text| !text.is_empty());
        let mut alt = attribute("alt").or_else(|| attribute("title")).unwrap_or_default();
        shorten(&mut alt, MAX_CAPTION_CHARS);
        let caption = caption(self.dom, id);
        let position = self.text.mark(self.dom, id);
        self.add(ImageDetail { url, alt, caption, width, height, ..ImageDetail::default() }, Some(position));
    }

    /// Reads `og:image` and the properties after it (ogp.me, "structured properties").
    fn meta(&mut self, id: NodeId, current: &mut Option<usize>) {
        let name = self.dom.attribute(id, "property").or_else(|| self.dom.attribute(id, "name"));
        let (Some(name), Some(value)) = (name, self.dom.attribute(id, "content")) else { return };
        let Some(property) = name.trim().strip_prefix("og:image") else { return };
        if matches!(property, "" | ":url" | ":secure_url") {
            if let Some(url) = resolve_image(self.base, value) {
                // A second URL of the same image: `og:image:url` repeats it, `og:image:secure_url` is its https form.
                let is_alias = !property.is_empty() && current.is_some();
                if !is_alias {
                    *current = self.add(ImageDetail { url, ..ImageDetail::default() }, None);
                }
            }
            return;
        }
        let Some(image) = current.and_then(|index| self.list.get_mut(index)).map(|entry| &mut entry.image)
        else {
            return;
        };
        match property {
            ":alt" => {
                image.alt = collapsed(value);
                shorten(&mut image.alt, MAX_CAPTION_CHARS);
            }
            ":width" => image.width = pixels(value),
            ":height" => image.height = pixels(value),
            _ => {}
        }
    }

    /// Adds an image, or the new properties of an image that is in the list. Returns its index.
    fn add(&mut self, image: ImageDetail, position: Option<TextPosition>) -> Option<usize> {
        if image.url.starts_with("data:") || is_decoration(&image.url) {
            return None;
        }
        if let Some(&index) = self.indexes.get(&image.url) {
            self.list[index].merge(image, position);
            return Some(index);
        }
        let index = self.list.len();
        self.indexes.insert(image.url.clone(), index);
        self.list.push(PositionedImage { image, position });
        Some(index)
    }

    fn finish(self) -> Vec<ImageDetail> {
        let ImageDraft { list, text, .. } = self;
        let described = list.into_iter().map(|PositionedImage { mut image, position }| {
            image.context = position.map(|position| text.around(position)).unwrap_or_default();
            image
        });
        described.filter(|image| !is_small(image)).collect()
    }
}

impl PositionedImage {
    /// Fills properties that are not known yet. Width and height belong together, so they are taken together.
    fn merge(&mut self, other: ImageDetail, position: Option<TextPosition>) {
        let image = &mut self.image;
        if image.alt.is_empty() {
            image.alt = other.alt;
        }
        if image.caption.is_empty() {
            image.caption = other.caption;
        }
        if image.width.is_none() && image.height.is_none() {
            (image.width, image.height) = (other.width, other.height);
        }
        self.position = self.position.or(position);
    }
}

/// Returns the URL of the largest version of an image and its size, if the page has it.
///
/// Only the `w` descriptors of a `srcset` have the width of a file. A version that is wider than the layout of the
/// `<img>` replaces `src`. Its height is computed if the width and height of the `<img>` determine it exactly.
fn best_source(dom: &Dom, img: NodeId, base: &Url) -> Option<(String, Option<u32>, Option<u32>)> {
    let (width, height) = size(dom, img);
    let widest =
        widest_candidate(dom, img).filter(|candidate| width.is_none_or(|width| candidate.width > width));
    if let Some(candidate) = widest
        && let Some(url) = resolve_image(base, candidate.source)
    {
        let (layout_width, layout_height) = size(dom, candidate.element);
        return Some((url, Some(candidate.width), scaled(candidate.width, layout_width, layout_height)));
    }
    Some((image_source(dom, img, base)?, width, height))
}

/// An entry of a `srcset` with its width.
struct SrcsetCandidate<'a> {
    element: NodeId,
    source: &'a str,
    width: u32,
}

fn widest_candidate(dom: &Dom, img: NodeId) -> Option<SrcsetCandidate<'_>> {
    let picture = dom.parent(img).filter(|&parent| dom.is(parent, Tag::Picture));
    let sources = picture.into_iter().flat_map(|picture| dom.children(picture).take(MAX_CHILDREN));
    let elements = std::iter::once(img).chain(sources.filter(|&id| dom.is(id, Tag::Source)));
    let mut best: Option<SrcsetCandidate<'_>> = None;
    for element in elements {
        for set in ["srcset", "data-srcset"].iter().filter_map(|name| dom.attribute(element, name)) {
            for (source, descriptor) in candidates(set) {
                let Some(width) = descriptor.strip_suffix('w').and_then(|digits| digits.parse().ok()) else {
                    continue;
                };
                if best.as_ref().is_none_or(|best| width > best.width) {
                    best = Some(SrcsetCandidate { element, source, width });
                }
            }
        }
    }
    best
}

/// Returns the height of a file of this width, if the layout size determines it exactly.
fn scaled(width: u32, layout_width: Option<u32>, layout_height: Option<u32>) -> Option<u32> {
    let (layout_width, layout_height) = (u64::from(layout_width?), u64::from(layout_height?));
    let product = u64::from(width) * layout_height;
    product.is_multiple_of(layout_width).then(|| u32::try_from(product / layout_width).ok())?
}

/// Returns the width and height of an element in pixels: of its attributes, else of its style.
fn size(dom: &Dom, id: NodeId) -> (Option<u32>, Option<u32>) {
    let style = dom.attribute(id, "style").unwrap_or_default();
    let length = |name: &str| dom.attribute(id, name).and_then(pixels).or_else(|| style_length(style, name));
    (length("width"), length("height"))
}

/// Parses a positive whole number of pixels, with or without its unit. `None` for percentages and fractions.
pub(super) fn pixels(text: &str) -> Option<u32> {
    let text = text.trim();
    let digits = text.strip_suffix("px").unwrap_or(text);
    digits
        .bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| digits.parse().ok())?
        .filter(|&length| length > 0)
}

fn style_length(style: &str, name: &str) -> Option<u32> {
    let declarations = style.split(';').filter_map(|declaration| declaration.split_once(':'));
    let mut values = declarations.filter(|(property, _)| property.trim().eq_ignore_ascii_case(name));
    let value = values.next_back()?.1.trim().trim_end_matches("!important").trim_end();
    value.ends_with("px").then(|| pixels(value))?
}

fn is_small(image: &ImageDetail) -> bool {
    [image.width, image.height].into_iter().flatten().any(|side| side < MIN_SIDE)
}

/// Returns whether a URL is that of decoration: an icon, a sprite, a spacer or a tracking pixel.
fn is_decoration(url: &str) -> bool {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    let file = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let (stem, ending) = file.rsplit_once('.').unwrap_or((&file, ""));
    let mut words = stem.split(|c: char| !c.is_ascii_alphanumeric());
    ending == "ico"
        || matches!(stem, "blank" | "pixel" | "transparent" | "clear" | "1x1" | "placeholder" | "loading")
        || words.any(|word| matches!(word, "sprite" | "sprites" | "spacer" | "favicon"))
}

/// Returns the caption of the figure around an image.
fn caption(dom: &Dom, img: NodeId) -> String {
    let figure = dom.ancestors(img).find(|&id| dom.is(id, Tag::Figure));
    let caption = figure
        .and_then(|figure| dom.children(figure).take(MAX_CHILDREN).find(|&id| dom.is(id, Tag::Figcaption)));
    let mut text = String::new();
    // The number of nodes is limited to that of an honest caption.
    for id in caption.into_iter().flat_map(|id| dom.descendants(id).take(4 * MAX_CAPTION_CHARS)) {
        if matches!(dom.kind(id), NodeKind::Element(tag) if tag.is_block() || tag == Tag::Br) {
            push_collapsed(&mut text, " ");
        }
        push_collapsed(&mut text, dom.text(id));
    }
    let mut text = collapsed(&text);
    shorten(&mut text, MAX_CAPTION_CHARS);
    text
}
