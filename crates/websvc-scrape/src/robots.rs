//! The robots rules of a page: the header `X-Robots-Tag`, and the meta tags `robots` and `websvc`.

use http::HeaderMap;
use jiff::Timestamp;
use websvc_extract::{MetaValue, PageMetadata};

use crate::date;
use crate::request::ROBOTS_NAME;

/// The header that has the directives of the robots meta tag for any kind of file.
pub(crate) const HEADER: &str = "x-robots-tag";

/// The directive whose value is a date.
const UNAVAILABLE_AFTER: &str = "unavailable_after";

/// Directives that take a value; any other name before a colon is the name of a robot.
const DIRECTIVES_WITH_VALUE: [&str; 4] =
    [UNAVAILABLE_AFTER, "max-snippet", "max-image-preview", "max-video-preview"];

/// The permissions of robots for a page: the strictest of all directives for all robots or for websvc.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RobotsRules {
    /// True if the page may be indexed.
    pub index: bool,
    /// True if its links may be followed.
    pub follow: bool,
}

impl RobotsRules {
    /// Reads the values of `X-Robots-Tag`, in their order, and the meta tags of a page, as of `now`.
    pub fn read<'a>(
        headers: impl IntoIterator<Item = &'a str>,
        page: Option<&PageMetadata>,
        now: Timestamp,
    ) -> Self {
        let mut rules = Self { index: true, follow: true };
        for value in headers {
            rules.apply_header(value, now);
        }
        let tags = page.into_iter().flat_map(|page| ["robots", ROBOTS_NAME].map(|name| page.meta.get(name)));
        for tag in tags.flatten() {
            match tag {
                MetaValue::One(value) => rules.apply(value, now),
                MetaValue::Many(values) => values.iter().for_each(|value| rules.apply(value, now)),
            }
        }
        rules
    }

    /// Reads the rules of a response.
    pub(crate) fn from_headers(headers: &HeaderMap, page: Option<&PageMetadata>) -> Self {
        let values = headers.get_all(HEADER).iter().filter_map(|value| value.to_str().ok());
        Self::read(values, page, Timestamp::now())
    }

    /// Applies a header value, which may have directives for several robots: `noindex, otherbot: noindex, nofollow`.
    fn apply_header(&mut self, value: &str, now: Timestamp) {
        let mut is_for_us = true;
        let mut rest = value;
        while !rest.is_empty() {
            let end = rest.find(',').unwrap_or(rest.len());
            let directive = &rest[..end];
            let name = directive.split_once(':').map(|(name, _)| name.trim());
            if let Some(name) = name.filter(|name| !is(name, &DIRECTIVES_WITH_VALUE)) {
                is_for_us = name.eq_ignore_ascii_case(ROBOTS_NAME);
                rest = &rest[directive.find(':').map_or(end, |at| at + 1)..];
                continue;
            }
            // A date has a comma after the day of the week, so it may continue after the next comma.
            let has_date = name.is_some_and(|name| is(name, &[UNAVAILABLE_AFTER]));
            if is_for_us && has_date {
                self.apply(rest, now);
            } else if is_for_us {
                self.apply(directive, now);
            }
            rest = rest.get(end + 1..).unwrap_or_default();
        }
    }

    /// Applies directives for websvc, separated by commas.
    fn apply(&mut self, directives: &str, now: Timestamp) {
        let directives: Vec<&str> = directives.split(',').map(str::trim).collect();
        for (at, directive) in directives.iter().enumerate() {
            match directive.to_ascii_lowercase().as_str() {
                "noindex" => self.index = false,
                "nofollow" => self.follow = false,
                "none" => *self = Self { index: false, follow: false },
                _ => {
                    let dated =
                        directive.split_once(':').filter(|(name, _)| is(name.trim(), &[UNAVAILABLE_AFTER]));
                    let until = dated.and_then(|(_, date)| parse_date(date, directives.get(at + 1).copied()));
                    self.index &= until.is_none_or(|until| now < until);
                }
            }
        }
    }
}

fn is(name: &str, names: &[&str]) -> bool {
    names.iter().any(|other| name.eq_ignore_ascii_case(other))
}

/// Parses the date of `unavailable_after`, which may continue after a comma; an unreadable date is ignored.
fn parse_date(date: &str, next: Option<&str>) -> Option<Timestamp> {
    let spaced = |text: &str| date::read(text).or_else(|| date::read(&text.replace('-', " ")));
    spaced(date).or_else(|| spaced(&format!("{}, {}", date.trim(), next?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns `i` if the page may be indexed and `f` if its links may be followed.
    fn rules_of(headers: &[&str]) -> String {
        let now = "2026-01-01T00:00:00Z".parse().unwrap();
        let rules = RobotsRules::read(headers.iter().copied(), None, now);
        format!("{}{}", if rules.index { "i" } else { "" }, if rules.follow { "f" } else { "" })
    }

    #[test]
    fn header_directives_for_all_robots_or_websvc_apply() {
        let table: &[(&[&str], &str)] = &[
            (&[], "if"),
            (&["all"], "if"),
            (&["noindex"], "f"),
            (&["nofollow"], "i"),
            (&["NOINDEX, NoFollow"], ""),
            (&["none"], ""),
            (&["noarchive", "noindex"], "f"),
            (&["googlebot: noindex"], "if"),
            (&["googlebot: noindex, nofollow"], "if"),
            (&["WebSVC: noindex"], "f"),
            (&["nofollow, googlebot: noindex"], "i"),
            (&["googlebot: nofollow, websvc: noindex, otherbot: none"], "f"),
            (&["max-snippet: 0, noindex"], "f"),
            (&["unavailable_after: 25 Jun 2010 15:00:00 PST"], "f"),
            (&["unavailable_after: Fri, 25 Jun 2010 15:00:00 GMT, nofollow"], ""),
            (&["unavailable_after: 25-Jun-2010 15:00:00 EST"], "f"),
            (&["unavailable_after: 2025-12-31"], "f"),
            (&["unavailable_after: 2026-12-31T00:00:00Z"], "if"),
            (&["otherbot: unavailable_after: 2010-01-01"], "if"),
            (&["unavailable_after: once"], "if"),
            (&[",,:,"], "if"),
        ];
        for (headers, expected) in table {
            assert_eq!(rules_of(headers), *expected, "{headers:?}");
        }
    }

    #[test]
    fn meta_tags_for_all_robots_or_websvc_apply() {
        let now = "2026-01-01T00:00:00Z".parse().unwrap();
        let one = |value: &str| MetaValue::One(value.to_owned());
        for (name, value, expected) in [
            ("robots", one("noindex"), (false, true)),
            ("robots", one("index, unavailable_after: 2025-01-01"), (false, true)),
            ("websvc", one("none"), (false, false)),
            ("googlebot", one("none"), (true, true)),
            ("robots", MetaValue::Many(vec!["noindex".to_owned(), "nofollow".to_owned()]), (false, false)),
        ] {
            let mut page = PageMetadata::default();
            page.meta.insert(name.to_owned(), value);
            let rules = RobotsRules::read([], Some(&page), now);
            assert_eq!((rules.index, rules.follow), expected, "{page:?}");
        }
    }
}
