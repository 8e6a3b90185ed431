//! Estimate of the credits of a monitor (operations.md, section 3.9).

use websvc_types::format::{ChangeMode, ChangeTracking};
use websvc_types::{Format, Proxy};
use websvc_validate::{MonitorPlan, MonitorTargetPlan, ScrapePlan};

use crate::pricing::Pricing;

/// Estimate of the credits of a monitor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MonitorEstimate {
    /// Credits of a check, if all pages of its targets exist and all of them have changed.
    pub check: u64,
    /// Credits of all checks of 30 days.
    pub month: u64,
}

impl Pricing {
    /// Estimates the credits of a monitor from the plan of its checks and their number in 30 days, see
    /// `Schedule::runs_per_30_days`. `is_judged` is true if a language model judges changes and results.
    ///
    /// Proxies that turn out to be necessary, further pages of documents and scans of URLs are not included.
    #[must_use]
    pub fn estimate_monitor(
        &self,
        plan: &MonitorPlan,
        is_judged: bool,
        runs_per_month: u64,
    ) -> MonitorEstimate {
        let judge = if is_judged { self.judge } else { 0 };
        let check =
            plan.targets.iter().fold(0_u64, |sum, target| sum.saturating_add(self.target(target, judge)));
        MonitorEstimate { check, month: check.saturating_mul(runs_per_month) }
    }

    fn target(&self, target: &MonitorTargetPlan, judge: u64) -> u64 {
        match target {
            MonitorTargetPlan::Scrape(target) => {
                let page = self.monitored_page(&target.scrape).saturating_add(judge);
                page.saturating_mul(target.pages.len() as u64)
            }
            MonitorTargetPlan::Crawl(target) => {
                let page = self.monitored_page(&target.crawl.scrape).saturating_add(judge);
                page.saturating_mul(target.crawl.limit)
            }
            MonitorTargetPlan::Search(target) => {
                let results = u64::from(target.max_results);
                let tens = results.saturating_mul(target.searches.len() as u64).div_ceil(10);
                tens.saturating_mul(self.search_per_ten).saturating_add(results.saturating_mul(judge))
            }
        }
    }

    fn monitored_page(&self, scrape: &ScrapePlan) -> u64 {
        let page = match scrape.proxy {
            Proxy::Basic | Proxy::Auto => self.scrape,
            Proxy::Enhanced => self.scrape_enhanced,
        };
        let redaction = if scrape.redact_pii.is_some() { self.redact_pii } else { 0 };
        let formats = scrape.formats.iter().map(|format| self.format(format));
        formats.fold(page.saturating_add(redaction), u64::saturating_add)
    }

    fn format(&self, format: &Format) -> u64 {
        match format {
            Format::Json(_) => self.json,
            Format::Question(_) => self.question,
            Format::Highlights(_) => self.highlights,
            Format::Audio(_) => self.audio,
            Format::Video(_) => self.video,
            Format::ChangeTracking(ChangeTracking { modes, schema: _, prompt: _, tag: _ }) => {
                let has_json = modes.iter().flatten().any(|mode| *mode == ChangeMode::Json);
                if has_json { self.json } else { 0 }
            }
            Format::Markdown(_)
            | Format::Summary(_)
            | Format::Html(_)
            | Format::RawHtml(_)
            | Format::RawBase64(_)
            | Format::Links(_)
            | Format::Images(_)
            | Format::Screenshot(_)
            | Format::Branding(_)
            | Format::Product(_)
            | Format::Menu(_)
            | Format::Attributes(_) => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::{Value, json};
    use websvc_types::monitor::CreateMonitorRequest;
    use websvc_validate::{MonitorContext, Policy, read_request};

    use super::*;

    fn plan(targets: &Value) -> MonitorPlan {
        let body = json!({
            "name": "Tea", "schedule": { "text": "daily" }, "goal": "prices", "targets": targets,
        });
        let policy = Policy::default();
        let context = MonitorContext {
            policy: &policy,
            now: jiff::Timestamp::UNIX_EPOCH,
            min_interval: Duration::from_secs(300),
            new_id: &mut String::new,
        };
        let definition =
            read_request::<CreateMonitorRequest>(body.to_string().as_bytes(), context).unwrap().plan;
        definition.plan(&policy).unwrap().plan
    }

    #[test]
    fn credits_of_a_check_are_those_of_its_targets() {
        let page =
            |options: Value| json!([{ "type": "scrape", "urls": ["tea.test"], "scrapeOptions": options }]);
        let json_mode = json!({ "type": "changeTracking", "modes": ["json"] });
        for (targets, without_judge, with_judge) in [
            (json!([{ "type": "scrape", "urls": ["tea.test/a", "tea.test/b"] }]), 2, 4),
            (page(json!({ "formats": ["markdown", { "type": "json", "prompt": "price" }] })), 5, 6),
            (page(json!({ "formats": ["markdown", json_mode] })), 5, 6),
            (page(json!({ "proxy": "enhanced", "redactPII": true })), 9, 10),
            (json!([{ "type": "crawl", "url": "tea.test", "crawlOptions": { "limit": 30 } }]), 30, 60),
            (json!([{ "type": "crawl", "url": "tea.test" }]), 10_000, 20_000),
            (json!([{ "type": "search", "queries": ["a", "b"], "maxResults": 12 }]), 6, 18),
            (
                json!([{ "type": "scrape", "urls": ["tea.test"] }, { "type": "search", "queries": ["a"] }]),
                3,
                14,
            ),
        ] {
            let estimate = |is_judged| Pricing::default().estimate_monitor(&plan(&targets), is_judged, 30);
            assert_eq!(
                (estimate(false).check, estimate(true).check),
                (without_judge, with_judge),
                "{targets}"
            );
            assert_eq!(estimate(true).month, 30 * with_judge, "{targets}");
        }
    }
}
