//! The bounded, cleaned content of a report, which every kind of message shows.

use serde_json::Value;
use url::Url;

use websvc_types::monitor::{MeaningfulChange, MeaningfulChangeKind, MonitorPageStatus};

use crate::report::{CheckReport, FieldChange, Judgment, PageReport};
use crate::text::{clean_code, clean_line};

/// Maximum number of pages that a message lists.
const MAX_PAGES: usize = 20;
/// Maximum number of pages whose differences a message shows (operations.md, section 3.8).
const MAX_DIFFS: usize = 5;
/// Maximum number of lines of one diff.
const MAX_DIFF_LINES: usize = 40;
/// Maximum number of fields of one page.
const MAX_FIELDS: usize = 20;
/// Maximum number of judged changes of one page.
const MAX_JUDGED_CHANGES: usize = 5;
/// Maximum length of a line of a diff, a value or a URL that is shown, in characters.
const MAX_LINE_CHARS: usize = 200;
/// Maximum length of the title of a page, in characters.
const MAX_TITLE_CHARS: usize = 150;
/// Maximum length of a reason or an error, in characters.
const MAX_REASON_CHARS: usize = 500;
/// Maximum length of the target of a link, in bytes. A page with a longer URL is listed without a link.
const MAX_LINK_BYTES: usize = 2_000;

/// Decides whether a message shows the differences of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffMode {
    /// The differences of the first pages are shown.
    Include,
    /// Pages are listed only.
    Omit,
}

/// Content of a report within the bounds of a message. All texts are clean, and not escaped.
pub(crate) struct Digest {
    pub(crate) pages: Vec<PageDigest>,
    /// Number of pages that are not listed.
    pub(crate) omitted_pages: u64,
    /// Number of listed pages whose differences are not shown.
    pub(crate) omitted_diffs: u64,
    pub(crate) error: Option<String>,
}

/// Content of a report for one page.
pub(crate) struct PageDigest {
    pub(crate) status: MonitorPageStatus,
    pub(crate) title: Option<String>,
    /// The URL as text.
    pub(crate) url: String,
    /// The URL as the target of a link, if it is a web page.
    pub(crate) link: Option<String>,
    pub(crate) judgment: Option<JudgmentDigest>,
    pub(crate) difference: Option<Difference>,
    pub(crate) error: Option<String>,
}

/// Content of a judgment.
pub(crate) struct JudgmentDigest {
    pub(crate) is_meaningful: bool,
    pub(crate) reason: String,
    pub(crate) changes: Vec<JudgedChangeDigest>,
}

/// A judged change.
pub(crate) struct JudgedChangeDigest {
    pub(crate) kind: MeaningfulChangeKind,
    pub(crate) before: Option<String>,
    pub(crate) after: Option<String>,
    pub(crate) reason: String,
}

/// Differences of one page.
pub(crate) struct Difference {
    pub(crate) fields: Vec<FieldDigest>,
    pub(crate) omitted_fields: u64,
    pub(crate) lines: Vec<DiffLine>,
    pub(crate) omitted_lines: u64,
}

/// A changed field.
pub(crate) struct FieldDigest {
    pub(crate) path: String,
    pub(crate) previous: String,
    pub(crate) current: String,
}

/// A line of a unified diff, with its sign.
pub(crate) struct DiffLine {
    pub(crate) kind: DiffLineKind,
    pub(crate) text: String,
}

/// Kind of a line of a unified diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DiffLineKind {
    Hunk,
    Added,
    Removed,
    Context,
}

impl Digest {
    pub(crate) fn new(report: &CheckReport, mode: DiffMode) -> Self {
        let mut listed: Vec<&PageReport> =
            report.pages.iter().filter(|page| page.status != MonitorPageStatus::Same).collect();
        // Stable, so that pages of one rank keep the order of the caller.
        listed.sort_by_key(|page| rank(page));
        let counts = report.counts;
        let notable = counts.new + counts.changed + counts.removed + counts.error;
        let total = notable.max(listed.len() as u64);
        let mut shown_diffs = 0;
        let mut omitted_diffs = 0;
        let pages: Vec<PageDigest> = listed
            .into_iter()
            .take(MAX_PAGES)
            .map(|page| {
                let has_difference = page.diff.is_some() || !page.fields.is_empty();
                let is_shown = mode == DiffMode::Include && has_difference && shown_diffs < MAX_DIFFS;
                shown_diffs += usize::from(is_shown);
                omitted_diffs += u64::from(mode == DiffMode::Include && has_difference && !is_shown);
                PageDigest::new(page, is_shown.then(|| Difference::new(page)))
            })
            .collect();
        Self {
            omitted_pages: total.saturating_sub(pages.len() as u64),
            omitted_diffs,
            pages,
            error: report.error.as_deref().map(|error| clean_line(error, MAX_REASON_CHARS)),
        }
    }
}

/// Rank of a page in a message: changes first, those that do not matter last.
fn rank(page: &PageReport) -> u8 {
    match page.status {
        MonitorPageStatus::Changed
            if page.judgment.as_ref().is_some_and(|judgment| !judgment.is_meaningful) =>
        {
            4
        }
        MonitorPageStatus::Changed => 0,
        MonitorPageStatus::New => 1,
        MonitorPageStatus::Removed => 2,
        MonitorPageStatus::Error => 3,
        MonitorPageStatus::Same => 5,
    }
}

impl PageDigest {
    fn new(page: &PageReport, difference: Option<Difference>) -> Self {
        let PageReport { url, title, status, judgment, diff: _, fields: _, error } = page;
        Self {
            status: *status,
            title: title
                .as_deref()
                .map(|title| clean_line(title, MAX_TITLE_CHARS))
                .filter(|title| !title.is_empty()),
            url: clean_line(url, MAX_LINE_CHARS),
            link: web_link(url),
            judgment: judgment.as_ref().map(JudgmentDigest::new),
            difference,
            error: error.as_deref().map(|error| clean_line(error, MAX_REASON_CHARS)),
        }
    }
}

/// Returns the target of a link, if the URL is one of a web page. Other schemes could run a script.
fn web_link(url: &str) -> Option<String> {
    let url = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    let link = String::from(url);
    (link.len() <= MAX_LINK_BYTES).then_some(link)
}

impl JudgmentDigest {
    fn new(judgment: &Judgment) -> Self {
        let Judgment { is_meaningful, reason, changes } = judgment;
        let changes = changes.iter().take(MAX_JUDGED_CHANGES).map(JudgedChangeDigest::new).collect();
        Self { is_meaningful: *is_meaningful, reason: clean_line(reason, MAX_REASON_CHARS), changes }
    }

    /// Returns whether the change matters, and the reason.
    pub(crate) fn verdict(&self) -> String {
        let verdict = if self.is_meaningful { "Matters" } else { "Does not matter" };
        if self.reason.is_empty() { verdict.to_owned() } else { format!("{verdict}: {}", self.reason) }
    }
}

impl JudgedChangeDigest {
    fn new(change: &MeaningfulChange) -> Self {
        let MeaningfulChange { kind, before, after, reason } = change;
        let value = |text: &Option<String>| text.as_deref().map(|text| clean_line(text, MAX_LINE_CHARS));
        Self {
            kind: *kind,
            before: value(before),
            after: value(after),
            reason: clean_line(reason, MAX_REASON_CHARS),
        }
    }
}

impl Difference {
    fn new(page: &PageReport) -> Self {
        let mut lines = Vec::new();
        let mut omitted_lines = 0;
        for line in page.diff.iter().flat_map(|diff| content_lines(diff)) {
            if lines.len() < MAX_DIFF_LINES {
                lines.push(DiffLine { kind: line_kind(line), text: clean_code(line, MAX_LINE_CHARS) });
            } else {
                omitted_lines += 1;
            }
        }
        let fields: Vec<FieldDigest> = page.fields.iter().take(MAX_FIELDS).map(FieldDigest::new).collect();
        let omitted_fields = (page.fields.len() - fields.len()) as u64;
        Self { fields, omitted_fields, lines, omitted_lines }
    }
}

/// Returns the lines of a unified diff from the first hunk on. The names before it are the same for every page.
fn content_lines(diff: &str) -> impl Iterator<Item = &str> {
    let start = if diff.starts_with("@@") { Some(0) } else { diff.find("\n@@").map(|at| at + 1) };
    diff[start.unwrap_or(0)..].lines()
}

fn line_kind(line: &str) -> DiffLineKind {
    match line.as_bytes().first() {
        Some(b'@') => DiffLineKind::Hunk,
        Some(b'+') => DiffLineKind::Added,
        Some(b'-') => DiffLineKind::Removed,
        Some(_) | None => DiffLineKind::Context,
    }
}

impl FieldDigest {
    fn new(change: &FieldChange) -> Self {
        let FieldChange { path, previous, current } = change;
        Self {
            path: clean_line(path, MAX_LINE_CHARS),
            previous: value_text(previous),
            current: value_text(current),
        }
    }
}

/// Returns a value as text: a string as it is, and any other value as JSON.
fn value_text(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::String(text) => clean_line(text, MAX_LINE_CHARS),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            clean_line(&value.to_string(), MAX_LINE_CHARS)
        }
    }
}
