//! The actions `write` and `press`.

use serde_json::{Value, json};

use super::failure::Failure;
use super::keys::{Combination, Key, combination, of_char};
use crate::connection::CdpError;
use crate::page::Page;

/// Tells whether the element with the focus takes text. A frame may have one inside.
const TAKES_TEXT: &str = "() => {
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

/// Types a text, character by character.
pub(super) async fn write(page: &Page<'_>, text: &str) -> Result<(), Failure> {
    let takes_text = page.ask(TAKES_TEXT, &[]).await?.map_err(Failure::Reason)?;
    if takes_text != true {
        return Err(Failure::Reason("no field has the focus: click one first".to_owned()));
    }
    let mut chars = text.chars().peekable();
    while let Some(typed) = chars.next() {
        if typed == '\r' && chars.peek() == Some(&'\n') {
            continue;
        }
        match of_char(typed) {
            Some(key) => strike(page, &Combination { key, modifiers: 0 }).await?,
            // What no key types comes as it does from an input method.
            None => drop(page.call("Input.insertText", json!({"text": typed})).await?),
        }
    }
    page.wait_idle_after_action().await?;
    Ok(())
}

/// Presses a key, or several at once.
pub(super) async fn press(page: &Page<'_>, text: &str) -> Result<(), Failure> {
    let Some(combination) = combination(text) else {
        return Err(Failure::Reason(format!("{text:?} is no key")));
    };
    strike(page, &combination).await?;
    page.wait_idle_after_action().await?;
    Ok(())
}

async fn strike(page: &Page<'_>, combination: &Combination) -> Result<(), CdpError> {
    // Without a text the key only goes down; with one it types, too.
    let down = if combination.key.text.is_some() { "keyDown" } else { "rawKeyDown" };
    page.post("Input.dispatchKeyEvent", event(down, combination));
    page.call("Input.dispatchKeyEvent", event("keyUp", combination)).await?;
    Ok(())
}

fn event(kind: &str, combination: &Combination) -> Value {
    let Combination { key: Key { key, code, number, text }, modifiers } = combination;
    let mut event = json!({
        "type": kind,
        "key": key,
        "code": code,
        "windowsVirtualKeyCode": number,
        "nativeVirtualKeyCode": number,
        "modifiers": modifiers,
    });
    if let (Some(text), "keyDown") = (text, kind) {
        event["text"] = text.as_str().into();
        event["unmodifiedText"] = text.as_str().into();
    }
    event
}
