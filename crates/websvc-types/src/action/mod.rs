//! What a browser does on a page before its content is taken (specification, section 2.2.2), one file each.

mod click;
mod execute_javascript;
mod pdf;
mod press;
mod scrape;
mod scroll;
mod wait;
mod write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use click::Click;
pub use execute_javascript::ExecuteJavascript;
pub use pdf::{Paper, Pdf};
pub use press::Press;
pub use scrape::Scrape;
pub use scroll::{Direction, Scroll};
pub use wait::Wait;
pub use write::Write;

use crate::format::Screenshot;

/// An action: an object with `type` and the options of that type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Action {
    /// Waits for a time or for an element.
    Wait(Wait),
    /// Takes a picture.
    Screenshot(Screenshot),
    /// Clicks an element.
    Click(Click),
    /// Types a text.
    Write(Write),
    /// Presses a key.
    Press(Press),
    /// Scrolls the page or an element.
    Scroll(Scroll),
    /// Scrapes the page as it is now.
    Scrape(Scrape),
    /// Runs JavaScript in the page.
    ExecuteJavascript(ExecuteJavascript),
    /// Prints the page as PDF.
    Pdf(Pdf),
}

impl Action {
    /// Returns the name, as `type` spells it.
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
