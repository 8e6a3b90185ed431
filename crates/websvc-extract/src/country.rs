//! The country of a page, by its own metadata.
//!
//! The sources, in this order: `geo.region` and `geo.country`, the `hreflang` of the alternate link to the page itself,
//! the region of `<html lang>`, and `og:locale`. A language without a region does not determine a country.

use crate::document::Document;
use crate::dom::Tag;
use crate::links;
use crate::meta_tags::MetaValue;
use std::collections::BTreeMap;
use url::Url;
use websvc_types::country::CODES;

/// Returns the country of a page as an ISO 3166-1 alpha-2 code.
pub(crate) fn country(document: &Document, meta: &BTreeMap<String, MetaValue>) -> Option<String> {
    let tag = |name: &str| meta.get(name).map(MetaValue::first);
    let dom = &document.dom;
    tag("geo.region")
        .and_then(|region| country_code(region.split('-').next()?))
        .or_else(|| country_code(tag("geo.country")?))
        .or_else(|| own_alternate(document).and_then(region))
        .or_else(|| {
            let html = dom.first_element(Tag::Html)?;
            region(dom.attribute(html, "lang").or_else(|| dom.attribute(html, "xml:lang"))?)
        })
        .or_else(|| region(tag("og:locale")?))
}

/// Returns the `hreflang` of the alternate link to the page itself.
fn own_alternate(document: &Document) -> Option<&str> {
    let dom = &document.dom;
    let is_own = |target: &Url| *target == document.url || document.canonical().as_ref() == Some(target);
    let mut alternates = dom.elements(Tag::Link).filter_map(|id| {
        let language = dom.attribute(id, "hreflang")?;
        let target = links::resolve(&document.base, dom.attribute(id, "href")?)?;
        Some((language, links::without_fragment(target)))
    });
    alternates
        .find(|(language, target)| region(language).is_some() && is_own(target))
        .map(|(language, _)| language)
}

/// Returns the region of a language tag (BCP 47). Underscores are accepted as separators.
fn region(language: &str) -> Option<String> {
    let parts = language.trim().split(['.', '@']).next()?.split(['-', '_']).skip(1);
    // A single letter starts an extension, in which two letters have another meaning.
    parts.take_while(|part| part.len() > 1).find_map(country_code)
}

/// Returns a country code in upper case, `None` if it is not one.
fn country_code(code: &str) -> Option<String> {
    let code = code.trim().to_ascii_uppercase();
    let code = if code == "UK" { "GB".to_owned() } else { code };
    CODES.binary_search(&code.as_str()).is_ok().then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn region_of_language_tag_is_the_country() {
        let cases = [
            ("de-CH", Some("CH")),
            ("zh-Hant-TW", Some("TW")),
            ("en_GB.UTF-8", Some("GB")),
            ("en-uk", Some("GB")),
            ("es-419", None),
            ("de", None),
            ("en-x-us", None),
            ("", None),
        ];
        for (language, expected) in cases {
            assert_eq!(region(language).as_deref(), expected, "{language}");
        }
    }
}
