//! Determines whether a page has any of the requested formats.

use serde_json::Value;
use websvc_scrape::{Page, RenderArtifacts};
use websvc_types::Format;

/// Returns whether a page has one of the formats, or results of actions. Its files may be published or not.
pub(crate) fn has_any(formats: &[Format], page: &Page) -> bool {
    let artifacts = page.artifacts.as_deref();
    formats.iter().any(|format| has(format, page, artifacts))
        || page.actions.is_some()
        || artifacts.is_some_and(has_action_results)
}

fn has(format: &Format, page: &Page, artifacts: Option<&RenderArtifacts>) -> bool {
    let generated = &page.generated;
    match format {
        Format::Markdown(_) => page.markdown.is_some(),
        Format::Html(_) => page.html.is_some(),
        Format::RawHtml(_) => page.raw_html.is_some(),
        Format::RawBase64(_) => page.raw_base64.is_some(),
        Format::Links(_) => page.links.is_some(),
        Format::Images(_) => page.images.is_some(),
        Format::Product(_) => page.product.is_some(),
        Format::Menu(_) => page.menu.is_some(),
        Format::Screenshot(_) => {
            page.screenshot.is_some() || artifacts.is_some_and(|artifacts| artifacts.screenshot.is_some())
        }
        Format::Summary(_) => generated.summary.is_some(),
        Format::Json(_) => {
            // A model that found nothing is charged nevertheless.
            generated.json.as_ref().is_some_and(|json| *json != Value::Null)
                || generated.by_model.contains(&format.name())
        }
        Format::Question(_) => generated.answer.is_some(),
        Format::Highlights(_) => !generated.highlights.is_empty(),
        Format::Attributes(_) => page.attributes.is_some(),
        Format::ChangeTracking(_) => generated.change_tracking.is_some(),
        Format::Branding(_) => page.design.is_some(),
        Format::Audio(_) => page.audio.is_some(),
        Format::Video(_) => page.video.is_some() || page.videos.is_some(),
    }
}

fn has_action_results(artifacts: &RenderArtifacts) -> bool {
    let RenderArtifacts { styles: _, screenshot: _, screenshots, scrapes, returns, pdfs, cookies: _ } =
        artifacts;
    !(screenshots.is_empty() && scrapes.is_empty() && returns.is_empty() && pdfs.is_empty())
}
