//! Actions of a model, and their commands.

use std::fmt;

/// The keys that an action may press. Combinations with modifiers are not among them.
pub(crate) const KEYS: &[&str] = &[
    "Enter",
    "Tab",
    "Escape",
    "Backspace",
    "Delete",
    "Space",
    "ArrowUp",
    "ArrowDown",
    "ArrowLeft",
    "ArrowRight",
    "PageUp",
    "PageDown",
    "Home",
    "End",
];

/// The maximum time of the action `wait`, in milliseconds.
pub(crate) const MAX_WAIT_MS: u32 = 5_000;

/// The distance of the action `scroll`, in CSS pixels: a little less than the height of a window.
const SCROLL_PX: u32 = 600;

/// A reference to an element of the last outline, such as `e3`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Reference(String);

impl Reference {
    /// Returns the reference in a text such as `e3`, `@e3` or `[ref=e3]`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim().trim_start_matches('[').trim_end_matches(']');
        let text = text.strip_prefix("ref=").unwrap_or(text);
        let text = text.strip_prefix('@').unwrap_or(text);
        let digits = text.strip_prefix('e')?;
        let is_number = !digits.is_empty() && digits.len() <= 6 && digits.bytes().all(|b| b.is_ascii_digit());
        is_number.then(|| Self(text.to_owned()))
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A direction of scrolling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Down,
    Up,
}

/// An action on the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Action {
    Click(Reference),
    Hover(Reference),
    Check(Reference),
    Uncheck(Reference),
    Fill(Reference, String),
    Select(Reference, String),
    /// Presses one of [`KEYS`].
    Press(&'static str),
    Scroll(Direction),
    Read(Reference),
    Back,
    /// Waits for milliseconds.
    Wait(u32),
}

impl Action {
    /// Returns the command.
    pub(crate) fn command(&self) -> String {
        match self {
            Self::Click(element) => format!("click @{element}"),
            Self::Hover(element) => format!("hover @{element}"),
            Self::Check(element) => format!("check @{element}"),
            Self::Uncheck(element) => format!("uncheck @{element}"),
            Self::Fill(element, text) => format!("fill @{element} {}", quote(text)),
            Self::Select(element, text) => format!("select @{element} {}", quote(text)),
            Self::Press(key) => format!("press {key}"),
            Self::Scroll(Direction::Down) => format!("scroll down {SCROLL_PX}"),
            Self::Scroll(Direction::Up) => format!("scroll up {SCROLL_PX}"),
            Self::Read(element) => format!("get text @{element}"),
            Self::Back => "back".to_owned(),
            Self::Wait(ms) => format!("wait {ms}"),
        }
    }

    /// Returns the element that it acts on.
    pub(crate) fn element(&self) -> Option<&Reference> {
        match self {
            Self::Click(element)
            | Self::Hover(element)
            | Self::Check(element)
            | Self::Uncheck(element)
            | Self::Fill(element, _)
            | Self::Select(element, _)
            | Self::Read(element) => Some(element),
            Self::Press(_) | Self::Scroll(_) | Self::Back | Self::Wait(_) => None,
        }
    }

    /// Returns whether it is meant to change the page.
    pub(crate) fn is_change(&self) -> bool {
        match self {
            Self::Click(_) | Self::Check(_) | Self::Uncheck(_) | Self::Select(..) => true,
            Self::Press(_) | Self::Back => true,
            // A text may be there already, a password is not in the outline.
            Self::Fill(..) | Self::Hover(_) | Self::Scroll(_) | Self::Read(_) | Self::Wait(_) => false,
        }
    }
}

/// Returns a text as one word of a command.
fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reference_has_any_of_its_spellings() {
        for text in ["e3", "@e3", "[ref=e3]", "ref=e3", " e3 "] {
            assert_eq!(Reference::parse(text).unwrap().to_string(), "e3", "{text}");
        }
        for text in ["", "3", "e", "e3 && open x", "e-1", "#id", "e1234567", "text=Log in"] {
            assert_eq!(Reference::parse(text), None, "{text}");
        }
    }

    #[test]
    fn text_stays_one_word_of_its_command() {
        let fill = |text: &str| Action::Fill(Reference::parse("e2").unwrap(), text.to_owned()).command();
        assert_eq!(fill("tea"), "fill @e2 'tea'");
        assert_eq!(fill(""), "fill @e2 ''");
        assert_eq!(fill("x'; open http://a.test/ #"), r"fill @e2 'x'\''; open http://a.test/ #'");
        assert_eq!(fill("a\n$(b) `c`"), "fill @e2 'a\n$(b) `c`'");
    }
}
