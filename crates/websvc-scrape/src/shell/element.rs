//! Elements of the HTML source: the evidence in their start tags, and their context.

use super::names;
use crate::visible::{attributes, is_named};

/// Elements without an end tag.
const VOID: &[&str] = &[
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track",
    "wbr",
];

/// Elements that contain blocks of content, as opposed to a part of a line.
const BLOCKS: &[&str] = &["div", "main", "section", "article", "ul", "ol", "table", "tbody"];

/// Elements that are content without being text.
const MEDIA: &[&str] = &["img", "video", "audio", "iframe", "object", "embed", "canvas", "frame", "picture"];

/// Form fields.
const FIELDS: &[&str] = &["input", "select", "textarea"];

/// The parts of a start tag that are evidence.
#[derive(Debug, Default)]
pub(super) struct Tag<'a> {
    pub(super) name: &'a [u8],
    pub(super) id: &'a [u8],
    pub(super) kind: &'a [u8],
    pub(super) src: &'a [u8],
    class: &'a [u8],
    is_hidden: bool,
    is_busy: bool,
    is_root: bool,
    is_navigation: bool,
    is_main: bool,
    is_invisible_pixel: bool,
    /// True if an attribute of a framework repeats the element for the items of a list.
    pub(super) repeats: bool,
    /// True if an attribute of a framework puts a value into the element.
    pub(super) has_binding: bool,
    /// True if the server left the rendering of this part to the browser.
    pub(super) bails_out: bool,
    /// True if the element loads its content by itself.
    pub(super) loads_itself: bool,
}

impl<'a> Tag<'a> {
    pub(super) fn read(source: &'a [u8]) -> Self {
        let end = source
            .iter()
            .position(|&byte| byte.is_ascii_whitespace() || byte == b'/')
            .unwrap_or(source.len());
        let mut tag = Self { name: &source[..end], ..Self::default() };
        let is_frame = is_named(source, "turbo-frame");
        for (name, value) in attributes(source) {
            let is = |expected: &str| name.eq_ignore_ascii_case(expected.as_bytes());
            if is("id") {
                tag.id = value;
            } else if is("class") {
                tag.class = value;
            } else if is("type") {
                tag.kind = value;
            } else if is("src") {
                tag.src = value;
                tag.loads_itself |= is_frame;
            } else if is("style") {
                let style: Vec<u8> =
                    value.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
                tag.is_hidden |= names::contains(&style, "display:none");
            } else if is("hidden") {
                tag.is_hidden = true;
            } else if is("role") {
                tag.is_navigation = ["navigation", "banner", "contentinfo", "search"]
                    .iter()
                    .any(|role| value.eq_ignore_ascii_case(role.as_bytes()));
                tag.is_main = value.eq_ignore_ascii_case(b"main");
            } else if is("aria-busy") {
                tag.is_busy = value.eq_ignore_ascii_case(b"true");
            } else if is("width") || is("height") {
                tag.is_invisible_pixel |= matches!(value, b"0" | b"1");
            } else if is("hx-trigger") {
                tag.loads_itself |= names::contains(value, "load") || names::contains(value, "revealed");
            } else if is("data-dgst") {
                tag.bails_out = names::contains(value, "BAILOUT_TO_CLIENT_SIDE_RENDERING");
            } else if is("client") {
                tag.loads_itself |= value == b"only";
            } else {
                tag.is_root |= names::is_root_attribute(name);
                tag.repeats |=
                    names::is_repeating(name) || (is("data-bind") && names::contains(value, "foreach"));
                tag.has_binding |= names::is_binding(name) || is("x-for") || is("data-bind");
            }
        }
        tag
    }

    fn is_any(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.name.eq_ignore_ascii_case(name.as_bytes()))
    }

    pub(super) fn is_field(&self) -> bool {
        self.is_any(FIELDS) && !self.kind.eq_ignore_ascii_case(b"hidden")
    }

    pub(super) fn is_media(&self) -> bool {
        self.is_any(MEDIA) && !self.is_hidden && !self.is_invisible_pixel && !names::is_spinner(self.src)
    }

    fn is_html_or_body(&self) -> bool {
        self.is_any(&["html", "body"])
    }

    fn region(&self, is_at_top: bool) -> Region {
        let is_custom = self.name.contains(&b'-');
        if self.is_html_or_body() {
            Region::Other
        } else if self.is_root
            || names::is_root_id(self.id)
            || (is_custom && names::is_root_element(self.name))
        {
            Region::Root
        } else if self.is_main
            || self.is_any(&["main"])
            || (is_block(self.name) && names::is_main_id(self.id))
        {
            Region::Main
        } else if is_custom && is_at_top {
            Region::Custom
        } else {
            Region::Other
        }
    }
}

/// The context of text: properties of the open elements around it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TextContext {
    /// True in chrome: navigation, and parts that are the same on every page of a site.
    pub(super) is_chrome: bool,
    /// True in a hidden element.
    pub(super) is_hidden: bool,
    /// True in an element that is shown until the content is loaded.
    pub(super) is_loading: bool,
    /// True in code.
    pub(super) is_code: bool,
    /// True where links are navigation, but other text may be content.
    has_chrome_links: bool,
    /// True in the header of the page, whose headings and paragraphs may be content.
    is_header: bool,
}

/// The role of an element in a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Region {
    /// A framework renders into the element.
    Root,
    /// The element contains the main content.
    Main,
    /// A custom element near the top of the page.
    Custom,
    /// Any other element.
    Other,
}

/// The amounts of content in a part of a page.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    /// Words of content.
    pub(super) words: usize,
    /// Words in elements that are marked as loading.
    pub(super) loading_words: usize,
    /// Form fields.
    pub(super) fields: usize,
    /// Images, videos and frames.
    pub(super) media: usize,
}

/// An open element.
#[derive(Debug)]
pub(super) struct Element<'a> {
    pub(super) name: &'a [u8],
    pub(super) id: &'a [u8],
    pub(super) region: Region,
    pub(super) context: TextContext,
    pub(super) is_skeleton: bool,
    pub(super) is_spinner: bool,
    pub(super) is_busy: bool,
    /// True if the element is the outermost one that is marked as loading.
    pub(super) is_outermost_loading: bool,
    /// The counts of the page at the start of the element.
    counts_before: Counts,
}

impl<'a> Element<'a> {
    /// Opens an element in the context of its parent.
    pub(super) fn open(tag: &Tag<'a>, parent: TextContext, is_at_top: bool, counts_before: Counts) -> Self {
        let named = |is: fn(&[u8]) -> bool| !tag.is_html_or_body() && (is(tag.class) || is(tag.id));
        let is_skeleton = named(names::is_skeleton);
        let is_spinner = !is_skeleton && named(names::is_spinner);
        let is_loading = is_skeleton || is_spinner;
        // React streams content in hidden elements with such an `id`.
        let is_streamed = tag.id.starts_with(b"S:");
        let context = TextContext {
            is_chrome: parent.is_chrome
                || tag.is_navigation
                || tag.is_any(&["nav", "footer", "aside"])
                || (parent.has_chrome_links && tag.is_any(&["a", "button"]))
                || tag.is_any(&["header"]),
            is_hidden: parent.is_hidden || (tag.is_hidden && !is_streamed && !tag.is_html_or_body()),
            is_loading: parent.is_loading || is_loading,
            is_code: parent.is_code || tag.is_any(&["code", "pre"]),
            has_chrome_links: parent.has_chrome_links
                || (!tag.is_any(&["main", "article"]) && named(names::is_chrome)),
            is_header: (parent.is_header || tag.is_any(&["header"]))
                && !tag.is_navigation
                && !tag.is_any(&["nav", "footer", "aside"]),
        };
        let may_be_content = tag.is_any(&["h1", "h2", "p"]);
        let is_chrome = context.is_chrome && !(parent.is_header && may_be_content);
        Self {
            name: tag.name,
            id: tag.id,
            region: tag.region(is_at_top),
            context: TextContext { is_chrome, ..context },
            is_skeleton,
            is_spinner,
            is_busy: tag.is_busy && !tag.is_html_or_body(),
            is_outermost_loading: is_loading && !parent.is_loading,
            counts_before,
        }
    }

    /// Returns the counts of the element, from those of the page at its end.
    pub(super) fn counts(&self, at_end: Counts) -> Counts {
        let Counts { words, loading_words, fields, media } = self.counts_before;
        Counts {
            words: at_end.words.saturating_sub(words),
            loading_words: at_end.loading_words.saturating_sub(loading_words),
            fields: at_end.fields.saturating_sub(fields),
            media: at_end.media.saturating_sub(media),
        }
    }
}

pub(super) fn is_void(name: &[u8]) -> bool {
    VOID.iter().any(|void| name.eq_ignore_ascii_case(void.as_bytes()))
}

pub(super) fn is_block(name: &[u8]) -> bool {
    BLOCKS.iter().any(|block| name.eq_ignore_ascii_case(block.as_bytes()))
}
