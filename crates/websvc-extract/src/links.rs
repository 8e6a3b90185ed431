//! Resolves the URLs of a page, and finds images behind lazy-loading attributes.

use crate::dom::{Dom, NodeId, Tag};
use crate::text::starts_with_ignore_case;
use url::Url;

/// Attributes in which lazy-loading scripts store the URL of an image, the best one first.
const LAZY_SOURCES: [&str; 8] = [
    "data-src",
    "data-lazy-src",
    "data-original",
    "data-original-src",
    "data-hi-res-src",
    "data-lazyload",
    "data-url",
    "data-image",
];
const LAZY_SETS: [&str; 3] = ["data-srcset", "data-lazy-srcset", "data-original-set"];

/// Maximum length of a URL. No server accepts a longer one, and a page may repeat it as the base of all links.
const MAX_URL_BYTES: usize = 8 << 10;

/// Maximum length of the base URL. A longer one is shortened, because it is part of each relative link.
const MAX_BASE_BYTES: usize = 512;

/// Returns the URL that relative links are resolved against: the first `<base href>`, else that of the page.
pub(crate) fn base_url(dom: &Dom, page: &Url) -> Url {
    dom.elements(Tag::Base)
        .find_map(|id| dom.attribute(id, "href"))
        .and_then(|href| page.join(href.trim()).ok())
        .filter(|url| is_web(url) && url.as_str().len() <= MAX_BASE_BYTES)
        .unwrap_or_else(|| shortened(page.clone()))
}

/// Removes parts of a URL that is too long for a base.
fn shortened(mut url: Url) -> Url {
    url.set_fragment(None);
    if url.as_str().len() > MAX_BASE_BYTES {
        url.set_query(None);
    }
    if url.as_str().len() > MAX_BASE_BYTES {
        url.set_path("/");
    }
    url
}

/// Resolves a link. `None` for scripts, data and invalid URLs.
pub(crate) fn resolve(base: &Url, href: &str) -> Option<Url> {
    let href = href.trim();
    if href.is_empty() || href.len() > MAX_URL_BYTES {
        return None;
    }
    // Without `mailto:`, it would be a page next to this one, which no site has.
    let url = if is_address(href) { Url::parse(&format!("mailto:{href}")) } else { base.join(href) }.ok()?;
    matches!(url.scheme(), "http" | "https" | "mailto" | "tel" | "ftp").then_some(url)
}

/// Resolves a link to a page or file of the web.
pub(crate) fn resolve_web(base: &Url, href: &str) -> Option<Url> {
    resolve(base, href).filter(is_web)
}

/// Returns whether a URL is one of HTTP.
pub(crate) fn is_web(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
}

/// Returns whether a link is the address of a mailbox: a name, `@`, and a host with a dot, without a path.
fn is_address(href: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty() && !part.contains(|c: char| c.is_whitespace() || "/\\?#:@[]()<>,;\"".contains(c))
    };
    let Some((name, host)) = href.split_once('@').filter(|(name, host)| is_part(name) && is_part(host))
    else {
        return false;
    };
    let end = host.rsplit_once('.').map(|(_, end)| end);
    !name.starts_with('.')
        && end.is_some_and(|end| end.len() > 1 && end.bytes().all(|byte| byte.is_ascii_alphabetic()))
}

/// Resolves the URL of an image. `data:` URLs of images are returned unchanged.
pub(crate) fn resolve_image(base: &Url, source: &str) -> Option<String> {
    let source = source.trim();
    if starts_with_ignore_case(source, "data:") {
        return starts_with_ignore_case(source, "data:image/").then(|| source.to_owned());
    }
    if source.is_empty() || source.starts_with('#') || source.len() > MAX_URL_BYTES {
        return None;
    }
    base.join(source).ok().filter(is_web).map(Into::into)
}

/// Returns the fragment of a link within the page, also if it is written with the name of the page.
pub(crate) fn fragment_of<'a>(dom: &'a Dom, anchor: NodeId, page: &Url) -> Option<&'a str> {
    let (before, fragment) = dom.attribute(anchor, "href")?.trim().split_once('#')?;
    let page_url = page.as_str().split('#').next().unwrap_or_default();
    let is_same_page = before.is_empty()
        || before == page_url
        || (!before.contains("//")
            && !before.ends_with('/')
            && page_url.ends_with(before.trim_start_matches("./"))
            && page.join(before).is_ok_and(|url| url.as_str() == page_url));
    is_same_page.then_some(fragment)
}

/// Returns the absolute URL of an `<img>`. Of a lazy-loading placeholder it is the URL of the real image.
pub(crate) fn image_source(dom: &Dom, img: NodeId, base: &Url) -> Option<String> {
    let src = dom.attribute(img, "src").and_then(|value| resolve_image(base, value));
    let is_lazy = src.as_deref().is_none_or(is_placeholder);
    if !is_lazy {
        return src;
    }
    lazy_source(dom, img, base)
        .or_else(|| {
            dom.attribute(img, "srcset").and_then(|set| resolve_image(base, largest_srcset_candidate(set)?))
        })
        .or_else(|| picture_source(dom, img, base))
        .or_else(|| noscript_source(dom, img, base))
        .or(src.filter(|source| !is_one_pixel(source)))
}

/// Returns whether an image is a GIF of one pixel, which is invisible.
fn is_one_pixel(source: &str) -> bool {
    // The signature, a width of 1 and a height of 1.
    let data = source.split_once("base64,").map(|(_, data)| data).unwrap_or_default();
    data.starts_with("R0lGODlhAQAB") || data.starts_with("R0lGODdhAQAB")
}

fn lazy_source(dom: &Dom, img: NodeId, base: &Url) -> Option<String> {
    let single = LAZY_SOURCES.iter().find_map(|name| {
        let value = dom.attribute(img, name)?;
        // Some of these attributes also have JSON or captions: a URL has no spaces.
        let address = value.trim();
        (!address.contains(char::is_whitespace) && !address.starts_with('{'))
            .then(|| resolve_image(base, address))?
    });
    single.or_else(|| {
        LAZY_SETS
            .iter()
            .find_map(|name| resolve_image(base, largest_srcset_candidate(dom.attribute(img, name)?)?))
    })
}

fn picture_source(dom: &Dom, img: NodeId, base: &Url) -> Option<String> {
    let picture = dom.parent(img).filter(|&parent| dom.is(parent, Tag::Picture))?;
    dom.children(picture).filter(|&id| dom.is(id, Tag::Source)).find_map(|source| {
        let set = dom.attribute(source, "srcset").or_else(|| dom.attribute(source, "data-srcset"))?;
        resolve_image(base, largest_srcset_candidate(set)?)
    })
}

/// Finds the image for browsers without scripts, directly after the placeholder.
fn noscript_source(dom: &Dom, img: NodeId, base: &Url) -> Option<String> {
    let mut next = dom.next_sibling(img);
    while let Some(id) = next {
        if dom.is(id, Tag::Noscript) {
            let inner = dom.descendants(id).find(|&inner| dom.is(inner, Tag::Img))?;
            return resolve_image(base, dom.attribute(inner, "src")?);
        }
        if !dom.text(id).trim().is_empty() || dom.tag(id).is_some() {
            return None;
        }
        next = dom.next_sibling(id);
    }
    None
}

/// Returns the largest candidate of a `srcset`.
pub(crate) fn largest_srcset_candidate(set: &str) -> Option<&str> {
    let mut best: Option<(f64, &str)> = None;
    for (source, descriptor) in candidates(set) {
        let size = descriptor.trim_end_matches(['w', 'x', 'h']).parse().unwrap_or(1.0);
        if best.is_none_or(|(best_size, _)| size > best_size) {
            best = Some((size, source));
        }
    }
    best.map(|(_, source)| source)
}

/// Splits a `srcset` into URLs and their descriptors (`640w`, `2x`, none). URLs may contain commas.
pub(crate) fn candidates(set: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = set;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
        if rest.is_empty() {
            return None;
        }
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (source, tail) = rest.split_at(end);
        if let Some(source) = source.strip_suffix(',') {
            rest = tail;
            return Some((source, ""));
        }
        let end = tail.find(',').unwrap_or(tail.len());
        rest = &tail[end..];
        Some((source, tail[..end].trim()))
    })
}

/// Returns whether an image URL is that of a lazy-loading placeholder.
fn is_placeholder(source: &str) -> bool {
    if starts_with_ignore_case(source, "data:") {
        // A real embedded image is longer than a transparent pixel or an empty SVG.
        return source.len() < 1024;
    }
    let file = source.rsplit('/').next().unwrap_or(source);
    let stem = file.split(['.', '?']).next().unwrap_or(file).to_ascii_lowercase();
    ["placeholder", "blank", "spacer", "pixel", "transparent", "loading", "lazy", "grey", "1x1"]
        .contains(&stem.as_str())
}

/// Returns a URL without its fragment, for lists of pages.
pub(crate) fn without_fragment(mut url: Url) -> Url {
    url.set_fragment(None);
    url
}
