//! Mouse and keyboard of a viewer, as commands of the DevTools protocol.

use serde_json::{Map, Value};

/// The parameters of commands that a viewer may send, by the type of its message.
const INPUTS: &[(&str, &str, &[&str])] = &[
    (
        "mouse",
        "Input.dispatchMouseEvent",
        &["type", "x", "y", "button", "buttons", "clickCount", "modifiers", "deltaX", "deltaY"],
    ),
    (
        "key",
        "Input.dispatchKeyEvent",
        &["type", "key", "code", "text", "modifiers", "windowsVirtualKeyCode", "autoRepeat"],
    ),
    ("text", "Input.insertText", &["text"]),
];

/// Returns the command for an input of a viewer, with the parameters that it may set.
pub(super) fn input(message: &Value) -> Option<(&'static str, Value)> {
    let (_, method, names) = INPUTS.iter().find(|(kind, ..)| message["kind"] == *kind)?;
    let mut params = Map::new();
    for name in *names {
        match &message[*name] {
            Value::Null => {}
            value @ (Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
                params.insert((*name).to_owned(), value.clone());
            }
            Value::Array(_) | Value::Object(_) => return None,
        }
    }
    Some((method, Value::Object(params)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn input_has_known_parameters_only() {
        let message =
            json!({"kind": "mouse", "type": "mousePressed", "x": 1.5, "y": 2, "pointerType": "pen"});
        let params = json!({"type": "mousePressed", "x": 1.5, "y": 2});
        assert_eq!(input(&message), Some(("Input.dispatchMouseEvent", params)));
        let message = json!({"kind": "key", "type": "keyDown", "key": "a", "commands": ["paste"]});
        assert_eq!(input(&message), Some(("Input.dispatchKeyEvent", json!({"type": "keyDown", "key": "a"}))));
        assert_eq!(input(&json!({"kind": "text", "text": ["x"]})), None);
        assert_eq!(input(&json!({"kind": "Page.navigate", "url": "http://a.test/"})), None);
    }
}
