//! The format `changeTracking`: compares a page with its last scrape by the same team and tag, and stores it for the next
//! one (operations.md, section 6).
//!
//! It runs after the scrape, without a permit of the scraper, for every operation that scrapes pages. A failure of the
//! store is a warning: the page itself was scraped.

mod compare;
mod options;
mod sweep;

use std::time::Instant;

use url::Url;
use websvc_model::Model;
use websvc_scrape::{Page, Scraper};
use websvc_stage::Stage;
use websvc_store::{
    PageSnapshot, PreparedSnapshot, PutSnapshotOutcome, SnapshotKey, SnapshotLimits, Store, StoreError,
};
use websvc_transport::spawn_blocking;
use websvc_types::changes::{ChangeStatus, PageChanges, PageVisibility};
use websvc_types::counted;
use websvc_types::format::{ChangeMode, ChangeTracking};
use websvc_validate::ScrapePlan;

use crate::blocking::run_blocking;
use crate::generated::{ChangedVersions, ModelSession, describe_changes};
pub use compare::page_diff;
use compare::{Comparison, compare, iso_time};
use options::options_hash;

const FORMAT: &str = "changeTracking";

/// The HTTP statuses of a page that does not exist any more.
const REMOVED: [u16; 2] = [404, 410];

/// The time at which the version of a page is stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum SnapshotWriteMode {
    /// At once.
    #[default]
    Immediate,
    /// When the caller stores the page. If it never does, the next scrape is compared with the version before.
    WithPage,
}

/// The dependencies of the comparison of one page.
#[derive(Clone, Copy)]
pub(crate) struct TrackingContext<'a> {
    /// The scraper, with its store, clock and stages.
    pub(crate) scraper: &'a Scraper,
    pub(crate) model: Option<&'a dyn Model>,
    pub(crate) limits: SnapshotLimits,
    pub(crate) write_mode: SnapshotWriteMode,
    pub(crate) team: &'a str,
    /// The URL as it was requested.
    pub(crate) url: &'a Url,
    pub(crate) deadline: Instant,
}

/// Returns whether a language model has to describe the changes.
pub(crate) fn has_json_mode(options: &ChangeTracking) -> bool {
    options.modes.as_ref().is_some_and(|modes| modes.contains(&ChangeMode::Json))
}

/// Compares a page with its last scrape if the plan says so, and stores it or adds its version to the page. Problems become warnings of the page. The
/// generated formats of the page must be complete.
pub(crate) async fn track_changes(context: TrackingContext<'_>, plan: &ScrapePlan, page: &mut Page) {
    let Some(options) = plan.change_tracking() else { return };
    let TrackingContext { scraper, model, limits: _, write_mode: _, team, url, deadline } = context;
    let mut session = ModelSession { model, stages: scraper.stages(), deadline, warnings: Vec::new() };
    // The metadata has the URL without user name and password, which must not be stored.
    let url = page.metadata.source_url.clone().unwrap_or_else(|| url.to_string());
    let key = SnapshotKey { team: team.to_owned(), url, tag: options.tag.clone() };
    let tracking = Tracking { context, key, options_hash: options_hash(plan) };
    match tracking.changes(&mut session, options, page).await {
        Ok(Tracked { changes, by_model, snapshot }) => {
            page.generated.change_tracking = Some(changes);
            page.snapshot = snapshot;
            if by_model {
                page.generated.by_model.push(FORMAT);
            }
        }
        Err(reason) => session.warn(FORMAT, &format!("the page was not compared: {reason}")),
    }
    page.warnings.append(&mut session.warnings);
}

/// The comparison of one page.
struct Tracking<'a> {
    context: TrackingContext<'a>,
    key: SnapshotKey,
    options_hash: [u8; 32],
}

/// The changes of a page.
struct Tracked {
    changes: PageChanges,
    /// True if a language model described them.
    by_model: bool,
    /// The version to be stored with the page.
    snapshot: Option<Box<PreparedSnapshot>>,
}

impl Tracking<'_> {
    /// Returns the changes of a page, or the reason why there are none.
    async fn changes(
        &self,
        session: &mut ModelSession<'_>,
        options: &ChangeTracking,
        page: &Page,
    ) -> Result<Tracked, String> {
        let status = page.metadata.status_code.unwrap_or(200);
        let is_removed = REMOVED.contains(&status);
        if status >= 400 && !is_removed {
            return Err(format!("its host answered with status {status}"));
        }
        let markdown = page.markdown.clone().ok_or("it has no markdown")?;
        let key = self.key.clone();
        let previous = self.run_store(move |store| store.page_snapshot(&key)).await?;
        if is_removed {
            let changes = self.removed(session, previous).await;
            return Ok(Tracked { changes, by_model: false, snapshot: None });
        }
        if previous.as_ref().is_some_and(|previous| previous.options != self.options_hash) {
            let text = "the last scrape had other options, so the markdown may differ for that reason";
            session.warn(FORMAT, text);
        }
        let modes = options.modes.clone().unwrap_or_default();
        let (is_diff_wanted, is_json_wanted) = (modes.contains(&ChangeMode::GitDiff), has_json_mode(options));
        let wants_diff = is_diff_wanted || is_json_wanted;
        let comparing = run_blocking(self.context.deadline, move || compare(previous, markdown, wants_diff));
        let comparison =
            session.stages.run(Stage::Compare, comparing).await.map_err(|error| error.to_string())?;
        let snapshot = self.store(session, &comparison.current).await;
        let (changes, by_model) = finish(session, options, comparison, is_diff_wanted).await;
        Ok(Tracked { changes, by_model, snapshot })
    }

    /// Returns the changes of a page that does not exist any more. Its snapshot stays, so that a page that returns is
    /// compared with its last content.
    async fn removed(&self, session: &mut ModelSession<'_>, previous: Option<PageSnapshot>) -> PageChanges {
        if previous.is_some() {
            let (key, now_ms) = (self.key.clone(), self.context.scraper.now_ms());
            if let Err(reason) = self.run_store(move |store| store.touch_page_snapshot(&key, now_ms)).await {
                session.warn(FORMAT, &reason);
            }
        }
        changes(previous.map(|previous| iso_time(previous.taken_at_ms)), ChangeStatus::Removed)
    }

    /// Stores the page for the next comparison, or returns its version to be stored with the page. If that fails, adds a
    /// warning.
    async fn store(&self, session: &mut ModelSession<'_>, markdown: &str) -> Option<Box<PreparedSnapshot>> {
        let (key, limits, write_mode) = (self.key.clone(), self.context.limits, self.context.write_mode);
        let snapshot = PageSnapshot {
            markdown: markdown.to_owned(),
            options: self.options_hash,
            taken_at_ms: self.context.scraper.now_ms(),
        };
        let storing = self.run_store(move |store| match write_mode {
            SnapshotWriteMode::Immediate => Ok((store.put_page_snapshot(&key, &snapshot, &limits)?, None)),
            SnapshotWriteMode::WithPage => store.prepare_page_snapshot(&key, &snapshot, &limits),
        });
        let (outcome, prepared) = match storing.await {
            Ok(stored) => stored,
            Err(reason) => {
                let problem = format!(
                    "the page was not stored, the next scrape is compared with an older one: {reason}"
                );
                session.warn(FORMAT, &problem);
                return None;
            }
        };
        let problem = match outcome {
            PutSnapshotOutcome::Stored { evicted: 0 } => return prepared.map(Box::new),
            PutSnapshotOutcome::Stored { evicted } => {
                let pages = counted(evicted, "page that was", "pages that were");
                format!("the history of the team is full: {pages} not scraped for the longest time left it")
            }
            PutSnapshotOutcome::TooLarge { bytes, limit } => format!(
                "the page has {bytes} bytes, more than the history of the team ({limit} bytes): the next scrape is \
                 compared with an older one"
            ),
            PutSnapshotOutcome::TeamDeleted => "the team was deleted".to_owned(),
        };
        session.warn(FORMAT, &problem);
        prepared.map(Box::new)
    }

    /// Runs a task of the store on a blocking thread, until the deadline. Returns the text for the caller if it fails.
    async fn run_store<T: Send + 'static>(
        &self,
        task: impl FnOnce(&Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, String> {
        let store = self.context.scraper.store().clone();
        // The requests in flight limit the number of these tasks.
        let running = spawn_blocking(websvc_stage::in_current_span(move || task(&store)));
        match tokio::time::timeout_at(self.context.deadline.into(), running).await {
            Ok(Ok(Ok(value))) => Ok(value),
            Ok(Ok(Err(error))) => {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "a page snapshot could not be used"
                );
                Err("the history of pages is not available".to_owned())
            }
            Ok(Err(_)) => Err("the history of pages failed unexpectedly".to_owned()),
            Err(_elapsed) => Err("the history of pages did not answer in time".to_owned()),
        }
    }
}

fn changes(previous_scrape_at: Option<String>, change_status: ChangeStatus) -> PageChanges {
    let visibility = PageVisibility::Visible;
    PageChanges { previous_scrape_at, change_status, visibility, diff: None, json: None }
}

/// Returns the changes with the representations that the options request, and whether a language model described them.
async fn finish(
    session: &mut ModelSession<'_>,
    options: &ChangeTracking,
    comparison: Comparison,
    is_diff_wanted: bool,
) -> (PageChanges, bool) {
    let Comparison { previous, current, status, diff, is_diff_truncated } = comparison;
    let previous_scrape_at = previous.as_ref().map(|previous| iso_time(previous.taken_at_ms));
    let mut changes = changes(previous_scrape_at, status);
    let (Some(previous), Some(diff)) = (previous, diff) else { return (changes, false) };
    if is_diff_truncated && is_diff_wanted {
        session.warn(FORMAT, "the diff is incomplete, because the page changed too much");
    }
    if has_json_mode(options) && session.model.is_some() {
        let versions = ChangedVersions { previous: &previous.markdown, current: &current, diff: &diff.text };
        changes.json = describe_changes(session, options, versions).await;
    }
    changes.diff = Some(diff).filter(|_| is_diff_wanted);
    let by_model = changes.json.is_some();
    (changes, by_model)
}
