//! The actions `write` and `press`.

use serde_json::{Value, json};

use super::error::ActionError;
use super::keys::{Key, KeyCombination, key_for_char, parse_combination};
use crate::connection::CdpError;
use crate::page::Page;

/// Returns whether the focused element accepts text. A frame counts, because an element inside it may have the focus.
const ACCEPTS_TEXT: &str = "() => {
    let element = document.activeElement;
    while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
    if (!element) return false;
    if (element.isContentEditable || document.designMode === 'on') return true;
    if (element.localName === 'input') {
        return !['button', 'checkbox', 'color', 'file', 'hidden', 'image', 'radio', 'range', 'reset', 'submit']
            .includes(element.type);
    }
    return ['textarea', 'iframe', 'frame'].includes(element.localName);
}";

/// Types a text, character by character, into the focused element.
pub(super) async fn write(page: &Page<'_>, text: &str) -> Result<(), ActionError> {
    let accepts_text = page.call_function(ACCEPTS_TEXT, &[]).await?.map_err(ActionError::Failed)?;
    if accepts_text != true {
        return Err(ActionError::Failed("no field has the focus: click one first".to_owned()));
    }
    let mut chars = text.chars().peekable();
    while let Some(typed) = chars.next() {
        if typed == '\r' && chars.peek() == Some(&'\n') {
            continue;
        }
        match key_for_char(typed) {
            Some(key) => press_combination(page, &KeyCombination { key, modifiers: 0 }).await?,
            // A character without a key is inserted as by an input method.
            None => drop(page.call("Input.insertText", json!({"text": typed})).await?),
        }
    }
    page.wait_idle_after_action().await?;
    Ok(())
}

/// Presses a key or a combination of keys.
pub(super) async fn press(page: &Page<'_>, text: &str) -> Result<(), ActionError> {
    let Some(combination) = parse_combination(text) else {
        return Err(ActionError::Failed(format!("{text:?} is not a key")));
    };
    press_combination(page, &combination).await?;
    page.wait_idle_after_action().await?;
    Ok(())
}

async fn press_combination(page: &Page<'_>, combination: &KeyCombination) -> Result<(), CdpError> {
    // `keyDown` also types the text of the key.
    let down = if combination.key.text.is_some() { "keyDown" } else { "rawKeyDown" };
    page.send_no_reply("Input.dispatchKeyEvent", event(down, combination));
    page.call("Input.dispatchKeyEvent", event("keyUp", combination)).await?;
    Ok(())
}

fn event(kind: &str, combination: &KeyCombination) -> Value {
    let KeyCombination { key: Key { key, code, key_code, text }, modifiers } = combination;
    let mut event = json!({
        "type": kind,
        "key": key,
        "code": code,
        "windowsVirtualKeyCode": key_code,
        "nativeVirtualKeyCode": key_code,
        "modifiers": modifiers,
    });
    if let (Some(text), "keyDown") = (text, kind) {
        event["text"] = text.as_str().into();
        event["unmodifiedText"] = text.as_str().into();
    }
    event
}
