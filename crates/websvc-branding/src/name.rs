//! The name of the brand.

use url::Url;
use websvc_extract::DeclaredBrand;
use websvc_types::limits::BRANDING_TEXT_MAX_CHARS;

/// Parts of titles that name a page, not a brand.
const PAGES: [&str; 19] = [
    "home",
    "homepage",
    "home page",
    "welcome",
    "startseite",
    "accueil",
    "inicio",
    "start",
    "index",
    "about",
    "about us",
    "contact",
    "pricing",
    "login",
    "products",
    "shop",
    "blog",
    "bienvenue",
    "menu",
];

/// Separators of the parts of a title.
const SEPARATORS: [&str; 9] = [" | ", " - ", " – ", " — ", " · ", " • ", " :: ", " » ", ": "];

/// Returns the name that the page declares, else a part of its title, else its heading, else its host. Of the parts, it
/// is the one that is also the host or the text of an image that links to the home page (`labels`), else the first one.
pub(crate) fn brand_name(declared: &DeclaredBrand, labels: &[&str], url: &Url) -> Option<String> {
    let short = |text: &str| -> Option<String> {
        let text: String = text.trim().chars().take(BRANDING_TEXT_MAX_CHARS).collect();
        (!text.is_empty()).then_some(text)
    };
    if let Some(name) = declared.site_name.as_deref().and_then(short) {
        return Some(name);
    }
    let host = url.host_str().unwrap_or_default();
    if let Some(name) =
        declared.title.as_deref().and_then(|title| of_title(title, labels, host)).and_then(short)
    {
        return Some(name);
    }
    if let Some(name) = declared.heading.as_deref().filter(|text| text.chars().count() <= 60).and_then(short)
    {
        return Some(name);
    }
    short(host.strip_prefix("www.").unwrap_or(host))
}

fn of_title<'a>(title: &'a str, labels: &[&str], host: &str) -> Option<&'a str> {
    let mut parts = vec![title.trim()];
    for separator in SEPARATORS {
        parts = parts.into_iter().flat_map(|part| part.split(separator)).collect();
    }
    let parts: Vec<&str> = parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect();
    let host = simplified(host.strip_prefix("www.").unwrap_or(host).split('.').next().unwrap_or(""));
    let of_host = parts.iter().find(|part| host.len() >= 3 && simplified(part) == host);
    let labels: Vec<String> = labels.iter().map(|label| simplified(&without_logo(label))).collect();
    let of_label = parts.iter().find(|part| labels.contains(&simplified(part)));
    let of_brand = parts.iter().find(|part| !PAGES.contains(&part.to_lowercase().as_str()));
    of_host.or(of_label).or(of_brand).or(parts.first()).copied()
}

/// Removes the word "logo" from the text of an image.
fn without_logo(label: &str) -> String {
    label.split_whitespace().filter(|word| !word.eq_ignore_ascii_case("logo")).collect::<Vec<_>>().join(" ")
}

/// Returns the letters and digits of a text in lower case.
pub(crate) fn simplified(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_is_declared_or_part_of_the_title() {
        let check =
            |site: Option<&str>, title: Option<&str>, heading: Option<&str>, host: &str, expected: &str| {
                let text = |text: Option<&str>| text.map(str::to_owned);
                let declared = DeclaredBrand {
                    site_name: text(site),
                    title: text(title),
                    heading: text(heading),
                    ..DeclaredBrand::default()
                };
                let url = Url::parse(&format!("https://{host}/a")).unwrap();
                assert_eq!(brand_name(&declared, &["Pebble Logo"], &url).as_deref(), Some(expected));
            };
        check(Some("Acme"), Some("Tools | Other"), None, "acme.test", "Acme");
        check(None, Some("Acme - Better tools"), None, "x.test", "Acme");
        check(None, Some("Better tools for all | Acme Tools"), None, "www.acmetools.test", "Acme Tools");
        check(None, Some("Home | Acme"), None, "x.test", "Acme");
        check(None, Some("Getting started | Pebble"), None, "x.test", "Pebble");
        check(None, Some("Home"), None, "x.test", "Home");
        check(None, None, Some("Welcome to Acme"), "x.test", "Welcome to Acme");
        check(None, None, None, "www.acme.test", "acme.test");
    }
}
