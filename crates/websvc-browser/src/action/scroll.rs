//! The action `scroll`.

use serde_json::{Value, json};

use super::failure::Failure;
use crate::page::Page;
use crate::request::Direction;

/// Scrolls by the visible part; returns how far that went, `null` without the element.
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

/// Scrolls the page, or an element, by its visible part.
pub(super) async fn scroll(
    page: &Page<'_>,
    direction: Direction,
    selector: Option<&str>,
) -> Result<(), Failure> {
    let sign = match direction {
        Direction::Up => -1,
        Direction::Down => 1,
    };
    let moved = page.ask(SCROLL, &[json!(selector), sign.into()]).await?.map_err(Failure::Reason)?;
    match (moved, selector) {
        (Value::Null, selector) => {
            return Err(Failure::Reason(format!("nothing matches {:?}", selector.unwrap_or_default())));
        }
        // Many pages scroll an element of theirs instead: the wheel finds it.
        (moved, None) if moved.as_f64() == Some(0.0) => turn_wheel(page, sign).await?,
        _ => {}
    }
    page.wait_idle_after_action().await?;
    Ok(())
}

async fn turn_wheel(page: &Page<'_>, sign: i32) -> Result<(), Failure> {
    let (width, height) = (page.viewport.width, page.viewport.height);
    let turn = json!({
        "type": "mouseWheel",
        "x": width / 2,
        "y": height / 2,
        "deltaX": 0,
        "deltaY": f64::from(sign) * f64::from(height),
    });
    page.call("Input.dispatchMouseEvent", turn).await?;
    Ok(())
}
