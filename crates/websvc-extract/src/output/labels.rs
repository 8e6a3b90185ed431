//! The names of controls next to code, such as that of a button which copies it.

/// Texts that are controls wherever they are next to code.
pub(super) const CONTROLS: [&str; 34] = [
    "click to copy",
    "collapse code",
    "collapse snippet",
    "copied",
    "copied to clipboard",
    "copy",
    "copy code",
    "copy code to clipboard",
    "copy command",
    "copy snippet",
    "copy text",
    "copy this code",
    "copy to clipboard",
    "disable word wrap",
    "enable word wrap",
    "enter fullscreen mode",
    "exit fullscreen mode",
    "expand code",
    "expand snippet",
    "hide line numbers",
    "hide results",
    "open in playground",
    "press to copy",
    "run code snippet",
    "select all",
    "show line numbers",
    "toggle fullscreen",
    "toggle line numbers",
    "toggle line wrap",
    "toggle word wrap",
    "toggle wrap",
    "unwrap lines",
    "word wrap",
    "wrap lines",
];

/// Texts that are controls next to another control, or in a button.
pub(super) const WEAK_CONTROLS: [&str; 20] = [
    "code",
    "collapse",
    "download",
    "edit",
    "expand",
    "explain",
    "full screen",
    "fullscreen",
    "open",
    "plain text",
    "play",
    "preview",
    "print",
    "raw",
    "run",
    "run code",
    "share",
    "view",
    "view raw",
    "wrap",
];

/// Returns a label in lower case without signs around it.
pub(super) fn normalized(text: &str) -> String {
    let text = crate::text::start_of(text.trim(), 40);
    text.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '+' | '#')).to_lowercase()
}

/// Returns whether a text next to code is the name of a control.
pub(super) fn is_control(text: &str) -> bool {
    CONTROLS.contains(&normalized(text).as_str())
}
