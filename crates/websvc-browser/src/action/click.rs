//! The action `click`: a mouse click in the middle of the element where possible, otherwise a click by script.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::error::ActionError;
use crate::page::Page;
use crate::request::Matches;

/// The maximum time in which an element appears.
const APPEAR_TIMEOUT: Duration = Duration::from_secs(2);
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Stores the matching elements, because a click may change the matches, and returns their number.
const FIND: &str = "(selector) => (globalThis.found = [...document.querySelectorAll(selector)]).length";

/// Returns the coordinates for a click on a stored element; `null` if it was removed, `false` if the mouse cannot reach it.
const CLICK_POINT: &str = "(index) => {
    const element = globalThis.found?.[index];
    if (!element?.isConnected) return null;
    element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
    const area = [...element.getClientRects()].find((rect) => rect.width > 0 && rect.height > 0);
    if (!area) return false;
    const x = area.x + area.width / 2, y = area.y + area.height / 2;
    const top = document.elementFromPoint(x, y);
    const isReachable = top && (element.contains(top) || top.contains(element) || top.closest('label')?.control === element);
    return isReachable ? { x, y } : false;
}";

const CLICK_BY_SCRIPT: &str = "(index) => globalThis.found?.[index]?.click()";

/// Clicks the first matching element, or all.
pub(super) async fn click(page: &Page<'_>, selector: &str, matches: Matches) -> Result<(), ActionError> {
    let count = match matches {
        Matches::First => {
            wait_for_match(page, selector).await?;
            1
        }
        Matches::All => find_all(page, selector).await?,
    };
    for index in 0..count {
        click_one(page, index).await?;
    }
    if count > 0 {
        page.wait_idle_after_action().await?;
    }
    Ok(())
}

async fn wait_for_match(page: &Page<'_>, selector: &str) -> Result<(), ActionError> {
    let end = page.soft_deadline.min(Instant::now() + APPEAR_TIMEOUT);
    while find_all(page, selector).await? == 0 {
        if Instant::now() >= end {
            return Err(ActionError::Failed(format!("no element matches {selector:?}")));
        }
        sleep(POLL_INTERVAL).await;
    }
    Ok(())
}

async fn find_all(page: &Page<'_>, selector: &str) -> Result<u64, ActionError> {
    let found = page.call_function(FIND, &[json!(selector)]).await?.map_err(ActionError::Failed)?;
    Ok(found.as_u64().unwrap_or(0))
}

async fn click_one(page: &Page<'_>, index: u64) -> Result<(), ActionError> {
    let point = page.call_function(CLICK_POINT, &[index.into()]).await?.map_err(ActionError::Failed)?;
    let (x, y) = match &point {
        // An earlier click removed the element or navigated away.
        Value::Null => return Ok(()),
        Value::Object(point) => (&point["x"], &point["y"]),
        _ => {
            page.call_function(CLICK_BY_SCRIPT, &[index.into()]).await?.map_err(ActionError::Failed)?;
            return Ok(());
        }
    };
    let event = |kind: &str, button: &str, buttons: u8| json!({"type": kind, "x": x, "y": y, "button": button, "buttons": buttons, "clickCount": 1});
    page.send_no_reply("Input.dispatchMouseEvent", event("mouseMoved", "none", 0));
    page.send_no_reply("Input.dispatchMouseEvent", event("mousePressed", "left", 1));
    page.call("Input.dispatchMouseEvent", event("mouseReleased", "left", 0)).await?;
    Ok(())
}
