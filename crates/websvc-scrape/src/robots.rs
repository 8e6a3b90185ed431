//! What a page and its headers ask of robots: `X-Robots-Tag`, and the meta tags `robots` and `websvc`.

use http::HeaderMap;
use jiff::Timestamp;
use websvc_extract::{MetaValue, PageMetadata};

use crate::date;
use crate::request::ROBOTS_NAME;

/// The header that says of any file what a meta tag says of a page.
pub(crate) const HEADER: &str = "x-robots-tag";

/// The directive with a date in it.
const UNTIL: &str = "unavailable_after";

/// Directives that take a value: a colon behind any other name makes that the name of a robot.
const WITH_VALUE: [&str; 4] = [UNTIL, "max-snippet", "max-image-preview", "max-video-preview"];

/// What robots may do with a page. The strictest of all that is said to all robots or to websvc counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RobotsRules {
    /// The page may be indexed.
    pub index: bool,
    /// Its links may be followed.
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
            rules.obey_header(value, now);
        }
        let tags = page.into_iter().flat_map(|page| ["robots", ROBOTS_NAME].map(|name| page.meta.get(name)));
        for tag in tags.flatten() {
            match tag {
                MetaValue::One(value) => rules.obey(value, now),
                MetaValue::Many(values) => values.iter().for_each(|value| rules.obey(value, now)),
            }
        }
        rules
    }

    /// Reads the rules of an answer.
    pub(crate) fn of(headers: &HeaderMap, page: Option<&PageMetadata>) -> Self {
        let values = headers.get_all(HEADER).iter().filter_map(|value| value.to_str().ok());
        Self::read(values, page, Timestamp::now())
    }

    /// One value may speak to several robots: `noindex, otherbot: noindex, nofollow`.
    fn obey_header(&mut self, value: &str, now: Timestamp) {
        let mut speaks_to_us = true;
        let mut rest = value;
        while !rest.is_empty() {
            let end = rest.find(',').unwrap_or(rest.len());
            let piece = &rest[..end];
            let name = piece.split_once(':').map(|(name, _)| name.trim());
            if let Some(name) = name.filter(|name| !is(name, &WITH_VALUE)) {
                speaks_to_us = name.eq_ignore_ascii_case(ROBOTS_NAME);
                rest = &rest[piece.find(':').map_or(end, |at| at + 1)..];
                continue;
            }
            // The day of the week has a comma behind it, so that a date may go on in what follows.
            let is_dated = name.is_some_and(|name| is(name, &[UNTIL]));
            if speaks_to_us && is_dated {
                self.obey(rest, now);
            } else if speaks_to_us {
                self.obey(piece, now);
            }
            rest = rest.get(end + 1..).unwrap_or_default();
        }
    }

    /// Obeys directives that are spoken to us, separated by commas.
    fn obey(&mut self, directives: &str, now: Timestamp) {
        let pieces: Vec<&str> = directives.split(',').map(str::trim).collect();
        for (at, piece) in pieces.iter().enumerate() {
            match piece.to_ascii_lowercase().as_str() {
                "noindex" => self.index = false,
                "nofollow" => self.follow = false,
                "none" => *self = Self { index: false, follow: false },
                _ => {
                    let dated = piece.split_once(':').filter(|(name, _)| is(name.trim(), &[UNTIL]));
                    let until = dated.and_then(|(_, date)| until(date, pieces.get(at + 1).copied()));
                    self.index &= until.is_none_or(|until| now < until);
                }
            }
        }
    }
}

fn is(name: &str, names: &[&str]) -> bool {
    names.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Reads the date of `unavailable_after`, which may go on behind a comma; what cannot be read says nothing.
fn until(date: &str, next: Option<&str>) -> Option<Timestamp> {
    let spaced = |text: &str| date::read(text).or_else(|| date::read(&text.replace('-', " ")));
    spaced(date).or_else(|| spaced(&format!("{}, {}", date.trim(), next?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns `i` when it may be indexed and `f` when its links may be followed.
    fn said(headers: &[&str]) -> String {
        let now = "2026-01-01T00:00:00Z".parse().unwrap();
        let rules = RobotsRules::read(headers.iter().copied(), None, now);
        format!("{}{}", if rules.index { "i" } else { "" }, if rules.follow { "f" } else { "" })
    }

    #[test]
    fn headers_are_obeyed_when_they_speak_to_us() {
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
            assert_eq!(said(headers), *expected, "{headers:?}");
        }
    }

    #[test]
    fn meta_tags_for_all_and_for_us_are_obeyed() {
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
