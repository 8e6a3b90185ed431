//! Stage 9, assemble: plan, hits and pages to the data of the answer.

use websvc_scrape::{Page, ScrapeError};
use websvc_types::{Category, Metadata, PageContent, ProxyUsed, SearchData, WebResult};
use websvc_validate::{SearchPlan, SourceKind};

use super::category;
use super::find::{Found, Vertical};
use super::gather::{Gathered, Pages};
use crate::source::Hit;

/// Puts the results together. A result whose page failed keeps its place and says why in `metadata`.
pub(crate) fn assemble(plan: &SearchPlan, found: Found, pages: Pages) -> SearchData {
    let mut data = SearchData::default();
    for (Vertical { kind, hits }, pages) in found.verticals.into_iter().zip(pages) {
        match kind {
            SourceKind::Web => {
                let results = hits.into_iter().zip(pages);
                data.web =
                    Some(results.map(|(hit, page)| web_result(hit, page, plan.categories())).collect());
            }
            SourceKind::Images => data.images = Some(Vec::new()),
            SourceKind::News => data.news = Some(Vec::new()),
        }
    }
    data
}

fn web_result(hit: Hit, gathered: Gathered, categories: &[Category]) -> WebResult {
    let category = category::label(&hit.url, categories);
    let mut result = WebResult {
        title: hit.title,
        description: hit.description,
        url: hit.url,
        category,
        content: PageContent::default(),
    };
    match gathered {
        Gathered::NotAsked => {}
        Gathered::Page(page) => fill(&mut result, *page),
        Gathered::Failed(error) => result.content.metadata = Some(failure(&result, &error)),
    }
    result
}

fn fill(result: &mut WebResult, page: Page) {
    let Page {
        markdown,
        html,
        raw_html,
        links,
        images,
        mut metadata,
        warnings: _said_in_the_answer,
        cache_state: _said_in_the_metadata,
        index_copy: _kept_by_gather,
    } = page;
    // The Python client reads a scraped result from its metadata alone, so these are never left empty.
    metadata.title.get_or_insert_with(|| result.title.clone());
    metadata.description.get_or_insert_with(|| result.description.clone());
    result.content = PageContent {
        markdown,
        html,
        raw_html,
        links,
        images,
        metadata: Some(metadata),
        ..PageContent::default()
    };
}

fn failure(result: &WebResult, error: &ScrapeError) -> Metadata {
    let code = error.code();
    Metadata {
        title: Some(result.title.clone()),
        description: Some(result.description.clone()),
        source_url: Some(result.url.clone()),
        url: Some(result.url.clone()),
        status_code: Some(code.status()),
        error: Some(format!("{}: {error}", code.as_str())),
        proxy_used: Some(ProxyUsed::Basic),
        ..Metadata::default()
    }
}
