//! Progress bars on stderr; where stderr is no terminal, a line every few seconds instead.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use websvc_engine::crawl::CrawlEvent;

use crate::output;

/// How often a line is printed where no bar can be drawn.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// Pages between updates of the text beside the progress bar.
const SELDOM: u64 = 256;

/// The progress of a crawl, an import or an export.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    pages: u64,
    errors: u64,
    skipped: u64,
    started: Instant,
    last_line: Instant,
}

impl Progress {
    /// Starts with nothing done of nobody knows how much.
    pub(crate) fn start(what: &str) -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
        let template = "{prefix} {bar:30} {pos}/{len} pages  {msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_prefix(what.to_owned());
        let now = Instant::now();
        Self { bar, pages: 0, errors: 0, skipped: 0, started: now, last_line: now }
    }

    /// Shows an event of a crawl.
    pub(crate) fn event(&mut self, event: &CrawlEvent) {
        match event {
            CrawlEvent::Page { .. } => self.page(),
            CrawlEvent::Failed { url, reason } => {
                self.errors += 1;
                self.say(&format!("failed {url}: {reason}"));
            }
            CrawlEvent::Skipped { .. } => self.skipped += 1,
            CrawlEvent::Queued { count } => {
                self.bar.set_length(self.pages + u64::try_from(*count).unwrap_or(u64::MAX));
            }
            _ => {}
        }
        self.update();
    }

    /// Shows how far a job is that others count.
    pub(crate) fn far(&mut self, pages: u64, of: u64, errors: u64) {
        (self.pages, self.errors) = (pages, errors);
        self.bar.set_length(of.max(pages));
        self.bar.set_position(pages);
        self.update();
    }

    /// Prints something while the bar is out of the way.
    pub(crate) fn beside<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }

    /// Notes how many pages there will be.
    pub(crate) fn expect(&self, pages: u64) {
        self.bar.set_length(pages);
    }

    /// Counts a page that is read as quickly as the disk gives it, and says so now and then.
    pub(crate) fn quick_page(&mut self) {
        self.page();
        if self.pages.is_multiple_of(SELDOM) {
            self.update();
        }
    }

    /// Counts a page.
    pub(crate) fn page(&mut self) {
        self.pages += 1;
        self.bar.set_position(self.pages);
        if self.bar.length().is_none_or(|length| length < self.pages) {
            self.bar.set_length(self.pages);
        }
    }

    /// Counts a failure and says why.
    pub(crate) fn failed(&mut self, what: &str, reason: &str) {
        self.say(&format!("failed {what}: {reason}"));
        self.failed_too();
    }

    /// Counts a failure of which enough have been named.
    pub(crate) fn failed_too(&mut self) {
        self.errors += 1;
        self.update();
    }

    /// Counts what was left out as a matter of course.
    pub(crate) fn skipped(&mut self) {
        self.skipped += 1;
        self.update();
    }

    /// Ends the bar.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn update(&mut self) {
        let message = self.message();
        if self.bar.is_hidden() && self.last_line.elapsed() >= LINE_EVERY {
            self.last_line = Instant::now();
            output::note(&format!("{} pages, {message}", self.pages));
        }
        self.bar.set_message(message);
    }

    fn message(&self) -> String {
        #[expect(clippy::cast_precision_loss, reason = "a rate for a person to read")]
        let rate = self.pages as f64 / self.started.elapsed().as_secs_f64().max(0.001);
        format!("{rate:.0} pages/s, {} errors, {} skipped", self.errors, self.skipped)
    }

    fn say(&self, text: &str) {
        if self.bar.is_hidden() {
            output::note(text);
        } else {
            self.bar.println(text);
        }
    }
}
