//! The formats that a page was produced in, compared with those that were asked for.

use serde_json::Value;
use websvc_scrape::{Page, RenderArtifacts};
use websvc_types::Format;

/// Tells whether a page is in one of the formats, or has results of actions, before or after its files are published.
pub(crate) fn has_any(formats: &[Format], page: &Page) -> bool {
    let artifacts = page.artifacts.as_deref();
    formats.iter().any(|format| has(format, page, artifacts))
        || page.actions.is_some()
        || artifacts.is_some_and(has_results_of_actions)
}

fn has(format: &Format, page: &Page, artifacts: Option<&RenderArtifacts>) -> bool {
    let written = &page.generated;
    match format {
        Format::Markdown(_) => page.markdown.is_some(),
        Format::Html(_) => page.html.is_some(),
        Format::RawHtml(_) => page.raw_html.is_some(),
        Format::Links(_) => page.links.is_some(),
        Format::Images(_) => page.images.is_some(),
        Format::Screenshot(_) => {
            page.screenshot.is_some() || artifacts.is_some_and(|artifacts| artifacts.screenshot.is_some())
        }
        Format::Summary(_) => written.summary.is_some(),
        Format::Json(_) => {
            // A model that finds nothing has worked all the same.
            written.json.as_ref().is_some_and(|json| *json != Value::Null)
                || written.by_model.contains(&format.name())
        }
        Format::Question(_) => written.answer.is_some(),
        Format::Highlights(_) => written.highlights.is_some(),
        // Nothing makes these yet.
        Format::ChangeTracking(_)
        | Format::Branding(_)
        | Format::Product(_)
        | Format::Menu(_)
        | Format::Audio(_)
        | Format::Video(_) => false,
    }
}

fn has_results_of_actions(artifacts: &RenderArtifacts) -> bool {
    let RenderArtifacts { screenshot: _, screenshots, scrapes, returns, pdfs } = artifacts;
    !(screenshots.is_empty() && scrapes.is_empty() && returns.is_empty() && pdfs.is_empty())
}
