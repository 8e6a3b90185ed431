//! The action `wait`.

use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, sleep, sleep_until};

use super::failure::Failure;
use crate::page::Page;

/// How often an element is looked for.
const GLANCE: Duration = Duration::from_millis(50);

const IS_VISIBLE: &str =
    "(selector) => [...document.querySelectorAll(selector)].some((e) => e.getClientRects().length > 0)";

/// Waits for a time, or for as much of it as there is.
pub(super) async fn time(page: &Page<'_>, time: Duration) -> Result<(), Failure> {
    let end = Instant::now() + time;
    sleep_until(end.min(page.soft_deadline)).await;
    if end > page.soft_deadline {
        return Err(Failure::Reason(format!("{} ms are more than there is time for", time.as_millis())));
    }
    Ok(())
}

/// Waits until an element can be seen.
pub(super) async fn element(page: &Page<'_>, selector: &str) -> Result<(), Failure> {
    loop {
        let found = page.ask(IS_VISIBLE, &[json!(selector)]).await?.map_err(Failure::Reason)?;
        if found == true {
            return Ok(());
        }
        if Instant::now() >= page.soft_deadline {
            return Err(Failure::Reason(format!("nothing visible matches {selector:?} in time")));
        }
        sleep(GLANCE).await;
    }
}
