//! The names of keys, and their codes in the DevTools protocol.

/// A key with its codes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key {
    /// The key's value, as in `KeyboardEvent.key`.
    pub(super) key: String,
    /// The physical key, as in `KeyboardEvent.code`; empty if a US keyboard has none.
    pub(super) code: String,
    /// The virtual key code of Windows.
    pub(super) key_code: u32,
    /// The text that it types.
    pub(super) text: Option<String>,
}

// Modifier bits of `Input.dispatchKeyEvent`.
const ALT: u8 = 1;
const CONTROL: u8 = 2;
const META: u8 = 4;
const SHIFT: u8 = 8;

/// Name, code, key code and text of a key.
type KeyRow = (&'static str, &'static str, u32, Option<&'static str>);

#[rustfmt::skip]
const NAMED_KEYS: &[KeyRow] = &[
    ("Backspace", "Backspace", 8, None),
    ("Tab", "Tab", 9, None),
    ("Enter", "Enter", 13, Some("\r")),
    ("Shift", "ShiftLeft", 16, None),
    ("Control", "ControlLeft", 17, None),
    ("Alt", "AltLeft", 18, None),
    ("Pause", "Pause", 19, None),
    ("CapsLock", "CapsLock", 20, None),
    ("Escape", "Escape", 27, None),
    (" ", "Space", 32, Some(" ")),
    ("PageUp", "PageUp", 33, None),
    ("PageDown", "PageDown", 34, None),
    ("End", "End", 35, None),
    ("Home", "Home", 36, None),
    ("ArrowLeft", "ArrowLeft", 37, None),
    ("ArrowUp", "ArrowUp", 38, None),
    ("ArrowRight", "ArrowRight", 39, None),
    ("ArrowDown", "ArrowDown", 40, None),
    ("Insert", "Insert", 45, None),
    ("Delete", "Delete", 46, None),
    ("Meta", "MetaLeft", 91, None),
    ("ContextMenu", "ContextMenu", 93, None),
    ("F1", "F1", 112, None),
    ("F2", "F2", 113, None),
    ("F3", "F3", 114, None),
    ("F4", "F4", 115, None),
    ("F5", "F5", 116, None),
    ("F6", "F6", 117, None),
    ("F7", "F7", 118, None),
    ("F8", "F8", 119, None),
    ("F9", "F9", 120, None),
    ("F10", "F10", 121, None),
    ("F11", "F11", 122, None),
    ("F12", "F12", 123, None),
];

/// Alternative names of keys.
const ALIASES: &[(&str, &str)] = &[
    ("Return", "Enter"),
    ("Esc", "Escape"),
    ("Space", " "),
    ("Spacebar", " "),
    ("Left", "ArrowLeft"),
    ("Right", "ArrowRight"),
    ("Up", "ArrowUp"),
    ("Down", "ArrowDown"),
    ("Del", "Delete"),
    ("Ctrl", "Control"),
    ("ControlOrMeta", "Control"),
    ("Option", "Alt"),
    ("Cmd", "Meta"),
    ("Command", "Meta"),
];

/// Punctuation keys of a US keyboard: character without and with Shift, code and key code.
const PUNCTUATION: &[(char, char, &str, u32)] = &[
    (';', ':', "Semicolon", 186),
    ('=', '+', "Equal", 187),
    (',', '<', "Comma", 188),
    ('-', '_', "Minus", 189),
    ('.', '>', "Period", 190),
    ('/', '?', "Slash", 191),
    ('`', '~', "Backquote", 192),
    ('[', '{', "BracketLeft", 219),
    ('\\', '|', "Backslash", 220),
    (']', '}', "BracketRight", 221),
    ('\'', '"', "Quote", 222),
];

/// The characters of the digit keys with Shift, from 0 to 9.
const SHIFTED_DIGITS: &str = ")!@#$%^&*(";

/// A key and the modifiers held down with it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct KeyCombination {
    pub(super) key: Key,
    pub(super) modifiers: u8,
}

/// Parses a combination such as `Enter`, `a` or `Control+Shift+K`; returns `None` if a part is not a key.
pub(super) fn parse_combination(text: &str) -> Option<KeyCombination> {
    // The plus sign is the separator, and at the end a key.
    let (held, last) = match text.strip_suffix('+') {
        Some(held) => (held.strip_suffix('+').unwrap_or(held), "+"),
        None => text.rsplit_once('+').unwrap_or(("", text)),
    };
    let mut modifiers = 0;
    for name in held.split('+').filter(|name| !name.is_empty()) {
        modifiers |= modifier(name)?;
    }
    let mut key = key_by_name(last).or_else(|| key_for_single_char(last))?;
    if modifiers & SHIFT != 0 && key.text.is_some() {
        let upper = key.key.to_uppercase();
        (key.key, key.text) =
            if key.key_code == 13 { (key.key, key.text) } else { (upper.clone(), Some(upper)) };
    }
    // With one of these modifiers, a key types no text.
    if modifiers & (ALT | CONTROL | META) != 0 {
        key.text = None;
    }
    Some(KeyCombination { key, modifiers })
}

/// Returns the key that types a character, if a US keyboard has one.
pub(super) fn key_for_char(typed: char) -> Option<Key> {
    let key =
        |code: String, key_code| Some(Key { key: typed.into(), code, key_code, text: Some(typed.into()) });
    match typed {
        'a'..='z' | 'A'..='Z' => {
            let upper = typed.to_ascii_uppercase();
            key(format!("Key{upper}"), u32::from(upper))
        }
        '0'..='9' => key(format!("Digit{typed}"), u32::from(typed)),
        ' ' => key("Space".to_owned(), 32),
        '\n' | '\r' => key_by_name("Enter"),
        _ => {
            if let Some(digit) = SHIFTED_DIGITS.chars().position(|shifted| shifted == typed) {
                return key(format!("Digit{digit}"), u32::try_from(digit).ok()? + u32::from('0'));
            }
            let row = PUNCTUATION.iter().find(|(plain, shifted, ..)| *plain == typed || *shifted == typed);
            let (_, _, code, key_code) = row?;
            key((*code).to_owned(), *key_code)
        }
    }
}

/// Returns the key for a text of one character. A character that is on no keyboard gets a key without a code.
fn key_for_single_char(text: &str) -> Option<Key> {
    let mut chars = text.chars();
    let (Some(first), None) = (chars.next(), chars.next()) else { return None };
    Some(key_for_char(first).unwrap_or_else(|| Key {
        key: first.into(),
        code: String::new(),
        key_code: 0,
        text: Some(first.into()),
    }))
}

/// Returns the key with a name or an alternative name, in any letter case.
fn key_by_name(name: &str) -> Option<Key> {
    let alias = ALIASES.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(name));
    let name = alias.map_or(name, |(_, name)| name);
    let (key, code, key_code, text) = NAMED_KEYS.iter().find(|(key, ..)| key.eq_ignore_ascii_case(name))?;
    Some(Key {
        key: (*key).to_owned(),
        code: (*code).to_owned(),
        key_code: *key_code,
        text: text.map(str::to_owned),
    })
}

fn modifier(name: &str) -> Option<u8> {
    match key_by_name(name)?.key.as_str() {
        "Alt" => Some(ALT),
        "Control" => Some(CONTROL),
        "Meta" => Some(META),
        "Shift" => Some(SHIFT),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, key: &str, code: &str, modifiers: u8, typed: Option<&str>) {
        let parsed = parse_combination(text).unwrap_or_else(|| panic!("{text} is a key"));
        let found = &parsed.key;
        let actual = (found.key.as_str(), found.code.as_str(), parsed.modifiers, found.text.as_deref());
        assert_eq!(actual, (key, code, modifiers, typed), "{text}");
    }

    #[test]
    fn parse_combination_reads_keys_and_modifiers() {
        check("Enter", "Enter", "Enter", 0, Some("\r"));
        check("enter", "Enter", "Enter", 0, Some("\r"));
        check("esc", "Escape", "Escape", 0, None);
        check("a", "a", "KeyA", 0, Some("a"));
        check("Shift+a", "A", "KeyA", SHIFT, Some("A"));
        check("Control+A", "A", "KeyA", CONTROL, None);
        check("ctrl+shift+ArrowDown", "ArrowDown", "ArrowDown", CONTROL | SHIFT, None);
        check("+", "+", "Equal", 0, Some("+"));
        check("Control++", "+", "Equal", CONTROL, None);
        check(" ", " ", "Space", 0, Some(" "));
        check("ä", "ä", "", 0, Some("ä"));
        check("!", "!", "Digit1", 0, Some("!"));
    }

    #[test]
    fn parse_combination_unknown_key_is_none() {
        for text in ["", "Entr", "Foo+a", "a+b", "Control+", "ab"] {
            if text == "Control+" {
                // The plus sign with Control held.
                check(text, "+", "Equal", CONTROL, None);
            } else {
                assert_eq!(parse_combination(text), None, "{text}");
            }
        }
    }
}
