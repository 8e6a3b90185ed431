//! The credits that a request costs, by kind of charge.

use websvc_store::UsageItem;

/// The kind of work that credits are charged for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChargeKind {
    /// Ten results, or the rest of them.
    Results,
    /// Ten results under zero data retention.
    ResultsZdr,
    /// Ten results under anonymized zero data retention.
    ResultsAnon,
    /// A scraped page.
    Page,
    /// A page that came through an enhanced proxy.
    EnhancedPage,
    /// A page of a PDF.
    PdfPage,
    /// A PDF given back as it is.
    PdfFile,
    /// A page that lockdown served from the cache.
    LockdownHit,
    /// A page that lockdown did not find in the cache.
    LockdownMiss,
    /// A page or file that was requested alone under zero data retention.
    ZeroRetention,
    /// A page from which personal data was removed.
    RedactPii,
    /// Data that a language model extracted from a page.
    Json,
    /// The answer of a language model to a question about a page.
    Question,
    /// Passages of a page that a language model chose.
    Highlights,
    /// The downloaded sound of a page.
    Audio,
    /// The downloaded video of a page.
    Video,
    /// A map of a site.
    Map,
    /// A URL that was sent to a threat scanner.
    ThreatScan,
    /// A credit for the time of a browser session without prompts.
    Session,
    /// A credit for the time of a browser session with prompts.
    SessionPrompt,
    /// A step of an agent run.
    AgentStep,
}

impl ChargeKind {
    /// All kinds.
    pub const ALL: &'static [ChargeKind] = &[
        ChargeKind::Results,
        ChargeKind::ResultsZdr,
        ChargeKind::ResultsAnon,
        ChargeKind::Page,
        ChargeKind::EnhancedPage,
        ChargeKind::PdfPage,
        ChargeKind::PdfFile,
        ChargeKind::LockdownHit,
        ChargeKind::LockdownMiss,
        ChargeKind::ZeroRetention,
        ChargeKind::RedactPii,
        ChargeKind::Json,
        ChargeKind::Question,
        ChargeKind::Highlights,
        ChargeKind::Audio,
        ChargeKind::Video,
        ChargeKind::Map,
        ChargeKind::ThreatScan,
        ChargeKind::Session,
        ChargeKind::SessionPrompt,
        ChargeKind::AgentStep,
    ];

    /// Returns the name of the kind in the usage log.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            ChargeKind::Results => "results",
            ChargeKind::ResultsZdr => "results-zdr",
            ChargeKind::ResultsAnon => "results-anon",
            ChargeKind::Page => "page",
            ChargeKind::EnhancedPage => "enhanced-page",
            ChargeKind::PdfPage => "pdf-page",
            ChargeKind::PdfFile => "pdf-file",
            ChargeKind::LockdownHit => "lockdown-hit",
            ChargeKind::LockdownMiss => "lockdown-miss",
            ChargeKind::ZeroRetention => "zero-retention",
            ChargeKind::RedactPii => "redact-pii",
            ChargeKind::Json => "json",
            ChargeKind::Question => "question",
            ChargeKind::Highlights => "highlights",
            ChargeKind::Audio => "audio",
            ChargeKind::Video => "video",
            ChargeKind::Map => "map",
            ChargeKind::ThreatScan => "threat-scan",
            ChargeKind::Session => "session",
            ChargeKind::SessionPrompt => "session-prompt",
            ChargeKind::AgentStep => "agent-step",
        }
    }
}

/// The total of one kind of charge in a bill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BillLine {
    /// The kind of charge.
    pub kind: ChargeKind,
    /// The number of units, such as pages.
    pub count: u64,
    /// The credits for all units together.
    pub credits: u64,
}

/// The charges of a request: one line per kind, in the order in which they were added.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bill {
    lines: Vec<BillLine>,
}

impl Bill {
    /// Adds `count` units of a kind at `price` each and returns their credits. A count of zero adds no line.
    pub fn add_line(&mut self, kind: ChargeKind, count: u64, price: u64) -> u64 {
        let credits = count.saturating_mul(price);
        if count == 0 {
            return 0;
        }
        match self.lines.iter_mut().find(|line| line.kind == kind) {
            Some(line) => {
                line.count = line.count.saturating_add(count);
                line.credits = line.credits.saturating_add(credits);
            }
            None => self.lines.push(BillLine { kind, count, credits }),
        }
        credits
    }

    /// Adds the lines of another bill.
    pub fn add_bill(&mut self, other: &Bill) {
        for BillLine { kind, count, credits } in &other.lines {
            match self.lines.iter_mut().find(|line| line.kind == *kind) {
                Some(line) => {
                    line.count = line.count.saturating_add(*count);
                    line.credits = line.credits.saturating_add(*credits);
                }
                None => self.lines.push(BillLine { kind: *kind, count: *count, credits: *credits }),
            }
        }
    }

    /// Returns the bill without the lines of these kinds.
    #[must_use]
    pub fn without(&self, kinds: &[ChargeKind]) -> Self {
        Self { lines: self.lines.iter().filter(|line| !kinds.contains(&line.kind)).copied().collect() }
    }

    /// Returns the lines.
    #[must_use]
    pub fn lines(&self) -> &[BillLine] {
        &self.lines
    }

    /// Returns the lines as they are stored in the usage log.
    #[must_use]
    pub fn items(&self) -> Vec<UsageItem> {
        let item = |line: &BillLine| UsageItem {
            item: line.kind.as_str().to_owned(),
            count: line.count,
            credits: line.credits,
        };
        self.lines.iter().map(item).collect()
    }

    /// Returns the credits of all lines together.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.lines.iter().fold(0, |sum, line| sum.saturating_add(line.credits))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn repeated_charges_of_one_kind_are_merged_into_one_line() {
        let mut bill = Bill::default();
        assert_eq!(bill.add_line(ChargeKind::Page, 2, 1), 2);
        assert_eq!(bill.add_line(ChargeKind::RedactPii, 1, 4), 4);
        assert_eq!(bill.add_line(ChargeKind::Page, 1, 5), 5);
        assert_eq!(bill.add_line(ChargeKind::PdfPage, 0, 5), 0);
        let pages = BillLine { kind: ChargeKind::Page, count: 3, credits: 7 };
        assert_eq!(bill.lines(), [pages, BillLine { kind: ChargeKind::RedactPii, count: 1, credits: 4 }]);
        assert_eq!(bill.total(), 11);
    }

    #[test]
    fn added_bill_merges_its_lines() {
        let (mut bill, mut other) = (Bill::default(), Bill::default());
        bill.add_line(ChargeKind::Page, 1, 1);
        other.add_line(ChargeKind::Page, 2, 5);
        other.add_line(ChargeKind::Map, 1, 1);
        bill.add_bill(&other);
        let pages = BillLine { kind: ChargeKind::Page, count: 3, credits: 11 };
        assert_eq!(bill.lines(), [pages, BillLine { kind: ChargeKind::Map, count: 1, credits: 1 }]);
    }

    #[test]
    fn charge_kind_names_are_unique() {
        let names: BTreeSet<&str> = ChargeKind::ALL.iter().map(|kind| kind.as_str()).collect();
        assert_eq!(names.len(), ChargeKind::ALL.len());
    }
}
