//! Browser actions on a page before its content is read (specification, section 2.2.2).

mod click;
mod execute_javascript;
mod pdf;
mod press;
mod results;
mod scrape;
mod scroll;
mod wait;
mod write;

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

pub use click::Click;
pub use execute_javascript::ExecuteJavascript;
pub use pdf::{PaperFormat, Pdf};
pub use press::Press;
pub use results::{ActionResults, ActionScrape, JavascriptReturn};
pub use scrape::Scrape;
pub use scroll::{Direction, Scroll};
pub use wait::Wait;
pub use write::Write;

use crate::format::Screenshot;
use crate::tagged::{self, Tagged};

/// Browser action: an object with `type` and the fields of that type.
///
/// # Examples
///
/// ```
/// use websvc_types::{Action, action};
///
/// let actions: Vec<Action> = serde_json::from_str(
///     r##"[{"type": "click", "selector": "#more"}, {"type": "wait", "milliseconds": 500}]"##,
/// )?;
/// let click = action::Click { selector: "#more".to_owned(), all: None };
/// let wait = action::Wait { milliseconds: Some(500), ..action::Wait::default() };
/// assert_eq!(actions, [Action::Click(click), Action::Wait(wait)]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Action {
    /// Waits for a time or for an element.
    Wait(Wait),
    /// Takes a screenshot.
    Screenshot(Screenshot),
    /// Clicks an element.
    Click(Click),
    /// Types a text.
    Write(Write),
    /// Presses a key.
    Press(Press),
    /// Scrolls the page or an element.
    Scroll(Scroll),
    /// Records URL and HTML of the page in its current state.
    Scrape(Scrape),
    /// Runs JavaScript in the page.
    ExecuteJavascript(ExecuteJavascript),
    /// Prints the page as PDF.
    Pdf(Pdf),
}

impl Action {
    /// Names of all actions, in the order of the specification.
    pub const NAMES: &'static [&'static str] =
        &["wait", "screenshot", "click", "write", "press", "scroll", "scrape", "executeJavascript", "pdf"];

    /// Returns the value of `type`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Action::Wait(_) => "wait",
            Action::Screenshot(_) => "screenshot",
            Action::Click(_) => "click",
            Action::Write(_) => "write",
            Action::Press(_) => "press",
            Action::Scroll(_) => "scroll",
            Action::Scrape(_) => "scrape",
            Action::ExecuteJavascript(_) => "executeJavascript",
            Action::Pdf(_) => "pdf",
        }
    }
}

impl<'de> Deserialize<'de> for Action {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        tagged::deserialize(deserializer)
    }
}

impl<'de> Tagged<'de> for Action {
    const EXPECTED: &'static str = "an object with the type of an action";

    fn from_tag<D: Deserializer<'de>>(tag: &str, fields: D) -> Result<Self, D::Error> {
        match tag {
            "wait" => Wait::deserialize(fields).map(Action::Wait),
            "screenshot" => Screenshot::deserialize(fields).map(Action::Screenshot),
            "click" => Click::deserialize(fields).map(Action::Click),
            "write" => Write::deserialize(fields).map(Action::Write),
            "press" => Press::deserialize(fields).map(Action::Press),
            "scroll" => Scroll::deserialize(fields).map(Action::Scroll),
            "scrape" => Scrape::deserialize(fields).map(Action::Scrape),
            "executeJavascript" => ExecuteJavascript::deserialize(fields).map(Action::ExecuteJavascript),
            "pdf" => Pdf::deserialize(fields).map(Action::Pdf),
            unknown => Err(D::Error::unknown_variant(unknown, Self::NAMES)),
        }
    }
}
