//! A style sheet for what a page turned out to have: its classes and ids are known only once it is there.

use serde_json::Value;

use super::open_page::Page;
use crate::error::BrowserError;
use crate::request::{RenderRequest, StyleRule};

/// Names of one kind that are asked about; a hostile page has more.
const MAX_NAMES: u32 = 5000;

/// Returns {classes, ids} of the document.
const NAMES: &str = "(limit) => {
    const classes = new Set(), ids = new Set();
    for (const element of document.querySelectorAll('[class], [id]')) {
        if (element.id && ids.size < limit) ids.add(element.id);
        if (classes.size < limit) for (const name of element.classList) classes.add(name);
    }
    const short = (names) => [...names].filter((name) => name.length <= 100);
    return { classes: short(classes), ids: short(ids) };
}";

/// Adds a style sheet, in place of the one that was added so before.
const ADOPT: &str = "(style) => {
    globalThis.lateStyle ??= new CSSStyleSheet();
    globalThis.lateStyle.replaceSync(style);
    const others = document.adoptedStyleSheets.filter((sheet) => sheet !== globalThis.lateStyle);
    document.adoptedStyleSheets = [...others, globalThis.lateStyle];
}";

impl Page<'_> {
    /// Hides what the request wants hidden of this page.
    pub(super) async fn inject_css(&self, request: &RenderRequest) -> Result<(), BrowserError> {
        let Some(StyleRule(style)) = &request.late_style else { return Ok(()) };
        // A page that breaks the script keeps what it shows.
        let Ok(names) = self.ask(NAMES, &[MAX_NAMES.into()]).await? else { return Ok(()) };
        let style = style(&request.url, &texts(&names["classes"]), &texts(&names["ids"]));
        if !style.is_empty() {
            let _ = self.ask(ADOPT, &[style.into()]).await?;
        }
        Ok(())
    }
}

fn texts(names: &Value) -> Vec<String> {
    names.as_array().into_iter().flatten().filter_map(|name| name.as_str().map(str::to_owned)).collect()
}
