//! An element of the source: what its tag says, and the place where it stands.

use super::names;
use crate::visible::{attributes, is_named};

/// Elements without an end.
const VOID: &[&str] = &[
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track",
    "wbr",
];

/// Elements that hold content, as opposed to a part of a line.
const BLOCKS: &[&str] = &["div", "main", "section", "article", "ul", "ol", "table", "tbody"];

/// Elements whose content does not come from the page's text.
const MEDIA: &[&str] = &["img", "video", "audio", "iframe", "object", "embed", "canvas", "frame", "picture"];

const FIELDS: &[&str] = &["input", "select", "textarea"];

/// A start tag, as far as it is evidence of anything.
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
    /// It is repeated for the items of a list.
    pub(super) repeats: bool,
    /// It shows a value.
    pub(super) fills: bool,
    /// The server has left this part to the browser.
    pub(super) bails_out: bool,
    /// It gets its content by itself as soon as it is there.
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
            let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
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
                tag.repeats |= names::repeats(name) || (is("data-bind") && names::contains(value, "foreach"));
                tag.fills |= names::fills(name) || is("x-for") || is("data-bind");
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

    fn is_page(&self) -> bool {
        self.is_any(&["html", "body"])
    }

    fn region(&self, is_at_top: bool) -> Region {
        let is_custom = self.name.contains(&b'-');
        if self.is_page() {
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

/// The place where text stands.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Place {
    /// Around the content: it leads through the site, or is the same on each of its pages.
    pub(super) is_chrome: bool,
    pub(super) is_hidden: bool,
    /// In an element that is there until the content is.
    pub(super) is_loading: bool,
    pub(super) is_code: bool,
    /// Links here lead through the site, other text may be content.
    has_chrome_links: bool,
    /// In the header of the page, whose headings and paragraphs may be content.
    is_header: bool,
}

/// The part that an element has in a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Region {
    /// A framework renders into it.
    Root,
    /// It is around the content.
    Main,
    /// It is an element of the page's own making, and no part of another.
    Custom,
    Other,
}

/// An open element.
#[derive(Debug)]
pub(super) struct Element<'a> {
    pub(super) name: &'a [u8],
    pub(super) id: &'a [u8],
    pub(super) region: Region,
    pub(super) place: Place,
    pub(super) is_skeleton: bool,
    pub(super) is_spinner: bool,
    pub(super) is_busy: bool,
    /// It is the outermost element that is there until the content is.
    pub(super) begins_loading: bool,
    /// How many words, words in what is loading, fields and media came before it.
    before: (usize, usize, usize, usize),
}

impl<'a> Element<'a> {
    pub(super) fn open(
        tag: &Tag<'a>,
        around: Place,
        is_at_top: bool,
        before: (usize, usize, usize, usize),
    ) -> Self {
        let named = |is: fn(&[u8]) -> bool| !tag.is_page() && (is(tag.class) || is(tag.id));
        let is_skeleton = named(names::is_skeleton);
        let is_spinner = !is_skeleton && named(names::is_spinner);
        let is_loading = is_skeleton || is_spinner;
        let is_streamed = tag.id.starts_with(b"S:");
        let place = Place {
            is_chrome: around.is_chrome
                || tag.is_navigation
                || tag.is_any(&["nav", "footer", "aside"])
                || (around.has_chrome_links && tag.is_any(&["a", "button"]))
                || tag.is_any(&["header"]),
            is_hidden: around.is_hidden || (tag.is_hidden && !is_streamed && !tag.is_page()),
            is_loading: around.is_loading || is_loading,
            is_code: around.is_code || tag.is_any(&["code", "pre"]),
            has_chrome_links: around.has_chrome_links
                || (!tag.is_any(&["main", "article"]) && named(names::is_chrome)),
            is_header: (around.is_header || tag.is_any(&["header"]))
                && !tag.is_navigation
                && !tag.is_any(&["nav", "footer", "aside"]),
        };
        let speaks = tag.is_any(&["h1", "h2", "p"]);
        let is_chrome = place.is_chrome && !(around.is_header && speaks);
        Self {
            name: tag.name,
            id: tag.id,
            region: tag.region(is_at_top),
            place: Place { is_chrome, ..place },
            is_skeleton,
            is_spinner,
            is_busy: tag.is_busy && !tag.is_page(),
            begins_loading: is_loading && !around.is_loading,
            before,
        }
    }

    /// Returns how many words, words in what is loading, fields and media there are in it.
    pub(super) fn since(&self, now: (usize, usize, usize, usize)) -> (usize, usize, usize, usize) {
        let (words, loading, fields, media) = self.before;
        (
            now.0.saturating_sub(words),
            now.1.saturating_sub(loading),
            now.2.saturating_sub(fields),
            now.3.saturating_sub(media),
        )
    }
}

pub(super) fn is_void(name: &[u8]) -> bool {
    VOID.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
}

pub(super) fn is_block(name: &[u8]) -> bool {
    BLOCKS.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
}
