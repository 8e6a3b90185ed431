//! Detects endless URL spaces: filters that multiply, calendars and looping paths.

use std::collections::HashMap;

use url::Url;

use crate::host::host_key;

/// The maximum length of a URL in bytes. Longer URLs are usually traps.
const MAX_URL_BYTES: usize = 2_000;

/// The maximum number of path segments. Deeper paths are usually traps.
const MAX_PATH_SEGMENTS: usize = 24;

/// The maximum number of equal segments in a path. More are a loop of relative links.
const MAX_SEGMENT_REPEATS: usize = 3;

/// The maximum number of query parameters of a URL.
const MAX_PARAMETERS: usize = 10;

/// The number of parameters from which a query selects filters rather than a page.
const MANY_PARAMETERS: usize = 3;

/// The maximum number of URLs with [`MANY_PARAMETERS`] or more that are fetched per path.
const MAX_FILTERED: u32 = 100;

/// The maximum number of URLs with fewer parameters that are fetched per path.
const MAX_QUERIES: u32 = 5_000;

/// The maximum number of URLs that are fetched per calendar: URLs that differ only in their numbers.
const MAX_CALENDAR: u32 = 100;

/// The number of paths that are counted separately. All others share one counter.
const MAX_COUNTED: usize = 200_000;

/// Path segments that indicate a calendar.
const CALENDAR_SEGMENTS: &[&str] =
    &["agenda", "cal", "calendar", "calendario", "calendrier", "day", "events", "kalender", "month", "week"];

/// Query parameters that select a date of a calendar.
const CALENDAR_PARAMETERS: &[&str] =
    &["cal", "cal_date", "calendar", "date", "day", "month", "tribe-bar-date", "week", "year"];

/// Returns whether a URL alone indicates a trap.
pub(crate) fn is_trap(url: &Url) -> bool {
    let Some(segments) = url.path_segments() else { return true };
    let segments: Vec<&str> = segments.collect();
    if url.as_str().len() > MAX_URL_BYTES || segments.len() > MAX_PATH_SEGMENTS {
        return true;
    }
    let repeats = |segment: &&str| segments.iter().filter(|other| *other == segment).count();
    if segments.iter().filter(|segment| !segment.is_empty()).any(|one| repeats(one) > MAX_SEGMENT_REPEATS) {
        return true;
    }
    let names: Vec<&str> = parameters(url).collect();
    let repeats_of = |name: &&str| names.iter().filter(|other| *other == name).count();
    names.len() > MAX_PARAMETERS || names.iter().any(|name| repeats_of(name) > MAX_SEGMENT_REPEATS)
}

fn parameters(url: &Url) -> impl Iterator<Item = &str> {
    let pairs = url.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
    pairs.map(|pair| pair.split('=').next().unwrap_or_default())
}

/// Counts the fetched URLs of spaces that may be endless.
#[derive(Debug, Default)]
pub struct TrapBudgets {
    counts: HashMap<String, u32>,
}

impl TrapBudgets {
    /// Counts a URL against the budgets of its path. Returns false if a budget is exhausted.
    pub fn try_take(&mut self, url: &Url) -> bool {
        if is_calendar(url) && !self.count(calendar_key(url), MAX_CALENDAR) {
            return false;
        }
        let (kind, max) = match parameters(url).count() {
            0 => return true,
            1..MANY_PARAMETERS => ("queries", MAX_QUERIES),
            _ => ("filters", MAX_FILTERED),
        };
        self.count(format!("{kind} {}{}", host_key(url), url.path()), max)
    }

    fn count(&mut self, key: String, max: u32) -> bool {
        let key = if self.counts.len() < MAX_COUNTED || self.counts.contains_key(&key) {
            key
        } else {
            String::new()
        };
        let counts = self.counts.entry(key).or_default();
        *counts += 1;
        *counts <= max
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

/// Returns a URL with each run of digits replaced by one digit, so that all dates of a calendar share a key.
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
    fn looping_paths_and_many_parameters_are_traps() {
        let long = format!("http://a.test/{}", "x".repeat(MAX_URL_BYTES));
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

    /// Returns how many of the URLs are within the budgets.
    fn counts(urls: impl Iterator<Item = String>) -> usize {
        let mut budgets = TrapBudgets::default();
        urls.filter(|text| budgets.try_take(&url(text))).count()
    }

    #[test]
    fn calendar_urls_are_limited() {
        let paths = (0..5_000).map(|day| format!("http://a.test/calendar/{}/{}", 2000 + day / 12, day % 12));
        assert_eq!(counts(paths), MAX_CALENDAR as usize);
        let queries = (0..5_000).map(|month| format!("http://a.test/?month={month}&view=list"));
        assert_eq!(counts(queries), MAX_CALENDAR as usize);
    }

    #[test]
    fn filter_urls_are_limited_and_numbered_pages_are_not() {
        let filters = (0..5_000).map(|number| format!("http://a.test/shop?a={number}&b=1&c=2"));
        assert_eq!(counts(filters), MAX_FILTERED as usize);
        assert_eq!(counts((0..5_000).map(|number| format!("http://a.test/view?id={number}"))), 5_000);
        assert_eq!(counts((0..9_000).map(|number| format!("http://a.test/view?id={number}"))), 5_000);
        assert_eq!(counts((0..9_000).map(|number| format!("http://a.test/page/{number}"))), 9_000);
        assert_eq!(counts((0..9_000).map(|number| format!("http://a.test/events/talk-{number}x"))), 100);
    }
}
