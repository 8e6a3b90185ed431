//! Hints in the names of an element: its tag, its role, and the words of its class and ID.
//!
//! Names are split into words: `post-content`, `postContent` and `post_content` have the words *post* and *content*.
//! Only whole words count, so `shadow` never means an advertisement.

use crate::dom::{Dom, NodeId, NodeKind, Tag};

/// A set of hints, one bit each; see the constants.
pub(super) type Hints = u64;

/// Number of bytes of an attribute that are read for names.
const MAX_NAMES_BYTES: usize = 400;

macro_rules! hints {
    (words { $($name:ident: $($word:literal)+;)* } elements { $($element:ident)* }) => {
        hints!(@number 0u32, $($name)* $($element)*);

        /// The names of the hints, in the order of their bits.
        pub(super) const NAMES: &[&str] = &[$(stringify!($name),)* $(stringify!($element),)*];

        /// Returns the hint a word gives.
        fn of_word(word: &str) -> Hints {
            match word {
                $($($word)|+ => $name,)*
                _ => 0,
            }
        }
    };
    (@number $bit:expr, $name:ident $($rest:ident)*) => {
        pub(super) const $name: Hints = 1 << $bit;
        hints!(@number $bit + 1, $($rest)*);
    };
    (@number $bit:expr,) => {};
}

hints! {
    words {
        NAV: "nav" "navigation" "navbar" "menu" "menus" "submenu" "megamenu" "dropdown" "topnav" "sitenav" "mainnav";
        FOOTER: "footer" "foot" "colophon" "bottom" "copyright" "legal";
        HEADER: "header" "masthead" "topbar" "hero" "head" "top" "branding" "logo";
        SIDEBAR: "sidebar" "aside" "rail" "secondary" "complementary" "widget" "widgets" "sidenav" "side" "right" "left";
        COMMENT: "comment" "comments" "commentlist" "disqus" "respond" "discussion" "replies";
        RELATED: "related" "recommended" "recommendations" "recommendation" "recirc" "similar" "popular" "trending" "latest" "more" "also" "read" "next" "prev" "previous" "upsell" "suggested" "recent" "teaser" "teasers" "crosssell";
        SOCIAL: "share" "sharing" "social" "shares" "sharedaddy" "addthis" "follow" "facebook" "twitter";
        ADVERT: "ad" "ads" "advert" "advertisement" "sponsor" "sponsored" "promo" "promotion" "banner" "outbrain" "taboola" "dfp" "gpt";
        CONSENT: "cookie" "cookies" "consent" "gdpr" "ccpa" "onetrust" "privacy";
        BYLINE: "byline" "author" "meta" "date" "published" "timestamp" "dateline" "credit" "info" "bio" "publish";
        CRUMBS: "breadcrumb" "breadcrumbs" "crumb" "crumbs" "path";
        PAGER: "pagination" "pager" "paging" "pagenav" "paginator" "pages";
        SIGNUP: "newsletter" "subscribe" "subscription" "signup" "login" "signin" "register" "cta" "optin" "mailing" "paywall";
        MODAL: "modal" "popup" "overlay" "dialog" "lightbox" "tooltip" "toast" "alert" "notice" "drawer" "offcanvas";
        TAGS: "tag" "tags" "category" "categories" "topics" "topic" "labels" "keywords" "cats";
        SEARCH: "search" "filter" "filters" "facet" "facets" "sort" "sorting" "refine" "toolbar" "controls";
        CONTENT: "content" "contents" "body" "text" "copy" "richtext" "prose" "rte" "wysiwyg" "markdown" "main" "primary";
        ARTICLE: "article" "story" "news" "blog" "single" "articlebody";
        POST: "post" "entry" "hentry" "postbody" "message" "msg" "answer" "answers" "question" "reply" "thread" "postcontent" "bbp";
        PRODUCT: "product" "products" "item" "items" "price" "prices" "sku" "variant" "pdp" "specs" "specification" "specifications" "features" "feature";
        REVIEW: "review" "reviews" "rating" "ratings" "testimonial" "testimonials" "stars";
        LISTING: "card" "cards" "grid" "list" "listing" "tile" "tiles" "results" "result" "collection" "archive" "loop" "feed";
        SUMMARY: "description" "summary" "excerpt" "intro" "lead" "abstract" "overview" "details" "detail" "standfirst" "subtitle";
        TITLE: "title" "headline" "heading" "name";
        TOC: "toc" "tableofcontents" "outline" "index";
        CAPTION: "caption" "figcaption" "figure" "image" "img" "photo" "gallery" "carousel" "slider" "slideshow" "slide" "media" "video";
        USER: "user" "username" "avatar" "profile" "member" "signature" "poster" "userinfo" "badge" "badges" "likes" "votes" "vote" "score" "stats" "count" "views";
        ACTION: "button" "buttons" "btn" "actions" "action" "tools" "print" "edit" "link" "links" "cart" "wishlist" "checkout" "quantity" "qty" "swatch" "option" "options" "select";
        FAQ: "faq" "faqs" "accordion" "tab" "tabs" "tabpanel" "panel" "collapse" "collapsible" "expandable";
        SECTION: "section" "block" "module" "row" "container" "wrapper" "column" "col";
        SKIP: "skip" "sr" "screenreader" "hidden" "visually" "visuallyhidden" "hide" "invisible" "noprint" "mobile" "offscreen";
        CODE: "code" "highlight" "codehilite" "snippet" "sourcecode";
        FOOTNOTE: "footnote" "footnotes" "references" "reflist" "citation" "citations" "reference" "bibliography" "notes";
        LANGUAGE: "lang" "language" "languages" "locale" "country" "region" "currency";
    }
    elements {
        IN_NAV IN_HEADER IN_FOOTER IN_ASIDE IN_MAIN IN_ARTICLE IN_FORM IN_LIST IN_TABLE IN_QUOTE IN_FIGURE IN_LINK IN_BUTTON IN_HEADING IN_CODE IN_DETAILS IN_BODY_PROPERTY IN_HIDDEN
    }
}

/// Returns the hints in the names of an element, and a hash of its tag and classes.
pub(super) fn of_element(dom: &Dom, id: NodeId) -> (Hints, u64) {
    let NodeKind::Element(tag) = dom.kind(id) else { return (0, 0) };
    let mut hints = of_tag(tag);
    let mut signature = tag as u64 + 1;
    // The class of `<html>` and `<body>` describes the whole page, not a part of it.
    if matches!(tag, Tag::Html | Tag::Body) {
        return (hints, signature);
    }
    for (name, value) in dom.attributes(id) {
        match name {
            "class" => {
                let names = of_names(value);
                hints |= names;
                if is_quote_class(value) {
                    hints |= IN_QUOTE;
                }
                if (names & SKIP != 0 || value.contains("none")) && is_hiding_class(value) {
                    hints |= IN_HIDDEN;
                }
                signature = add_to_signature(signature, value);
            }
            "id" => hints |= of_names(value),
            "role" => hints |= of_role(value),
            "itemprop" if matches!(value, "articleBody" | "text" | "description" | "reviewBody") => {
                hints |= IN_BODY_PROPERTY;
            }
            "itemprop" | "data-component" | "data-testid" | "aria-label" if value.len() < 60 => {
                hints |= of_names(value);
            }
            _ => {}
        }
    }
    (hints, signature)
}

/// Returns whether a class is that of a quoted post in a forum.
fn is_quote_class(names: &str) -> bool {
    if !names.contains(['q', 'Q']) {
        return false;
    }
    let mut words = names.split(|c: char| !c.is_ascii_alphabetic()).take(40);
    words.any(|word| {
        ["quote", "quoted", "blockquote", "quotebox", "bbquote", "quotecontent", "quoteblock"]
            .iter()
            .any(|name| word.eq_ignore_ascii_case(name))
    })
}

/// Returns whether a class has the name that styles hide elements with, and none that shows them on other screens.
fn is_hiding_class(names: &str) -> bool {
    let mut hides = false;
    for name in names.split_ascii_whitespace().take(40) {
        hides |= matches!(
            name,
            "hide" | "hidden" | "d-none" | "is-hidden" | "u-hidden" | "invisible" | "display-none"
        );
        if name.contains(':') || (name.starts_with("d-") && name != "d-none") {
            return false;
        }
    }
    hides
}

/// Adds class names to a signature without their digits, which often number similar elements.
fn add_to_signature(signature: u64, names: &str) -> u64 {
    let letters = names.bytes().take(200).filter(|byte| !byte.is_ascii_digit());
    letters.fold(signature, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn of_tag(tag: Tag) -> Hints {
    match tag {
        Tag::Nav => IN_NAV,
        Tag::Header => IN_HEADER,
        Tag::Footer => IN_FOOTER,
        Tag::Aside => IN_ASIDE,
        Tag::Main => IN_MAIN,
        Tag::Article => IN_ARTICLE,
        Tag::Form | Tag::Fieldset => IN_FORM,
        Tag::Ul | Tag::Ol | Tag::Dl => IN_LIST,
        Tag::Table => IN_TABLE,
        Tag::Blockquote => IN_QUOTE,
        Tag::Figure | Tag::Figcaption | Tag::Picture => IN_FIGURE,
        Tag::A => IN_LINK,
        Tag::Button | Tag::Label => IN_BUTTON,
        Tag::H1 | Tag::H2 | Tag::H3 | Tag::H4 | Tag::H5 | Tag::H6 => IN_HEADING,
        Tag::Pre | Tag::Code => IN_CODE,
        Tag::Details => IN_DETAILS,
        _ => 0,
    }
}

fn of_role(role: &str) -> Hints {
    match role {
        "navigation" | "menu" | "menubar" => IN_NAV,
        "banner" => IN_HEADER,
        "contentinfo" => IN_FOOTER,
        "complementary" => IN_ASIDE,
        "main" => IN_MAIN,
        "article" => IN_ARTICLE,
        "search" | "form" => IN_FORM,
        "dialog" | "alertdialog" | "alert" => MODAL,
        "button" => IN_BUTTON,
        "heading" => IN_HEADING,
        _ => 0,
    }
}

/// Splits names into words and collects their hints.
fn of_names(names: &str) -> Hints {
    let names = names.as_bytes();
    let names = names.get(..MAX_NAMES_BYTES).unwrap_or(names);
    let mut hints = 0;
    let mut word = [0_u8; 20];
    let mut length = 0;
    let mut previous_lower = false;
    for (at, &byte) in names.iter().chain(std::iter::once(&b' ')).enumerate() {
        let boundary = !byte.is_ascii_alphabetic() || (byte.is_ascii_uppercase() && previous_lower);
        if boundary && length > 0 {
            if let Some(word) = word.get(..length)
                && !(is_position(word) && follows_utility(&names[..at - length]))
            {
                hints |= std::str::from_utf8(word).map_or(0, of_word);
            }
            length = 0;
        }
        if byte.is_ascii_alphabetic() {
            if let Some(slot) = word.get_mut(length) {
                *slot = byte.to_ascii_lowercase();
            }
            length += 1;
        }
        previous_lower = byte.is_ascii_lowercase();
    }
    hints
}

/// Returns whether a word is a position, or *widget*: page builders call all
/// parts of a page widgets.
fn is_position(word: &[u8]) -> bool {
    matches!(word, b"left" | b"right" | b"top" | b"bottom" | b"side" | b"widget" | b"widgets")
}

/// Returns whether the names before a position end with a word for the style of a text or the space around it: `text-right`,
/// `margin-bottom`.
fn follows_utility(before: &[u8]) -> bool {
    const UTILITIES: [&[u8]; 15] = [
        b"text",
        b"float",
        b"pull",
        b"align",
        b"alignment",
        b"margin",
        b"padding",
        b"border",
        b"rounded",
        b"justify",
        b"space",
        b"spacing",
        b"gutter",
        b"arrow",
        b"elementor",
    ];
    let end = before.iter().rposition(|byte| !matches!(byte, b'-' | b'_')).map_or(0, |last| last + 1);
    let name = &before[..end];
    let start = name.iter().rposition(|byte| !byte.is_ascii_alphabetic()).map_or(0, |last| last + 1);
    UTILITIES.iter().any(|utility| name[start..].eq_ignore_ascii_case(utility))
}
