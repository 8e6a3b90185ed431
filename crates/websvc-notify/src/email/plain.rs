//! The plain text of messages about checks.

use url::Url;
use websvc_types::counted;

use crate::digest::{Difference, Digest, JudgmentDigest, PageDigest};
use crate::report::CheckReport;
use crate::wording::{all_counts, check_status, judged_kind, page_status, pages};

/// Returns the text of a message. `headline` is its first line.
pub(super) fn report(
    report: &CheckReport,
    digest: &Digest,
    headline: &str,
    unsubscribe_url: Option<&Url>,
) -> String {
    let unsubscribe = unsubscribe_url.map(|url| format!("\nStop these messages: {url}\n"));
    format!("{headline}\n\n{}{}", body(report, digest), unsubscribe.unwrap_or_default())
}

/// Returns the text of a message without its headline.
pub(crate) fn body(report: &CheckReport, digest: &Digest) -> String {
    let mut text = format!("{}\n", summary(report));
    let mut line = |line: &str| {
        text.push_str(line);
        text.push('\n');
    };
    if let Some(error) = &digest.error {
        line(&format!("Error: {error}"));
    }
    for page in &digest.pages {
        line(&format!("\n{}", page_text(page)));
    }
    for note in notes(digest) {
        line(&format!("\n{note}"));
    }
    if let Some(url) = &report.dashboard_url {
        line(&format!("\nAll details: {url}"));
    }
    text
}

/// Returns the line about the check: its end, its state and all counts.
pub(crate) fn summary(report: &CheckReport) -> String {
    let time = report.finished_at.strftime("%Y-%m-%d %H:%M UTC");
    format!("Check of {time}, {}: {}.", check_status(report.status), all_counts(report.counts))
}

/// Returns the sentences about all that is not shown.
pub(crate) fn notes(digest: &Digest) -> Vec<String> {
    let mut notes = Vec::new();
    if digest.omitted_diffs > 0 {
        notes.push(format!("The differences of {} are not shown.", pages(digest.omitted_diffs)));
    }
    match digest.omitted_pages {
        0 => {}
        count if digest.pages.is_empty() => notes.push(format!("{} not listed.", are(count))),
        count => notes.push(format!("And {}.", counted(count, "more page", "more pages"))),
    }
    notes
}

fn are(count: u64) -> String {
    format!("{} {}", pages(count), if count == 1 { "is" } else { "are" })
}

fn page_text(page: &PageDigest) -> String {
    let PageDigest { status, title, url, link: _, judgment, difference, error } = page;
    let mut text = format!("{}: {}\n", page_status(*status), title.as_deref().unwrap_or(url));
    if title.is_some() {
        text.push_str(&format!("  {url}\n"));
    }
    if let Some(error) = error {
        text.push_str(&format!("  Error: {error}\n"));
    }
    if let Some(judgment) = judgment {
        push_judgment(&mut text, judgment);
    }
    if let Some(difference) = difference {
        push_difference(&mut text, difference);
    }
    text.truncate(text.trim_end().len());
    text
}

fn push_judgment(text: &mut String, judgment: &JudgmentDigest) {
    text.push_str(&format!("  {}\n", judgment.verdict()));
    for change in &judgment.changes {
        let words = change_words(change.before.as_deref(), change.after.as_deref());
        let reason = if change.reason.is_empty() { String::new() } else { format!(" ({})", change.reason) };
        text.push_str(&format!("  * {}: {words}{reason}\n", judged_kind(change.kind)));
    }
}

/// Returns the texts before and after a change.
pub(crate) fn change_words(before: Option<&str>, after: Option<&str>) -> String {
    match (before, after) {
        (Some(before), Some(after)) => format!("{before} → {after}"),
        (Some(text), None) | (None, Some(text)) => text.to_owned(),
        (None, None) => String::new(),
    }
}

fn push_difference(text: &mut String, difference: &Difference) {
    for field in &difference.fields {
        text.push_str(&format!("  {}: {} → {}\n", field.path, field.previous, field.current));
    }
    if difference.omitted_fields > 0 {
        text.push_str(&format!("  ({})\n", omitted_fields(difference.omitted_fields)));
    }
    if !difference.lines.is_empty() {
        text.push('\n');
    }
    for line in &difference.lines {
        text.push_str(&format!("  {}\n", line.text));
    }
    if difference.omitted_lines > 0 {
        text.push_str(&format!("  ({})\n", omitted_lines(difference.omitted_lines)));
    }
}

pub(crate) fn omitted_fields(count: u64) -> String {
    format!("{} not shown", counted(count, "more field is", "more fields are"))
}

pub(crate) fn omitted_lines(count: u64) -> String {
    format!("{} not shown", counted(count, "more line is", "more lines are"))
}
