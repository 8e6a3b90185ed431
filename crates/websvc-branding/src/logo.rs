//! The logo: the best image of the page, else the one that the page declares.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use url::Url;
use websvc_extract::DeclaredBrand;
use websvc_types::branding::BrandImages;
use websvc_types::limits::BRANDING_LOGO_MAX_BYTES;

use crate::name::simplified;
use crate::report::{LogoItem, Region, StyleReport, has_word};

/// The score from which an image counts as the logo.
const MIN_SCORE: f64 = 6.0;

/// Scores within this distance of the best one are close.
const CLOSE: f64 = 3.0;

/// The maximum number of close candidates.
const MAX_CANDIDATES: usize = 5;

/// Words around images that are logos of others.
const OTHERS: [&str; 22] = [
    "client",
    "clients",
    "customer",
    "customers",
    "partner",
    "partners",
    "sponsor",
    "sponsors",
    "trusted",
    "press",
    "testimonial",
    "testimonials",
    "award",
    "awards",
    "integration",
    "integrations",
    "payment",
    "marquee",
    "featured",
    "brands",
    "companies",
    "cloud",
];

/// Words in names and labels of symbols other than logos.
const SYMBOLS: [&str; 30] = [
    "menu",
    "hamburger",
    "search",
    "cart",
    "basket",
    "bag",
    "flag",
    "language",
    "lang",
    "globe",
    "user",
    "account",
    "login",
    "avatar",
    "close",
    "toggle",
    "theme",
    "facebook",
    "twitter",
    "instagram",
    "linkedin",
    "youtube",
    "github",
    "tiktok",
    "social",
    "phone",
    "chevron",
    "arrow",
    "icon",
    "star",
];

/// An image that may be the logo, with its score.
#[derive(Debug, Clone)]
pub(crate) struct RankedLogo<'a> {
    pub(crate) item: &'a LogoItem,
    pub(crate) score: f64,
}

/// Returns the images that may be the logo, the best one first.
pub(crate) fn rank<'a>(report: &'a StyleReport, name: Option<&str>, url: &Url) -> Vec<RankedLogo<'a>> {
    let name = name.map(simplified).filter(|name| name.len() >= 2);
    let mut ranked: Vec<RankedLogo<'a>> = report
        .logos
        .iter()
        .filter(|item| item.region != Region::Overlay && source(item).is_some())
        .map(|item| RankedLogo { item, score: score(item, report, name.as_deref(), url) })
        .collect();
    // Stable: of equal ones the first of the page.
    ranked.sort_by(|one, other| other.score.total_cmp(&one.score));
    ranked
}

/// Returns the number of the first candidates that are good enough and close to the best.
pub(crate) fn close_count(ranked: &[RankedLogo<'_>]) -> usize {
    let Some(best) = ranked.first().map(|logo| logo.score) else { return 0 };
    let is_close = |logo: &&RankedLogo<'_>| logo.score >= MIN_SCORE && logo.score >= best - CLOSE;
    ranked.iter().take(MAX_CANDIDATES).take_while(is_close).count()
}

fn score(item: &LogoItem, report: &StyleReport, name: Option<&str>, page: &Url) -> f64 {
    let mut score = 0.0;
    score += match item.region {
        Region::Header => 4.0,
        Region::Nav => 3.0,
        Region::None | Region::Main => 0.0,
        Region::Footer => -4.0,
        Region::Overlay => -20.0,
    };
    score += link_score(&item.href, page);
    let file = item.url.split(['?', '#']).next().unwrap_or("").rsplit('/').next().unwrap_or("");
    let own_names = item.names.split('|').next().unwrap_or("");
    let says_logo = |text: &str| text.to_ascii_lowercase().contains("logo");
    if says_logo(own_names) || says_logo(&item.alt) || (!item.url.starts_with("data:") && says_logo(file)) {
        score += 3.0;
    } else if says_logo(&item.names) || item.names.to_ascii_lowercase().contains("brand") {
        score += 2.0;
    }
    score += position_score(item, report);
    let alt = simplified(&item.alt);
    let is_named = name
        .is_some_and(|name| !alt.is_empty() && (alt.contains(name) || name.contains(&alt) && alt.len() >= 4));
    if is_named {
        score += 3.0;
    } else if name.is_some() && alt.len() > 4 && says_logo(&item.alt) && item.region != Region::Header {
        // The logo of another one.
        score -= 2.0;
    }
    let is_repeated = report.logos.iter().any(|other| {
        other.region == Region::Footer
            && item.region != Region::Footer
            && !item.url.is_empty()
            && other.url == item.url
    });
    if is_repeated {
        score += 1.5;
    }
    if has_word(&item.names, &OTHERS) {
        score -= 8.0;
    }
    let is_symbol =
        has_word(own_names, &SYMBOLS) || has_word(&item.label, &SYMBOLS) || has_word(&item.alt, &SYMBOLS);
    if is_symbol && !is_named {
        score -= 6.0;
    }
    let is_top = matches!(item.region, Region::Header | Region::Nav);
    if !is_top && item.image_counts.iter().take(3).any(|count| *count >= 4) {
        score -= 5.0;
    }
    score
}

/// Returns the texts of images in the header that link to the home page: names of the brand.
pub(crate) fn home_labels<'a>(report: &'a StyleReport, page: &Url) -> Vec<&'a str> {
    let logos = report.logos.iter().filter(|item| matches!(item.region, Region::Header | Region::Nav));
    let logos = logos.filter(|item| link_score(&item.href, page) > 0.0);
    logos.flat_map(|item| [item.alt.as_str(), item.label.as_str()]).filter(|text| !text.is_empty()).collect()
}

fn link_score(href: &str, page: &Url) -> f64 {
    let Ok(target) = Url::parse(href) else { return -0.5 };
    let site = |url: &Url| url.host_str().map(|host| host.strip_prefix("www.").unwrap_or(host).to_owned());
    if site(&target) != site(page) {
        return -6.0;
    }
    let path = target.path().trim_matches('/');
    // Also the home page of a language, such as /de/ or /en-us/.
    let is_language = path.len() == 2 || (path.len() == 5 && path.as_bytes()[2] == b'-');
    let is_home_file = matches!(path, "index.html" | "index.php" | "home");
    if path.is_empty() || is_language || is_home_file { 5.0 } else { -1.0 }
}

fn position_score(item: &LogoItem, report: &StyleReport) -> f64 {
    let area = item.area;
    let mut score = 0.0;
    if area.y < 160.0 {
        score += 2.0;
        if area.x + area.width / 2.0 < report.width * 0.6 {
            score += 1.0;
        }
    } else if area.y > report.height {
        score -= 2.0;
    }
    if area.width <= 24.0 && area.height <= 24.0 {
        score -= 3.0;
    } else if area.width > 600.0 || area.height > 300.0 {
        score -= 5.0;
    } else if (20.0..=400.0).contains(&area.width) && (12.0..=160.0).contains(&area.height) {
        score += 1.0;
    }
    score
}

/// Returns the URL or the data URI of an image.
pub(crate) fn source(item: &LogoItem) -> Option<String> {
    if !item.svg.is_empty() {
        let uri = format!("data:image/svg+xml;base64,{}", STANDARD.encode(&item.svg));
        return (uri.len() <= BRANDING_LOGO_MAX_BYTES).then_some(uri);
    }
    let is_image = item.url.starts_with("http://")
        || item.url.starts_with("https://")
        || item.url.starts_with("data:image/");
    (is_image && item.url.len() <= BRANDING_LOGO_MAX_BYTES).then(|| item.url.clone())
}

/// Returns the images of the brand with the chosen logo, else the declared one.
pub(crate) fn images(logo: Option<&LogoItem>, declared: &DeclaredBrand) -> BrandImages {
    let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let found = logo.and_then(|item| Some((item, source(item)?)));
    let declared_logo = || declared.logo.clone().or_else(|| declared.touch_icon.clone());
    let fits = |url: &String| url.len() <= BRANDING_LOGO_MAX_BYTES;
    BrandImages {
        logo: found.as_ref().map(|(_, source)| source.clone()).or_else(|| declared_logo().filter(fits)),
        logo_href: found.as_ref().and_then(|(item, _)| text(&item.href)),
        logo_alt: found.as_ref().and_then(|(item, _)| text(&item.alt)),
        favicon: declared.favicon.clone(),
        og_image: declared.og_image.clone().filter(fits),
    }
}
