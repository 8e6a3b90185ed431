//! Applies the filters of a request to hits of sources that may not have applied them.
//!
//! A hit contains its URL, title, description, date and image size. They decide `site:`, the domain filters,
//! `filetype:` (by the extension of the path; a path without one is a web page), `inurl:`, `intitle:`, `imagesize:`,
//! `larger:` and the date. A word or phrase that is missing in the hit may still be on the page, so the hit stays. A
//! hit that contains an excluded word is removed.

use percent_encoding::percent_decode_str;
use url::Url;
use websvc_query::{Node, Operator, Site, Size, Term};
use websvc_validate::{DomainFilter, SourceKind};

use crate::domain::is_in_domain;
use crate::source::{Hit, SourceRequest};

/// The truth value of a condition for a hit (three-valued logic of Kleene).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Holds,
    Fails,
    Unknown,
}

use Verdict::{Fails, Holds, Unknown};

impl Verdict {
    fn from_bool(holds: bool) -> Self {
        if holds { Holds } else { Fails }
    }

    fn not(self) -> Self {
        match self {
            Holds => Fails,
            Fails => Holds,
            Unknown => Unknown,
        }
    }
}

/// Returns whether the hit contradicts no condition of the request.
pub(crate) fn matches(request: &SourceRequest<'_>, hit: &Hit) -> bool {
    let Some(fields) = HitFields::from_hit(request.kind, hit) else { return false };
    let is_in_time = request.tbs.and_then(|tbs| tbs.range).is_none_or(|range| {
        let (first, last) = range.seconds(request.now);
        hit.date.is_none_or(|date| {
            let second = date.as_second();
            first.is_none_or(|first| second >= first) && last.is_none_or(|last| second <= last)
        })
    });
    let is_from_domain = match request.domains {
        DomainFilter::Any => true,
        DomainFilter::Include(hosts) => hosts.iter().any(|host| is_in_domain(&fields.host, host)),
        DomainFilter::Exclude(hosts) => !hosts.iter().any(|host| is_in_domain(&fields.host, host)),
    };
    is_in_time && is_from_domain && request.query.root().is_none_or(|root| fields.verdict(root) != Fails)
}

/// The fields of a hit, prepared for comparisons.
struct HitFields<'a> {
    kind: SourceKind,
    hit: &'a Hit,
    host: String,
    port: Option<u16>,
    path: String,
    /// The whole URL as it is, and percent-decoded, both in lower case.
    urls: [String; 2],
    title: String,
    text: String,
}

impl<'a> HitFields<'a> {
    /// Prepares a hit; `None` if its URL is not a web URL with a host.
    fn from_hit(kind: SourceKind, hit: &'a Hit) -> Option<Self> {
        let url = Url::parse(&hit.url).ok()?;
        let host = url.host_str()?.trim_end_matches('.').to_owned();
        let lower_url = hit.url.to_lowercase();
        let decoded_url = percent_decode_str(&hit.url).decode_utf8_lossy().to_lowercase();
        let title = hit.title.to_lowercase();
        let text = format!("{title}\n{}\n{lower_url}\n{decoded_url}", hit.description.to_lowercase());
        let (port, path) = (url.port(), url.path().to_owned());
        Some(Self { kind, hit, host, port, path, urls: [lower_url, decoded_url], title, text })
    }

    fn verdict(&self, node: &Node) -> Verdict {
        match node {
            Node::And(children) => self.all(children.iter().map(|child| self.verdict(child))),
            Node::Or(children) => self.all(children.iter().map(|child| self.verdict(child).not())).not(),
            Node::Not(child) => self.verdict(child).not(),
            Node::Word(text) | Node::Phrase(text) => {
                if contains_words(&self.text, text) {
                    Holds
                } else {
                    Unknown
                }
            }
            Node::Operator(operator) => self.operator(operator),
        }
    }

    fn all(&self, verdicts: impl Iterator<Item = Verdict>) -> Verdict {
        let mut result = Holds;
        for verdict in verdicts {
            match verdict {
                Fails => return Fails,
                Unknown => result = Unknown,
                Holds => {}
            }
        }
        result
    }

    fn operator(&self, operator: &Operator) -> Verdict {
        match operator {
            Operator::Site(site) => Verdict::from_bool(self.is_of_site(site)),
            Operator::FileType(extension) => Verdict::from_bool(self.has_type(extension)),
            Operator::InUrl(term) => Verdict::from_bool(self.in_url(term)),
            Operator::AllInUrl(terms) => Verdict::from_bool(terms.iter().all(|term| self.in_url(term))),
            Operator::InTitle(term) => Verdict::from_bool(contains_words(&self.title, term.text())),
            Operator::AllInTitle(terms) => {
                Verdict::from_bool(terms.iter().all(|term| contains_words(&self.title, term.text())))
            }
            Operator::Related(_) => Unknown,
            Operator::ImageSize(size) => {
                self.size(|width, height| width == size.width && height == size.height)
            }
            Operator::Larger(size) => self.size(|width, height| is_larger(width, height, *size)),
        }
    }

    fn is_of_site(&self, site: &Site) -> bool {
        is_in_domain(&self.host, &site.host)
            && site.port.is_none_or(|port| self.port == Some(port))
            && site.path.as_deref().is_none_or(|prefix| is_path_or_below(&self.path, prefix))
    }

    fn has_type(&self, extension: &str) -> bool {
        let found = extension_of(&self.path);
        match found.as_deref() {
            None => matches!(extension, "html" | "htm"),
            Some("htm") => matches!(extension, "html" | "htm"),
            Some(found) => found == extension || (found == "html" && extension == "htm"),
        }
    }

    fn in_url(&self, term: &Term) -> bool {
        let term = term.text().to_lowercase();
        self.urls.iter().any(|url| url.contains(&term))
    }

    /// Compares the size of an image. Other results have none. An unknown size fails every condition.
    fn size(&self, fits: impl Fn(u32, u32) -> bool) -> Verdict {
        match self.kind {
            SourceKind::Web | SourceKind::News => Unknown,
            SourceKind::Images => {
                let image = self.hit.image.as_ref();
                let size = image.and_then(|image| image.width.zip(image.height));
                Verdict::from_bool(size.is_some_and(|(width, height)| fits(width, height)))
            }
        }
    }
}

fn is_larger(width: u32, height: u32, than: Size) -> bool {
    width > than.width && height > than.height
}

fn is_path_or_below(path: &str, prefix: &str) -> bool {
    // Normalize the prefix as paths of URLs are.
    let prefix = Url::parse("http://host/").and_then(|base| base.join(prefix));
    let Ok(prefix) = prefix else { return false };
    let prefix = prefix.path().trim_end_matches('/');
    path.strip_prefix(prefix).is_some_and(|rest| {
        rest.is_empty() || rest.starts_with('/') || rest.starts_with('.') && !rest.contains('/')
    })
}

/// Returns the extension of the last path segment: one to six letters or digits, at least one of them a letter.
fn extension_of(path: &str) -> Option<String> {
    let (stem, extension) = path.rsplit('/').next()?.rsplit_once('.')?;
    let is_extension = !stem.is_empty()
        && (1..=6).contains(&extension.len())
        && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && extension.bytes().any(|byte| byte.is_ascii_alphabetic());
    is_extension.then(|| extension.to_ascii_lowercase())
}

/// Returns whether a text in lower case contains a term as whole words. Scripts without spaces have no word boundaries.
fn contains_words(text: &str, term: &str) -> bool {
    let term = term.to_lowercase();
    let joins = |inside: Option<char>, outside: Option<char>| {
        let is_letter = |c: char| c.is_alphanumeric() && !is_unspaced(c);
        inside.is_some_and(is_letter) && outside.is_some_and(is_letter)
    };
    text.match_indices(&term).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + term.len()..]);
        !joins(term.chars().next(), before.chars().next_back())
            && !joins(term.chars().next_back(), after.chars().next())
    })
}

/// Returns whether a character belongs to a script without spaces between words: Thai to Khmer, kana, Han.
fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c), 0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0x3040..=0x30FF
        | 0x3400..=0x9FFF | 0xF900..=0xFAFF | 0x2_0000..=0x3_FFFF)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use jiff::Timestamp;
    use websvc_query::{Tbs, parse, parse_tbs};

    use super::*;
    use crate::source::HitImage;

    const NOW: &str = "2024-05-10T12:00:00Z";

    fn check_match(
        kind: SourceKind,
        query: &str,
        domains: &DomainFilter,
        tbs: Option<Tbs>,
        hit: &Hit,
    ) -> bool {
        let query = parse(query).query;
        let new = SourceRequest::new(kind, &query, NOW.parse().unwrap(), Instant::now());
        let request = SourceRequest { domains, tbs: tbs.as_ref(), ..new };
        matches(&request, hit)
    }

    fn hit(url: &str) -> Hit {
        Hit {
            url: url.to_owned(),
            title: "Green Tea: the guide".to_owned(),
            description: "How to brew 緑茶の入れ方 in a pot, for C++ people.".to_owned(),
            ..Hit::default()
        }
    }

    #[test]
    fn hits_are_matched_by_url_title_and_description() {
        const URL: &str = "https://docs.tea.test/guide/green%20tea.pdf";
        let cases = [
            ("anything else", true),
            ("\"not in the snippet\"", true),
            ("site:tea.test", true),
            ("site:docs.tea.test/guide", true),
            ("site:docs.tea.test/gui", false),
            ("site:ea.test", false),
            ("site:tea.test:8080", false),
            ("-site:tea.test", false),
            ("site:a.test OR site:tea.test", true),
            ("site:a.test OR site:b.test", false),
            ("filetype:pdf", true),
            ("-filetype:pdf", false),
            ("filetype:html", false),
            ("inurl:guide", true),
            ("inurl:\"green tea\"", true),
            ("-inurl:guide", false),
            ("allinurl: guide docs", true),
            ("allinurl: guide else", false),
            ("intitle:green", true),
            ("intitle:gree", false),
            ("allintitle: green guide", true),
            ("allintitle: green brew", false),
            ("-brew", false),
            ("-bre", true),
            ("-\"brew 緑茶\"", false),
            ("-緑茶", false),
            ("-c++", false),
            ("-(brew coffee)", true),
            ("-(brew OR coffee)", false),
            ("related:a.test larger:10x10", true),
        ];
        for (query, expected) in cases {
            let found = check_match(SourceKind::Web, query, &DomainFilter::Any, None, &hit(URL));
            assert_eq!(found, expected, "{query}");
        }
    }

    #[test]
    fn path_without_extension_is_a_web_page() {
        for (url, query, expected) in [
            ("https://a.test/", "filetype:html", true),
            ("https://a.test/guide", "filetype:pdf", false),
            ("https://a.test/v1.2", "filetype:html", true),
            ("https://a.test/x.htm", "ext:html", true),
            ("https://a.test/x.html", "-ext:htm", false),
        ] {
            let found = check_match(SourceKind::Web, query, &DomainFilter::Any, None, &hit(url));
            assert_eq!(found, expected, "{url} {query}");
        }
    }

    #[test]
    fn domain_filters_include_subdomains() {
        let domains = |include: bool| {
            let hosts = vec!["tea.test".to_owned()];
            if include { DomainFilter::Include(hosts) } else { DomainFilter::Exclude(hosts) }
        };
        for (url, is_included) in
            [("https://tea.test/", true), ("https://a.tea.test/", true), ("https://greentea.test/", false)]
        {
            let check = |filter| check_match(SourceKind::Web, "x", &filter, None, &hit(url));
            assert_eq!((check(domains(true)), check(domains(false))), (is_included, !is_included), "{url}");
        }
        assert!(!check_match(SourceKind::Web, "x", &DomainFilter::Any, None, &hit("not a url")));
    }

    #[test]
    fn known_dates_are_compared_and_unknown_dates_pass() {
        for (tbs, date, expected) in [
            ("qdr:d", Some("2024-05-10T01:00:00Z"), true),
            ("qdr:d", Some("2024-05-08T01:00:00Z"), false),
            ("qdr:d", None, true),
            ("cdr:1,cd_min:05/01/2024,cd_max:05/02/2024", Some("2024-05-02T23:59:59Z"), true),
            ("cdr:1,cd_min:05/01/2024,cd_max:05/02/2024", Some("2024-05-03T00:00:00Z"), false),
            ("sbd:1", Some("1999-01-01T00:00:00Z"), true),
        ] {
            let mut hit = hit("https://a.test/");
            hit.date = date.map(|date| date.parse::<Timestamp>().unwrap());
            let tbs = parse_tbs(tbs).unwrap();
            assert_eq!(
                check_match(SourceKind::News, "x", &DomainFilter::Any, tbs, &hit),
                expected,
                "{tbs:?}"
            );
        }
    }

    #[test]
    fn image_sizes_are_compared() {
        let sized = |size: Option<(u32, u32)>| {
            let (width, height) = (size.map(|size| size.0), size.map(|size| size.1));
            let image = HitImage { url: "https://a.test/a.png".to_owned(), width, height };
            Hit { image: Some(image), ..hit("https://a.test/") }
        };
        for (query, size, expected) in [
            ("imagesize:800x600", Some((800, 600)), true),
            ("imagesize:800x600", Some((801, 600)), false),
            ("imagesize:800x600", None, false),
            ("larger:800x600", Some((801, 601)), true),
            ("larger:800x600", Some((800, 601)), false),
            ("cat -larger:800x600", None, true),
        ] {
            let found = check_match(SourceKind::Images, query, &DomainFilter::Any, None, &sized(size));
            assert_eq!(found, expected, "{query} {size:?}");
        }
    }
}
