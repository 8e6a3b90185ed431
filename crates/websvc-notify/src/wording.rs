//! Results of checks in words.

use websvc_types::counted;

use websvc_types::monitor::{MeaningfulChangeKind, MonitorPageStatus};

use crate::report::{CheckReport, CheckStatus, PageCounts};
use crate::text::clean_line;

/// Maximum length of a monitor's name in a headline, in characters.
const MAX_NAME_CHARS: usize = 100;

/// Returns the result of a check in one line: `Prices: 2 pages changed, 1 new`.
#[must_use]
pub fn headline(report: &CheckReport) -> String {
    format!("{}: {}", monitor_name(&report.monitor_name), result(report))
}

/// Returns the name of a monitor for a heading.
pub(crate) fn monitor_name(name: &str) -> String {
    let name = clean_line(name, MAX_NAME_CHARS);
    if name.is_empty() { "Monitor".to_owned() } else { name }
}

/// Returns the result of a check without the name of the monitor.
fn result(report: &CheckReport) -> String {
    let pages = notable_counts(report.counts);
    match report.status {
        CheckStatus::Completed | CheckStatus::Partial if pages.is_empty() => "no changes".to_owned(),
        CheckStatus::Completed | CheckStatus::Partial => pages,
        CheckStatus::Failed if pages.is_empty() => "the check failed".to_owned(),
        CheckStatus::Failed => format!("the check failed after {pages}"),
        CheckStatus::SkippedOverlap => "the check was skipped, because another one was running".to_owned(),
        CheckStatus::SkippedNoCredits => {
            "the check was skipped, because the credits did not suffice".to_owned()
        }
    }
}

/// Returns the state of a check as a word.
pub(crate) fn check_status(status: CheckStatus) -> &'static str {
    match status {
        CheckStatus::Completed => "completed",
        CheckStatus::Partial => "completed with errors",
        CheckStatus::Failed => "failed",
        CheckStatus::SkippedOverlap | CheckStatus::SkippedNoCredits => "skipped",
    }
}

/// Returns the status of a page as a word.
pub(crate) fn page_status(status: MonitorPageStatus) -> &'static str {
    match status {
        MonitorPageStatus::New => "New",
        MonitorPageStatus::Changed => "Changed",
        MonitorPageStatus::Removed => "Removed",
        MonitorPageStatus::Error => "Failed",
        MonitorPageStatus::Same => "Unchanged",
    }
}

/// Returns the kind of a judged change as a word.
pub(crate) fn judged_kind(kind: MeaningfulChangeKind) -> &'static str {
    match kind {
        MeaningfulChangeKind::Added => "added",
        MeaningfulChangeKind::Removed => "removed",
        MeaningfulChangeKind::Changed => "changed",
    }
}

/// Returns the counts as words, with those of unchanged pages.
pub(crate) fn all_counts(counts: PageCounts) -> String {
    let notable = notable_counts(counts);
    match (notable.is_empty(), counts.same) {
        (true, 0) => "no pages".to_owned(),
        (true, same) => format!("{} unchanged", pages(same)),
        (false, 0) => notable,
        (false, same) => format!("{notable}, {same} unchanged"),
    }
}

/// Returns the counts as words without those of unchanged pages. The first has the noun: `2 pages changed, 1 new`.
fn notable_counts(counts: PageCounts) -> String {
    let PageCounts { new, changed, removed, error, same: _ } = counts;
    let kinds = [(changed, "changed"), (new, "new"), (removed, "removed"), (error, "failed")];
    let mut words = String::new();
    for (count, word) in kinds.into_iter().filter(|(count, _)| *count > 0) {
        if words.is_empty() {
            words = format!("{} {word}", pages(count));
        } else {
            words.push_str(&format!(", {count} {word}"));
        }
    }
    words
}

/// Returns a number of pages in words.
pub(crate) fn pages(count: u64) -> String {
    counted(count, "page", "pages")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check([changed, new, removed, error, same]: [u64; 5], notable: &str, all: &str) {
        let counts = PageCounts { new, changed, removed, error, same };
        assert_eq!(notable_counts(counts), notable);
        assert_eq!(all_counts(counts), all);
    }

    #[test]
    fn counts_are_words_with_one_noun() {
        check([0, 0, 0, 0, 0], "", "no pages");
        check([0, 0, 0, 0, 1], "", "1 page unchanged");
        check([1, 0, 0, 0, 0], "1 page changed", "1 page changed");
        check([2, 1, 0, 0, 9], "2 pages changed, 1 new", "2 pages changed, 1 new, 9 unchanged");
        check([0, 0, 3, 1, 0], "3 pages removed, 1 failed", "3 pages removed, 1 failed");
    }
}
