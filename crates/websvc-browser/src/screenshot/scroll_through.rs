//! Scrolling through a page before a screenshot of all of it: many pages load images and show sections only when they come
//! into the window.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use crate::error::BrowserError;
use crate::page::Page;

/// The maximum time for one page. A step takes two frames, so that 40,000 to 50,000 pixels are usual.
const TIME: Duration = Duration::from_secs(2);

/// Scrolls down by windows, to the end that the page has at the start, because some pages grow while they are scrolled; then
/// scrolls back. Returns the first row that was not shown, 0 if there is nothing to scroll, or `null` if all rows were shown.
const SCROLL_THROUGH: &str = "async time => {
    const root = document.scrollingElement ?? document.documentElement;
    const [left, top, end] = [scrollX, scrollY, root.scrollHeight];
    if (end <= innerHeight) return 0;
    const over = performance.now() + time;
    const nextFrame = () => new Promise(resolve => {
        const timer = setTimeout(resolve, 100);
        requestAnimationFrame(() => { clearTimeout(timer); resolve(); });
    });
    let row = top === 0 ? innerHeight : 0;
    for (; row < end && performance.now() < over; row += innerHeight) {
        scrollTo({ left, top: row, behavior: 'instant' });
        await nextFrame();
        await nextFrame();
    }
    scrollTo({ left, top, behavior: 'instant' });
    return row < end ? row : null;
}";

/// Scrolls through the page, and waits for what that loads.
pub(super) async fn scroll_through(page: &Page<'_>) -> Result<(), BrowserError> {
    let left = page.soft_deadline.saturating_duration_since(Instant::now());
    let time = u64::try_from(TIME.min(left).as_millis()).unwrap_or(u64::MAX);
    // A document that cannot be scrolled, because it has no element, is captured as it is.
    let Ok(row) = page.call_function(SCROLL_THROUGH, &[json!(time)]).await? else { return Ok(()) };
    match row.as_u64() {
        Some(0) => return Ok(()),
        Some(row) => page.warn(format!(
            "the page was not scrolled further than to row {row} within {time} ms; images below that load when they \
             become visible may be missing in the screenshot"
        )),
        None => {}
    }
    page.wait_idle_after_action().await
}
