//! A style sheet that depends on the classes and IDs of the loaded document.

use serde_json::Value;

use super::open_page::Page;
use crate::error::BrowserError;
use crate::request::{RenderRequest, StyleRule};

/// The maximum number of classes, and of IDs, that are read. Hostile pages have more.
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

/// Adds a style sheet, in place of one that an earlier call added.
const ADOPT: &str = "(style) => {
    globalThis.injectedSheet ??= new CSSStyleSheet();
    globalThis.injectedSheet.replaceSync(style);
    const others = document.adoptedStyleSheets.filter((sheet) => sheet !== globalThis.injectedSheet);
    document.adoptedStyleSheets = [...others, globalThis.injectedSheet];
}";

impl Page<'_> {
    /// Adds the style sheet that the style rule of the request returns for this document.
    pub(super) async fn inject_css(&self, request: &RenderRequest) -> Result<(), BrowserError> {
        let Some(StyleRule(rule)) = &request.style_rule else { return Ok(()) };
        // If the document breaks the script, it stays as it is.
        let Ok(names) = self.call_function(NAMES, &[MAX_NAMES.into()]).await? else { return Ok(()) };
        let style = rule(&request.url, &strings(&names["classes"]), &strings(&names["ids"]));
        if !style.is_empty() {
            let _ = self.call_function(ADOPT, &[style.into()]).await?;
        }
        Ok(())
    }
}

fn strings(names: &Value) -> Vec<String> {
    names.as_array().into_iter().flatten().filter_map(|name| name.as_str().map(str::to_owned)).collect()
}
