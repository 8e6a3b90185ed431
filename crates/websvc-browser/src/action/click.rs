//! The action `click`: a real click of the mouse in the middle of the element where that is possible.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::failure::Failure;
use crate::page::Page;
use crate::request::Matches;

/// How long an element may take to appear.
const APPEARING: Duration = Duration::from_secs(2);
const GLANCE: Duration = Duration::from_millis(50);

/// Remembers the matches, because a click may change what matches, and returns how many there are.
const FIND: &str = "(selector) => (globalThis.found = [...document.querySelectorAll(selector)]).length";

/// Returns where to click the remembered element; `null` when it has gone, `false` when the mouse cannot reach it.
const PLACE: &str = "(index) => {
    const element = globalThis.found?.[index];
    if (!element?.isConnected) return null;
    element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
    const area = [...element.getClientRects()].find((rect) => rect.width > 0 && rect.height > 0);
    if (!area) return false;
    const x = area.x + area.width / 2, y = area.y + area.height / 2;
    const top = document.elementFromPoint(x, y);
    const reaches = top && (element.contains(top) || top.contains(element) || top.closest('label')?.control === element);
    return reaches ? { x, y } : false;
}";

const CLICK_WITHOUT_MOUSE: &str = "(index) => globalThis.found?.[index]?.click()";

/// Clicks the first match, or all.
pub(super) async fn click(page: &Page<'_>, selector: &str, matches: Matches) -> Result<(), Failure> {
    let count = match matches {
        Matches::First => {
            appear(page, selector).await?;
            1
        }
        Matches::All => find(page, selector).await?,
    };
    for index in 0..count {
        click_one(page, index).await?;
    }
    if count > 0 {
        page.wait_idle_after_action().await?;
    }
    Ok(())
}

async fn appear(page: &Page<'_>, selector: &str) -> Result<(), Failure> {
    let end = page.soft_deadline.min(Instant::now() + APPEARING);
    while find(page, selector).await? == 0 {
        if Instant::now() >= end {
            return Err(Failure::Reason(format!("nothing matches {selector:?}")));
        }
        sleep(GLANCE).await;
    }
    Ok(())
}

async fn find(page: &Page<'_>, selector: &str) -> Result<u64, Failure> {
    let found = page.ask(FIND, &[json!(selector)]).await?.map_err(Failure::Reason)?;
    Ok(found.as_u64().unwrap_or(0))
}

async fn click_one(page: &Page<'_>, index: u64) -> Result<(), Failure> {
    let place = page.ask(PLACE, &[index.into()]).await?.map_err(Failure::Reason)?;
    let (x, y) = match &place {
        // An earlier click has removed it, or led away from it.
        Value::Null => return Ok(()),
        Value::Object(place) => (&place["x"], &place["y"]),
        _ => {
            page.ask(CLICK_WITHOUT_MOUSE, &[index.into()]).await?.map_err(Failure::Reason)?;
            return Ok(());
        }
    };
    let event = |kind: &str, button: &str, buttons: u8| json!({"type": kind, "x": x, "y": y, "button": button, "buttons": buttons, "clickCount": 1});
    page.post("Input.dispatchMouseEvent", event("mouseMoved", "none", 0));
    page.post("Input.dispatchMouseEvent", event("mousePressed", "left", 1));
    page.call("Input.dispatchMouseEvent", event("mouseReleased", "left", 0)).await?;
    Ok(())
}
