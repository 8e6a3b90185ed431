//! The action `scroll`.

use serde_json::{Value, json};

use super::error::ActionError;
use crate::page::Page;
use crate::request::Direction;

/// Scrolls by the height of the visible part and returns the distance; `null` if no element matches.
const SCROLL: &str = "(selector, sign) => {
    const element = selector === null
        ? document.scrollingElement ?? document.documentElement
        : document.querySelector(selector);
    if (!element) return null;
    const before = element.scrollTop;
    const height = selector === null ? innerHeight : element.clientHeight;
    element.scrollBy({ top: sign * height, behavior: 'instant' });
    return element.scrollTop - before;
}";

/// Scrolls the page or an element by the height of its visible part.
pub(super) async fn scroll(
    page: &Page<'_>,
    direction: Direction,
    selector: Option<&str>,
) -> Result<(), ActionError> {
    let sign = match direction {
        Direction::Up => -1,
        Direction::Down => 1,
    };
    let distance =
        page.call_function(SCROLL, &[json!(selector), sign.into()]).await?.map_err(ActionError::Failed)?;
    match (distance, selector) {
        (Value::Null, selector) => {
            return Err(ActionError::Failed(format!(
                "no element matches {:?}",
                selector.unwrap_or_default()
            )));
        }
        // Many pages scroll one of their elements instead, which the mouse wheel reaches.
        (distance, None) if distance.as_f64() == Some(0.0) => turn_wheel(page, sign).await?,
        _ => {}
    }
    page.wait_idle_after_action().await?;
    Ok(())
}

async fn turn_wheel(page: &Page<'_>, sign: i32) -> Result<(), ActionError> {
    let (width, height) = (page.viewport.width, page.viewport.height);
    let event = json!({
        "type": "mouseWheel",
        "x": width / 2,
        "y": height / 2,
        "deltaX": 0,
        "deltaY": f64::from(sign) * f64::from(height),
    });
    page.call("Input.dispatchMouseEvent", event).await?;
    Ok(())
}
