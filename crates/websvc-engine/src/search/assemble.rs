//! Stage 9, assemble: converts plan, hits and pages to the data of the response.

use websvc_scrape::{GeneratedContent, Page, ScrapeError};
use websvc_types::format::HighlightPassage;
use websvc_types::{
    Category, ImageResult, Metadata, NewsResult, PageContent, ProxyUsed, SearchData, WebResult,
};
use websvc_validate::{SearchPlan, SourceKind};

use super::category;
use super::find::{SearchHits, VerticalHits};
use super::page_result::{PageResult, PageResults};
use crate::source::{Hit, HitImage};

/// Combines hits and pages. A result whose page failed keeps its position. Its `metadata` has the error, and the price
/// if failed pages have one.
pub(crate) fn assemble(
    plan: &SearchPlan,
    found: SearchHits,
    pages: PageResults,
    miss_price: Option<u64>,
) -> SearchData {
    let mut data = SearchData::default();
    for (VerticalHits { kind, hits }, pages) in found.verticals.into_iter().zip(pages) {
        let results = hits.into_iter().zip(pages);
        match kind {
            SourceKind::Web => {
                let results = results.map(|(hit, page)| web_result(hit, page, &plan.categories, miss_price));
                data.web = Some(results.collect());
            }
            SourceKind::Images => {
                data.images = Some(
                    (1..).zip(results).map(|(position, (hit, _))| image_result(position, hit)).collect(),
                );
            }
            SourceKind::News => {
                let results = (1..)
                    .zip(results)
                    .map(|(position, (hit, page))| news_result(position, hit, page, miss_price));
                data.news = Some(results.collect());
            }
        }
    }
    data
}

fn web_result(hit: Hit, result: PageResult, categories: &[Category], miss_price: Option<u64>) -> WebResult {
    let content = content(&hit, result, miss_price);
    let Hit { url, title, description, date: _, image: _ } = hit;
    let category = category::label(&url, categories);
    WebResult { title, description, url, category, content }
}

fn image_result(position: u32, hit: Hit) -> ImageResult {
    let Hit { url, title, description: _, date: _, image } = hit;
    let HitImage { url: image_url, width: image_width, height: image_height } = image.unwrap_or_default();
    ImageResult { title, image_url, image_width, image_height, url, position }
}

fn news_result(position: u32, hit: Hit, result: PageResult, miss_price: Option<u64>) -> NewsResult {
    let content = content(&hit, result, miss_price);
    let Hit { url, title, description: snippet, date, image } = hit;
    NewsResult {
        title,
        snippet,
        url,
        date: date.map(|date| date.to_string()),
        image_url: image.map(|image| image.url),
        position,
        content,
    }
}

fn content(hit: &Hit, result: PageResult, miss_price: Option<u64>) -> PageContent {
    match result {
        PageResult::NotRequested => PageContent::default(),
        PageResult::Page(page) => page_with_hit_fields(hit, *page),
        PageResult::Failed(error) => {
            let metadata = Metadata { credits_used: miss_price, ..failed_metadata(hit, &error) };
            PageContent { metadata: Some(metadata), ..PageContent::default() }
        }
    }
}

fn page_with_hit_fields(hit: &Hit, mut page: Page) -> PageContent {
    // The Python client reads a scraped result from its metadata alone, so these must not be empty.
    page.metadata.title.get_or_insert_with(|| hit.title.clone());
    page.metadata.description.get_or_insert_with(|| hit.description.clone());
    page_content(page)
}

/// Converts a page to the content of a response.
pub fn page_content(page: Page) -> PageContent {
    let Page {
        markdown,
        html,
        raw_html,
        links,
        images,
        attributes,
        pages,
        blocks,
        raw_base64,
        product,
        menu,
        videos,
        audio,
        video,
        design,
        generated:
            GeneratedContent { summary, json, answer, highlights, change_tracking, by_model: _for_charge },
        metadata,
        warnings: _in_warning_of_response,
        cache_state: _in_metadata,
        screenshot,
        actions,
        artifacts: _published_before,
        fetched_at_ms: _indexed_before,
        index_copy: _indexed_with_it,
        snapshot: _stored_with_pages_of_jobs,
        out_links: _followed_by_crawls,
        embedded_document: _read_before,
        elapsed: _for_pace_of_jobs,
        retry_after: _for_backoff_of_jobs,
        is_redacted: _for_charge_too,
    } = page;
    PageContent {
        markdown,
        html,
        raw_html,
        links,
        images,
        attributes,
        pages,
        blocks,
        raw_base64,
        product: product.map(|product| *product),
        menu: menu.map(|menu| *menu),
        branding: design.map(|design| design.branding),
        screenshot,
        audio,
        video,
        videos,
        summary,
        json,
        answer,
        highlights: joined(&highlights),
        highlight_passages: (!highlights.is_empty()).then_some(highlights),
        change_tracking,
        actions,
        metadata: Some(metadata),
        ..PageContent::default()
    }
}

/// Returns passages as one text; `None` if there are none.
fn joined(passages: &[HighlightPassage]) -> Option<String> {
    let texts: Vec<&str> = passages.iter().map(|passage| passage.text.as_str()).collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

fn failed_metadata(hit: &Hit, error: &ScrapeError) -> Metadata {
    let code = error.code();
    Metadata {
        title: Some(hit.title.clone()),
        description: Some(hit.description.clone()),
        source_url: Some(hit.url.clone()),
        url: Some(hit.url.clone()),
        status_code: Some(code.status()),
        error: Some(format!("{}: {error}", code.as_str())),
        proxy_used: Some(ProxyUsed::Basic),
        ..Metadata::default()
    }
}
