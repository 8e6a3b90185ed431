//! The scrape options of a check: those of the target, with the formats that the comparison needs.

use websvc_types::format::{ChangeMode, ChangeTracking, Json};
use websvc_types::{Format, ScrapeOptions};

/// The parts of a page that are compared (operations.md, section 3.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ComparisonMode {
    /// The markdown.
    Markdown,
    /// The extracted data.
    Fields,
    /// Both: the page changed if one of them did.
    Both,
}

impl ComparisonMode {
    /// Returns the mode of a target with these scrape options.
    pub(crate) fn from_options(options: &ScrapeOptions) -> Self {
        let formats = options.formats.as_deref().unwrap_or_default();
        let mut has_json = false;
        let mut has_git_diff = false;
        for format in formats {
            has_json |= matches!(format, Format::Json(_));
            if let Format::ChangeTracking(options) = format {
                let modes = options.modes.as_deref().unwrap_or_default();
                has_json |= modes.contains(&ChangeMode::Json);
                has_git_diff |= modes.contains(&ChangeMode::GitDiff);
            }
        }
        match (has_json, has_git_diff) {
            (false, _) => Self::Markdown,
            (true, false) => Self::Fields,
            (true, true) => Self::Both,
        }
    }

    pub(crate) fn has_fields(self) -> bool {
        matches!(self, Self::Fields | Self::Both)
    }

    pub(crate) fn has_markdown(self) -> bool {
        matches!(self, Self::Markdown | Self::Both)
    }
}

/// Returns the options with which the pages of a target are scraped. The format `changeTracking` is replaced by the data
/// that it compares, because a check has a history of its own.
pub(crate) fn scraped_options(mut options: ScrapeOptions) -> ScrapeOptions {
    let mut formats = Vec::new();
    let mut tracked = None;
    for format in options.formats.take().unwrap_or_default() {
        if let Format::ChangeTracking(tracking) = format {
            tracked = Some(tracking);
        } else {
            formats.push(format);
        }
    }
    let has_json = formats.iter().any(|format| matches!(format, Format::Json(_)));
    if let Some(ChangeTracking { modes, schema, prompt, tag: _ }) = tracked
        && !has_json
        && modes.unwrap_or_default().contains(&ChangeMode::Json)
    {
        formats.push(Format::Json(Json { schema, prompt }));
    }
    options.formats = Some(formats);
    options
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[track_caller]
    fn check(formats: &Value, mode: ComparisonMode, scraped: &Value) {
        let options: ScrapeOptions = serde_json::from_value(json!({ "formats": formats })).unwrap();
        assert_eq!(ComparisonMode::from_options(&options), mode);
        let scraped_formats = serde_json::to_value(scraped_options(options).formats).unwrap();
        assert_eq!(scraped_formats, *scraped);
    }

    #[test]
    fn formats_decide_what_is_compared() {
        let markdown = json!({ "type": "markdown" });
        check(&json!(["markdown"]), ComparisonMode::Markdown, &json!([markdown]));
        check(&json!(["html", "markdown"]), ComparisonMode::Markdown, &json!([{ "type": "html" }, markdown]));
        check(&json!(["markdown", "changeTracking"]), ComparisonMode::Markdown, &json!([markdown]));
        let data = json!({ "type": "json", "prompt": "prices" });
        check(&json!([data, "markdown"]), ComparisonMode::Fields, &json!([data, markdown]));
        check(
            &json!(["markdown", { "type": "changeTracking", "modes": ["json"], "prompt": "prices" }]),
            ComparisonMode::Fields,
            &json!([markdown, data]),
        );
        check(
            &json!(["markdown", { "type": "changeTracking", "modes": ["json", "git-diff"], "prompt": "prices" }]),
            ComparisonMode::Both,
            &json!([markdown, data]),
        );
    }
}
