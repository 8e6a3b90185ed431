//! A progress bar on stderr, or a line every few seconds if stderr is not a terminal.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use websvc_engine::crawl::CrawlEvent;
use websvc_types::counted;

use crate::output;

/// Time between two lines if there is no bar.
const LINE_INTERVAL: Duration = Duration::from_secs(5);

/// Pages between two updates of the text next to the progress bar.
const UPDATE_INTERVAL_PAGES: u64 = 256;

/// Time between two updates of the time for which a command has waited.
const TICK_INTERVAL: Duration = Duration::from_millis(250);

/// Creates a bar on stderr, which is hidden if stderr is not a terminal.
fn new_bar(template: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar
}

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
    /// Starts with no pages and an unknown total.
    pub(crate) fn start(label: &str) -> Self {
        let bar = new_bar("{prefix} {bar:30} {pos}/{len} pages  {msg}");
        bar.set_prefix(label.to_owned());
        let now = Instant::now();
        Self { bar, pages: 0, errors: 0, skipped: 0, started: now, last_line: now }
    }

    /// Shows an event of a crawl.
    pub(crate) fn event(&mut self, event: &CrawlEvent) {
        match event {
            CrawlEvent::Page { .. } => self.page(),
            CrawlEvent::Failed { url, reason } => {
                self.errors += 1;
                self.print(&format!("failed {url}: {reason}"));
            }
            CrawlEvent::Skipped { .. } => self.skipped += 1,
            CrawlEvent::Queued { count } => {
                self.bar.set_length(self.pages + u64::try_from(*count).unwrap_or(u64::MAX));
            }
            _ => {}
        }
        self.update();
    }

    /// Shows the progress of a job that the server or the store counts.
    pub(crate) fn set(&mut self, pages: u64, total: u64, errors: u64) {
        (self.pages, self.errors) = (pages, errors);
        self.bar.set_length(total.max(pages));
        self.bar.set_position(pages);
        self.update();
    }

    /// Hides the bar while `print` runs.
    pub(crate) fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }

    /// Sets the total number of pages.
    pub(crate) fn set_total(&self, pages: u64) {
        self.bar.set_length(pages);
    }

    /// Counts a page that is read from disk. The display is updated only now and then.
    pub(crate) fn count_page(&mut self) {
        self.page();
        if self.pages.is_multiple_of(UPDATE_INTERVAL_PAGES) {
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

    /// Counts a failure and prints its reason.
    pub(crate) fn failed(&mut self, subject: &str, reason: &str) {
        self.print(&format!("failed {subject}: {reason}"));
        self.failed_silently();
    }

    /// Counts a failure without printing it, after the maximum number of failures was printed.
    pub(crate) fn failed_silently(&mut self) {
        self.errors += 1;
        self.update();
    }

    /// Counts a page that was skipped as intended.
    pub(crate) fn skipped(&mut self) {
        self.skipped += 1;
        self.update();
    }

    /// Removes the bar.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn update(&mut self) {
        let message = self.message();
        if self.bar.is_hidden() && self.last_line.elapsed() >= LINE_INTERVAL {
            self.last_line = Instant::now();
            output::note(&format!("{}, {message}", counted(self.pages, "page", "pages")));
        }
        self.bar.set_message(message);
    }

    fn message(&self) -> String {
        #[expect(clippy::cast_precision_loss, reason = "a rate for a person to read")]
        let rate = self.pages as f64 / self.started.elapsed().as_secs_f64().max(0.001);
        format!("{rate:.0} pages/s, {}, {} skipped", counted(self.errors, "error", "errors"), self.skipped)
    }

    fn print(&self, text: &str) {
        if self.bar.is_hidden() {
            output::note(text);
        } else {
            self.bar.println(text);
        }
    }
}

/// The progress of steps on the rows of tables.
#[derive(Debug)]
pub(crate) struct RowProgress {
    bar: ProgressBar,
    step: String,
    last_line: Instant,
}

impl RowProgress {
    /// Starts without a step.
    pub(crate) fn start() -> Self {
        let bar = new_bar("{prefix} {bar:30} {pos}/{len} rows");
        Self { bar, step: String::new(), last_line: Instant::now() }
    }

    /// Shows the number of rows that are done in a step.
    pub(crate) fn set(&mut self, step: &str, rows: u64, total: u64) {
        self.bar.set_length(total);
        self.bar.set_position(rows);
        if self.step != step {
            step.clone_into(&mut self.step);
            self.bar.set_prefix(self.step.clone());
        }
        if self.bar.is_hidden() && self.last_line.elapsed() >= LINE_INTERVAL {
            self.last_line = Instant::now();
            output::note(&format!("{step}: {rows} of {total} rows"));
        }
    }

    /// Removes the bar.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// The time for which a command has waited, on the last line of stderr. Shown on a terminal only, and removed when dropped.
#[derive(Debug)]
pub(crate) struct WaitTime {
    bar: ProgressBar,
}

impl WaitTime {
    /// Starts to count the time.
    pub(crate) fn start(message: &'static str) -> Self {
        let bar = new_bar("{spinner} {msg} {elapsed}");
        bar.set_message(message);
        bar.enable_steady_tick(TICK_INTERVAL);
        Self { bar }
    }

    /// Hides the line while `print` runs.
    pub(crate) fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }
}

impl Drop for WaitTime {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
