//! The images of a page with what stands beside them: alternative text, caption, surrounding text, size.
//!
//! One pass: the text of the page is written down block by block, and each image remembers its place in it.

use super::text_context::{TextContext, TextPosition};
use crate::dom::{Dom, NodeId, NodeKind, Tag};
use crate::limits::{MAX_CAPTION_CHARS, MAX_IMAGES};
use crate::links::{candidates, image_source, resolve_image};
use crate::text::{collapsed, push_collapsed, shorten};
use std::collections::HashMap;
use url::Url;

/// An image with a known side shorter than this is an icon or a tracking pixel.
const MIN_SIDE: u32 = 32;

/// Most `<img>` elements that are looked at, repeated ones included.
const MAX_ELEMENTS: usize = 5 * MAX_IMAGES;

/// Most children of a `<picture>` or `<figure>` that are looked at for its sources and its caption.
const MAX_CHILDREN: usize = 100;

/// An image of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImageDetail {
    /// Absolute http(s) URL.
    pub url: String,
    /// The alternative text, else the title attribute.
    pub alt: String,
    /// The caption of the figure it is in; at most 200 characters.
    pub caption: String,
    /// The text of the block it is in, else of the ones next to it; at most 200 characters.
    pub context: String,
    /// Width in pixels, as far as the page says.
    pub width: Option<u32>,
    /// Height in pixels, as far as the page says.
    pub height: Option<u32>,
}

/// Returns the images of a page, each once, in document order.
pub(crate) fn details(dom: &Dom, base: &Url) -> Vec<ImageDetail> {
    let mut found =
        ImageDraft { dom, base, at: HashMap::new(), list: Vec::new(), text: TextContext::default() };
    let mut walk = dom.descendants(NodeId::ROOT);
    let mut meta_image = None;
    let mut elements = 0;
    while let Some(id) = walk.next() {
        match dom.kind(id) {
            NodeKind::Text => found.text.push(dom, id),
            NodeKind::Element(Tag::Img) => {
                elements += 1;
                found.image(id);
            }
            NodeKind::Element(Tag::Meta) => found.meta(id, &mut meta_image),
            NodeKind::Element(Tag::Head | Tag::Noscript) => {}
            NodeKind::Element(tag) if tag.is_invisible() => walk.skip_children(id),
            NodeKind::Element(_) | NodeKind::Document | NodeKind::Nothing => {}
        }
        if found.list.len() >= MAX_IMAGES || elements >= MAX_ELEMENTS {
            break;
        }
    }
    found.finish()
}

/// An image and its place in the text.
struct PositionedImage {
    image: ImageDetail,
    place: Option<TextPosition>,
}

struct ImageDraft<'a> {
    dom: &'a Dom,
    base: &'a Url,
    at: HashMap<String, usize>,
    list: Vec<PositionedImage>,
    text: TextContext,
}

impl ImageDraft<'_> {
    fn image(&mut self, id: NodeId) {
        let Some((url, width, height)) = best_source(self.dom, id, self.base) else { return };
        let named = |name: &str| self.dom.attribute(id, name).map(collapsed).filter(|text| !text.is_empty());
        let mut alt = named("alt").or_else(|| named("title")).unwrap_or_default();
        shorten(&mut alt, MAX_CAPTION_CHARS);
        let caption = caption(self.dom, id);
        let place = self.text.mark(self.dom, id);
        self.add(ImageDetail { url, alt, caption, width, height, ..ImageDetail::default() }, Some(place));
    }

    /// Reads `og:image` and the properties that follow it (ogp.me, "structured properties").
    fn meta(&mut self, id: NodeId, current: &mut Option<usize>) {
        let name = self.dom.attribute(id, "property").or_else(|| self.dom.attribute(id, "name"));
        let (Some(name), Some(value)) = (name, self.dom.attribute(id, "content")) else { return };
        let Some(property) = name.trim().strip_prefix("og:image") else { return };
        if matches!(property, "" | ":url" | ":secure_url") {
            if let Some(url) = resolve_image(self.base, value) {
                // The same image under a second name: an address that repeats, or the secure form of the one before.
                let is_alias = !property.is_empty() && current.is_some();
                if !is_alias {
                    *current = self.add(ImageDetail { url, ..ImageDetail::default() }, None);
                }
            }
            return;
        }
        let Some(image) = current.and_then(|at| self.list.get_mut(at)).map(|item| &mut item.image) else {
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

    /// Adds an image, or what is new about one that was met before. Returns its place in the list.
    fn add(&mut self, image: ImageDetail, place: Option<TextPosition>) -> Option<usize> {
        if image.url.starts_with("data:") || is_furniture_name(&image.url) {
            return None;
        }
        if let Some(&at) = self.at.get(&image.url) {
            self.list[at].complete(image, place);
            return Some(at);
        }
        let at = self.list.len();
        self.at.insert(image.url.clone(), at);
        self.list.push(PositionedImage { image, place });
        Some(at)
    }

    fn finish(self) -> Vec<ImageDetail> {
        let ImageDraft { list, text, .. } = self;
        let described = list.into_iter().map(|PositionedImage { mut image, place }| {
            image.context = place.map(|place| text.around(place)).unwrap_or_default();
            image
        });
        described.filter(|image| !is_small(image)).collect()
    }
}

impl PositionedImage {
    /// Fills what is not known yet. The two lengths belong together, so they are taken together.
    fn complete(&mut self, other: ImageDetail, place: Option<TextPosition>) {
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
        self.place = self.place.or(place);
    }
}

/// Returns the address of the largest form of an image and that form's size, as far as the page gives it.
///
/// Only the `w` descriptors of a `srcset` say how wide a file is. A form that is wider than the `<img>` is laid out
/// is taken instead of `src`; its height follows where the two lengths of the `<img>` give it exactly.
fn best_source(dom: &Dom, img: NodeId, base: &Url) -> Option<(String, Option<u32>, Option<u32>)> {
    let (width, height) = size(dom, img);
    let widest = widest(dom, img).filter(|form| width.is_none_or(|width| form.width > width));
    if let Some(form) = widest
        && let Some(url) = resolve_image(base, form.source)
    {
        let (shown_width, shown_height) = size(dom, form.element);
        return Some((url, Some(form.width), scaled(form.width, shown_width, shown_height)));
    }
    Some((image_source(dom, img, base)?, width, height))
}

/// One entry of a `srcset` with its width.
struct SrcsetCandidate<'a> {
    element: NodeId,
    source: &'a str,
    width: u32,
}

fn widest(dom: &Dom, img: NodeId) -> Option<SrcsetCandidate<'_>> {
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

/// Returns the height of a form `width` wide of an image that is laid out in these lengths; only when it is exact.
fn scaled(width: u32, shown_width: Option<u32>, shown_height: Option<u32>) -> Option<u32> {
    let (shown_width, shown_height) = (u64::from(shown_width?), u64::from(shown_height?));
    let product = u64::from(width) * shown_height;
    product.is_multiple_of(shown_width).then(|| u32::try_from(product / shown_width).ok())?
}

/// Returns the lengths that an element gives in pixels: in its attributes, else in its style.
fn size(dom: &Dom, id: NodeId) -> (Option<u32>, Option<u32>) {
    let style = dom.attribute(id, "style").unwrap_or_default();
    let length = |name: &str| dom.attribute(id, name).and_then(pixels).or_else(|| styled(style, name));
    (length("width"), length("height"))
}

/// Reads a positive whole number of pixels, with or without its unit; percentages and fractions are none.
pub(super) fn pixels(text: &str) -> Option<u32> {
    let text = text.trim();
    let digits = text.strip_suffix("px").unwrap_or(text);
    digits
        .bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| digits.parse().ok())?
        .filter(|&length| length > 0)
}

fn styled(style: &str, name: &str) -> Option<u32> {
    let declarations = style.split(';').filter_map(|declaration| declaration.split_once(':'));
    let mut values = declarations.filter(|(property, _)| property.trim().eq_ignore_ascii_case(name));
    let value = values.next_back()?.1.trim().trim_end_matches("!important").trim_end();
    value.ends_with("px").then(|| pixels(value))?
}

fn is_small(image: &ImageDetail) -> bool {
    [image.width, image.height].into_iter().flatten().any(|side| side < MIN_SIDE)
}

/// Tells whether an address is that of page furniture: icons, sprites, spacers, tracking pixels.
fn is_furniture_name(url: &str) -> bool {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    let file = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let (stem, ending) = file.rsplit_once('.').unwrap_or((&file, ""));
    let mut words = stem.split(|c: char| !c.is_ascii_alphanumeric());
    ending == "ico"
        || matches!(stem, "blank" | "pixel" | "transparent" | "clear" | "1x1" | "placeholder" | "loading")
        || words.any(|word| matches!(word, "sprite" | "sprites" | "spacer" | "favicon"))
}

/// Returns the caption of the figure an image is in.
fn caption(dom: &Dom, img: NodeId) -> String {
    let figure = dom.ancestors(img).find(|&id| dom.is(id, Tag::Figure));
    let caption = figure
        .and_then(|figure| dom.children(figure).take(MAX_CHILDREN).find(|&id| dom.is(id, Tag::Figcaption)));
    let mut text = String::new();
    // As many nodes as a caption of an honest page has.
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
