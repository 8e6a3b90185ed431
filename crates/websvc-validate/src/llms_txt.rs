//! Rules of the generation of an llms.txt: converts a request to one of a crawl.

use websvc_types::format::Markdown;
use websvc_types::job::CrawlRequest;
use websvc_types::limits::LLMSTXT_URLS_DEFAULT;
use websvc_types::llms_txt::LlmsTxtRequest;
use websvc_types::{Format, ScrapeOptions};

use crate::path::Path;
use crate::report::Report;
use crate::target;

/// A checked request for an llms.txt.
#[derive(Debug, Clone, PartialEq)]
pub struct LlmsTxtPlan {
    /// The crawl of the site. Its URL has a scheme. Its other rules are not checked yet.
    pub crawl: CrawlRequest,
    /// True also returns the text of the pages.
    pub full_text: bool,
}

/// Checks a request. The plan is valid only if the report has no violation.
pub(crate) fn check(report: &mut Report, request: LlmsTxtRequest) -> LlmsTxtPlan {
    // The origin and the integration are accepted for compatibility and not used.
    let LlmsTxtRequest { url, max_urls, show_full_text, cache, origin: _, integration: _ } = request;
    let path = Path::Root.key("url");
    let checked = if report.has(&path) { None } else { target::check(report, &path, &url) };
    let url = checked.map_or(url, |target| target.text);
    let options = ScrapeOptions {
        formats: Some(vec![Format::Markdown(Markdown {})]),
        max_age: (cache == Some(false)).then_some(0),
        ..ScrapeOptions::default()
    };
    LlmsTxtPlan {
        crawl: CrawlRequest {
            limit: Some(max_urls.unwrap_or(LLMSTXT_URLS_DEFAULT).into()),
            scrape_options: Some(options),
            ..CrawlRequest::new(url)
        },
        full_text: show_full_text.unwrap_or(false),
    }
}
