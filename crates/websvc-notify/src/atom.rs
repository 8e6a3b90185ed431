//! Atom feeds (RFC 4287) of the checks of a monitor.

use jiff::Timestamp;
use url::Url;
use uuid::Uuid;

use crate::digest::{DiffMode, Digest};
use crate::email::content_html;
use crate::escape::escape;
use crate::report::CheckReport;
use crate::wording::{headline, monitor_name};

/// Maximum number of entries of a feed.
const MAX_ENTRIES: usize = 50;
/// End of a feed.
const END: &str = "</feed>\n";

/// The head of a feed.
#[derive(Debug, Clone, Copy)]
pub struct AtomFeed<'a> {
    /// ID of the monitor, from which the ID of the feed is made.
    pub monitor_id: Uuid,
    /// Name of the monitor.
    pub monitor_name: &'a str,
    /// Time of the last change of the monitor, for a feed without entries.
    pub updated_at: Timestamp,
    /// URL of the feed itself.
    pub self_url: &'a Url,
    /// URL of the monitor on the dashboard.
    pub dashboard_url: Option<&'a Url>,
    /// Decides whether entries show the differences of pages.
    pub diffs: DiffMode,
}

impl AtomFeed<'_> {
    /// Writes the feed with at most 50 of `reports`, which are ordered from the newest to the oldest, and about
    /// `max_bytes`. An entry that does not fit loses its differences; an entry that still does not fit is left out, with
    /// all that are older.
    #[must_use]
    pub fn write(&self, reports: &[CheckReport], max_bytes: usize) -> String {
        let mut xml = self.head(reports.first().map_or(self.updated_at, |report| report.finished_at));
        for report in reports.iter().take(MAX_ENTRIES) {
            let room = max_bytes.saturating_sub(xml.len() + END.len());
            let modes = match self.diffs {
                DiffMode::Include => &[DiffMode::Include, DiffMode::Omit][..],
                DiffMode::Omit => &[DiffMode::Omit],
            };
            let fitting = modes.iter().map(|mode| entry(report, *mode)).find(|entry| entry.len() <= room);
            let Some(entry) = fitting else { break };
            xml.push_str(&entry);
        }
        xml.push_str(END);
        xml
    }

    fn head(&self, updated: Timestamp) -> String {
        let Self { monitor_id, monitor_name: name, updated_at: _, self_url, dashboard_url, diffs: _ } = self;
        let alternate = dashboard_url.map(|url| {
            format!("<link rel=\"alternate\" type=\"text/html\" href=\"{}\"/>\n", escape(url.as_str()))
        });
        format!(
            "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n\
             <id>urn:uuid:{monitor_id}</id>\n<title>{}</title>\n<updated>{}</updated>\n\
             <author><name>websvc</name></author>\n<generator>websvc</generator>\n\
             <link rel=\"self\" type=\"application/atom+xml\" href=\"{}\"/>\n{}",
            escape(&monitor_name(name)),
            rfc3339(updated),
            escape(self_url.as_str()),
            alternate.unwrap_or_default()
        )
    }
}

/// Returns an entry. Its ID is that of the check, so a reader shows it once.
fn entry(report: &CheckReport, mode: DiffMode) -> String {
    let content = content_html(report, &Digest::new(report, mode));
    let link = report.dashboard_url.as_ref().map(|url| {
        format!("<link rel=\"alternate\" type=\"text/html\" href=\"{}\"/>\n", escape(url.as_str()))
    });
    format!(
        "<entry>\n<id>urn:uuid:{}</id>\n<title>{}</title>\n<updated>{}</updated>\n{}\
         <content type=\"html\">{}</content>\n</entry>\n",
        report.check_id,
        escape(&headline(report)),
        rfc3339(report.finished_at),
        link.unwrap_or_default(),
        escape(&content)
    )
}

/// Returns a time in UTC to the second.
fn rfc3339(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
