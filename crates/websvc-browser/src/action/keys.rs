//! The names of keys, and what Chromium calls them.

/// A key with its codes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key {
    /// The key's value, as in `KeyboardEvent.key`.
    pub(super) key: String,
    /// Its place on the keyboard, as in `KeyboardEvent.code`; empty when it has none on an American one.
    pub(super) code: String,
    /// Windows' virtual key code.
    pub(super) number: u32,
    /// What it types.
    pub(super) text: Option<String>,
}

/// The bits of the protocol for keys that are held.
const ALT: u8 = 1;
const CONTROL: u8 = 2;
const META: u8 = 4;
const SHIFT: u8 = 8;

/// Name, code, number, text.
type Row = (&'static str, &'static str, u32, Option<&'static str>);

#[rustfmt::skip]
const NAMED: &[Row] = &[
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

/// Other names that people use.
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

/// Signs of an American keyboard: without and with Shift, code, number.
const SIGNS: &[(char, char, &str, u32)] = &[
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

const ABOVE_DIGITS: &str = ")!@#$%^&*(";

/// A key and the keys that are held meanwhile.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Combination {
    pub(super) key: Key,
    pub(super) modifiers: u8,
}

/// Reads `Enter`, `a`, `Control+Shift+K`; `None` when a part is no key.
pub(super) fn combination(text: &str) -> Option<Combination> {
    // The plus sign joins, and is a key itself at the end.
    let (held, last) = match text.strip_suffix('+') {
        Some(held) => (held.strip_suffix('+').unwrap_or(held), "+"),
        None => text.rsplit_once('+').unwrap_or(("", text)),
    };
    let mut modifiers = 0;
    for name in held.split('+').filter(|name| !name.is_empty()) {
        modifiers |= modifier(name)?;
    }
    let mut key = named(last).or_else(|| typed(last))?;
    if modifiers & SHIFT != 0 && key.text.is_some() {
        let upper = key.key.to_uppercase();
        (key.key, key.text) =
            if key.number == 13 { (key.key, key.text) } else { (upper.clone(), Some(upper)) };
    }
    // With one of these held a key commands and does not type.
    if modifiers & (ALT | CONTROL | META) != 0 {
        key.text = None;
    }
    Some(Combination { key, modifiers })
}

/// Returns the key that types a character, if an American keyboard has one.
pub(super) fn of_char(typed: char) -> Option<Key> {
    let key = |code: String, number| Some(Key { key: typed.into(), code, number, text: Some(typed.into()) });
    match typed {
        'a'..='z' | 'A'..='Z' => {
            let upper = typed.to_ascii_uppercase();
            key(format!("Key{upper}"), u32::from(upper))
        }
        '0'..='9' => key(format!("Digit{typed}"), u32::from(typed)),
        ' ' => key("Space".to_owned(), 32),
        '\n' | '\r' => named("Enter"),
        _ => {
            if let Some(digit) = ABOVE_DIGITS.chars().position(|sign| sign == typed) {
                return key(format!("Digit{digit}"), u32::try_from(digit).ok()? + u32::from('0'));
            }
            let sign = SIGNS.iter().find(|(plain, shifted, ..)| *plain == typed || *shifted == typed);
            let (_, _, code, number) = sign?;
            key((*code).to_owned(), *number)
        }
    }
}

/// Returns the key of a single character, which need not be on any keyboard.
fn typed(text: &str) -> Option<Key> {
    let mut chars = text.chars();
    let (Some(first), None) = (chars.next(), chars.next()) else { return None };
    Some(of_char(first).unwrap_or_else(|| Key {
        key: first.into(),
        code: String::new(),
        number: 0,
        text: Some(first.into()),
    }))
}

fn named(name: &str) -> Option<Key> {
    let known =
        ALIASES.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(name)).map_or(name, |(_, known)| known);
    let (key, code, number, text) = NAMED.iter().find(|(key, ..)| key.eq_ignore_ascii_case(known))?;
    Some(Key {
        key: (*key).to_owned(),
        code: (*code).to_owned(),
        number: *number,
        text: text.map(str::to_owned),
    })
}

fn modifier(name: &str) -> Option<u8> {
    match named(name)?.key.as_str() {
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
        let read = combination(text).unwrap_or_else(|| panic!("{text} is a key"));
        let facts = (read.key.key.as_str(), read.key.code.as_str(), read.modifiers, read.key.text.as_deref());
        assert_eq!(facts, (key, code, modifiers, typed), "{text}");
    }

    #[test]
    fn keys_and_combinations_are_read() {
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
    fn what_is_no_key_is_not_read() {
        for text in ["", "Entr", "Foo+a", "a+b", "Control+", "ab"] {
            if text == "Control+" {
                // The plus sign with Control held.
                check(text, "+", "Equal", CONTROL, None);
            } else {
                assert_eq!(combination(text), None, "{text}");
            }
        }
    }
}
