//! The action `wait`.

use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, sleep, sleep_until};

use super::error::ActionError;
use crate::page::Page;

/// The interval between two checks for an element.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

const IS_VISIBLE: &str =
    "(selector) => [...document.querySelectorAll(selector)].some((e) => e.getClientRects().length > 0)";

/// Waits for a duration. Fails if the soft deadline comes first.
pub(super) async fn duration(page: &Page<'_>, duration: Duration) -> Result<(), ActionError> {
    let end = Instant::now() + duration;
    sleep_until(end.min(page.soft_deadline)).await;
    if end > page.soft_deadline {
        return Err(ActionError::Failed(format!(
            "{} ms are longer than the remaining time",
            duration.as_millis()
        )));
    }
    Ok(())
}

/// Waits until a matching element is visible.
pub(super) async fn element(page: &Page<'_>, selector: &str) -> Result<(), ActionError> {
    loop {
        let is_visible =
            page.call_function(IS_VISIBLE, &[json!(selector)]).await?.map_err(ActionError::Failed)?;
        if is_visible == true {
            return Ok(());
        }
        if Instant::now() >= page.soft_deadline {
            return Err(ActionError::Failed(format!("no visible element matched {selector:?} in time")));
        }
        sleep(POLL_INTERVAL).await;
    }
}
