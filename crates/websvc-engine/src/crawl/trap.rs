//! What keeps a crawl out of spaces without an end: filters that multiply, calendars, looping paths.

use std::collections::HashMap;

use url::Url;

use super::scope::host_key;

/// Longer URLs are traps more often than pages.
const MAX_URL_CHARS: usize = 2_000;

/// Deeper paths are traps more often than pages.
const MAX_PATH_SEGMENTS: usize = 24;

/// The same segment more often than this in one path is a loop of relative links.
const MAX_SEGMENT_REPEATS: usize = 3;

/// URLs with more query parameters than this are not fetched.
const MAX_PARAMETERS: usize = 10;

/// So many parameters are a choice of filters rather than the name of a page.
const MANY_PARAMETERS: usize = 3;

/// At most this many URLs with [`MANY_PARAMETERS`] or more are fetched of one path.
const MAX_FILTERED: u32 = 100;

/// At most this many URLs with fewer parameters are fetched of one path.
const MAX_QUERIES: u32 = 5_000;

/// At most this many URLs of one calendar are fetched: those that differ in their numbers only.
const MAX_CALENDAR: u32 = 100;

/// How many paths are counted; those beyond share one count.
const MAX_COUNTED: usize = 200_000;

/// Words that name a calendar when they are a whole segment of a path.
const CALENDAR_SEGMENTS: &[&str] =
    &["agenda", "cal", "calendar", "calendario", "calendrier", "day", "events", "kalender", "month", "week"];

/// Parameters that choose the page of a calendar.
const CALENDAR_PARAMETERS: &[&str] =
    &["cal", "cal_date", "calendar", "date", "day", "month", "tribe-bar-date", "week", "year"];

/// Returns whether a URL by itself is a trap.
pub(super) fn is_trap(url: &Url) -> bool {
    let Some(segments) = url.path_segments() else { return true };
    let segments: Vec<&str> = segments.collect();
    if url.as_str().len() > MAX_URL_CHARS || segments.len() > MAX_PATH_SEGMENTS {
        return true;
    }
    let repeats = |segment: &&str| segments.iter().filter(|other| *other == segment).count();
    if segments.iter().filter(|segment| !segment.is_empty()).any(|one| repeats(one) > MAX_SEGMENT_REPEATS) {
        return true;
    }
    let names: Vec<&str> = parameters(url).collect();
    let same = |name: &&str| names.iter().filter(|other| *other == name).count();
    names.len() > MAX_PARAMETERS || names.iter().any(|name| same(name) > MAX_SEGMENT_REPEATS)
}

fn parameters(url: &Url) -> impl Iterator<Item = &str> {
    let pairs = url.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
    pairs.map(|pair| pair.split('=').next().unwrap_or_default())
}

/// Counts the URLs of spaces that may have no end.
#[derive(Debug, Default)]
pub struct TrapBudgets {
    taken: HashMap<String, u32>,
}

impl TrapBudgets {
    /// Takes one of what `url` belongs to; false when nothing is left of it.
    pub fn try_take(&mut self, url: &Url) -> bool {
        if is_calendar(url) && !self.count(calendar_key(url), MAX_CALENDAR) {
            return false;
        }
        let (kind, most) = match parameters(url).count() {
            0 => return true,
            1..MANY_PARAMETERS => ("queries", MAX_QUERIES),
            _ => ("filters", MAX_FILTERED),
        };
        self.count(format!("{kind} {}{}", host_key(url), url.path()), most)
    }

    fn count(&mut self, key: String, most: u32) -> bool {
        let key =
            if self.taken.len() < MAX_COUNTED || self.taken.contains_key(&key) { key } else { String::new() };
        let taken = self.taken.entry(key).or_default();
        *taken += 1;
        *taken <= most
    }
}

fn is_calendar(url: &Url) -> bool {
    let has_digit = |text: &str| text.bytes().any(|byte| byte.is_ascii_digit());
    let mut segments = url.path_segments().into_iter().flatten();
    let in_path = segments.any(|segment| CALENDAR_SEGMENTS.contains(&segment.to_ascii_lowercase().as_str()));
    let in_query =
        parameters(url).any(|name| CALENDAR_PARAMETERS.contains(&name.to_ascii_lowercase().as_str()));
    (in_path || in_query) && has_digit(&url[url::Position::BeforePath..])
}

/// Returns a URL with every run of digits as one, so that the pages of a calendar are told apart by their kind only.
fn calendar_key(url: &Url) -> String {
    let mut key = format!("calendar {}", host_key(url));
    for c in url[url::Position::BeforePath..].chars() {
        match c {
            '0'..='9' if key.ends_with('0') => {}
            '0'..='9' => key.push('0'),
            other => key.push(other),
        }
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn loops_and_heaps_of_parameters_are_traps() {
        let long = format!("http://a.test/{}", "x".repeat(MAX_URL_CHARS));
        let deep = format!("http://a.test{}", "/x/y/z".repeat(9));
        let many: Vec<String> = (0..=MAX_PARAMETERS).map(|number| format!("p{number}=1")).collect();
        let many = format!("http://a.test/?{}", many.join("&"));
        for trap in ["http://a.test/a/b/a/b/a/b/a/b/", "http://a.test/?f=1&f=2&f=3&f=4", &long, &deep, &many]
        {
            assert!(is_trap(&url(trap)), "{trap}");
        }
        for page in ["http://a.test/a/b/a/b/a/b/", "http://a.test/?f=1&f=2&f=3&g=4", "http://a.test//x"] {
            assert!(!is_trap(&url(page)), "{page}");
        }
    }

    /// Returns how many of the URLs are taken.
    fn taken(urls: impl Iterator<Item = String>) -> usize {
        let mut budgets = TrapBudgets::default();
        urls.filter(|text| budgets.try_take(&url(text))).count()
    }

    #[test]
    fn a_calendar_ends() {
        let paths = (0..5_000).map(|day| format!("http://a.test/calendar/{}/{}", 2000 + day / 12, day % 12));
        assert_eq!(taken(paths), MAX_CALENDAR as usize);
        let queries = (0..5_000).map(|month| format!("http://a.test/?month={month}&view=list"));
        assert_eq!(taken(queries), MAX_CALENDAR as usize);
    }

    #[test]
    fn filters_end_and_numbered_pages_do_not() {
        let filters = (0..5_000).map(|number| format!("http://a.test/shop?a={number}&b=1&c=2"));
        assert_eq!(taken(filters), MAX_FILTERED as usize);
        assert_eq!(taken((0..5_000).map(|number| format!("http://a.test/view?id={number}"))), 5_000);
        assert_eq!(taken((0..9_000).map(|number| format!("http://a.test/view?id={number}"))), 5_000);
        assert_eq!(taken((0..9_000).map(|number| format!("http://a.test/page/{number}"))), 9_000);
        assert_eq!(taken((0..9_000).map(|number| format!("http://a.test/events/talk-{number}x"))), 100);
    }
}
