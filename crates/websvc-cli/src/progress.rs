//! A progress bar on stderr, or a line every few seconds if stderr is not a terminal.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use websvc_engine::crawl::CrawlEvent;
use websvc_types::counted;

use crate::output;
use crate::status_line::StatusLine;

/// Time between two lines if there is no bar.
const LINE_INTERVAL: Duration = Duration::from_secs(5);

/// Pages between two updates of the text next to the progress bar.
const UPDATE_INTERVAL_PAGES: u64 = 256;

/// Time between two updates of the time for which a command has waited.
const TICK_INTERVAL: Duration = Duration::from_millis(250);

/// Characters of a full bar.
const BAR_WIDTH: u64 = 30;

/// The pictures that show that a command works, one after another.
const SPINNER: &str = "⠁⠁⠉⠙⠚⠒⠂⠂⠒⠲⠴⠤⠄⠄⠤⠠⠠⠤⠦⠖⠒⠐⠐⠒⠓⠋⠉⠈⠈";

/// Returns a bar for `done` of `total` steps, such as `====>     `.
fn bar(done: u64, total: u64) -> String {
    let full = if total == 0 { 0 } else { u128::from(done) * u128::from(BAR_WIDTH) / u128::from(total) };
    let full = usize::try_from(full.min(BAR_WIDTH.into())).unwrap_or_default();
    let head = if done > 0 && done < total { ">" } else { "" };
    format!("{:<width$}", "=".repeat(full) + head, width = BAR_WIDTH as usize)
}

/// Returns a duration in its largest unit, such as `75s` and `2m`.
fn human_duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..90 => format!("{seconds}s"),
        90..5_400 => format!("{}m", (seconds + 30) / 60),
        _ => format!("{}h", (seconds + 1_800) / 3_600),
    }
}

/// The progress of a crawl, an import or an export.
#[derive(Debug)]
pub(crate) struct Progress {
    line: StatusLine,
    label: String,
    pages: u64,
    total: u64,
    errors: u64,
    skipped: u64,
    started: Instant,
    last_line: Instant,
}

impl Progress {
    /// Starts with no pages and an unknown total.
    pub(crate) fn start(label: &str) -> Self {
        let (line, label, now) = (StatusLine::new(), label.to_owned(), Instant::now());
        Self { line, label, pages: 0, total: 0, errors: 0, skipped: 0, started: now, last_line: now }
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
                self.total = self.pages + u64::try_from(*count).unwrap_or(u64::MAX);
            }
            _ => {}
        }
        self.update();
    }

    /// Shows the progress of a job that the server or the store counts.
    pub(crate) fn set(&mut self, pages: u64, total: u64, errors: u64) {
        (self.pages, self.total, self.errors) = (pages, total.max(pages), errors);
        self.update();
    }

    /// Hides the bar while `print` runs.
    pub(crate) fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.line.suspend(print)
    }

    /// Sets the total number of pages.
    pub(crate) fn set_total(&mut self, pages: u64) {
        self.total = pages;
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
        self.total = self.total.max(self.pages);
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
    pub(crate) fn finish(&mut self) {
        self.line.remove();
    }

    fn update(&mut self) {
        let Self { label, pages, total, errors, skipped, started, .. } = self;
        #[expect(clippy::cast_precision_loss, reason = "a rate for a person to read")]
        let rate = *pages as f64 / started.elapsed().as_secs_f64().max(0.001);
        let message =
            format!("{rate:.0} pages/s, {}, {skipped} skipped", counted(*errors, "error", "errors"));
        if self.line.is_hidden() && self.last_line.elapsed() >= LINE_INTERVAL {
            self.last_line = Instant::now();
            output::note(&format!("{}, {message}", counted(*pages, "page", "pages")));
        }
        self.line.show(|| format!("{label} {} {pages}/{total} pages  {message}", bar(*pages, *total)));
    }

    fn print(&self, text: &str) {
        self.line.suspend(|| output::note(text));
    }
}

/// The progress of steps on the rows of tables.
#[derive(Debug)]
pub(crate) struct RowProgress {
    line: StatusLine,
    last_line: Instant,
}

impl RowProgress {
    /// Starts without a step.
    pub(crate) fn start() -> Self {
        Self { line: StatusLine::new(), last_line: Instant::now() }
    }

    /// Shows the number of rows that are done in a step.
    pub(crate) fn set(&mut self, step: &str, rows: u64, total: u64) {
        self.line.show(|| format!("{step} {} {rows}/{total} rows", bar(rows, total)));
        if self.line.is_hidden() && self.last_line.elapsed() >= LINE_INTERVAL {
            self.last_line = Instant::now();
            output::note(&format!("{step}: {rows} of {total} rows"));
        }
    }

    /// Removes the bar.
    pub(crate) fn finish(&mut self) {
        self.line.remove();
    }
}

/// The time for which a command has waited, on the last line of stderr. Shown on a terminal only, and removed when dropped.
#[derive(Debug)]
pub(crate) struct WaitTime {
    line: Arc<Mutex<StatusLine>>,
    /// Ends the thread that shows the time, when dropped.
    _stop: Sender<()>,
}

impl WaitTime {
    /// Starts to count the time.
    pub(crate) fn start(message: &'static str) -> Self {
        let line = Arc::new(Mutex::new(StatusLine::new()));
        let (stop, stopped) = channel();
        let (shown, started) = (Arc::clone(&line), Instant::now());
        if !line.lock().is_hidden() {
            thread::spawn(move || {
                for picture in SPINNER.chars().cycle() {
                    let elapsed = human_duration(started.elapsed());
                    shown.lock().show(|| format!("{picture} {message} {elapsed}"));
                    if stopped.recv_timeout(TICK_INTERVAL) != Err(RecvTimeoutError::Timeout) {
                        return;
                    }
                }
            });
        }
        Self { line, _stop: stop }
    }

    /// Hides the line while `print` runs.
    pub(crate) fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.line.lock().suspend(print)
    }
}

impl Drop for WaitTime {
    fn drop(&mut self) {
        self.line.lock().remove();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bar_is_filled_in_proportion() {
        assert_eq!(bar(0, 0), " ".repeat(30));
        assert_eq!(bar(0, 10), " ".repeat(30));
        assert_eq!(bar(1, 10), format!("===>{}", " ".repeat(26)));
        assert_eq!(bar(9, 10), format!("{}>  ", "=".repeat(27)));
        assert_eq!(bar(10, 10), "=".repeat(30));
        assert_eq!(bar(u64::MAX, 1), "=".repeat(30));
    }

    #[test]
    fn durations_have_one_unit() {
        for (seconds, expected) in [(0, "0s"), (89, "89s"), (90, "2m"), (150, "3m"), (7_200, "2h")] {
            assert_eq!(human_duration(Duration::from_secs(seconds)), expected);
        }
    }
}
